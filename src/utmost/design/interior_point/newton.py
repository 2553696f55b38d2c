"""One Newton system of the interior point, solved reading by reading.

A step is written as relative changes ζ = dz/z. For one reading its matrix is the Laplacian of a graph whose edges are
the constraints, weighted by v/t·f·z_a·z_b, plus a diagonal: tight constraints weigh 1/μ, slack ones μ, so the matrix is
beyond doubles when μ is small. Points that tight constraints hold together move as one, so the unknowns are taken to be
the move of each such cluster and, for its other points, their moves relative to it; the entries of the matrix in
these unknowns are sums without cancellation, and it is well conditioned once its diagonal is made 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.sparse import csgraph

from utmost.design.interior_point.model import Floats, Ints, Model

STIFF = 1e9  # how many times the energy of a reading its edges may weigh before points are taken in clusters
REFINED = 2  # times that the sums of rows are put right at most
CLOSE = 1e-15  # how far from right they may be
SHIFT = 1e-15  # added to a unit diagonal where doubles no longer see that a matrix is positive


@dataclass(frozen=True, slots=True, eq=False)
class NewtonStep:
    """Relative changes of the entries: each that of its cluster, `shared`, plus its `own`; readings by points."""

    shared: Floats
    own: Floats

    @property
    def total(self) -> Floats:
        """Points by readings."""
        return np.ascontiguousarray((self.shared + self.own).T)

    def __add__(self, other: NewtonStep) -> NewtonStep:
        return NewtonStep(self.shared + other.shared, self.own + other.own)

    def difference(self, low: Ints, high: Ints) -> Floats:
        """ζ[low] − ζ[high] for each pair of points: exact 0 within a cluster but for what is its points' own."""
        own, shared = np.ascontiguousarray(self.own.T), np.ascontiguousarray(self.shared.T)
        return np.asarray((own[low] - own[high]) + (shared[low] - shared[high]))


@dataclass(frozen=True, slots=True, eq=False)
class NewtonSystem:
    """The factors of every reading's matrix and of the system that couples them through the rows' sums."""

    model: Model
    weights: Floats
    heads: Ints
    scales: Floats
    factors: list[Floats]
    coupling: tuple[Floats, Floats]

    def solve(self, force: Floats, missing: Floats) -> tuple[NewtonStep, Floats]:
        """Moves ζ and changes of u with H·ζ = force + entries·u and rows whose sums change by `missing`."""
        du = self._priced(missing - self.sums(self._moves(force)))
        moves = self._moves(force + self.weights * du[self.model.orbit][:, None])
        left = missing - self.sums(moves)
        for _ in range(REFINED):
            again = self._priced(left)
            better = moves + self._moves(self.weights * again[self.model.orbit][:, None])
            rest = missing - self.sums(better)
            if np.abs(rest).max() >= np.abs(left).max():
                break
            moves, du, left = better, du + again, rest
            if np.abs(left).max() <= CLOSE:
                break
        return moves, du

    @property
    def is_stiff(self) -> bool:
        """Are points taken in clusters, so that a solution is worth refining."""
        return bool((self.heads != np.arange(self.heads.shape[1])).any())

    @property
    def shares(self) -> Floats:
        """What an entry in its own units counts for in a row's sum."""
        return self.model.unit * self.model.copies

    def sums(self, moves: NewtonStep) -> Floats:
        """How the sums of the rows change, orbit by orbit."""
        return self.model.totals((self.weights * moves.total).sum(axis=1))

    def _priced(self, missing: Floats) -> Floats:
        factor, scale = self.coupling
        return np.asarray(scale * dpotrs(factor, scale * missing, lower=1)[0])

    def _moves(self, force: Floats) -> NewtonStep:
        sides = np.ascontiguousarray(force.T)
        is_head = self.heads == np.arange(sides.shape[1])
        gathered = np.zeros_like(sides)
        np.add.at(gathered, (np.arange(len(sides))[:, None], self.heads), sides)
        sides = np.where(is_head, gathered, sides) * self.scales
        found = np.array([dpotrs(f, side, lower=1)[0] for f, side in zip(self.factors, sides, strict=True)])
        found *= self.scales
        return NewtonStep(np.take_along_axis(found, self.heads, axis=1), np.where(is_head, 0.0, found))


