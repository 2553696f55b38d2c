"""The privacy program in doubles, laid out for an interior point: by pairs of points and by readings.

    minimise Σ m_w·c[x,w]·C[x,w]   subject to   C[a,w] ≥ α^d(a,b)·C[b,w],   Σ_x∈o Σ_w m_w·C[x,w] = |o|.

Without symmetry each orbit o is one point and each m_w is 1. Nothing here is trusted: what comes of it is certified in
`exact_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse

from utmost.exact import Level
from utmost.spaces import Space

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
