"""The privacy program in doubles, laid out for an interior point: reading by reading, each with a few pairs of points.

    minimise Σ c[x,w]·z[x,w]   subject to   z[a,w] ≥ α^d(a,b)·z[b,w],   Σ_x∈o Σ_w z[x,w] = |o|

for z[x,w] = m_w·C[x,w]. Without symmetry each orbit o is one point and each m_w, the readings that w stands for, is 1.
The pairs that generate the metric imply all others. Few of them are tight for a reading, so each reading keeps a
working set of pairs, which grows as the path comes near to others. Nothing here is trusted: what comes of it is
certified in `exact_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from utmost.design.interior_point.orbits import Floats, Ints, Orbits
from utmost.exact import Level
from utmost.spaces import Space

START_DECAY = 0.4  # the first mechanism is like α^(0.4·d): its ratios are at most α^-0.8d
MAX_LOG_RATIO = 600.0  # ε·d beyond which a double's range is not enough to be followed
FIRST_NEIGHBOURS = 4  # of each point, the nearest ones: the pairs that every reading works with from the start
MAX_COMPLETE_PAIRS = 24  # of a point: up to so many, all pairs are worked with


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Costs and the first mechanism, readings by points; `ratios` α^d of the generating pairs, 0 for other pairs.

    Costs are in units of `cost_unit`, the first mechanism's loss. `low` and `high` are the pairs that every reading
    works with from the start; `is_complete` says that they are all generating pairs.
    """

    costs: Floats
    cost_unit: float
    start: Floats
    copies: Floats
    orbit: Ints
    ratios: Floats
    low: Ints
    high: Ints
    is_complete: bool

    @property
    def orbit_sizes(self) -> Ints:
        """The number of points of each orbit: what the rows of its points sum to, together."""
        return np.bincount(self.orbit)

    def totals(self, values: Floats) -> Floats:
        """The sum over each orbit of points, of numbers that are given for each point."""
        return np.asarray(np.bincount(self.orbit, weights=values), dtype=np.float64)


def build_model(space: Space, level: Level, costs: Floats, centres: Ints, symmetry: Orbits) -> Model:
    """The program with one reading of each orbit; `centres` says for each reading which point it is most like."""
    columns, orbit = symmetry.columns, symmetry.orbit
    logs = -np.minimum(level.epsilon * np.array([float(d) for d in space.values]), MAX_LOG_RATIO)
    start = np.exp(START_DECAY * logs)[space.codes[:, centres]]
    start /= start.sum(axis=1, keepdims=True)
    cost_unit = float((costs * start).sum())
    copies = np.bincount(orbit)[orbit[columns]].astype(float) if len(columns) < len(centres) else np.ones(len(columns))
    ratios = np.zeros(space.codes.shape)
    first, second = space.edge_array.T
    ratios[first, second] = ratios[second, first] = np.exp(logs)[space.codes[first, second]]
    low, high = first_pairs(space)
    return Model(
        np.ascontiguousarray(costs[:, columns].T) / cost_unit,
        cost_unit,
        np.ascontiguousarray(start[:, columns].T) * copies[:, None],
        copies,
        orbit,
        ratios,
        low,
        high,
        len(low) == 2 * len(space.edge_array),
    )


def first_pairs(space: Space) -> tuple[Ints, Ints]:
    """Both ways of all generating pairs where these are few; else of the pairs of each point and its nearest ones."""
    size, edges = len(space), space.edge_array
    pairs = np.concatenate([edges, edges[:, ::-1]])
    if len(pairs) > MAX_COMPLETE_PAIRS * size:
        pairs = pairs[np.lexsort((space.codes[pairs[:, 0], pairs[:, 1]], pairs[:, 0]))]
        first = np.searchsorted(pairs[:, 0], np.arange(size))
        near = pairs[np.arange(len(pairs)) - first[pairs[:, 0]] < FIRST_NEIGHBOURS]
        keys = np.unique(np.concatenate([near @ [size, 1], near @ [1, size]]))
        pairs = np.column_stack(np.divmod(keys, size))
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return np.ascontiguousarray(pairs[order, 0]), np.ascontiguousarray(pairs[order, 1])