def newton_system(model: Model, z: Floats, stiffness: Floats, rest: Floats, energy: Floats) -> NewtonSystem:
    """The system at entries z: `stiffness` v/t of each constraint, `rest` z·(Gᵀv + s), `energy` Σ v·t + Σ s·z."""
    edges = _edges(model, z, stiffness)
    heads = _clusters(edges, edges.max(axis=(1, 2)), energy)
    matrices = _matrices(edges, np.ascontiguousarray(rest.T), heads)
    places = np.arange(len(z))
    scales = 1 / np.sqrt(np.maximum(matrices[:, places, places], np.finfo(float).tiny))
    matrices *= scales[:, :, None]
    matrices *= scales[:, None, :]
    weights = model.unit * z * model.copies
    coupled, factors = np.zeros((len(z), len(z))), []
    for matrix, scale, head, weight in zip(matrices, scales, heads, weights.T, strict=True):
        factors.append(_factor(matrix))
        coupled += weight[:, None] * _inverse(factors[-1], scale, head) * weight[None, :]
    return NewtonSystem(model, weights, heads, scales, factors, _coupling(model, coupled))


def _edges(model: Model, z: Floats, stiffness: Floats) -> Floats:
    """The weights of each reading's graph: readings by points by points, symmetric."""
    size, readings = z.shape
    edges = np.zeros((size * size, readings))
    edges[model.low * size + model.high] = stiffness * model.factor * z[model.low] * z[model.high]
    edges = edges.reshape(size, size, readings)
    return np.ascontiguousarray((edges + edges.transpose(1, 0, 2)).transpose(2, 0, 1))


def _clusters(edges: Floats, heaviest: Floats, energy: Floats) -> Ints:
    """For each reading and point the first point that heavy edges join it to; itself where no edge is too heavy."""
    readings, size, _ = edges.shape
    if np.all(heaviest * edges[0].size < STIFF * energy):
        return np.broadcast_to(np.arange(size), (readings, size))
    reading, x, other = np.nonzero(edges > np.sqrt(heaviest * energy)[:, None, None])
    shape = (readings * size, readings * size)
    graph = sparse.csr_array(
        (np.ones(len(x), dtype=np.int8), (reading * size + x, reading * size + other)), shape=shape
    )
    count, labels = csgraph.connected_components(graph, directed=False)
    first = np.empty(count, dtype=np.int64)
    first[labels[::-1]] = np.arange(readings * size)[::-1]
    return np.asarray(first[labels].reshape(readings, size) - size * np.arange(readings)[:, None])


def _matrices(edges: Floats, rest: Floats, heads: Ints) -> Floats:
    """Laplacian plus diag(rest) in the unknowns of clusters: a head's row stands for its whole cluster."""
    size = edges.shape[1]
    places = np.arange(size)
    plain = _laplacians(edges, rest)
    is_head = heads == places
    if is_head.all():
        return plain
    across = _laplacians(np.where(heads[:, :, None] != heads[:, None, :], edges, 0.0), rest)
    member = (heads[:, :, None] == places).astype(float)
    mixed = across @ member
    whole = member.transpose(0, 2, 1) @ mixed
    rows, columns = is_head[:, :, None], is_head[:, None, :]
    result = np.where(columns, np.where(rows, whole, mixed), np.where(rows, mixed.transpose(0, 2, 1), plain))
    return np.asarray(result)


def _laplacians(edges: Floats, rest: Floats) -> Floats:
    places = np.arange(edges.shape[1])
    result = -edges
    result[:, places, places] = edges.sum(axis=2) + rest
    return result


def _factor(matrix: npt.NDArray[Any]) -> Floats:
    """The Cholesky factor of a matrix with unit diagonal, shifted where it is not positive to doubles."""
    shift = 0.0
    while True:
        factor, failed = dpotrf(matrix + shift * np.eye(len(matrix)) if shift else matrix, lower=1)
        if not failed:
            return np.asarray(factor)
        if not np.isfinite(matrix).all() or shift > 1:
            raise FloatingPointError("a Newton system is beyond doubles")
        shift = max(SHIFT, 10 * shift)


def _inverse(factor: Floats, scale: Floats, head: Ints) -> Floats:
    """The inverse of one reading's matrix, back in relative changes of its points."""
    half = np.tril(dpotri(factor, lower=1)[0])
    inverse = (half + np.tril(half, -1).T) * scale[:, None] * scale[None, :]
    own = head != np.arange(len(head))
    if not own.any():
        return np.asarray(inverse)
    rows = inverse[head]
    rows[own] += inverse[own]
    result = rows[:, head]
    result[:, own] += rows[:, own]
    return np.asarray(result)


def _coupling(model: Model, coupled: Floats) -> tuple[Floats, Floats]:
    """The factor of the coupled system summed over orbits, and the scale that makes its diagonal 1."""
    count = int(model.orbit.max()) + 1
    member = np.zeros((count, len(model.orbit)))
    member[model.orbit, np.arange(len(model.orbit))] = 1.0
    summed = member @ coupled @ member.T
    scale = 1 / np.sqrt(np.maximum(np.diag(summed), np.finfo(float).tiny))
    return _factor(summed * scale[:, None] * scale[None, :]), scale
