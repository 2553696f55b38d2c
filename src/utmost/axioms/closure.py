"""The closure: the least definition above a given one that satisfies both axioms.

For one pair of secrets, let Q be what is allowed for an event and for its complement, (0, 0) and (1, 1) among it. The
closure allows the convex hull of Q. It is sound (`soundness`). It is the least: a definition that every mechanism of
the given one meets allows each u of Q, since the mechanism with an output of probabilities u and another of 1−u meets
the given one; if it is sound what it allows is convex, so it allows the hull. And each point of the hull is needed: it
is an event of a mixture of such mechanisms.

As a bound M, the closure is the least concave function that is nowhere below KL10's M_q, with M_q(0) at 0: the side
a = 0 of the square meets the hull in the hull of what Q has there, so a jump at 0 stays. M allows its boundary. Where
some corner of the boundary is only approached by Q, the hull is without part of it, and M is the least definition of
the form of Def. 2.1.3 above it; `attained` says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from utmost.axioms.curves import Curve, Point, curve_from_points, pointwise_minimum
from utmost.axioms.pair_rules import DIAGONAL, TRIVIAL_BOUND, AllowedPairs, Rule
from utmost.axioms.regions import Column, Region
from utmost.exact import Number

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Closure:
    """The bound of the least sound definition; `certain` if it is known everywhere, not on a grid alone.

    `attained`: every point that the bound allows is needed; if not, part of its boundary is only approached.
    """

    bound: Curve
    attained: bool
    certain: bool


def closure(rule: Rule, reverse_rule: Rule | None = None) -> Closure:
    """The closure of what a rule, and one for the reversed pair, allow. Of nothing, it is M(a) = a: constants only.

    >>> str(closure(curve_from_points([(0, 0), ("1/2", "1/4"), (1, 1)])).bound)
    '0 0, 1 1'
    >>> str(closure(curve_from_points([(0, "1/2"), ("1/4", "1/2"), ("1/2", 1), (1, 1)])).bound)
    '0 1/2, 1/2 1, 1 1'
    """
    allowed_pairs = AllowedPairs(rule, reverse_rule)
    if not allowed_pairs(ZERO, ZERO):
        return Closure(DIAGONAL, True, True)
    if not allowed_pairs.certain:
        return Closure(allowed_pairs.grid.closure(), False, False)
    if (bound := allowed_pairs.bound) is not None:
        return Closure(bound, True, True)
    if isinstance(rule, Curve) and reverse_rule is None and DIAGONAL.below(rule).amount <= 0:
        return _curve_closure(pointwise_minimum([rule, TRIVIAL_BOUND]))
    return _region_closure(allowed_pairs.region)


def _curve_closure(curve: Curve) -> Closure:
    """The closure of b ≤ M(a) where a ≤ M(a) ≤ 1: the hull of M. M attains its corners, but perhaps not at a jump."""
    bound = curve.hull
    attained = bound.at_zero == bound.points[0][1] or bound.lines[0] == curve.lines[0]
    return Closure(bound, attained, True)


def _region_closure(region: Region) -> Closure:
    """The least concave function above the upper end, and is each of its corners attained."""
    columns = region.columns
    highest = [max(_upper_values(region, k)) for k in range(0, len(columns), 2)]
    start = _column_top(columns[0])
    limit = max([start, *_strip_limit(region, 1, 0)])
    outline = curve_from_points([(ZERO, limit), *zip(region.breakpoints[1:], highest[1:], strict=True)], start, ONE)
    bound = outline.hull
    corners = [(ZERO, start), *bound.points[1:]]
    return Closure(bound, all(region(*corner) for corner in corners) and _is_jump_attained(region, bound), True)


def _upper_values(region: Region, k: int) -> list[Number]:
    """The upper end at the even column k, and its limits from both sides, and a itself, which the hull contains."""
    return [_column_top(region.columns[k]), *_strip_limit(region, k - 1, 1), *_strip_limit(region, k + 1, 0)]


def _column_top(column: Column) -> Number:
    return column.argument if column.top is None else max(column.argument, column.top.value)


def _strip_limit(region: Region, k: int, side: int) -> list[Number]:
    """The limit of the upper end at one side of the open strip k, if there is such a strip and it allows anything."""
    has_limit = 0 < k < len(region.columns) and region.columns[k].top is not None
    return [region.limits(k)[side]] if has_limit else []


def _is_jump_attained(region: Region, bound: Curve) -> bool:
    """Where the bound jumps at 0: is its first straight piece allowed all the way to 0."""
    first: Point = bound.points[0]
    if bound.at_zero == first[1]:
        return True
    top, limits = region.columns[1].top, region.limits(1)
    slope = (limits[1] - limits[0]) / region.breakpoints[1]
    return top is not None and top.attained and limits[0] == first[1] and slope == bound.lines[0][0]
