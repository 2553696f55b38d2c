"""The privacy program in doubles, laid out for an interior point: by pairs of points and by readings.

    minimise Σ m_w·c[x,w]·C[x,w]   subject to   C[a,w] ≥ α^d(a,b)·C[b,w],   Σ_x∈o Σ_w m_w·C[x,w] = |o|.

Without symmetry each orbit o is one point and each m_w is 1. Nothing here is trusted: what comes of it is certified in
`exact_bounds`.

A consumer that the symmetries of a space leave unchanged needs one reading of each orbit only. A best mechanism can be
averaged over the group, so there is one with C[gx, gw] = C[x, w]. The program for such a one has a reading for each
orbit; its answer is spread to all readings. That the spread answer is private, and how good it is, is certified on the
whole program, so nothing rests on a symmetry being one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from utmost.exact import Level
from utmost.spaces import Space, symmetries

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

START_DECAY = 0.4  # the first mechanism is like α^(0.4·d): its ratios are at most α^-0.8d
MAX_LOG_RATIO = 600.0  # ε·d beyond which a double's range is not enough to be followed


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Entries are C = unit·z. A constraint C[low] ≥ ratio·C[high] is z[low] − factor·z[high] ≥ 0, factor ≤ 1."""

    low: Ints
    high: Ints
    ratio: Floats
    factor: Floats
    unit: Floats
    costs: Floats
    start: Floats
    copies: Floats
    orbit: Ints
    at_low: Any
    at_high: Any

    def slack(self, z: Floats) -> Floats:
        """How far each constraint is from being tight, in its own units."""
        return np.asarray(z[self.low] - self.factor * z[self.high])

    def pull(self, v: Floats) -> Floats:
        """What multipliers v of the constraints add up to at each entry: the transpose of `slack`."""
        return np.asarray(self.at_low @ v - self.at_high @ (self.factor * v))

    def totals(self, values: Floats) -> Floats:
        """The sum over each orbit of points, of numbers that are given for each point."""
        return np.asarray(np.bincount(self.orbit, weights=values), dtype=np.float64)


def build_model(space: Space, level: Level, costs: Floats, centres: Ints, columns: Ints, orbit: Ints) -> Model:
    """The program with the readings `columns` only, each standing for its share of all readings.

    `centres` says for each reading which point it is most like; entries are measured in units of α^d(x, centre).
    """
    distances = level.epsilon * np.array([float(d) for d in space.values])
    pairs = np.concatenate([space.edge_array, space.edge_array[:, ::-1]])
    low, high = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    logs = -np.minimum(distances[space.codes[:, centres]], MAX_LOG_RATIO)
    start = np.exp(START_DECAY * logs)
    start /= start.sum(axis=1, keepdims=True)
    start, column_logs = np.ascontiguousarray(start[:, columns]), np.ascontiguousarray(logs[:, columns])
    lengths = distances[space.codes[low, high]]
    factor = np.exp(np.minimum(column_logs[high] - column_logs[low] - lengths[:, None], 0.0))
    unit = np.exp(column_logs)
    incidence = (
        sparse.csr_array((np.ones(len(low)), (endpoints, np.arange(len(low)))), shape=(len(space), len(low)))
        for endpoints in (low, high)
    )
    copies = np.bincount(orbit)[orbit[columns]].astype(float) if len(columns) < len(centres) else np.ones(len(columns))
    return Model(
        low,
        high,
        np.exp(-lengths),
        factor,
        unit,
        np.ascontiguousarray(costs[:, columns]),
        start / unit,
        copies,
        orbit,
        *incidence,
    )


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
