"""A mean from a noisy total and a noisy number of rows: law, draw, error and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.exact import Level, decimal, decimal_above, integer, plain_decimal
from utmost.exact import epsilon as level_of
from utmost.queries.answer_mechanisms.lattice import MAX_LATTICE_NUMBER, GeometricLattice, noise_spread
from utmost.queries.answer_mechanisms.mechanism import (
    MISS_PROBABILITY,
    AccuracyTarget,
    AnswerMechanism,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
    round_to_12_digits,
    schema_object,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from utmost.data.grid import Grid
    from utmost.exact.input_text import Fields

LAPLACE_LIMIT_EPSILON = 0.02  # an ε of the rows below which their noise is taken for Laplace's
TWO_LAPLACE_HALF_WIDTH = (
    4.11301  # u with e^(−u)·(1 + u/2) = 1/20: two Laplace noises of scale 1 add up to more than ±u so often
)
MIN_NOISE_SCALE = Fraction(1, 10**6)
MAX_NOISE_SCALES = 45.0  # 1/ε of noise beyond which nothing is summed: e^-45 is 3e-20
MAX_ROWS = 10**12  # of a mean that is calibrated
MAX_SUM_TERMS = 2 * 10**6
OVER_ROWS_SUFFIX = " / rows"
OVER_ROWS_NOTE = "/ rows: at most, divided by the number of rows in the mean, which is not public."
RELEASED_NOTE = "The ± of a mean is about what it is at worst, from the noisy number of rows that is released with it."
WORST_MEAN_REMARK = (
    "asked of a mean at an end of the grid, where the error is largest, with noise on the number of rows too"
)


@dataclass(frozen=True, slots=True)
class RatioMechanism(AnswerMechanism):
    """A mean from a noisy total and a noisy number of rows: total.origin + total.unit·(total/rows).

    The total counts each row's distance from the middle of the grid in half steps, so that a row moves it by at most N.
    """

    name: ClassVar[str] = "ratio"

    total: GeometricLattice
    rows: GeometricLattice

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return {"name": self.name, "total": self.total.content(), "rows": self.rows.content()}

    @classmethod
    def parse(cls, fields: Fields) -> RatioMechanism:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        total, rows = (GeometricLattice.parse(fields.table(key)) for key in ("total", "rows"))
        fields.finish()
        return cls(total, rows)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        lattice = {"$ref": f"#/$defs/{GeometricLattice.name}"}
        return schema_object(name={"const": cls.name}, total=lattice, rows=lattice)

    @property
    def value_unit(self) -> Fraction:
        """A step of the total."""
        return self.total.unit

    def noise_scale(self, details: Mapping[str, Any]) -> Fraction:
        """1/ε of the total's noise over the released number of rows."""
        rows = max(1, *(rows for _, rows in drawn_parts_of_cells(details)))
        return max(self.total.unit / self.total.epsilon / rows, MIN_NOISE_SCALE)

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do rates, units and both numbers fit into doubles."""
        fits = self.total.fits_doubles() and self.rows.fits_doubles()
        numbers = [part for parts in drawn_parts_of_cells(drawn.details) for part in parts]
        return fits and all(abs(number) <= MAX_LATTICE_NUMBER for number in numbers)

    def mean(self, total: int, rows: int, grid: Grid) -> Fraction:
        """The mean that a noisy total and number of rows stand for, within the grid; without rows, its middle."""
        if rows < 1:
            return self.total.origin
        return min(max(self.total.value(0) + self.total.unit * Fraction(total, rows), grid.low), grid.high)

    def room(self) -> int:
        """More bytes than a mean and both of its parts take in a release file."""
        return 3 * (self.total.room(1) + self.rows.room(1))

    def error_law(self, steps: int, row_noise: RowNoise | None = None) -> ErrorLaw:
        """How far off the mean of r rows is, times r, at its worst: for a mean at an end of the grid. In doubles.

        m̂ − m = unit·(Δ_T − t·Δ_R)/(r + Δ_R) for the noises Δ_T, Δ_R of total and rows, t = T/r between −N and N; so r
        times it is about unit·(Δ_T − N·Δ_R) at worst, N the `steps` of the grid. Its law is that of Δ_T moved by N·j,
        over the j of Δ_R: of the geometric noise of `rows`, or of another `row_noise` of the same rate.
        """
        total, rows = level_of(self.total.epsilon), level_of(self.rows.epsilon)
        if rows.epsilon < LAPLACE_LIMIT_EPSILON:  # both noises are Laplace's of the same scale, as good as
            expected, half = 1.5 / total.epsilon, math.ceil(TWO_LAPLACE_HALF_WIDTH / total.epsilon)
        else:
            expected, half = _combined_noise_error(total, steps, row_noise or geometric_row_noise(rows))
        expected, width = round_to_12_digits(float(self.total.unit) * expected), self.total.unit * half
        sentence = (
            f"noise: at worst about {plain_decimal(expected, 4, decimal_above)}{OVER_ROWS_SUFFIX} on average, "
            f"about ±{plain_decimal(width, 4, decimal_above)}{OVER_ROWS_SUFFIX} in 95 % of cases"
        )
        return ErrorLaw(expected, width, sentence, over_rows=True, suffix=OVER_ROWS_SUFFIX, note=OVER_ROWS_NOTE)

    def released_error(self, error: ErrorLaw, details: Mapping[str, Any], grid: Grid) -> ErrorLaw:
        """How far off a released mean is: `error` over the released number of rows R̂ instead of the secret r.

        With R̂ = r + Δ_R, T̂/R̂ − T/r = (Δ_T − t·Δ_R)/R̂ exactly, so an interval of half width H/R̂ holds the mean as
        often as ±H holds Δ_T − N·Δ_R. Where R̂ is brought back to its largest value, |Δ_R| only shrinks, and the
        probability grows. Both means are on the grid, so no error is above the distance to its farther end.
        """
        total, rows = drawn_parts(details)
        value = self.mean(total, rows, grid)
        largest = max(value - grid.low, grid.high - value)
        half_width = min(Fraction(error.half_width) / rows, largest) if rows >= 1 else largest
        expected = round_to_12_digits(min(error.expected / max(rows, 1), float(largest)))
        shown_expected, shown_width = (plain_decimal(number, 4, decimal_above) for number in (expected, half_width))
        words = (
            f"noise: at worst about {shown_expected} on average, about ±{shown_width} in 95 % of cases, "
            f"around {error.target}"
        )
        return replace(
            error, expected=expected, half_width=half_width, words=words, over_rows=False, suffix="", note=RELEASED_NOTE
        )

    def confidence_law(self, target: AccuracyTarget, steps: int) -> ConfidenceLaw:
        """The probability that a mean of `target.rows` rows meets the target, for this mechanism at ε = 1."""
        noisy_mean = NoisyMean(self, steps, _parse_rows(target.rows), target.error / self.total.unit)
        if not noisy_mean.error:
            raise InputError("error must be > 0 for a mean of a secret number of rows", "error")
        text = f"off by at most {plain_decimal(target.error, 6)}"
        return ConfidenceLaw(text, by_doubles=noisy_mean.confidence, remark=WORST_MEAN_REMARK)


def drawn_parts(details: Mapping[str, Any]) -> tuple[int, int]:
    """The noisy total and the noisy number of rows that were drawn."""
    parts = details["parts"]
    return parts["total"], parts["rows"]


def ratio_ends(
    lattice: GeometricLattice, parts: tuple[int, int], errors: tuple[int, int], grid: Grid
) -> tuple[Fraction, Fraction]:
    """The least and the largest T/R with T and R within their errors, as means within the grid.

    For a fixed T the ratio is monotone in R, so it is least and largest at ends of both ranges.
    """
    (total, rows), (total_error, rows_error) = parts, errors
    return ratio_range(
        lattice, (total - total_error, total + total_error), (rows - rows_error, rows + rows_error), grid
    )


def ratio_range(
    lattice: GeometricLattice, totals: tuple[int, int], rows: tuple[int, int], grid: Grid
) -> tuple[Fraction, Fraction]:
    """The least and the largest T/R with T and R in these ranges, as means within the grid; there is at least a row."""
    (low_total, high_total), (fewest, most) = totals, (max(end, 1) for end in rows)
    ratios = (
        Fraction(low_total, fewest if low_total < 0 else most),
        Fraction(high_total, most if high_total < 0 else fewest),
    )
    low, high = (lattice.origin + lattice.unit * ratio for ratio in ratios)
    return min(max(low, grid.low), grid.high), max(min(high, grid.high), grid.low)


def drawn_parts_of_cells(details: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The same of each cell; of the one answer where there are no cells."""
    parts = details["parts"]
    return [(entry["total"], entry["rows"]) for entry in (parts if isinstance(parts, list) else [parts])]


