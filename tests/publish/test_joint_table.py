"""Tables of releases read together: which answers belong to them, as a hierarchy or as rows and columns."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost
from utmost import ledger
from utmost.cli import run
from utmost.errors import InputError
from utmost.joint import CountTree, FoundNoise, UntoldNoise, hierarchy
from utmost.publish.plans import plan_from_mapping
from utmost.publish.reading.cell_predicates import select_cells
from utmost.publish.release_file import release_content, release_from_content

TOWNS = [["north", "a"], ["north", "b"], ["south", "c"]]
PEOPLE = "id,region,town,sex\n" + "".join(
    f"{number},{region},{town},{sex}\n"
    for number, (region, town, sex) in enumerate(
        [("north", "a", "m")] * 30 + [("north", "b", "f")] * 20 + [("south", "c", "m")] * 40
    )
)
KEYS: dict[str, Any] = {"columns": ["region", "town"], "cells": TOWNS}
PLACES: dict[str, Any] = {
    "name": "places",
    "levels": [[], ["region"], ["region", "town"]],
    "keys": KEYS,
    "epsilon": 3,
    "shares": "equal",
}
CROSS: dict[str, Any] = {
    "name": "cross",
    "levels": [["region"], ["sex"], ["region", "sex"]],
    "keys": {"region": ["north", "south"], "sex": ["m", "f"]},
    "epsilon": 3,
}
COLUMNS = {"id": "integer", "region": "text", "town": "text", "sex": "text"}
HEAD: dict[str, Any] = {
    "neighbours": "add-remove",
    "budget": "b",
    "source": {"location": "people.csv", "columns": COLUMNS},
}
CROSSED = {"region": ["north", "south"], "town": ["a", "b", "c"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def release_of(folder: Path, *tables: dict[str, Any], **head: Any) -> Any:
    """A release of these tables; each one is an entry of its own of the ledger."""
    relation, unit = head.get("neighbours", "add-remove"), head.get("unit", {}).get("column", "row")
    name = f"{relation} {unit}"
    with ledger.open_ledger("ledger.sqlite", folder) as new_ledger:
        if not new_ledger.has_budget(name):
            budget = ledger.Budget(name, Fraction(100), Fraction(1, 10), neighbours=relation, unit=unit, remember=False)
            new_ledger.open(budget)
    content = {**HEAD, "budget": name, **({"table": list(tables)} if tables else {}), **head}
    return utmost.release(plan_from_mapping(content, folder))


def values_of(tree: CountTree) -> dict[Any, list[int]]:
    return {key: [answer.value for answer in answers] for key, answers in zip(tree.keys, tree.answers, strict=True)}


def test_a_hierarchy_is_a_tree_with_an_answer_for_each_cell(folder: Path) -> None:
    release = release_of(folder, PLACES)
    table = release.table("places")
    assert table.tree.columns == ((), ("region",), ("region", "town"))
    released = {key: [value] for answer in release for key, value in zip(answer.query.cells, answer.value, strict=True)}
    assert values_of(table.tree) == released
    assert {answer.law.level.epsilon for answers in table.tree.answers for answer in answers} == {1.0}
    estimate = table.estimate(loss="squared", coverage="0.9")
    assert estimate.table["north",] == estimate.table["north", "a"] + estimate.table["north", "b"]
    assert estimate.coverage == 0.9
    assert table.least_squares().estimates[0] == sum(table.least_squares().estimates[node] for node in (3, 4, 5))


def test_a_level_that_finer_keys_imply_has_the_keys_of_its_wholes(folder: Path) -> None:
    table = release_of(folder, {**PLACES, "levels": [["town"], ["region"]]}).table("places")
    assert table.tree.columns == ((), ("region",), ("region", "town"))
    assert set(table.tree.keys[3:]) == {tuple(town) for town in TOWNS}


def test_two_levels_with_the_same_cells_are_repeats(folder: Path) -> None:
    table = release_of(folder, {**PLACES, "levels": [["town"], ["region", "town"]]}).table("places")
    assert table.tree.columns == ((), ("region", "town"))
    assert [len(answers) for answers in table.tree.answers] == [0, 2, 2, 2]


def test_totals_zeros_and_the_cell_of_others_are_in_the_tree(folder: Path) -> None:
    known = {"totals": [{"rows": 90}, {"keys": {"town": "a"}, "rows": 30}], "zeros": [{"town": "b"}], "other": True}
    table = release_of(folder, {**PLACES, **known}).table("places")
    tree = table.tree
    totals = {tree.keys[node]: total for node, total in tree.totals.items()}
    assert (totals[()], totals["north", "a"]) == (90, 30)
    assert (None, None) in tree.keys
    assert ("north", "b") not in tree.keys
    estimate = table.estimate()
    assert estimate.table[()] == 90
    assert estimate.table["north", "a"] == 30
    assert select_cells(tree, "region is null") == [(None, None)]


def test_the_number_of_units_is_known_where_all_rows_are_in_the_table(folder: Path) -> None:
    levels = {"levels": [["region"], ["region", "town"]]}
    everyone = release_of(folder, {**PLACES, **levels, "other": True}, neighbours="replace")
    assert everyone.table("places").tree.known_total(0) == 90
    assert release_of(folder, {**PLACES, **levels}, neighbours="replace").table("places").tree.known_total(0) is None


def test_counts_by_themselves_belong_to_a_table_where_they_count_its_cells(folder: Path) -> None:
    queries = [
        {"name": "all", "kind": "count", "epsilon": 1},
        {"name": "cells", "kind": "count", "keys": CROSSED, "epsilon": 1},
        {"name": "men", "kind": "count", "keys": CROSSED, "where": "sex = 'm'", "epsilon": 1},
        {"name": "regions", "kind": "count", "keys": {"region": ["north", "south"]}, "epsilon": 1},
    ]
    release = release_of(folder, PLACES, query=queries)
    counts = {key: len(values) for key, values in values_of(release.table("places").tree).items()}
    assert counts == {(): 1, ("north",): 1, ("south",): 1, **{tuple(town): 2 for town in TOWNS}}
    with_others = release_of(folder, {**PLACES, "other": True}, query=queries).table("places").tree
    assert len(values_of(with_others)[()]) == 2


def test_found_cells_are_told_or_not(folder: Path) -> None:
    cells = [["north", "a"], ["south", "z"]]
    table = {**PLACES, "keys": {"columns": ["region", "town"], "cells": cells}, "levels": [["region", "town"]]}
    by = {"kind": "count", "by": ["town", "region"], "epsilon": 1, "delta": "1e-3"}
    queries = [{**by, "name": "found"}, {**by, "name": "men", "where": "sex = 'm'"}]
    release = release_of(folder, {**table, "epsilon": "1/2"}, query=queries)
    tree = release.table("places").tree
    laws = {key: [answer.law for answer in answers] for key, answers in zip(tree.keys, tree.answers, strict=True)}
    told, untold = laws["north", "a"][0], laws["south", "z"][0]
    assert told == FoundNoise(release["found"].mechanism.law, given_told=False)
    assert untold == UntoldNoise(release["found"].mechanism.law)
    assert len(laws["north", "a"]) == len(laws["south", "z"]) == 2
    assert [len(tree.released(tree.node(1, key))) for key in (("north", "a"), ("south", "z"))] == [2, 1]

    estimate = release.table("places").estimate()
    assert estimate.mean["south", "z"] == pytest.approx(mean_by_listing(release, told.law), rel=1e-6)
    assert "untold" in estimate._repr_html_()
    assert estimate.gls["north", "a"].value == release["places: region, town"].value[0]


def mean_by_listing(release: Any, law: Any) -> float:
    """The posterior mean of the untold cell, over all tables of two cells, each total's divisions equally likely."""
    level = release["places: region, town"]
    place = [tuple(cell) for cell in release["found"].query.value_cells(release["found"].drawn)].index(("a", "north"))
    found = release["found"].value[place]
    rate, (first, second) = float(level.mechanism.epsilon), level.value
    total = weighted = 0.0
    for a in range(120):
        noise = a + law.threshold - found
        told = float(law.probability(noise) - law.probability(noise - 1)) if noise > 0 else 0.0
        for z in range(40):
            likelihood = told * float(1 - law.probability(z)) * math.exp(-rate * (abs(a - first) + abs(z - second)))
            total += likelihood / (a + z + 1)
            weighted += z * likelihood / (a + z + 1)
    return weighted / total


