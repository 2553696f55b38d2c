"""Regions: the probabilities (a, b) that a predicate allows for an event and its complement, a subset of [0, 1]².

The lines of a predicate cut the square into faces (points, open segments, open polygons) on which its answer does not
change. They are seen column by column: the places a where two lines cross, or where one stands upright, and one place
between each two of these. In a column the lines stand one above the other, so finitely many questions answer for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from utmost.axioms.curves import Curve
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
MOST_LINES = 100  # complements counted; columns grow with the square of it
FRAME = (Linear(ZERO, ONE, ZERO), Linear(ZERO, ONE, -ONE), Linear(-ONE, ONE, ZERO))  # b = 0, b = 1, b = a


@dataclass(frozen=True, slots=True)
class End:
    """The upper or lower end of what is allowed at one place; `attained` if it is itself allowed."""

    value: Number
    attained: bool


@dataclass(frozen=True, slots=True)
class Column:
    """What is allowed at one place a, from bottom to top: at heights[0], between it and heights[1], at heights[1], …"""

    place: Number
    heights: tuple[Number, ...]
    allowed: tuple[bool, ...]

    def height(self, face: int) -> Number:
        """A height in a face: even faces are heights, odd ones lie between two."""
        low = self.heights[face // 2]
        return low if face % 2 == 0 else (low + self.heights[face // 2 + 1]) / 2

    @property
    def top(self) -> End | None:
        """sup{b : (a, b) allowed}; None if nothing is. KL10's M_q(a)."""
        return self._end([face for face, yes in enumerate(self.allowed) if yes][-1:], 1)

    @property
    def bottom(self) -> End | None:
        """inf{b : (a, b) allowed}; None if nothing is. KL10's m_q(a)."""
        return self._end([face for face, yes in enumerate(self.allowed) if yes][:1], 0)

    def _end(self, faces: Sequence[int], above: int) -> End | None:
        if not faces:
            return None
        face = faces[0]
        return End(self.heights[face // 2 + above * (face % 2)], face % 2 == 0)

    @property
    def diagonal(self) -> int:
        """The face of (a, a), which is one of the heights."""
        return 2 * self.heights.index(self.place)

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
        faces = [face for face, yes in enumerate(self.allowed) if yes]
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
        found: list[Linear] = []
        for line in (*FRAME, *linear_forms(self.tree)):
            if not any(_same(line, other) for other in found):
                found.append(line)
        if len(found) > MOST_LINES:
            most = f"at most {MOST_LINES} lines, those of complements and of the reversed pair counted"
            raise InputError(f"rule must have {most}, got {len(found)}: take fewer comparisons or points")
        return tuple(found)

    def column(self, place: Number) -> Column:
        """What is allowed at one place a in [0, 1], exact."""
        rest = fix_first_argument(self.tree, place)
        heights = [ZERO, place, ONE] if isinstance(rest, bool) else [ZERO, place, ONE, *_roots(rest)]
        levels = _distinct(b for b in heights if 0 <= b <= 1)
        between = [(low + high) / 2 for low, high in pairwise(levels)]
        faces = [b for pair in zip(levels, between, strict=False) for b in pair] + levels[-1:]
        allowed = [rest if isinstance(rest, bool) else rest(ZERO, b) for b in faces]
        return Column(place, tuple(levels), tuple(allowed))

    @cached_property
    def places(self) -> tuple[Number, ...]:
        """The places in [0, 1], both ends included, where two lines meet or one stands upright, in order."""
        found: list[Number] = [ZERO, ONE]
        for k, line in enumerate(self.lines):
            if not line.up:
                found.append(-line.shift / line.across)
            found += [a for other in self.lines[:k] if (a := _meeting(line, other)) is not None]
        return tuple(_distinct(a for a in found if 0 <= a <= 1))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """At each of `places`, and in the middle between each two, in order: even ones are the places themselves."""
        between = [(left + right) / 2 for left, right in pairwise(self.places)]
        every = [a for pair in zip(self.places, between, strict=False) for a in pair] + [self.places[-1]]
        return tuple(self.column(a) for a in every)

    def limits(self, k: int) -> tuple[Number, Number]:
        """The limits of the upper end at the two sides of the open strip whose middle is the odd column k."""
        column = self.columns[k]
        assert column.top is not None
        left, right = (self.along(column, column.top.value, self.columns[side].place) for side in (k - 1, k + 1))
        return left, right

    def along(self, column: Column, height: Number, place: Number) -> Number:
        """The height at a place of the line through one of the heights of a column."""
        line = next(line for line in self.lines if line.up and not line(column.place, height))
        return -line(place, ZERO) / line.up


def region(rule: Predicate | Curve, back: Predicate | Curve | None = None) -> Region:
    """What a rule for (i₁, i₂) allows, and what `back`, a rule for (i₂, i₁), allows as well.

    A curve M allows b ≤ M(a). Both rules hold for complements too. KL10 Ass. 2.2.1.

    >>> from utmost.axioms.predicate_parser import parse_privacy_predicate
    >>> region(parse_privacy_predicate("b <= 2*a")).column(Fraction(3, 4)).bottom.value
    Fraction(1, 2)
    """
    forth = rule if isinstance(rule, Predicate) else from_curve(rule)
    if back is None:
        return Region(symmetrise(forth.tree), forth.text)
    other = back if isinstance(back, Predicate) else from_curve(back)
    return Region(symmetrise(AllOf((forth.tree, swap_arguments(other.tree)))), forth.text)


def _roots(tree: Tree) -> list[Number]:
    """Where the functions of a tree in b alone are zero."""
    return [-form.shift / form.up for form in linear_forms(tree)]


def _distinct(values: Iterable[Number]) -> list[Number]:
    """Each value once, in order."""
    ordered = sorted(values)
    return [value for k, value in enumerate(ordered) if k == 0 or value != ordered[k - 1]]


def _same(line: Linear, other: Linear) -> bool:
    """Are two functions zero on the same line."""
    crossed = (
        line.across * other.up - line.up * other.across,
        line.across * other.shift - line.shift * other.across,
        line.up * other.shift - line.shift * other.up,
    )
    return not any(sign(value) for value in crossed)


def _meeting(line: Linear, other: Linear) -> Number | None:
    """The place where two lines cross, None if they are parallel."""
    below = line.across * other.up - line.up * other.across
    return None if not below else (line.up * other.shift - line.shift * other.up) / below
