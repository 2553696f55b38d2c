"""Sensitivities through derived and looked-up columns, by brute force on every engine.

Small tables and all their neighbours are stored side by side, each a world of its own, and asked through
`open_table` with `derive` and `lookups`. A world holds two other units and one unit in one of its states: every
multiset of a few rows, among them rows with NULL, with an unmatched key and beyond the bounds. Under add-remove a
neighbour lacks the unit, under replace it has it in another state. The salt is fixed, as the lemma of
`data.contribution_bounds` has it: for every salt one unit moves an answer by no more than its kept rows can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.storages import STORAGE_CASES, STORAGES, Column, Row, open_stored_table
from spark import quiet
from utmost.data.cells import Grouping
from utmost.data.grid import Grid
from utmost.data.lookup import Lookup
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.table import Table
from utmost.queries import Count, Distinct, GroupedQuery, Max, Mean, Min, Quantile, Quantiles, Query, Sum, Top, Variance
from utmost.queries.found_cells import FoundAnswers, unit_moves
from utmost.queries.found_count import FoundCount
from utmost.queries.found_query import FoundQuery
from utmost.queries.found_ratios import FoundMean, FoundVariance
from utmost.queries.privacy_setting import PrivacySetting

pytestmark = quiet

COLUMNS = {
    "world": Column("int64", "bigint", "integer"),
    "person": Column("int64", "bigint", "integer"),
    "city": Column("string", "varchar(10)", "text"),
    "age": Column("int8", "smallint", "integer"),
    "delay": Column("double", "double precision", "number"),
    "day": Column("date32", "date", "date"),
}
ROWS: tuple[Row, ...] = (
    {"city": " aa", "age": 5, "delay": 20.0, "day": date(2020, 7, 1)},
    {"city": "Bb", "age": 35, "delay": -3.0, "day": date(2030, 1, 31)},
    {"city": None, "age": None, "delay": None, "day": None},
    {"city": "zz", "age": 9, "delay": float("inf"), "day": date(2020, 8, 1)},  # of no public row
    {"city": "cc", "age": -128, "delay": float("nan"), "day": date(1, 6, 1)},  # of one without values
)
DERIVE = {
    "code": "upper(trim(city))",
    "decade": "bin(age, 10)",
    "late": "delay > 15",
    "season": "case when month(day) in (6, 7, 8) then 'summer' else 'other' end",
    "years": "coalesce(year(day), 2020) - 2020",
    "size": "abs(age) * 0.1 - 0.5",
    "where_to": "coalesce(label, 'none')",
}
PLACES = "code,zone,label\nAA,0,north\nBB,2,south\nCC,,\n,1,nowhere\n"
PLACE_KINDS = {"code": "text", "zone": "integer", "label": "text"}
GRID, WIDE = Grid(Fraction(0), Fraction(2), Fraction(1)), Grid(Fraction(-1), Fraction(3), Fraction(1))
HALF, ZERO, DELTA = Fraction(1, 2), Fraction(0), Fraction(1, 10**6)
LABELS, SEASONS = {"label": ("north", "south")}, {"season": ("summer", "other")}
LISTED = {"where_to": ("north", "south", "none"), "decade": (-130, 0, 30)}
ONE_FAST_STORAGE = ["parquet", *(pytest.param(name, marks=pytest.mark.slow) for name in STORAGES if name != "parquet")]
UNITS = (PrivacyUnit(), PrivacyUnit("person", rows=1), PrivacyUnit("person", rows=2), PrivacyUnit("person", groups=2))


class FixedWords:
    """An entropy source that repeats one word."""

    def words(self, count: int) -> Any:
        return np.full(count, 5, dtype=np.uint64)


@dataclass(frozen=True)
class Case:
    """A query of new columns. If it is `tight`, some neighbour moves it by its whole sensitivity.

    With `few_cells` it has too few for a person that is replaced to leave two of them and to enter two others.
    """

    query: Query
    tight: bool = True
    few_cells: bool = False

    @property
    def id(self) -> str:
        query = self.query
        return f"{query.kind} of {','.join(sorted(query.columns))}" + (f" where {query.where}" if query.where else "")


def grouped(query: Query, keys: Mapping[str, Any], other: bool = False) -> GroupedQuery:
    return GroupedQuery(query, Grouping(keys, other))


COUNTS = [
    Case(Count("late and zone < 2")),
    Case(Count("label = 'south' or late is null")),
    Case(grouped(Count("zone is null or zone >= 0"), LISTED)),
    Case(FoundCount(("label",), None, DELTA), few_cells=True),
    Case(FoundCount(("season", "decade", "late"), "years < 2 or years > 9", DELTA), few_cells=True),
    Case(Distinct("where_to")),
    Case(grouped(Distinct("zone"), SEASONS), few_cells=True),
]
NUMBERS = [
    Case(Sum("zone", GRID, None)),
    Case(Sum("years", WIDE, ZERO, "season = 'other' or late is null")),
    Case(grouped(Sum("size", GRID, Fraction(1)), SEASONS)),
    Case(Mean("zone", GRID, None, "code is not null")),
    Case(grouped(Mean("years", WIDE, None), LISTED)),
    Case(Variance("size", GRID, None)),
    Case(grouped(Variance("zone", GRID, ZERO), SEASONS)),
    Case(Quantile("years", WIDE, Fraction(1, 3), None, "label is not null"), tight=False),
    Case(grouped(Quantile("zone", GRID, Fraction(1), ZERO), SEASONS), tight=False),
    Case(grouped(Min("size", GRID, None), SEASONS), tight=False),
    Case(FoundQuery(Sum("size", GRID, None), ("decade",), DELTA)),
    Case(FoundMean(Mean("years", WIDE, ZERO, "zone is null or zone > 0"), ("where_to",), DELTA)),
    Case(FoundVariance(Variance("zone", GRID, ZERO), ("season",), DELTA)),
    Case(FoundQuery(Distinct("where_to"), ("season",), DELTA), few_cells=True),
]
APART = [  # those that no cells can be put around, so that each world is asked about alone
    Case(grouped(Count(), LABELS, other=True)),
    Case(grouped(Sum("size", GRID, ZERO), LABELS, other=True)),
    Case(Quantiles("years", WIDE, (Fraction(1, 4), HALF), None)),
    Case(Min("size", GRID, None)),
    Case(Max("zone", GRID, ZERO, "season = 'other' or late")),
    Case(Top({"where_to": ("north", "south", "none")}, 1)),
    Case(Count("zone = 2")),
    Case(FoundCount(("code",), None, DELTA), few_cells=True),
]
EVERYONE = [  # in which every row counts, so that their number is public where one is replaced
    Case(Sum("years", WIDE, ZERO)),
    Case(Mean("size", GRID, Fraction(1))),
    Case(Variance("zone", GRID, ZERO), tight=False),
    Case(grouped(Count(), LABELS, other=True)),
]


def states(unit: PrivacyUnit) -> list[tuple[Row, ...]]:
    """The unit's rows: one where rows are units; up to three of a person, more than are kept. The first has none."""
    sizes = (0, 1) if unit.column is None else range(4)
    return [rows for size in sizes for rows in combinations_with_replacement(ROWS, size)]


