"""Every storage of a table gives the same answers: those of plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.oracle import Truth, Where, assert_agrees, position, relevant_values, row_cell
from data.storages import CONNECTED, CONNECTED_CASES, FRAMES, STORAGE_CASES, open_stored_table, stored_rows
from spark import quiet
from utmost.data.cells import Grouping
from utmost.data.found_cells import FoundKeys
from utmost.data.grid import Grid, check_grid
from utmost.data.row_sums import RowSums
from utmost.data.selection import Key, NeighbourRelation, Partition, PrivacyUnit, Selection
from utmost.data.table import Table
from utmost.errors import InputError
from utmost.queries import (
    Count,
    Distinct,
    GroupedQuery,
    Histogram,
    Max,
    Mean,
    Min,
    Over,
    Quantile,
    Quantiles,
    Query,
    Sum,
    Variance,
)
from utmost.queries.exact_answers import exact_answers
from utmost.queries.found_cells import FoundAnswers
from utmost.queries.found_count import FoundCount
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.registry import FOUND_FORMS

pytestmark = quiet

EXAMPLES = {
    "csv": 60,
    "parquet": 100,
    "duckdb": 60,
    "postgres": 60,
    "spark": 15,
    "spark-csv": 10,
    **dict.fromkeys(FRAMES + CONNECTED, 40),
}
TABLE_EXAMPLES = {
    "csv": 15,
    "parquet": 40,
    "duckdb": 15,
    "postgres": 15,
    "spark": 3,
    "spark-csv": 3,
    **dict.fromkeys(FRAMES + CONNECTED, 15),
}
BIG = (0, 1, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 0.1, 0.3, 0.5, -0.5, 1.5, 2.5, 1e-310, 5e-324, 1e308, -1e308, float("inf"), -float("inf"), 1e15)
SINGLES = (0.0, -0.0, 0.5, 1.5, -2.25, 0.10000000149011612, 3.4028234663852886e38, 1.401298464324817e-45, float("inf"))
TEXTS = (
    "",
    "north",
    "nor'th",
    'so"uth',
    "œst \u20ac\U0001f600",
    "a,b",
    "back\\slash",
    "${x}",
    "line\nline",
    " ",
    "%s",
    "--",
)
MONEY = ("0", "0.5", "-0.5", "1.25", "12345.6789", "-99999999999999.9999", "99999999999999.9999", "0.0001", "2.5")
WIDE = ("0", "0.5", "1.5", "-1.5", "0.0000000001", "9999999999999999999999999999.9999999999", "3.3333333333", "-7.25")
DAYS = (date(2020, 2, 29), date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31))


def null_or(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values | values | values


def floats(width: int, edge_values: tuple[float, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(edge_values) | st.floats(width=width) | st.floats(-10, 10, width=width)


def row_strategy() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "person": null_or(st.integers(0, 4) | st.sampled_from(BIG)),
            "name": null_or(st.sampled_from(TEXTS) | st.sampled_from("abcd")),
            "small": null_or(st.integers(-128, 127) | st.integers(-3, 3)),
            "big": null_or(st.sampled_from(BIG) | st.integers(-20, 20)),
            "x": null_or(floats(64, FLOATS)),
            "y": null_or(floats(32, SINGLES)),
            "money": null_or(st.sampled_from(MONEY).map(Decimal) | st.decimals(-20, 20, places=4)),
            "wide": null_or(st.sampled_from(WIDE).map(Decimal) | st.decimals(-20, 20, places=10)),
            "region": null_or(st.sampled_from(TEXTS)),
            "flag": null_or(st.booleans()),
            "day": null_or(st.sampled_from(DAYS)),
        }
    )


WHERE_CLAUSES: tuple[tuple[str | None, Where | None], ...] = (
    (None, None),
    ("big > 0", lambda row: row["big"] is not None and row["big"] > 0),
    ("flag", lambda row: row["flag"]),
    ("region = 'nor''th' or small in (1, 2)", lambda row: row["region"] == "nor'th" or row["small"] in (1, 2)),
    ("not (day = date '2020-02-29')", lambda row: row["day"] is not None and row["day"] != DAYS[0]),
    ("x <= 1.5", lambda row: row["x"] is not None and row["x"] <= 1.5),
    ("small < -1000", lambda row: False),
)
STEPS = tuple(map(Fraction, ("1", "1/2", "1/3", "3", "7", "7/10", "1/10", "1/1000", "1000000", "1e-9")))
UNITS = (
    PrivacyUnit(),
    *(PrivacyUnit("person", rows=k) for k in (1, 2, 10**6)),
    *(PrivacyUnit("name", rows=k) for k in (1, 3)),
    PrivacyUnit("day", rows=2),
    PrivacyUnit("flag", rows=2),
)
GROUPS = (*(PrivacyUnit("person", groups=k) for k in (1, 2, 10**6)), PrivacyUnit("name", groups=1))
KEYS = {
    "region": (*TEXTS[1:], "nowhere"),
    "small": (-1, 0, 1, 2, 10**30, -(10**30)),
    "big": (*BIG, 10**20),
    "flag": (True, False),
    "day": (*DAYS, date(2021, 1, 1)),
}


@st.composite
def grids(draw: st.DrawFn, max_size: int) -> Grid:
    step = draw(st.sampled_from(STEPS))
    low, size = draw(st.integers(-50, 20)), draw(st.integers(1, max_size))
    return Grid(low * step, (low + size) * step, step)


def is_computable(table: Table, column: str, grid: Grid) -> bool:
    """Whether the table can place the column's numbers on the grid: a plan with another grid is refused."""
    try:
        check_grid(table.types[column], grid, table._connection.engine)
    except InputError:
        return False
    return True


