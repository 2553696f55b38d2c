"""Nothing for small gaps, 1 for others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.continuous.interval import Interval
from utmost.continuous.losses.loss import ContinuousLoss, ContinuousLossFamily, Floats
from utmost.errors import InputError
from utmost.exact import Number, decimal, rational


@dataclass(frozen=True, slots=True)
class Step(ContinuousLoss):
    """0 if |w − x| ≤ h, else 1: legal, but neither convex nor Lipschitz on an interval longer than h.

    >>> Step(Fraction(1, 10)).exact(Fraction(1, 10), Fraction(0)), Step(Fraction(1, 10)).exact(Fraction(1), Fraction(0))
    (Fraction(0, 1), Fraction(1, 1))
    """

    h: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"step:{self.h}"

    @property
    def convex(self) -> bool:
        """Never on the whole line."""
        return False

    @property
    def jump(self) -> Fraction:
        """At h."""
        return self.h

    def of_gap(self, gap: Fraction) -> Number:
        """1 if |gap| > h, else 0."""
        return Fraction(abs(gap) > self.h)

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        return np.asarray((np.abs(gaps) > float(self.h)).astype(np.float64))

    def lipschitz(self, interval: Interval) -> Number | None:
        """0 where no gap is larger than h; else none, since the loss jumps."""
        return Fraction(0) if self.h >= interval.length else None

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """At the jump."""
        return self.h, 1


def step(h: object) -> Step:
    """0 within h, 1 beyond.

    >>> step("0.1").lipschitz(Interval(Fraction(0), Fraction(1))) is None
    True
    """
    width = rational(h, "step h")
    if width < 0:
        raise InputError(f"step h must be >= 0, got {decimal(width)}: it is the largest gap that costs nothing")
    return Step(width)


STEP = ContinuousLossFamily(kind="step", example="step:0.1", written="step:h", meaning="0 within h, else 1", parse=step)
