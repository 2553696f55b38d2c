"""Regions: the probabilities (a, b) that a predicate allows, a subset of [0, 1]², and whether they are convex.

The lines of a predicate cut the square into faces (points, open segments, open polygons) on which its answer does not
change. They are examined column by column: the values a where two lines cross, or where one is vertical, and one value
between each two of these. In a column the lines stand one above the other, so finitely many questions answer for all.

Decide whether a region is convex. The witness is two allowed points and a forbidden one between them.

A region Q that contains (0, 0) and (1, 1) is convex exactly when (1) it contains the diagonal, (2) what it allows at
each a is an interval, and (3) its upper end M is concave and, on each straight piece of M, the values a where the
end itself is allowed are an interval. These are necessary: each failure shows three points on a line. They suffice: a
segment that crosses the diagonal does so in Q, so by the symmetry of Q only the part above the diagonal matters; a
point between two points of that part is not above M, and if it is on M then so are both, on one straight piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from utmost.axioms.curves import Curve, Point
from utmost.axioms.predicate import (
    AllOf,
    Linear,
    Predicate,
    Tree,
    fix_first_argument,
    from_curve,
    linear_forms,
    swap_arguments,
    symmetrise,
)
from utmost.errors import InputError
from utmost.exact import Number, sign

ZERO, ONE = Fraction(0), Fraction(1)
MAX_LINES = 100  # complements counted; columns grow with the square of it
FRAME_LINES = (Linear(ZERO, ONE, ZERO), Linear(ZERO, ONE, -ONE), Linear(-ONE, ONE, ZERO))  # b = 0, b = 1, b = a


@dataclass(frozen=True, slots=True)
class End:
    """The upper or lower end of what is allowed at one a; `attained` if it is itself allowed."""

    value: Number
    attained: bool


@dataclass(frozen=True, slots=True)
class Column:
    """What is allowed at one a, from bottom to top: at heights[0], between it and heights[1], at heights[1], …"""

    argument: Number
    heights: tuple[Number, ...]
    allowed: tuple[bool, ...]

    def height(self, face: int) -> Number:
        """A height in a face: even faces are heights, odd ones lie between two."""
        low = self.heights[face // 2]
        return low if face % 2 == 0 else (low + self.heights[face // 2 + 1]) / 2

    @property
    def top(self) -> End | None:
        """sup{b : (a, b) allowed}; None if nothing is. KL10's M_q(a)."""
        return self._end([face for face, is_allowed in enumerate(self.allowed) if is_allowed][-1:], 1)

    @property
    def bottom(self) -> End | None:
        """inf{b : (a, b) allowed}; None if nothing is. KL10's m_q(a)."""
        return self._end([face for face, is_allowed in enumerate(self.allowed) if is_allowed][:1], 0)

    def _end(self, faces: Sequence[int], above: int) -> End | None:
        if not faces:
            return None
        face = faces[0]
        return End(self.heights[face // 2 + above * (face % 2)], face % 2 == 0)

    @property
    def diagonal(self) -> int:
        """The face of (a, a), which is one of the heights."""
        return 2 * self.heights.index(self.argument)

    @property
    def gap(self) -> int | None:
        """The nearest face to the diagonal that is not allowed though one further away, on the same side, is."""
        middle = self.diagonal
        for side in (range(middle, len(self.allowed)), range(middle, -1, -1)):
            faces = list(side)
            missing = next((k for k, face in enumerate(faces) if not self.allowed[face]), None)
            if missing is not None and any(self.allowed[face] for face in faces[missing:]):
                return faces[missing]
        return None

    @property
    def furthest(self) -> tuple[int, int]:
        """The lowest and the highest face that is allowed."""
        faces = [face for face, is_allowed in enumerate(self.allowed) if is_allowed]
        return faces[0], faces[-1]


@dataclass(frozen=True)
class Region:
    """The pairs (a, b) that a predicate allows for an event and for its complement: a ↦ 1−a, b ↦ 1−b maps it to itself.

    `tree` is symmetrised; `name` says where it comes from.
    """

    tree: Tree
    name: str

    def __call__(self, a: Number, b: Number) -> bool:
        """Is (a, b) allowed, and (1−a, 1−b)."""
        return self.tree(a, b)

    @cached_property
    def lines(self) -> tuple[Linear, ...]:
        """The lines that can part the allowed from the rest, the diagonal and the sides among them."""
        distinct: list[Linear] = []
        for line in (*FRAME_LINES, *linear_forms(self.tree)):
            if not any(_is_same_line(line, known_line) for known_line in distinct):
                distinct.append(line)
        if len(distinct) > MAX_LINES:
            limit_text = f"at most {MAX_LINES} lines, those of complements and of the reversed pair counted"
            raise InputError(
                f"rule must have {limit_text}, got {len(distinct)}", "rule", "take fewer comparisons or points"
            )
        return tuple(distinct)

    def column(self, a: Number) -> Column:
        """What is allowed at one a in [0, 1], exact."""
        restricted = fix_first_argument(self.tree, a)
        heights = [ZERO, a, ONE] if isinstance(restricted, bool) else [ZERO, a, ONE, *_roots(restricted)]
        levels = _distinct(b for b in heights if 0 <= b <= 1)
        midpoints = [(low + high) / 2 for low, high in pairwise(levels)]
        faces = [b for pair in zip(levels, midpoints, strict=False) for b in pair] + levels[-1:]
        allowed = [restricted if isinstance(restricted, bool) else restricted(ZERO, b) for b in faces]
        return Column(a, tuple(levels), tuple(allowed))

    @cached_property
    def breakpoints(self) -> tuple[Number, ...]:
        """The values a in [0, 1], 0 and 1 included, where two lines meet or one is vertical, in order."""
        breakpoints: list[Number] = [ZERO, ONE]
        for k, line in enumerate(self.lines):
            if not line.b_coefficient:
                breakpoints.append(-line.shift / line.a_coefficient)
            breakpoints += [a for earlier in self.lines[:k] if (a := _crossing(line, earlier)) is not None]
        return tuple(_distinct(a for a in breakpoints if 0 <= a <= 1))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """At each of `breakpoints`, and in the middle between each two, in order: even ones are at breakpoints."""
        midpoints = [(left + right) / 2 for left, right in pairwise(self.breakpoints)]
        paired = [a for pair in zip(self.breakpoints, midpoints, strict=False) for a in pair]
        return tuple(self.column(a) for a in (*paired, self.breakpoints[-1]))

    def limits(self, k: int) -> tuple[Number, Number]:
        """The limits of the upper end at the two sides of the open strip whose middle is the odd column k."""
        column = self.columns[k]
        assert column.top is not None
        left, right = (self.along(column, column.top.value, self.columns[side].argument) for side in (k - 1, k + 1))
        return left, right

    def along(self, column: Column, height: Number, a: Number) -> Number:
        """The height at an argument of the line through one of the heights of a column."""
        line = next(line for line in self.lines if line.b_coefficient and not line(column.argument, height))
        return -line(a, ZERO) / line.b_coefficient


def region(rule: Predicate | Curve, reverse_rule: Predicate | Curve | None = None) -> Region:
    """What a rule for (i₁, i₂) allows, and what `reverse_rule`, a rule for (i₂, i₁), allows as well.

    A curve M allows b ≤ M(a). Both rules hold for complements too. KL10 Ass. 2.2.1.

    >>> from utmost.axioms.predicate import parse_privacy_predicate
    >>> region(parse_privacy_predicate("b <= 2*a")).column(Fraction(3, 4)).bottom.value
    Fraction(1, 2)
    """
    forward = rule if isinstance(rule, Predicate) else from_curve(rule)
    if reverse_rule is None:
        return Region(symmetrise(forward.tree), forward.text)
    reverse = reverse_rule if isinstance(reverse_rule, Predicate) else from_curve(reverse_rule)
    return Region(symmetrise(AllOf((forward.tree, swap_arguments(reverse.tree)))), forward.text)


def _roots(tree: Tree) -> list[Number]:
    """Where the functions of a tree in b alone are zero."""
    return [-form.shift / form.b_coefficient for form in linear_forms(tree)]


def _distinct(values: Iterable[Number]) -> list[Number]:
    """Each value once, in order."""
    sorted_values = sorted(values)
    return [value for k, value in enumerate(sorted_values) if k == 0 or value != sorted_values[k - 1]]


def _is_same_line(first: Linear, second: Linear) -> bool:
    """Are two functions zero on the same line."""
    minors = (
        first.a_coefficient * second.b_coefficient - first.b_coefficient * second.a_coefficient,
        first.a_coefficient * second.shift - first.shift * second.a_coefficient,
        first.b_coefficient * second.shift - first.shift * second.b_coefficient,
    )
    return not any(sign(value) for value in minors)


def _crossing(first: Linear, second: Linear) -> Number | None:
    """The a where two lines cross, None if they are parallel."""
    determinant = first.a_coefficient * second.b_coefficient - first.b_coefficient * second.a_coefficient
    return (
        None
        if not determinant
        else (first.b_coefficient * second.shift - first.shift * second.b_coefficient) / determinant
    )


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
