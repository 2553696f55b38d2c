"""Optimal selection of cells that are found in the data: its law, and exact draws from it.

Let π(0) = 0, π(n+1) = min(e^ε·π(n) + δ, 1 − e^−ε·(1 − π(n) − δ), 1). No (ε, δ)-private mechanism that never tells a
cell of 0 units tells a cell of n units with a higher probability than π(n), for any n, where neighbours differ by one
unit: the three terms are what the two inequalities of privacy and probability itself allow one step further, and the
right side rises with π(n) (Desfontaines, Voss, Gipson, Mandayam, arXiv:2006.03684).

**The count comes for free.** Draw N with Pr[N ≤ n] = π(n), and let y = count + τ − N with a public τ. The cell is told,
with y, where y ≥ τ, which is N ≤ count: with probability π(count).

**Theorem.** y is (ε, δ)-private by itself; so is what is made of it. No condition on δ is needed.
*Proof.* Let g(n) = π(n) − π(n−1), q = 1 − π, and L the least n with π(n) = 1. Neighbouring counts move the law of y by
one place, so we need Σ_n (g(n+1) − e^ε·g(n))₊ ≤ δ and Σ_n (g(n) − e^ε·g(n+1))₊ ≤ δ over all n ≥ 0.
The first term of the minimum is the least as long as π(n) ≤ (1−δ)/(e^ε+1), up to n = m − 1; then the second is, until
q(n) ≤ δ, and L is the next n. While the first holds g(n+1) = e^ε·g(n), g(1) = δ. While the second holds
g(n+1) = e^−ε·g(n). Where they meet, π(m+1) is at most the first and π(m) at most the second, which says
e^−ε·g(m) ≤ g(m+1) ≤ e^ε·g(m).
(1) *Upwards*: n = 0 gives g(1) = δ. All others give 0: g(L) = q(L−1) is at most e^ε·g(L−1) by equality of the first
term if that held at L−1; otherwise g(L−1) = (e^ε − 1)·q(L−1) + δ ≥ δ ≥ q(L−1).
(2) *Downwards*: all n < L−1 give 0. Since π(L−1) is at most the second term, g(L−1) ≤ (e^ε − 1)·q(L−1) + δ. So
n = L−1 and n = L give (g(L−1) − e^ε·g(L))₊ + g(L) ≤ (δ − q(L−1))₊ + q(L−1) = δ. ∎

**Several units.** If a count moves by j units, y is (j·ε, δ·(e^(jε) − 1)/(e^ε − 1))-private (j neighbours in turn).
Where the moves of independent cells add up to at most k, all cells are (k·ε, δ·(e^(kε) − 1)/(e^ε − 1))-private
together, since e^x − 1 is superadditive. So one side of a change has these, and a replaced unit, which leaves up to k
units of cells and enters up to k, twice these.

**Intervals of cells that are told.** A cell that is told is one of those whose noise was large, the more so the smaller
it is: 5000 cells of one unit at a threshold of 5 are told with y ≥ 5 or not at all, and y ± a half width of the noise
may hold the count of none of them. Given that a cell of n units is told, Pr[Y ≥ y] = π(n + τ − y)/π(n), since it is
told where N ≤ n. With β/2 for each side let low be the least n with Pr[Y ≥ y | told, n] > β/2, and high the greatest
with Pr[Y ≤ y | told, n] > β/2.
**Theorem.** Given that it is told, low ≤ n ≤ high with probability at least 1 − β, for every n ≥ 1.
*Proof.* If n < low then Pr[Y ≥ y | told, n] ≤ β/2. This falls with y, so it says that y is at least the first y* where
it holds, which has probability Pr[Y ≥ y* | told, n] ≤ β/2. Likewise for n > high. ∎
Both ends are found by halving, since π(n−j)/π(n) rises with n: π(n+1)/π(n) is the least of e^ε + δ/π(n),
e^−ε + (1 − e^−ε·(1−δ))/π(n) and 1/π(n), each of which falls as π(n) rises. Where only the largest of the told cells are
kept, it holds of them together with those that are left out.

In closed form, with c = δ/(e^ε − 1): π(n) = c·(e^(nε) − 1) for n ≤ m, and 1 − π(n) = e^(−(n−m)ε)·(1 − π(m) + c) − c
from there to L − 1. Words are compared with balls around them, so that the law drawn is this law.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from utmost.errors import InputError
from utmost.exact import Level, Number, ball, ball_endpoints
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource
from utmost.noise.table_sampling import (
    Positions,
    SamplingTable,
    Threshold,
    ball_threshold,
    fill_slab,
    slabs,
    table_from_thresholds,
    workspace,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from flint import arb

MAX_LAW_LENGTH = 10**5  # values of N
EXTRA_BITS = 160  # of a ball, for e^(mε), which is about 1/δ
FIRST_BITS = 128
TIE_WIDTH = Fraction(1, 2**40)  # of a ball around a whole number, which is then decided exactly


@dataclass(frozen=True, slots=True)
class SelectionLaw:
    """The law of N at (ε, δ): π(n) for every n, exactly. `crossing` is m, `last` is L, `threshold` is τ.

    τ is the median of N: a cell of τ units is told at least as often as not, and y is above the count as often as it is
    below.

    >>> from utmost.exact import epsilon
    >>> selection_law(epsilon("0.1"), Fraction("1e-6")).threshold
    109
    """

    level: Level
    delta: Fraction
    crossing: int
    last: int
    threshold: int

    def probability(self, count: int) -> Number:
        """π(count): the probability that a cell of so many units is told."""
        return _probability(self.level, self.delta, self.crossing, self.last, count)

    def probability_ball(self, count: int, bits: int) -> arb:
        """An interval that contains π(count)."""
        from flint import arb

        if count <= 0 or count >= self.last:
            return arb(1 if count > 0 else 0)
        with working_precision(bits + EXTRA_BITS):
            epsilon = self.level.epsilon_ball(bits + EXTRA_BITS)
            scale = ball(self.delta, bits + EXTRA_BITS) / epsilon.expm1()
            rising = scale * (epsilon * min(count, self.crossing)).expm1()
            if count <= self.crossing:
                return rising
            return 1 + scale - (-epsilon * (count - self.crossing)).exp() * (1 - rising + scale)

    def miss_probability(self, width: int) -> Number:
        """Pr[|y − count| > width], that is Pr[N < τ − width] + Pr[N > τ + width]."""
        return self.probability(self.threshold - width - 1) + 1 - self.probability(self.threshold + width)

    def half_width(self, miss: Fraction) -> int:
        """The least width that |y − count| is above with probability at most `miss`, decided exactly."""
        return _half_width(self, miss)

    def misses_at_most(self, width: int, miss: Fraction) -> bool:
        """Is |y − count| above a width with probability at most `miss`: decided exactly."""
        below, above = (self.threshold - width - 1, self.threshold + width)
        for bits in (FIRST_BITS, 4 * FIRST_BITS):
            with working_precision(bits + EXTRA_BITS):
                difference = (
                    self.probability_ball(below, bits) + 1 - self.probability_ball(above, bits) - ball(miss, bits)
                )
            if not difference.contains(0):
                return bool(difference < 0)
        return bool(self.miss_probability(width) <= miss)

    def told_range(self, excess: int, miss: Fraction) -> tuple[int, int]:
        """The least and the greatest count of a cell that is told with y = τ + excess, decided exactly.

        Given that the cell is told, its count lies outside with a probability of at most `miss`. From L on, the ends
        move with y.

        >>> from utmost.exact import epsilon
        >>> law = selection_law(epsilon("0.1"), Fraction("1e-6"))
        >>> law.told_range(0, Fraction(1, 20)), law.told_range(1000, Fraction(1, 20))
        ((1, 118), (1079, 1139))
        """
        shift = max(excess - self.last, 0)
        low, high = _told_range(self, excess - shift, miss)
        return low + shift, high + shift

    def is_likelier(self, count: int, factor: Fraction, other: int) -> bool:
        """Is π(count) > factor·π(other): decided exactly."""
        for bits in (FIRST_BITS, 4 * FIRST_BITS):
            with working_precision(bits + EXTRA_BITS):
                difference = self.probability_ball(count, bits) - (
                    ball(factor, bits + EXTRA_BITS) * self.probability_ball(other, bits)
                )
            if not difference.contains(0):
                return bool(difference > 0)
        return bool(self.probability(count) > factor * self.probability(other))

    def expected_error(self) -> float:
        """E|y − count|, as a double."""
        errors, masses = self.error_masses()
        return float(np.abs(errors) @ masses)

    def error_masses(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The values of y − count = τ − N and their probabilities, as doubles.

        π(n) − π(n−1) is δ·e^((n−1)ε) up to m, no factor of which is too large for a double. 1 − π(n) falls by e^−ε
        from there, up to L − 1.
        """
        epsilon, counts = self.level.epsilon, np.arange(1, self.last + 1)
        scale = math.exp(_logarithm(self.delta) - epsilon) / -math.expm1(-epsilon)
        rising = np.exp(_logarithm(self.delta) + epsilon * np.arange(self.crossing))
        untold = 1 - float(rising.sum())
        powers = np.exp(-epsilon * np.arange(self.last - self.crossing))
        falling = np.append(np.maximum(powers * (untold + scale) - scale, 0), 0)
        return self.threshold - counts, np.concatenate([rising, falling[:-1] - falling[1:]])


