"""A variance from a noisy total, a noisy total of squares and a noisy number of rows: law, draw, error and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.exact import decimal_above, integer, plain_decimal
from utmost.queries.answer_mechanisms.lattice import MAX_LATTICE_NUMBER, GeometricLattice
from utmost.queries.answer_mechanisms.mechanism import (
    MISS_PROBABILITY,
    AccuracyTarget,
    AnswerMechanism,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
    bound_of_12_digits,
    round_to_12_digits,
    schema_object,
)
from utmost.queries.answer_mechanisms.ratio import LAPLACE_LIMIT_EPSILON, MAX_ROWS, OVER_ROWS_SUFFIX, RowNoise

if TYPE_CHECKING:
    from utmost.data.grid import Grid
    from utmost.exact.input_text import Fields

OVER_ROWS_NOTE = "/ rows: at most, divided by the number of rows in the mean or variance, which is not public."
FIRST_ORDER_REMARK = (
    "to first order in the noise over the rows, for values at one end of the grid, where the error is largest"
)


@dataclass(frozen=True, slots=True)
class VarianceMechanism(AnswerMechanism):
    """A variance from a noisy total T, a noisy total of squares Q and a noisy number of rows R.

    A row at the position p of a grid of N steps has c = 2p − N, from −N to N. T adds up c, Q adds up 2c² − N², from −N²
    to N². The variance is (step/2)²·((Q/R + N²)/2 − (T/R)²).
    """

    name: ClassVar[str] = "variance"
    has_posterior: ClassVar[bool] = False

    total: GeometricLattice
    squares: GeometricLattice
    rows: GeometricLattice

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        lattices = {"total": self.total, "squares": self.squares, "rows": self.rows}
        return {"name": self.name} | {key: lattice.content() for key, lattice in lattices.items()}

    @classmethod
    def parse(cls, fields: Fields) -> VarianceMechanism:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        lattices = [GeometricLattice.parse(fields.table(key)) for key in ("total", "squares", "rows")]
        fields.finish()
        return cls(*lattices)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        lattice = {"$ref": f"#/$defs/{GeometricLattice.name}"}
        return schema_object(name={"const": cls.name}, total=lattice, squares=lattice, rows=lattice)

    @property
    def value_unit(self) -> Fraction:
        """The square of half a step."""
        return self.squares.unit

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do rates, units and all numbers fit into doubles."""
        fits = all(lattice.fits_doubles() for lattice in (self.total, self.squares, self.rows))
        parts = drawn.details["parts"]
        cells = parts if isinstance(parts, list) else [parts]
        return fits and all(abs(number) <= MAX_LATTICE_NUMBER for cell in cells for number in cell.values())

    def variance(self, total: int, squares: int, rows: int, grid: Grid) -> Fraction:
        """The variance that the three numbers stand for, from 0 to a quarter of the squared range; without rows, 0."""
        if rows < 1:
            return Fraction(0)
        mean_square = (Fraction(squares, rows) + grid.size**2) / 2
        value = self.squares.unit * (mean_square - Fraction(total, rows) ** 2)
        return min(max(value, Fraction(0)), (grid.high - grid.low) ** 2 / 4)

    def value_range(
        self, numbers: tuple[int, int, int], errors: tuple[int, int, int], grid: Grid
    ) -> tuple[Fraction, Fraction]:
        """A range that holds the variance of every total, total of squares and number of rows within their errors."""
        pairs = zip(numbers, errors, strict=True)
        totals, squares, rows = ((number - error, number + error) for number, error in pairs)
        return self.variance_range(totals, squares, rows, grid)

    def variance_range(
        self, totals: tuple[int, int], squares: tuple[int, int], rows: tuple[int, int], grid: Grid
    ) -> tuple[Fraction, Fraction]:
        """The same of every total, total of squares and number of rows in these ranges.

        The mean square and the square of the mean are taken at their own ends, so it may be wider than it need be.
        """
        ends = [max(end, 1) for end in rows]
        means = [Fraction(total, end) for total in totals for end in ends]
        mean_squares = [Fraction(number, end) for number in squares for end in ends]
        least = Fraction(0) if min(means) <= 0 <= max(means) else min(number**2 for number in means)
        low = (min(mean_squares) + grid.size**2) / 2 - max(number**2 for number in means)
        high = (max(mean_squares) + grid.size**2) / 2 - least
        largest = (grid.high - grid.low) ** 2 / 4
        low, high = (min(max(self.squares.unit * end, Fraction(0)), largest) for end in (low, high))
        return low, high

    def room(self) -> int:
        """More bytes than a variance and its three parts take in a release file."""
        return 4 * (self.total.room(1) + self.squares.room(1) + self.rows.room(1))

    def error_law(self, steps: int, row_noise: RowNoise | None = None) -> ErrorLaw:
        """How far off the variance of r rows is, times r, at its worst and to first order. In doubles.

        With τ = T/r, κ = Q/r and V = (κ + N²)/2 − τ², r·dV = ΔQ/2 − 2τ·ΔT + (N²/2 + τ² − V)·ΔR to first order. As
        |τ| ≤ N and 0 ≤ V ≤ N² − τ², no factor is larger in size than at |τ| = N, V = 0: 1/2, 2N and 3N²/2. The noise of
        the rows is the geometric one of `rows`, or another `row_noise` of the same rate.
        """
        squares, total, rows = self._noise_scales(steps)
        noise: ThreeNoises | MovedNoises = ThreeNoises(squares, total, rows)
        if row_noise is not None and self.rows.epsilon >= LAPLACE_LIMIT_EPSILON:
            noise = MovedNoises(squares, total, 3 * steps**2 / 2, row_noise)
        unit = float(self.squares.unit)
        expected = round_to_12_digits(unit * noise.mean())
        width = bound_of_12_digits(unit * noise.half_width(float(MISS_PROBABILITY)))
        sentence = (
            f"noise: at worst about {plain_decimal(expected, 4, decimal_above)}{OVER_ROWS_SUFFIX} on average, "
            f"about ±{plain_decimal(width, 4, decimal_above)}{OVER_ROWS_SUFFIX} in 95 % of cases"
        )
        return ErrorLaw(expected, width, sentence, over_rows=True, suffix=OVER_ROWS_SUFFIX, note=OVER_ROWS_NOTE)

    def confidence_law(self, target: AccuracyTarget, steps: int) -> ConfidenceLaw:
        """The probability that a variance of `target.rows` rows meets the target, for this mechanism at ε = 1."""
        rows = _parse_rows(target.rows)
        if not target.error:
            raise InputError("error must be > 0 for a variance", "error")
        noise, reach = ThreeNoises(*self._noise_scales(steps)), float(target.error / self.squares.unit * rows)

        def confidence(epsilon: float) -> float:
            return 1 - noise.tail(epsilon * reach)

        text = f"off by at most {plain_decimal(target.error, 6)}"
        return ConfidenceLaw(text, by_doubles=confidence, remark=FIRST_ORDER_REMARK)

    def _noise_scales(self, steps: int) -> tuple[float, float, float]:
        """1/ε of each noise, times the largest factor that it is multiplied by."""
        lattices = ((self.squares, Fraction(1, 2)), (self.total, 2 * steps), (self.rows, Fraction(3 * steps**2, 2)))
        squares, total, rows = (float(factor / lattice.epsilon) for lattice, factor in lattices)
        return squares, total, rows


