"""All symmetries of a table of distances, by search.

Points are coloured by what they see: two points get different colours if the multisets of (distance, colour) around
them differ, again and again until nothing splits. Fixing a point and refining anew, down to a colouring that tells all
points apart, gives a base. A symmetry is found by choosing images of the base, one colour at a time, and is verified
on the whole table. The group's order is the product of the orbits of the base's points, each in the group that fixes
those before (orbit and stabiliser).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from utmost.spaces.distance_order import Whole
from utmost.spaces.space import SymmetryGenerators

MOST_WORK = 3 * 10**8  # table entries that are looked at: about ten seconds


class _Exhausted(Exception):
    """The search has taken its share of work."""


@dataclass(frozen=True, slots=True)
class _Colouring:
    """Colours that depend on distances alone, and a mark: the same for colourings that a symmetry exchanges."""

    colours: Whole
    mark: int

    @property
    def discrete(self) -> bool:
        return int(self.colours.max(initial=0)) + 1 == len(self.colours)

    def cell(self, colour: int) -> list[int]:
        found: list[int] = np.flatnonzero(self.colours == colour).tolist()
        return found

    def target(self) -> int:
        """The point to fix next: the first of a smallest colour with several points."""
        counts = np.bincount(self.colours)
        return self.cell(int(np.argmin(np.where(counts > 1, counts, len(self.colours) + 1))))[0]


@dataclass(slots=True)
class _Search:
    codes: Whole
    work: int = 0
    found: list[Whole] = field(default_factory=list)
    base: list[int] = field(default_factory=list)
    chain: list[_Colouring] = field(default_factory=list)
    classes: Whole = field(init=False)  # the orbits of what was found

    def __post_init__(self) -> None:
        self.classes = np.arange(len(self.codes))

    def refined(self, colours: Whole, fixed: int | None = None) -> _Colouring:
        """Colours split until points of one colour see the same."""
        colours = colours * 2
        if fixed is not None:
            colours[fixed] += 1
        marks, classes = [], 0
        while True:
            self.work += self.codes.size
            if self.work > MOST_WORK:
                raise _Exhausted
            seen = np.sort(self.codes * (int(colours.max()) + 1) + colours[None, :], axis=1)
            rows = np.ascontiguousarray(np.column_stack([colours, seen]))
            whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()  # compared byte by byte
            kinds, colours, counts = np.unique(whole, return_inverse=True, return_counts=True)
            marks.append(hash(kinds.tobytes() + counts.tobytes()))
            if len(counts) == classes:
                return _Colouring(colours, hash(tuple(marks)))
            classes = len(counts)

    def run(self) -> SymmetryGenerators:
        """Generators and order; what was found so far, and no order, if the work is too much."""
        order = 1
        try:
            self._fix_base()
            for depth in reversed(range(len(self.base))):
                order *= self._orbit(depth)
        except _Exhausted:
            return SymmetryGenerators(tuple(self.found), None)
        return SymmetryGenerators(tuple(self.found), order)

    def _fix_base(self) -> None:
        self.chain.append(self.refined(np.zeros(len(self.codes), dtype=np.int64)))
        while not self.chain[-1].discrete:
            self.base.append(self.chain[-1].target())
            self.chain.append(self.refined(self.chain[-1].colours, self.base[-1]))

    def _orbit(self, depth: int) -> int:
        """How many points the group that fixes the base up to here takes its next point to; adds to `found`."""
        point, level = self.base[depth], self.chain[depth]
        refuted: set[int] = set()
        for image in level.cell(int(level.colours[point])):
            if self.classes[image] == self.classes[point] or self.classes[image] in self.classes[list(refuted)]:
                continue
            moved = self._exchange(point, image) if self._twins(point, image) else self._tried(depth, level, image)
            if moved is None:
                refuted.add(image)
            else:
                self.found.append(moved)
                self.classes = joined(self.classes, moved)
        return int((self.classes == self.classes[point]).sum())

    def _twins(self, point: int, image: int) -> bool:
        """Do two points have the same distances to all others, and stand in the same relation to each other."""
        same = self.codes[point] == self.codes[image]
        same[[point, image]] = True
        return bool(same.all())

    def _exchange(self, point: int, image: int) -> Whole:
        moved = np.arange(len(self.codes))
        moved[[point, image]] = image, point
        return moved

    def _tried(self, depth: int, level: _Colouring, image: int) -> Whole | None:
        """A symmetry that takes the base's point at this depth to the image, given the images of those before."""
        below = self.refined(level.colours, image)
        if below.mark != self.chain[depth + 1].mark:
            return None
        if depth + 1 == len(self.base):
            return self._verified(below)
        colour = int(self.chain[depth + 1].colours[self.base[depth + 1]])
        for next_image in below.cell(colour):
            moved = self._tried(depth + 1, below, next_image)
            if moved is not None:
                return moved
        return None

    def _verified(self, leaf: _Colouring) -> Whole | None:
        """The points of equal colours paired, if that keeps all distances."""
        moved = np.argsort(leaf.colours)[self.chain[-1].colours]
        return moved if np.array_equal(self.codes[np.ix_(moved, moved)], self.codes) else None


def automorphisms(codes: Whole) -> SymmetryGenerators:
    """Generators of the group of permutations g with codes[g(x), g(y)] = codes[x, y], and its order.

    If that takes more than about ten seconds, those found by then (perhaps none) and no order.

    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    >>> automorphisms(square).order
    8
    """
    return _Search(codes).run()


def orbits(size: int, permutations: Iterable[Whole]) -> Whole:
    """The orbit of each of 0 … size−1, numbered in the order of their first members.

    >>> orbits(4, [np.array([2, 1, 0, 3])]).tolist()
    [0, 1, 0, 2]
    """
    names = np.arange(size)
    for image in permutations:
        names = joined(names, image)
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def joined(names: Whole, image: Whole) -> Whole:
    """Classes, each named by its least member, made coarser: those of k and image[k] become one, for each k."""
    names = names.copy()
    while True:
        moved = names[image]
        apart = np.flatnonzero(names != moved)
        if not len(apart):
            return names
        first, second = names[apart], moved[apart]
        names[np.maximum(first, second)] = np.minimum(first, second)
        while not np.array_equal(higher := names[names], names):
            names = higher