def worlds(unit: PrivacyUnit) -> list[dict[str, Any]]:
    """The rows of all worlds, one for each state; nobody is in two of them."""
    units = [((ROWS[3],), (ROWS[2],), state) for state in states(unit)]
    return [
        {"world": world, "person": 10 * world + person, **row}
        for world, persons in enumerate(units)
        for person, rows in enumerate(persons)
        for row in rows
    ]


@pytest.fixture(scope="module", params=STORAGE_CASES)
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name.startswith("spark"):
        request.getfixturevalue("spark")
    return name


@pytest.fixture(scope="module")
def open_worlds(
    storage: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[PrivacyUnit], Table]]:
    """The table of a unit's worlds in the storage, opened once."""
    url = request.getfixturevalue("postgres_module_url") if storage == "postgres" else None
    folder, opened, contexts = tmp_path_factory.mktemp("worlds"), {}, []
    (folder / "places.csv").write_text(PLACES)

    def open_unit(unit: PrivacyUnit) -> Table:
        rows = worlds(unit)
        if len(rows) not in opened:
            contexts.append(open_stored_table(storage, rows, folder, url, COLUMNS, DERIVE, [places()]))
            opened[len(rows)] = contexts[-1].__enter__()
            opened[len(rows)]._entropy = FixedWords()
        return opened[len(rows)]

    yield open_unit
    for context in reversed(contexts):
        context.__exit__(None, None, None)


