"""Several quantiles, least and greatest values in cells: ε of all cells by brute force, plans, files and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost
from queries.test_grouped import CELLS, GRIDS, close, neighbouring_answers, settings
from queries.test_quantiles import loss_rates, tree_law
from utmost import ledger
from utmost.cli import run
from utmost.data.cells import Grouping
from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation
from utmost.errors import InputError
from utmost.noise.row_sampling import permute_and_flip_law
from utmost.publish import release_file
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan
from utmost.publish.tidy_table import tidy_table
from utmost.queries import GroupedQuery, Max, Min
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.quantiles import Quantiles, rank_losses

HALF = Fraction(1, 2)
WIDTH = GRIDS[0].size + 1
Law = dict[Any, Fraction]
SHARES = [("1/2",), ("1/4",), ("1/4", "1/2", "3/4"), ("1/3", "1/2"), ("1/10", "1/2", "3/4")]


def several(*shares: str, grid: Grid = GRIDS[0]) -> Quantiles:
    return Quantiles("x", grid, tuple(map(Fraction, shares)), None)


def cells_of(answer: list[int]) -> Iterator[tuple[int, ...]]:
    yield from (tuple(answer[start : start + WIDTH]) for start in range(0, len(answer), WIDTH))


def worst_ratio(pairs: Iterator[tuple[list[int], list[int]]], law: Callable[[tuple[int, ...]], Law]) -> Fraction:
    """The largest ratio of the probabilities of all answers together: cells are independent, so theirs multiply."""

    @cache
    def cell_ratio(first: tuple[int, ...], second: tuple[int, ...]) -> Fraction:
        return max(law(second)[answer] / chance for answer, chance in law(first).items())

    worst = Fraction(1)
    for a, b in pairs:
        for first, second in ((a, b), (b, a)):
            worst = max(worst, math.prod(map(cell_ratio, cells_of(first), cells_of(second)), start=Fraction(1)))
    return worst


@cache
def choice_law(losses: tuple[int, ...]) -> Law:
    """Permute-and-flip at e^−rate = 1/2."""
    return dict(enumerate(permute_and_flip_law([HALF ** (loss - min(losses)) for loss in losses])))


@pytest.mark.parametrize("kind", [Min, Max])
@pytest.mark.parametrize("setting", settings(), ids=str)
def test_the_epsilon_of_extremes_in_cells_is_how_far_their_losses_move_apart(
    kind: type[Min] | type[Max], setting: PrivacySetting
) -> None:
    """At e^−rate = 1/2, e^ε is 2^sensitivity: never exceeded, and reached where a unit comes or goes."""
    query = GroupedQuery(kind("x", GRIDS[0], None), CELLS)
    selected = query.select_mechanism(Fraction(1), setting)
    assert query.actual_epsilon(selected.mechanism, setting) == 1
    pairs = list(neighbouring_answers(query, setting, WIDTH))
    moves = ([y - x for x, y in zip(a, b, strict=True)] for a, b in pairs)
    assert max(sum(max(cell) - min(cell) for cell in cells_of(move)) for move in moves) == selected.sensitivity
    worst, bound = worst_ratio(iter(pairs), choice_law), Fraction(2) ** selected.sensitivity
    assert bound / 2 < worst <= bound
    assert worst == bound or setting.replacing


@pytest.mark.parametrize("rows", [1, 2])
def test_no_smaller_epsilon_than_twice_that_of_a_unit_that_comes_holds_for_extremes_of_one_that_is_replaced(
    rows: int,
) -> None:
    """Its rows leave the last position but one of a cell, and enter the first of another: on a wide grid 4^k nearly."""
    last, none = 40, [0] * 41
    leaves, enters = (rank_losses(counts, Fraction(0)) for counts in (_rows(last - 1, rows), _rows(0, rows)))
    before, after = choice_law(tuple(leaves)), choice_law(tuple(none))
    assert after[last] == 2**rows * before[last]
    first, second = choice_law(tuple(none)), choice_law(tuple(enters))
    assert Fraction(99, 100) * 4**rows < after[last] / before[last] * second[0] / first[0] < 4**rows


def _rows(position: int, number: int) -> list[int]:
    return [number if place == position else 0 for place in range(41)]


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_the_epsilon_of_quantiles_in_cells_bounds_every_ratio_over_all_neighbours(
    setting: PrivacySetting, shares: tuple[str, ...]
) -> None:
    """The law of all answers in all cells, in exact fractions: with e^ε = 2^(L·d) every weight is a power of 2."""
    inner = several(*shares)
    query, grouped = GroupedQuery(inner, CELLS), Fraction(inner.levels)
    mechanism = query.select_mechanism(grouped, setting).mechanism
    assert query.actual_epsilon(mechanism, setting) == grouped
    rates = loss_rates(inner, mechanism.rates)
    common = math.lcm(*(rate.denominator for rate in rates))

    @cache
    def law(counts: tuple[int, ...]) -> Law:
        return tree_law(inner, list(counts), lambda index, loss: HALF ** int(rates[index] * common * loss))

    assert 1 < worst_ratio(neighbouring_answers(query, setting, WIDTH), law) <= Fraction(2) ** (inner.levels * common)


@pytest.mark.parametrize("share", [HALF, Fraction(1, 4)], ids=str)
def test_a_row_that_enters_a_cell_and_one_that_leaves_another_cost_twice_the_rate_times_m_each_on_wide_grids(
    share: Fraction,
) -> None:
    """One quantile s/t with e^(−rate/t) = 9/10. At the rate e/2 of one table both together cost more than e."""
    empty, movement = [0] * 28, max(share, 1 - share) * share.denominator
    others = int((1 - share) / share)  # the rows at one position that put the loss of the next at M
    enters = _law([0, others, *empty], share)[0], _law([1, others, *empty], share)[0]
    leaves = _law([1, *empty, others, 0], share)[-1], _law([0, *empty, others, 0], share)[-1]
    ratios, cost = [after / before for before, after in (enters, leaves)], Fraction(10, 9) ** int(2 * movement)
    assert all(Fraction(4, 5) * cost < ratio < cost for ratio in ratios)
    assert share == HALF or ratios[0] * ratios[1] > Fraction(10, 9) ** (2 * share.denominator)


def _law(counts: list[int], share: Fraction) -> list[Fraction]:
    losses = rank_losses(counts, share)
    return permute_and_flip_law([Fraction(9, 10) ** (loss - min(losses)) for loss in losses])


PLAN = """
neighbours = "{relation}"
budget = "b"
output = "out.json"

