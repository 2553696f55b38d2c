"""Losses that are linear on each side of the truth: absolute and asymmetric."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.consumer.family import Parameter, Slider
from utmost.consumer.losses.loss import ErrorLoss, Floats, Legality, LossFamily
from utmost.errors import InputError
from utmost.exact import Number, number, sign


@dataclass(frozen=True, slots=True)
class Linear(ErrorLoss):
    """`under` for each unit that the reading is below the truth, `over` for each unit above.

    >>> Linear(Fraction(2), Fraction(1)).exact(5, 3), Linear(Fraction(2), Fraction(1)).exact(3, 5)
    (Fraction(4, 1), Fraction(2, 1))
    """

    under: Number
    over: Number

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "absolute" if self.under == self.over == 1 else f"asymmetric:{self.under},{self.over}"

    def at(self, error: int) -> Number:
        """under·|error| below 0, over·error above."""
        return self.under * -error if error < 0 else self.over * error

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        gap = np.subtract(reading, truth, dtype=np.float64)
        return np.asarray(np.where(gap < 0, -float(self.under) * gap, float(self.over) * gap))

    @property
    def monotone(self) -> bool:
        """Always."""
        return True

    @property
    def closed_form(self) -> Linear:
        """Itself: its best reading is a quantile."""
        return self

    def at_distance(self, distance: Number) -> Number:
        """over·distance where both sides cost the same; else refused."""
        return self.over * distance if self.under == self.over else ErrorLoss.at_distance(self, distance)

    def scale(self, step: float) -> float:
        """In proportion to the step."""
        return step

    def legality(self, size: int) -> Legality:
        """Legal if both sides cost the same; else 0 and 2 are equally far from 1 and cost differently."""
        if self.under == self.over:
            return Legality(None, None)
        return Legality((1, 0, 2), (1, 0, 2)) if size > 2 else ErrorLoss.legality(self, size)


absolute = Linear(Fraction(1), Fraction(1))


def asymmetric(under: object, over: object) -> Linear:
    """`under` a unit for readings below the truth, `over` a unit above; not both zero.

    >>> asymmetric(2, 1).name
    'asymmetric:2,1'
    """
    low, high = number(under, "under"), number(over, "over")
    if sign(low) < 0 or sign(high) < 0 or not (low or high):
        raise InputError(
            f"under and over must be >= 0 and not both 0, got {low} and {high}", "under", "they are losses per unit"
        )
    return Linear(low, high)


def _parse_asymmetric(text: str) -> Linear:
    if text.count(",") != 1:
        raise InputError(
            f"loss must be {ASYMMETRIC.example}, the cost of a unit below and above, got {text[:60]!r}", "loss"
        )
    return asymmetric(*text.split(","))


ABSOLUTE = LossFamily(
    kind="absolute",
    example="absolute",
    meaning="|i − j|",
    best_reading="a median",
    choice="absolute: how far off",
    parse=lambda _: absolute,
)
ASYMMETRIC = LossFamily(
    kind="asymmetric",
    example="asymmetric:2,1",
    meaning="2 a unit below the truth, 1 a unit above",
    best_reading="a quantile",
    choice="asymmetric: one side hurts more",
    parameters=(
        Parameter(
            name="under",
            label="A unit below the truth",
            description="the cost of a unit below the truth",
            default="2",
            slider=Slider("0", "10", step="0.1"),
        ),
        Parameter(
            name="over",
            label="A unit above the truth",
            description="the cost of a unit above the truth",
            default="1",
            slider=Slider("0", "10", step="0.1"),
        ),
    ),
    parse=_parse_asymmetric,
)
