"""The result of an estimate: the best reading of each released number, and how good it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from utmost.consumer.counts import Readings
from utmost.exact import Number
from utmost.notebook import report_html
from utmost.publish.reading.prior_axis import Axis
from utmost.publish.reading.reader import Floats, Reader, Value
from utmost.publish.release_model import Answer


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
class Estimate:
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
        return intervals if self.cells else intervals[0]

    @property
    def loss(self) -> ExpectedLosses | tuple[ExpectedLosses | None, ...] | None:
        """The losses given the answer; one for each cell where there are cells."""
        losses = tuple(reading.loss for reading in self.readings)
        return losses if self.cells else losses[0]

    @property
    def unbiased(self) -> Number | tuple[Number | None, ...] | None:
        """The unbiased reading; one for each cell where there are cells."""
        estimates = tuple(reading.unbiased for reading in self.readings)
        return estimates if self.cells else estimates[0]

    def __repr__(self) -> str:
        """A line for each number: what was released, what it is best read as, and where the truth is believed to be."""
        names = self.cells or (self.answer.name,)
        return "\n".join(
            f"{name}: {_reading_line(reading)}" for name, reading in zip(names, self.readings, strict=True)
        )

    def _repr_html_(self) -> str:
        return report_html(self, "estimate")

    def _one_or_all(self, values: tuple[Value, ...]) -> Value | tuple[Value, ...]:
        return values if self.cells else values[0]


def _reading_line(reading: Reading) -> str:
    interval_text = "" if reading.interval is None else f", from {reading.interval[0]} to {reading.interval[1]}"
    return f"released {reading.value}, best read as {reading.estimate}{interval_text}"