[source]
location = "people.csv"
columns = {{ person = "integer", age = "integer", region = "text", sex = "text" }}
{unit}
"""
QUERY = """
[[query]]
name = "{name}"
kind = "{kind}"
column = "age"
low = 0
high = 60
step = 1
nulls = "drop"
{rest}
epsilon = 40
"""
CROSSED = 'keys = { region = ["n", "s"], sex = ["f", "m"] }\nother = true'
RESTS = {
    "quartiles": ("quantile", f'probabilities = ["1/4", "1/2", "3/4"]\n{CROSSED}'),
    "youngest": ("min", CROSSED),
    "oldest": ("max", CROSSED),
}
CELL_NAMES = ["n,f", "n,m", "s,f", "s,m", "other"]
SHARE_NAMES = [f"{cell},{share}" for cell in CELL_NAMES for share in ("1/4", "1/2", "3/4")]
ROWS = [(k, 10 + k % 41, ("n", "s", "w", "")[k % 4], "fm"[k // 4 % 2]) for k in range(3280)]


def plan_text(*names: str, relation: str = "add-remove", unit: str = "") -> str:
    queries = [QUERY.format(name=name, kind=RESTS[name][0], rest=RESTS[name][1]) for name in names or RESTS]
    return PLAN.format(relation=relation, unit=unit) + "".join(queries)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


@pytest.fixture(scope="module")
def released_texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of a release of each query."""
    texts = {}
    for query in ("quartiles", "youngest", "oldest"):
        folder = write_folder(tmp_path_factory.mktemp(query))
        utmost.release(parse_plan(plan_text(query), folder))
        texts[query] = (folder / "out.json").read_text()
    return texts


