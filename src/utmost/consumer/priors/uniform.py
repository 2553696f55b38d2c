"""The uniform prior: every count alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from utmost.consumer.priors.prior import Floats, Prior, PriorFamily, check_size
from utmost.exact import Number


@dataclass(frozen=True, slots=True)
class Uniform(Prior):
    """1/size each."""

    size: int
    name: str = field(default="uniform", init=False)

    def proportions(self) -> tuple[Number, ...]:
        """All 1."""
        return (Fraction(1),) * self.size

    def exact(self) -> tuple[Number, ...]:
        """All 1/size."""
        return (Fraction(1, self.size),) * self.size

    def logs(self) -> Floats:
        """All −ln size."""
        return np.full(self.size, -math.log(self.size))


def uniform(size: int) -> Uniform:
    """Every count alike.

    >>> uniform(3).exact()
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """
    return Uniform(check_size(size))


UNIFORM = PriorFamily(
    kind="uniform",
    example="uniform",
    meaning="every count is as likely",
    choice="nothing: every value alike (uniform)",
    parse=lambda size, _: uniform(size),
)
