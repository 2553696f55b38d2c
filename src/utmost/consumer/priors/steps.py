"""A prior as a histogram: bars side by side, each as wide as the others, level within."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.consumer.family import Parameter
from utmost.consumer.priors.prior import Floats, Prior, PriorFamily, check_size
from utmost.errors import InputError
from utmost.exact import Number, rational
from utmost.result_values import short_repr

MAX_HISTOGRAM_BARS = 1000  # bars
MAX_BAR_HEIGHT = 10**9


@dataclass(frozen=True, slots=True)
class HistogramPrior(Prior):
    """Weights proportional to the height of the bar that a count falls into: bar b has ⌊b·size/m⌋ ≤ k < ⌊(b+1)·size/m⌋.

    >>> [str(weight) for weight in steps(5, [1, 3]).exact()]
    ['1/11', '1/11', '3/11', '3/11', '3/11']
    """

    __repr__ = short_repr

    size: int
    heights: tuple[Fraction, ...]

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "steps:" + ",".join(str(height) for height in self.heights)

    @property
    def widths(self) -> list[int]:
        """How many counts each bar has."""
        bars = len(self.heights)
        edges = [bar * self.size // bars for bar in range(bars + 1)]
        return [right - left for left, right in pairwise(edges)]

    def proportions(self) -> tuple[Number, ...]:
        """The heights."""
        return tuple(height for height, width in zip(self.heights, self.widths, strict=True) for _ in range(width))

    def exact(self) -> tuple[Number, ...]:
        """The heights, divided by their sum over all counts."""
        total = self._total
        shares = [height / total for height in self.heights]
        return tuple(share for share, width in zip(shares, self.widths, strict=True) for _ in range(width))

    def logs(self) -> Floats:
        """The logarithm of each weight; −∞ where a bar is 0."""
        total = self._total
        with np.errstate(divide="ignore"):
            shares = np.log(np.array([float(height / total) for height in self.heights]))
        return np.repeat(shares, self.widths)

    @property
    def _total(self) -> Fraction:
        return sum((h * width for h, width in zip(self.heights, self.widths, strict=True)), Fraction(0))


def steps(size: int, heights: Sequence[object]) -> HistogramPrior:
    """A histogram: bars of equal width over the counts, these heights up to a factor, level within each.

    Heights are from 0 to 10⁹, not all 0; there is at most one bar for each count.

    >>> steps(4, [1, 3]).exact()
    (Fraction(1, 8), Fraction(1, 8), Fraction(3, 8), Fraction(3, 8))
    """
    points = check_size(size)
    if not 1 <= len(heights) <= min(MAX_HISTOGRAM_BARS, points):
        limit = (
            f"{MAX_HISTOGRAM_BARS}, and {points} here, one for each value"
            if points < MAX_HISTOGRAM_BARS
            else str(MAX_HISTOGRAM_BARS)
        )
        raise InputError(f"steps must have 1 to {limit} bars, got {len(heights)}", "bars", "take fewer")
    bars = tuple(rational(height, "steps") for height in heights)
    if any(not 0 <= height <= MAX_BAR_HEIGHT for height in bars) or not any(bars):
        raise InputError(
            "steps must have heights from 0 to 10^9, one above 0", "bars", "they are weights, up to a factor"
        )
    return HistogramPrior(points, bars)


STEPS = PriorFamily(
    kind="steps",
    example="steps:1,3,2",
    meaning="a histogram: bars of equal width from end to end, these heights up to a factor",
    choice="a histogram that I drag",
    parameters=(
        Parameter(
            name="bars",
            label="Heights of the bars",
            description="the heights, between commas",
            content="numbers",
            hint="From the least value to the largest, between commas",
            suggest=lambda _value, _step: "1",
        ),
    ),
    parse=lambda size, heights: steps(size, heights.split(",", MAX_HISTOGRAM_BARS)),
)
