"""Squared for small gaps, absolute for large ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.continuous.interval import Interval
from utmost.continuous.losses.loss import ContinuousLoss, ContinuousLossFamily, Floats
from utmost.errors import InputError
from utmost.exact import Number, decimal, rational


@dataclass(frozen=True, slots=True)
class Huber(ContinuousLoss):
    """gap²/2 up to k, k·(|gap| − k/2) beyond: squared for small gaps, absolute for large ones.

    >>> Huber(Fraction(1)).exact(Fraction(3), Fraction(0)), Huber(Fraction(1)).exact(Fraction(1, 2), Fraction(0))
    (Fraction(5, 2), Fraction(1, 8))
    """

    k: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"huber:{self.k}"

    def of_gap(self, gap: Fraction) -> Number:
        """gap²/2 or k·(|gap| − k/2)."""
        size = abs(gap)
        return size * size / 2 if size <= self.k else self.k * (size - self.k / 2)

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        size, k = np.abs(gaps), float(self.k)
        return np.asarray(np.where(size <= k, size * size / 2, k * (size - k / 2)))

    def lipschitz(self, interval: Interval) -> Number:
        """min(k, length)."""
        return min(self.k, interval.length)

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """Towards the gap where the slope stops growing, from below."""
        return min(self.k, interval.length), -1


def huber(k: object) -> Huber:
    """Squared up to k, absolute beyond.

    >>> huber("0.1").name
    'huber:1/10'
    """
    knee = rational(k, "huber k")
    if knee <= 0:
        raise InputError(f"huber k must be > 0, got {decimal(knee)}: it is where squared turns into absolute")
    return Huber(knee)


HUBER = ContinuousLossFamily(
    kind="huber",
    example="huber:0.1",
    written="huber:k",
    meaning="(w−x)²/2 up to k, k(|w−x|−k/2) beyond",
    parse=huber,
)
