"""Which points a reader of an answer believes in: every value there is, or some of them where there are too many.

Where they are too many and her prior is uniform, only those near the answer are written out: beyond 45/ε of it the
likelihood is below e^−45 = 3·10⁻²⁰ of its top, so for a flat prior nothing there can matter. Other priors are spread
over as many points from end to end as tell the noise apart, up to 100001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from utmost.consumer.priors import MAX_PRIOR_POINTS
from utmost.data.queries import Grid
from utmost.errors import InputError
from utmost.exact import decimal
from utmost.publish.reading.prior_axis import Axis, AxisRequest
from utmost.publish.release_model import LatticeMechanism, RatioMechanism

LATTICE = 1_000_001  # values up to which a sum or a mean has a point for each
FEWEST, MOST = 1001, 100_001  # points that nobody asked for
PER_NOISE = 8  # points to 1/ε of noise from end to end
FINE = 50  # points to 1/ε of noise near an answer
NEAR = 45  # 1/ε of noise


@dataclass(frozen=True, slots=True)
class PointChoice:
    """The points of an axis; `near` if they are those around the answer only, of a uniform prior over more."""

    axis: Axis
    near: bool = False


def lattice_points(
    law: LatticeMechanism, kind: str, numbers: list[int], wish: AxisRequest, weights: int | None, uniform: bool
) -> PointChoice:
    """The points for numbers of this lattice.

    `weights` is how many points the prior brings, None for a family. A count's points are its lattice's; where it has
    no public upper end, her prior's length or her at-most gives it.
    """
    own = kind in ("count", "histogram") and wish.grid is None
    low, high = _ends(law, kind, wish, weights if own else None)
    most, largest = high - low + 1, MAX_PRIOR_POINTS if own else LATTICE
    chosen = wish.grid or (None if own else weights)
    if chosen is None and most > largest and uniform:
        return PointChoice(_around(law, low, high, numbers), near=True)
    size = chosen or (most if most <= largest else _resolving(float(law.epsilon) * (most - 1)))
    if own and size == most and weights not in (None, most):
        raise InputError(f"prior must have {most} weights, one for each {kind} from {low} to {high}, got {weights}")
    if size < min(most, 2):
        raise InputError("prior must have at least 2 weights, one for each point from end to end, got 1")
    if size > most:
        raise InputError(f"grid must be at most {most} points here, one for each value there is, got {size}")
    step = Fraction(high - low, size - 1) if size > 1 else Fraction(1)
    return PointChoice(Axis(law.value(low), law.unit * step, size))


def _ends(law: LatticeMechanism, kind: str, wish: AxisRequest, weights: int | None) -> tuple[int, int]:
    """The first and the last lattice number that she holds possible: her own ends and the public ones, the tighter."""
    low, high = law.low, law.high
    if wish.at_least is not None:
        least = math.ceil((wish.at_least - law.origin) / law.unit)
        low = least if low is None else max(low, least)
    if wish.at_most is not None:
        most = math.floor((wish.at_most - law.origin) / law.unit)
        high = most if high is None else min(high, most)
    if low is None:
        raise InputError(_open(kind, "at-least", "lower", "least"))
    if high is None and weights is not None:
        high = low + weights - 1
    if high is None:
        raise InputError(_open(kind, "at-most", "upper", "largest"))
    if low > high:
        raise InputError(f"at-least and at-most must leave a value of this {kind}, got none: widen them")
    return low, high


def _open(kind: str, name: str, side: str, extreme: str) -> str:
    why = f"{name} must be given for a {kind} without a public {side} end"
    return f"{why}: say --{name} N, the {extreme} you hold possible"


def _around(law: LatticeMechanism, low: int, high: int, numbers: list[int]) -> Axis:
    """Numbers of the lattice within 45/ε of these, the first of them included: all, or some where they are many."""
    inside = [min(max(number, low), high) for number in numbers]
    reach = math.ceil(NEAR / law.epsilon)
    first, last = max(low, min(inside) - reach), min(high, max(inside) + reach)
    length = last - first + 1
    stride = 1 if length <= MOST else max(math.floor(1 / (FINE * law.epsilon)), -(-length // MOST))
    start = inside[0] - (inside[0] - first) // stride * stride
    return Axis(law.value(start), law.unit * stride, (last - start) // stride + 1)


def _resolving(noises: float) -> int:
    """Points for a range of this many 1/ε of noise."""
    return int(min(max(PER_NOISE * noises + 1, FEWEST), MOST))


def ratio_points(
    law: RatioMechanism, grid: Grid, parts: tuple[int, int], wish: AxisRequest, weights: int | None, uniform: bool
) -> PointChoice:
    """The points for a mean of a secret number of rows."""
    first, last = _range(grid, wish)
    chosen, half = wish.grid or weights, _spread(law, grid.size, parts[1])
    if chosen is not None and chosen < 2:
        raise InputError("prior must have at least 2 weights, one for each point from end to end, got 1")
    if chosen is None and uniform and half is not None and 4 * half < last - first:
        return PointChoice(_around_mean(law, parts, first, last, half), near=True)
    noises = float((last - first) / law.total.unit * law.total.epsilon * max(parts[1], 1))
    size = chosen or round_size((last - first) / grid.step, noises)
    return PointChoice(Axis(first, (last - first) / (size - 1), size))


def _range(grid: Grid, wish: AxisRequest) -> tuple[Fraction, Fraction]:
    first = grid.low if wish.at_least is None else max(grid.low, wish.at_least)
    last = grid.high if wish.at_most is None else min(grid.high, wish.at_most)
    if not first < last:
        whole = f"{decimal(grid.low)} to {decimal(grid.high)}"
        raise InputError(f"at-least and at-most must leave a range within {whole}, got none: widen them")
    return first, last


def _spread(law: RatioMechanism, steps: int, rows: int) -> Fraction | None:
    """How far from the ratio τ/ρ a mean may be and still matter; None if as far as it likes.

    Let s = 45. Rows r further than s/ε_R from ρ weigh less than e^−s. For the others |r·μ − τ| is at least
    (ρ − s/ε_R)·|μ − τ/ρ| − N·s/ε_R, so where |μ − τ/ρ| ≥ (s/ε_T + N·s/ε_R)/(ρ − s/ε_R) their total weighs less too.
    """
    far = NEAR / law.rows.epsilon
    if rows <= 2 * far:
        return None
    return law.total.unit * (NEAR / law.total.epsilon + steps * far) / (rows - far)


def _around_mean(law: RatioMechanism, parts: tuple[int, int], first: Fraction, last: Fraction, half: Fraction) -> Axis:
    """Means within `half` of the ratio, or of the end it passed: a round number apart, about 4000 of them."""
    ratio = law.total.origin + law.total.unit * Fraction(*parts)
    centre = min(max(ratio, first), last)
    step = _round(half / (NEAR * FINE))
    start = centre - (centre - max(first, centre - half)) // step * step
    return Axis(start, step, int((min(last, centre + half) - start) // step) + 1)


def _round(value: Fraction) -> Fraction:
    """1, 2 or 5 times a power of 10, at most the value."""
    power = Fraction(10) ** math.floor(math.log10(value))
    return next(digit * power for digit in (5, 2, 1, Fraction(1, 2)) if digit * power <= value)


def round_size(steps: Fraction, noises: float) -> int:
    """Points for a range of this many steps and this much noise: 1, 2, 5, 10, 20, … to a step where that fits.

    >>> round_size(Fraction(73), 944.0), round_size(Fraction(73), 10.0)
    (14601, 1461)
    """
    wanted = _resolving(noises)
    parts = (digit * 10**power for power in range(6) for digit in (1, 2, 5))
    sizes = (int(steps * part) + 1 for part in parts if steps.denominator == 1)
    return next((size for size in sizes if wanted <= size <= MOST), wanted)