def places() -> Lookup:
    return Lookup("places.csv", {"code": "code"}, {"zone": "zone", "label": "label"}, PLACE_KINDS)


def setting_of(relation: NeighbourRelation, unit: PrivacyUnit) -> PrivacySetting:
    return PrivacySetting(relation, unit, None, 3 if relation is NeighbourRelation.REPLACE else None)


Answers = list[dict[Any, int]]  # of each world: its numbers, by cell and place in the cell


def answers_of_all(case: Case, table: Table, setting: PrivacySetting) -> Answers:
    """The answers of all worlds by one statement: the world is one more key."""
    query, worlds_asked = case.query, range(len(states(setting.unit)))
    if isinstance(query, FoundCount | FoundQuery):
        numbers = numbers_by_cell(replace(query, by=("world", *query.by)).exact_answer(table, setting))
        return [{key[1:]: number for key, number in numbers.items() if key[0] == world} for world in worlds_asked]
    inner, keys = (query.inner, query.keys) if isinstance(query, GroupedQuery) else (query, {})
    together = GroupedQuery(inner, Grouping({"world": tuple(worlds_asked), **keys}))
    answer = together.exact_answer(table, setting)
    width = len(answer) // len(worlds_asked)
    return [dict(enumerate(answer[world * width : (world + 1) * width])) for world in worlds_asked]


def numbers_by_cell(answer: Any) -> dict[Any, int]:
    """The numbers of an exact answer; of found cells by their keys, the number of rows in place −1."""
    if not isinstance(answer, FoundAnswers):
        return dict(enumerate(answer))
    counts = {(*cell, -1): number for cell, number in zip(answer.cells, answer, strict=True)}
    pairs = zip(answer.cells, answer.answers, strict=True) if answer.answers else ()
    return counts | {
        (*cell, place): number for cell, numbers in pairs for place, number in enumerate(_as_list(numbers))
    }


def _as_list(numbers: Any) -> list[int]:
    return [numbers] if isinstance(numbers, int) else list(numbers)


def answers_apart(case: Case, table: Table, setting: PrivacySetting) -> Answers:
    """The answers of all worlds one by one, each as the part of the table that it is."""
    parts = [Partition("world", world) for world in range(len(states(setting.unit)))]
    return [numbers_by_cell(case.query.exact_answer(table, replace(setting, part=part))) for part in parts]


def moves(answers: Answers, setting: PrivacySetting) -> tuple[list[Any], set[tuple[int, ...]]]:
    """The cells, and how their numbers move between neighbours; a cell that is not found has 0."""
    cells = list(dict.fromkeys(cell for answer in answers for cell in answer))
    rows = {tuple(answer.get(cell, 0) for cell in cells) for answer in answers}
    without = tuple(answers[0].get(cell, 0) for cell in cells)
    pairs = combinations(rows, 2) if setting.replacing else [(without, row) for row in rows]
    return cells, {tuple(b - a for a, b in zip(first, second, strict=True)) for first, second in pairs}


def cost(query: Query, mechanism: Any, move: Sequence[int]) -> Fraction:
    """What a move costs, in the unit in which the query states its sensitivity."""
    inner = query.inner if isinstance(query, GroupedQuery) else query
    rates = _rates(mechanism)
    if rates is not None:  # a mean or a variance: each of its numbers has an ε of its own, and all make HALF
        return sum((abs(number) * rates[k % len(rates)] for k, number in enumerate(move)), ZERO)
    if isinstance(inner, Top):
        return Fraction(max(move) - min(move))
    width = inner.grid.size + 1 if isinstance(inner, Quantile | Min | Max) else 1
    spread = (lambda losses: max(losses) - min(losses)) if isinstance(inner, Min | Max) else _largest
    return Fraction(sum(spread(move[k : k + width]) for k in range(0, len(move), width)))


def _largest(losses: Sequence[int]) -> int:
    return max(map(abs, losses))


def _rates(mechanism: Any) -> list[Fraction] | None:
    names = [name for name in ("total", "squares", "rows") if hasattr(mechanism, name)]
    return [getattr(mechanism, name).epsilon for name in names] or None


