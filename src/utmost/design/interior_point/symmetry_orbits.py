"""Symmetry: a consumer that a space's symmetries leave as she is needs one reading of each orbit only.

A best mechanism can be averaged over the group, so there is one with C[gx, gw] = C[x, w]. The program for such a one
has a reading for each orbit; its answer is spread to all readings. That the spread answer is private and how good it is
is certified on the whole program, so nothing rests on a symmetry being one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from utmost.spaces import Space, symmetries

if TYPE_CHECKING:
    from utmost.design.interior_point.model import Floats, Ints

ALIKE = 1e-14  # relative: costs in doubles that are taken to be equal


@dataclass(frozen=True, slots=True, eq=False)
class Orbits:
    """`columns`, one reading of each orbit; `orbit` of each point; a permutation `images[w]` that takes a column to w.

    `pairs` numbers the orbits of (point, reading); `sources[w]` is the place of w's orbit in `columns`.
    """

    columns: Ints
    orbit: Ints
    sources: Ints
    images: Ints
    pairs: Ints

    def spread(self, entries: Floats) -> Floats:
        """The average over the group of a mechanism that is known on `columns`."""
        known = self.pairs[:, self.columns].ravel()
        count = int(self.pairs.max()) + 1
        totals, times = (
            np.bincount(known, weights=entries.ravel(), minlength=count),
            np.bincount(known, minlength=count),
        )
        return np.asarray((totals / np.maximum(times, 1))[self.pairs])


def trivial_orbits(points: int, readings: int) -> Orbits:
    """No symmetry: each point and each reading is by itself."""
    here, each = np.arange(points), np.arange(readings)
    pairs = np.arange(points * readings).reshape(points, readings)
    return Orbits(each, here, each, np.broadcast_to(here, (readings, points)), pairs)


def orbits(space: Space, costs: Floats) -> Orbits:
    """The orbits under the space's symmetries, if all of them leave the costs as they are; else no symmetry."""
    size, readings = costs.shape
    if size != readings:
        return trivial_orbits(size, readings)
    known = symmetries(space)
    close = ALIKE * float(np.abs(costs).max(initial=0.0))
    if not known.generators or any(np.abs(costs[np.ix_(g, g)] - costs).max() > close for g in known.generators):
        return trivial_orbits(size, readings)
    columns = np.unique(known.points, return_index=True)[1]
    return Orbits(columns, known.points, known.points, _images(columns, known.generators, size), known.pairs)


def _images(columns: Ints, generators: tuple[Ints, ...], size: int) -> Ints:
    """For each point a product of generators that takes the column of its orbit to it."""
    images = np.full((size, size), -1)
    images[columns] = np.arange(size)
    waiting = columns.tolist()
    for point in waiting:
        for generator in generators:
            moved = int(generator[point])
            if images[moved, 0] < 0:
                images[moved] = generator[images[point]]
                waiting.append(moved)
    return images