def write_folder(tmp_path: Path) -> Path:
    lines = "".join(f"{person},{age},{region},{sex}\n" for person, age, region, sex in ROWS)
    (tmp_path / "people.csv").write_text(f"person,age,region,sex\n{lines}")
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1000), neighbours="add-remove"))
    return tmp_path


def cell_ages(cell: str) -> list[int]:
    is_listed = cell != "other"
    return sorted(
        age for _, age, region, sex in ROWS if (f"{region},{sex}" == cell if is_listed else region in ("w", ""))
    )


def test_choices_in_cells_are_released_and_read_back_equal(folder: Path) -> None:
    release = utmost.release(parse_plan(plan_text(), folder))
    document = json.loads((folder / "out.json").read_text())
    jsonschema.Draft202012Validator(release_file.release_schema()).validate(document)
    assert release_file.read_release(folder / "out.json") == release
    quartiles, youngest, _ = document["queries"]
    assert [len(cell) for cell in (*quartiles["value"], *quartiles["positions"])] == [3] * 10
    assert (len(youngest["value"]), len(youngest["position"])) == (5, 5)
    for name, values, low, high in zip(
        CELL_NAMES,
        *(release[query].value for query in RESTS),
        strict=True,  # type: ignore[misc]
    ):
        ages = cell_ages(name)
        for value, share in zip(values, (1, 2, 3), strict=True):
            assert close(value, ages[len(ages) * share // 4], 3)
        assert low <= ages[0] + 2
        assert ages[-1] - 2 <= high


def test_a_plan_with_choices_in_cells_is_written_and_has_the_same_digest(folder: Path) -> None:
    plan = parse_plan(plan_text(), folder)
    written = parse_plan(write_plan(plan), folder)
    assert written.queries == plan.queries
    assert plan_digest(written) == plan_digest(plan)


def test_a_table_has_the_keys_and_the_share_of_each_number(folder: Path) -> None:
    release = utmost.release(parse_plan(plan_text(), folder))
    table = tidy_table(release)
    assert table.columns == ("query", "kind", "region", "sex", "probability", "value", "low", "high", "error")
    rows = [table.cells(row) for row in table.rows if row.query == "quartiles"]
    assert [row[2:5] for row in rows[:4]] == [
        ("n", "f", "1/4"),
        ("n", "f", "1/2"),
        ("n", "f", "3/4"),
        ("n", "m", "1/4"),
    ]
    assert rows[-1][2:5] == ("other", "other", "3/4")
    assert [Fraction(str(row[5])) for row in rows] == [number for _, number in release["quartiles"].named_values]
    assert {row[4] for row in map(table.cells, table.rows[15:])} == {None}
    assert {row[6:8] for row in map(table.cells, table.rows)} == {(None, None)}


def test_a_key_column_called_probability_is_told_apart_from_the_share() -> None:
    keys = {"probability": (1, 2), "probability (key)": (3,)}
    query = GroupedQuery(several("1/4", "1/2"), Grouping(keys))  # type: ignore[arg-type]
    assert query.cell_columns == ("probability (key)", "probability (key) (key)", "probability")
    assert query.cells[:2] == ((1, 3, "1/4"), (1, 3, "1/2"))


def test_estimates_have_a_line_for_each_share_of_each_cell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    utmost.release(parse_plan(plan_text(), folder))
    assert run(["estimate", str(folder / "out.json"), "--json"]) == 0
    quartiles, youngest, _ = json.loads(capsys.readouterr().out)["queries"]
    assert [cell["cell"] for cell in quartiles["cells"]] == SHARE_NAMES
    assert [cell["cell"] for cell in youngest["cells"]] == CELL_NAMES
    assert run(["estimate", str(folder / "out.json"), "--query", "quartiles", "--cell", "other,1/2"]) == 0
    shown = capsys.readouterr().out
    assert "other,1/2" in shown
    assert "each cell by itself" in " ".join(shown.split())
    assert run(["estimate", str(folder / "out.json"), "--query", "quartiles", "--cell", "w,1/2"]) == 2
    assert "cell must be one of n,f,1/4; n,f,1/2" in capsys.readouterr().err


def test_a_report_counts_the_numbers_of_all_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = utmost.release(parse_plan(plan_text(), folder))
    assert "15 values" in release._repr_html_()
    assert run(["table", str(folder / "out.json"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 25


@pytest.mark.parametrize("relation", NeighbourRelation, ids=str)
def test_a_person_who_is_replaced_costs_twice_one_who_comes(folder: Path, relation: NeighbourRelation) -> None:
    text = plan_text(relation=str(relation), unit='[unit]\ncolumn = "person"\nrows = 3').replace('"b"', '"c"')
    planned = utmost.preview(parse_plan(text, folder)).planned_answers
    factor = 2 if relation is NeighbourRelation.REPLACE else 1
    assert [answer.law.sensitivity for answer in planned] == [6 * factor, 3 * factor, 3 * factor]


def change_entry(entry: dict[str, Any], key: str, cell: int, value: Any) -> None:
    entry[key][cell] = value


@pytest.mark.parametrize(
    ("query", "change", "problem"),
    [
        ("quartiles", lambda entry: entry["value"].pop(), "value must have an entry for each of 5 cells, got 4"),
        ("quartiles", lambda entry: entry["positions"].pop(), "positions must have an entry for each of 5 cells"),
        ("quartiles", lambda entry: entry["value"][1].pop(), "value must be those of its positions on the grid"),
        ("quartiles", lambda entry: entry["positions"][4].pop(), "positions must rise, one for each probability"),
        ("quartiles", lambda entry: change_entry(entry, "positions", 2, [9, 8, 7]), "positions must rise"),
        ("quartiles", lambda entry: change_entry(entry, "positions", 0, [9, 9, 61]), "positions must rise"),
        ("quartiles", lambda entry: change_entry(entry, "positions", 0, [True, 1, 1]), "list of whole numbers"),
        ("quartiles", lambda entry: change_entry(entry, "positions", 0, 3), "positions must be a list"),
        ("quartiles", lambda entry: change_entry(entry, "value", 3, ["1/3", "1/2", "3/4"]), "value must be those"),
        ("quartiles", lambda entry: entry.update(value=entry["value"][0] * 5), "value must have an entry for each"),
        ("quartiles", lambda entry: entry.pop("positions"), "positions"),
        ("quartiles", lambda entry: entry.update(position=[1] * 5), "position"),
        ("quartiles", lambda entry: entry["mechanism"]["rates"].pop(), "mechanism must"),
        ("youngest", lambda entry: change_entry(entry, "value", 1, "7/2"), "value must be that of its position"),
        ("youngest", lambda entry: change_entry(entry, "position", 1, 61), "value must be that of its position"),
        ("youngest", lambda entry: entry["position"].pop(), "position must have an entry for each of 5 cells, got 4"),
        ("oldest", lambda entry: entry.update(sensitivity=2), "sensitivity must be"),
        ("oldest", lambda entry: entry["cells"].pop(), "cells must be the combinations of its keys"),
    ],
)
def test_an_altered_release_of_choices_in_cells_is_refused(
    released_texts: dict[str, str], query: str, change: Callable[[dict[str, Any]], Any], problem: str
) -> None:
    document = json.loads(released_texts[query])
    change(document["queries"][0])
    with pytest.raises(InputError) as caught:
        release_file.release_from_content(document)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("query", "most"), [(Min("x", GRIDS[0], None), 666_666), (several("1/4", "1/2", "3/4"), 333_333)], ids=["min", "3"]
)
def test_cells_that_leave_more_grid_values_than_are_worked_out_are_refused(query: Min | Quantiles, most: int) -> None:
    """Three grid values in each cell, on each of one or two levels."""
    query.check_cells(most)
    with pytest.raises(InputError, match=r"keys must leave at most 2000000 grid values .* got 200000[1-9]"):
        query.check_cells(most + 1)
