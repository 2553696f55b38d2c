"""Means of the values of a column on a grid of N steps.

**Where every row is in it** under replace, the number of rows is public, and the total of the positions moves by at
most N: one summand moves within its range.

**A mean whose number of rows is secret** is published as a noisy total and a noisy number of rows. The total T adds up
2·position − N over the kept rows, each between −N and N; R is their number. If a unit takes a ≤ k rows away and brings
b ≤ k (b = 0 or a = 0 under add-remove), T moves by at most (a + b)·N and R by |a − b|. With ε/(2kN) a step of T and
ε/(2k) a step of R that costs at most ε·((a + b) + |a − b|)/(2k) = ε·max(a, b)/k ≤ ε: both relations cost the same. ∎

**Means in cells** are ratios of a noisy total and a noisy number of rows of each cell. If a unit takes a_c rows from
cell c and brings b_c, that costs at most Σ_c ε·max(a_c, b_c)/k at the same rates. The a_c add up to at most k, and so
do the b_c: at most ε under add-remove, where one of them is 0, and at most 2ε under replace, reached where no cell has
both. So the rates are the same under add-remove and half as large under replace. ∎
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
from utmost.errors import InputError
from utmost.exact import integer
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, LatticeMechanism, PreparedNoise, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import (
    AccuracyTarget,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
    schema_object,
)
from utmost.queries.answer_mechanisms.ratio import MAX_ROWS, RatioMechanism, drawn_parts
from utmost.queries.calibration_form import (
    GRID_OPTIONS,
    SELECTED_OPTION,
    CalibrationExample,
    CalibrationForm,
    CalibrationOption,
)
from utmost.queries.lattice_query import (
    canonical_selection,
    check_lattice_value,
    draw_lattice_value,
    gaussian_selection,
)
from utmost.queries.moves import Moves
from utmost.queries.number_column import grid_content, grid_from_options
from utmost.queries.number_total import NumberTotal, RoundedTotal
from utmost.queries.query import ALTERED, NO_CLAIM, AnswerDraw, ExactAnswer, SelectedMechanism, combine_drawn

if TYPE_CHECKING:
    from utmost.data.row_sums import Moments
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

MeanMechanism = LatticeMechanism | RatioMechanism


@dataclass(frozen=True, slots=True)
class Mean(NumberTotal):
    """The mean of a column's values on the grid, over the rows that satisfy `where`."""

    kind: ClassVar[str] = "mean"
    noun: ClassVar[str] = "mean"
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for a mean of values on a grid.",
        (
            *GRID_OPTIONS,
            CalibrationOption("rows", "Number of rows; a guess where it is secret.", "N"),
            SELECTED_OPTION,
        ),
    )
    public_rows_hint: ClassVar[str] = (
        ', or take neighbours = "replace" and rows as units, without where, part and dropped nulls'
    )

    drawn_keys: ClassVar[tuple[str, ...]] = ("value", "parts")

    column: str
    grid: Grid
    nulls: Fraction | None
    where: str | None = None
    extra_loss: Fraction | None = None

    def __post_init__(self) -> None:
        """Check the number that stands in for a missing one."""
        self.check_nulls()

    @classmethod
    def build(cls, column: str, grid: Grid, nulls: Fraction | None, where: str | None, extra: Fraction | None) -> Mean:
        """The mean with these fields."""
        return cls(column, grid, nulls, where, extra)

    def has_public_rows(self, setting: PrivacySetting) -> bool:
        """Is every unit in the mean with one row."""
        return setting.holds_everyone(self)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """As for a sum; the noisy total and rows of a ratio beside its value."""
        rows = {"type": "integer", "minimum": 0}
        return NumberTotal.schema() | {"parts": schema_object(total={"type": "integer"}, rows=rows)}

    def answer_from(self, moments: Moments, setting: PrivacySetting) -> ExactAnswer:
        """The total of positions; with the number of rows where that is secret, and the total then from the middle."""
        if setting.holds_everyone(self):
            return [moments.positions]
        return [2 * moments.positions - self.grid.size * moments.rows, moments.rows]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise on the total; on the number of rows too where that is secret."""
        grid, unit_rows, units = self.grid, setting.unit.bound, setting.units
        if units and setting.holds_everyone(self):
            total = GeometricLattice(epsilon / grid.size, 0, units * grid.size, grid.low, grid.step / units)
            return SelectedMechanism(total, grid.size, self.metric_claim(epsilon, setting), "geometric")
        sides = 4 if setting.grouped and setting.replacing else 2
        sensitivity = sides * unit_rows * grid.size
        total = GeometricLattice(epsilon / sensitivity, None, None, (grid.low + grid.high) / 2, grid.step / 2)
        rows = GeometricLattice(epsilon / (sides * unit_rows), 0, None if units is None else units * unit_rows)
        return SelectedMechanism(RatioMechanism(total, rows), sensitivity, NO_CLAIM, "any")

    def rounded_total(self, epsilon: Fraction, setting: PrivacySetting) -> RoundedTotal:
        """Rounding moves the mean by half a step."""
        length, rows = self.grid.high - self.grid.low, (setting.units or 0) * setting.unit.bound
        return RoundedTotal(GridQuestion(Interval(Fraction(0), length), length / rows, epsilon, absolute), 1)

    def select_gaussian(self, rho: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Gaussian noise on the total, where the number of rows is public."""
        geometric = self.select_mechanism(Fraction(1), setting)
        if not isinstance(geometric.mechanism, LatticeMechanism):
            return None
        return gaussian_selection(geometric, Moves.each(1, geometric.sensitivity), rho)

    def select_canonical(self, epsilon: Fraction, delta: Fraction, setting: PrivacySetting) -> SelectedMechanism | None:
        """Canonical noise on the total, where the number of rows is public."""
        geometric = self.select_mechanism(epsilon, setting)
        if not isinstance(geometric.mechanism, LatticeMechanism):
            return None
        return canonical_selection(geometric, epsilon, delta)

    def actual_rho(self, mechanism: GaussianLattice, setting: PrivacySetting) -> Fraction:
        """Half the squared move of the total over the variance."""
        return Fraction(self.grid.size**2) / (2 * mechanism.variance)

    def actual_epsilon(self, mechanism: MeanMechanism, setting: PrivacySetting) -> Fraction:
        """The ε of the total's steps; for a ratio the worst of what a unit can do to both numbers."""
        if isinstance(mechanism, GeometricLattice | CanonicalLattice):
            return mechanism.step_epsilon() * self.grid.size
        assert isinstance(mechanism, RatioMechanism)
        total, rows = mechanism.total.step_epsilon() * self.grid.size, mechanism.rows.step_epsilon()
        if setting.grouped:
            return setting.unit.bound * (total + rows) * (2 if setting.replacing else 1)
        return setting.unit.bound * max(2 * total if setting.replacing else total, total + rows)

    def prepare_draw(self, mechanism: MeanMechanism) -> AnswerDraw:
        """The total with noise; for a ratio both numbers, and the mean they stand for."""
        if isinstance(mechanism, LatticeMechanism):
            return partial(draw_lattice_value, prepare_noise(mechanism))
        return partial(_draw_ratio, self.grid, mechanism, prepare_noise(mechanism.total), prepare_noise(mechanism.rows))

    def prepare_cells_draw(self, mechanism: RatioMechanism, number: int) -> AnswerDraw:
        """Both numbers of each cell with noise of their own, and the mean they stand for."""
        noises = prepare_noise(mechanism.total), prepare_noise(mechanism.rows)
        return partial(_draw_ratios, self.grid, mechanism, *noises)

    def value_room(self, mechanism: MeanMechanism) -> int:
        """Room for one number, and for the parts of a ratio."""
        return mechanism.room(1) if isinstance(mechanism, LatticeMechanism) else mechanism.room()

    def error_law(self, mechanism: MeanMechanism) -> ErrorLaw:
        """That of one noisy number, or of a ratio at its worst."""
        self.check_step()
        if isinstance(mechanism, LatticeMechanism):
            return mechanism.error_law()
        return mechanism.error_law(self.grid.size)

    def released_error(self, mechanism: MeanMechanism, drawn: Drawn, error: ErrorLaw) -> ErrorLaw:
        """For a ratio the error over the noisy number of rows, which is released."""
        if isinstance(mechanism, LatticeMechanism) or "parts" not in drawn.details:
            return error
        return mechanism.released_error(error, drawn.details, self.grid)

    def check_error(self, error: Fraction) -> None:
        """Refuse an error that no mean within the bounds can have."""
        length = self.grid.high - self.grid.low
        if error >= length:
            raise InputError(f"error must be below {length}, how far apart the bounds are, got {error}", "error")

    def confidence_law(self, mechanism: MeanMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """That of one noisy number, or of a ratio at its worst."""
        if isinstance(mechanism, LatticeMechanism):
            return mechanism.confidence_law(target)
        return mechanism.confidence_law(target, self.grid.size)

    @classmethod
    def calibration_example(cls, options: Mapping[str, Any]) -> CalibrationExample:
        """The query that the options of the command describe."""
        grid, selected, rows = grid_from_options(options), options["selected"], integer(options["rows"], "rows")
        if not 1 <= rows <= MAX_ROWS:
            raise InputError(f"--rows must be from 1 to 10^12, got {options['rows'][:40]}", "rows")
        query = cls("value", grid, None if selected else grid.low, "some" if selected else None)
        asked = {**grid_content(grid), "rows": rows, "selected": selected}
        return CalibrationExample(query, f"a mean of {rows} rows", asked, units=rows, rows=rows)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The noisy mean, and the parts of a ratio."""
        value, parts = fields.number("value"), fields.table("parts", None)
        if parts is None:
            return Drawn(value, {})
        details = {"parts": {"total": parts.integer("total"), "rows": parts.integer("rows")}}
        parts.finish()
        return Drawn(value, details)

    def check_drawn(self, mechanism: MeanMechanism, drawn: Drawn) -> None:
        """Refuse a mean beyond the ends; of a ratio, one that is not the ratio of its parts."""
        is_ratio = isinstance(mechanism, RatioMechanism)
        if ("parts" in drawn.details) != is_ratio:
            raise InputError("parts must be given for a ratio alone, got them for another or none", "parts", ALTERED)
        if isinstance(mechanism, LatticeMechanism):
            return check_lattice_value(mechanism, drawn)
        total, rows = drawn_parts(drawn.details)
        mechanism.rows.check_number(rows)
        if drawn.value != mechanism.mean(total, rows, self.grid):
            raise InputError("value must be the ratio of its parts, got another", "value", ALTERED)
        return None


def _draw_ratio(
    grid: Grid, mechanism: RatioMechanism, total: PreparedNoise, rows: PreparedNoise, truth: ExactAnswer
) -> Drawn:
    (noisy_total,), (noisy_rows,) = total.add_noise(truth[:1]), rows.add_noise(truth[1:])
    return _ratio(grid, mechanism, noisy_total, noisy_rows)


def _draw_ratios(
    grid: Grid, mechanism: RatioMechanism, total: PreparedNoise, rows: PreparedNoise, truth: ExactAnswer
) -> Drawn:
    numbers = zip(total.add_noise(truth[::2]), rows.add_noise(truth[1::2]), strict=True)
    return combine_drawn([_ratio(grid, mechanism, noisy_total, noisy_rows) for noisy_total, noisy_rows in numbers])


def _ratio(grid: Grid, mechanism: RatioMechanism, total: int, rows: int) -> Drawn:
    return Drawn(mechanism.mean(total, rows, grid), {"parts": {"total": total, "rows": rows}})
