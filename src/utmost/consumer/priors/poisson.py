"""The Poisson prior: a count of rare events, cut at the largest count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from utmost.consumer.family import Parameter, Slider
from utmost.consumer.priors.prior import (
    MAX_EXACT_POINTS,
    Floats,
    Prior,
    PriorFamily,
    check_exact_size,
    check_size,
    logs_from_mode,
    normalise,
    powers,
    short_text,
)
from utmost.errors import InputError
from utmost.exact import Number, rational

MAX_NORMALISED_POINTS = 2000  # points of the exact weights: their sum has long factors
MAX_MEAN = 10**15


@dataclass(frozen=True, slots=True)
class Poisson(Prior):
    """mean^k/k!, on 0..size−1 and renormalised (the factor e^−mean cancels)."""

    size: int
    mean: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"poisson:{self.mean}"

    @property
    def counts_points(self) -> bool:
        """It is: a law of counts."""
        return True

    def proportions(self) -> tuple[Number, ...]:
        """a^k b^(n−k) n!/k! for mean = a/b."""
        n, top, bottom = check_exact_size(self, MAX_EXACT_POINTS) - 1, self.mean.numerator, self.mean.denominator
        falling = accumulate(range(n, 0, -1), lambda w, k: w * k * bottom, initial=1)
        return tuple(Fraction(w * u) for w, u in zip(reversed(list(falling)), powers(top, n), strict=True))

    def exact(self) -> tuple[Number, ...]:
        """The weights; refused above 2000 points."""
        check_exact_size(self, MAX_NORMALISED_POINTS)
        return normalise(self.proportions())

    def logs(self) -> Floats:
        """Sums of ln(π_{k+1}/π_k) outward from the mode."""
        steps = np.log(float(self.mean) / np.arange(1, self.size, dtype=np.float64))
        return logs_from_mode(steps, min(math.floor(self.mean), self.size - 1))


def poisson(size: int, mean: object) -> Poisson:
    """A Poisson count of this mean, given that it is below `size`.

    >>> poisson(3, 2).exact()
    (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))
    """
    rate = rational(mean, "poisson")
    if not 0 < rate <= MAX_MEAN:
        raise InputError(f"poisson must have a mean > 0 and at most 10^15, got {short_text(rate)}", "mean")
    return Poisson(check_size(size), rate)


POISSON = PriorFamily(
    kind="poisson",
    example="poisson:12.5",
    meaning="a Poisson law cut at n",
    choice="rare events, about so many (Poisson)",
    parameters=(
        Parameter(
            name="mean",
            label="Mean, from the least value on",
            description="the mean",
            slider=Slider("1", None, scale="log"),
            suggest=lambda value, _: "10" if value is None else str(max(value, 1)),
        ),
    ),
    parse=poisson,
)
