"""Losses that are linear on each side of the truth: absolute and asymmetric."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.continuous.interval import Interval
from utmost.continuous.losses.loss import ContinuousLoss, ContinuousLossFamily, Floats
from utmost.errors import InputError
from utmost.exact import Number, decimal, rational


@dataclass(frozen=True, slots=True)
class Linear(ContinuousLoss):
    """`under` for each unit that the reading is below the truth, `over` for each unit above; legal if they are equal.

    >>> Linear(Fraction(2), Fraction(1)).exact(Fraction(0), Fraction(1, 2))
    Fraction(1, 1)
    """

    under: Fraction
    over: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "absolute" if self.under == self.over == 1 else f"asymmetric:{self.under},{self.over}"

    @property
    def legal(self) -> bool:
        """Is it a function of |w − x|."""
        return self.under == self.over

    @property
    def slopes(self) -> tuple[Fraction, Fraction]:
        """Its two slopes."""
        return self.under, self.over

    def of_gap(self, gap: Fraction) -> Number:
        """under·|gap| below 0, over·gap above."""
        return -self.under * gap if gap < 0 else self.over * gap

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        return np.asarray(np.where(gaps < 0, -float(self.under) * gaps, float(self.over) * gaps))

    def lipschitz(self, interval: Interval) -> Number:
        """max(under, over)."""
        return max(self.under, self.over)

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """At 0, on the dearer side."""
        return Fraction(0), 1 if self.over >= self.under else -1


absolute = Linear(Fraction(1), Fraction(1))


def asymmetric(under: object, over: object) -> Linear:
    """`under` a unit for readings below the truth, `over` a unit above; not both zero.

    >>> asymmetric(2, 1).legality_violation(Interval(Fraction(0), Fraction(1)))
    LegalityViolation(truth=Fraction(1, 2), nearer=Fraction(0, 1), farther=Fraction(1, 1))
    """
    low, high = rational(under, "under"), rational(over, "over")
    if low < 0 or high < 0 or not (low or high):
        raise InputError(
            f"under and over must be >= 0 and not both 0, got {decimal(low)} and {decimal(high)}: a "
            "loss is bounded below by 0",
            "under",
        )
    return Linear(low, high)


def _parse_asymmetric(text: str) -> Linear:
    if text.count(",") != 1:
        raise InputError(f"loss must be {ASYMMETRIC.list_entry}, got {text[:60]!r}", "loss")
    return asymmetric(*text.split(","))


ABSOLUTE = ContinuousLossFamily(
    kind="absolute", example="absolute", written="absolute", meaning="|w−x|", parse=lambda _: absolute
)
ASYMMETRIC = ContinuousLossFamily(
    kind="asymmetric",
    example="asymmetric:2,1",
    written="asymmetric:u,o",
    phrase="asymmetric:2,1 (under, over)",
    meaning="u a unit below the truth, o a unit above",
    parse=_parse_asymmetric,
)