def test_releases_of_the_same_table_are_read_together(folder: Path) -> None:
    first = release_of(folder, PLACES)
    other = {**PLACES, "levels": [["region", "town"]], "keys": {"columns": ["region", "town"], "cells": TOWNS[::-1]}}
    second = release_of(folder, {**other, "name": "again"})
    table = first.table("places").together(second)
    assert repr(table) == "<ReleasedTable places: total; region; region, town, with 1 other releases>"
    counts = {key: len(values) for key, values in values_of(table.tree).items()}
    assert counts == {(): 1, ("north",): 1, ("south",): 1, **{tuple(town): 2 for town in TOWNS}}
    alone, together = first.table("places").estimate().gls, table.estimate().gls
    assert together["north", "a"].variance < alone["north", "a"].variance


def test_releases_that_may_be_of_other_rows_or_of_one_draw_are_refused(folder: Path) -> None:
    release = release_of(folder, PLACES)
    table, content = release.table("places"), release_content(release)

    def other(**changes: Any) -> Any:
        changed = copy.deepcopy(content)
        for path, value in {"ledger.entry": 2, **changes}.items():
            target, *rest = path.split(".")
            changed[target] = changed[target] | {rest[0]: value} if rest else value
        return release_from_content(changed)

    same_entry = other(**{"ledger.entry": release.entry.number, "title": "another"})
    first = next(iter(same_entry.answers))
    same_entry = replace(same_entry, answers=(replace(first, value=(first.value[0] + 1,)), *same_entry.answers[1:]))
    cases = [
        (release, "with must be releases whose noise is independent, got one release twice"),
        (same_entry, 'with must be releases whose noise is independent, got two of entry 1 of budget "add-remove row"'),
        (other(**{"source.name": "others.csv"}), 'got one of another source, "others.csv"'),
        (other(derive={"town": "lower(region)"}), "got one of other definitions of its columns"),
        (release_of(folder, {**PLACES, "where": "sex = 'm'"}), "got one with another where"),
        (release_of(folder, {**PLACES, "keys": {**KEYS, "cells": TOWNS[:2]}}), "got one with other cells"),
        (release_of(folder, CROSS), "got one with no count of its cells"),
        (release_of(folder, PLACES, part={"column": "sex", "equals": "m"}), "another part of the source"),
    ]
    for wrong, words in cases:
        with pytest.raises(InputError, match=words) as problem:
            assert table.together(wrong).tree
        assert "\n" not in str(problem.value)
    names = ((2, "x"), (3, "y"))
    fingerprints = [other(**{"source.fingerprint": name, "ledger.entry": number}) for number, name in names]
    with pytest.raises(InputError, match="another state of the source"):
        assert fingerprints[0].table("places").together(fingerprints[1]).tree


