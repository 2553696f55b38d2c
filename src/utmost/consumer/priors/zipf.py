"""The Zipf prior: weights fall as a power of the count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost import exact
from utmost.consumer.family import Parameter, Slider
from utmost.consumer.priors.prior import (
    MAX_EXACT_POINTS,
    Floats,
    Prior,
    PriorFamily,
    check_exact_size,
    check_size,
    normalise_logs,
    short_text,
)
from utmost.errors import InputError
from utmost.exact import Number, rational

MAX_IRRATIONAL_POINTS = 500  # points in exact arithmetic where the weights are irrational
MAX_EXPONENT = 100


@dataclass(frozen=True, slots=True)
class Zipf(Prior):
    """(k+1)^−s, renormalised."""

    size: int
    s: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"zipf:{self.s}"

    @property
    def counts_points(self) -> bool:
        """It is: a law of counts."""
        return True

    def proportions(self) -> tuple[Number, ...]:
        """(k+1)^−s; refused above 5000 points, and above 500 where s is not a whole number."""
        check_exact_size(self, MAX_EXACT_POINTS if self.s.denominator == 1 else MAX_IRRATIONAL_POINTS)
        return tuple(exact.power(k + 1, -self.s) for k in range(self.size))

    def logs(self) -> Floats:
        """−s·ln(k+1), normalised."""
        return normalise_logs(-float(self.s) * np.log(np.arange(1, self.size + 1, dtype=np.float64)))


def zipf(size: int, s: object) -> Zipf:
    """Weights proportional to (k+1)^−s.

    >>> zipf(3, 1).exact()
    (Fraction(6, 11), Fraction(3, 11), Fraction(2, 11))
    """
    exponent = rational(s, "zipf")
    if not 0 <= exponent <= MAX_EXPONENT:
        raise InputError(f"zipf must have an exponent in [0, {MAX_EXPONENT}], got {short_text(exponent)}", "s")
    return Zipf(check_size(size), exponent)


ZIPF = PriorFamily(
    kind="zipf",
    example="zipf:1",
    meaning="weight 1/(k+1)^s",
    choice="small values are likelier (Zipf)",
    parameters=(
        Parameter(
            name="s",
            label="Exponent s",
            description="the exponent",
            default="1",
            slider=Slider("0", "5", step="0.01"),
        ),
    ),
    parse=zipf,
)
