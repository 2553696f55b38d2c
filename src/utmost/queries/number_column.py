"""What sums, means and quantiles share: a column of numbers that are clamped to bounds and rounded to a grid."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.candidates import Candidates
from utmost.data.grid import Grid, GridColumn
from utmost.errors import InputError
from utmost.exact import rational
from utmost.queries.answer_mechanisms.mechanism import EXACT_SCHEMA
from utmost.queries.query import ExactAnswer, Query, QueryField

if TYPE_CHECKING:
    from utmost.data.cells import Cell
    from utmost.data.found_cells import FoundKeys
    from utmost.data.selection import Partition, PrivacyUnit
    from utmost.data.table import Table
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

MIN_STEP, MAX_STEP = Fraction(1, 10**60), Fraction(10**60)  # of a grid
COLUMN_FIELD = QueryField("column", "Column", "number column")
LOW_FIELD = QueryField("low", "Least value", "number", "Smaller ones count as this.")
HIGH_FIELD = QueryField("high", "Largest value", "number", "Larger ones count as this.")
STEP_FIELD = QueryField("step", "Step of the grid", "number", "Values are rounded to it.")
NULLS_FIELD = QueryField(
    "nulls",
    "Missing values",
    "text",
    "drop, or a number that stands in.",
    default="drop",
    description="drop, or the number that stands in for a missing one",
)


class NumberQuery(Query):
    """A query about the values of a `column` on a `grid`.

    `nulls` says what a missing value (NULL or NaN) is: a number of the grid's range, or None to drop the row.
    """

    __slots__ = ()

    clamps_values: ClassVar[bool] = True
    takes_keys: ClassVar[bool] = True

    column: str
    grid: Grid
    nulls: Fraction | None

    @property
    def values(self) -> GridColumn:
        """The column on its grid."""
        return GridColumn(self.column, self.grid, self.nulls)

    @property
    def columns(self) -> frozenset[str]:
        """The column."""
        return frozenset([self.column])

    @property
    def drops_rows(self) -> bool:
        """Are rows without a number left out."""
        return self.nulls is None

    def rank_answer(self, counts: list[int]) -> ExactAnswer:
        """The exact answer from how many values are at each position; asked only of kinds that rank values.

        Runs after the charge where cells are found: it cannot fail.
        """
        raise NotImplementedError

    def found_answers(
        self, table: Table, setting: PrivacySetting, found_keys: FoundKeys
    ) -> tuple[list[int], tuple[Cell, ...], list[Any]]:
        """The positions of each cell that has rows, as pairs with how many rows are there."""
        return table.found_position_counts(setting.selection(self), found_keys, self.values)

    @property
    def candidates(self) -> Candidates:
        """The rows with a number, or all where another number stands in for a missing one."""
        return Candidates(column=self.column if self.nulls is None else None)

    def plan_entries(self) -> dict[str, Any]:
        """Column, bounds, step, and what a missing value is."""
        grid, nulls = self.grid, "drop" if self.nulls is None else self.nulls
        return {"column": self.column, "low": grid.low, "high": grid.high, "step": grid.step, "nulls": nulls}

    def content(self) -> dict[str, Any]:
        """The same, as a release file has it."""
        return {name: str(value) for name, value in NumberQuery.plan_entries(self).items()}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Column, bounds and step, what a missing value is, and an exact value."""
        numbers = dict.fromkeys(("low", "high", "step"), EXACT_SCHEMA)
        nulls = {"anyOf": [{"const": "drop"}, EXACT_SCHEMA]}
        return {"column": {"type": "string"}, **numbers, "nulls": nulls, "value": EXACT_SCHEMA}

    def check_unit(self, unit: PrivacyUnit) -> None:
        """Refuse groups: how far one row of each group moves a number depends on how many groups there are."""
        if unit.groups is not None:
            raise InputError(f"unit must bound rows for a {self.kind}, got groups", "unit", "give rows = k")

    def check(self, table: Table, unit: PrivacyUnit, part: Partition | None) -> None:
        """Refuse a column without numbers, and a grid that its type cannot be computed with."""
        Query.check(self, table, unit, part)
        self.check_unit(unit)
        table.check_numbers(self.values)

    def check_nulls(self) -> None:
        """Refuse a number for missing values that is beyond the grid."""
        GridColumn(self.column, self.grid, self.nulls)

    def check_step(self) -> None:
        """Refuse a step whose error no double could hold."""
        if not MIN_STEP <= self.grid.step <= MAX_STEP:
            raise InputError(
                "step must be from 10^-60 to 10^60, got one beyond", "step", "measure the values in another unit"
            )

    def value_limits(self) -> list[str]:
        """What is done to the values of the column, in words."""
        grid = self.grid
        stand_in = "" if self.nulls is None else f" (missing values taken as {self.nulls})"
        return [f"values clamped to {grid.low} … {grid.high} and rounded to steps of {grid.step}{stand_in}"]


def grid_from_options(options: Mapping[str, Any]) -> Grid:
    """The grid in the options of a command."""
    return Grid(*(rational(options[name], name) for name in ("low", "high", "step")))


def grid_content(grid: Grid) -> dict[str, str]:
    """Bounds and step as JSON has them."""
    return {"low": str(grid.low), "high": str(grid.high), "step": str(grid.step)}


def parse_grid(fields: Fields) -> Grid:
    """The grid in a table of a plan or a release."""
    return Grid(fields.number("low"), fields.number("high"), fields.number("step"))


def parse_nulls(fields: Fields) -> Fraction | None:
    """What a missing value is."""
    raw = fields.raw("nulls", None)
    if raw is None:
        raise fields.error("nulls", "is missing", 'add nulls = "drop", or the number that stands in for a missing one')
    if isinstance(raw, str) and raw != "drop" and not any(character.isdigit() for character in raw):
        raise fields.error("nulls", 'must be "drop" or the number that stands in for a missing one')
    return None if raw == "drop" else fields.number("nulls", ' or "drop"')
