"""Symmetries of a space: permutations that keep all distances, found by search; orbits of points and pairs.

All symmetries of a table of distances, by search.

Points are coloured by the distances around them: two points get different colours if the multisets of (distance,
colour) around them differ, repeated until nothing splits. Fixing a point and refining again, down to a colouring in
which all points differ, gives a base. A symmetry is found by choosing images of the base, one colour at a time, and
is verified on the whole table. The group's order is the product of the orbits of the base's points, each in the
group that fixes those before (orbit and stabiliser).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from utmost.result_values import equal_fields, hash_of_kind, short_repr
from utmost.spaces.distance_order import IntArray
from utmost.spaces.space import Space, SymmetryGenerators

MAX_TABLE_READS = 3 * 10**8  # table entries that are read: about ten seconds


class _WorkLimitReached(Exception):
    """The search has read as many table entries as it may."""


@dataclass(frozen=True, slots=True)
class _Colouring:
    """Colours that depend on distances alone, and a mark: the same for colourings that a symmetry exchanges."""

    colours: IntArray
    mark: int

    @property
    def is_discrete(self) -> bool:
        return int(self.colours.max(initial=0)) + 1 == len(self.colours)

    def cell(self, colour: int) -> list[int]:
        points: list[int] = np.flatnonzero(self.colours == colour).tolist()
        return points

    def next_base_point(self) -> int:
        """The point to fix next: the first of a smallest colour with several points."""
        counts = np.bincount(self.colours)
        return self.cell(int(np.argmin(np.where(counts > 1, counts, len(self.colours) + 1))))[0]


@dataclass(slots=True)
class _Search:
    codes: IntArray
    table_reads: int = 0
    generators: list[IntArray] = field(default_factory=list)
    base: list[int] = field(default_factory=list)
    colourings: list[_Colouring] = field(default_factory=list)
    classes: IntArray = field(init=False)  # the orbits of the generators

    def __post_init__(self) -> None:
        self.classes = np.arange(len(self.codes))

    def refine(self, colours: IntArray, fixed: int | None = None) -> _Colouring:
        """Split colours until points of one colour have the same distances to each colour."""
        colours = colours * 2
        if fixed is not None:
            colours[fixed] += 1
        round_hashes, class_count = [], 0
        while True:
            self.table_reads += self.codes.size
            if self.table_reads > MAX_TABLE_READS:
                raise _WorkLimitReached
            neighbourhoods = np.sort(self.codes * (int(colours.max()) + 1) + colours[None, :], axis=1)
            rows = np.ascontiguousarray(np.column_stack([colours, neighbourhoods]))
            row_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()  # compared byte by byte
            distinct_rows, colours, counts = np.unique(row_bytes, return_inverse=True, return_counts=True)
            round_hashes.append(hash(distinct_rows.tobytes() + counts.tobytes()))
            if len(counts) == class_count:
                return _Colouring(colours, hash(tuple(round_hashes)))
            class_count = len(counts)

    def run(self) -> SymmetryGenerators:
        """Generators and order; those found so far, and no order, if the work limit is reached."""
        order = 1
        try:
            self._fix_base()
            for depth in reversed(range(len(self.base))):
                order *= self._orbit_size(depth)
        except _WorkLimitReached:
            return SymmetryGenerators(tuple(self.generators), None)
        return SymmetryGenerators(tuple(self.generators), order)

    def _fix_base(self) -> None:
        self.colourings.append(self.refine(np.zeros(len(self.codes), dtype=np.int64)))
        while not self.colourings[-1].is_discrete:
            self.base.append(self.colourings[-1].next_base_point())
            self.colourings.append(self.refine(self.colourings[-1].colours, self.base[-1]))

    def _orbit_size(self, depth: int) -> int:
        """The orbit size of the base's point under the group that fixes those before it; adds to `generators`."""
        point, colouring = self.base[depth], self.colourings[depth]
        refuted: set[int] = set()
        for image in colouring.cell(int(colouring.colours[point])):
            if self.classes[image] == self.classes[point] or self.classes[image] in self.classes[list(refuted)]:
                continue
            symmetry = (
                self._transposition(point, image)
                if self._are_twins(point, image)
                else self._extend_symmetry(depth, colouring, image)
            )
            if symmetry is None:
                refuted.add(image)
            else:
                self.generators.append(symmetry)
                self.classes = merge_classes(self.classes, symmetry)
        return int((self.classes == self.classes[point]).sum())

    def _are_twins(self, point: int, image: int) -> bool:
        """Do two points have the same distances to all others, and stand in the same relation to each other."""
        same = self.codes[point] == self.codes[image]
        same[[point, image]] = True
        return bool(same.all())

    def _transposition(self, point: int, image: int) -> IntArray:
        permutation = np.arange(len(self.codes))
        permutation[[point, image]] = image, point
        return permutation

    def _extend_symmetry(self, depth: int, colouring: _Colouring, image: int) -> IntArray | None:
        """A symmetry that takes the base's point at this depth to the image, given the images of those before."""
        refined = self.refine(colouring.colours, image)
        if refined.mark != self.colourings[depth + 1].mark:
            return None
        if depth + 1 == len(self.base):
            return self._leaf_symmetry(refined)
        colour = int(self.colourings[depth + 1].colours[self.base[depth + 1]])
        for next_image in refined.cell(colour):
            symmetry = self._extend_symmetry(depth + 1, refined, next_image)
            if symmetry is not None:
                return symmetry
        return None

    def _leaf_symmetry(self, colouring: _Colouring) -> IntArray | None:
        """The points of equal colours paired, if that keeps all distances."""
        permutation = np.argsort(colouring.colours)[self.colourings[-1].colours]
        return permutation if np.array_equal(self.codes[np.ix_(permutation, permutation)], self.codes) else None