@lru_cache(maxsize=256)  # asked of each cell
def _half_width(law: SelectionLaw, miss: Fraction) -> int:
    low, high = -1, max(law.threshold, law.last - law.threshold)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if law.misses_at_most(middle, miss) else (middle, high)
    return high


@lru_cache(maxsize=1 << 14)  # asked of each cell
def _told_range(law: SelectionLaw, excess: int, miss: Fraction) -> tuple[int, int]:
    counts = range(excess + 1, excess + law.last + 2)
    low = bisect_left(counts, True, key=lambda n: law.is_likelier(n - excess, miss / 2, n))
    high = bisect_left(counts, True, key=lambda n: not law.is_likelier(n, 1 / (1 - miss / 2), n - excess - 1))
    return counts[low], counts[high] - 1


@lru_cache(maxsize=256)
def selection_law(level: Level, delta: Fraction) -> SelectionLaw:
    """The law at (ε, δ), 0 < ε < ∞, 0 < δ < 1; refused where N has more values than are tabulated.

    The first term holds from n while e^(nε) ≤ 1 + (1−δ)/δ·(e^ε − 1)/(e^ε + 1).
    """
    if not level.is_inner or not 0 < delta < 1:
        raise InputError("selection must have 0 < epsilon and 0 < delta < 1, got others", "delta")
    if -2 * _logarithm(delta) / level.epsilon > 4 * MAX_LAW_LENGTH:
        raise _length_error()
    alpha = level.alpha
    crossing = 1 + whole_logarithm(1 + (1 - delta) / delta * (1 - alpha) / (1 + alpha), level)
    unmet = 1 - _rising(level, delta, crossing)
    scale = delta * alpha / (1 - alpha)
    steps = -whole_logarithm((delta + scale) / (unmet + scale), level)
    last = crossing + max(steps, 0) + 1
    if last > MAX_LAW_LENGTH:
        raise _length_error()
    median = crossing if _rising(level, delta, crossing) * 2 >= 1 else crossing + 1
    return SelectionLaw(level, delta, crossing, last, median)


