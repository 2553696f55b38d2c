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
from utmost.spaces.distance_order import IntArray, sort_distinct
from utmost.spaces.distance_tables import check_labels
from utmost.spaces.rounded_tables import brief_number
from utmost.spaces.space import (
    MAX_PROFILE_POINTS,
    MAX_TABLE_POINTS,
    Coordinates,
    Label,
    MapPositions,
    Profile,
    Shape,
    Space,
    SymmetryGenerators,
    point_count_text,
)
from utmost.spaces.symmetry import symmetry_generators


def product_space(first: Space, second: Space) -> Space:
    """All pairs "a|b", with d = d(a, a′) + d(b, b′): secrets with two parts, each protected on its own.

    >>> from utmost.spaces import hamming, line
    >>> both = product_space(line(2), line(3))
    >>> both.name, both.labels[4], both.distance(0, 5)
    ('line:2+line:3', '1|1', Fraction(3, 1))
    """
    factors = tuple(inner_factor for factor in (first, second) for inner_factor in _factors(factor))
    name = f"{first.name}+{second.name}"
    product = Space.from_shape(name, ProductShape(factors))
    if len(product) <= MAX_TABLE_POINTS and any("|" in str(label) for factor in factors for label in factor.labels):
        check_labels(product.labels, len(product), name)
    return product


def _factors(space: Space) -> tuple[Space, ...]:
    return space.shape.factors if isinstance(space.shape, ProductShape) else (space,)


def scale_space(space: Space, factor: object) -> Space:
    """The same points, all distances multiplied by a number > 0.

    >>> from utmost.spaces import line
    >>> scale_space(line(3), "1/2").distance(0, 2), scale_space(line(3), "1/2").name
    (Fraction(1, 1), '1/2*line:3')
    """
    exact_factor = number(factor, "factor of a space")
    if sign(exact_factor) <= 0:
        raise InputError(f"factor of a space must be > 0, got {brief_number(exact_factor)}", "factor")
    base, total_factor = (
        (space.shape.base, exact_factor * space.shape.factor)
        if isinstance(space.shape, ScaledShape)
        else (space, exact_factor)
    )
    name = f"({base.name})" if isinstance(base.shape, ProductShape) else base.name
    factor_text = str(total_factor) if set(str(total_factor)) <= set("0123456789/") else f"({total_factor})"
    return Space.from_shape(f"{factor_text}*{name}", ScaledShape(base, total_factor))


def sub_space(space: Space, labels: Iterable[Label]) -> Space:
    """Some of the points, in the order given, with their distances.

    >>> from utmost.spaces import line
    >>> subspace = sub_space(line(9), [0, 4, 5])
    >>> subspace.labels, subspace.edges, subspace.distance(0, 1)
    ((0, 4, 5), ((0, 1), (1, 2)), Fraction(4, 1))
    """
    positions = np.array([space.position(label) for label in labels], dtype=np.int64)
    if not len(positions) or len(set(positions.tolist())) != len(positions):
        raise InputError(f"labels of a part of {space.name} must be at least one and distinct, got {len(positions)}")
    return Space.from_shape(f"{len(positions)} of {space.name}", SubspaceShape(space, positions))


