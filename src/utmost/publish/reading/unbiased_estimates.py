"""Readings that are right on average whatever the truth: what to add up when cells or releases are added up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from utmost.exact import Level, Number
from utmost.exact import epsilon as level_of
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism


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


def unbiased_estimate(mechanism: LatticeMechanism, number: int) -> Number:
    """The same in the value's own unit, exact: irrational at an end that absorbs, the value itself elsewhere."""
    if number not in (mechanism.low, mechanism.high):
        return mechanism.value(number)
    return mechanism.origin + mechanism.unit * unbiased_number(
        number, mechanism.low, mechanism.high, level_of(mechanism.epsilon)
    )


def unbiased_total(mechanism: LatticeMechanism, numbers: Sequence[int]) -> tuple[Number, float]:
    """The unbiased total of cells with independent noise, and a bound on its standard error.

    A conditional mean varies no more than what it is the mean of, so each cell adds at most Var Δ = 2α/(1−α)².
    """
    level = level_of(mechanism.epsilon)
    net_ends = (
        0
        if mechanism.low == mechanism.high
        else sum(n == mechanism.high for n in numbers) - sum(n == mechanism.low for n in numbers)
    )
    total = len(numbers) * mechanism.origin + mechanism.unit * (
        sum(numbers) + (net_ends * mean_overshoot(level) if net_ends else Fraction(0))
    )
    deviation = math.sqrt(len(numbers) / 2) / math.sinh(level.epsilon / 2)
    return total, float(mechanism.unit) * deviation
