"""Where places are: columns of coordinates, the lattice over them, and cells rounded to it exactly.

Everything here is rational. A coordinate c belongs to the lattice number ⌊(c − zero)/size + 1/2⌋ of its axis, and the
number k stands for zero + k·size. On a plane `zero` is 0 and `size` is the step in the unit of the coordinates. For
degrees the plane is the local equirectangular projection about a public origin (λ₀, φ₀) on a sphere,

    east = M·c·(λ − λ₀),   north = M·(φ − φ₀),   c = cos φ₀ to 12 places, M = 111195.08 metres,

M the length of a degree of arc on a sphere of radius 6371008.8 m. c and M are exact numbers, so the projection is too.

From the cells of a column to lattice numbers: ⌊(c − zero)/size + 1/2⌋ of the number c that a cell says, exactly.

Text is read as the decimal it is, a double as the dyadic fraction it is. For whole arrays the number is first found in
doubles, with a bound on what they can be off; where a whole number lies within that bound (ties, as a rule) the cell is
looked at again in whole numbers. So a place moves by half a step along each axis at most, with nothing to add for the
precision of a machine, and its lattice number depends on its own cells alone, not on the rows around it.

At a tie the question is ⌊(a·c + b)/u⌋ for a number c and whole numbers a > 0, b, u > 0, where a whole number m is known
to be near (a·c + b)/u. What does not fit in 53 or 62 bits is decided one by one in Python's integers, with the same
answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
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
    import pyarrow as pa
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


Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

MAX_NUMBER_CHARS = 400  # characters, or places behind the point, of a number in text that is read exactly
SHORT_DECIMAL = r"^[-+]?[0-9]{1,9}([.][0-9]{1,6})?$"  # at most 15 digits: the nearest double determines the decimal
VELTKAMP_SPLITTER = float(2**27 + 1)
EXACT_DOUBLE_LIMIT, INT64_SAFE_LIMIT = 1 << 53, 1 << 62
RELATIVE_SLACK = 2.0**-49  # of |c|·slope + |offset| + 1: six roundings are off by less than 6·2^−53 of it


def lattice_positions(cells: pa.Array, axis: Axis) -> tuple[Numbers, Mask]:
    """The lattice numbers of a column of coordinates, kept from axis.low to axis.high, and which cells are missing.

    A cell is missing if it is NULL, NaN, infinite or no number; its lattice number means nothing.

    >>> import pyarrow as pa
    >>> positions, missing = lattice_positions(
    ...     pa.array(["0.015", "-0.015", "nowhere"]), Axis(Fraction(0), Fraction(1, 100))
    ... )
    >>> positions[:2].tolist(), missing.tolist()
    ([2, -1], [False, False, True])
    """
    import pyarrow as pa

    cells = normalise_cells(cells)
    values = cell_doubles(cells)
    missing: Mask = ~np.isfinite(values)
    values = np.where(missing, float(axis.zero), values)
    slope, offset = 1 / axis.size, Fraction(1, 2) - axis.zero / axis.size
    with np.errstate(over="ignore", invalid="ignore"):
        guess = values * float(slope) + float(offset)
        slack = (np.abs(values) * float(slope) + abs(float(offset)) + 1) * RELATIVE_SLACK
        positions = np.clip(np.floor(guess), axis.low, axis.high).astype(np.int64)
        nearest = np.rint(guess)
        is_unsure = (
            (np.abs(guess - nearest) <= slack) & (guess >= axis.low - 1 - slack) & (guess <= axis.high + 2 + slack)
        )
    unsure_rows = np.flatnonzero(is_unsure & ~missing)
    if len(unsure_rows):
        line = integer_line(slope, offset, axis.low, axis.high)
        positions[unsure_rows] = exact_floors(
            cells.take(pa.array(unsure_rows)), values[unsure_rows], nearest[unsure_rows], line
        )
    return positions, missing


def normalise_cells(cells: pa.Array) -> pa.Array:
    """Numbers as they are, text without the white space around it; decimals are text, other types are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return cells
    if pa.types.is_decimal(kind):
        return cells.cast(pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return pc.ascii_trim_whitespace(cells.cast(pa.large_string()))
    raise InputError(
        "a column of coordinates must hold numbers, or text that is one, got another type", hint="convert it"
    )


def cell_doubles(cells: pa.Array) -> Doubles:
    """The double nearest to what each cell says, NaN where it is missing.

    Text is a number where Arrow's own conversion takes it: -1.5, 1e3, .5. A column where it refuses one is halved until
    the refused cells are alone, so that what becomes of a cell does not depend on its neighbours.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(cells.type) and not pa.types.is_string(cells.type):
        return _to_doubles(cells.cast(pa.float64(), safe=False))
    try:
        return _to_doubles(cells.cast(pa.float64()))
    except pa.ArrowInvalid:
        pass
    result, candidates = np.full(len(cells), np.nan), pc.match_substring_regex(cells, "[0-9]")
    candidate_rows = np.flatnonzero(candidates.fill_null(False).to_numpy(zero_copy_only=False))
    result[candidate_rows] = _parse_by_halves(cells.take(pa.array(candidate_rows)))
    return result


def _parse_by_halves(cells: pa.Array) -> Doubles:
    import pyarrow as pa

    try:
        return _to_doubles(cells.cast(pa.float64()))
    except pa.ArrowInvalid:
        if len(cells) == 1:
            return np.full(1, np.nan)
    middle = len(cells) // 2
    return np.concatenate([_parse_by_halves(cells[:middle]), _parse_by_halves(cells[middle:])])


def _to_doubles(cells: pa.Array) -> Doubles:
    doubles: Doubles = cells.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return doubles


@dataclass(frozen=True, slots=True)
class IntegerLine:
    """c ↦ (a·c + b)/u, kept from low to high."""

    a: int
    b: int
    u: int
    low: int
    high: int

    def floors(self, cells: list[Any]) -> list[int]:
        """⌊(a·c + b)/u⌋ for each cell, one by one."""
        numbers = []
        for cell in cells:
            n, d = exact_cell_value(cell).as_integer_ratio()
            numbers.append(min(max((n * self.a + d * self.b) // (d * self.u), self.low), self.high))
        return numbers


def integer_line(slope: Fraction, offset: Fraction, low: int, high: int) -> IntegerLine:
    """slope·c + offset with whole coefficients."""
    u = lcm(slope.denominator, offset.denominator)
    return IntegerLine(int(slope * u), int(offset * u), u, low, high)


def exact_cell_value(cell: Any) -> Any:
    """What a cell says, exactly; of a text beyond all use its nearest double."""
    if not isinstance(cell, str):
        return cell
    if len(cell) > MAX_NUMBER_CHARS:
        return float(cell)
    value = Decimal(cell)
    return float(cell) if abs(value.adjusted()) > MAX_NUMBER_CHARS else value


def exact_floors(cells: pa.Array, values: Doubles, nearest: Doubles, line: IntegerLine) -> Numbers:
    """The floors of cells whose nearest doubles are `values`, with the whole numbers m in `nearest`."""
    import pyarrow as pa

    floors, is_decided = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.bool_)
    if not pa.types.is_floating(cells.type) and not pa.types.is_integer(cells.type):
        is_decided = _floor_decimals(cells, values, line, floors)
    elif pa.types.is_floating(cells.type) or np.abs(values).max() < EXACT_DOUBLE_LIMIT:
        is_decided[:] = _floor_doubles(values, nearest, line, floors)
    undecided_rows = np.flatnonzero(~is_decided)
    if len(undecided_rows):
        floors[undecided_rows] = line.floors(cells.take(pa.array(undecided_rows)).to_pylist())
    return floors


def _floor_doubles(values: Doubles, nearest: Doubles, line: IntegerLine, floors: Numbers) -> bool:
    """m if a·c ≥ u·m − b, else m − 1, for doubles c, by an error-free product; returns whether that could be decided.

    a·c = p + e without error (Dekker 1971). If p and t = u·m − b are within a factor 2 of each other, p − t has no
    error either (Sterbenz 1974); if not, it is more than 2^50 times as large as e. So the sign of (p − t) + e is right.
    """
    reach = (
        line.u * int(np.abs(nearest).max()) + abs(line.b)
        if np.abs(nearest).max() < EXACT_DOUBLE_LIMIT
        else EXACT_DOUBLE_LIMIT
    )
    if max(line.a, reach) >= EXACT_DOUBLE_LIMIT:
        return False
    a = float(line.a)
    product = values * a
    border = nearest * float(line.u) - float(line.b)
    difference = (product - border) + _product_error(values, a, product)
    floors[:] = np.clip(nearest - (difference < 0), line.low, line.high).astype(np.int64)
    return True


def _product_error(values: Doubles, a: float, product: Doubles) -> Doubles:
    """values·a − product, without error."""
    high, low = _split_doubles(values)
    top, bottom = _split_doubles(np.full(1, a))
    result: Doubles = ((high * top - product) + high * bottom + low * top) + low * bottom
    return result


def _split_doubles(values: Doubles) -> tuple[Doubles, Doubles]:
    """Two doubles of 26 bits each that sum to each value (Veltkamp)."""
    wide = values * VELTKAMP_SPLITTER
    high: Doubles = wide - (wide - values)
    return high, values - high


def _floor_decimals(cells: pa.Array, values: Doubles, line: IntegerLine, floors: Numbers) -> Mask:
    """⌊(n·a + 10^d·b)/(10^d·u)⌋ in 64 bits for decimals n/10^d of at most 15 digits; returns where it is decided."""
    import pyarrow.compute as pc

    is_short: Mask = pc.match_substring_regex(cells, SHORT_DECIMAL).to_numpy(zero_copy_only=False)
    point = pc.find_substring(cells, ".").to_numpy(zero_copy_only=False)
    length = pc.binary_length(cells).to_numpy(zero_copy_only=False)
    decimals = np.where(is_short & (point >= 0), length - point - 1, 0).astype(np.int64)
    power = 10**decimals
    n = np.rint(np.where(is_short, values, 0.0) * power).astype(np.int64)
    if not len(n) or int(np.abs(n).max()) * line.a + 10**6 * (abs(line.b) + line.u) >= INT64_SAFE_LIMIT:
        return np.zeros(len(values), dtype=np.bool_)
    floors[:] = np.clip((n * line.a + power * line.b) // (power * line.u), line.low, line.high)
    return is_short