def test_persons_whose_rows_are_chosen_anew_are_not_read_together(folder: Path) -> None:
    queries = [{"name": "cells", "kind": "count", "keys": CROSSED, "epsilon": 1}]
    first, second = (release_of(folder, PLACES, unit={"column": "id", "rows": 2}, query=queries) for _ in range(2))
    assert all(len(values) == 1 for values in values_of(first.table("places").tree).values())
    with pytest.raises(InputError, match="got units of persons"):
        assert first.table("places").together(second).tree


def test_rows_and_columns_are_read_by_least_squares(folder: Path) -> None:
    table = release_of(folder, CROSS).table("cross")
    assert table.is_two_way
    estimate = table.two_way()
    whole = estimate.whole_numbers
    assert whole["rows"]["north",] == whole["cells"]["north", "m"] + whole["cells"]["north", "f"]
    frame = estimate.to_pandas()
    assert list(frame.columns[:4]) == ["level", "region", "sex", "answer"]
    assert (frame["unbiased_low"] < frame["unbiased"]).all()
    assert "Unbiased numbers are the best linear ones" in estimate._repr_html_()
    with pytest.raises(InputError, match="must be a hierarchy for a posterior, got rows and columns"):
        table.estimate()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"other": True}, "must have a cell for each row and column and no other for two ways"),
        ({"zeros": [{"region": "north", "sex": "f"}]}, "must have a cell for each row and column"),
        ({"totals": [{"rows": 90}]}, "must have no known totals for two ways"),
        ({"levels": [["region"], ["sex"]]}, "answers must be of the cells too, got marginals alone"),
        (
            {"keys": {**CROSS["keys"], "town": ["a"]}, "levels": "marginals:2"},
            "got 3 ways: whether a whole table >= 0 of three ways or more has given marginals is NP-complete",
        ),
    ],
    ids=["other", "zeros", "totals", "marginals", "three"],
)
def test_two_way_tables_that_cannot_be_read_are_refused(folder: Path, changes: dict[str, Any], words: str) -> None:
    table = release_of(folder, {**CROSS, **changes}).table("cross")
    with pytest.raises(InputError, match=words):
        table.two_way()


