"""Workloads: what a table is for, as numbers whose mean variance is to be small.

| workload | the mean is over |
| --- | --- |
| `levels` | the levels, each by the mean over its cells |
| `cells` | the finest cells |
| `prefix` | the sums of the first 1, 2, … cells, in the order of the levels |
| `ranges` | the sums of all runs of neighbouring cells |
| `marginals:k` | the cells of all marginals of up to k columns |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from utmost.errors import InputError
from utmost.planning.designs import Partition, TableDesign, numbered

PREFIX, RANGES = "prefix", "ranges"
SIMPLE = ("levels", "cells", PREFIX, RANGES)
MARGINALS = "marginals"


@dataclass(frozen=True, eq=False)
class Workload:
    """Sums of cells and their weights: the parts of partitions, or with `runs` prefix sums or ranges of cells.

    `weights` has the weight of every part of each partition; the total weight of all sums is 1.
    """

    name: str
    partitions: tuple[Partition, ...] = ()
    weights: tuple[Fraction, ...] = ()
    runs: str | None = None


def parse_workload(text: str, design: TableDesign) -> Workload:
    """The workload of this name for a design.

    >>> from utmost.planning.designs import tree_design
    >>> [str(weight) for weight in parse_workload("levels", tree_design([2, 2])).weights]
    ['1/3', '1/6', '1/12']
    """
    word, _, digits = text.partition(":")
    if text in (PREFIX, RANGES):
        return Workload(text, runs=text)
    if text == "cells":
        return Workload(text, (design.cells,), (Fraction(1, design.size),))
    if text == "levels":
        levels = design.levels
        return Workload(text, levels, tuple(Fraction(1, len(levels) * level.size) for level in levels))
    columns = len(design.codes)
    if word == MARGINALS and digits.isascii() and digits.isdigit() and 1 <= int(digits[:4]) <= columns:
        return _marginals(text, int(digits[:4]), design)
    names = f"{', '.join(SIMPLE)} or marginals:1 to marginals:{columns}"
    raise InputError(f'workload must be {names}, got "{text[:40]}"', "workload")


def _marginals(text: str, ways: int, design: TableDesign) -> Workload:
    subsets = [subset for count in range(ways + 1) for subset in combinations(range(len(design.codes)), count)]
    if len(subsets) > 1000:
        raise InputError(f"marginals must be at most 1000, got {len(subsets)}", "workload", "take fewer")
    parts = [Partition(text, numbered([design.codes[k] for k in subset], design.size)) for subset in subsets]
    weight = Fraction(1, sum(part.size for part in parts))
    return Workload(text, tuple(parts), (weight,) * len(parts))


def gram_matrix(workload: Workload, order: Sequence[int], size: int) -> tuple[list[list[int]], int]:
    """WᵀW as whole numbers over a common denominator; `order` has the place of each cell in prefix sums and ranges."""
    if workload.runs is not None:
        place = np.empty(size, dtype=object)
        place[np.asarray(order)] = list(range(size))  # of each cell
        first, last = np.minimum.outer(place, place), np.maximum.outer(place, place)
        rest = size - last
        matrix = rest if workload.runs == PREFIX else (first + 1) * rest
        return matrix.tolist(), size if workload.runs == PREFIX else size * (size + 1) // 2
    denominator = int(np.lcm.reduce([weight.denominator for weight in workload.weights], dtype=object))
    matrix = np.zeros((size, size), dtype=object)
    for part, weight in zip(workload.partitions, workload.weights, strict=True):
        matrix += np.equal.outer(part.places, part.places).astype(int) * int(weight * denominator)
    return matrix.tolist(), denominator
