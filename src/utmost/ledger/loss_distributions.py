"""Certified composition of privacy-loss distributions: all laws together, with bounds that no rounding can cross.

The losses of independent answers add, so their measures convolve. `utmost.ledger.loss_measures` proves that every step
keeps an upper measure above and a lower one below. Equal laws are composed first, by squaring, each on its own grid;
then all groups on a common one, the shortest first. Floats decide nothing but the spacing of the common grid.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from utmost.errors import InputError
from utmost.ledger.loss_laws import LossLaw, merge_concentrated
from utmost.ledger.loss_measures import GUARD_BITS, MAX_POINTS, LossMeasure, convolve, regrid, thin

CACHE_ENTRIES = 128  # of measures, each of up to a few megabytes


@dataclass(frozen=True, slots=True)
class TotalLoss:
    """What many answers tell together: an upper and a lower measure for each direction; Σ ε if all have δ = 0."""

    upper: tuple[LossMeasure, ...]
    lower: tuple[LossMeasure, ...]
    basic: Fraction | None

    def epsilon_bounds(self, delta: Fraction) -> tuple[Fraction, Fraction | None]:
        """Bounds of the least ε ≥ 0 at δ; the upper one is None where no ε is known to do."""
        bounds = [measure.epsilon(delta) for measure in self.lower]
        lower = max((bound for bound in bounds if bound is not None), default=Fraction(0))
        return lower, self.epsilon_above(delta)

    def epsilon_above(self, delta: Fraction) -> Fraction | None:
        """An ε, never below the least one at δ and never above Σ ε; None where none is known to do."""
        bounds = [measure.epsilon(delta) for measure in self.upper]
        finite = [bound for bound in bounds if bound is not None]
        candidates = [max(finite)] if len(finite) == len(bounds) else []
        return min([*candidates, *([] if self.basic is None else [self.basic])], default=None)

    def delta_bounds(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of δ(ε)."""
        lower = max((measure.delta(epsilon) for measure in self.lower), default=Fraction(0))
        if self.basic is not None and epsilon >= self.basic:
            return Fraction(0), Fraction(0)
        return lower, max(measure.delta(epsilon) for measure in self.upper)


def compose(laws: Mapping[LossLaw, int], delta: Fraction, *, with_lower: bool = True) -> TotalLoss:
    """All laws together, as often as counted, with an accuracy that suits δ > 0; at any other δ bounds stay bounds.

    A law that differs by direction (`is_symmetric` is false) is taken in one direction for all, then in the other: that
    is enough where a change of the table moves all such answers the same way, as adding or removing a unit does.

    >>> from utmost.ledger.loss_laws import GeometricLoss
    >>> total = compose({GeometricLoss(Fraction(1, 10)): 100}, Fraction(1, 10**6))
    >>> [round(float(bound), 6) for bound in total.epsilon_bounds(Fraction(1, 10**6))]
    [4.774568, 4.774568]
    """
    counts = merge_concentrated(Counter({law: times for law, times in laws.items() if times > 0}))
    if not 0 < delta < 1 or not counts:
        raise InputError("a composition must have laws and 0 < delta < 1, got others", "delta")
    bits = math.ceil(1 / delta).bit_length() + counts.total().bit_length() + GUARD_BITS
    directions = (False,) if all(law.is_symmetric for law in counts) else (False, True)
    upper = tuple(_compose_measures(counts, bits, True, direction) for direction in directions)
    lower = tuple(_compose_measures(counts, bits, False, direction) for direction in directions if with_lower)
    return TotalLoss(upper, lower, _basic_epsilon(counts))


def _basic_epsilon(counts: Counter[LossLaw]) -> Fraction | None:
    """Σ ε, if every law has an ε at δ = 0."""
    total = Fraction(0)
    for law, times in counts.items():
        if law.pure_epsilon is None:
            return None
        total += law.pure_epsilon * times
    return total


def _compose_measures(counts: Counter[LossLaw], bits: int, is_upper: bool, direction: bool) -> LossMeasure:
    """One group for each law, then all of them, the shortest two first."""
    groups = [_power(law, times, bits, is_upper, direction and not law.is_symmetric) for law, times in counts.items()]
    if len(groups) == 1:
        return groups[0]
    spacing = _common_spacing(groups)
    queue = [(group.masses.length(), place, regrid(group, spacing)) for place, group in enumerate(groups)]
    heapq.heapify(queue)
    for place in range(len(groups), 2 * len(groups) - 1):
        (_, _, first), (_, _, second) = heapq.heappop(queue), heapq.heappop(queue)
        joint = convolve(first, second)
        heapq.heappush(queue, (joint.masses.length(), place, joint))
    return queue[0][2]


@lru_cache(maxsize=CACHE_ENTRIES)
def _power(law: LossLaw, times: int, bits: int, is_upper: bool, direction: bool) -> LossMeasure:
    """A law composed with itself, by squaring; coarser where it would have too many points."""
    if times == 1:
        return thin(law.measure(bits, is_upper, direction))
    half = 1 << (times.bit_length() - 1)
    if times == half:
        root = _power(law, half // 2, bits, is_upper, direction)
        return convolve(root, root)
    high, low = (_power(law, part, bits, is_upper, direction) for part in (half, times - half))
    return convolve(high, low)


def _common_spacing(groups: Sequence[LossMeasure]) -> Fraction:
    """The greatest common divisor of all spacings, if that gives few points; otherwise a power of two that does."""
    widths = [float(group.spacing * group.masses.length()) for group in groups]
    width = math.sqrt(math.fsum(amount**2 for amount in widths))
    denominator = math.lcm(*(group.spacing.denominator for group in groups))
    divisor = Fraction(math.gcd(*(int(group.spacing * denominator) for group in groups)), denominator)
    if width <= float(divisor) * MAX_POINTS:
        return divisor
    return Fraction(2) ** math.floor(math.log2(width / MAX_POINTS))
