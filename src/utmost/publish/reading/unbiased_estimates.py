"""Readings that are right on average whatever the truth: what to add up when cells or releases are added up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from utmost.exact import Level, Number
from utmost.exact import epsilon as level_of
from utmost.publish.release_model import LatticeMechanism


def beyond(level: Level) -> Number:
    """α/(1−α): how far past an absorbing end the untruncated answer lies on average, given that it passed or met it.

    >>> from utmost.exact import alpha
    >>> beyond(alpha("1/2"))
    Fraction(1, 1)
    """
    return level.alpha / (1 - level.alpha)


def shifted(number: int, low: int | None, high: int | None, level: Level) -> Number:
    """The unbiased reading of a lattice number: itself, low − α/(1−α) at the low end, high + α/(1−α) at the high one.

    Let Z = x + Δ be the answer before truncation and low ≤ x ≤ high. Given Z ≤ low the distance low − Z is k ≥ 0 with
    probability ∝ α^(x − low + k), that is ∝ α^k: it does not depend on x, and its mean is Σ k·α^k / Σ α^k = α/(1−α).
    Likewise above. So this reading is E[Z | published answer] for every x, and its mean is E[Z] = x. ∎ Where the two
    ends are one, the number is known and is its own reading.

    >>> from utmost.exact import alpha
    >>> [shifted(y, 0, 2, alpha("1/2")) for y in range(3)]
    [Fraction(-1, 1), Fraction(1, 1), Fraction(3, 1)]
    """
    if low == high and low is not None:
        return Fraction(number)
    if low is not None and number <= low:
        return low - beyond(level)
    if high is not None and number >= high:
        return high + beyond(level)
    return Fraction(number)


def unbiased_estimate(law: LatticeMechanism, number: int) -> Number:
    """The same in the value's own unit, exact: irrational at an end that absorbs, the value itself elsewhere."""
    if number not in (law.low, law.high):
        return law.value(number)
    return law.origin + law.unit * shifted(number, law.low, law.high, level_of(law.epsilon))


def unbiased_total(law: LatticeMechanism, numbers: Sequence[int]) -> tuple[Number, float]:
    """The unbiased total of cells with independent noise, and a bound on its standard error.

    A conditional mean varies no more than what it is the mean of, so each cell adds at most Var Δ = 2α/(1−α)².
    """
    level = level_of(law.epsilon)
    ends = 0 if law.low == law.high else sum(n == law.high for n in numbers) - sum(n == law.low for n in numbers)
    found = len(numbers) * law.origin + law.unit * (sum(numbers) + (ends * beyond(level) if ends else Fraction(0)))
    deviation = math.sqrt(len(numbers) / 2) / math.sinh(level.epsilon / 2)
    return found, float(law.unit) * deviation
