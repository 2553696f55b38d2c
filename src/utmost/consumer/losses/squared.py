"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.consumer.losses.loss import ErrorLoss, Floats, Legality, LossFamily
from utmost.exact import Number


@dataclass(frozen=True, slots=True)
class Squared(ErrorLoss):
    """(i − j)²; its best reading is the posterior mean, rounded."""

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "squared"

    def at(self, error: int) -> Number:
        """error²."""
        return Fraction(error**2)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.asarray(np.square(np.subtract(truth, reading, dtype=np.float64)))

    @property
    def monotone(self) -> bool:
        """Always."""
        return True

    @property
    def closed_form(self) -> Squared:
        """Itself: its best reading is the mean."""
        return self

    def at_distance(self, distance: Number) -> Number:
        """distance²."""
        return distance * distance

    def scale(self, step: float) -> float:
        """With the square of the step."""
        return step**2

    def legality(self, size: int) -> Legality:
        """Strictly legal."""
        return Legality(None, None)


squared = Squared()

SQUARED = LossFamily(
    kind="squared",
    example="squared",
    meaning="(i − j)²",
    best_reading="the mean, rounded",
    choice="squared: far off is far worse",
    parse=lambda _: squared,
)
