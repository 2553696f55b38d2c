"""Normal densities cut off at the ends of an interval and divided by what is left.

Completing the square, e^(rx)·φ((x−μ)/σ) is e^(rμ + r²σ²/2) times the normal density of mean μ + rσ²: every moment is
made of values of erfc and φ at the edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from utmost.continuous.densities.moments import Cell, Rate, Row, certified_moments, shift_moments
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import ball, decimal
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    Edge: TypeAlias = tuple[arb, arb, arb]

VERY_FAR = 1000  # standard deviations; a rate can move the mean so far
FURTHEST = 1000  # standard deviations that an end may be away from the mean


@dataclass(frozen=True, slots=True)
class Normal:
    """The normal law of this mean and standard deviation, given that it falls in the interval.

    >>> from utmost.continuous.interval import interval
    >>> density = Normal(interval(0, 1), Fraction(1, 2), Fraction(1, 4))
    >>> low, high = density.masses([Fraction(0), Fraction(1, 2), Fraction(1)], 64)
    >>> low.overlaps(high), round(float(low.mid()), 12)
    (True, 0.5)
    """

    interval: Interval
    mean: Fraction
    sd: Fraction

    def __post_init__(self) -> None:
        """Refuses a standard deviation that is not positive, or ends too many of them away."""
        if self.sd <= 0:
            raise InputError(f"normal sd must be > 0, got {decimal(self.sd)}: it is a standard deviation")
        away = max(abs(self.interval.low - self.mean), abs(self.interval.high - self.mean)) / self.sd
        if away > FURTHEST:
            raise InputError(
                f"normal sd must leave both ends of the interval within {FURTHEST} standard deviations of the mean, "
                f"got {decimal(away)} of them: take a larger sd"
            )

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"normal:{self.mean},{self.sd}"

    def at(self, x: Fraction, bits: int) -> arb:
        """π(x)."""
        from flint import arb

        if x not in self.interval:
            return arb(0)
        with working_precision(bits):
            return _peak(ball((x - self.mean) / self.sd, bits)) / (ball(self.sd, bits) * self._total(bits))

    def moments(self, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> list[Row]:
        """∫ x^k·e^(rate·x)·π(x) dx over each cell between edges, k = 0..degree, as balls."""
        cells = list(pairwise(check_edges(edges, self.interval)))
        return certified_moments(cells, rate, degree, bits, self._rows)

    def masses(self, edges: Sequence[Fraction], bits: int) -> list[arb]:
        """∫ π(x) dx over each cell, as balls."""
        return [row[0] for row in self.moments(edges, 0, 0, bits)]

    def exact_masses(self, edges: Sequence[Fraction]) -> None:
        """None: the masses are not rational."""

    def _total(self, bits: int) -> arb:
        """The mass of the whole normal law in the interval."""
        low, high = ((x - self.mean) / self.sd for x in (self.interval.low, self.interval.high))
        return _standard(_edge(ball(low, bits)), _edge(ball(high, bits)), 0)[0]

    def _rows(self, cells: Sequence[Cell], rate: arb, degree: int, bits: int) -> list[Row]:
        mean, sd = ball(self.mean, bits), ball(self.sd, bits)
        centre = mean + rate * sd * sd
        scale = (rate * (mean + centre) / 2).exp() / self._total(bits)
        factors = [scale * sd**k for k in range(degree + 1)]
        known: dict[Fraction, Edge] = {}
        rows = []
        for u, v in cells:
            for x in (u, v):
                if x not in known:
                    known[x] = _edge((ball(x, bits) - centre) / sd)
            row = _standard(known[u], known[v], degree)
            rows.append(shift_moments([m * f for m, f in zip(row, factors, strict=True)], centre))
        return rows


def _peak(z: arb) -> arb:
    """φ(z) = e^(−z²/2)/√(2π)."""
    from flint import arb

    return (-z * z / 2).exp() / (2 * arb.pi()).sqrt()


def _edge(z: arb) -> Edge:
    """z, φ(z) and Pr[Z > |z|]: the small tail, so that far edges lose no digits.

    Very far out it is φ(z)·U(1/2, 1/2, z²/2)/√2 with Tricomi's U, which is erfc without the factor e^(−z²/2).
    """
    from flint import arb

    peak, root = _peak(z), arb(2).sqrt()
    if abs(z) < VERY_FAR:
        return z, peak, (abs(z) / root).erfc() / 2
    return z, peak, peak * (z * z / 2).hypgeom_u(arb(1) / 2, arb(1) / 2) / root


def _standard(low: Edge, high: Edge, degree: int) -> Row:
    """∫ z^k·φ(z) dz between two edges: by parts, (k−1)·(the one of k − 2) + [−z^(k−1)·φ(z)]."""
    (u, at_u, beyond_u), (v, at_v, beyond_v) = low, high
    if v <= 0:
        mass = beyond_v - beyond_u
    elif u >= 0:
        mass = beyond_u - beyond_v
    else:
        mass = _below(high) - _below(low)
    row = [mass, at_u - at_v]
    for k in range(2, degree + 1):
        at_u, at_v = at_u * u, at_v * v
        row.append((k - 1) * row[k - 2] + at_u - at_v)
    return row[: degree + 1]


def _below(edge: Edge) -> arb:
    """Pr[Z < z], also for a ball z that holds 0."""
    z, _, beyond = edge
    if z >= 0:
        return 1 - beyond
    return beyond if z <= 0 else beyond.union(1 - beyond)
