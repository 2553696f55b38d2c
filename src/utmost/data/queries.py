"""Queries, privacy units and neighbour relations. Plain data: no engine, no noise.

A *unit* is what privacy protects: each row, or each person named by a column. *Neighbours* are tables that differ in
one unit: `replace` changes one and keeps their number, which is then public; `add-remove` adds or removes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from fractions import Fraction
from itertools import product
from math import prod

from utmost.errors import InputError

MAX_GRID_STEPS = 10**12
MAX_QUANTILE_CANDIDATES = 10**4  # steps of a quantile's grid
MAX_HISTOGRAM_CELLS = 10**5
MAX_CONTRIBUTION = 10**6  # rows or groups a person
ROW_WORD = "row"  # a ledger's word for the unit that is each row

Key = bool | int | str | date


class NeighbourRelation(StrEnum):
    """Which tables are neighbours."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Whom privacy protects: each row (`column` None), or each person, one value of `column`.

    Of a person at most `rows` rows are kept, or at most one row in each of at most `groups` cells; which ones is random
    and does not depend on anybody else. A row without a person (NULL) is not kept. Exactly one of the two bounds is
    given with a column, none without. A column called row is refused: it is a ledger's word for each row, so persons
    would be charged as rows.
    """

    column: str | None = None
    rows: int | None = None
    groups: int | None = None

    def __post_init__(self) -> None:
        """Check that the bounds fit the unit."""
        if self.column == ROW_WORD:
            raise InputError(
                f"unit column must not be called {ROW_WORD}, which in a ledger means each row: rename it in a view"
            )
        bounds = [bound for bound in (self.rows, self.groups) if bound is not None]
        if self.column is None and bounds:
            raise InputError('unit must name a column where rows or groups are bounded: add column = "..."')
        if self.column is not None and len(bounds) != 1:
            raise InputError("unit must bound what a person contributes: give rows = k or groups = k, one of the two")
        if any(not 1 <= bound <= MAX_CONTRIBUTION for bound in bounds):
            raise InputError(f"unit must keep from 1 to {MAX_CONTRIBUTION} rows or groups a person")

    @property
    def ledger_word(self) -> str:
        """What a ledger calls the unit: its column, or the word for each row."""
        return ROW_WORD if self.column is None else self.column

    @property
    def bound(self) -> int:
        """How many kept rows a unit can have, at most."""
        return self.rows or self.groups or 1

    def __str__(self) -> str:
        """The unit in words."""
        if self.column is None:
            return "each row"
        contribution = f"{self.rows} rows" if self.rows else f"one row in each of {self.groups} groups"
        return f"each value of column {self.column}, at most {contribution} of it kept at random"


@dataclass(frozen=True, slots=True)
class Grid:
    """The values low, low + step, …, high that a number is clamped and rounded to, inside the engine.

    Position k stands for low + k·step. `low` is a whole number of steps, so that sums are whole numbers of steps too.
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        """Check that the grid is one."""
        if not self.low < self.high:
            raise InputError(f"low must be below high, got {self.low} and {self.high}: swap or widen the bounds")
        if self.step <= 0:
            raise InputError(f"step must be > 0, got {self.step}")
        if (self.low / self.step).denominator != 1 or (self.high / self.step).denominator != 1:
            raise InputError(
                f"low and high must be whole numbers of steps of {self.step}, got {self.low} and {self.high}"
            )
        if max(self.high - self.low, abs(self.low), abs(self.high)) / self.step > MAX_GRID_STEPS:
            raise InputError("step must leave at most 10^12 steps from 0 and between the bounds: take a coarser one")

    @property
    def size(self) -> int:
        """N, the number of steps from low to high."""
        return int((self.high - self.low) / self.step)

    def value(self, position: int) -> Fraction:
        """What a position stands for."""
        return self.low + position * self.step


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows satisfy `where`; with a unit of groups, how many persons have such a row."""

    where: str | None = None


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many rows are in each cell: one cell for every combination of the public `keys` of each column.

    Rows whose keys are not listed are not counted.
    """

    keys: Mapping[str, tuple[Key, ...]]
    where: str | None = None

    def __post_init__(self) -> None:
        """Check that the cells are some, and apart."""
        if not self.keys or not all(self.keys.values()):
            raise InputError("keys must list at least one value for at least one column")
        for column, values in self.keys.items():
            if len({type(value) for value in values}) > 1:
                raise InputError(f"keys of {column} must all be of one type: all numbers, or all texts")
            if len(set(values)) < len(values):
                raise InputError(f"keys of {column} must be distinct: a row would be counted twice")
        if prod(len(values) for values in self.keys.values()) > MAX_HISTOGRAM_CELLS:
            raise InputError(f"keys must make at most {MAX_HISTOGRAM_CELLS} cells")

    @property
    def cells(self) -> tuple[tuple[Key, ...], ...]:
        """The cells, the last column's keys running fastest."""
        return tuple(product(*self.keys.values()))


@dataclass(frozen=True, slots=True)
class NumberTotal:
    """A column's values on the grid, over the rows that satisfy `where`.

    `nulls` says what a missing value (NULL or NaN) is: a number of the grid's range, or None to drop the row.
    """

    column: str
    grid: Grid
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the stand-in."""
        _check_null_value(self.nulls, self.grid)


@dataclass(frozen=True, slots=True)
class Sum(NumberTotal):
    """Their sum."""


@dataclass(frozen=True, slots=True)
class Mean(NumberTotal):
    """Their mean."""


@dataclass(frozen=True, slots=True)
class Quantile:
    """The grid value below and at which a share `probability` of the values lies; `nulls` as for a sum."""

    column: str
    grid: Grid
    probability: Fraction
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the share, the size and the stand-in."""
        if not 0 <= self.probability <= 1:
            raise InputError(f"probability must be from 0 to 1, got {self.probability}: the median is 1/2")
        if self.probability.denominator > 10**6:
            raise InputError("probability must be a fraction with a denominator up to 10^6: round it")
        if self.grid.size > MAX_QUANTILE_CANDIDATES:
            raise InputError(
                f"step must leave at most {MAX_QUANTILE_CANDIDATES} steps for a quantile, got {self.grid.size}"
            )
        _check_null_value(self.nulls, self.grid)


Query = Count | Histogram | Sum | Mean | Quantile
NumberQuery = Sum | Mean | Quantile


def _check_null_value(nulls: Fraction | None, grid: Grid) -> None:
    if nulls is not None and not grid.low <= nulls <= grid.high:
        raise InputError(f'nulls must be "drop" or a number from {grid.low} to {grid.high}, got {nulls}')