def delta_of_units(level: Level, units: int, bits: int = 4 * FIRST_BITS) -> arb:
    """An interval that contains (e^(kε) − 1)/(e^ε − 1): the δ of k units of one side for each δ of one unit."""
    with working_precision(bits + EXTRA_BITS):
        epsilon = level.epsilon_ball(bits + EXTRA_BITS)
        return (epsilon * units).expm1() / epsilon.expm1()


@lru_cache(maxsize=16)
def selection_table(law: SelectionLaw) -> SamplingTable:
    """The law of N as a table to draw from: N from 1 to L."""
    return table_from_thresholds(partial(_threshold, law), law.last, 1)


def draw_selection(table: SamplingTable, draw_count: int, stream: EntropySource) -> Positions:
    """`draw_count` draws of N, from 0 to 2^40 of them. Nothing here can fail."""
    result = np.empty(draw_count, dtype=np.int64)
    scratch = workspace(draw_count)
    for slab in slabs(result):
        fill_slab(table, slab, stream, scratch)
    return result


def _threshold(law: SelectionLaw, count: int, bits: int) -> Threshold:
    return ball_threshold(partial(law.probability_ball, count), partial(law.probability, count), bits)


def _logarithm(value: Fraction) -> float:
    """ln of a positive fraction, which may be too small for a double."""
    return math.log(value.numerator) - math.log(value.denominator)


def _rising(level: Level, delta: Fraction, count: int) -> Number:
    """δ·(e^(nε) − 1)/(e^ε − 1) = δ·(1 − α^n)/(α^(n−1)·(1 − α))."""
    return delta * (1 - level.power(count)) / (level.power(count - 1) * (1 - level.alpha))


def _probability(level: Level, delta: Fraction, crossing: int, last: int, count: int) -> Number:
    if count <= 0 or count >= last:
        return Fraction(count > 0)
    if count <= crossing:
        return _rising(level, delta, count)
    scale = delta * level.alpha / (1 - level.alpha)
    return 1 + scale - level.power(count - crossing) * (1 - _rising(level, delta, crossing) + scale)


def whole_logarithm(value: Number, level: Level) -> int:
    """The largest whole number n with e^(nε) ≤ value, for a value > 0: decided exactly."""
    bits = FIRST_BITS
    while True:
        with working_precision(bits):
            low, high = ball_endpoints(ball(value, bits).log() / level.epsilon_ball(bits))
        if math.floor(low) == math.floor(high):
            return math.floor(low)
        if high - low < TIE_WIDTH:
            number = math.floor(high)
            return number if _reaches(number, value, level) else number - 1
        bits *= 2


def _reaches(number: int, value: Number, level: Level) -> bool:
    """Is e^(nε) ≤ value."""
    return bool(value * level.power(number) >= 1 if number >= 0 else value >= level.power(-number))


def _length_error() -> InputError:
    return InputError(
        f"epsilon must be larger: a selection may have {MAX_LAW_LENGTH} steps, and 2·ln(1/delta)/epsilon is more",
        "epsilon",
        "raise epsilon or lower the bound of rows a person",
    )
