"""Shortest paths in a table of distances that is not quite a metric, in whole numbers.

Doubles find the paths and whole numbers decide: the sum of two doubles that are within 2^−53 of two numbers is within
2^−52 of their sum, so a detour that is not longer than the direct way is within `MARGIN` of it as a double, and so is
each detour that may be the shortest. Those are compared exactly.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[np.object_]
MARGIN = 1 + 2.0**-48
SCALE_BITS = 60  # of the largest number, as doubles are made


def close_table(table: Integers) -> Integers:
    """d̂(x, y) = the length of the shortest path from x to y: the largest metric that is nowhere above the table.

    The table is symmetric, of whole numbers of any size, 0 on the diagonal and positive elsewhere. The result satisfies
    the triangle inequality exactly, and d̂ = d where the table does.

    >>> close_table(np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]], dtype=object)).tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """
    closed = table.copy()
    doubles = nearby_doubles(closed)
    while sum(_shorten_row(x, closed, doubles) for x in range(len(closed))):
        pass
    return closed


def nearby_doubles(table: Integers) -> npt.NDArray[np.float64]:
    """The numbers times one power of 2, each as the nearest double."""
    scale = 1 << max(0, max(int(value).bit_length() for value in table.flat) - SCALE_BITS)
    return np.array([[value / scale for value in row] for row in table.tolist()], dtype=np.float64)


def _shorten_row(x: int, table: Integers, doubles: npt.NDArray[np.float64]) -> bool:
    """Replace d(x, y) by the shortest detour over one point, for each y; was there a shorter one."""
    detours = doubles + doubles[x]
    detours[:, x] = np.inf
    np.fill_diagonal(detours, np.inf)
    least = detours.min(axis=1)
    changed = False
    for y in np.flatnonzero(least <= doubles[x] * MARGIN).tolist():
        between = np.flatnonzero(detours[y] <= least[y] * MARGIN)
        shortest: Any = (table[x, between] + table[between, y]).min()
        if y != x and shortest < table[x, y]:
            doubles[x, y] = doubles[y, x] = doubles[x, y] * (shortest / table[x, y])
            table[x, y] = table[y, x] = shortest
            changed = True
    return changed
