"""The Newton systems of the interior point: one for each reading, coupled by the sums of the rows.

A step is written as relative changes ζ = dz/z. The matrix of a reading is Σ v/t·g·gᵀ over its working pairs, where g
has z[low] and −ratio·z[high]. Tight pairs weigh 1/μ and slack ones μ, so the matrix is beyond doubles when μ is small.
Points that tight pairs hold together move as one, so the unknowns are then the move of each such cluster and, for its
other points, their moves relative to it. In these unknowns g has t at a cluster that both points belong to: nothing
cancels, and the matrix is well conditioned once its diagonal is made 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csgraph

from utmost.design.interior_point.columns import Columns
from utmost.design.interior_point.orbits import Floats, Ints

MAX_PAIR_WEIGHT = 1e9  # how many times the energy of a reading a pair may weigh before points are taken in clusters
DIAGONAL_SHIFT = 1e-15  # of the diagonal, added where doubles no longer see that a matrix is positive
MATRIX_CELLS = 1 << 19  # entries of the matrices that are filled at one time


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """Relative changes of the entries, readings by points: that of the point's cluster plus its own."""

    cluster: Floats
    own: Floats

    @property
    def total(self) -> Floats:
        """ζ."""
        return np.asarray(self.cluster + self.own)

    def slack_changes(self, columns: Columns) -> Floats:
        """dt = t·ζ[low] + ratio·z[high]·(ζ[low] − ζ[high]) of the working pairs, without cancellation in a cluster."""
        cluster, own = self.cluster.ravel(), self.own.ravel()
        cluster_low, own_low = cluster.take(columns.low), own.take(columns.low)
        differences = (own_low - own.take(columns.high)) + (cluster_low - cluster.take(columns.high))
        differences *= columns.ratio * columns.z.ravel().take(columns.high)
        return np.asarray(columns.t * (cluster_low + own_low) + differences)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """The inverses H⁻¹ of some readings' matrices, the heads of their clusters, and Σ z·H⁻¹·z of points.

    `stiffness` is v/t of the working pairs where they were factored. A product with an inverse is several times faster
    than two substitutions, and as good, since what is solved is well conditioned.
    """

    columns: Columns
    stiffness: Floats
    heads: Ints
    inverses: Floats
    coupling: Floats

    @property
    def is_stiff(self) -> bool:
        """Are points taken in clusters."""
        return bool((self.heads != np.arange(self.heads.shape[1])).any())

    def solve(self, force: Floats) -> Move:
        """ζ with H·ζ = z·force."""
        sides = self.columns.z * force
        if not self.is_stiff:
            return Move(self._substitute(sides), np.zeros_like(sides))
        is_head = self.heads == np.arange(sides.shape[1])
        places = (self.heads + sides.shape[1] * np.arange(len(sides))[:, None]).ravel()
        sums = np.bincount(places, weights=sides.ravel(), minlength=sides.size).reshape(sides.shape)
        solution = self._substitute(np.where(is_head, sums, sides))
        return Move(np.take_along_axis(solution, self.heads, axis=1), np.where(is_head, 0.0, solution))

    def _substitute(self, sides: Floats) -> Floats:
        return np.asarray(np.matmul(self.inverses, sides[:, :, None])[:, :, 0])


