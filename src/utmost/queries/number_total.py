"""What sums and means share: a step that may follow from an accepted extra loss, and what is claimed between steps.

A plan may say what extra loss it accepts instead of a step. The query then has the coarsest grid there is, until the
number of rows is known and `resolve` finds the coarsest step that keeps the promise: what rounding the rows adds to the
expected absolute loss, for every prior, above that of the best mechanism that protects each distance with
ε/sensitivity (`continuous.grid_selection`). Nothing can be promised where the number of rows is secret.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from utmost.continuous.grid_selection import GridQuestion, coarsest_mean_rounding, common_step, rows_promise
from utmost.data.grid import Grid
from utmost.data.row_sums import RowSums
from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.queries.answer_mechanisms.mechanism import Drawn
from utmost.queries.number_column import (
    COLUMN_FIELD,
    HIGH_FIELD,
    LOW_FIELD,
    NULLS_FIELD,
    STEP_FIELD,
    NumberQuery,
    parse_grid,
    parse_nulls,
)
from utmost.queries.query import METRIC_CLAIM, Query, QueryField

if TYPE_CHECKING:
    from utmost.data.cells import Grouping
    from utmost.data.found_cells import FoundKeys
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

ROUNDING_CLAIM = (
    "where values lie between the steps, rounding them leaves a reader with absolute loss at most {} above the best "
    "mechanism that protects every distance at that rate (FMM21 Thm 5)"
)
EXTRA_LOSS_FIELD = QueryField(
    "extra_loss",
    "or: extra loss accepted",
    "number",
    "Finds the step. Leave one of the two empty.",
    description="Instead of a step: the loss that rounding may add",
    instead_of="step",
)


@dataclass(frozen=True, slots=True)
class RoundedTotal:
    """A total of a public number of rows, as `continuous.grid_selection` asks about it.

    Rounding moves it by at most half a step of the grid for each of `rounded_rows`.
    """

    question: GridQuestion
    rounded_rows: int


class NumberTotal(NumberQuery):
    """A sum or a mean: a dataclass with the fields that `build` takes."""

    __slots__ = ()

    fields: ClassVar[tuple[QueryField, ...]] = (
        COLUMN_FIELD,
        LOW_FIELD,
        HIGH_FIELD,
        STEP_FIELD,
        EXTRA_LOSS_FIELD,
        NULLS_FIELD,
    )

    extra_loss: Fraction | None  # that a plan accepts instead of giving a step

    @classmethod
    @abstractmethod
    def build(cls, column: str, grid: Grid, nulls: Fraction | None, where: str | None, extra: Fraction | None) -> Self:
        """The query with these fields."""

    @abstractmethod
    def rounded_total(self, epsilon: Fraction, setting: PrivacySetting) -> RoundedTotal:
        """How far rounding moves the answer, where the number of rows is public."""

    @abstractmethod
    def has_public_rows(self, setting: PrivacySetting) -> bool:
        """Is the number of rows that rounding matters for public."""

    public_rows_hint: ClassVar[str]  # how that number becomes public

    @classmethod
    def parse(cls, fields: Fields) -> Self:
        """The query in a table of a plan: with a step, or with an accepted extra loss."""
        column = fields.text("column")
        has_step, has_extra_loss = (fields.raw(key, None) is not None for key in ("step", "extra_loss"))
        if has_step == has_extra_loss:
            hint = "a step, or the loss that rounding to the step it finds may add"
            raise InputError("step or extra_loss must be given, one of the two", "step", hint, context=fields.label)
        grid = parse_grid(fields) if has_step else _coarsest_grid(fields)
        nulls, where = parse_nulls(fields), fields.text("where", None)
        return cls.build(column, grid, nulls, where, None if has_step else _parse_extra_loss(fields))

    @classmethod
    def parse_content(cls, fields: Fields) -> Self:
        """The query in a table of a release file, which has the step."""
        column, grid = fields.text("column"), parse_grid(fields)
        return cls.build(column, grid, parse_nulls(fields), fields.text("where", None), None)

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums:
        """The number of rows and the sum of their positions."""
        return RowSums(setting.selection(self), self.values, grouping=grouping)

    def plan_entries(self) -> dict[str, Any]:
        """Column, bounds, step or accepted extra loss, and what a missing value is."""
        entries, extra_loss = NumberQuery.plan_entries(self), self.extra_loss
        if extra_loss is None:
            return entries
        return dict(("extra_loss", extra_loss) if key == "step" else (key, value) for key, value in entries.items())

    def as_released(self) -> Query:
        """With its step alone."""
        return self.build(self.column, self.grid, self.nulls, self.where, None)

    def resolve(self, epsilon: Fraction, setting: PrivacySetting) -> Query:
        """On the coarsest grid, of the steps step/m, on which its optimality claims at most the accepted extra loss.

        >>> from utmost.data.selection import NeighbourRelation, PrivacyUnit
        >>> from utmost.queries.mean import Mean
        >>> from utmost.queries.privacy_setting import PrivacySetting
        >>> setting = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 944)
        >>> ages = Grid(Fraction(18), Fraction(91), Fraction(1))
        >>> mean = Mean("age", ages, Fraction(18), extra_loss=Fraction(1, 10))
        >>> mean.resolve(Fraction(1, 10), setting).grid.step
        Fraction(1, 16)
        """
        if self.extra_loss is None:
            return self
        if not setting.units or not self.has_public_rows(setting):
            raise InputError(
                "extra_loss must be left out where the number of rows is secret, and rounding can be arbitrarily far "
                "off",
                "extra_loss",
                f"give step{self.public_rows_hint}",
            )
        total = self.rounded_total(epsilon, setting)
        rounding = total.rounded_rows * self.grid.step
        promise = coarsest_mean_rounding(total.question, rounding, self.extra_loss).promise
        grid = replace(self.grid, step=promise.step / total.rounded_rows)
        return self.build(self.column, grid, self.nulls, self.where, self.extra_loss)

    def resolved_content(self) -> dict[str, str]:
        """The step that an accepted extra loss led to."""
        return {} if self.extra_loss is None else {"extra_loss": str(self.extra_loss), "step": str(self.grid.step)}

    def resolved_sentence(self) -> str | None:
        """The same in a sentence."""
        if self.extra_loss is None:
            return None
        return f"step {self.grid.step}, the coarsest that adds at most {self.extra_loss} to any reader's absolute loss."

    def metric_claim(self, epsilon: Fraction, setting: PrivacySetting) -> str:
        """METRIC_CLAIM on the grid, and what may be said between its steps."""
        total = self.rounded_total(epsilon, setting)
        extra = rows_promise(total.question, total.rounded_rows * self.grid.step).extra
        return METRIC_CLAIM if extra is None else f"{METRIC_CLAIM}; {ROUNDING_CLAIM.format(decimal_above(extra, 4))}"

    def check_cells(self, number: int) -> None:
        """Refuse to find a step for cells: the number of rows in a cell is secret."""
        if self.extra_loss is not None:
            raise InputError(
                "extra_loss must be left out with keys: how many rows a cell has is secret", "extra_loss", "give step"
            )

    def read_drawn(self, fields: Fields) -> Drawn:
        """The noisy number."""
        return Drawn(fields.number("value"), {})


def _coarsest_grid(fields: Fields) -> Grid:
    low, high = fields.number("low"), fields.number("high")
    return Grid(low, high, common_step(low, high))


def _parse_extra_loss(fields: Fields) -> Fraction:
    value = fields.number("extra_loss")
    if not value > 0:
        raise fields.error("extra_loss", f"must be > 0, got {value}")
    return value
