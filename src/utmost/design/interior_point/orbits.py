"""Symmetries of a privacy program: one reading of each orbit stands for all.

A consumer that the symmetries of a space leave unchanged needs one reading of each orbit only. A best mechanism can be
averaged over the group, so there is one with C[gx, gw] = C[x, w]. The program for such a one has a reading for each
orbit; its answer is spread to all readings. That the spread answer is private, and how good it is, is certified on the
whole program, so nothing rests on a symmetry being one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.spaces import Space, symmetries

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

COST_TOLERANCE = 1e-14  # relative: costs in doubles that are taken to be equal


@dataclass(frozen=True, slots=True, eq=False)
class Orbits:
    """`columns`, one reading of each orbit; `orbit` of each point; a permutation `images[w]` that takes a column to w.

    `pairs` numbers the orbits of (point, reading); `sources[w]` is the index of w's orbit in `columns`.
    """

    columns: Ints
    orbit: Ints
    sources: Ints
    images: Ints
    pairs: Ints

    def symmetrise(self, entries: Floats) -> Floats:
        """The average over the group of a mechanism that is known on `columns`."""
        pair_orbits = self.pairs[:, self.columns].ravel()
        count = int(self.pairs.max()) + 1
        totals, times = (
            np.bincount(pair_orbits, weights=entries.ravel(), minlength=count),
            np.bincount(pair_orbits, minlength=count),
        )
        return np.asarray((totals / np.maximum(times, 1))[self.pairs])


def trivial_orbits(points: int, readings: int) -> Orbits:
    """No symmetry: each point and each reading is by itself."""
    point_numbers, reading_numbers = np.arange(points), np.arange(readings)
    pairs = np.arange(points * readings).reshape(points, readings)
    return Orbits(
        reading_numbers, point_numbers, reading_numbers, np.broadcast_to(point_numbers, (readings, points)), pairs
    )


def orbits(space: Space, costs: Floats) -> Orbits:
    """The orbits under the space's symmetries, if all of them leave the costs as they are; else no symmetry."""
    size, readings = costs.shape
    if size != readings:
        return trivial_orbits(size, readings)
    group = symmetries(space)
    tolerance = COST_TOLERANCE * float(np.abs(costs).max(initial=0.0))
    if not group.generators or any(np.abs(costs[np.ix_(g, g)] - costs).max() > tolerance for g in group.generators):
        return trivial_orbits(size, readings)
    columns = np.unique(group.points, return_index=True)[1]
    return Orbits(columns, group.points, group.points, _images(columns, group.generators, size), group.pairs)


def _images(columns: Ints, generators: tuple[Ints, ...], size: int) -> Ints:
    """For each point a product of generators that takes the column of its orbit to it."""
    images = np.full((size, size), -1)
    images[columns] = np.arange(size)
    queue = columns.tolist()
    for point in queue:
        for generator in generators:
            image = int(generator[point])
            if images[image, 0] < 0:
                images[image] = generator[images[point]]
                queue.append(image)
    return images