@dataclass(frozen=True)
class ProductShape(Shape):
    """Positions count through the last factor first."""

    factors: tuple[Space, ...]

    @property
    def size_advice(self) -> str:  # type: ignore[override]
        """That of its factors, if they agree."""
        advice = {factor.shape.size_advice for factor in self.factors}
        return advice.pop() if len(advice) == 1 else Shape.size_advice

    @property
    def size(self) -> int:
        """All tuples."""
        return math.prod(len(factor) for factor in self.factors)

    def factor_positions(self, x: IntArray) -> list[IntArray]:
        """The position in each factor."""
        positions = []
        for factor in reversed(self.factors):
            x, position = x // len(factor), x % len(factor)
            positions.append(position)
        return positions[::-1]

    def label(self, position: int) -> Label:
        """Labels with | between them."""
        factor_labels = [factor.labels for factor in self.factors]
        positions = self.factor_positions(np.int64(position))  # type: ignore[arg-type]
        return "|".join(str(labels[int(k)]) for labels, k in zip(factor_labels, positions, strict=True))

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The codes of the parts' distances, as digits; for factors that can be written out."""
        total: IntArray = np.zeros((), dtype=np.int64)
        for factor, a, b in zip(self.factors, self.factor_positions(x), self.factor_positions(other), strict=True):
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

    def edges(self) -> IntArray:
        """Edges of one factor, the others fixed: a pair that differs in two parts has a point between."""
        edges_by_factor = [self._factor_edges(k) for k in range(len(self.factors))]
        pairs = np.concatenate(edges_by_factor)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def _factor_edges(self, k: int) -> IntArray:
        """The edges of the k-th factor at each value of the others."""
        step = math.prod(len(factor) for factor in self.factors[k + 1 :])
        block = step * len(self.factors[k])
        origins = (np.arange(self.size // block)[:, None] * block + np.arange(step)[None, :]).ravel()
        return (origins[:, None, None] + self.factors[k].edge_array[None, :, :] * step).reshape(-1, 2)

    def profile(self) -> Profile | None:
        """The convolution of the factors' profiles."""
        total: Profile = ((Fraction(0), 1),)
        for factor in self.factors:
            if factor.profile is None:
                return None
            total = _convolve(total, factor.profile)
        return total

    def axes(self) -> list[Space]:
        """Those of its factors."""
        return [axis for factor in self.factors for axis in _axes(factor)]

    @property
    def remark(self) -> str:
        """Those of its factors, each once."""
        return "; ".join(dict.fromkeys(factor.remark for factor in self.factors if factor.remark))

    def symmetries(self) -> SymmetryGenerators:
        """Those of each axis, and exchanges of equal axes: a Hamming cube has one for each bit."""
        axes = [axis for axis in self.axes() if len(axis) > 1]
        positions = np.arange(self.size).reshape([len(axis) for axis in axes])
        permutations, order = [], 1
        for k, axis in enumerate(axes):
            axis_symmetries = symmetry_generators(axis)
            permutations += [np.take(positions, image, axis=k).ravel() for image in axis_symmetries.permutations]
            order = order * (axis_symmetries.order or 0)
        groups = _equal_axis_groups(axes)
        swaps = [pair for group in groups for pair in pairwise(group)]
        permutations += [np.swapaxes(positions, first, second).ravel() for first, second in swaps]
        order *= math.prod(math.factorial(len(group)) for group in groups)
        return SymmetryGenerators(tuple(permutations), order or None)


def _axes(space: Space) -> list[Space]:
    """The space as a product of smaller ones, where it is known to be one; positions stay as they are."""
    return space.shape.axes() or [space]


def _equal_axis_groups(axes: Sequence[Space]) -> list[list[int]]:
    """The numbers of axes that are the same, together."""
    groups: list[list[int]] = []
    for k, axis in enumerate(axes):
        group = next((candidate for candidate in groups if _has_same_distances(axes[candidate[0]], axis)), None)
        if group is None:
            groups.append([k])
        else:
            group.append(k)
    return groups


def _has_same_distances(first: Space, second: Space) -> bool:
    """Do two spaces have the same distances, position by position."""
    if first is second or len(first) != len(second):
        return first is second
    return first.values == second.values and np.array_equal(first.codes, second.codes)


def _convolve(first: Profile, second: Profile) -> Profile:
    if len(first) * len(second) > 4 * MAX_PROFILE_POINTS:
        raise InputError(
            f"the profile of a product has up to {point_count_text(len(first) * len(second))} sums of "
            f"distances, and at most {4 * MAX_PROFILE_POINTS} are made",
            hint="take factors with fewer distances",
        )
    values, positions = sort_distinct([a + b for a, _ in first for b, _ in second])
    counts: Counter[int] = Counter()
    for position, count in zip(positions.tolist(), (m * n for _, m in first for _, n in second), strict=True):
        counts[position] += count
    return tuple((value, counts[k]) for k, value in enumerate(values))


@dataclass(frozen=True)
class ScaledShape(Shape):
    """A space whose distances are multiplied."""

    base: Space
    factor: Number

    @property
    def size_advice(self) -> str:  # type: ignore[override]
        """As the space that is multiplied."""
        return self.base.shape.size_advice

    @property
    def size(self) -> int:
        """As many."""
        return len(self.base)

    def label(self, position: int) -> Label:
        """The same."""
        return self.base.shape.label(position)

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """The same."""
        return self.base.shape.keys(x, other)

    def value(self, key: int) -> Number:
        """The multiple."""
        return self.factor * self.base.shape.value(key)

    def distance(self, x: int, other: int) -> Number:
        """The multiple."""
        return self.factor * self.base.distance(x, other)

    def edges(self) -> IntArray:
        """The same."""
        return self.base.edge_array

    def profile(self) -> Profile | None:
        """The same numbers at the multiples."""
        base_profile = self.base.profile
        return None if base_profile is None else tuple((self.factor * value, count) for value, count in base_profile)

    def axes(self) -> list[Space]:
        """The same, multiplied."""
        return [scale_space(axis, self.factor) for axis in self.base.shape.axes()]

    def line_step(self) -> Number | None:
        """The multiple."""
        step = self.base.shape.line_step()
        return None if step is None else self.factor * step

    @property
    def grid_size(self) -> tuple[int, int] | None:
        """The same."""
        return self.base.shape.grid_size

    def coordinates(self) -> Coordinates | None:
        """The multiples; latitudes and longitudes stay."""
        places = self.base.coordinates
        if places is None or self.is_on_globe:
            return places
        return tuple((self.factor * a, self.factor * b) for a, b in places)

    def map_positions(self) -> MapPositions | None:
        """The same: a map has no unit."""
        return self.base.map_positions

    @property
    def is_on_globe(self) -> bool:
        """As the space that is multiplied."""
        return self.base.shape.is_on_globe

    @property
    def remark(self) -> str:
        """As of the space that is multiplied."""
        return self.base.remark and f"{self.base.remark}; then multiplied by {brief_number(self.factor)}"

    def symmetries(self) -> SymmetryGenerators:
        """The same."""
        return symmetry_generators(self.base)


@dataclass(frozen=True, eq=False)
class SubspaceShape(Shape):
    """Some points of a space."""

    parent: Space
    positions: IntArray

    @property
    def size(self) -> int:
        """The number of selected points."""
        return len(self.positions)

    def label(self, position: int) -> Label:
        """As in the parent."""
        return self.parent.labels[int(self.positions[position])]

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """As in the parent."""
        codes: IntArray = self.parent.codes[self.positions[x], self.positions[other]]
        return codes

    def value(self, key: int) -> Number:
        """As in the parent."""
        return self.parent.values[key]

    def distance(self, x: int, other: int) -> Number:
        """As in the parent."""
        return self.parent.distance(int(self.positions[x]), int(self.positions[other]))

    def coordinates(self) -> Coordinates | None:
        """As in the parent."""
        places = self.parent.coordinates
        return None if places is None else tuple(places[k] for k in self.positions.tolist())

    def map_positions(self) -> MapPositions | None:
        """As in the parent."""
        positions = self.parent.map_positions
        return None if positions is None else tuple(positions[k] for k in self.positions.tolist())

    @property
    def is_on_globe(self) -> bool:
        """As in the parent."""
        return self.parent.shape.is_on_globe

    @property
    def remark(self) -> str:
        """As of the parent."""
        return self.parent.remark