def factor_columns(columns: Columns) -> Factors:
    """The factors at the columns' entries, slacks and multipliers."""
    count, size = columns.z.shape
    stiffness = columns.v / columns.t
    flat, roots = columns.z.ravel(), np.sqrt(stiffness)
    above, below = roots * flat.take(columns.low), roots * columns.ratio * flat.take(columns.high)
    starts = np.searchsorted(columns.low, size * np.arange(count + 1))
    heads = _clusters(columns, above * below, starts)
    inverses, coupling, buffer = np.empty((count, size, size)), np.zeros((size, size)), np.empty((size, size))
    group = max(1, MATRIX_CELLS // size**2)
    for first in range(0, count, group):
        stop = min(first + group, count)
        rows = _pair_rows(columns, heads, above, below, roots, slice(starts[first], starts[stop]))
        for w, matrix in enumerate(_matrices(rows, first, stop, size), first):
            _invert(matrix, inverses[w])
            np.multiply(_point_inverse(inverses[w], heads[w]), columns.z[w], out=buffer)
            buffer *= columns.z[w][:, None]
            coupling += buffer
    return Factors(columns, stiffness, heads, inverses, coupling)


def _clusters(columns: Columns, weights: Floats, starts: Ints) -> Ints:
    """For each reading and point the first point that heavy pairs join it to; itself where no pair is too heavy."""
    count, size = columns.z.shape
    heaviest, energy = np.maximum.reduceat(weights, starts[:-1]), columns.energies
    is_stiff = heaviest > MAX_PAIR_WEIGHT * energy
    points = np.broadcast_to(np.arange(size), (count, size))
    if not is_stiff.any():
        return points
    limits = np.where(is_stiff, np.sqrt(heaviest * energy), np.inf)
    heavy = np.flatnonzero(weights > np.repeat(limits, np.diff(starts)))
    ends, shape = (columns.low[heavy], columns.high[heavy]), (count * size, count * size)
    graph = sparse.csr_array((np.ones(len(heavy), dtype=np.int8), ends), shape=shape)
    number, labels = csgraph.connected_components(graph, directed=False)
    first = np.empty(number, dtype=np.int64)
    first[labels[::-1]] = np.arange(count * size)[::-1]
    return np.asarray(first[labels].reshape(count, size) - size * np.arange(count)[:, None])


def _pair_rows(
    columns: Columns, heads: Ints, above: Floats, below: Floats, roots: Floats, pairs: slice
) -> list[tuple[Ints, Floats]]:
    """√(v/t)·g of the pairs, as (place, coefficient), in the unknowns of clusters."""
    low, high, above, below = columns.low[pairs], columns.high[pairs], above[pairs], below[pairs]
    size = heads.shape[1]
    if (heads[low[0] // size : low[-1] // size + 1] == np.arange(size)).all():
        return [(low, above), (high, -below)]
    places = (heads + size * np.arange(len(heads))[:, None]).ravel()
    low_head, high_head = places.take(low), places.take(high)
    is_same = low_head == high_head
    return [
        (low_head, np.where(is_same, roots[pairs] * columns.t[pairs], above)),
        (high_head, np.where(is_same, 0.0, -below)),
        (low, np.where(low == low_head, 0.0, above)),
        (high, np.where(high == high_head, 0.0, -below)),
    ]


def _matrices(rows: list[tuple[Ints, Floats]], first: int, stop: int, size: int) -> Floats:
    """Σ g·gᵀ of readings first … stop − 1, in their upper triangles."""
    shift, count = first * size, stop - first
    cells, values = [], []
    offsets = (rows[0][0] - shift) // size * size + shift
    for k, (place, coefficient) in enumerate(rows):
        for other_place, other_coefficient in rows[k + 1 :]:
            smaller, larger = np.minimum(place, other_place), np.maximum(place, other_place)
            cells.append((smaller - shift) * size + larger - offsets)
            values.append(coefficient * other_coefficient)
    weights = np.concatenate(values)
    sums = np.bincount(np.concatenate(cells), weights=weights, minlength=count * size**2).astype(float, copy=False)
    matrices = sums.reshape(count, size, size)
    squares = [np.bincount(place - shift, weights=c * c, minlength=count * size) for place, c in rows]
    points = np.arange(size)
    matrices[:, points, points] = np.sum(squares, axis=0).reshape(count, size)
    return matrices


def _invert(matrix: Floats, inverse: Floats) -> None:
    """The inverse of a matrix given by its upper triangle, zeros below; shifted where it is not positive to doubles."""
    shift, diagonal = 0.0, matrix.diagonal()
    if not np.isfinite(diagonal).all():
        raise FloatingPointError("a Newton system is beyond doubles")
    while True:
        factor, failure = dpotrf(matrix.T + np.diag(shift * diagonal) if shift else matrix.T, lower=1, clean=0)
        if not failure:
            break
        if shift > 1:
            raise FloatingPointError("a Newton system is beyond doubles")
        shift = max(DIAGONAL_SHIFT, 10 * shift)
    half = dpotri(factor, lower=1, overwrite_c=1)[0]
    np.add(half, half.T, out=inverse)
    inverse.ravel()[:: len(inverse) + 1] /= 2


def _point_inverse(inverse: Floats, head: Ints) -> Floats:
    """An inverse in the unknowns of clusters as one in the unknowns of points."""
    is_follower = head != np.arange(len(head))
    if not is_follower.any():
        return inverse
    rows = inverse[head]
    rows[is_follower] += inverse[is_follower]
    result = rows[:, head]
    result[:, is_follower] += rows[:, is_follower]
    return np.asarray(result)