@pytest.mark.parametrize(
    ("price", "noise"),
    [
        ({"rho": "1/8", "noise": "gaussian", "delta": "1/1000"}, "GaussianNoise"),
        ({"epsilon": 3, "noise": "geometric"}, "GeometricNoise"),
        ({"epsilon": 3, "delta": "1e-6", "noise": "canonical"}, "CanonicalNoise"),
    ],
)
def test_every_noise_of_a_table_has_its_law(folder: Path, price: dict[str, Any], noise: str) -> None:
    table = {key: value for key, value in PLACES.items() if key != "epsilon"} | price
    release = release_of(folder, table)
    tree = release.table("places").tree
    assert {type(answer.law).__name__ for answers in tree.answers for answer in answers} == {noise}
    estimate = release.table("places").estimate()
    assert estimate.table[()] == sum(estimate.table[tuple(town)] for town in TOWNS)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("town in ('a', 'c')", [("north", "a"), ("south", "c")]),
        ("region = 'north' and not town = 'a'", [("north", "b")]),
        ("place = 1 or place > 2", [(1,), (3,)]),
        ("day >= date '2024-02-01'", None),
    ],
)
def test_cells_are_chosen_by_the_language_of_where(folder: Path, text: str, keys: list[Any] | None) -> None:
    if keys is None:
        tree = hierarchy([["day"]], [(date(2024, 1, 1),), (date(2024, 2, 1),), (None,)])
        assert select_cells(tree, text) == [(date(2024, 2, 1),)]
    elif "place" in text:
        assert select_cells(hierarchy([["place"]], [(1,), (2,), (3,)]), text) == keys
    else:
        assert select_cells(hierarchy([["region"], ["region", "town"]], map(tuple, TOWNS)), text) == keys


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("towm = 'a'", 'sum must be of columns of the table, got "towm": did you mean "town"?'),
        ("1 = 1", "sum must name a column of the table, got none"),
        ("town = 'z'", "sum must be of cells of the table, got a predicate that none of them satisfies"),
        ("town in ('a'", "sum, at character 13: expected )"),
        ("town > 3", "sum, at character 6: > compares two of a kind"),
        ("__import__('os')", 'sum, at character 1: there is no function "__import__"'),
        ("n = 1", "sum must be of keys within 64 bits"),
    ],
)
def test_predicates_that_choose_no_cells_are_refused(text: str, words: str) -> None:
    tree = hierarchy([["n"]], [(10**30,)]) if text.startswith("n ") else hierarchy([["town"]], [("a",), ("b",)])
    with pytest.raises(InputError) as problem:
        select_cells(tree, text)
    assert str(problem.value).startswith(words)


