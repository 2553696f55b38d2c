"""Curves: exact piecewise linear functions on [0, 1], continuous inside, with a possible jump at each end.

KL10's bound M(a), the largest probability that i₂ may give to an event to which i₁ gives a, is concave and never
decreases, so it is continuous except at 0 (Thm 2.2.5 (vi)); its mirror image m(a) = 1 − M(1−a) may jump at 1. So two
numbers beside the breakpoints say all. Every comparison is decided, for irrational values such as e^ε too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from utmost.errors import InputError
from utmost.exact import Number, decimal, number, sign
from utmost.result_values import short_repr

Point: TypeAlias = tuple[Number, Number]
Line: TypeAlias = tuple[Number, Number]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class ConcavityGap:
    """Three points of a curve, from left to right, of which the middle one lies below the chord of the others.

    `weight` is that of the left one: middle[0] = weight·left[0] + (1−weight)·right[0].
    """

    left: Point
    middle: Point
    right: Point

    @property
    def weight(self) -> Number:
        """How much of the left point makes the middle one's argument."""
        return (self.right[0] - self.middle[0]) / (self.right[0] - self.left[0])

    @property
    def depth(self) -> Number:
        """How far the middle point is below the chord; > 0."""
        return self.weight * self.left[1] + (1 - self.weight) * self.right[1] - self.middle[1]


