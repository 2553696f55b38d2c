"""Powers of the distance, squared among them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost import exact
from utmost.continuous.interval import Interval
from utmost.continuous.losses.loss import ContinuousLoss, ContinuousLossFamily, Floats
from utmost.errors import InputError
from utmost.exact import Number, decimal, rational

MAX_POWER = 32


@dataclass(frozen=True, slots=True)
class Power(ContinuousLoss):
    """|w − x|^p for a rational p > 0; convex and Lipschitz for p ≥ 1 only.

    >>> str(Power(Fraction(3, 2)).exact(Fraction(2), Fraction(0))), Power(Fraction(1, 2)).convex
    ('2*2^(1/2)', False)
    """

    p: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "squared" if self.p == 2 else f"power:{self.p}"

    @property
    def convex(self) -> bool:
        """p ≥ 1."""
        return self.p >= 1

    def of_gap(self, gap: Fraction) -> Number:
        """|gap|^p, as a `Real` where it is irrational."""
        return exact.power(abs(gap), self.p)

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        return np.asarray(np.abs(gaps) ** float(self.p))

    def lipschitz(self, interval: Interval) -> Number | None:
        """p·length^(p−1) for p ≥ 1; none below, where the slope at 0 is infinite."""
        return self.p * exact.power(interval.length, self.p - 1) if self.p >= 1 else None

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """At the largest gap for p ≥ 1, at 0 below."""
        return (interval.length, -1) if self.p >= 1 else (Fraction(0), 1)


squared = Power(Fraction(2))


def power(p: object) -> Power:
    """|w − x|^p.

    >>> power("1.5").name, power(2) == squared
    ('power:3/2', True)
    """
    exponent = rational(p, "power")
    if not 0 < exponent <= MAX_POWER:
        raise InputError(
            f"power must be > 0 and at most {MAX_POWER}, got {decimal(exponent)}: a loss is bounded below by 0", "power"
        )
    return Power(exponent)


SQUARED = ContinuousLossFamily(
    kind="squared", example="squared", written="squared", meaning="(w−x)²", parse=lambda _: squared
)
POWER = ContinuousLossFamily(kind="power", example="power:1.5", written="power:p", meaning="|w−x|^p", parse=power)
