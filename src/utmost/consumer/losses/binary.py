"""Losses that ask only whether the reading is the secret: binary, and its opposite nib."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from utmost.consumer.losses.loss import ErrorLoss, Floats, Legality, LossFamily
from utmost.exact import Number


@dataclass(frozen=True, slots=True)
class Binary(ErrorLoss):
    """0 if the reading is right, else 1; its best reading is the posterior mode."""

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "binary"

    def at(self, error: int) -> Number:
        """1 for every error but 0."""
        return Fraction(error != 0)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.not_equal(truth, reading).astype(np.float64)

    @property
    def monotone(self) -> bool:
        """Always."""
        return True

    @property
    def closed_form(self) -> Binary:
        """Itself: its best reading is the mode."""
        return self

    @property
    def ignores_distance(self) -> bool:
        """Right or wrong on every space."""
        return True

    @property
    def ignores_order(self) -> bool:
        """Right or wrong in every order."""
        return True

    def legality(self, size: int) -> Legality:
        """Legal; not strictly where there are two wrong readings of one truth."""
        return Legality(None, (0, 1, 2) if size > 2 else None)


@dataclass(frozen=True, slots=True)
class Nib(ErrorLoss):
    """1 if the reading is the secret, else 0: the aim is to name something that it is not (FMPD23 eq. 11)."""

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "nib"

    def at(self, error: int) -> Number:
        """1 for no error, else 0."""
        return Fraction(error == 0)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.equal(truth, reading).astype(np.float64)

    @property
    def ignores_distance(self) -> bool:
        """The same on every space."""
        return True

    @property
    def ignores_order(self) -> bool:
        """The same in every order."""
        return True

    def legality(self, size: int) -> Legality:
        """Not legal where there is a wrong reading: it costs less than the truth."""
        witness = (0, 0, 1) if size > 1 else None
        return Legality(witness, witness)


binary = Binary()
nib = Nib()

BINARY = LossFamily(
    kind="binary",
    example="binary",
    meaning="0 if right, else 1",
    best_reading="the mode",
    choice="binary: right or wrong",
    parse=lambda _: binary,
)
NIB = LossFamily(
    kind="nib",
    example="nib",
    meaning="1 if right, else 0",
    best_reading="a least likely value",
    parse=lambda _: nib,
)
