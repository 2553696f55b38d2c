"""The truncated Laplace law on an interval (FMM21 Def. 4), and pixelation between an interval and a grid.

Given x in [a, b] the answer y has density (ε/2)·e^(−ε|x−y|) strictly between the ends; what would fall below a is
answered by a, with mass e^(−ε(x−a))/2, and what would fall above b by b, with mass e^(−ε(b−x))/2. (The paper prints
e^(εx)/2 and e^(ε(1−x))/2 for [0, 1], whose signs are wrong: the total would not be 1.) It is ε-private for the distance
on the line: densities and end masses of x and x′ have ratio at most e^(ε|x−x′|).

Pixelation between an interval and a grid: U_N, ⌊·⌋_N, π_N, M_N, ℓ_N, G_N and ᵀL of FMM21 §VI and §VII.

The N cells of [a, b] are [a + k·h, a + (k+1)·h), h = (b−a)/N, and the last one contains b as well. A density becomes a
prior on U_N by putting each cell's mass on its left end (so b itself has mass 0); a channel or a loss on U_N becomes an
N-step function on [a, b] by looking up the left end of the cell. Every entry of every channel here is exact: a fraction
where the powers α^(rational) that it needs are fractions, a `Real` otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from utmost.channel import Channel, Matrix
from utmost.channel.channel import trusted_channel
from utmost.consumer import priors
from utmost.consumer.losses import Table
from utmost.consumer.priors import Prior
from utmost.continuous.densities import Density
from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, ball, integer, number, rational, sign
from utmost.exact.reals import prime_exponents
from utmost.exact.surds import Exponent
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.geometric import Geometric

if TYPE_CHECKING:
    from flint import arb

HALF = Fraction(1, 2)
BALL_BITS = 128  # of balls, where nothing else is said


@dataclass(frozen=True, slots=True)
class TruncatedLaplace:
    """The mechanism x ↦ law(x) on [a, b], with ε a unit of distance.

    >>> from utmost.continuous.interval import interval
    >>> from utmost.exact import alpha
    >>> law = TruncatedLaplace(interval(0, 1), alpha("1/4")).law("1/2")
    >>> str(law.low_atom), str(law.high_atom), str(law.cdf("1/2"))
    ('1/4', '1/4', '1/2')
    """

    interval: Interval
    level: Level

    def __post_init__(self) -> None:
        """Refuses levels without a law."""
        if not self.level.is_inner:
            raise InputError(
                "level must have 0 < alpha < 1, that is 0 < epsilon < infinity, for Laplace noise", "level"
            )

    def law(self, x: object) -> Law:
        """The law of the answer when the truth is x."""
        truth = rational(x, "x")
        if truth not in self.interval:
            raise InputError(f"x must be in the interval {self.interval}", "x", "clamp it first")
        return Law(self.interval, self.level, truth)


@dataclass(frozen=True, slots=True)
class Law:
    """The law of the answer at one truth. Exact where α^distance is, else a ball of the bits asked for."""

    interval: Interval
    level: Level
    x: Fraction

    @property
    def low_atom(self) -> Number:
        """Pr[Y = a] = e^(−ε(x−a))/2."""
        return HALF * self.level.power(self.x - self.interval.low)

    @property
    def high_atom(self) -> Number:
        """Pr[Y = b] = e^(−ε(b−x))/2."""
        return HALF * self.level.power(self.interval.high - self.x)

    def density(self, y: object, bits: int = BALL_BITS) -> Number | arb:
        """(ε/2)·e^(−ε|x−y|) strictly between the ends, 0 elsewhere; exact where ε is rational."""
        answer = rational(y, "y")
        if not self.interval.low < answer < self.interval.high:
            return Fraction(0)
        share = HALF * self.level.power(abs(self.x - answer))
        if self.level.exponent is not None:
            return self.level.exponent * share
        with working_precision(bits):
            return self.level.epsilon_ball(bits) * ball(share, bits)

    def cdf(self, y: object) -> Number:
        """Pr[Y ≤ y]: e^(−ε(x−y))/2 from a to x, 1 − e^(−ε(y−x))/2 from x to before b, and 1 from b."""
        answer = rational(y, "y")
        if answer < self.interval.low:
            return Fraction(0)
        if answer >= self.interval.high:
            return Fraction(1)
        tail = HALF * self.level.power(abs(self.x - answer))
        return tail if answer < self.x else 1 - tail

    def between(self, low: object, high: object) -> Number:
        """Pr[low < Y < high] for low ≤ high within the interval: no end mass is counted."""
        u, v = rational(low, "low"), rational(high, "high")
        if not self.interval.low <= u <= v <= self.interval.high:
            raise InputError(f"low and high must be in this order within the interval {self.interval}", "low")
        if u == v:
            return Fraction(0)
        below = self.cdf(u) if u < self.interval.high else 1 - self.high_atom
        above = self.cdf(v) if v < self.interval.high else 1 - self.high_atom
        return above - below

    def masses(self, edges: Sequence[Fraction]) -> list[Number]:
        """Pr[Y in the cell] of each cell; cells hold their left edge, and the last one its right one if that is b.

        Over the edges from a to b they sum to exactly 1: the partition of FMM21 eq. 12.
        """
        cell_edges = check_edges(edges, self.interval)
        distribution = [self._below(edge) for edge in cell_edges[:-1]]
        distribution.append(Fraction(1) if cell_edges[-1] == self.interval.high else self._below(cell_edges[-1]))
        return [v - u for u, v in pairwise(distribution)]

    def _below(self, y: Fraction) -> Number:
        """Pr[Y < y] for y before b."""
        return Fraction(0) if y == self.interval.low else self.cdf(y)

    def quantile(self, p: object, bits: int = BALL_BITS) -> Number | arb:
        """The least y with Pr[Y ≤ y] ≥ p, for 0 < p ≤ 1: x + ln(2p)/ε up to 1/2, x − ln(2−2p)/ε above, kept to [a, b].

        Exact where it is an end or x, and where 2p or 2 − 2p is a rational power of α; else a ball.
        """
        share = number(p, "p")
        if sign(share) <= 0 or share > 1:
            raise InputError("p must be in (0, 1]: it is a probability", "p")
        if share <= self.low_atom:
            return self.interval.low
        if share > 1 - self.high_atom:
            return self.interval.high
        if share <= HALF:
            return self._quantile_at(2 * share, -1, bits)
        return self._quantile_at(2 - 2 * share, 1, bits)

    def _quantile_at(self, ratio: Number, side: int, bits: int) -> Number | arb:
        """x + side·t with α^t = ratio."""
        if ratio == 1:
            return self.x
        exponent = _alpha_exponent(ratio, self.level)
        if exponent is not None:
            return self.x + side * exponent
        with working_precision(bits):
            return ball(self.x, bits) - side * ball(ratio, bits).log() / self.level.epsilon_ball(bits)

    def moments(self, degree: int, bits: int = BALL_BITS) -> list[Number | arb]:
        """E[Y^k] for k = 0..degree; exact where ε is rational.

        By parts: the part below x with a's mass has L_k = x^k/2 − (k/ε)·L°_(k−1), where L° leaves that mass out, and
        the part above x has the same with the other sign and b. So each is a polynomial in 1/ε, its coefficients exact.
        """
        below = self._side_coefficients(self.interval.low, self.low_atom, -1, degree)
        above = self._side_coefficients(self.interval.high, self.high_atom, 1, degree)
        return [
            self._evaluate([u + v for u, v in zip(*pair, strict=True)], bits) for pair in zip(below, above, strict=True)
        ]

    def _side_coefficients(self, end: Fraction, atom: Number, side: int, degree: int) -> list[list[Number]]:
        """For each k the coefficients of 1, 1/ε, 1/ε², … of the moment of one side of x, with the end's mass."""
        coefficients: list[list[Number]] = []
        without_atom: list[Number] = []
        for k in range(degree + 1):
            coefficients.append([HALF * self.x**k, *(side * k * c for c in without_atom)])
            without_atom = [coefficients[k][0] - atom * end**k, *coefficients[k][1:]]
        return coefficients

    def _evaluate(self, coefficients: Sequence[Number], bits: int) -> Number | arb:
        """Σ_j coefficients[j]/ε^j."""
        from flint import arb

        if self.level.exponent is not None:
            rate = self.level.exponent
            return sum((c / rate**j for j, c in enumerate(coefficients)), Fraction(0))
        with working_precision(bits):
            inverse, total = 1 / self.level.epsilon_ball(bits), arb(0)
            for coefficient in reversed(coefficients):
                total = total * inverse + ball(coefficient, bits)
            return total


