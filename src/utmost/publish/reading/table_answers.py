"""Which answers of releases are counts of the cells of one table, and what is known of these cells.

The levels of the table itself are. So are, of the same release or of others that are read with it,

- levels of a table with the same `where` and the same finest cells;
- counts with the same `where` whose cells are finest cells of the table, or that count all of its rows.

**Certain or not assumed.** Nothing in a file shows that rows did not change between two releases: whoever reads them
together says so. What a file does show is compared: source, fingerprint, part, `where`, the expressions of derived
columns. With persons each release chooses anew which of their rows it keeps, so that it counts other rows; and the
noise of two answers is taken for independent only where the files are not of one entry of a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost.data.cells import Cell
from utmost.data.found_cells import is_plain_key
from utmost.data.predicates import parse_expression, parse_predicate
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.joint import CanonicalNoise, FoundNoise, GaussianNoise, GeometricNoise, NoiseLaw, UntoldNoise
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, LatticeMechanism
from utmost.queries.answer_mechanisms.selection import SelectionMechanism
from utmost.queries.count import Count
from utmost.queries.found_cells import MAX_FOUND_CELLS
from utmost.queries.found_count import FoundCount
from utmost.queries.grouped import GroupedQuery
from utmost.queries.tables import CountTable, Level, TableLevel

if TYPE_CHECKING:
    from utmost.publish.release_model import Answer, Release
    from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism

SAME_ROWS_HINT = "read it by itself"


@dataclass(frozen=True)
class LevelAnswers:
    """Noisy counts of cells of one level: `columns` in the table's order, values by key, one law for all."""

    columns: Level
    values: Mapping[Cell, int]
    law: NoiseLaw
    source: str


def collect_answers(releases: Sequence[Release], table: CountTable) -> list[LevelAnswers]:
    """What the releases tell of the cells of a table of the first one; refused where one of them tells nothing."""
    first = releases[0]
    _check_independent(releases)
    answers = list(_release_answers(first, table, "1"))
    for number, release in enumerate(releases[1:], 2):
        _check_same_rows(first, release, table)
        more = list(_release_answers(release, table, str(number)))
        if not more:
            raise InputError(_nothing_in_common(release, table), "with", SAME_ROWS_HINT)
        answers += more
    return answers


def _nothing_in_common(release: Release, table: CountTable) -> str:
    """Why a release tells nothing of a table."""
    named = next((other for other in release.tables if other.name == table.name), None)
    what = "no count of its cells"
    if named is not None:
        what = "another where" if named.where != table.where else "other cells"
    return f'with must be releases of table "{table.name[:60]}", got one with {what}'


# The same rows, independent noise


def _check_independent(releases: Sequence[Release]) -> None:
    """Refuse a release that is given twice, or drawn in one entry of a budget with another."""
    entries: dict[tuple[str, int], Release] = {}
    for release in releases:
        entry = (release.entry.budget, release.entry.number)
        if entry not in entries:
            entries[entry] = release
            continue
        same = [answer.value for answer in entries[entry]] == [answer.value for answer in release]
        got = "one release twice" if same else f'two of entry {entry[1]} of budget "{entry[0][:40]}"'
        raise InputError(f"with must be releases whose noise is independent, got {got}", "with", "give each once")


def _check_same_rows(first: Release, other: Release, table: CountTable) -> None:
    """Refuse a release whose file shows that it may count other rows than the table's."""
    if first.unit.column is not None or other.unit.column is not None:
        raise InputError(
            "with must be releases that count the same rows, got units of persons: each release chooses anew which of "
            "their rows it keeps",
            "with",
            SAME_ROWS_HINT,
        )
    problem = _difference(first, other, table)
    if problem is not None:
        raise InputError(
            f'with must be releases of table "{table.name[:60]}", got one of {problem}', "with", SAME_ROWS_HINT
        )


def _difference(first: Release, other: Release, table: CountTable) -> str | None:
    """What shows that two releases may be of other rows."""
    one, two = first.source, other.source
    if (one.engine, one.name) != (two.engine, two.name):
        return f'another source, "{two.name[:60]}"'
    if None not in (one.fingerprint, two.fingerprint) and one.fingerprint != two.fingerprint:
        return "another state of the source, by its fingerprint"
    if first.part != other.part:
        return "another part of the source"
    if None not in (first.units, other.units) and first.units != other.units:
        return f"{other.units} units, not {first.units}"
    if _definitions(first, table) != _definitions(other, table):
        return "other definitions of its columns"
    return None


def _definitions(release: Release, table: CountTable) -> dict[str, object]:
    """What a release says of the columns of a table, and of those that they are made of."""
    taken = {name: lookup for lookup in release.source.lookups for name in lookup.take.values()}
    taken |= {name: lookup for lookup in release.source.lookups for name in lookup.take}
    definitions: dict[str, object] = {}
    names = [*table.columns, *(() if table.where is None else parse_predicate(table.where).columns)]
    while names:
        name = names.pop()
        if name in definitions:
            continue
        if name in release.source.derive:
            definitions[name] = release.source.derive[name]
            names += parse_expression(release.source.derive[name]).columns
        elif name in taken:
            definitions[name] = taken[name]
            names += taken[name].on
    return definitions