@dataclass(frozen=True, slots=True)
class ThreeNoises:
    """The sum of three independent Laplace noises of different scales b_i: what geometric noises are at a small rate.

    Its characteristic function ∏ 1/(1 + b_i²s²) is Σ A_i/(1 + b_i²s²), A_i = ∏_(j≠i) b_i²/(b_i² − b_j²). So
    Pr[|sum| > t] = Σ A_i·e^(−t/b_i), and the mean of |sum| is Σ A_i·b_i.
    """

    first: float
    second: float
    third: float

    def _terms(self) -> list[tuple[float, float]]:
        """A_i and b_i."""
        scales = (self.first, self.second, self.third)
        return [(math.prod(b**2 / (b**2 - other**2) for other in scales if other != b), b) for b in scales]

    def tail(self, distance: float) -> float:
        """Pr[|sum| > distance]."""
        return sum(weight * math.exp(-distance / scale) for weight, scale in self._terms())

    def mean(self) -> float:
        """The mean of |sum|."""
        return sum(weight * scale for weight, scale in self._terms())

    def half_width(self, miss: float) -> float:
        """The distance that |sum| passes with this probability."""
        return _passed_distance(self.tail, self.mean(), miss)


@dataclass(frozen=True, slots=True, eq=False)
class MovedNoises:
    """The sum of two independent Laplace noises of different scales, moved by a factor times the noise of rows.

    For two noises Pr[sum > t] = Σ A_i·e^(−t/b_i)/2 for t ≥ 0 and E|sum + c| = |c| + Σ A_i·b_i·e^(−|c|/b_i), with the
    A_i = b_i²/(b_i² − b_j²) of `ThreeNoises`. The sum is symmetric.
    """

    first: float
    second: float
    factor: float
    row_noise: RowNoise

    def _terms(self) -> list[tuple[float, float]]:
        """A_i and b_i."""
        pairs = ((self.first, self.second), (self.second, self.first))
        return [(b**2 / (b**2 - other**2), b) for b, other in pairs]

    def tail(self, distance: float) -> float:
        """Pr[|sum| > distance]: what is above it, and what is below it on the other side."""
        import numpy as np

        moves = self.factor * self.row_noise.values
        distances = np.stack([distance - moves, distance + moves])
        near = sum(weight / 2 * np.exp(-np.abs(distances) / scale) for weight, scale in self._terms())
        return float(np.where(distances >= 0, near, 1 - near).sum(axis=0) @ self.row_noise.probabilities)

    def mean(self) -> float:
        """The mean of |sum|."""
        import numpy as np

        moves = np.abs(self.factor * self.row_noise.values)
        distances = moves + sum(weight * scale * np.exp(-moves / scale) for weight, scale in self._terms())
        return float(distances @ self.row_noise.probabilities)

    def half_width(self, miss: float) -> float:
        """The distance that |sum| passes with this probability."""
        return _passed_distance(self.tail, self.mean(), miss)


def _passed_distance(tail: Callable[[float], float], start: float, miss: float) -> float:
    """The distance whose tail, which falls, is `miss`; from a distance to begin with, not below it."""
    low, high = 0.0, start
    while tail(high) > miss:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > miss else (low, middle)
    return high


def drawn_numbers(details: Mapping[str, Any]) -> tuple[int, int, int]:
    """The noisy total, total of squares and number of rows that were drawn."""
    parts = details["parts"]
    return parts["total"], parts["squares"], parts["rows"]


def _parse_rows(rows: object) -> int:
    if rows is None:
        raise InputError("rows must be given for a variance", "rows", "say about how many there will be")
    row_count = integer(rows, "rows")
    if not 1 <= row_count <= MAX_ROWS:
        raise InputError("rows must be from 1 to 10^12, got another number", "rows")
    return row_count
