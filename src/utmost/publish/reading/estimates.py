"""A reader, the best reading of each released number, and readings that are right on average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.counts import Readings, reading_rules
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import Level, Number
from utmost.exact import epsilon as level_of
from utmost.exact.input_text import escape_control
from utmost.notebook import Figure, draw_figure, report_html
from utmost.publish.reading.prior_points import Axis
from utmost.publish.release_model import Answer
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, LatticeMechanism
from utmost.tables import ResultTable, Tabular

Floats: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = int | Fraction
MAX_REPR_READINGS = 9


@dataclass(frozen=True, slots=True)
class Reader:
    """A prior over the points of an axis, a loss, and how much of the posterior an interval must hold.

    `is_partial`: the points are those around the answer only, of a uniform prior over more. `cells` are the readers of
    each cell, where each has points of its own.
    """

    axis: Axis
    prior: Prior
    loss: Loss
    coverage: float
    is_partial: bool = False
    cells: tuple[Reader, ...] = ()

    def __post_init__(self) -> None:
        """Check the coverage and the size of a loss given entry by entry."""
        if not 0 < self.coverage < 1:
            raise InputError(f"coverage must be strictly between 0 and 1, got {self.coverage}", "coverage")
        self.loss.check(self.axis.size)

    def of_cell(self, index: int) -> Reader:
        """The reader of one of the cells that are read."""
        return self.cells[index] if self.cells else self

    @property
    def scale(self) -> float:
        """What a step between the points costs: losses of distances are in the value's unit, others have none."""
        return self.loss.scale(float(self.axis.step))

    def value(self, position: int) -> Value:
        """The value at a position among the reader's points: a whole number where all of them are."""
        number = self.axis.value(position)
        return int(number) if self.axis.step.denominator == self.axis.first.denominator == 1 else number

    def after(self, likelihood: Floats) -> Floats:
        """The posterior, from the logarithms of a likelihood known up to a factor."""
        scores = self.prior.logs() + likelihood
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())

    def best(self, posterior: Floats, face: int) -> tuple[tuple[int, int, int], tuple[float, float]]:
        """The positions of the best reading and of the interval's ends; the losses of that reading and of `face`."""
        position, loss = reading_rules.best_reading(posterior, self.loss)
        face_loss = float(posterior @ self.loss.array(np.arange(len(posterior)), face))
        return (position, *reading_rules.credible_interval(posterior, self.coverage)), (loss, face_loss)


@dataclass(frozen=True, slots=True)
class ExpectedLosses:
    """Expected losses in the value's unit: of the best reading, and of the released value itself.

    Where the released value is none of the reader's points, the nearest of them stands for it; of a mean of a secret
    number of rows it is the value itself, unless the loss is a matrix.
    """

    expected: float
    face_value: float

    @classmethod
    def of(cls, scale: float, best: float, face: float) -> ExpectedLosses:
        """Losses counted in steps of `scale`; the best reading's is not above the other, whatever the rounding."""
        return cls(scale * min(best, face), scale * face)

    @property
    def gain(self) -> float:
        """How many times less the best reading loses; ∞ where it loses nothing and face value does.

        >>> ExpectedLosses(2.0, 5.0).gain, ExpectedLosses(0.0, 0.0).gain
        (2.5, 1.0)
        """
        if self.expected > 0:
            return self.face_value / self.expected
        return math.inf if self.face_value > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """One released number: its best reading, a credible interval, the losses given it, and its unbiased reading.

    A number whose law does not depend on the truth alone has only itself: `interval` and `loss` are None.
    """

    value: Value
    estimate: Value
    interval: tuple[Value, Value] | None = None
    loss: ExpectedLosses | None = None
    unbiased: Number | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """Prior, likelihood and posterior over the values of an axis; each sums to 1."""

    axis: Axis
    prior: Floats
    likelihood: Floats
    posterior: Floats


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Tabular):
    """A consumer's reading of one answer of a release: one reading, or one for each of the `cells` of a histogram.

    `before` are the losses over all answers, before this one was known, and `every` the reading of each of them;
    None where that was not worked out. `claim` says in which sense no mechanism would have been better for the reader,
    `remark` what else the reader must know. `total` is the unbiased sum of all cells and a bound on its standard error;
    `rank` bounds how many rows lie on the wrong side of a quantile.
    """

    answer: Answer
    reader: Reader | None
    readings: tuple[Reading, ...]
    before: ExpectedLosses | None
    claim: str
    remark: str = ""
    cells: tuple[str, ...] = ()
    total: tuple[Number, float] | None = None
    rank: float | None = None
    every: Readings | None = None

    @property
    def has_cells(self) -> bool:
        """Is there one reading for each cell; there are none where no cell was found."""
        return bool(self.cells) or not self.readings

    @property
    def value(self) -> Value | tuple[Value, ...]:
        """What was released; one for each cell where there are cells."""
        return self._one_or_all(tuple(reading.value for reading in self.readings))

    @property
    def estimate(self) -> Value | tuple[Value, ...]:
        """The best reading; one for each cell where there are cells."""
        return self._one_or_all(tuple(reading.estimate for reading in self.readings))

    @property
    def interval(self) -> tuple[Value, Value] | tuple[tuple[Value, Value] | None, ...] | None:
        """The credible interval; one for each cell where there are cells."""
        intervals = tuple(reading.interval for reading in self.readings)
        return intervals if self.has_cells else intervals[0]

    @property
    def loss(self) -> ExpectedLosses | tuple[ExpectedLosses | None, ...] | None:
        """The losses given the answer; one for each cell where there are cells."""
        losses = tuple(reading.loss for reading in self.readings)
        return losses if self.has_cells else losses[0]

    @property
    def unbiased(self) -> Number | tuple[Number | None, ...] | None:
        """The unbiased reading; one for each cell where there are cells."""
        estimates = tuple(reading.unbiased for reading in self.readings)
        return estimates if self.has_cells else estimates[0]

    def __repr__(self) -> str:
        """A line for each number: released, best read as, and where the truth is believed to be; then the remark."""
        names = self.cells if self.has_cells else (self.answer.name,)
        readings = self.readings[:MAX_REPR_READINGS]
        named = zip(names[:MAX_REPR_READINGS], readings, strict=True)
        lines = [f"{escape_control(name)}: {_reading_line(reading)}" for name, reading in named]
        hidden = len(self.readings) - len(readings)
        remarks = [escape_control(self.remark)] if self.remark and self.readings else []
        return "\n".join([*lines, *([f"and {hidden} more cells"] if hidden else []), *remarks])

    def _repr_html_(self) -> str:
        return report_html(self, "estimate")

    def plot(self) -> Figure:
        """A chart of prior, likelihood and posterior, or of the readings of all cells with their intervals.

        Where there is no posterior it is that of the answer.
        """
        return self.answer.plot() if self.reader is None else draw_figure(self, "estimate")

    def table(self, path: str | Path) -> None:
        """Write the readings as a tidy table, by the ending of the path: .csv or .parquet."""
        from utmost.publish.tidy_table import write_result_table

        write_result_table(self._result_table(), path)

    def _result_table(self) -> ResultTable:
        from utmost.publish.estimate_table import estimate_table

        return estimate_table(self)

    def _one_or_all(self, values: tuple[Value, ...]) -> Value | tuple[Value, ...]:
        return values if self.has_cells else values[0]