def automorphisms(codes: IntArray) -> SymmetryGenerators:
    """Generators of the group of permutations g with codes[g(x), g(y)] = codes[x, y], and its order.

    If that takes more than about ten seconds, those found by then (perhaps none) and no order.

    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    >>> automorphisms(square).order
    8
    """
    return _Search(codes).run()


def orbits(size: int, permutations: Iterable[IntArray]) -> IntArray:
    """The orbit of each of 0 … size−1, numbered in the order of their first members.

    >>> orbits(4, [np.array([2, 1, 0, 3])]).tolist()
    [0, 1, 0, 2]
    """
    classes = np.arange(size)
    for image in permutations:
        classes = merge_classes(classes, image)
    return np.unique(classes, return_inverse=True)[1].astype(np.int64)


def merge_classes(classes: IntArray, image: IntArray) -> IntArray:
    """Classes, each named by its least member, made coarser: those of k and image[k] become one, for each k."""
    classes = classes.copy()
    while True:
        image_classes = classes[image]
        differing = np.flatnonzero(classes != image_classes)
        if not len(differing):
            return classes
        first, second = classes[differing], image_classes[differing]
        classes[np.maximum(first, second)] = np.minimum(first, second)
        while not np.array_equal(shortened := classes[classes], classes):
            classes = shortened


@dataclass(frozen=True, slots=True, eq=False)
class Symmetries:
    """A group of symmetries: its generators, its orbits of points and of ordered pairs, its order (None: not known).

    Points with one number in `points` are taken to each other by some symmetry; so are pairs with one number in
    `pairs`. Orbits are numbered by their first point or pair.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    generators: tuple[IntArray, ...]
    points: IntArray
    pairs: IntArray
    order: int | None


def symmetries(space: Space) -> Symmetries:
    """The symmetries of a space; each generator keeps all distances exactly.

    Named families, their multiples and products know them in closed form: the whole group for a family, and for a
    product the group of its axes and of exchanges of equal ones. Tables, graphs and parts are searched: the whole group
    too, unless that takes more than about ten seconds. Then `generators` are those found by then, perhaps none (the
    identity alone), and `order` is None. Orbits are always those of the generators.

    >>> from utmost.spaces import hamming
    >>> cube = symmetries(hamming(3))
    >>> cube.order, cube.points.tolist(), int(cube.pairs.max()) + 1
    (48, [0, 0, 0, 0, 0, 0, 0, 0], 4)
    """
    space.check_table_size()
    group = symmetry_generators(space)
    size = len(space)
    pair_images = ((image[:, None] * size + image[None, :]).ravel() for image in group.permutations)
    pairs = orbits(size * size, pair_images).reshape(size, size)
    return Symmetries(group.permutations, orbits(size, group.permutations), pairs, group.order)


def symmetry_generators(space: Space) -> SymmetryGenerators:
    """Generators and order: in closed form where the shape has one, else by search."""
    return space.shape.symmetries() or automorphisms(space.codes)
