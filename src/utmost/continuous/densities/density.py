"""Priors over an interval: densities whose moments over cells are known from both sides.

What a continuous mechanism costs is made of integrals ∫ x^k·e^(rate·x)·π(x) dx over cells with rate 0 or ±ε: the
Laplace mechanism's columns are e^(−ε|x−y|). Every family gives them as balls that contain the truth.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from utmost.continuous.densities.beta import Beta
from utmost.continuous.densities.files import read_bins, read_points
from utmost.continuous.densities.moments import Rate, Row
from utmost.continuous.densities.normal import Normal
from utmost.continuous.densities.piecewise_linear import PiecewiseLinear
from utmost.continuous.densities.user_density import UserDensity, callable_density
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import rational

if TYPE_CHECKING:
    from flint import arb

__all__ = [
    "Beta",
    "Density",
    "Normal",
    "PiecewiseLinear",
    "UserDensity",
    "beta",
    "callable_density",
    "from_data",
    "histogram",
    "linear_density",
    "normal",
    "parse_density",
    "uniform_density",
]

DENSITY_FORMS = "uniform, beta:2,5, normal:0.5,0.1 (mean, sd), histogram:FILE or linear:FILE"


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


def uniform_density(interval: Interval) -> PiecewiseLinear:
    """1/length everywhere.

    >>> from utmost.continuous.interval import interval
    >>> [str(mass) for mass in uniform_density(interval(0, 3)).exact_masses([Fraction(0), Fraction(1), Fraction(3)])]
    ['1/3', '2/3']
    """
    height = (1 / interval.length,)
    return PiecewiseLinear(interval, (interval.low, interval.high), height, height, "uniform")


def beta(a: object, b: object, interval: Interval) -> Beta:
    """The beta density with rational parameters a, b > 0, scaled to the interval.

    >>> from utmost.continuous.interval import interval
    >>> beta(2, "1/2", interval(0, 100)).name
    'beta:2,1/2'
    """
    return Beta(interval, rational(a, "beta parameter a"), rational(b, "beta parameter b"))


def normal(mean: object, sd: object, interval: Interval) -> Normal:
    """The normal density of this mean and standard deviation, cut off at the ends and divided by what is left.

    >>> from utmost.continuous.interval import interval
    >>> normal("0.5", "0.1", interval(0, 1)).name
    'normal:1/2,1/10'
    """
    return Normal(interval, rational(mean, "normal mean"), rational(sd, "normal sd"))


def histogram(
    edges: Sequence[object], weights: Sequence[object], interval: Interval | None = None, name: str = "histogram"
) -> PiecewiseLinear:
    """Constant on each bin [edges[i], edges[i+1]], with mass weights[i]; the weights sum to exactly 1.

    >>> histogram([0, 1, 4], ["1/4", "3/4"]).left
    (Fraction(1, 4), Fraction(1, 4))
    """
    knots, masses = _knots(edges), [rational(weight, "histogram weight") for weight in weights]
    if len(masses) != len(knots) - 1:
        raise InputError(f"histogram must have one edge more than weights, got {len(knots)} and {len(masses)}")
    heights = tuple(mass / (v - u) for mass, (u, v) in zip(masses, pairwise(knots), strict=True))
    return PiecewiseLinear(interval or Interval(knots[0], knots[-1]), tuple(knots), heights, heights, name)


def linear_density(
    points: Sequence[tuple[object, object]], interval: Interval | None = None, name: str = "linear"
) -> PiecewiseLinear:
    """Straight between points (x, π(x)), x increasing, with total exactly 1; 0 before the first and after the last.

    >>> linear_density([(0, 0), (1, 2)]).exact_masses([Fraction(0), Fraction(1, 2)])
    [Fraction(1, 4)]
    """
    knots = [rational(x, "density point") for x, _ in points]
    heights = tuple(rational(height, "density height") for _, height in points)
    if len(knots) < 2:
        raise InputError(f"density must have at least two points, got {len(knots)}")
    return PiecewiseLinear(interval or Interval(knots[0], knots[-1]), tuple(knots), heights[:-1], heights[1:], name)


def from_data(values: Iterable[object], edges: Sequence[object], interval: Interval | None = None) -> PiecewiseLinear:
    """The histogram of values in the bins between edges: each bin gets its share of them.

    Bins hold their left edge, the last one both. Shares of private values are themselves private: a prior must come
    from public data, or from a release.

    >>> str(from_data([1, 2, "3.5", 4], [0, 2, 4]).exact_masses([Fraction(0), Fraction(2)])[0])
    '1/4'
    """
    knots = _knots(edges)
    counts = [0] * (len(knots) - 1)
    for value in values:
        x = rational(value, "value")
        if not knots[0] <= x <= knots[-1]:
            raise InputError("values must lie between the first and the last edge, got one outside: clamp it first")
        counts[min(bisect_right(knots, x), len(counts)) - 1] += 1
    if not any(counts):
        raise InputError("values must be at least one, got none")
    return histogram(knots, [Fraction(count, sum(counts)) for count in counts], interval, "histogram from data")


def parse_density(text: str, interval: Interval) -> Density:
    """The density that the command line names: uniform, beta:a,b, normal:mean,sd, histogram:FILE or linear:FILE.

    A histogram's file has a bin a line, `from,to,weight`; the bins touch, and the weights are divided by their sum. A
    broken line's file has a point a line, `x,height`; the heights are divided by their integral. Both may be JSON lists
    of lists, and both lie within the interval.

    >>> from utmost.continuous.interval import interval
    >>> parse_density("beta:2,5", interval(0, 1)) == beta(2, 5, interval(0, 1))
    True
    """
    kind, _, parameters = text.strip().partition(":")
    if kind == "uniform" and not parameters:
        return uniform_density(interval)
    if kind in ("beta", "normal") and parameters.count(",") == 1:
        first, second = parameters.split(",")
        return beta(first, second, interval) if kind == "beta" else normal(first, second, interval)
    if kind == "histogram" and parameters:
        return histogram(*read_bins(Path(parameters)), interval, f"histogram:{Path(parameters).name}")
    if kind == "linear" and parameters:
        return linear_density(read_points(Path(parameters)), interval, f"linear:{Path(parameters).name}")
    raise InputError(f"prior must be {DENSITY_FORMS}, got {text[:60]!r}")


def _knots(edges: Sequence[object]) -> list[Fraction]:
    knots = [rational(edge, "histogram edge") for edge in edges]
    if len(knots) < 2:
        raise InputError(f"histogram must have at least two edges, got {len(knots)}")
    return check_edges(knots, Interval(min(knots), max(knots)))