@dataclass(frozen=True, slots=True)
class CurveExcess:
    """The largest difference of two curves and where; it is not `attained` if it is only approached, beside an end."""

    amount: Number
    argument: Number
    attained: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """Linear between `points` (arguments increasing from 0 to 1); its values at 0 and at 1 are `at_zero` and `at_one`.

    points[0][1] and points[-1][1] are the limits there. No inner point is on the line through its neighbours, so equal
    functions are equal curves. `curve_from_points` makes one from any points, `trusted` takes them as they are.
    """

    __repr__ = short_repr

    points: tuple[Point, ...]
    at_zero: Number
    at_one: Number

    def __post_init__(self) -> None:
        """Refuse arguments that are not 0 < … < 1."""
        breakpoints = [a for a, _ in self.points]
        if (
            len(breakpoints) < 2
            or breakpoints[0] != 0
            or breakpoints[-1] != 1
            or any(b <= a for a, b in pairwise(breakpoints))
        ):
            raise InputError(
                "points of a curve must have places that increase from 0 to 1", "points", "give both ends, each once"
            )
        object.__setattr__(self, "points", _drop_collinear(self.points))

    @classmethod
    def trusted(cls, points: tuple[Point, ...], at_zero: Number, at_one: Number) -> Curve:
        """A curve whose points are in order, and none straight, by construction: nothing is checked again."""
        curve = object.__new__(cls)
        for name, value in (("points", points), ("at_zero", at_zero), ("at_one", at_one)):
            object.__setattr__(curve, name, value)
        return curve

    def __call__(self, argument: object) -> Number:
        """The value at an argument in [0, 1], exact.

        >>> bend = curve_from_points([(0, 0), ("1/4", "3/4"), (1, 1)])
        >>> bend("1/8"), bend("1/2")
        (Fraction(3, 8), Fraction(5, 6))
        """
        a = argument if isinstance(argument, Fraction) else number(argument, "place on a curve")
        if sign(a) < 0 or a > 1:
            raise InputError(f"place on a curve must be in [0, 1], got {decimal(a)}")
        if a == 0 or a == 1:
            return self.at_zero if a == 0 else self.at_one
        return self.inside(a)

    def inside(self, argument: Number) -> Number:
        """The value of the continuous part, which at 0 and at 1 is the limit."""
        k = max(bisect_left(self.points, argument, key=lambda point: point[0]), 1)
        return _interpolate(self.points[k - 1], self.points[k], argument)

    @property
    def lines(self) -> tuple[Line, ...]:
        """(slope, intercept) of each piece, from left to right."""
        slopes = [(right[1] - left[1]) / (right[0] - left[0]) for left, right in pairwise(self.points)]
        return tuple((slope, left[1] - slope * left[0]) for slope, left in zip(slopes, self.points, strict=False))

    @property
    def jumps(self) -> bool:
        """Is a value at an end not the limit there."""
        return self.at_zero != self.points[0][1] or self.at_one != self.points[-1][1]

    @property
    def dent(self) -> ConcavityGap | None:
        """Three points that refute concavity; None if the curve is concave.

        A function that is linear in pieces is concave when it bends upwards at no breakpoint and no end sticks out.

        >>> curve_from_points([(0, 0), ("1/2", "1/4"), (1, 1)]).dent.depth
        Fraction(1, 4)
        """
        if self.at_zero > self.points[0][1]:
            inner = _middle(self.points[0], self.points[1])
            return ConcavityGap((ZERO, self.at_zero), _middle(self.points[0], inner), inner)
        if self.at_one > self.points[-1][1]:
            inner = _middle(self.points[-2], self.points[-1])
            return ConcavityGap(inner, _middle(inner, self.points[-1]), (ONE, self.at_one))
        for left, middle, right in zip(self.points, self.points[1:], self.points[2:], strict=False):
            if middle[1] < _interpolate(left, right, middle[0]):
                return self._move_limits_inwards(ConcavityGap(left, middle, right))
        return None

    def _move_limits_inwards(self, dent: ConcavityGap) -> ConcavityGap:
        """The same dent between points of the curve itself: an end that is only a limit is moved halfway inwards."""
        left, right = dent.left, dent.right
        if left[1] != self(left[0]):
            left = _middle(left, dent.middle)
        if right[1] != self(right[0]):
            right = _middle(dent.middle, right)
        return ConcavityGap(left, dent.middle, right)

    @property
    def concave(self) -> bool:
        """Is every chord below it: KL10 Thm 2.2.5 (iv)."""
        return self.dent is None

    @property
    def drop(self) -> tuple[Point, Point] | None:
        """Two points of the curve, left and right, of which the right one is lower; None if it never decreases."""
        if self.at_zero > self.points[0][1]:
            return (ZERO, self.at_zero), self._near_zero()
        if self.at_one < self.points[-1][1]:
            return self._near_one(), (ONE, self.at_one)
        for left, right in pairwise(self.points):
            if right[1] < left[1]:
                return _middle(left, _middle(left, right)), _middle(_middle(left, right), right)
        return None

    def _near_zero(self) -> Point:
        """A point of the curve so near to 0 that it is below the value there, which is above the limit."""
        (_, limit), (a, value) = self.points[0], self.points[1]
        if value <= self.at_zero:
            return _middle(self.points[0], self.points[1])
        share = (self.at_zero - limit) / (2 * (value - limit))
        return a * share, limit + (value - limit) * share

    def _near_one(self) -> Point:
        """A point of the curve so near to 1 that it is above the value there, which is below the limit."""
        (a, value), (_, limit) = self.points[-2], self.points[-1]
        if value >= self.at_one:
            return _middle(self.points[-2], self.points[-1])
        share = (limit - self.at_one) / (2 * (limit - value))
        return 1 - (1 - a) * share, limit - (limit - value) * share

    def below(self, other: Curve) -> CurveExcess:
        """The supremum of this curve minus the other one, and where: ≤ 0 exactly when this one is nowhere above.

        The difference is linear in pieces, so its supremum is at a breakpoint of either, at an end or a limit there.
        """
        values = (self.at_zero - other.at_zero, self.at_one - other.at_one)
        excesses = [CurveExcess(values[0], ZERO, True), CurveExcess(values[1], ONE, True)]
        excesses += [CurveExcess(self.inside(a) - other.inside(a), a, 0 < a < 1) for a in _breakpoints([self, other])]
        return max(excesses, key=lambda excess: (excess.amount, excess.attained))

    @property
    def hull(self) -> Curve:
        """The least concave curve that is nowhere below this one; a jump down at an end stays.

        >>> curve_from_points([(0, 0), ("1/2", "1/4"), ("3/4", "7/8"), (1, 1)]).hull.points[1]
        (Fraction(3, 4), Fraction(7, 8))
        """
        first, last = max(self.at_zero, self.points[0][1]), max(self.at_one, self.points[-1][1])
        corners: list[Point] = []
        for point in [(ZERO, first), *self.points[1:-1], (ONE, last)]:
            while len(corners) > 1 and corners[-1][1] <= _interpolate(corners[-2], point, corners[-1][0]):
                corners.pop()
            corners.append(point)
        return Curve.trusted(tuple(corners), self.at_zero, self.at_one)

    @property
    def reflected(self) -> Curve:
        """a ↦ 1 − M(1−a): what M says of complements. KL10 Thm 2.2.5 (iii)."""
        points = tuple((1 - a, 1 - value) for a, value in reversed(self.points))
        return Curve.trusted(points, 1 - self.at_one, 1 - self.at_zero)

    @property
    def reversed(self) -> Curve:
        """The bound for the pair (i₂, i₁) that this bound M for (i₁, i₂) implies: the largest a with 1 − M(1−a) ≤ b.

        For a concave M with M(1) = 1; where M jumps at 0 the supremum is returned, which is then not always attained.

        >>> curve_from_points([(0, "1/3"), ("2/3", 1), (1, 1)]).reversed == curve_from_points(
        ...     [(0, "1/3"), ("2/3", 1), (1, 1)]
        ... )
        True
        """
        if not self.concave or self.at_one != 1 or self.points[-1][1] != 1:
            raise InputError("a curve that is reversed must be concave with value 1 at 1")
        inverse_points = [(value, a) for a, value in self.reflected.points]
        rising = [inverse_points[0], *(right for left, right in pairwise(inverse_points) if right[0] > left[0])]
        start = max(a for value, a in inverse_points if value == 0)
        rising[0] = (ZERO, start)
        return curve_from_points([*rising, (ONE, ONE)] if rising[-1][0] < 1 else rising)

    def __str__(self) -> str:
        """Its points, as `points:…` reads them."""
        points = [*([] if self.at_zero == self.points[0][1] else [(ZERO, self.at_zero)]), *self.points]
        return ", ".join(f"{a} {value}" for a, value in points)


