"""Priors over an interval: certified moments over cells, what a density is, and densities given as functions.

Certified moments, cell by cell: what every density shares.

A density's moments over a cell are balls: intervals that contain ∫ x^k·e^(rate·x)·π(x) dx. A family computes them at a
working precision; here that precision is raised, for the cells that need it, until the balls are narrow.

Priors over an interval: densities whose moments over cells are known from both sides.

What a continuous mechanism costs is made of integrals ∫ x^k·e^(rate·x)·π(x) dx over cells with rate 0 or ±ε: the
Laplace mechanism's columns are e^(−ε|x−y|). Every family gives them as balls that contain the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from utmost.continuous.interval import Interval, check_edges
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, Real, ball, ball_endpoints, decimal, rational
from utmost.exact.doubles import kind_text
from utmost.exact.working_precision import working_precision
from utmost.registry import Family

if TYPE_CHECKING:
    from flint import arb

Cell: TypeAlias = tuple[Fraction, Fraction]
Row: TypeAlias = "list[arb]"
Rate: TypeAlias = "Number | int | arb"

GUARD_BITS = 24  # bits above those asked for at the first attempt
MAX_PRECISION_BITS = 1 << 17  # bits; the tails of any density that may be asked for need far fewer
MAX_DEGREE = 16


def certified_moments(
    cells: Sequence[Cell],
    rate: Rate,
    degree: int,
    bits: int,
    compute_rows: Callable[[Sequence[Cell], arb, int, int], list[Row]],
) -> list[Row]:
    """The rows of all cells from `compute_rows(cells, rate, degree, bits)`, each with radius ≤ 2^−bits·X^k·(its mass).

    X is the largest |x| in the cell and the mass is the moment of degree 0. Cells whose balls are wider are computed
    again with twice the bits. A rate that is itself a ball is taken as it is: its width then limits the moments'.
    """
    if not 0 <= degree <= MAX_DEGREE:
        raise InputError(f"degree must be from 0 to {MAX_DEGREE}, got {degree}", "degree")
    rate_is_ball = not isinstance(rate, int | Fraction | Real)
    rows: list[Row] = [[] for _ in cells]
    pending, precision = list(range(len(cells))), bits + GUARD_BITS
    while pending and precision <= MAX_PRECISION_BITS:
        with working_precision(precision):
            new_rows = compute_rows([cells[i] for i in pending], rate_ball(rate, precision), degree, precision)
        for i, row in zip(pending, new_rows, strict=True):
            rows[i] = row
        if rate_is_ball:
            return rows
        pending = [i for i in pending if not _is_narrow(rows[i], cells[i], bits)]
        precision *= 2
    if pending:
        raise UndecidedError(f"a moment of the density is not known to {bits} bits with {MAX_PRECISION_BITS} bits")
    return rows


def rate_ball(rate: Rate, bits: int) -> arb:
    """The rate as a ball; one that is a ball already stays what it is."""
    return ball(rate, bits) if isinstance(rate, int | Fraction | Real) else rate


def _is_narrow(row: Row, cell: Cell, bits: int) -> bool:
    mass = row[0]
    if mass.is_zero():
        return True
    if mass.rel_accuracy_bits() < bits:
        return False
    if all(moment.rel_accuracy_bits() >= bits for moment in row[1:]):
        return True
    reach = max(abs(cell[0]), abs(cell[1]))
    return all(moment.rad() <= mass.abs_lower() * ball(reach**k, 64) / (1 << bits) for k, moment in enumerate(row) if k)


def shift_moments(row: Sequence[arb], origin: arb) -> Row:
    """The moments of x = origin + t from those of t: Σ_i C(k, i)·origin^(k−i)·row_i."""
    powers = [origin**0]
    for _ in row[1:]:
        powers.append(powers[-1] * origin)
    return [
        sum((math.comb(k, i) * powers[k - i] * row[i] for i in range(1, k + 1)), powers[k] * row[0])
        for k in range(len(row))
    ]


def exponential_moments(rate: arb, width: arb, degree: int) -> Row:
    """A_j = ∫_0^width s^j·e^(−rate·s) ds for j = 0..degree.

    The last is width^(j+1)·e^(−z)·₁F₁(1; j+2; z)/(j+1), z = rate·width; the others follow by parts,
    A_j = (rate·A_(j+1) + width^(j+1)·e^(−z))/(j+1): sums of positive numbers for rate ≥ 0, so no digit is lost.
    """
    from flint import arb

    z = rate * width
    edge_terms = [(-z).exp() * width]
    for _ in range(degree):
        edge_terms.append(edge_terms[-1] * width)
    row = [edge_terms[degree] * z.hypgeom_1f1(arb(1), arb(degree + 2)) / (degree + 1)]
    for j in range(degree - 1, -1, -1):
        row.append((rate * row[-1] + edge_terms[j]) / (j + 1))
    return row[::-1]


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


PIECES_PER_INTERVAL = 1024  # no moment is taken from a value further than 1/2048 of the interval away


@dataclass(frozen=True, slots=True)
class UserDensity:
    """A density π of which is stated: |function(x) − π(x)| ≤ error, and |π(x) − π(x′)| ≤ slope·|x − x′|.

    On a piece of width h around the double m, π is within function(m) ± (error + slope·h/2), and not below 0: that is
    what the balls are made of. They are as wide as the statements leave them, narrower in narrower cells down to
    `error`, whatever precision is asked for. The statements are taken on trust; what they exclude is refused.
    """

    interval: Interval
    function: Callable[[float], Any]
    error: Fraction
    slope: Fraction
    name: str = "callable"

    def __post_init__(self) -> None:
        """Refuses statements that are not bounds, and a function that they say is no density."""
        for name, value in (("error", self.error), ("slope", self.slope)):
            if value < 0:
                raise InputError(f"{name} must be >= 0, got {decimal(value)}: it is a bound on a distance", name)
        (total,) = self.masses([self.interval.low, self.interval.high], 64)
        if not total.contains(1):
            raise InputError(
                f"density must have total 1, got about {decimal(float(total.mid()))}, which the stated error "
                "and slope exclude",
                "density",
                "divide the function by its integral",
            )

    def at(self, x: Fraction, bits: int) -> arb:
        """π(x), as near as it is stated; 0 outside the interval."""
        from flint import arb

        with working_precision(bits):
            return self._height_bounds(x, x) if x in self.interval else arb(0)

    def moments(self, edges: Sequence[Fraction], rate: Rate, degree: int, bits: int) -> list[Row]:
        """∫ x^k·e^(rate·x)·π(x) dx over each cell between edges, k = 0..degree, as balls."""
        cells = list(pairwise(check_edges(edges, self.interval)))
        with working_precision(bits + 16):
            power = rate_ball(rate, bits + 16)
            return [self._row(cell, power, degree, bits + 16) for cell in cells]

    def masses(self, edges: Sequence[Fraction], bits: int) -> list[arb]:
        """∫ π(x) dx over each cell, as balls."""
        return [row[0] for row in self.moments(edges, 0, 0, bits)]

    def exact_masses(self, edges: Sequence[Fraction]) -> None:
        """None: what is stated is not exact."""

    def _row(self, cell: Cell, rate: arb, degree: int, bits: int) -> Row:
        from flint import arb

        count = math.ceil((cell[1] - cell[0]) * PIECES_PER_INTERVAL / self.interval.length)
        width = (cell[1] - cell[0]) / count
        steps = exponential_moments(-rate, ball(width, bits), degree)
        row = [arb(0)] * (degree + 1)
        for k in range(count):
            u = cell[0] + k * width
            edge = ball(u, bits)
            shape = [(rate * edge).exp() * moment for moment in shift_moments(steps, edge)]
            piece_row = _moments_within(self._height_bounds(u, u + width), shape, u, u + width)
            row = [old + new for old, new in zip(row, piece_row, strict=True)]
        return row

    def _height_bounds(self, low: Fraction, high: Fraction) -> arb:
        """π on [low, high]: function(m) ± (error + slope·distance from the double m), not below 0."""
        middle = float((low + high) / 2)
        if Fraction(middle) not in self.interval:  # rounded across an end
            middle = math.nextafter(middle, float(self.interval.low + self.interval.high) / 2)
        below, above = function_bounds(self.function(middle))
        if above + self.error < 0:
            raise InputError(
                "density must be >= 0 within its stated error, got a negative value", "density", "state a larger error"
            )
        radius = self.error + self.slope * max(abs(high - Fraction(middle)), abs(Fraction(middle) - low))
        lower = max(below - radius, Fraction(0))
        return ball(lower, 64).union(ball(above + radius, 64))


def function_bounds(value: Any) -> tuple[Fraction, Fraction]:
    """What a function of a user returned, between two fractions: a double is itself, a ball its two ends.

    >>> function_bounds(0.5), function_bounds(Fraction(1, 3))[0]
    ((Fraction(1, 2), Fraction(1, 2)), Fraction(1, 3))
    """
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return Fraction(value), Fraction(value)
    if isinstance(value, Real):
        return ball_endpoints(value.ball(128))
    if hasattr(value, "rel_accuracy_bits"):
        if not value.is_finite():
            raise _infinite_value()
        return ball_endpoints(value)
    if isinstance(value, str | bool | complex | None):
        raise InputError(f"density must be a function that returns a number, got {kind_text(value)}", "density")
    try:
        double = float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"density must be a function that returns a number, got {kind_text(value)}", "density"
        ) from None
    if not math.isfinite(double):
        raise _infinite_value()
    return Fraction(double), Fraction(double)


def _infinite_value() -> InputError:
    return InputError("density must be finite everywhere, got a value that is not", "density", "cut the interval there")


def _moments_within(height: arb, shape: Row, low: Fraction, high: Fraction) -> Row:
    """∫ x^k·e^(rate·x)·π(x) dx for any π that stays within `height`; `shape` has the same integrals with π = 1.

    height·shape_k where x^k keeps its sign. Where it does not, middle·shape_k ± radius·X^k·shape_0, X = max |x|.
    """
    from flint import arb

    if not low < 0 < high:
        return [height * moment for moment in shape]
    reach = ball(max(-low, high), 64)
    radius = arb(0, height.rad()) * shape[0]
    return [height.mid() * moment + radius * reach**k if k % 2 else height * moment for k, moment in enumerate(shape)]


def callable_density(
    function: Callable[[float], Any], error: object, slope: object, interval: Interval, name: str = "callable"
) -> UserDensity:
    """A density from a function of doubles: at every double it is within `error` of π, and π is `slope`-Lipschitz.

    The function returns a double, a fraction, or a ball of python-flint that contains its value.

    >>> from utmost.continuous.interval import interval
    >>> density = callable_density(lambda x: 6 * x * (1 - x), "1e-14", 6, interval(0, 1))
    >>> (mass,) = density.masses([Fraction(0), Fraction(1, 4)], 64)
    >>> bool(mass.contains(5 / 32)), float(mass.rad()) < 0.001
    (True, True)
    """
    return UserDensity(interval, function, rational(error, "error"), rational(slope, "slope"), name)
