"""The binomial prior: each person counts with the same probability."""

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
    powers,
)
from utmost.errors import InputError
from utmost.exact import Number, rational


@dataclass(frozen=True, slots=True)
class Binomial(Prior):
    """C(n, k) p^k (1−p)^(n−k) with n = size − 1."""

    size: int
    p: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"binomial:{self.p}"

    @property
    def counts_points(self) -> bool:
        """It is: a law of counts."""
        return True

    def proportions(self) -> tuple[Number, ...]:
        """C(n, k) a^k (b−a)^(n−k) for p = a/b."""
        n, numerator = check_exact_size(self, MAX_EXACT_POINTS) - 1, self.p.numerator
        p_powers, complement_powers = powers(numerator, n), powers(self.p.denominator - numerator, n)
        choose = accumulate(range(n), lambda c, k: c * (n - k) // (k + 1), initial=1)
        return tuple(
            Fraction(c * power * complement_power)
            for c, power, complement_power in zip(choose, p_powers, reversed(complement_powers), strict=True)
        )

    def exact(self) -> tuple[Number, ...]:
        """The weights; refused above 5000 points."""
        total = self.p.denominator ** (check_exact_size(self, MAX_EXACT_POINTS) - 1)
        return tuple(weight / total for weight in self.proportions())

    def logs(self) -> Floats:
        """Sums of ln(π_{k+1}/π_k) outward from the mode."""
        n, p, q = self.size - 1, float(self.p), float(1 - self.p)
        if p in (0, 1):
            return np.where(np.arange(self.size) == n * p, 0.0, -np.inf)
        counts = np.arange(n, dtype=np.float64)
        steps = np.log((n - counts) / (counts + 1) * (p / q))
        return logs_from_mode(steps, min(math.floor((n + 1) * self.p), n))


def binomial(size: int, p: object) -> Binomial:
    """The number of heads among size − 1 coins of bias p.

    >>> binomial(3, "1/2").exact()
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    """
    chance = rational(p, "binomial")
    if not 0 <= chance <= 1:
        raise InputError(f"binomial must have a probability in [0, 1], got {chance}", "p")
    return Binomial(check_size(size), chance)


BINOMIAL = PriorFamily(
    kind="binomial",
    example="binomial:0.3",
    meaning="each of the n persons counts with probability 0.3",
    choice="each person counts with probability p (binomial)",
    parameters=(
        Parameter(
            name="p", label="p", description="the probability", default="1/2", slider=Slider("0", "1", step="0.001")
        ),
    ),
    parse=binomial,
)
