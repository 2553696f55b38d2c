"""Queries in cells: sensitivities by brute force, plans, release files and their readings."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import utmost
from utmost import ledger
from utmost.cli import run
from utmost.data.cells import Grouping
from utmost.data.grid import Grid, GridColumn
from utmost.data.row_sums import CellSums, Moments, RowSums
from utmost.data.selection import Key, NeighbourRelation, PrivacyUnit, Selection
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.plan_digest import plan_digest
from utmost.publish.plan_writer import write_plan
from utmost.publish.plans import parse_plan
from utmost.queries import Count, Distinct, GroupedQuery, Histogram, Mean, Quantile, Query, Sum, Variance
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.ratio import RatioMechanism
from utmost.queries.privacy_setting import PrivacySetting

Row = tuple[int, int]  # the cell and the grid position of a kept row
GRIDS = [Grid(Fraction(a), Fraction(b), Fraction(1)) for a, b in ((0, 2), (-1, 1), (-3, -1), (1, 2))]
CELLS = Grouping({"g": (0, 1)}, other=True)
HALF = Fraction(1, 2)


@dataclass
class CellTable:
    """A table after where, nulls and bounding: the kept rows of each unit."""

    units: list[tuple[Row, ...]]

    def positions(self, cell: int) -> list[int]:
        return [position for unit in self.units for row_cell, position in unit if row_cell == cell]

    def row_sums(self, requests: Sequence[RowSums]) -> list[CellSums]:
        return [self.sums_of(request) for request in requests]

    def sums_of(self, request: RowSums) -> CellSums:
        assert isinstance(request.grouping, Grouping)
        cells = [self.positions(cell) for cell in range(request.grouping.size)]
        moments = (Moments(len(cell), sum(cell), sum(place * place for place in cell)) for cell in cells)
        return CellSums(request.grouping.cells, tuple(moments))

    def cell_distinct_counts(self, selection: Selection, grouping: Grouping, column: str, domain: Any) -> list[int]:
        return [len(set(self.positions(cell))) for cell in range(grouping.size)]

    def cell_position_counts(self, selection: Selection, grouping: Grouping, values: GridColumn) -> list[list[int]]:
        places = range(values.grid.size + 1)
        return [[self.positions(cell).count(place) for place in places] for cell in range(grouping.size)]


def settings() -> list[PrivacySetting]:
    units = [PrivacyUnit(), PrivacyUnit("p", rows=1), PrivacyUnit("p", rows=2)]
    return [
        PrivacySetting(relation, unit, None, 3 if relation is NeighbourRelation.REPLACE else None)
        for relation in NeighbourRelation
        for unit in units
    ]


def neighbouring_answers(
    query: Query, setting: PrivacySetting, positions: int
) -> Iterator[tuple[list[int], list[int]]]:
    """The exact answers of all pairs of neighbouring tables that share one unit of one row."""
    rows = [(cell, place) for cell in range(3) for place in range(positions)]
    units = [unit for size in range(setting.unit.bound + 1) for unit in combinations_with_replacement(rows, size)]
    answers = [query.exact_answer(CellTable([((0, 0),), unit]), setting) for unit in units]  # type: ignore[arg-type]
    if setting.replacing:
        yield from ((a, b) for a in answers for b in answers)
    else:
        yield from ((answers[0], answer) for answer in answers)


def movements(pairs: Iterator[tuple[list[int], list[int]]]) -> Iterator[list[int]]:
    yield from ([abs(x - y) for x, y in zip(a, b, strict=True)] for a, b in pairs)


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_sums_in_cells_move_exactly_by_their_sensitivity_and_stay_between_their_ends(
    setting: PrivacySetting, grid: Grid
) -> None:
    query = GroupedQuery(Sum("x", grid, None), CELLS)
    selection = query.select_mechanism(HALF, setting)
    pairs = list(neighbouring_answers(query, setting, grid.size + 1))
    assert max(sum(moved) for moved in movements(iter(pairs))) == selection.sensitivity
    mechanism = selection.mechanism
    assert isinstance(mechanism, GeometricLattice)
    for number in {number for pair in pairs for answer in pair for number in answer}:
        assert mechanism.low is None or mechanism.low <= number
        assert mechanism.high is None or number <= mechanism.high


@pytest.mark.parametrize("setting", settings(), ids=str)
def test_counts_in_cells_move_exactly_by_their_sensitivity(setting: PrivacySetting) -> None:
    for query in (GroupedQuery(Count(), CELLS), Histogram(CELLS.keys, other=True)):
        pairs = neighbouring_answers(query, setting, 1)
        assert max(sum(moved) for moved in movements(pairs)) == query.select_mechanism(HALF, setting).sensitivity


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("grid", GRIDS[:2], ids=str)
def test_totals_and_rows_of_means_in_cells_cost_exactly_epsilon_together(setting: PrivacySetting, grid: Grid) -> None:
    query = GroupedQuery(Mean("x", grid, Fraction(grid.low)), CELLS)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    assert isinstance(mechanism, RatioMechanism)
    total, rows = mechanism.total.epsilon, mechanism.rows.epsilon
    pairs = neighbouring_answers(query, setting, grid.size + 1)
    costs = (sum(moved[::2]) * total + sum(moved[1::2]) * rows for moved in movements(pairs))
    assert max(costs) == HALF == query.actual_epsilon(mechanism, setting)


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("grid", [GRIDS[1], Grid(Fraction(0), Fraction(4), Fraction(1))], ids=str)
def test_the_three_numbers_of_variances_in_cells_cost_exactly_epsilon_together(
    setting: PrivacySetting, grid: Grid
) -> None:
    query = GroupedQuery(Variance("x", grid, Fraction(grid.low)), CELLS)
    mechanism = query.select_mechanism(HALF, setting).mechanism
    rates = [mechanism.total.epsilon, mechanism.squares.epsilon, mechanism.rows.epsilon]
    pairs = neighbouring_answers(query, setting, grid.size + 1)
    moves = {tuple(sum(moved[place::3]) for place in range(3)) for moved in movements(pairs)}
    costs = (sum(move * rate for move, rate in zip(moved, rates, strict=True)) for moved in moves)
    assert max(costs) == HALF == query.actual_epsilon(mechanism, setting)


@pytest.mark.parametrize("setting", settings(), ids=str)
def test_numbers_of_different_values_in_cells_move_exactly_by_their_sensitivity(setting: PrivacySetting) -> None:
    query = GroupedQuery(Distinct("x"), CELLS)
    pairs = neighbouring_answers(query, setting, 3)
    assert max(sum(moved) for moved in movements(pairs)) == query.select_mechanism(HALF, setting).sensitivity


@pytest.mark.parametrize("setting", settings(), ids=str)
@pytest.mark.parametrize("share", ["0", "1/2", "1/3", "1"])
def test_losses_of_quantiles_in_cells_move_together_exactly_by_their_sensitivity(
    setting: PrivacySetting, share: str
) -> None:
    query, width = GroupedQuery(Quantile("x", GRIDS[0], Fraction(share), None), CELLS), GRIDS[0].size + 1
    sensitivity = query.select_mechanism(HALF, setting).sensitivity
    pairs = neighbouring_answers(query, setting, width)
    largest = max(
        sum(max(moved[start : start + width]) for start in range(0, len(moved), width)) for moved in movements(pairs)
    )
    assert largest <= sensitivity
    assert largest == sensitivity or share == "1/2" or setting.unit.bound > 1 or setting.replacing


@pytest.mark.parametrize("setting", settings(), ids=str)
def test_the_epsilon_of_all_cells_together_is_the_one_asked_for(setting: PrivacySetting) -> None:
    inner: list[Query] = [Count(), Sum("x", GRIDS[1], None), Mean("x", GRIDS[1], None)]
    inner += [Variance("x", GRIDS[1], None), Distinct("x")]
    for query in [*inner, Quantile("x", GRIDS[0], Fraction(1, 3), None)]:
        grouped = GroupedQuery(query, CELLS)
        selection = grouped.select_mechanism(Fraction(7, 5), setting)
        assert grouped.actual_epsilon(selection.mechanism, setting) == Fraction(7, 5)


def test_nothing_is_claimed_of_numbers_in_cells_but_of_counts_that_a_unit_moves_by_one() -> None:
    claims = {
        (query.kind, str(setting.neighbours), setting.unit.bound): GroupedQuery(query, CELLS)
        .select_mechanism(HALF, setting)
        .optimal.partition(":")[0]
        for query in (Count(), Sum("x", GRIDS[0], None), Mean("x", GRIDS[0], None))
        for setting in settings()
    }
    assert claims.pop(("count", "add-remove", 1)) == "per cell"
    assert set(claims.values()) == {"none claimed"}


PLAN = """
neighbours = "add-remove"
budget = "b"
output = "out.json"