@st.composite
def questions(draw: st.DrawFn, table: Table) -> tuple[Query, PrivacyUnit, Partition | None, Where | None]:
    text, where = draw(st.sampled_from(WHERE_CLAUSES))
    part = draw(
        st.sampled_from((None, None, Partition("flag", True), Partition("region", "nor'th"), Partition("big", 10**30)))
    )
    kind = draw(st.sampled_from(("count", "histogram", "sum", "mean", "quantile", "variance", "distinct")))
    unit = draw(st.sampled_from(UNITS + GROUPS if kind in ("count", "histogram", "distinct") else UNITS))
    query = draw(queries(table, kind, text))
    if kind != "histogram" and draw(st.booleans()):
        query = GroupedQuery(query, draw(groupings()))
    return query, unit, part, where


@st.composite
def groupings(draw: st.DrawFn) -> Grouping:
    columns = draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2, unique=True))
    return Grouping({column: KEYS[column] for column in columns}, draw(st.booleans()))


@st.composite
def queries(draw: st.DrawFn, table: Table, kind: str, text: str | None) -> Query:
    if kind == "count":
        return Count(text)
    if kind == "distinct":
        column = draw(st.sampled_from(sorted(KEYS)))
        return Distinct(column, draw(st.sampled_from((None, KEYS[column]))), text)
    if kind == "histogram":
        columns = draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2, unique=True))
        return Histogram({column: KEYS[column] for column in columns}, text)
    column = draw(st.sampled_from(("small", "big", "x", "y", "money", "wide")))
    max_size = {"quantile": 40, "variance": 10**6}.get(kind, 10**12 - 100)
    grid = draw(grids(max_size).filter(lambda grid: is_computable(table, column, grid)))
    nulls = draw(st.sampled_from((None, grid.low, grid.high, (grid.low + grid.high) / 2)))
    if kind == "quantile":
        return Quantile(column, grid, Fraction(1, 2), nulls, text)
    return {"sum": Sum, "mean": Mean, "variance": Variance}[kind](column, grid, nulls, text)


@st.composite
def asked_queries(draw: st.DrawFn, table: Table) -> Query:
    """A query of any kind that shares scans: of all rows, of listed cells or of found ones."""
    kind, text = draw(st.sampled_from(("count", "sum", "mean", "variance"))), draw(st.sampled_from(WHERE_CLAUSES))[0]
    query, form = draw(queries(table, kind, text)), draw(st.sampled_from(("all", "listed", "found")))
    if form == "all":
        return query
    if form == "listed":
        return GroupedQuery(query, draw(groupings()))
    by, delta = draw(st.sampled_from((("region",), ("small", "flag"), ("flag", "small")))), Fraction(1, 10**6)
    return FoundCount(by, text, delta) if kind == "count" else FOUND_FORMS[type(query)](query, by, delta)