def _parse_rows(rows: object) -> int:
    if rows is None:
        raise InputError(
            "rows must be given for a mean of a secret number of rows", "rows", "say about how many there will be"
        )
    row_count = integer(rows, "rows")
    if not 1 <= row_count <= MAX_ROWS:
        raise InputError(f"rows must be from 1 to 10^12, got {decimal(Fraction(row_count))}", "rows")
    return row_count


@dataclass(frozen=True, slots=True, eq=False)
class RowNoise:
    """The noise of a number of rows: its values and their probabilities, as doubles."""

    values: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float64]


def geometric_row_noise(level: Level) -> RowNoise:
    """Two-sided geometric noise, as far as it matters."""
    import numpy as np

    largest = math.ceil(30 / level.epsilon) + 1
    values = np.arange(-largest, largest + 1)
    return RowNoise(values, math.tanh(level.epsilon / 2) * np.exp(-level.epsilon * np.abs(values)))


def _combined_noise_error(total: Level, steps: int, row_noise: RowNoise) -> tuple[float, int]:
    """E|Δ_T − N·Δ_R|, and the least t with Pr[|Δ_T − N·Δ_R| > t] ≤ 1/20.

    E|Δ + c| = |c| + 2α^(|c|+1)/(1 − α²), and Pr[Δ > t] is α^(t+1)/(1+α), or 1 − α^(−t)/(1+α) for t < 0. Δ_T is
    symmetric, so Pr[|Δ_T − c| > t] = Pr[Δ_T > t − c] + Pr[Δ_T > t + c].
    """
    import numpy as np

    probabilities, shifts, rate = row_noise.probabilities, steps * row_noise.values, total.epsilon
    expected = float(probabilities @ (np.abs(shifts) + np.exp(-rate * np.abs(shifts)) * noise_spread(total)))
    tail_factor = 1 / (1 + float(total.alpha))

    def tails(distances: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        near = np.exp(-rate * (np.abs(distances) + (distances >= 0))) * tail_factor
        return np.asarray(np.where(distances >= 0, near, 1 - near))

    def probability_outside(reach: int) -> float:
        return float(probabilities @ (tails(reach - shifts) + tails(reach + shifts)))

    low, high = 0, math.ceil(2 * expected) + 1
    while probability_outside(high) > MISS_PROBABILITY:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if probability_outside(middle) > MISS_PROBABILITY else (low, middle)
    return expected, low


@dataclass(frozen=True, slots=True)
class NoisyMean:
    """A mean of `rows` rows from a noisy total and a noisy number of rows, on a grid of `steps`; rates are for ε = 1.

    The ratio is off by at most `error` (in units of the total a row) exactly when |Δ_T − μΔ_R| ≤ error·(rows + Δ_R),
    μ the true mean. For each Δ_R that is the likelier the smaller |μ| is, since Δ_T is symmetric and falls away from 0;
    so it is asked of a mean at an end of the grid, |μ| = N. That the mean is brought back to the grid is left out: it
    only helps. A release without rows counts as a miss.
    """

    law: RatioMechanism
    steps: int
    rows: int
    error: Fraction

    def confidence(self, epsilon: float) -> float:
        """Σ_d Pr[Δ_R = d]·Pr[|Δ_T − N·d| ≤ error·(rows + d)] over the d that matter."""
        import numpy as np

        rows_rate, total_rate = epsilon * float(self.law.rows.epsilon), epsilon * float(self.law.total.epsilon)
        max_row_noise = math.ceil(MAX_NOISE_SCALES / rows_rate)
        if max_row_noise > MAX_SUM_TERMS:
            raise InputError(
                "error must be so small that it needs an epsilon above 0.0001, and is not", "error", "ask for less"
            )
        row_noise = np.arange(max(-max_row_noise, 1 - self.rows), max_row_noise + 1, dtype=np.int64)
        low, high = self._total_noise_within(row_noise)
        inside = _noise_distribution(high, total_rate) - _noise_distribution(low - 1, total_rate)
        weights = math.tanh(rows_rate / 2) * np.exp(-rows_rate * np.abs(row_noise))
        return float(weights @ np.maximum(inside, 0))

    def _total_noise_within(
        self, row_noise: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The least and the greatest Δ_T within the error for each Δ_R, in whole numbers: an end may be one itself."""
        import numpy as np

        top, bottom = self.error.as_integer_ratio()
        largest = int(np.abs(row_noise).max())
        if bottom * self.steps * largest + top * (self.rows + largest) < 2**62:
            centre, half = bottom * self.steps * row_noise, top * (self.rows + row_noise)
            return (-((half - centre) // bottom)).astype(np.float64), ((centre + half) // bottom).astype(np.float64)
        middle, width = float(self.steps) * row_noise, float(self.error) * (self.rows + row_noise)
        return np.ceil(middle - width), np.floor(middle + width)


def _noise_distribution(value: npt.NDArray[np.float64], rate: float) -> npt.NDArray[np.float64]:
    """Pr[Δ ≤ value]: α^(−value)/(1+α) below 0, 1 − α^(value+1)/(1+α) from 0 on."""
    import numpy as np

    tail = np.exp(-rate * np.where(value < 0, -value, value + 1)) / (1 + math.exp(-rate))
    return np.asarray(np.where(value < 0, tail, 1 - tail))
