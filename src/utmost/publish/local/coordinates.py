"""Where places are: two columns of coordinates, and the lattice that is laid over them.

Everything here is rational. A coordinate c belongs to the lattice number ⌊(c − zero)/size + 1/2⌋ of its axis, and the
number k stands for zero + k·size. On a plane `zero` is 0 and `size` is the step in the unit of the coordinates. For
degrees the plane is the local equirectangular projection about a public origin (λ₀, φ₀) on a sphere,

    east = M·c·(λ − λ₀),   north = M·(φ − φ₀),   c = cos φ₀ to 12 places, M = 111195.08 metres,

M the length of a degree of arc on a sphere of radius 6371008.8 m. c and M are exact numbers, so the projection is too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import ball_endpoints, decimal
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.planar import MAX_COORDINATE_STEPS

if TYPE_CHECKING:
    from flint import arb

Pair = tuple[Fraction, Fraction]
Corners = tuple[Fraction, Fraction, Fraction, Fraction]

METRES_PER_UNIT = {"m": Fraction(1), "km": Fraction(1000), "ft": Fraction("0.3048"), "mi": Fraction("1609.344")}
METRES_PER_DEGREE = Fraction("111195.08")  # metres
COSINE_SCALE = 10**12  # of the cosine
EXACT_DOUBLE_LIMIT = 1 << 53  # whole numbers up to here are doubles
BALL_BITS = 160  # of the balls around sines and cosines


@dataclass(frozen=True, slots=True)
class Axis:
    """Lattice numbers low ≤ k ≤ high along one coordinate; k stands for zero + k·size."""

    zero: Fraction
    size: Fraction
    low: int = -MAX_COORDINATE_STEPS
    high: int = MAX_COORDINATE_STEPS

    def position(self, coordinate: Fraction) -> int:
        """The nearest lattice number, a tie going up; then the nearest to that from low to high."""
        return min(max(floor((coordinate - self.zero) / self.size + Fraction(1, 2)), self.low), self.high)

    def coordinates(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """What lattice numbers stand for, as doubles: the nearest ones where a, b, c below fit in 53 bits.

        zero + k·size = (a·k + b)/c in whole numbers; a·k + b and c without rounding make one rounded division. Where
        they do not fit, the double is within a few units in the last place.

        >>> Axis(Fraction(0), Fraction(1, 100)).coordinates(np.array([-3, 29])).tolist()
        [-0.03, 0.29]
        """
        c = lcm(self.zero.denominator, self.size.denominator)
        a, b = int(self.size * c), int(self.zero * c)
        reach = max((abs(int(k)) for k in (numbers.min(), numbers.max())), default=0) if numbers.size else 0
        if max(a * reach + abs(b), c) <= EXACT_DOUBLE_LIMIT:
            return (numbers * a + b).astype(np.float64) / float(c)
        return float(self.zero) + numbers.astype(np.float64) * float(self.size)

    def within(self, low: Fraction, high: Fraction, name: str) -> Axis:
        """The same axis, kept to the lattice numbers that lie between two coordinates."""
        first, last = ceil((low - self.zero) / self.size), floor((high - self.zero) / self.size)
        if first > last:
            raise InputError(
                f"--box must contain a point of the lattice along {name}", "box", "widen it, or make --step smaller"
            )
        if max(abs(first), abs(last)) > MAX_COORDINATE_STEPS:
            raise InputError("--box must lie within 2^53 steps of the lattice's origin", "box", "take a larger --step")
        return Axis(self.zero, self.size, first, last)


@dataclass(frozen=True, slots=True)
class PlaneCoordinates:
    """Coordinates in a plane, in a unit of length."""

    unit: str

    def per_metre(self) -> Pair:
        """How much a metre is in each coordinate."""
        return 1 / METRES_PER_UNIT[self.unit], 1 / METRES_PER_UNIT[self.unit]

    def zero(self) -> Pair:
        """Where the lattice begins."""
        return Fraction(0), Fraction(0)


@dataclass(frozen=True, slots=True)
class DegreeCoordinates:
    """Longitude and latitude in degrees, projected about a public origin."""

    origin: Pair

    def __post_init__(self) -> None:
        """Check the origin."""
        if not -180 <= self.origin[0] <= 180 or not -90 < self.origin[1] < 90:
            raise InputError(
                "--origin must be LON,LAT with LON from -180 to 180 and LAT between -90 and 90 degrees", "origin"
            )
        if not self.cosine:
            raise InputError(
                "--origin must be farther from the pole: a degree of longitude has no length there", "origin"
            )

    @property
    def cosine(self) -> Fraction:
        """c: cos φ₀ from below, to 12 places; any c makes a projection, and the bounds below are for this one."""
        low, _ = ball_endpoints(_cosine_ball(self.origin[1]))
        return Fraction(floor(low * COSINE_SCALE), COSINE_SCALE)

    def per_metre(self) -> Pair:
        """How many degrees a metre is, east and north."""
        return 1 / (METRES_PER_DEGREE * self.cosine), 1 / METRES_PER_DEGREE

    def zero(self) -> Pair:
        """Where the lattice begins: the origin."""
        return self.origin

    def stretch(self, box: Corners) -> Fraction:
        """κ with (distance in the projected plane) ≤ κ·(great-circle distance) for any two places in the box.

        κ = max(1, c/cos Φ′), tan Φ′ = tan Φ/cos(Δλ/2), Φ the largest |latitude| of the box and Δλ < 180° its width.
        Proof. A step (dλ, dφ) is √(cos²φ·dλ² + dφ²) long on the unit sphere and √(c²·dλ² + dφ²) in the plane, a ratio
        of at most max(1, c/cos φ). A great circle is tan φ = tan Φ″·cos(λ − λ″): on the shorter arc between two places
        of the box the peak Φ″, if it is there, is within Δλ/2 of one of them, so tan Φ″ ≤ tan Φ/cos(Δλ/2). Along that
        arc cos φ ≥ cos Φ′, and the plane's straight line is no longer than the arc's image. ∎ Rounded up to 9 places.
        """
        left, bottom, right, top = box
        with working_precision(BALL_BITS):
            least_cosine = _cosine_ball(max(abs(bottom), abs(top)))
            tangent = (1 - least_cosine**2).sqrt() / least_cosine / _cosine_ball((right - left) / 2)
            _, high = ball_endpoints((1 + tangent**2).sqrt())
        return max(Fraction(1), _round_up(self.cosine * high))

    def shrink(self, box: Corners) -> Fraction:
        """κ* with (great-circle distance) ≤ κ*·(distance in the projected plane) for any two places in the box.

        κ* = max(1, max cos φ/c) over the box's latitudes: the straight line between the places stays in the box, and on
        the sphere it is at most that much longer, and no shorter than the great circle. Rounded up to 9 places.
        """
        _, bottom, _, top = box
        least_latitude = Fraction(0) if bottom <= 0 <= top else min(abs(bottom), abs(top))
        return max(Fraction(1), _round_up(ball_endpoints(_cosine_ball(least_latitude))[1] / self.cosine))


CoordinateSystem = PlaneCoordinates | DegreeCoordinates


def lattice_axes(coordinates: CoordinateSystem, step: Fraction, unit: str, box: Corners | None) -> tuple[Axis, Axis]:
    """The two axes of a lattice of this step, given in `unit`, over coordinates of a frame, kept to a box."""
    metres = step * METRES_PER_UNIT[unit]
    x, y = (
        Axis(zero, metres * coordinate_per_metre)
        for zero, coordinate_per_metre in zip(coordinates.zero(), coordinates.per_metre(), strict=True)
    )
    if box is None:
        return x, y
    left, bottom, right, top = box
    return x.within(left, right, "x"), y.within(bottom, top, "y")


def check_unit(unit: str, name: str) -> str:
    """The name of a unit of length."""
    if unit not in METRES_PER_UNIT:
        raise InputError(f'{name} must be one of {", ".join(METRES_PER_UNIT)}, got "{unit[:20]}"', name)
    return unit


def check_box(box: Corners, degrees: bool) -> Corners:
    """Left, bottom, right, top in this order; degrees on a sphere, less than half of it wide."""
    left, bottom, right, top = box
    if left > right or bottom > top:
        raise InputError(
            "--box must be left,bottom,right,top with left <= right and bottom <= top, got an empty one", "box"
        )
    if degrees and (left < -180 or right > 180 or bottom <= -90 or top >= 90):
        raise InputError("--box must be LON,LAT,LON,LAT in degrees, from -180 to 180 and between -90 and 90", "box")
    if degrees and right - left >= 180:
        raise InputError(
            f"--box must be less than 180 degrees wide, got {decimal(right - left)}", "box", "make it smaller"
        )
    return box


def _cosine_ball(degrees: Fraction) -> arb:
    """A ball around the cosine of an angle in degrees."""
    from flint import arb, fmpq

    with working_precision(BALL_BITS):
        return arb.cos_pi_fmpq(fmpq(degrees.numerator, degrees.denominator) / 180)


def _round_up(value: Fraction) -> Fraction:
    return Fraction(ceil(value * 10**9), 10**9)