def bound(query: Query, selection: Any, setting: PrivacySetting) -> Fraction:
    """What no move may cost more than."""
    if _rates(selection.mechanism) is not None:
        return HALF
    sides = 2 if setting.replacing else 1
    if isinstance(query, Quantiles):  # its answer is the number of rows at each position
        return Fraction(setting.unit.bound * sides)
    return Fraction(selection.sensitivity * (sides if isinstance(query, Top) else 1))


def costs_and_bounds(query: Query, answers: Answers, setting: PrivacySetting) -> list[tuple[Fraction, Fraction]]:
    """The most that neighbours cost, and what they may cost; over found cells, of the selection and of the answer."""
    selection, (cells, all_moves) = query.select_mechanism(HALF, setting), moves(answers, setting)
    if not isinstance(query, FoundQuery):
        most = max(cost(query, selection.mechanism, move) for move in all_moves)
        return [(most, bound(query, selection, setting))]
    rates = [part.epsilon for part in selection.mechanism.parts.values()]
    counts = [sum(abs(n) for cell, n in zip(cells, move, strict=True) if cell[-1] < 0) for move in all_moves]
    sums = [
        sum((abs(n) * rates[cell[-1]] for cell, n in zip(cells, move, strict=True) if 0 <= cell[-1] < len(rates)), ZERO)
        for move in all_moves
    ]
    selection_bound = Fraction(unit_moves(setting).total)
    return [(Fraction(max(counts)), selection_bound), (max(sums), HALF * (1 - query.selection_share))]


def check_moves(case: Case, answers: Answers, setting: PrivacySetting) -> None:
    """No neighbour moves the answer by more than the query says, and some by as much."""
    name = f"{case.id}, {setting.neighbours}"
    is_reachable = case.tight and not (case.few_cells and setting.replacing and setting.unit.bound > 1)
    for most, limit in costs_and_bounds(case.query, answers, setting):
        assert most <= limit, name
        assert most == limit or (not is_reachable and most > 0), name


def check_cases(cases: Sequence[Case], answers_of: Callable[..., Answers], table: Table, unit: PrivacyUnit) -> None:
    for case in cases:
        if unit.groups is None or isinstance(case.query, Top | FoundCount) or case in COUNTS:
            answers = answers_of(case, table, setting_of(NeighbourRelation.ADD_REMOVE, unit))
            for relation in NeighbourRelation:
                check_moves(case, answers, setting_of(relation, unit))


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_unit_moves_an_answer_through_new_columns_by_more_than_its_sensitivity(
    open_worlds: Callable[[PrivacyUnit], Table], unit: PrivacyUnit
) -> None:
    check_cases(COUNTS + NUMBERS, answers_of_all, open_worlds(unit), unit)


@pytest.mark.parametrize("storage", ONE_FAST_STORAGE, indirect=True)
def test_nor_does_a_row_where_each_table_is_asked_alone(open_worlds: Callable[[PrivacyUnit], Table]) -> None:
    check_cases(APART, answers_apart, open_worlds(UNITS[0]), UNITS[0])


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["parquet", "postgres"], indirect=True)  # a thousand statements take Spark minutes
@pytest.mark.parametrize("unit", UNITS[2:], ids=str)
def test_nor_does_a_person_where_each_table_is_asked_alone(
    open_worlds: Callable[[PrivacyUnit], Table], unit: PrivacyUnit
) -> None:
    check_cases(APART, answers_apart, open_worlds(unit), unit)


@pytest.mark.parametrize("storage", ONE_FAST_STORAGE, indirect=True)
def test_a_replaced_row_moves_an_answer_about_everybody_by_no_more_than_its_sensitivity(
    storage: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue("postgres_module_url") if storage == "postgres" else None
    setting = setting_of(NeighbourRelation.REPLACE, PrivacyUnit())
    (tmp_path / "places.csv").write_text(PLACES)
    answers: list[Answers] = [[] for _ in EVERYONE]
    for state in ROWS:
        rows = [{"world": 0, "person": 0, **row} for row in (ROWS[3], ROWS[2], state)]
        with open_stored_table(storage, rows, tmp_path, url, COLUMNS, DERIVE, [places()]) as table:
            for case, found in zip(EVERYONE, answers, strict=True):
                found.append(dict(enumerate(case.query.exact_answer(table, setting))))
    for case, found in zip(EVERYONE, answers, strict=True):
        check_moves(case, found, setting)
