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

from utmost.continuous.densities.density import Cell, DensityFamily, Rate, Row, certified_moments, shift_moments
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import ball, decimal, rational
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

    Edge: TypeAlias = tuple[arb, arb, arb]

FAR_TAIL_DEVIATIONS = 1000  # standard deviations; a rate can move the mean so far
MAX_END_DEVIATIONS = 1000  # standard deviations that an end may be away from the mean


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
        deviations = max(abs(self.interval.low - self.mean), abs(self.interval.high - self.mean)) / self.sd
        if deviations > MAX_END_DEVIATIONS:
            raise InputError(
                f"normal sd must leave both ends of the interval within {MAX_END_DEVIATIONS} standard "
                f"deviations of the mean, got {decimal(deviations)} of them",
                hint="take a larger sd",
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
            return _standard_density(ball((x - self.mean) / self.sd, bits)) / (ball(self.sd, bits) * self._total(bits))

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
        return _standard_moments(_edge_terms(ball(low, bits)), _edge_terms(ball(high, bits)), 0)[0]

    def _rows(self, cells: Sequence[Cell], rate: arb, degree: int, bits: int) -> list[Row]:
        mean, sd = ball(self.mean, bits), ball(self.sd, bits)
        centre = mean + rate * sd * sd
        scale = (rate * (mean + centre) / 2).exp() / self._total(bits)
        factors = [scale * sd**k for k in range(degree + 1)]
        edge_by_x: dict[Fraction, Edge] = {}
        rows = []
        for u, v in cells:
            for x in (u, v):
                if x not in edge_by_x:
                    edge_by_x[x] = _edge_terms((ball(x, bits) - centre) / sd)
            row = _standard_moments(edge_by_x[u], edge_by_x[v], degree)
            rows.append(shift_moments([m * f for m, f in zip(row, factors, strict=True)], centre))
        return rows


def _standard_density(z: arb) -> arb:
    """φ(z) = e^(−z²/2)/√(2π)."""
    from flint import arb

    return (-z * z / 2).exp() / (2 * arb.pi()).sqrt()


def _edge_terms(z: arb) -> Edge:
    """z, φ(z) and Pr[Z > |z|]: the small tail, so that far edges lose no digits.

    Very far out it is φ(z)·U(1/2, 1/2, z²/2)/√2 with Tricomi's U, which is erfc without the factor e^(−z²/2).
    """
    from flint import arb

    density, root = _standard_density(z), arb(2).sqrt()
    if abs(z) < FAR_TAIL_DEVIATIONS:
        return z, density, (abs(z) / root).erfc() / 2
    return z, density, density * (z * z / 2).hypgeom_u(arb(1) / 2, arb(1) / 2) / root


def _standard_moments(low: Edge, high: Edge, degree: int) -> Row:
    """∫ z^k·φ(z) dz between two edges: by parts, (k−1)·(the one of k − 2) + [−z^(k−1)·φ(z)]."""
    (u, density_u, tail_u), (v, density_v, tail_v) = low, high
    if v <= 0:
        mass = tail_v - tail_u
    elif u >= 0:
        mass = tail_u - tail_v
    else:
        mass = _distribution_function(high) - _distribution_function(low)
    row = [mass, density_u - density_v]
    for k in range(2, degree + 1):
        density_u, density_v = density_u * u, density_v * v
        row.append((k - 1) * row[k - 2] + density_u - density_v)
    return row[: degree + 1]


def _distribution_function(edge: Edge) -> arb:
    """Pr[Z < z], also for a ball z that holds 0."""
    z, _, tail = edge
    if z >= 0:
        return 1 - tail
    return tail if z <= 0 else tail.union(1 - tail)


def normal(mean: object, sd: object, interval: Interval) -> Normal:
    """The normal density of this mean and standard deviation, cut off at the ends and divided by what is left.

    >>> from utmost.continuous.interval import interval
    >>> normal("0.5", "0.1", interval(0, 1)).name
    'normal:1/2,1/10'
    """
    return Normal(interval, rational(mean, "normal mean"), rational(sd, "normal sd"))


def _parse_normal(text: str, interval: Interval) -> Normal | None:
    first, comma, second = text.partition(",")
    return normal(first, second, interval) if comma and "," not in second else None


NORMAL = DensityFamily(
    kind="normal",
    example="normal:0.5,0.1",
    phrase="normal:0.5,0.1 (mean, sd)",
    meaning="normal with this mean and standard deviation, cut off at the ends and divided by what is left",
    parse=_parse_normal,
)