# Answers


def _release_answers(release: Release, table: CountTable, source: str) -> Iterator[LevelAnswers]:
    """The answers of a release that are counts of cells of the table."""
    for answer in release:
        query = answer.query
        if isinstance(query, TableLevel):
            if query.table.name == table.name or release.unit.column is None:
                yield from _level_answers(answer, query, table, source)
        elif release.unit.column is None and query.where == table.where:
            yield from _count_answers(answer, table, source)


def _level_answers(answer: Answer, query: TableLevel, table: CountTable, source: str) -> Iterator[LevelAnswers]:
    """A level of the table, or of another one with the same rows and finest cells."""
    other = query.table
    if other.where != table.where or set(other.columns) != set(table.columns):
        return
    if other is not table and _typed_cells(other, table.columns) != _typed_cells(table, table.columns):
        return
    columns = tuple(column for column in table.columns if column in query.level)
    places = [query.level.index(column) for column in columns]
    cells = (tuple(cell[place] for place in places) for cell in query.cells)
    yield LevelAnswers(columns, _numbered(cells, answer), noise_law(answer.mechanism), source)


@lru_cache(maxsize=64)
def _typed_cells(table: CountTable, columns: Level) -> frozenset[tuple[tuple[type, object], ...]]:
    """The finest cells in an order of columns, keys with their types: true is not 1."""
    places = [table.columns.index(column) for column in columns]
    return frozenset(_typed(tuple(cell[place] for place in places)) for cell in table.finest_cells)


def _count_answers(answer: Answer, table: CountTable, source: str) -> Iterator[LevelAnswers]:
    """A count by itself: of all rows of the table, or of finest cells."""
    query = answer.query
    if isinstance(query, FoundCount):
        yield from _found_answers(answer, query, table, source)
    if not isinstance(answer.mechanism, LatticeMechanism):
        return
    if isinstance(query, Count) and table.grouping.other:
        yield LevelAnswers((), {(): _whole(answer.value)}, noise_law(answer.mechanism), source)
    elif isinstance(query, GroupedQuery) and isinstance(query.inner, Count):
        yield from _cells_answers(answer, query, table, source)


def _cells_answers(answer: Answer, query: GroupedQuery, table: CountTable, source: str) -> Iterator[LevelAnswers]:
    """Counts in cells that are finest cells of the table: rows of these keys are all in the table."""
    names = tuple(query.keys)
    if set(names) != set(table.columns):
        return
    places = [names.index(column) for column in table.columns]
    known = _typed_cells(table, table.columns)
    has_same_other = {_typed(tuple(cell[place] for place in places)) for cell in query.grouping.cells} == known
    values = {}
    for cell, value in _numbered(query.grouping.cells, answer).items():
        key = tuple(cell[place] for place in places)
        is_other = any(part is None for part in key)
        if has_same_other if is_other else _typed(key) in known:
            values[key] = value
    if values:
        yield LevelAnswers(table.columns, values, noise_law(answer.mechanism), source)


def _found_answers(answer: Answer, query: FoundCount, table: CountTable, source: str) -> Iterator[LevelAnswers]:
    """Found cells that are finest cells of the table, and that the others were not told.

    Where as many cells are told as a file may have, some may have been left out, and nothing is said.
    """
    if set(query.by) != set(table.columns):
        return
    assert isinstance(answer.mechanism, SelectionMechanism)
    found = query.value_cells(answer.drawn)
    if len(found) >= MAX_FOUND_CELLS:
        return
    places = [query.by.index(column) for column in table.columns]
    known, law = _typed_cells(table, table.columns), answer.mechanism.law
    keys: list[Cell] = [tuple(cell[place] for place in places) for cell in found]
    told = {key: value for key, value in _numbered(keys, answer).items() if _typed(key) in known}
    if told:
        yield LevelAnswers(table.columns, told, FoundNoise(law, given_told=False), source)
    typed = set(map(_typed, keys))
    cells = [cell for cell in table.finest_cells if None not in cell and all(map(is_plain_key, cell))]
    untold = dict.fromkeys((cell for cell in cells if _typed(cell) not in typed), 0)
    if untold:
        yield LevelAnswers(table.columns, untold, UntoldNoise(law), source)


def _typed(key: Cell) -> tuple[tuple[type, object], ...]:
    """A key that is equal to no key of other types: true is not 1."""
    return tuple((type(part), part) for part in key)


def _numbered(cells: Iterable[Cell], answer: Answer) -> dict[Cell, int]:
    assert isinstance(answer.value, tuple)
    return {cell: _whole(value) for cell, value in zip(cells, answer.value, strict=True)}


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


@lru_cache(maxsize=4096)
def noise_law(mechanism: AnswerMechanism) -> NoiseLaw:
    """The law of the noise of a mechanism on counts."""
    if isinstance(mechanism, GeometricLattice):
        return GeometricNoise(level_of(mechanism.epsilon), *mechanism.absorbing_ends)
    if isinstance(mechanism, GaussianLattice):
        return GaussianNoise(mechanism.variance, *mechanism.absorbing_ends)
    assert isinstance(mechanism, CanonicalLattice)
    return CanonicalNoise(mechanism.law, mechanism.low, mechanism.high)
