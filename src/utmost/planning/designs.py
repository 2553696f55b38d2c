"""Designs of a table: its finest cells, the levels that can be published, and whether they have a shape.

A *level* is a partition of the cells, written as the number of the part that each cell is in. Of the whole design three
shapes are told apart. *Regular*: the cells are all combinations of some factors, and every level is told by some of
them: crossed columns, and hierarchies where all cells of a level have as many parts. A *tree*: each level refines the
one before. Anything else has no shape, and is computed with as a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from utmost.errors import InputError

Places: TypeAlias = NDArray[np.int64]

MAX_PLANNED_CELLS = 10**5
MAX_LEVELS = 100
MAX_FACTORS = 12  # of which all subsets are looked at
TOTAL, CELLS = "total", "cells"


@dataclass(frozen=True, eq=False)
class Partition:
    """A level: its name, and the part that each cell is in, numbered from 0."""

    name: str
    places: Places

    @cached_property
    def size(self) -> int:
        """How many parts."""
        return int(self.places.max()) + 1

    @cached_property
    def part_sizes(self) -> Places:
        """How many cells each part has."""
        return np.bincount(self.places, minlength=self.size)


@dataclass(frozen=True, eq=False)
class Factors:
    """Factors whose combinations are the cells: their sizes, and each cell's place in each."""

    sizes: tuple[int, ...]
    places: tuple[Places, ...]

    def partition(self, subset: Sequence[int]) -> Places:
        """The partition that some of the factors tell."""
        numbers = np.zeros(prod(self.sizes), dtype=np.int64)
        for factor in subset:
            numbers = numbers * self.sizes[factor] + self.places[factor]
        return numbers

    def subset(self, partition: Partition) -> frozenset[int] | None:
        """The factors that tell a partition; None where none do."""
        index = np.empty(prod(self.sizes), dtype=np.int64)
        index[self.partition(range(len(self.sizes)))] = np.arange(len(index))
        start, steps = partition.places[index[0]], np.cumprod([1, *reversed(self.sizes[1:])])[::-1]
        chosen = [k for k, step in enumerate(steps) if partition.places[index[step]] != start]
        if prod(self.sizes[k] for k in chosen) != partition.size:
            return None
        return frozenset(chosen) if refines(self.partition(chosen), partition.places) else None


@dataclass(frozen=True, eq=False)
class TableDesign:
    """Cells and levels; `codes` has each cell's value in each column, as a number, the coarsest column first."""

    codes: tuple[Places, ...]
    levels: tuple[Partition, ...]

    @property
    def size(self) -> int:
        """How many cells."""
        return len(self.codes[0])

    @cached_property
    def cells(self) -> Partition:
        """The partition into single cells."""
        return Partition(CELLS, np.arange(self.size, dtype=np.int64))

    @cached_property
    def factors(self) -> Factors | None:
        """The factors of the columns, those of size 1 left out; None where cells are no product."""
        prefix = np.zeros(self.size, dtype=np.int64)
        sizes, places = [], []
        for codes in self.codes:
            pairs, numbers = np.unique(np.stack([prefix, codes]), axis=1, return_inverse=True)
            parts = np.bincount(pairs[0])
            if parts.min() != parts.max():
                return None
            numbers, size = numbers.reshape(-1), int(parts[0])
            if size > 1:
                sizes.append(size)
                places.append((np.arange(pairs.shape[1]) % size)[numbers])
            prefix = numbers
        return Factors(tuple(sizes), tuple(places)) if prod(sizes) == self.size else None


def refines(fine: Places, coarse: Places) -> bool:
    """Is every part of one partition within a part of the other."""
    representative = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    representative[fine] = coarse
    return bool((representative[fine] == coarse).all())


def numbered(codes: Sequence[Places], size: int) -> Places:
    """The partition that columns tell; a single part without columns."""
    if not codes:
        return np.zeros(size, dtype=np.int64)
    return np.unique(np.stack(codes), axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def tree_design(fanouts: Sequence[int]) -> TableDesign:
    """A regular hierarchy: the total, then levels where each cell has so many parts.

    >>> [(level.name, level.size) for level in tree_design([4, 8]).levels]
    [('total', 1), ('4', 4), ('32', 32)]
    """
    codes = _crossed_codes(fanouts)
    sizes = [prod(fanouts[:depth]) for depth in range(len(fanouts) + 1)]
    names = [TOTAL, *(str(size) for size in sizes[1:])]
    size = sizes[-1]
    levels = [Partition(name, np.arange(size) * count // size) for name, count in zip(names, sizes, strict=True)]
    return TableDesign(codes, tuple(levels))


def crossed_design(sizes: Sequence[int], ways: int) -> TableDesign:
    """Columns of these sizes, crossed, with all marginals of up to so many of them.

    >>> [(level.name, level.size) for level in crossed_design([2, 3], 2).levels]
    [('total', 1), ('1', 2), ('2', 3), ('1×2', 6)]
    """
    codes = _crossed_codes(sizes)
    if not 1 <= ways <= len(sizes):
        raise InputError(f"marginals must be of 1 to {len(sizes)} columns, got {ways}", "workload")
    chosen = [subset for count in range(ways + 1) for subset in combinations(range(len(sizes)), count)]
    if len(chosen) > MAX_LEVELS:
        hint = "take fewer columns, or marginals:2 as the workload"
        raise InputError(f"levels must be at most {MAX_LEVELS}, got {len(chosen)}", "workload", hint)
    levels = [
        Partition("×".join(str(k + 1) for k in subset) or TOTAL, numbered([codes[k] for k in subset], len(codes[0])))
        for subset in chosen
    ]
    return TableDesign(codes, tuple(levels))


def branched_design(size: int, fanout: int) -> TableDesign:
    """Cells in a row, and blocks of them: pairs, pairs of pairs, … for a fanout of 2; the last block may be shorter.

    >>> [level.size for level in branched_design(10, 4).levels]
    [1, 3, 10]
    """
    cells = np.arange(check_size(size), dtype=np.int64)
    blocks, levels = 1, []
    while blocks < size:
        levels.append(cells // blocks)
        blocks *= fanout
    levels.append(np.zeros(size, dtype=np.int64))
    coarse_first = levels[::-1]
    names = [TOTAL, *(str(int(places.max()) + 1) for places in coarse_first[1:])]
    return TableDesign(
        tuple(coarse_first), tuple(Partition(name, p) for name, p in zip(names, coarse_first, strict=True))
    )


def check_size(size: int) -> int:
    """A number of cells that can be planned."""
    if not 1 <= size <= MAX_PLANNED_CELLS:
        raise InputError(f"cells must be 1 to {MAX_PLANNED_CELLS}, got {size}", "cells")
    return size


def _crossed_codes(sizes: Sequence[int]) -> tuple[Places, ...]:
    if not sizes or any(size < 1 for size in sizes) or len(sizes) > MAX_FACTORS:
        raise InputError(f"sizes must be 1 to {MAX_FACTORS} numbers >= 1, got others", "sizes", "write 8x8x8")
    size = check_size(prod(sizes))
    grid = np.indices(tuple(sizes)).reshape(len(sizes), size)
    return tuple(row.astype(np.int64) for row in grid)
