"""Tables: all levels agree, and move together exactly as far as their docstring says, by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.storages import Column, open_stored_table
from postgres import postgres_module_url
from spark import quiet, spark
from utmost.data.cells import Grouping
from utmost.data.row_sums import CellSums, Moments
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.table import Table
from utmost.errors import InputError
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.exact_answers import exact_answers
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.tables import CountTable, TableLevel, _largest_squared

__all__ = ["postgres_module_url", "spark"]

pytestmark = quiet
ONE = Fraction(1)
PLACES = (("n", "a"), ("n", "b"), ("s", "c"), ("s", "d"))
TREE = CountTable(
    "T",
    Grouping({"region": ("n", "s"), "town": ("a", "b", "c", "d")}, listed=PLACES),
    ((), ("region",), ("region", "town")),
)
OTHER = CountTable("T", Grouping({"region": ("n", "s")}, other=True), ((), ("region",)), where="x = 1")
CROSSED = CountTable("T", Grouping({"a": (0, 1), "b": (0, 1, 2)}), ((), ("a",), ("b",), ("a", "b")))
TABLES = {"tree": TREE, "other": OTHER, "crossed": CROSSED}
UNITS = [
    PrivacyUnit(),
    PrivacyUnit("p", rows=1),
    PrivacyUnit("p", rows=2),
    PrivacyUnit("p", rows=3),
    PrivacyUnit("p", groups=1),
    PrivacyUnit("p", groups=2),
]
SETTINGS = [
    PrivacySetting(relation, unit, None, 3 if relation is NeighbourRelation.REPLACE else None)
    for relation in NeighbourRelation
    for unit in UNITS
]
Kept = tuple[int, ...]  # the finest cells of the kept rows of one unit


def contributions(table: CountTable, setting: PrivacySetting) -> list[Kept]:
    cells, bound = range(len(table.finest_cells)), setting.unit.bound
    choose = combinations if setting.unit.groups is not None else combinations_with_replacement
    return [kept for size in range(bound + 1) for kept in choose(cells, size)]


def level_answer(level: TableLevel, kept: Kept, setting: PrivacySetting) -> list[int]:
    numbers = Counter(kept)
    moments = tuple(Moments(numbers[k]) for k in range(len(level.table.finest_cells)))
    return level.assemble(CellSums(level.table.finest_cells, moments), setting)


def all_moves(table: CountTable, setting: PrivacySetting) -> Iterator[list[list[int]]]:
    """How far each cell of each level moves, for every pair of neighbouring tables."""
    answers = [
        [level_answer(level, kept, setting) for level in table.queries] for kept in contributions(table, setting)
    ]
    pairs = [(a, b) for a in answers for b in answers] if setting.replacing else [(answers[0], b) for b in answers]
    for first, second in pairs:
        yield [[abs(x - y) for x, y in zip(own, other, strict=True)] for own, other in zip(first, second, strict=True)]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_each_level_moves_exactly_by_its_sensitivity(table: CountTable, setting: PrivacySetting) -> None:
    moves = list(all_moves(table, setting))
    for place, level in enumerate(table.queries):
        assert max(sum(moved[place]) for moved in moves) == level.select_mechanism(ONE, setting).sensitivity
        assert max(sum(step**2 for step in moved[place]) for moved in moves) == level.moves(setting).squared


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_all_levels_together_cost_exactly_the_sum_of_their_prices(table: CountTable, setting: PrivacySetting) -> None:
    """With ε_l for level l, some pair of neighbours is told apart by exp(Σ ε_l), unless a level has one cell."""
    prices = [Fraction(1, 2 + place) for place in range(len(table.levels))]
    rates, rhos = [], []
    for level, price in zip(table.queries, prices, strict=True):
        mechanism = level.select_mechanism(price, setting).mechanism
        assert isinstance(mechanism, GeometricLattice)
        rates.append(mechanism.epsilon)
        rhos.append(price / level.moves(setting).squared)
    told = max(sum(r * sum(moved) for r, moved in zip(rates, m, strict=True)) for m in all_moves(table, setting))
    squared = max(
        sum(r * sum(step**2 for step in moved) for r, moved in zip(rhos, m, strict=True))
        for m in all_moves(table, setting)
    )
    assert told <= sum(prices)
    assert squared <= sum(prices)
    has_total = any(len(level.cells) == 1 for level in table.queries) and setting.replacing
    if not has_total:
        assert told == sum(prices)
    is_nested = table is not CROSSED
    if not has_total and (setting.unit.groups in (None, 1) or is_nested):
        assert squared == sum(prices)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.replacing], ids=str)
def test_answers_stay_between_their_public_ends(setting: PrivacySetting) -> None:
    for level in TREE.queries:
        high = level.select_mechanism(ONE, setting).mechanism.high
        largest = max(max(level_answer(level, kept, setting)) for kept in contributions(TREE, setting))
        assert high == setting.units * largest  # type: ignore[operator]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 9))
def test_the_largest_squared_move_is_that_of_full_cells(sizes: list[int], rows: int) -> None:
    def largest(left: list[int], number: int) -> int:
        return (
            max((c**2 + largest(left[1:], number - c) for c in range(min(left[0], number) + 1)), default=0)
            if left
            else 0
        )

    assert _largest_squared(sorted(sizes, reverse=True), rows) == largest(sizes, rows)


def test_a_total_of_all_rows_is_refused_under_replace_where_it_is_public() -> None:
    table = CountTable("T", Grouping({"region": ("n",)}, other=True), ((), ("region",)))
    setting = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 5)
    with pytest.raises(InputError, match="under replace their number is public"):
        table.queries[0].select_mechanism(ONE, setting)


def test_cells_of_levels_are_in_the_order_of_the_keys_and_have_names() -> None:
    assert TREE.level_cells(()) == ((),)
    assert TREE.level_cells(("region",)) == (("n",), ("s",))
    assert TREE.queries[0].cell_names == ("total",)
    assert TREE.queries[2].cell_names == ("n,a", "n,b", "s,c", "s,d")
    assert OTHER.queries[1].cells == (("n",), ("s",), (None,))
    assert OTHER.queries[1].cell_names == ("n", "s", "other")
    assert CROSSED.query_names == ("T: total", "T: a", "T: b", "T: a, b")


# On engines


COLUMNS = {
    "world": Column("int64", "bigint", "integer"),
    "person": Column("int64", "bigint", "integer"),
    "region": Column("string", "text", "text"),
    "town": Column("int64", "bigint", "integer"),
    "open": Column("bool", "boolean", "truth"),
}
KEYS: dict[str, Any] = {"region": ("n", "s", "n\x1f1"), "town": (1, 2, 11), "open": (False, True)}
LISTED = (("n", 1, True), ("n", 11, True), ("n\x1f1", 1, False), ("s", 2, False), ("s", 2, True))
EXAMPLES = {"parquet": 15, "postgres": 8, "spark": 2}


@pytest.fixture(scope="module", params=EXAMPLES)
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "spark":
        request.getfixturevalue("spark")
    return name


@pytest.fixture(scope="module")
def url(storage: str, request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgres_module_url") if storage == "postgres" else None


rows_of_people = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["n", "s", "n\x1f1", "n1", None, "x"]),
        st.sampled_from([1, 2, 11, 7, None]),
        st.sampled_from([True, False, None]),
    ),
    max_size=25,
)


def expected_cells(rows: list[Any], other: bool) -> list[int]:
    counts = Counter(tuple(cell) if tuple(cell) in LISTED else None for _, *cell in rows)
    return [counts[cell] for cell in LISTED] + ([counts[None]] if other else [])


@pytest.mark.slow
def test_engines_count_exactly_the_rows_of_listed_combinations(
    tmp_path_factory: pytest.TempPathFactory, storage: str, url: str | None
) -> None:
    @settings(max_examples=EXAMPLES[storage], deadline=None)
    @given(rows=rows_of_people)
    def check(rows: list[Any]) -> None:
        check_engine(tmp_path_factory.mktemp("rows"), storage, url, rows)

    check()


def check_engine(folder: Path, storage: str, url: str | None, rows: list[Any]) -> None:
    worlds = [(0, *row) for row in rows] + [(1 + row[0], *row) for row in rows]
    stored = [dict(zip(COLUMNS, row, strict=True)) for row in worlds]
    with open_stored_table(storage, stored, folder, url, COLUMNS) as table:
        for other in (False, True):
            counted = CountTable("T", Grouping(KEYS, other, LISTED), ((), ("region",), ("region", "town", "open")))
            check_world(table, counted, rows, other)


def check_world(table: Table, counted: CountTable, rows: list[Any], other: bool) -> None:
    add_remove = NeighbourRelation.ADD_REMOVE
    plain = PrivacySetting(add_remove, PrivacyUnit(), Partition("world", 0), None)
    totals, regions, finest = exact_answers(counted.queries, table, plain)
    assert finest == expected_cells(rows, other)
    assert [sum(finest)] == totals == [sum(regions)]
    for unit in (PrivacyUnit("person", rows=2), PrivacyUnit("person", groups=2)):
        setting = PrivacySetting(add_remove, unit, Partition("world", 0), None)
        totals, regions, finest = exact_answers(counted.queries, table, setting)
        assert regions == counted.queries[1].add_up(finest)
        assert totals == [sum(finest)] == [kept_rows(rows, unit, other)]


def kept_rows(rows: list[Any], unit: PrivacyUnit, other: bool) -> int:
    """How many rows are kept: of each person at most the bound, or one in each of at most so many cells."""
    kept = 0
    for person in range(4):
        cells = [tuple(c) if tuple(c) in LISTED else None for p, *c in rows if p == person]
        cells = [cell for cell in cells if other or cell is not None]
        kept += min(unit.bound, len(cells) if unit.groups is None else len(set(cells)))
    return kept


def test_levels_of_a_table_share_one_choice_of_rows_whatever_else_a_plan_asks(tmp_path: Path) -> None:
    """With 60 levels' worth of other queries between them, the levels still add up."""
    stored = [dict(zip(COLUMNS, (0, p, "ns"[k % 2], 1 + k % 2, True), strict=True)) for p in range(5) for k in range(9)]
    keys: dict[str, Any] = {"region": ("n", "s"), "town": (1, 2)}
    counted = CountTable("T", Grouping(keys), ((), ("region",), ("town",), ("region", "town")))
    again = CountTable("U", Grouping(keys), ((), ("region", "town")), where="town < 9")
    setting = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit("person", rows=3), None, None)
    with open_stored_table("parquet", stored, tmp_path, None, COLUMNS) as table:
        for _ in range(5):
            queries = [*counted.queries[:2], *again.queries, *counted.queries[2:]]
            total, region, _, _, town, finest = exact_answers(queries, table, setting)
            assert total == [15] == [sum(finest)]
            assert (region, town) == (
                [finest[0] + finest[1], finest[2] + finest[3]],
                [finest[0] + finest[2], finest[1] + finest[3]],
            )
