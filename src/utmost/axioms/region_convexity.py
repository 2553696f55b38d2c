"""Decide whether a region is convex. The witness is two allowed points and a forbidden one between them.

A region Q that contains (0, 0) and (1, 1) is convex exactly when (1) it contains the diagonal, (2) what it allows at
each a is an interval, and (3) its upper end M is concave and, on each straight piece of M, the values a where the
end itself is allowed are an interval. These are necessary: each failure shows three points on a line. They suffice: a
segment that crosses the diagonal does so in Q, so by the symmetry of Q only the part above the diagonal matters; a
point between two points of that part is not above M, and if it is on M then so are both, on one straight piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from utmost.axioms.curves import Curve, Point
from utmost.axioms.regions import End, Region
from utmost.exact import Number

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class ConvexityGap:
    """Two points that are allowed, `first` and `second`, and one strictly between them, `missing`, that is not."""

    first: Point
    second: Point
    missing: Point

    @property
    def weight(self) -> Number:
        """missing = weight·first + (1−weight)·second."""
        axis = 0 if self.first[0] != self.second[0] else 1
        return (self.second[axis] - self.missing[axis]) / (self.second[axis] - self.first[axis])


def convexity_gap(region: Region) -> ConvexityGap | None:
    """Why a region that allows (0, 0) and (1, 1) is not convex; None if it is. The module says why this is enough."""
    for column in region.columns:
        if not column.allowed[column.diagonal]:
            return ConvexityGap((ZERO, ZERO), (ONE, ONE), (column.argument, column.argument))
    for column in region.columns:
        missing = column.gap
        if missing is not None:
            lowest, highest = column.furthest
            extreme = highest if missing > column.diagonal else lowest
            end_points = (column.argument, column.argument), (column.argument, column.height(extreme))
            return ConvexityGap(*end_points, (column.argument, column.height(missing)))
    return _edge_gap(region) if _is_concave(region) else _deepest_dent(region) or _find_dent(region)


def bound(region: Region) -> Curve:
    """KL10's M of a convex region: sup{b : (a, b) allowed}, with its jump at 0 if it has one. Prop. 2.2.3."""
    limits = [region.limits(k) for k in range(1, len(region.columns), 2)]
    values = [left for left, _ in limits] + [limits[-1][1]]
    return Curve(tuple(zip(region.breakpoints, values, strict=True)), _upper_end(region, 0).value, ONE)


def _upper_end(region: Region, k: int) -> End:
    top = region.columns[k].top
    assert top is not None  # the diagonal is allowed
    return top


def _slopes(region: Region) -> list[Number]:
    """The slopes of the upper end in the open strips."""
    slopes = []
    for k in range(1, len(region.columns), 2):
        left, right = region.limits(k)
        slopes.append((right - left) / (region.columns[k + 1].argument - region.columns[k - 1].argument))
    return slopes


def _is_concave(region: Region) -> bool:
    """Is the upper end concave: continuous inside, slopes that never increase, ends that do not stick out."""
    slopes, last = _slopes(region), len(region.columns) - 1
    if any(right > left for left, right in pairwise(slopes)):
        return False
    for k in range(2, last, 2):
        if not region.limits(k - 1)[1] == _upper_end(region, k).value == region.limits(k + 1)[0]:
            return False
    return (
        _upper_end(region, 0).value <= region.limits(1)[0]
        and _upper_end(region, last).value <= region.limits(last - 1)[1]
    )


def _deepest_dent(region: Region) -> ConvexityGap | None:
    """The deepest dent below a chord of ends that are allowed, at arguments where lines meet; None if there is none."""
    tops = [(column.argument, column.top) for column in region.columns[::2]]
    attained_points = [(a, top.value) for a, top in tops if top is not None and top.attained]
    candidates: list[tuple[Number, ConvexityGap]] = []
    for left, right in _hull_edges(attained_points):
        for k, column in enumerate(region.columns):
            if left[0] < column.argument < right[0]:
                share = (column.argument - left[0]) / (right[0] - left[0])
                height = left[1] + share * (right[1] - left[1])
                if height > _upper_end(region, k).value:
                    candidates.append(
                        (height - _upper_end(region, k).value, ConvexityGap(left, right, (column.argument, height)))
                    )
    return max(candidates, key=lambda pair: pair[0])[1] if candidates else None


def _hull_edges(points: list[Point]) -> Iterator[tuple[Point, Point]]:
    """The edges of the least concave function that is nowhere below some points, given from left to right."""
    hull: list[Point] = []
    for point in points:
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return pairwise(hull)


def _turns_left(first: Point, second: Point, third: Point) -> bool:
    """Is the second of three points, from left to right, not above the chord of the others."""
    rise, run = third[1] - first[1], third[0] - first[0]
    return (second[1] - first[1]) * run <= rise * (second[0] - first[0])


def _find_dent(region: Region) -> ConvexityGap:
    """Three points in a row of which the middle one is above what is allowed, where the upper end is not concave.

    Points of Q near the upper end, at each breakpoint and beside it at a distance of t strips, and t² below it where
    the end is not allowed. As t falls they tend to the upper end faster than they approach each other, and if no three
    of them in a row had a dent for small t the upper end would be concave; so some t is small enough.
    """
    step = Fraction(1, 4)
    while True:
        samples = list(_points_near_upper_end(region, step))
        for left, middle, right in zip(samples, samples[1:], samples[2:], strict=False):
            share = (middle[0] - left[0]) / (right[0] - left[0])
            height = left[1] + share * (right[1] - left[1])
            if middle[1] < height <= 1 and not region(middle[0], height):
                return ConvexityGap(left, right, (middle[0], height))
        step /= 2


def _points_near_upper_end(region: Region, step: Fraction) -> Iterator[Point]:
    """Allowed points near the upper end, from left to right."""
    for k, column in enumerate(region.columns):
        end = _upper_end(region, k)
        points = [(column.argument, end.value)]
        if k % 2:
            (low, high), start = region.limits(k), region.columns[k - 1].argument
            width = region.columns[k + 1].argument - start
            points = [(start + share * width, low + share * (high - low)) for share in (step, 1 - step)]
        for a, value in points:
            yield a, value if end.attained else value - step**2 * (value - a)


def _edge_gap(region: Region) -> ConvexityGap | None:
    """Two allowed points on a straight piece of the upper end with one between them that is not allowed."""
    for edge in _straight_pieces(region):
        attained_indices = [k for k, (_, attained) in enumerate(edge) if attained]
        for k in range(attained_indices[0], attained_indices[-1]) if attained_indices else ():
            if not edge[k][1]:
                return ConvexityGap(edge[attained_indices[0]][0], edge[attained_indices[-1]][0], edge[k][0])
    return None


def _straight_pieces(region: Region) -> Iterator[list[tuple[Point, bool]]]:
    """The straight pieces of a concave upper end, as long as possible: a point in each face, and is it allowed."""
    slopes = _slopes(region)
    edge: list[tuple[Point, bool]] = []
    for k, column in enumerate(region.columns):
        end = _upper_end(region, k)
        marked_point = (column.argument, end.value), end.attained
        if k > 0 or end.value == region.limits(1)[0]:
            edge.append(marked_point)
        if k % 2 == 0 and 0 < k < len(region.columns) - 1 and slopes[k // 2 - 1] != slopes[k // 2]:
            yield edge
            edge = [marked_point]
    yield edge
