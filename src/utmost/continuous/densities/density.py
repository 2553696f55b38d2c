"""Priors over an interval: densities whose moments over cells are known from both sides.

What a continuous mechanism costs is made of integrals ∫ x^k·e^(rate·x)·π(x) dx over cells with rate 0 or ±ε: the
Laplace mechanism's columns are e^(−ε|x−y|). Every family gives them as balls that contain the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from utmost.continuous.densities.moments import Rate, Row
from utmost.continuous.interval import Interval
from utmost.registry import Family

if TYPE_CHECKING:
    from flint import arb


@runtime_checkable
class Density(Protocol):
    """A probability density π ≥ 0 on an interval, with ∫ π = 1."""

    @property
    def name(self) -> str:
        """How the command line writes it."""

    @property
    def interval(self) -> Interval:
        """Where it lives; it is 0 elsewhere."""

    def at(self, x: Fraction, bits: int) -> arb:
        """π(x) as a ball."""

    def moments(self, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> list[Row]:
        """∫ x^k·e^(rate·x)·π(x) dx over each cell [edges[i], edges[i+1]], for k = 0..degree, as balls.

        Every ball contains the integral. Its radius is at most 2^−bits·X^k times the one of degree 0, X the largest
        |x| of the cell, unless the density or the rate is itself known only within bounds.
        """

    def masses(self, edges: Sequence[Fraction], bits: int) -> list[arb]:
        """∫ π(x) dx over each cell, as balls."""

    def exact_masses(self, edges: Sequence[Fraction]) -> list[Fraction] | None:
        """∫ π(x) dx over each cell where these are rational and known; else None."""


@dataclass(frozen=True, kw_only=True)
class DensityFamily(Family):
    """A family of densities. `parse` makes a member from the text after the colon, or None if that has another form."""

    parse: Callable[[str, Interval], Density | None]
