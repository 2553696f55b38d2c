"""Spaces made of spaces: products (distances add), multiples, parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.errors import InputError
from utmost.exact import Number, number, sign
from utmost.spaces.distance_order import Whole, sort_distinct
from utmost.spaces.distance_tables import brief_number, check_labels
from utmost.spaces.space import (
    MAX_PROFILE_POINTS,
    MAX_TABLE_POINTS,
    Label,
    Profile,
    Shape,
    Space,
    SymmetryGenerators,
    point_count_text,
)
from utmost.spaces.standard_spaces import Databases, Grid, Hamming, discrete, line
from utmost.spaces.symmetry import symmetry_generators


def product_space(first: Space, second: Space) -> Space:
    """All pairs "a|b", with d = d(a, a′) + d(b, b′): secrets with two parts, each protected on its own.

    >>> from utmost.spaces import hamming, line
    >>> both = product_space(line(2), line(3))
    >>> both.name, both.labels[4], both.distance(0, 5)
    ('line:2+line:3', '1|1', Fraction(3, 1))
    """
    factors = tuple(part for factor in (first, second) for part in _factors(factor))
    name = f"{first.name}+{second.name}"
    made = Space.shaped(name, ProductShape(factors))
    if len(made) <= MAX_TABLE_POINTS and any("|" in str(label) for factor in factors for label in factor.labels):
        check_labels(made.labels, len(made), name)
    return made


def _factors(space: Space) -> tuple[Space, ...]:
    return space.shape.factors if isinstance(space.shape, ProductShape) else (space,)


def scale_space(space: Space, factor: object) -> Space:
    """The same points, all distances multiplied by a number > 0.

    >>> from utmost.spaces import line
    >>> scale_space(line(3), "1/2").distance(0, 2), scale_space(line(3), "1/2").name
    (Fraction(1, 1), '1/2*line:3')
    """
    times = number(factor, "factor of a space")
    if sign(times) <= 0:
        raise InputError(f"factor of a space must be > 0, got {brief_number(times)}")
    base, total = (
        (space.shape.base, times * space.shape.factor) if isinstance(space.shape, ScaledShape) else (space, times)
    )
    name = f"({base.name})" if isinstance(base.shape, ProductShape) else base.name
    text = str(total) if set(str(total)) <= set("0123456789/") else f"({total})"
    return Space.shaped(f"{text}*{name}", ScaledShape(base, total))


def sub_space(space: Space, labels: Iterable[Label]) -> Space:
    """Some of the points, in the order given, with their distances.

    >>> from utmost.spaces import line
    >>> part = sub_space(line(9), [0, 4, 5])
    >>> part.labels, part.edges, part.distance(0, 1)
    ((0, 4, 5), ((0, 1), (1, 2)), Fraction(4, 1))
    """
    chosen = np.array([space.position(label) for label in labels], dtype=np.int64)
    if not len(chosen) or len(set(chosen.tolist())) != len(chosen):
        raise InputError(f"labels of a part of {space.name} must be at least one and distinct, got {len(chosen)}")
    return Space.shaped(f"{len(chosen)} of {space.name}", Part(space, chosen))


@dataclass(frozen=True, eq=False)
class ProductShape(Shape):
    """Positions count through the last factor first."""

    factors: tuple[Space, ...]

    @property
    def instead(self) -> str:  # type: ignore[override]
        """As the first of its factors that has more to say."""
        words = {factor.shape.instead for factor in self.factors}
        return words.pop() if len(words) == 1 else Shape.instead

    @property
    def size(self) -> int:
        """All tuples."""
        return math.prod(len(factor) for factor in self.factors)

    def parts(self, x: Whole) -> list[Whole]:
        """The position in each factor."""
        found = []
        for factor in reversed(self.factors):
            x, part = x // len(factor), x % len(factor)
            found.append(part)
        return found[::-1]

    def label(self, position: int) -> Label:
        """Labels with | between them."""
        names = [factor.labels for factor in self.factors]
        parts = self.parts(np.int64(position))  # type: ignore[arg-type]
        return "|".join(str(labels[int(k)]) for labels, k in zip(names, parts, strict=True))

    def keys(self, x: Whole, other: Whole) -> Whole:
        """The codes of the parts' distances, as digits; for factors that can be written out."""
        total: Whole = np.zeros((), dtype=np.int64)
        for factor, a, b in zip(self.factors, self.parts(x), self.parts(other), strict=True):
            total = total * len(factor.values) + factor.codes[a, b]
        return total

    def value(self, key: int) -> Number:
        """The sum of the parts' distances."""
        total: Number = Fraction(0)
        for factor in reversed(self.factors):
            key, digit = divmod(key, len(factor.values))
            total = total + factor.values[digit]
        return total

    def distance(self, x: int, other: int) -> Number:
        """The sum of the parts' distances, at any size."""
        total: Number = Fraction(0)
        for factor in reversed(self.factors):
            (x, a), (other, b) = divmod(x, len(factor)), divmod(other, len(factor))
            total = total + factor.distance(a, b)
        return total

    def edges(self) -> Whole:
        """Edges of one factor, the others fixed: a pair that differs in two parts has a point between."""
        found = [self._lifted(k) for k in range(len(self.factors))]
        pairs = np.concatenate(found)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def _lifted(self, k: int) -> Whole:
        """The edges of the k-th factor at each value of the others."""
        step = math.prod(len(factor) for factor in self.factors[k + 1 :])
        block = step * len(self.factors[k])
        rest = (np.arange(self.size // block)[:, None] * block + np.arange(step)[None, :]).ravel()
        return (rest[:, None, None] + self.factors[k].tight[None, :, :] * step).reshape(-1, 2)

    def profile(self) -> Profile | None:
        """The convolution of the factors' profiles."""
        total: Profile = ((Fraction(0), 1),)
        for factor in self.factors:
            if factor.profile is None:
                return None
            total = _convolved(total, factor.profile)
        return total

    def symmetries(self) -> SymmetryGenerators:
        """Those of each axis, and exchanges of equal axes: a Hamming cube has one for each bit."""
        axes = [axis for factor in self.factors for axis in _axes(factor) if len(axis) > 1]
        places = np.arange(self.size).reshape([len(axis) for axis in axes])
        moves, order = [], 1
        for k, axis in enumerate(axes):
            own = symmetry_generators(axis)
            moves += [np.take(places, image, axis=k).ravel() for image in own.permutations]
            order = order * (own.order or 0)
        groups = _equal(axes)
        swaps = [pair for group in groups for pair in pairwise(group)]
        moves += [np.swapaxes(places, first, second).ravel() for first, second in swaps]
        order *= math.prod(math.factorial(len(group)) for group in groups)
        return SymmetryGenerators(tuple(moves), order or None)


def _axes(space: Space) -> list[Space]:
    """The space as a product of smaller ones, where it is known to be one; positions stay as they are."""
    match space.shape:
        case Hamming(bits):
            return [discrete(2)] * bits
        case Databases(values, rows):
            return [discrete(len(values))] * rows
        case Grid(rows, columns, "manhattan"):
            return [*_axes(line(rows)), *_axes(line(columns))]
        case ScaledShape(base, factor):
            return [scale_space(axis, factor) for axis in _axes(base)]
        case ProductShape(factors):
            return [axis for factor in factors for axis in _axes(factor)]
    return [space]


def _equal(axes: Sequence[Space]) -> list[list[int]]:
    """The numbers of axes that are the same, together."""
    groups: list[list[int]] = []
    for k, axis in enumerate(axes):
        found = next((group for group in groups if _same(axes[group[0]], axis)), None)
        if found is None:
            groups.append([k])
        else:
            found.append(k)
    return groups


def _same(first: Space, second: Space) -> bool:
    """Do two spaces have the same distances, position by position."""
    if first is second or len(first) != len(second):
        return first is second
    return first.values == second.values and np.array_equal(first.codes, second.codes)


def _convolved(first: Profile, second: Profile) -> Profile:
    if len(first) * len(second) > 4 * MAX_PROFILE_POINTS:
        raise InputError(
            f"the profile of a product has up to {point_count_text(len(first) * len(second))} sums of distances, "
            f"and at most {4 * MAX_PROFILE_POINTS} are made: take factors with fewer distances"
        )
    values, places = sort_distinct([a + b for a, _ in first for b, _ in second])
    counts: Counter[int] = Counter()
    for place, count in zip(places.tolist(), (m * n for _, m in first for _, n in second), strict=True):
        counts[place] += count
    return tuple((value, counts[k]) for k, value in enumerate(values))


@dataclass(frozen=True, eq=False)
class ScaledShape(Shape):
    """A space whose distances are multiplied."""

    base: Space
    factor: Number

    @property
    def instead(self) -> str:  # type: ignore[override]
        """As the space that is multiplied."""
        return self.base.shape.instead

    @property
    def size(self) -> int:
        """As many."""
        return len(self.base)

    def label(self, position: int) -> Label:
        """The same."""
        return self.base.shape.label(position)

    def keys(self, x: Whole, other: Whole) -> Whole:
        """The same."""
        return self.base.shape.keys(x, other)

    def value(self, key: int) -> Number:
        """The multiple."""
        return self.factor * self.base.shape.value(key)

    def distance(self, x: int, other: int) -> Number:
        """The multiple."""
        return self.factor * self.base.distance(x, other)

    def edges(self) -> Whole:
        """The same."""
        return self.base.tight

    def profile(self) -> Profile | None:
        """The same numbers at the multiples."""
        own = self.base.profile
        return None if own is None else tuple((self.factor * value, count) for value, count in own)

    def symmetries(self) -> SymmetryGenerators:
        """The same."""
        return symmetry_generators(self.base)


@dataclass(frozen=True, eq=False)
class Part(Shape):
    """Some points of a space."""

    whole: Space
    chosen: Whole

    @property
    def size(self) -> int:
        """As many as chosen."""
        return len(self.chosen)

    def label(self, position: int) -> Label:
        """As in the whole."""
        return self.whole.labels[int(self.chosen[position])]

    def keys(self, x: Whole, other: Whole) -> Whole:
        """As in the whole."""
        found: Whole = self.whole.codes[self.chosen[x], self.chosen[other]]
        return found

    def value(self, key: int) -> Number:
        """As in the whole."""
        return self.whole.values[key]

    def distance(self, x: int, other: int) -> Number:
        """As in the whole."""
        return self.whole.distance(int(self.chosen[x]), int(self.chosen[other]))
