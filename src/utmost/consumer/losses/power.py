"""Powers of the distance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from utmost import exact
from utmost.consumer.family import Parameter, Slider
from utmost.consumer.losses.linear import Linear, absolute
from utmost.consumer.losses.loss import ErrorLoss, Exacts, Floats, Legality, LossFamily, matrix_by_error
from utmost.consumer.losses.squared import Squared, squared
from utmost.errors import InputError
from utmost.exact import Number, rational

MAX_POWER = 32
CLOSED_FORMS: dict[Fraction, Linear | Squared] = {Fraction(1): absolute, Fraction(2): squared}


@dataclass(frozen=True, slots=True)
class Power(ErrorLoss):
    """|i − j|^p for a rational p > 0; exact as a `Real` where it is irrational.

    >>> str(Power(Fraction(3, 2)).exact(5, 3))
    '2*2^(1/2)'
    """

    p: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"power:{self.p}"

    def at(self, error: int) -> Number:
        """|error|^p."""
        return _power(abs(error), self.p)

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.asarray(np.abs(np.subtract(truth, reading, dtype=np.float64)) ** float(self.p))

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        costs = [_power(gap, self.p) for gap in range(size)]
        return matrix_by_error(costs, costs)

    @property
    def monotone(self) -> bool:
        """Always."""
        return True

    @property
    def closed_form(self) -> Linear | Squared | None:
        """The absolute loss for p = 1, the squared loss for p = 2."""
        return CLOSED_FORMS.get(self.p)

    def at_distance(self, distance: Number) -> Number:
        """distance^p, where that can be written exactly."""
        square = distance * distance
        if isinstance(square, Fraction):
            return exact.power(square, self.p / 2)
        if self.p.denominator == 1:
            return distance ** int(self.p)
        raise InputError(
            f"loss {self.name} cannot be written exactly at a distance that is a sum of roots",
            "loss",
            "take a whole power",
        )

    def scale(self, step: float) -> float:
        """With the same power of the step."""
        try:
            return float(step ** float(self.p))
        except OverflowError:
            raise InputError(
                f"loss power:{float(self.p):g} is too steep for values {step:g} apart", "loss", "take a lower power"
            ) from None

    def legality(self, size: int) -> Legality:
        """Strictly legal."""
        return Legality(None, None)


@lru_cache(maxsize=1 << 16)
def _power(gap: int, p: Fraction) -> Number:
    return exact.power(gap, p)


def power(p: object) -> Power:
    """|i − j|^p.

    >>> power("1.5").name
    'power:3/2'
    """
    exponent = rational(p, "power")
    if not 0 < exponent <= MAX_POWER:
        raise InputError(
            f"power must be > 0 and at most {MAX_POWER}, got {exponent}", "power", "for 0 use the loss binary"
        )
    return Power(exponent)


POWER = LossFamily(
    kind="power",
    example="power:1.5",
    meaning="|i − j|^1.5",
    choice="power: |error|^p",
    parameters=(
        Parameter(
            name="power",
            label="Exponent p",
            description="the exponent",
            default="3/2",
            slider=Slider("0.1", "4", step="0.1"),
        ),
    ),
    parse=power,
)