def _reading_line(reading: Reading) -> str:
    interval_text = "" if reading.interval is None else f", from {reading.interval[0]} to {reading.interval[1]}"
    return f"released {reading.value}, best read as {reading.estimate}{interval_text}"


def mean_overshoot(level: Level) -> Number:
    """α/(1−α): how far past an absorbing end the untruncated answer lies on average, given that it passed or met it.

    >>> from utmost.exact import alpha
    >>> mean_overshoot(alpha("1/2"))
    Fraction(1, 1)
    """
    return level.alpha / (1 - level.alpha)


def unbiased_number(number: int, low: int | None, high: int | None, level: Level) -> Number:
    """The unbiased reading of a lattice number: itself, low − α/(1−α) at the low end, high + α/(1−α) at the high one.

    Let Z = x + Δ be the answer before truncation and low ≤ x ≤ high. Given Z ≤ low the distance low − Z is k ≥ 0 with
    probability ∝ α^(x − low + k), that is ∝ α^k: it does not depend on x, and its mean is Σ k·α^k / Σ α^k = α/(1−α).
    Likewise above. So this reading is E[Z | published answer] for every x, and its mean is E[Z] = x. ∎ Where the two
    ends are one, the number is known and is its own reading.

    >>> from utmost.exact import alpha
    >>> [unbiased_number(y, 0, 2, alpha("1/2")) for y in range(3)]
    [Fraction(-1, 1), Fraction(1, 1), Fraction(3, 1)]
    """
    if low == high and low is not None:
        return Fraction(number)
    if low is not None and number <= low:
        return low - mean_overshoot(level)
    if high is not None and number >= high:
        return high + mean_overshoot(level)
    return Fraction(number)


def unbiased_estimate(mechanism: LatticeMechanism, number: int) -> Number | None:
    """The same in the value's own unit, exact: irrational at an end that absorbs, the value itself elsewhere.

    None at an end where how far the answer passed it depends on the truth: of noise that is not geometric.
    """
    if number not in mechanism.absorbing_ends or mechanism.low == mechanism.high:
        return mechanism.value(number)
    if not isinstance(mechanism, GeometricLattice):
        return None
    return mechanism.origin + mechanism.unit * unbiased_number(
        number, mechanism.low, mechanism.high, level_of(mechanism.epsilon)
    )


def unbiased_total(mechanism: LatticeMechanism, numbers: Sequence[int]) -> tuple[Number, float] | None:
    """The unbiased total of cells with independent noise, and a bound on its standard error; None without one.

    A conditional mean varies no more than what it is the mean of, so each cell adds at most Var Δ = 2α/(1−α)². The
    variance of discrete Gaussian noise is at most σ², that of canonical noise at most that of geometric noise.
    """
    if isinstance(mechanism, GaussianLattice):
        if any(unbiased_estimate(mechanism, number) is None for number in numbers):
            return None
        deviation = math.sqrt(len(numbers) * mechanism.variance)
        return len(numbers) * mechanism.origin + mechanism.unit * sum(numbers), float(mechanism.unit) * deviation
    assert isinstance(mechanism, GeometricLattice | CanonicalLattice)
    level = level_of(mechanism.epsilon)
    net_ends = (
        0
        if mechanism.low == mechanism.high or isinstance(mechanism, CanonicalLattice)
        else sum(n == mechanism.high for n in numbers) - sum(n == mechanism.low for n in numbers)
    )
    total = len(numbers) * mechanism.origin + mechanism.unit * (
        sum(numbers) + (net_ends * mean_overshoot(level) if net_ends else Fraction(0))
    )
    deviation = math.sqrt(len(numbers) / 2) / math.sinh(level.epsilon / 2)
    return total, float(mechanism.unit) * deviation
