"""Variances of the values of a column on a grid of N steps: the mean squared distance from their mean.

A row at position p has c = 2p − N, u = c/N between −1 and 1. The release has noise on T = Σ c, on Q = Σ (2c² − N²) and
on the number of rows R. Let x/(kN), y/(kN²) and z/k be their rates over ε.

- A row that comes or goes costs ε/k times x·|u| + y·|2u² − 1| + z. For u² ≥ 1/2 this grows with |u|. For u² < 1/2 it is
  at most y + x²/(8y) + z. So it is at most x + y + z, reached at |u| = 1, if x ≤ 8y.
- A row that moves within the variance costs ε/k times x·|u − u′| + 2y·|u² − u′²|. With |u| ≥ |u′| that grows with |u|,
  and is largest for opposite signs: x·(1 + a) + 2y·(1 − a²) ≤ x + 2y + x²/(8y), at a = x/(4y) if x ≤ 4y.

**Add-remove**: at most k rows come or go, so x = y = z = 1/3 costs at most ε. **Replace**: of a rows that leave and b
that come, min(a, b) move and the others come or go; so both costs must be at most 1: x = 2/7, y = 1/3, z = 8/21 gives
2/7 + 2/3 + 3/98 < 1 and 2/7 + 1/3 + 8/21 = 1. **In cells** under replace k rows leave and k come, elsewhere:
x = y = z = 1/6; a row that moves within its cell costs less than one that leaves and one that comes, since x ≤ 8y. ∎
The sensitivity that is told is that of Q, by which its ε is divided: 3kN², and 6kN² in cells under replace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.data.grid import Grid
from utmost.data.row_sums import MAX_SQUARED_STEPS, RowSums
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.exact import integer
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, PreparedNoise, half_width, prepare_noise
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, ConfidenceLaw, Drawn, ErrorLaw, schema_object
from utmost.queries.answer_mechanisms.ratio import MAX_ROWS
from utmost.queries.answer_mechanisms.variance import VarianceMechanism, drawn_numbers
from utmost.queries.calibration_form import GRID_OPTIONS, CalibrationExample, CalibrationForm, CalibrationOption
from utmost.queries.number_column import (
    COLUMN_FIELD,
    HIGH_FIELD,
    LOW_FIELD,
    NULLS_FIELD,
    STEP_FIELD,
    NumberQuery,
    grid_content,
    grid_from_options,
    parse_grid,
    parse_nulls,
)
from utmost.queries.query import (
    ALTERED,
    NO_CLAIM,
    AnswerDraw,
    ExactAnswer,
    FaceValue,
    QueryField,
    SelectedMechanism,
    ValueRange,
    combine_drawn,
)

if TYPE_CHECKING:
    from utmost.data.cells import Grouping
    from utmost.data.found_cells import FoundKeys
    from utmost.data.row_sums import Moments
    from utmost.exact.input_text import Fields
    from utmost.queries.privacy_setting import PrivacySetting

VARIANCE_REMARK = (
    "A variance is made of three noisy numbers, which no prior on it alone explains: it is read at face value. Its "
    "{0}; for rows take the noisy number of rows that the release has."
)
EQUAL_SHARES = (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))  # x, y, z
REPLACE_SHARES = (Fraction(2, 7), Fraction(1, 3), Fraction(8, 21))


@dataclass(frozen=True, slots=True)
class Variance(NumberQuery):
    """The population variance of a column's values on the grid, over the rows that satisfy `where`."""

    kind: ClassVar[str] = "variance"
    noun: ClassVar[str] = "variance"
    drawn_keys: ClassVar[tuple[str, ...]] = ("value", "parts")
    calibration: ClassVar[CalibrationForm | None] = CalibrationForm(
        "Find the least ε for a variance of values on a grid.",
        (*GRID_OPTIONS, CalibrationOption("rows", "About how many rows there are.", "N")),
    )
    fields: ClassVar[tuple[QueryField, ...]] = (COLUMN_FIELD, LOW_FIELD, HIGH_FIELD, STEP_FIELD, NULLS_FIELD)

    column: str
    grid: Grid
    nulls: Fraction | None
    where: str | None = None

    def __post_init__(self) -> None:
        """Check the size of the grid, and the number that stands in for a missing one."""
        if self.grid.size > MAX_SQUARED_STEPS:
            problem = f"step must leave at most {MAX_SQUARED_STEPS} steps for a variance, got {self.grid.size}"
            raise InputError(problem, "step", "take a coarser one")
        self.check_nulls()

    @classmethod
    def parse(cls, fields: Fields) -> Variance:
        """The variance in a table of a plan or a release."""
        return cls(fields.text("column"), parse_grid(fields), parse_nulls(fields), fields.text("where", None))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Column and grid; the three noisy numbers beside the value."""
        whole, rows = {"type": "integer"}, {"type": "integer", "minimum": 0}
        return NumberQuery.schema() | {"parts": schema_object(total=whole, squares=whole, rows=rows)}

    def request(self, setting: PrivacySetting, grouping: Grouping | FoundKeys | None = None) -> RowSums:
        """The sums of positions and of their squares."""
        return RowSums(setting.selection(self), self.values, squares=True, grouping=grouping)

    def answer_from(self, moments: Moments, setting: PrivacySetting) -> ExactAnswer:
        """T, Q and R. With p positions: Σ (2p − N), and Σ (2(2p − N)² − N²) = 8·Σp² − 8N·Σp + N²·R."""
        steps, squares = self.grid.size, moments.squares
        total = 2 * moments.positions - steps * moments.rows
        return [total, 8 * squares - 8 * steps * moments.positions + steps**2 * moments.rows, moments.rows]

    def select_mechanism(self, epsilon: Fraction, setting: PrivacySetting) -> SelectedMechanism:
        """Geometric noise on the total, the total of squares and the number of rows."""
        grid, steps, units = self.grid, self.grid.size, setting.units
        shares = REPLACE_SHARES if setting.replacing and not setting.grouped else EQUAL_SHARES
        bound = setting.unit.bound * (2 if setting.replacing and setting.grouped else 1)
        x, y, z = (epsilon * share / bound for share in shares)
        middle, half_step = (grid.low + grid.high) / 2, grid.step / 2
        mechanism = VarianceMechanism(
            GeometricLattice(x / steps, None, None, middle, half_step),
            GeometricLattice(y / steps**2, None, None, Fraction(0), half_step**2),
            GeometricLattice(z, 0, None if units is None else units * setting.unit.bound),
        )
        return SelectedMechanism(mechanism, 3 * bound * steps**2, NO_CLAIM, "any")

    def actual_epsilon(self, mechanism: VarianceMechanism, setting: PrivacySetting) -> Fraction:
        """The worst that the rows of a unit can do to all three numbers."""
        steps = self.grid.size
        x, y = mechanism.total.step_epsilon() * steps, mechanism.squares.step_epsilon() * steps**2
        comes = max(x + y, y + x**2 / (8 * y)) + mechanism.rows.step_epsilon()
        moves = x + 2 * y + x**2 / (8 * y)
        if setting.grouped:
            return setting.unit.bound * (max(2 * comes, moves) if setting.replacing else comes)
        return setting.unit.bound * (max(comes, moves) if setting.replacing else comes)

    def prepare_draw(self, mechanism: VarianceMechanism) -> AnswerDraw:
        """The three numbers with noise, and the variance they stand for."""
        return partial(_draw_variance, partial(_draw_variances, *self._prepared_draw(mechanism)))

    def prepare_cells_draw(self, mechanism: VarianceMechanism, number: int) -> AnswerDraw:
        """The same of each cell, all noise drawn at once."""
        return partial(_combine_variances, partial(_draw_variances, *self._prepared_draw(mechanism)))

    def _prepared_draw(self, mechanism: VarianceMechanism) -> tuple[Grid, VarianceMechanism, list[PreparedNoise]]:
        noises = [prepare_noise(lattice) for lattice in (mechanism.total, mechanism.squares, mechanism.rows)]
        return self.grid, mechanism, noises

    def value_room(self, mechanism: VarianceMechanism) -> int:
        """Room for the variance and its three parts."""
        return mechanism.room()

    def error_law(self, mechanism: VarianceMechanism) -> ErrorLaw:
        """At its worst, to first order."""
        self.check_step()
        return mechanism.error_law(self.grid.size)

    def confidence_law(self, mechanism: VarianceMechanism, target: AccuracyTarget) -> ConfidenceLaw:
        """At its worst, to first order."""
        return mechanism.confidence_law(target, self.grid.size)

    def check_error(self, error: Fraction) -> None:
        """Refuse an error that no variance within the bounds can have."""
        largest = (self.grid.high - self.grid.low) ** 2 / 4
        if error >= largest:
            raise InputError(f"error must be below {largest}, the largest variance there is, got {error}", "error")

    @classmethod
    def calibration_example(cls, options: Mapping[str, Any]) -> CalibrationExample:
        """The query that the options of the command describe."""
        grid, rows = grid_from_options(options), integer(options["rows"], "rows")
        if not 1 <= rows <= MAX_ROWS:
            raise InputError(f"--rows must be from 1 to 10^12, got {options['rows'][:40]}", "rows")
        asked = {**grid_content(grid), "rows": rows}
        query = cls("value", grid, None)
        return CalibrationExample(query, f"a variance of {rows} rows", asked, units=rows, rows=rows)

    def face_value(self, mechanism: VarianceMechanism, coverage: float) -> FaceValue:
        """How large the noise is, whatever the coverage."""
        return FaceValue(VARIANCE_REMARK.format(self.error_law(mechanism).words))

    def value_range(
        self, mechanism: VarianceMechanism, value: Fraction, details: Mapping[str, Any], miss: Fraction
    ) -> ValueRange:
        """All variances that the three numbers within their noise stand for, each of them missed a third as often."""
        lattices = (mechanism.total, mechanism.squares, mechanism.rows)
        total, squares, rows = (half_width(level_of(lattice.epsilon), miss / 3) for lattice in lattices)
        return mechanism.value_range(drawn_numbers(details), (total, squares, rows), self.grid)

    def read_drawn(self, fields: Fields) -> Drawn:
        """The noisy variance and its parts."""
        value, parts = fields.number("value"), fields.table("parts")
        details = {"parts": {key: parts.integer(key) for key in ("total", "squares", "rows")}}
        parts.finish()
        return Drawn(value, details)

    def check_drawn(self, mechanism: VarianceMechanism, drawn: Drawn) -> None:
        """Refuse a variance that is not that of its parts."""
        total, squares, rows = drawn_numbers(drawn.details)
        mechanism.rows.check_number(rows)
        if drawn.value != mechanism.variance(total, squares, rows, self.grid):
            raise InputError("value must be the variance of its parts, got another", "value", ALTERED)


def _draw_variances(
    grid: Grid, mechanism: VarianceMechanism, noises: list[PreparedNoise], truth: ExactAnswer
) -> list[Drawn]:
    totals, squares, rows = (noise.add_noise(truth[start::3]) for start, noise in enumerate(noises))
    return [
        Drawn(
            mechanism.variance(total, square, row_count, grid),
            {"parts": {"total": total, "squares": square, "rows": row_count}},
        )
        for total, square, row_count in zip(totals, squares, rows, strict=True)
    ]


def _draw_variance(draw: partial[list[Drawn]], truth: ExactAnswer) -> Drawn:
    return draw(truth)[0]


def _combine_variances(draw: partial[list[Drawn]], truth: ExactAnswer) -> Drawn:
    return combine_drawn(draw(truth))