[source]
location = "people.csv"
columns = { age = "integer", region = "text", group = "integer" }
"""
QUERIES = {
    "count": "",
    "sum": 'column = "age"\nlow = 0\nhigh = 60\nstep = "1/2"\nnulls = "drop"\n',
    "mean": 'column = "age"\nlow = 0\nhigh = 60\nstep = 1\nnulls = "drop"\n',
    "quantile": 'column = "age"\nlow = 0\nhigh = 60\nstep = 1\nnulls = "drop"\nprobability = "1/2"\n',
    "variance": 'column = "age"\nlow = 0\nhigh = 60\nstep = 1\nnulls = "drop"\n',
    "distinct": 'column = "age"\n',
}
TABLE = "age,region,group\n" + "".join(f"{20 + k % 30},{('n', 's', 'w', '')[k % 4]},{k % 3}\n" for k in range(1200))


def query_text(kind: str, keys: str = '{ region = ["n", "s"] }', rest: str = "other = true") -> str:
    return f'[[query]]\nname = "{kind}"\nkind = "{kind}"\n{QUERIES[kind]}keys = {keys}\n{rest}\nepsilon = 20\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE)
    with ledger.open_ledger("ledger.sqlite", tmp_path) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1000), neighbours="add-remove"))
    return tmp_path


def close(value: Any, exact: float, error: float) -> bool:
    return abs(float(value) - exact) <= error


def test_every_kind_is_released_in_cells_and_read_back_equal(folder: Path) -> None:
    plan = parse_plan(PLAN + "".join(query_text(kind) for kind in QUERIES), folder)
    release = utmost.release(plan)
    document = json.loads((folder / "out.json").read_text())
    jsonschema.Draft202012Validator(release_file.release_schema()).validate(document)
    assert release_file.read_release(folder / "out.json") == release
    for entry in document["queries"]:
        assert entry["cells"] == [["n"], ["s"], [None]]
        assert (entry["keys"], entry["other"]) == ({"region": ["n", "s"]}, True)
        assert len(entry["value"]) == 3
    ages = [[20 + k % 30 for k in range(1200) if k % 4 in places] for places in ((0,), (1,), (2, 3))]
    for index, cell_ages in enumerate(ages):
        numbers = {kind: release[kind].value[index] for kind in QUERIES}  # type: ignore[index]
        assert close(numbers["count"], len(cell_ages), 6)
        assert close(numbers["sum"], sum(cell_ages), 400)
        assert close(numbers["mean"], sum(cell_ages) / len(cell_ages), 3)
        assert close(numbers["quantile"], sorted(cell_ages)[len(cell_ages) // 2], 4)
        assert close(numbers["variance"], statistics.pvariance(cell_ages), 30)
        assert close(numbers["distinct"], len(set(cell_ages)), 6)
    assert [parts["rows"] > 0 for parts in document["queries"][2]["parts"]] == [True] * 3
    assert len(document["queries"][3]["position"]) == 3


def test_a_plan_with_cells_is_written_and_has_the_same_digest(folder: Path) -> None:
    plan = parse_plan(PLAN + "".join(query_text(kind) for kind in QUERIES), folder)
    written = write_plan(plan)
    assert 'keys = { region = ["n", "s"] }\nother = true\n' in written
    assert plan_digest(parse_plan(written, folder)) == plan_digest(plan)


def test_estimates_of_all_cells_and_of_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    utmost.release(parse_plan(PLAN + "".join(query_text(kind) for kind in QUERIES), folder))
    options = ["--at-least", "0", "--at-most", "100000", "--json"]
    assert run(["estimate", str(folder / "out.json"), *options]) == 0
    entries = json.loads(capsys.readouterr().out)["queries"]
    assert [[cell["cell"] for cell in entry["cells"]] for entry in entries] == [["n", "s", "other"]] * len(QUERIES)
    assert run(["estimate", str(folder / "out.json"), "--query", "mean", "--cell", "other", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert [cell["cell"] for cell in one["cells"]] == ["other"]
    assert one["value"] == [entries[2]["value"][2]]
    assert run(["estimate", str(folder / "out.json"), "--query", "quantile", "--cell", "w"]) == 2
    assert "cell must be one of n; s; other" in capsys.readouterr().err
    assert run(["estimate", str(folder / "out.json"), "--query", "quantile"]) == 0
    assert run(["estimate", str(folder / "out.json"), "--query", "mean"]) == 0
    assert "other" in capsys.readouterr().out


def test_a_mean_in_a_cell_is_read_as_the_same_mean_without_cells(folder: Path) -> None:
    release = utmost.release(parse_plan(PLAN + query_text("mean"), folder))
    estimate = release["mean"].estimate("uniform", "absolute")
    for index, name in enumerate(estimate.cells):
        alone = release["mean"].estimate("uniform", "absolute", cell=name)
        assert alone.readings[0] == estimate.readings[index]


@pytest.mark.parametrize(
    ("keys", "rest", "problem"),
    [
        ('{ region = "1..4" }', "", "keys of region must be texts, since the column is of kind text, got int"),
        ('{ region = ["n", "n"] }', "", "must be distinct"),
        ("""{ region = ["'n'"] }""", "", 'without quotes of their own, got "\'n\'": write "n"'),
        ('{ region = "n..s" }', "", 'must be a list in [ ], or a range of whole numbers as in "1..12"'),
        ('{ group = "5..1" }', "", "must be a range of 1 to 100000 whole numbers"),
        ('{ group = "1..10000", age = "1..1000" }', "", "at most 100000 cells"),
        ('{ group = "1..100000" }', "other = true", "at most 100000 cells"),
        ("{ group = [1] }", 'other = "yes"', "other must be true or false"),
        ("{ nothing = [1] }", "", "nothing"),
    ],
)
@pytest.mark.parametrize("kind", ["count", "mean"])
def test_wrong_keys_are_refused_before_anything_is_charged(
    folder: Path, kind: str, keys: str, rest: str, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        utmost.release(parse_plan(PLAN + query_text(kind, keys, rest), folder))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    with ledger.open_ledger("ledger.sqlite", folder) as spent_ledger:
        assert spent_ledger.state("b").spent == 0


def test_extra_loss_and_groups_are_refused_with_keys_where_rows_are_secret(folder: Path) -> None:
    with pytest.raises(InputError, match=r"extra_loss must be left out with keys.*give step"):
        parse_plan(PLAN + query_text("sum").replace('step = "1/2"', "extra_loss = 2"), folder)
    by_groups = PLAN.replace('"b"', '"c"') + '[unit]\ncolumn = "group"\ngroups = 2\n'
    with pytest.raises(InputError, match="unit must bound rows for a mean, got groups"):
        utmost.preview(parse_plan(by_groups + query_text("mean"), folder))
    assert utmost.preview(parse_plan(by_groups + query_text("count"), folder)).planned_answers[0].law.sensitivity == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda entry: entry["value"].pop(), "value must have an entry for each of 3 cells, got 2"),
        (lambda entry: entry["parts"].pop(), "parts must have an entry for each of 3 cells, got 2"),
        (lambda entry: entry.pop("parts"), "parts must be given for a ratio alone"),
        (lambda entry: entry["cells"].pop(), "cells must be the combinations of its keys"),
        (lambda entry: entry.pop("other"), "cells must be the combinations of its keys"),
        (lambda entry: entry["parts"][1].update(rows=-1), "value must be within its mechanism's ends"),
        (lambda entry: entry["value"].__setitem__(0, "1/7"), "value must be the ratio of its parts"),
        (lambda entry: entry.update(value="30"), "value must be a list"),
        (lambda entry: entry["parts"].__setitem__(0, 3), "parts must be a table"),
        (lambda entry: entry.update(sensitivity=1), "sensitivity must be"),
    ],
)
def test_an_altered_release_in_cells_is_refused(folder: Path, change: Any, problem: str) -> None:
    utmost.release(parse_plan(PLAN + query_text("mean"), folder))
    document = json.loads((folder / "out.json").read_text())
    change(document["queries"][0])
    with pytest.raises(InputError) as caught:
        release_file.release_from_content(document)
    assert problem in str(caught.value)


def test_the_cell_of_all_other_rows_has_a_name_that_no_key_has() -> None:
    keys: dict[str, tuple[Key, ...]] = {"x": ("other", "a")}
    assert Histogram(keys, other=True).cell_names == ("other", "a", "(other)")
    assert GroupedQuery(Count(), Grouping({"x": (1,), "y": ("b",)}, other=True)).cell_names == ("1,b", "other")


def test_ranges_are_the_whole_numbers_from_end_to_end(folder: Path) -> None:
    plan = parse_plan(PLAN + query_text("count", '{ group = "0..2" }', ""), folder)
    assert plan.queries[0].query == GroupedQuery(Count(), Grouping({"group": (0, 1, 2)}))
    release = utmost.release(plan)
    assert all(close(value, 400, 6) for value in release["count"].value)  # type: ignore[union-attr]


def key_file_plan(keys: str, folder: Path) -> str:
    (folder / "regions.csv").write_text("code,name\nw,west\ns,south\ns,south again\n,nowhere\n")
    return PLAN + query_text("mean", keys, "")


def test_keys_of_a_public_file_are_in_the_plan_and_in_the_release(folder: Path) -> None:
    plan = parse_plan(key_file_plan('{ region = { location = "regions.csv", column = "code" } }', folder), folder)
    assert plan.queries[0].query.cells == (("s",), ("w",))
    assert 'keys = { region = ["s", "w"] }' in write_plan(plan)
    utmost.release(plan)
    assert json.loads((folder / "out.json").read_text())["queries"][0]["keys"] == {"region": ["s", "w"]}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('location = "regions.csv", column = "other"', "other"),
        ('location = "nothing.csv", column = "code"', "location must be a file that exists"),
        ('location = "people.csv", column = "region"', "must be a public file, got the table itself"),
        ('location = "regions.txt", column = "code"', "keys.region.location must be a CSV or Parquet file"),
        ('location = "regions.csv"', "keys.region.column is missing"),
        ('location = "regions.csv", column = "code", colour = 3', '"keys.region.colour" is not known here'),
    ],
)
def test_a_key_file_that_cannot_be_read_is_refused_with_one_line(folder: Path, keys: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_plan(key_file_plan(f"{{ region = {{ {keys} }} }}", folder), folder)
    assert problem in str(caught.value)
    assert 'query "mean"' in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("character", ["\x1b", "\u202e", "\n"])
def test_keys_of_a_file_that_no_release_could_be_read_with_are_refused(folder: Path, character: str) -> None:
    import duckdb

    regions = str(folder / "regions.parquet")
    duckdb.sql(f"SELECT unnest(['s', 'n' || chr({ord(character)}) || 'w']) AS code").write_parquet(regions)
    text = key_file_plan('{ region = { location = "regions.parquet", column = "code" } }', folder)
    with pytest.raises(InputError, match=r"keys.region.column must have texts without control characters"):
        parse_plan(text, folder)


def test_days_that_no_calendar_has_are_no_keys_of_a_file(folder: Path) -> None:
    import duckdb

    days = "DATE 'infinity', DATE '9999-12-31', DATE '10000-01-01', DATE '0044-03-15 (BC)', NULL"
    duckdb.sql(f"SELECT unnest([{days}]) AS code").write_parquet(str(folder / "days.parquet"))
    plan = parse_plan(key_file_plan('{ region = { location = "days.parquet", column = "code" } }', folder), folder)
    assert plan.queries[0].query.cells == ((date(9999, 12, 31),),)


@pytest.mark.parametrize(("kind", "shown"), [("integer", r"x\\x1b"), ("date", "1")])
def test_a_value_of_a_file_that_does_not_fit_its_kind_is_refused(folder: Path, kind: str, shown: str) -> None:
    (folder / "odd.csv").write_text("code\n1\n1\nx\x1b\n2\n")
    keys = f'{{ region = {{ location = "odd.csv", column = "code", kind = "{kind}" }} }}'
    with pytest.raises(
        InputError, match=rf"keys.region.kind must fit every value .*, got {kind} and a value '?{shown}"
    ):
        parse_plan(key_file_plan(keys, folder), folder)


def test_blank_values_of_a_file_are_no_keys(folder: Path) -> None:
    (folder / "blank.csv").write_text("code,rest\n1,a\n,b\n2,c\n")
    keys = '{ region = { location = "blank.csv", column = "code", kind = "integer" } }'
    assert parse_plan(key_file_plan(keys, folder), folder).queries[0].query.cells == ((1,), (2,))


def test_a_plan_of_somebody_else_names_no_key_file(folder: Path) -> None:
    text = key_file_plan('{ region = { location = "regions.csv", column = "code" } }', folder)
    with pytest.raises(InputError, match="keys must be listed here"):
        parse_plan(text, folder, with_key_files=False)
