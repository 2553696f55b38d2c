"""Sums of the values of a column on a grid.

In steps, with l = low/step and h = high/step, and k rows kept of a unit, the sum moves by at most

- h − l where every row is in it under replace: a summand moves within its range;
- k·(max(h, 0) − min(l, 0)) under replace otherwise: each summand moves within its range and 0;
- k·max(−l, h) under add-remove: k summands come or go.

**Sums in cells.** A summand moves the sum of its cell by at most max(−l, h), so the sums of all cells together move by
at most k·max(−l, h) under add-remove. Under replace k summands leave some cells and k enter others: 2k·max(−l, h),
which is at least what they move a cell that they leave and enter. In cells the number of rows is never public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.continuous.grid_selection import GridQuestion
from utmost.continuous.interval import Interval
from utmost.continuous.losses import absolute
from utmost.data.grid import Grid
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, LatticeMechanism, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import Drawn, ErrorLaw
from utmost.queries.calibration_form import GRID_OPTIONS, SELECTED_OPTION, CalibrationExample, CalibrationForm
from utmost.queries.lattice_query import (
    LatticeQuery,
    check_lattice_value,
    draw_lattice_cells,
    draw_lattice_value,
)
from utmost.queries.moves import Moves
from utmost.queries.number_column import grid_content, grid_from_options
from utmost.queries.number_total import NumberTotal, RoundedTotal
from utmost.queries.query import METRIC_CLAIM, NO_CLAIM, AnswerDraw, ExactAnswer, SelectedMechanism

if TYPE_CHECKING:
    from utmost.data.row_sums import Moments
    from utmost.queries.privacy_setting import PrivacySetting


@dataclass(frozen=True, slots=True)
class Sum(NumberTotal, LatticeQuery):
    """The sum of a column's values on the grid, over the rows that satisfy `where`."""

    kind: ClassVar[str] = "sum"
    noun: ClassVar[str] = "sum"
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for a sum of values on a grid.", (*GRID_OPTIONS, SELECTED_OPTION)
    )
    public_rows_hint: ClassVar[str] = ', or take neighbours = "replace"'

    column: str
    grid: Grid
    nulls: Fraction | None
    where: str | None = None
    extra_loss: Fraction | None = None

    def __post_init__(self) -> None:
        """Check the number that stands in for a missing one."""
        self.check_nulls()

    @classmethod
    def build(cls, column: str, grid: Grid, nulls: Fraction | None, where: str | None, extra: Fraction | None) -> Sum:
        """The sum with these fields."""
        return cls(column, grid, nulls, where, extra)

    def has_public_rows(self, setting: PrivacySetting) -> bool:
        """The number of units bounds that of the summands."""
        return True

    def answer_from(self, moments: Moments, setting: PrivacySetting) -> ExactAnswer:
        """The sum in steps."""
        return [moments.positions + moments.rows * int(self.grid.low / self.grid.step)]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise of ε/sensitivity a step, between the least and the largest sum there can be."""
        low, high, sensitivity = self._summand_range(setting)
        step, units, rate = self.grid.step, setting.units, epsilon / sensitivity
        if units is None:
            ends = (0 if low == 0 else None, 0 if high == 0 else None)
            mechanism = GeometricLattice(rate, *ends, unit=step)
        else:
            bottom, top = (end * setting.unit.bound for end in (low, high))
            mechanism = GeometricLattice(rate, units * bottom, units * top, unit=step)
        if setting.grouped:
            moves_one_cell = setting.unit.bound == 1 and not setting.replacing
            return SelectedMechanism(mechanism, sensitivity, NO_CLAIM, "geometric" if moves_one_cell else "any")
        if units is None:
            return SelectedMechanism(mechanism, sensitivity, METRIC_CLAIM, "geometric")
        return SelectedMechanism(mechanism, sensitivity, self.metric_claim(epsilon, setting), "geometric")

    def _summand_range(self, setting: PrivacySetting) -> tuple[int, int, int]:
        """The least and largest summand in steps, 0 included where a row can be missing, and how far the sum moves."""
        low, high = int(self.grid.low / self.grid.step), int(self.grid.high / self.grid.step)
        if setting.holds_everyone(self):
            return low, high, high - low
        low, high = min(low, 0), max(high, 0)
        largest = max(-low, high)
        replaced = 2 * largest if setting.grouped else high - low
        row_sensitivity = replaced if setting.replacing else largest
        return low, high, row_sensitivity * setting.unit.bound

    def moves(self, setting: PrivacySetting) -> Moves:
        """k rows of one cell; where values have both signs, k that change theirs may move a cell further than two."""
        if not setting.grouped:
            return LatticeQuery.moves(self, setting)
        low, high, _ = self._summand_range(setting)
        largest, rows = max(-low, high), setting.unit.bound
        if setting.replacing and low < 0 < high:
            return Moves.together(rows**2 * max(2 * largest**2, (high - low) ** 2))
        return Moves.of_cells(rows, largest, setting.replacing)

    def rounded_total(self, epsilon: Fraction, setting: PrivacySetting) -> RoundedTotal:
        """Rounding moves the sum by half a step for every row that can be in it."""
        rows, step = (setting.units or 0) * setting.unit.bound, self.grid.step
        low, high, sensitivity = self._summand_range(setting)
        interval = Interval(Fraction(0), rows * (high - low) * step)
        return RoundedTotal(GridQuestion(interval, sensitivity * step, epsilon, absolute), rows)

    def prepare_draw(self, mechanism: LatticeMechanism) -> AnswerDraw:
        """The sum with noise."""
        return partial(draw_lattice_value, prepare_noise(mechanism))

    def prepare_cells_draw(self, mechanism: LatticeMechanism, number: int) -> AnswerDraw:
        """The sum of each cell with noise of its own."""
        return partial(draw_lattice_cells, prepare_noise(mechanism))

    def error_law(self, mechanism: LatticeMechanism) -> ErrorLaw:
        """That of one noisy number."""
        self.check_step()
        return mechanism.error_law()

    @classmethod
    def calibration_example(cls, options: Mapping[str, Any]) -> CalibrationExample:
        """The query that the options of the command describe."""
        grid, selected = grid_from_options(options), options["selected"]
        query = cls("value", grid, None if selected else grid.low, "some" if selected else None)
        return CalibrationExample(query, "a sum", {**grid_content(grid), "selected": selected})

    def check_drawn(self, mechanism: LatticeMechanism, drawn: Drawn) -> None:
        """Refuse a sum beyond the ends, or between steps."""
        check_lattice_value(mechanism, drawn)
