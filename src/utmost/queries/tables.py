"""Tables: counts of the same rows at several levels that belong together, such as regions and their towns.

The finest cells of a table partition its rows: the rows that satisfy `where` and have a listed combination of keys,
and with `other` one more cell for all rows that have none. A cell of a level is a union of finest cells, so the levels
agree whatever the data are. All levels are answered from one scan and one choice of the rows that are kept of a person.

**Sensitivity.** A kept row is in one cell of every level. Of a unit at most k rows are kept, so a unit that comes or
goes moves the counts of a level by at most k in all. One that is replaced takes at most k rows from some cells and
brings at most k to others, which moves a level by at most 2k; a level of a single cell moves by the difference, at most
k. k rows in one finest cell that come, go, or pass to a cell which differs at every level move all levels as far as
they can at once: the ε of levels of two cells or more add up, and no smaller sum is enough. Under replace this unit
leaves a level of one cell as it was, and the sum is an upper bound.

In squared length a level moves by at most k² (2k² under replace), by the same units. With a unit of groups a person
has k rows in different finest cells: a level moves by at most the largest Σ c² (twice that under replace), over numbers
c of rows in its cells that add up to k and are at most the numbers of their finest cells. It is reached where the
largest cells are full; under replace if there are enough cells, else it is an upper bound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.candidates import Candidates
from utmost.data.row_sums import RowSums
from utmost.errors import InputError
from utmost.queries.answer_mechanisms.lattice import GeometricLattice
from utmost.queries.answer_mechanisms.mechanism import AnswerValue, Drawn
from utmost.queries.count import PER_CELL_CLAIM
from utmost.queries.keys import KEY_SCHEMA, key_from_json, key_name, key_to_json
from utmost.queries.lattice_query import LatticeQuery
from utmost.queries.moves import Moves
from utmost.queries.query import ALTERED, NO_CLAIM, AnswerDraw, ExactAnswer, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.cells import Cell, Grouping
    from utmost.data.found_cells import FoundKeys
    from utmost.data.row_sums import CellSums, Moments
    from utmost.data.selection import Key, Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.answer_mechanisms.lattice import LatticeMechanism
    from utmost.queries.privacy_setting import PrivacySetting

TOTAL_NAME = "total"  # of the level of one cell that has all rows
OTHER_NAME = "other"  # of the cell of all rows that have no listed combination of keys

Level = tuple[str, ...]  # the columns whose keys tell its cells apart, in the order of the table's columns


@dataclass(frozen=True, slots=True)
class KnownTotal:
    """A number of rows that everybody knows: of the cell with these keys of some columns."""

    columns: Level
    cell: Cell
    value: int

    def content(self) -> dict[str, Any]:
        """As a release file has it."""
        return {"columns": list(self.columns), "cell": cell_to_json(self.cell), "value": self.value}


@dataclass(frozen=True)
class CountTable:
    """A table: its finest cells, its levels, which rows count, and what is known of them beforehand."""

    name: str
    grouping: Grouping
    levels: tuple[Level, ...]
    where: str | None = None
    totals: tuple[KnownTotal, ...] = ()
    _places: dict[Level, tuple[tuple[Cell, ...], tuple[int, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    @property
    def columns(self) -> Level:
        """All columns, in their order."""
        return tuple(self.grouping.keys)

    @property
    def query_names(self) -> tuple[str, ...]:
        """The names of the queries that its levels are.

        >>> from utmost.data.cells import Grouping
        >>> CountTable("T", Grouping({"region": ("n", "s")}), ((), ("region",))).query_names
        ('T: total', 'T: region')
        """
        return tuple(f"{self.name}: {', '.join(level) or TOTAL_NAME}" for level in self.levels)

    @property
    def queries(self) -> tuple[TableLevel, ...]:
        """Its levels."""
        return tuple(TableLevel(self, level) for level in self.levels)

    @cached_property
    def finest_cells(self) -> tuple[Cell, ...]:
        """The cells that partition the rows."""
        return self.grouping.cells

    def level_cells(self, level: Level) -> tuple[Cell, ...]:
        """The cells of a level, in the order of the first finest cell in each; that of all other rows is the last."""
        return self._level(level)[0]

    def level_places(self, level: Level) -> tuple[int, ...]:
        """The place among the cells of a level of each finest cell."""
        return self._level(level)[1]

    def _level(self, level: Level) -> tuple[tuple[Cell, ...], tuple[int, ...]]:
        if level not in self._places:
            columns = [self.columns.index(column) for column in level]
            places: dict[Cell, int] = {}
            numbers = tuple(
                places.setdefault(tuple(cell[k] for k in columns), len(places)) for cell in self.finest_cells
            )
            self._places[level] = (tuple(places), numbers)
        return self._places[level]

    def content(self) -> dict[str, Any]:
        """As a release file has it."""
        grouping = self.grouping
        keys = {column: [key_to_json(key) for key in keys] for column, keys in grouping.keys.items()}
        cells = {} if grouping.listed is None else {"cells": [cell_to_json(cell) for cell in grouping.listed]}
        levels = [
            {"columns": list(level), "query": name} for level, name in zip(self.levels, self.query_names, strict=True)
        ]
        totals = {"totals": [total.content() for total in self.totals]} if self.totals else {}
        other = {"other": True} if grouping.other else {}
        return {"name": self.name, "where": self.where, "keys": keys, **cells, **other, "levels": levels, **totals}


@dataclass(frozen=True, slots=True)
class TableLevel(LatticeQuery):
    """How many rows each cell of one level of a table has."""

    kind: ClassVar[str] = "count"
    noun: ClassVar[str] = "count in each cell"
    counts_rows: ClassVar[bool] = True

    table: CountTable
    level: Level

    @property
    def where(self) -> str | None:  # type: ignore[override]
        """The predicate of the table."""
        return self.table.where

    # Plans and releases

    def content(self) -> dict[str, Any]:
        """The table, and the level's columns and cells; null stands in the place of other keys."""
        cells = [cell_to_json(cell) for cell in self.cells]
        return {"table": self.table.name, "columns": list(self.level), "cells": cells}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The values are whole numbers, one for each cell."""
        key_or_null = {"type": "array", "items": {"anyOf": [KEY_SCHEMA, {"type": "null"}]}}
        return {
            "value": {"type": "array", "items": {"type": "integer"}},
            "table": {"type": "string"},
            "columns": {"type": "array", "items": {"type": "string"}},
            "cells": {"type": "array", "items": key_or_null},
        }

    # Tables

    @property
    def candidates(self) -> Candidates:
        """The rows that have a finest cell: the same ones for all levels."""
        return Candidates(self.table.grouping)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of all keys of the table."""
        return frozenset(self.table.columns)

    @property
    def drops_rows(self) -> bool:
        """Are rows left out: those without a listed combination of keys are, unless they have a cell."""
        return not self.table.grouping.other

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse columns that the table does not have, and keys that no value of their column can equal."""
        LatticeQuery.check(self, table, unit, part)
        for column, keys in self.table.grouping.keys.items():
            table.check_keys(column, keys)

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums:
        """The rows of each finest cell: the same for all levels."""
        return RowSums(setting.selection(self), grouping=self.table.grouping)

    def assemble(self, sums: CellSums, setting: PrivacySetting) -> ExactAnswer:
        """The sums of the finest cells in each cell."""
        return self.add_up([moments.rows for moments in sums.moments])

    def answer_from(self, moments: Moments, setting: PrivacySetting) -> ExactAnswer:
        """The number of rows of one cell."""
        return [moments.rows]

    def add_up(self, finest: list[int]) -> list[int]:
        """The numbers of this level's cells from those of the finest ones."""
        numbers = [0] * len(self.cells)
        for place, number in zip(self.table.level_places(self.level), finest, strict=True):
            numbers[place] += number
        return numbers

    # Privacy

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise of ε over the sensitivity in each cell, between 0 and the most rows it can have."""
        everyone = setting.replacing and self.where is None and setting.part is None and not self.drops_rows
        if len(self.cells) == 1 and everyone and setting.unit.column is None:
            problem = "levels must not have one cell with all rows: under replace their number is public"
            raise InputError(problem, "levels", "take [] out: the release has the number of units anyway")
        sensitivity = self.moved_rows(setting)
        mechanism = GeometricLattice(epsilon / sensitivity, 0, self._most_rows(setting))
        if sensitivity == 1:
            return SelectedMechanism(mechanism, sensitivity, PER_CELL_CLAIM, "geometric")
        return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "any")

    def select_gaussian(self, rho: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Gaussian noise that no end absorbs: unbiased, so that levels can be read together by least squares.

        Of a geometric answer that was brought back to 0 an unbiased value is left, of a Gaussian one none.
        """
        selected = LatticeQuery.select_gaussian(self, rho, setting)
        if selected is None:
            return None
        return replace(selected, mechanism=replace(selected.mechanism, clamped=False))

    def moves(self, setting: PrivacySetting) -> Moves:
        """As the module's docstring proves."""
        sides, rows = self._sides(setting), setting.unit.bound
        if rows == 1:
            return Moves.each(sides, 1)
        if setting.unit.groups is None:
            return Moves.together(sides * rows**2)
        sizes = self._cell_sizes()
        if sizes[0] == 1:
            return Moves.each(min(sides * rows, len(sizes)), 1)
        return Moves.together(sides * _largest_squared(sizes, rows))

    def _sides(self, setting: PrivacySetting) -> int:
        """2 where rows can pass from one cell to another, else 1."""
        return 2 if setting.replacing and len(self.cells) > 1 else 1

    def moved_rows(self, setting: PrivacySetting) -> int:
        """By how much a unit moves all cells of the level together."""
        rows = self._sides(setting) * setting.unit.bound
        return rows if setting.unit.groups is None else min(rows, len(self.table.finest_cells))

    def _most_rows(self, setting: PrivacySetting) -> int | None:
        """The most rows that a cell can have; None where the number of units is secret."""
        if setting.units is None:
            return None
        rows = setting.unit.bound if setting.unit.groups is None else min(setting.unit.bound, self._cell_sizes()[0])
        return setting.units * rows

    def _cell_sizes(self) -> list[int]:
        """How many finest cells each cell has, the largest number first."""
        return sorted(Counter(self.table.level_places(self.level)).values(), reverse=True)

    def prepare_draw(self, mechanism: LatticeMechanism) -> AnswerDraw:
        """Each cell with its own noise, all drawn at once."""
        return self.prepare_cells_draw(mechanism, len(self.cells))

    # Released values

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the level."""
        return self.table.level_cells(self.level)

    @property
    def cell_names(self) -> tuple[str, ...]:
        """Their keys; `total` where there are none, `other` of the cell of all other rows."""
        names = [",".join(key_name(key) for key in cell if key is not None) for cell in self.cells]
        if not self.level:
            return (TOTAL_NAME,)
        if not self.table.grouping.other:
            return tuple(names)
        other = OTHER_NAME
        while other in names[:-1]:
            other = f"({other})"
        return (*names[:-1], other)

    @property
    def values_noun(self) -> str:
        """What the numbers are."""
        return "cells" if len(self.cells) > 1 else "cell"

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The level's columns."""
        return self.level

    def value_cells(self, drawn: Drawn) -> tuple[tuple[Key, ...], ...]:
        """The keys of each number; the name of the cell of all other rows in the place of each of its keys."""
        other = self.cell_names[-1]
        return tuple(tuple(other if key is None else key for key in cell) for cell in self.cells)

    def named_values(self, value: AnswerValue) -> list[tuple[str, Any]]:
        """The numbers of all cells."""
        assert isinstance(value, tuple)
        return list(zip(self.cell_names, value, strict=True))

    def read_drawn(self, fields: Fields) -> Drawn:
        """The noisy numbers, one for each cell."""
        values = fields.items("value")
        if len(values) != len(self.cells) or not all(type(value) is int for value in values):
            problem = f"must be a whole number for each of {len(self.cells)} cells, got something else"
            raise fields.error("value", problem, ALTERED)
        return Drawn(tuple(values), {})

    def check_drawn(self, mechanism: LatticeMechanism, drawn: Drawn) -> None:
        """Refuse numbers beyond the ends."""
        assert isinstance(drawn.value, tuple)
        for value in drawn.value:
            assert isinstance(value, int)
            mechanism.check_number(value)


def _largest_squared(sizes: list[int], rows: int) -> int:
    """The largest Σ c² with Σ c ≤ rows and c at most the sizes, which fall.

    Moving a row from a cell with fewer to one with more raises Σ c², so the largest cells are full.

    >>> _largest_squared([3, 2, 1], 4), _largest_squared([3, 2, 1], 2)
    (10, 4)
    """
    total, left = 0, rows
    for size in sizes:
        taken = min(size, left)
        total, left = total + taken**2, left - taken
    return total


def cell_to_json(cell: Cell) -> list[Any]:
    """A cell as JSON has it; null in the place of every key of the cell of all other rows."""
    return [None if key is None else key_to_json(key) for key in cell]


def cell_from_json(value: object, fields: Fields, name: str) -> Cell:
    """The same, read back."""
    if not isinstance(value, list):
        raise fields.error(name, "must be a list of keys, got something else", ALTERED)
    return tuple(None if key is None else key_from_json(key) for key in value)
