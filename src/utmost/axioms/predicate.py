"""Privacy predicates q(a, b): which probabilities a = P(O|i₁), b = P(O|i₂) of an event are allowed (KL10 Def. 2.0.3).

A predicate is a Boolean combination of linear equations and inequalities in a and b, with exact coefficients. It is
evaluated exactly, and the lines along which its answer can change are known, so that `regions` can decide about all of
[0, 1]² at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from utmost.axioms.curves import Curve
from utmost.exact import Number, sign

ZERO, ONE = Fraction(0), Fraction(1)
LESS, LESS_OR_EQUAL, EQUAL = frozenset({-1}), frozenset({-1, 0}), frozenset({0})
EVERY_SIGN = frozenset({-1, 0, 1})


@dataclass(frozen=True, slots=True)
class Linear:
    """The function a_coefficient·a + b_coefficient·b + shift."""

    a_coefficient: Number
    b_coefficient: Number
    shift: Number

    def __call__(self, a: Number, b: Number) -> Number:
        """Its value."""
        return self.a_coefficient * a + self.b_coefficient * b + self.shift

    def __add__(self, other: Linear) -> Linear:
        return Linear(
            self.a_coefficient + other.a_coefficient, self.b_coefficient + other.b_coefficient, self.shift + other.shift
        )

    def times(self, factor: Number) -> Linear:
        """A multiple."""
        return Linear(self.a_coefficient * factor, self.b_coefficient * factor, self.shift * factor)

    @property
    def constant(self) -> bool:
        """Does it depend on neither a nor b."""
        return not self.a_coefficient and not self.b_coefficient

    @property
    def complement(self) -> Linear:
        """The same of the complementary event: its value at (1−a, 1−b)."""
        return Linear(-self.a_coefficient, -self.b_coefficient, self.a_coefficient + self.b_coefficient + self.shift)

    @property
    def swapped(self) -> Linear:
        """The same of the pair (i₂, i₁): its value at (b, a)."""
        return Linear(self.b_coefficient, self.a_coefficient, self.shift)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sign of a linear function is one of `signs`, a set of −1, 0 and 1."""

    form: Linear
    signs: frozenset[int]

    def __call__(self, a: Number, b: Number) -> bool:
        """Does it hold at (a, b)."""
        return sign(self.form(a, b)) in self.signs


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of its parts hold."""

    parts: tuple[Tree, ...]

    def __call__(self, a: Number, b: Number) -> bool:
        """Does it hold at (a, b)."""
        return all(part(a, b) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of its parts holds."""

    parts: tuple[Tree, ...]

    def __call__(self, a: Number, b: Number) -> bool:
        """Does it hold at (a, b)."""
        return any(part(a, b) for part in self.parts)


Tree: TypeAlias = Comparison | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate and the text it was read from, or a name.

    >>> from utmost.axioms.predicate_parser import parse_privacy_predicate
    >>> parse_privacy_predicate("b <= 2*a")(Fraction(1, 4), Fraction(1, 2))
    True
    """

    text: str
    tree: Tree

    def __call__(self, a: Number, b: Number) -> bool:
        """q(a, b), decided."""
        return self.tree(a, b)

    def __str__(self) -> str:
        """The text."""
        return self.text


def linear_forms(tree: Tree) -> Iterator[Linear]:
    """The linear functions whose signs decide a tree; constants left out."""
    if isinstance(tree, Comparison):
        yield from () if tree.form.constant else (tree.form,)
        return
    for part in tree.parts:
        yield from linear_forms(part)


def negation(tree: Tree) -> Tree:
    """What holds where the tree does not (De Morgan)."""
    if isinstance(tree, Comparison):
        return Comparison(tree.form, EVERY_SIGN - tree.signs)
    parts = tuple(negation(part) for part in tree.parts)
    return AnyOf(parts) if isinstance(tree, AllOf) else AllOf(parts)


def complement(tree: Tree) -> Tree:
    """q(1−a, 1−b): the predicate of the complementary event."""
    if isinstance(tree, Comparison):
        return Comparison(tree.form.complement, tree.signs)
    return type(tree)(tuple(complement(part) for part in tree.parts))


def swap_arguments(tree: Tree) -> Tree:
    """q(b, a): what the predicate of the pair (i₂, i₁) asks of (i₁, i₂)."""
    if isinstance(tree, Comparison):
        return Comparison(tree.form.swapped, tree.signs)
    return type(tree)(tuple(swap_arguments(part) for part in tree.parts))


def fix_first_argument(tree: Tree, a: Number) -> Tree | bool:
    """The tree at a fixed a, as a tree in b alone, or its answer where that does not depend on b."""
    if isinstance(tree, Comparison):
        rest = tree.form.a_coefficient * a + tree.form.shift
        if not tree.form.b_coefficient:
            return sign(rest) in tree.signs
        return Comparison(Linear(ZERO, tree.form.b_coefficient, rest), tree.signs)
    decisive = isinstance(tree, AnyOf)
    parts: list[Tree] = []
    for part in tree.parts:
        restricted = fix_first_argument(part, a)
        if restricted is decisive:
            return decisive
        if not isinstance(restricted, bool):
            parts.append(restricted)
    if len(parts) <= 1:
        return parts[0] if parts else not decisive
    return type(tree)(tuple(parts))


def symmetrise(tree: Tree) -> Tree:
    """q(a, b) and q(1−a, 1−b): the same privacy definition, since complements of events are events. KL10 Ass. 2.2.1."""
    return AllOf((tree, complement(tree)))


def from_curve(curve: Curve) -> Predicate:
    """b ≤ M(a) for any curve M, piece by piece."""
    pieces = [
        AllOf((_a_at_least(left[0], strict=left[0] == 0), _a_at_most(right[0], strict=right[0] == 1), _b_at_most(line)))
        for (left, right), line in zip(pairwise(curve.points), curve.lines, strict=True)
    ]
    end_values = [(ZERO, curve.at_zero), (ONE, curve.at_one)]
    points = [AllOf((Comparison(Linear(ONE, ZERO, -a), EQUAL), _b_at_most((ZERO, value)))) for a, value in end_values]
    return Predicate(f"points:{curve}", AnyOf((*pieces, *points)))


def _a_at_least(limit: Number, *, strict: bool) -> Comparison:
    return Comparison(Linear(-ONE, ZERO, limit), LESS if strict else LESS_OR_EQUAL)


def _a_at_most(limit: Number, *, strict: bool) -> Comparison:
    return Comparison(Linear(ONE, ZERO, -limit), LESS if strict else LESS_OR_EQUAL)


def _b_at_most(line: tuple[Number, Number]) -> Comparison:
    slope, start = line
    return Comparison(Linear(-slope, ONE, -start), LESS_OR_EQUAL)