def test_a_release_still_writes_its_tidy_table_by_a_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    release = release_of(folder, PLACES)
    assert release.table("tidy.csv") is None
    assert Path("tidy.csv").read_text().startswith("query,kind,region,town,value")
    with pytest.raises(InputError, match="table must be one of places, got plaecs"):
        release.table("plaecs")


# The command line


def write_release(folder: Path, *tables: dict[str, Any], name: str = "f.release.json") -> str:
    (folder / name).write_text(json.dumps(release_content(release_of(folder, *tables))))
    return str(folder / name)


def test_the_command_reads_a_table_as_the_library_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_release(folder, PLACES)
    words = ["estimate", path, "--table", "places", "--sum", "town in ('a', 'b')", "--draws", "3", "--json"]
    assert run(words) == 0
    document = json.loads(capsys.readouterr().out)
    estimate = utmost.read_release(path).table("places").estimate()
    assert {tuple(cell["key"]): cell["best"] for cell in document["cells"]} == estimate.table
    assert document["sums"][0]["mean"] == pytest.approx(estimate.mean["north",], abs=1e-9)
    assert [len(draws) for draws in document["draws"]] == [3] * 6
    assert run(["estimate", path, "--table", "places", "--level", "region, town"]) == 0
    printed = capsys.readouterr().out
    assert "north, a" in printed
    assert "the total" not in printed


@pytest.mark.slow
def test_the_command_writes_a_table_and_a_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture, output = write_release(folder, PLACES, CROSS), folder / "p.svg", folder / "out.csv"
    assert run(["estimate", path, "--table", "places", "--plot", str(picture), "--output", str(output)]) == 0
    assert capsys.readouterr().out == ""
    assert output.read_text().startswith("level,region,town,answer,mean,low,high,best")
    assert "All answers read together" in picture.read_text()
    assert run(["estimate", path, "--table", "cross", "--level", "sex"]) == 0
    assert "Unbiased numbers are the best linear ones" in capsys.readouterr().out
    assert run(["estimate", path, "--table", "cross", "--sum", "sex = 'm'", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    men = next(cell for cell in document["cells"] if cell["key"] == ["m"])
    assert document["sums"][0]["unbiased"] == pytest.approx(men["unbiased"])
    assert document["sums"][0]["variance_at_most"] == pytest.approx(men["variance_at_most"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--table", "place"], "table must be one of places, cross, got place"),
        (["--table", "places", "--level", "sex"], "--level must be one of total; region; region, town, got sex"),
        (["--table", "places", "--query", "q"], "--query must not go with --table, got both"),
        (["--level", "region"], "--level must go with --table, got none"),
        (["--table", "places", "--prior", "uniform"], "prior must be divisions, divisions:a or divisions:evidence"),
        (["--table", "places", "--loss", "binary"], "loss must be convex in the error"),
        (["--table", "places", "--draws", "0"], "draws must be from 1 to"),
        (["--table", "cross", "--sum", "town = 'm'"], 'sum must be of columns of the table, got "town"'),
        (["--table", "cross", "--draws", "3"], "--draws must not be given for a table of rows and columns"),
        (["--table", "places", "--with", "none.json"], "release must name a readable text file"),
    ],
)
def test_options_that_do_not_fit_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(["estimate", write_release(folder, PLACES, CROSS), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_two_files_are_read_together_and_a_file_with_itself_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = write_release(folder, PLACES), write_release(folder, PLACES, name="g.release.json")
    assert run(["estimate", first, "--table", "places", "--with", second]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "read from 2 releases" in printed
    assert "that no row changed between them is not in the files" in printed
    assert run(["estimate", first, "--table", "places", "--with", first]) == 2
    assert "got one release twice" in capsys.readouterr().err
