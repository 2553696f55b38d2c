"""A second algorithm for kernel mechanisms, used in tests: textbook double description in whole numbers.

The rays of {λ ≥ 0 : Wλ = 0} are kept with whole weights, the rows of W are taken as they come, and whether two rays
share a face is seen from their sets alone: they do when no third ray lies in the union (Motzkin et al. 1953; Fukuda and
Prodon 1996). It needs no general position, doubles or sorting, and shares no code with `positive_circuits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level
from utmost.polytopes.kernels import posterior_region
from utmost.polytopes.vertex_columns import integer_column
from utmost.spaces import Space

MAX_VERTICES = 63  # of a type: a set of vertices is one 64-bit number
UNIONS_PER_CHUNK = 1 << 22


def kernels_by_description(space: Space, level: Level) -> set[tuple[int, ...]]:
    """The sets of vertices of all kernel mechanisms of a rational type with at most 63 vertices.

    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> sorted(kernels_by_description(line(3), alpha("1/2")))
    [(0, 2, 3), (1, 3)]
    """
    columns = [integer_column(column) for column in posterior_region(space, level).columns]
    if len(columns) > MAX_VERTICES:
        raise InputError(
            f"this check is for at most {MAX_VERTICES} vertices, got {len(columns)}", hint="use count_kernels"
        )
    rays = [{v: 1} for v in range(len(columns))]
    for x in range(1, len(columns[0])):
        row = [column[x] - column[0] for column in columns]
        rays = list(_cut_rays(rays, row, x))
    return {tuple(sorted(ray)) for ray in rays}


def _cut_rays(rays: list[dict[int, int]], row: list[int], step: int) -> Iterator[dict[int, int]]:
    """The rays in the hyperplane, and where it meets the faces between two others."""
    values = [sum(weight * row[v] for v, weight in ray.items()) for ray in rays]
    yield from (ray for ray, value in zip(rays, values, strict=True) if not value)
    sets = np.array([sum(1 << v for v in ray) for ray in rays], dtype=np.uint64)
    above = np.flatnonzero([value > 0 for value in values])
    below = np.flatnonzero([value < 0 for value in values])
    for p, q in _adjacent_pairs(sets, above, below, step):
        union = {v: rays[p].get(v, 0) * -values[q] + rays[q].get(v, 0) * values[p] for v in rays[p] | rays[q]}
        divisor = math.gcd(*union.values())
        yield {v: weight // divisor for v, weight in union.items()}


def _adjacent_pairs(
    sets: npt.NDArray[np.uint64], above: npt.NDArray[np.int64], below: npt.NDArray[np.int64], step: int
) -> Iterator[tuple[int, int]]:
    """Pairs whose union holds no third ray; a union of more than step + 1 elements always does."""
    chunk_rows = max(1, UNIONS_PER_CHUNK // max(len(below), 1))
    for start in range(0, len(above), chunk_rows):
        unions = sets[above[start : start + chunk_rows], None] | sets[None, below]
        for p, q in np.argwhere(np.bitwise_count(unions) <= step + 1).tolist():
            if np.count_nonzero((sets & ~unions[p, q]) == 0) == 2:
                yield int(above[start + p]), int(below[q])