def _alpha_exponent(ratio: Number, level: Level) -> Fraction | None:
    """The rational t with α^t = ratio, where it is seen: powers of e for a rational ε, of primes for a rational α."""
    if level.exponent is not None:
        logarithm = ratio.logarithm() if isinstance(ratio, Real) else None
        return None if logarithm is None else -logarithm / level.exponent
    base, exponents = prime_exponents(level.alpha), prime_exponents(ratio)
    if not base or not exponents or base.keys() != exponents.keys():
        return None
    powers = {_quotient(exponents[prime], base[prime]) for prime in base}
    return powers.pop() if len(powers) == 1 else None


def _quotient(numerator: Exponent, denominator: Exponent) -> Fraction | None:
    return numerator / denominator if isinstance(numerator, Fraction) and isinstance(denominator, Fraction) else None


MAX_GRID_CELLS = 10**7  # cells; more is refused wherever a grid is asked for
MAX_CHANNEL_CELLS = 2000  # cells of a grid whose matrices are written out


@dataclass(frozen=True, slots=True)
class PixelGrid:
    """U_N on an interval: the points low + k·step for k = 0 … count (FMM21 §VI-A).

    >>> from utmost.continuous.interval import interval
    >>> grid = pixel_grid(interval(0, 1), 4)
    >>> [str(point) for point in grid.points], grid.step
    (['0', '1/4', '1/2', '3/4', '1'], Fraction(1, 4))
    >>> grid.cell("1/2"), grid.cell("5/8"), grid.cell(1)
    (2, 2, 3)
    """

    interval: Interval
    count: int

    @property
    def step(self) -> Fraction:
        """The width of a cell."""
        return self.interval.length / self.count

    @property
    def points(self) -> tuple[Fraction, ...]:
        """The count + 1 points."""
        return tuple(self.interval.grid(self.count))

    @property
    def labels(self) -> tuple[str, ...]:
        """The points as names of a channel's inputs and outputs."""
        return tuple(map(str, self.points))

    def floor(self, x: object) -> Fraction:
        """⌊x⌋_N, the largest point that is not above x (FMM21 Def. 6)."""
        offset = self._check_input(x) - self.interval.low
        return self.interval.low + offset // self.step * self.step

    def cell(self, x: object) -> int:
        """The number of the cell that x is in: that of ⌊x⌋_N, and count − 1 at the upper end (FMM21 Def. 7)."""
        offset = self._check_input(x) - self.interval.low
        return min(int(offset // self.step), self.count - 1)

    def level(self, level: Level) -> Level:
        """The level a step apart: α^h, the ratio that privacy allows between neighbours.

        >>> from utmost.continuous.interval import interval
        >>> from utmost.exact import alpha
        >>> pixel_grid(interval(0, 1), 2).level(alpha("1/16")).alpha
        Fraction(1, 4)
        """
        exponent = None if level.exponent is None else level.exponent * self.step
        return Level(level.power(self.step), exponent)

    def _check_input(self, x: object) -> Fraction:
        value = rational(x, "x")
        if value not in self.interval:
            raise InputError(f"x must be within the interval {self.interval}", "x")
        return value


def pixel_grid(interval: Interval, count: object) -> PixelGrid:
    """The grid of `count` cells of an interval."""
    cells = integer(count, "N")
    if not 1 <= cells <= MAX_GRID_CELLS:
        raise InputError(f"N must be from 1 to {MAX_GRID_CELLS}, got {cells if cells < 10**30 else 'more'}", "N")
    return PixelGrid(interval, cells)


def pixelate(density: Density, grid: PixelGrid) -> Prior:
    """π_N: the mass of each cell on its left end, 0 on the upper end of the interval (FMM21 §VI-B); exact.

    >>> from utmost.continuous.densities import uniform_density
    >>> from utmost.continuous.interval import interval
    >>> unit = interval(0, 1)
    >>> [str(weight) for weight in pixelate(uniform_density(unit), pixel_grid(unit, 2)).exact()]
    ['1/2', '1/2', '0']
    """
    masses = density.exact_masses(grid.points)
    if masses is None:
        raise InputError(
            f"density {density.name} must have rational masses here: its .masses are balls, of any density"
        )
    return priors.explicit([*masses, Fraction(0)])


@dataclass(frozen=True, slots=True)
class Stepped:
    """M_N: a channel on U_N as an N-step mechanism on the interval (FMM21 Def. 7).

    It is private at the channel's level between points of U_N, not on the interval: across an edge, however near two
    values are, the law changes by a whole step.
    """

    grid: PixelGrid
    channel: Channel

    def __post_init__(self) -> None:
        if len(self.channel.inputs) != self.grid.count + 1:
            raise InputError(
                f"channel must have {self.grid.count + 1} inputs, the points of the grid, got "
                f"{len(self.channel.inputs)}",
                "channel",
            )

    def law(self, x: object) -> Matrix:
        """The law of the output for any x of the interval."""
        row: Matrix = self.channel.rows[self.grid.cell(x)]
        return row


@dataclass(frozen=True, slots=True)
class SteppedLoss:
    """ℓ_N: a loss on U_N, rows for its points and columns for readings, as an N-step function of x (FMM21 Def. 7)."""

    grid: PixelGrid
    table: Table

    def exact(self, x: object, w: int) -> Number:
        """ℓ_N(w, x) for any x of the interval."""
        return self.table.exact(self.grid.cell(x), w)


def grid_geometric(grid: PixelGrid, level: Level) -> Channel:
    """G_N: the truncated geometric mechanism on U_N at α^h a step (FMM21 eq. 11).

    >>> from utmost.continuous.interval import interval
    >>> from utmost.exact import alpha
    >>> print(grid_geometric(pixel_grid(interval(0, 1), 2), alpha("1/16")))  # FMM21 §VII, ε = 2 ln 4
            0   1/2     1
      0   4/5  3/20  1/20
    1/2   1/5   3/5   1/5
      1  1/20  3/20   4/5
    """
    _check_writable(grid)
    rows = Geometric(grid.count, grid.level(check_inner_level(level))).channel().rows
    return trusted_channel(grid.labels, grid.labels, rows)


def cell_laplace(grid: PixelGrid, cells: object, level: Level) -> Channel:
    """ᵀL: truncated Laplace answers on U_N, told by the cell of T that they fall in (FMM21 eq. 12, corrected).

    There are T outputs, named by the left ends of their cells. The first cell has the atom at the lower end, the last
    one, [b − (b−a)/T, b], the atom at the upper end; so rows are cells of the Laplace law on the whole line.

    >>> from utmost.continuous.interval import interval
    >>> from utmost.exact import alpha
    >>> print(cell_laplace(pixel_grid(interval(0, 1), 2), 2, alpha("1/16")))
           0  1/2
      0  7/8  1/8
    1/2  1/2  1/2
      1  1/8  7/8
    """
    edges = output_edges(grid, cells)
    _check_writable(grid)
    sums = [[laplace_below(x, edge, check_inner_level(level)) for edge in edges[1:-1]] for x in grid.points]
    rows = [[v - u for u, v in pairwise([Fraction(0), *row_sums, Fraction(1)])] for row_sums in sums]
    return trusted_channel(grid.labels, map(str, edges[:-1]), np.array(rows, dtype=object))


def output_edges(grid: PixelGrid, cells: object) -> list[Fraction]:
    """The T + 1 edges of the cells that answers are told by."""
    count = integer(cells, "T")
    if not 1 <= count <= MAX_CHANNEL_CELLS:
        raise InputError(f"T must be from 1 to {MAX_CHANNEL_CELLS} to write the matrix out, got {count}", "T")
    return grid.interval.grid(count)


def laplace_below(x: Fraction, edge: Fraction, level: Level) -> Number:
    """Pr[x + Laplace noise < edge]: α^(x−edge)/2 for an edge below x, else 1 − α^(edge−x)/2."""
    tail = level.power(abs(x - edge)) * HALF
    return tail if edge <= x else 1 - tail


def averaged_laplace(grid: PixelGrid, cells: object, level: Level) -> Channel:
    """The channel [n, t] = N/(b−a)·∫ ᵀL(x)(t) dx over cell n: what ᵀL is to a prior that is flat on each cell.

    So for a density π that is constant on each cell of U_N and an N-step loss, $(π, ᵀL, ℓ_N) is exactly the loss of a
    consumer with prior π_N and this channel: the middle of FMM21 Lemma 9. The upper end, which π_N never takes, has
    the last cell's row. Needs a level given by ε, since 1/ε is a factor.
    """
    if not level.exponent:
        raise InputError(
            "epsilon must be a rational number > 0 here, since 1/epsilon is a factor", "epsilon", "give the level so"
        )
    edges = output_edges(grid, cells)
    _check_writable(grid)
    sums = [[_mean_below(u, v, edge, level) for edge in edges[1:-1]] for u, v in pairwise(grid.points)]
    rows = [[v - u for u, v in pairwise([Fraction(0), *row_sums, Fraction(1)])] for row_sums in [*sums, sums[-1]]]
    return trusted_channel(grid.labels, map(str, edges[:-1]), np.array(rows, dtype=object))


def _mean_below(u: Fraction, v: Fraction, edge: Fraction, level: Level) -> Number:
    """The mean of `laplace_below` over x in [u, v]: (B(v) − B(u))/(v − u), B an antiderivative."""
    return (_antiderivative(v - edge, level) - _antiderivative(u - edge, level)) / (v - u)


def _antiderivative(t: Fraction, level: Level) -> Number:
    """∫ from 0 of Pr[t + noise < 0] dt: (1 − e^(−εt))/2ε for t ≥ 0, t + (1 − e^(εt))/2ε for t < 0."""
    if level.exponent is None:
        raise InputError("epsilon must be a rational number > 0 here", "epsilon", "give the level so")
    share = (1 - level.power(abs(t))) / (2 * level.exponent)
    return share if t >= 0 else t + share


def check_inner_level(level: Level) -> Level:
    """The level itself, if it is one that Laplace noise can have."""
    if not level.is_inner:
        raise InputError("alpha must be strictly between 0 and 1 here: at the ends Laplace noise has no law", "alpha")
    return level


def _check_writable(grid: PixelGrid) -> None:
    if grid.count > MAX_CHANNEL_CELLS:
        raise InputError(f"N must be at most {MAX_CHANNEL_CELLS} to write the matrix out, got {grid.count}", "N")