def curve_from_points(points: Iterable[Sequence[object]], at_zero: object = None, at_one: object = None) -> Curve:
    """The curve through points (a, value), exact numbers or text; its values at the ends are the limits if not given.

    >>> curve_from_points([(0, "1/4"), (1, 1)], at_zero=0)("1/2"), curve_from_points([(0, "1/4"), (1, 1)], at_zero=0)(0)
    (Fraction(5, 8), Fraction(0, 1))
    """
    exact_points = tuple((number(a, "place on a curve"), number(value, "value of a curve")) for a, value in points)
    if not exact_points:
        raise InputError("points of a curve must be at least two, got none", "points")
    first = exact_points[0][1] if at_zero is None else number(at_zero, "value of a curve at 0")
    last = exact_points[-1][1] if at_one is None else number(at_one, "value of a curve at 1")
    return Curve(exact_points, first, last)


def curve_from_lines(lines: Iterable[tuple[object, object]]) -> Curve:
    """a ↦ min(1, slope·a + intercept, …), over all lines (slope, intercept): concave.

    >>> curve_from_lines([(2, 0), ("1/2", "1/2")]).points[1]
    (Fraction(1, 3), Fraction(2, 3))
    """
    exact_lines = [(number(slope, "slope of a curve"), number(start, "intercept of a curve")) for slope, start in lines]
    flat = curve_from_points([(0, 1), (1, 1)])
    return pointwise_minimum(
        [flat, *(curve_from_points([(0, start), (1, slope + start)]) for slope, start in exact_lines)]
    )


def pointwise_minimum(curves: Iterable[Curve]) -> Curve:
    """The pointwise least of some curves, at the ends too."""
    curve_list = list(curves)
    if not curve_list:
        raise InputError("a minimum of curves must be of at least one curve, got none")
    minimum = curve_list[0]
    for curve in curve_list[1:]:
        minimum = _minimum_of_two(minimum, curve)
    return minimum


def _minimum_of_two(first: Curve, second: Curve) -> Curve:
    points: list[Point] = []
    for a in _breakpoints([first, second]):
        values = first.inside(a), second.inside(a)
        if points:
            points += _crossing(points[-1][0], a, first, second)
        points.append((a, min(values)))
    return Curve(tuple(points), min(first.at_zero, second.at_zero), min(first.at_one, second.at_one))


def _crossing(start: Number, end: Number, first: Curve, second: Curve) -> list[Point]:
    """The point strictly between two neighbouring breakpoints where the curves cross, if there is one."""
    start_gap, end_gap = first.inside(start) - second.inside(start), first.inside(end) - second.inside(end)
    if sign(start_gap) * sign(end_gap) >= 0:
        return []
    a = start + (end - start) * start_gap / (start_gap - end_gap)
    return [(a, first.inside(a))]


def _breakpoints(curves: Sequence[Curve]) -> list[Number]:
    """Every breakpoint, once, in order."""
    sorted_breakpoints = sorted(a for curve in curves for a, _ in curve.points)
    return [a for k, a in enumerate(sorted_breakpoints) if k == 0 or a != sorted_breakpoints[k - 1]]


def _interpolate(left: Point, right: Point, a: Number) -> Number:
    """The value at an argument of the line through two points."""
    if a == left[0] or left[1] == right[1]:
        return left[1]
    return left[1] + (right[1] - left[1]) * (a - left[0]) / (right[0] - left[0])


def _middle(left: Point, right: Point) -> Point:
    return (left[0] + right[0]) / 2, (left[1] + right[1]) / 2


def _drop_collinear(points: Sequence[Point]) -> tuple[Point, ...]:
    """The same without inner points on the line through their neighbours."""
    corners: list[Point] = []
    for point in points:
        while len(corners) > 1 and corners[-1][1] == _interpolate(corners[-2], point, corners[-1][0]):
            corners.pop()
        corners.append(point)
    return tuple(corners)