def plain_answer(answer: list[int]) -> object:
    """Cells that were found, by their keys and without those that no row is in; another answer as it is."""
    if not isinstance(answer, FoundAnswers):
        return answer
    values = answer.answers or [()] * len(answer)
    return {cell: (rows, value) for cell, rows, value in zip(answer.cells, answer, values, strict=True) if rows}


def fixed_rows(size: int) -> list[dict[str, Any]]:
    """Rows with every awkward value, the same ones every time."""
    generator = random.Random(19)

    def draw_value(*values: Any) -> Any:
        return None if generator.random() < 0.15 else generator.choice(values)

    return [
        {
            "person": draw_value(*range(size // 8), *BIG),
            "name": draw_value(*TEXTS, *"abcdefgh"),
            "small": draw_value(-128, 127, *range(-3, 4)),
            "big": draw_value(*BIG, *range(-20, 20)),
            "x": draw_value(*FLOATS, float("nan"), generator.uniform(-20, 20)),
            "y": draw_value(*SINGLES, float("nan")),
            "money": draw_value(*map(Decimal, MONEY), Decimal(generator.randrange(-(10**6), 10**6)).scaleb(-4)),
            "wide": draw_value(*map(Decimal, WIDE), Decimal(generator.randrange(-(10**12), 10**12)).scaleb(-10)),
            "region": draw_value(*TEXTS),
            "flag": draw_value(True, False),
            "day": draw_value(*DAYS),
        }
        for _ in range(size)
    ]


ROWS = fixed_rows(400)


@pytest.fixture(scope="module", params=[*STORAGE_CASES, *CONNECTED_CASES])
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name.startswith("spark"):
        request.getfixturevalue("spark")
    return name


@pytest.fixture(scope="module")
def url(storage: str, request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgres_module_url") if storage == "postgres" else None


@pytest.fixture(scope="module")
def table(storage: str, url: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with open_stored_table(storage, ROWS, tmp_path_factory.mktemp(storage), url) as stored_table:
        yield stored_table


def test_every_storage_answers_every_question_as_plain_python_does(
    storage: str, table: Table, max_examples: Callable[[int], int]
) -> None:
    rows = stored_rows(storage, ROWS)

    @settings(max_examples=max_examples(EXAMPLES[storage]))
    @given(questions(table))
    def check(question: tuple[Query, PrivacyUnit, Partition | None, Where | None]) -> None:
        query, unit, part, where = question
        assert_agrees(table, rows, query, unit, part, where)

    check()


def test_every_storage_counts_the_persons_over_the_bound_of_a_question_as_plain_python_does(
    storage: str, table: Table, max_examples: Callable[[int], int]
) -> None:
    """Of the rows that the question could keep: with its predicate, its part, its cells and a value that counts."""
    rows = stored_rows(storage, ROWS)

    @settings(max_examples=max_examples(EXAMPLES[storage] // 3))
    @given(questions(table).filter(lambda question: question[1].column is not None))
    def check(question: tuple[Query, PrivacyUnit, Partition | None, Where | None]) -> None:
        query, unit, part, where = question
        people = Truth(relevant_values(rows, query, unit, part, where), unit).people
        setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, part, None)
        over = sum(values.total() > unit.bound for values in people.values())
        assert Over.of(query).exact_answer(table, setting) == [over]

    check()


def test_any_table_is_answered_as_plain_python_does(
    storage: str, url: str | None, table: Table, tmp_path: Path, max_examples: Callable[[int], int]
) -> None:
    """The fixture `table` lends the types of its columns alone."""

    @settings(max_examples=max_examples(TABLE_EXAMPLES[storage]), suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(row_strategy(), max_size=12), st.lists(questions(table), min_size=1, max_size=4))
    def check(
        rows: list[dict[str, Any]], question_list: list[tuple[Query, PrivacyUnit, Partition | None, Where | None]]
    ) -> None:
        with open_stored_table(storage, rows, tmp_path, url) as drawn_table:
            for query, unit, part, where in question_list:
                assert_agrees(drawn_table, stored_rows(storage, rows), query, unit, part, where)
            assert drawn_table.units(PrivacyUnit()) == len(rows)
            people = {row["name"] for row in stored_rows(storage, rows)} - {None}
            assert drawn_table.units(PrivacyUnit("name", rows=1)) == len(people)

    check()


@pytest.mark.slow
def test_questions_asked_together_have_the_answers_that_they_have_alone(
    storage: str, table: Table, max_examples: Callable[[int], int]
) -> None:
    """Where nothing is left out at random: rows as units, and persons of whom every row is kept."""

    @settings(max_examples=max_examples(TABLE_EXAMPLES[storage]))
    @given(
        st.sampled_from((PrivacyUnit(), PrivacyUnit("person", rows=10**6))),
        st.sampled_from((None, Partition("flag", True))),
        st.lists(asked_queries(table), min_size=2, max_size=8),
    )
    def check(unit: PrivacyUnit, part: Partition | None, query_list: list[Query]) -> None:
        setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, unit, part, None)
        for query, together in zip(query_list, exact_answers(query_list, table, setting), strict=True):
            assert plain_answer(together) == plain_answer(query.exact_answer(table, setting))

    check()


@pytest.mark.parametrize(
    "unit", [PrivacyUnit(), PrivacyUnit("person", rows=2), PrivacyUnit("person", groups=2)], ids=str
)
@pytest.mark.parametrize("columns", [("region",), ("small",), ("flag", "day"), ("name", "big")], ids=",".join)
def test_every_storage_finds_the_cells_that_plain_python_finds(
    storage: str, table: Table, unit: PrivacyUnit, columns: tuple[str, ...]
) -> None:
    """Rows with a NULL or a line break among their keys are in no cell; of a person at most so many rows are kept."""
    cells = [(row["person"], tuple(row[column] for column in columns)) for row in stored_rows(storage, ROWS)]
    pairs = [(person, cell) for person, cell in cells if None not in cell]
    truth = Truth([(person, cell) for person, cell in pairs if unit.column is None or person is not None], unit)
    (found,) = table.row_sums([RowSums(Selection(None, unit), grouping=FoundKeys(columns))])
    assert len(set(found.cells)) == len(found.cells)
    for cell, moments in zip(found.cells, found.moments, strict=True):
        low, high = truth.count_range(cell)
        assert low <= moments.rows <= high
        assert all(type(key) is not str or "\n" not in key for key in cell)
    missing = {cell for _, cell in pairs} - set(found.cells)
    assert all(truth.count_range(cell)[0] == 0 or any("\n" in str(key) for key in cell) for cell in missing)


@pytest.mark.parametrize("other", [False, True])
def test_quantiles_and_extremes_in_cells_are_chosen_by_the_losses_that_plain_python_finds(
    storage: str, table: Table, other: bool
) -> None:
    """How many rows of each cell are at each position; for the least and the greatest value, how many lie beyond it."""
    grid, grouping = Grid(Fraction(-3), Fraction(9), Fraction(3, 2)), Grouping({"flag": (True,), "day": DAYS}, other)
    setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)
    values = [(row_cell(row, grouping), position(row["small"], grid)) for row in stored_rows(storage, ROWS)]
    places = range(grid.size + 1)
    cells = [[[place for name, place in values if name == cell].count(p) for p in places] for cell in grouping.cells]
    below = [[sum(counts[:place]) for place in places] for counts in cells]
    above = [[sum(counts[place + 1 :]) for place in places] for counts in cells]
    several = Quantiles("small", grid, (Fraction(1, 4), Fraction(1, 2)), None)
    for query, answers in ((several, cells), (Min("small", grid, None), below), (Max("small", grid, None), above)):
        truth = GroupedQuery(query, grouping).exact_answer(table, setting)
        assert truth == [number for answer in answers for number in answer]


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("name", rows=10**6), PrivacyUnit("person", groups=10**6)])
def test_many_keys_and_all_other_rows_are_counted_as_in_plain_python(
    storage: str, table: Table, unit: PrivacyUnit
) -> None:
    """More keys than are listed one by one."""
    rows, texts = stored_rows(storage, ROWS), tuple(f"text {number}" for number in range(600))
    keys: dict[str, tuple[Key, ...]] = {"big": tuple(range(-300, 400)), "region": (*TEXTS[1:], *texts)}
    for column in keys:
        assert_agrees(table, rows, GroupedQuery(Count(), Grouping({column: keys[column]}, True)), unit, None, None)
        assert_agrees(table, rows, Distinct(column, keys[column]), unit, None, None)
