"""One Newton system of the interior point, solved reading by reading.

A step is written as relative changes ζ = dz/z. For one reading its matrix is the Laplacian of a graph whose edges are
the constraints, weighted by v/t·f·z_a·z_b, plus a diagonal: tight constraints weigh 1/μ, slack ones μ, so the matrix is
beyond doubles when μ is small. Points that tight constraints hold together move as one, so the unknowns are taken to be
the move of each such cluster and, for its other points, their moves relative to it; the entries of the matrix in
these unknowns are sums without cancellation, and it is well conditioned once its diagonal is made 1.

BLAS runs with one thread meanwhile: factoring a hundred matrices of a hundred rows takes ten times longer with two
threads than with one when something else runs on the machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sparse
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.sparse import csgraph

from utmost.design.interior_point.model import Floats, Ints, Model

MAX_EDGE_WEIGHT = 1e9  # how many times the energy of a reading its edges may weigh before points are taken in clusters
MAX_REFINEMENTS = 2  # times that the sums of rows are put right at most
ROW_SUM_TOLERANCE = 1e-15  # how far from right they may be
DIAGONAL_SHIFT = 1e-15  # added to a unit diagonal where doubles no longer see that a matrix is positive


@dataclass(frozen=True, slots=True, eq=False)
class NewtonStep:
    """Relative changes of the entries: that of its `cluster` plus its `individual` one; readings by points."""

    cluster: Floats
    individual: Floats

    @property
    def total(self) -> Floats:
        """Points by readings."""
        return np.ascontiguousarray((self.cluster + self.individual).T)

    def __add__(self, other: NewtonStep) -> NewtonStep:
        return NewtonStep(self.cluster + other.cluster, self.individual + other.individual)

    def difference(self, low: Ints, high: Ints) -> Floats:
        """ζ[low] − ζ[high] for each pair of points: exact 0 within a cluster but for what is its points' own."""
        individual, cluster = np.ascontiguousarray(self.individual.T), np.ascontiguousarray(self.cluster.T)
        return np.asarray((individual[low] - individual[high]) + (cluster[low] - cluster[high]))


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
        du = self._row_multipliers(missing - self.sums(self._moves(force)))
        moves = self._moves(force + self.weights * du[self.model.orbit][:, None])
        residual = missing - self.sums(moves)
        for _ in range(MAX_REFINEMENTS):
            correction = self._row_multipliers(residual)
            refined_moves = moves + self._moves(self.weights * correction[self.model.orbit][:, None])
            refined_residual = missing - self.sums(refined_moves)
            if np.abs(refined_residual).max() >= np.abs(residual).max():
                break
            moves, du, residual = refined_moves, du + correction, refined_residual
            if np.abs(residual).max() <= ROW_SUM_TOLERANCE:
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

    def _row_multipliers(self, missing: Floats) -> Floats:
        factor, scale = self.coupling
        return np.asarray(scale * dpotrs(factor, scale * missing, lower=1)[0])

    def _moves(self, force: Floats) -> NewtonStep:
        sides = np.ascontiguousarray(force.T)
        is_head = self.heads == np.arange(sides.shape[1])
        cluster_sums = np.zeros_like(sides)
        np.add.at(cluster_sums, (np.arange(len(sides))[:, None], self.heads), sides)
        sides = np.where(is_head, cluster_sums, sides) * self.scales
        solutions = np.array([dpotrs(f, side, lower=1)[0] for f, side in zip(self.factors, sides, strict=True)])
        solutions *= self.scales
        return NewtonStep(np.take_along_axis(solutions, self.heads, axis=1), np.where(is_head, 0.0, solutions))


def newton_system(model: Model, z: Floats, stiffness: Floats, diagonal: Floats, energy: Floats) -> NewtonSystem:
    """The system at entries z: `stiffness` v/t of each constraint, `diagonal` z·(Gᵀv + s), `energy` Σ v·t + Σ s·z."""
    edges = _edges(model, z, stiffness)
    heads = _clusters(edges, edges.max(axis=(1, 2)), energy)
    matrices = _matrices(edges, np.ascontiguousarray(diagonal.T), heads)
    points = np.arange(len(z))
    scales = 1 / np.sqrt(np.maximum(matrices[:, points, points], np.finfo(float).tiny))
    matrices *= scales[:, :, None]
    matrices *= scales[:, None, :]
    weights = model.unit * z * model.copies
    coupling_matrix, factors = np.zeros((len(z), len(z))), []
    for matrix, scale, head, weight in zip(matrices, scales, heads, weights.T, strict=True):
        factors.append(_factor(matrix))
        coupling_matrix += weight[:, None] * _inverse(factors[-1], scale, head) * weight[None, :]
    return NewtonSystem(model, weights, heads, scales, factors, _coupling(model, coupling_matrix))


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
    if np.all(heaviest * edges[0].size < MAX_EDGE_WEIGHT * energy):
        return np.broadcast_to(np.arange(size), (readings, size))
    reading, x, y = np.nonzero(edges > np.sqrt(heaviest * energy)[:, None, None])
    shape = (readings * size, readings * size)
    graph = sparse.csr_array((np.ones(len(x), dtype=np.int8), (reading * size + x, reading * size + y)), shape=shape)
    count, labels = csgraph.connected_components(graph, directed=False)
    first = np.empty(count, dtype=np.int64)
    first[labels[::-1]] = np.arange(readings * size)[::-1]
    return np.asarray(first[labels].reshape(readings, size) - size * np.arange(readings)[:, None])


def _matrices(edges: Floats, diagonal: Floats, heads: Ints) -> Floats:
    """Laplacian plus diag(rest) in the unknowns of clusters: a head's row stands for its whole cluster."""
    size = edges.shape[1]
    points = np.arange(size)
    point_laplacians = _laplacians(edges, diagonal)
    is_head = heads == points
    if is_head.all():
        return point_laplacians
    cluster_laplacians = _laplacians(np.where(heads[:, :, None] != heads[:, None, :], edges, 0.0), diagonal)
    member = (heads[:, :, None] == points).astype(float)
    cluster_columns = cluster_laplacians @ member
    cluster_blocks = member.transpose(0, 2, 1) @ cluster_columns
    rows, columns = is_head[:, :, None], is_head[:, None, :]
    result = np.where(
        columns,
        np.where(rows, cluster_blocks, cluster_columns),
        np.where(rows, cluster_columns.transpose(0, 2, 1), point_laplacians),
    )
    return np.asarray(result)


def _laplacians(edges: Floats, diagonal: Floats) -> Floats:
    points = np.arange(edges.shape[1])
    result = -edges
    result[:, points, points] = edges.sum(axis=2) + diagonal
    return result


def _factor(matrix: npt.NDArray[Any]) -> Floats:
    """The Cholesky factor of a matrix with unit diagonal, shifted where it is not positive to doubles."""
    shift = 0.0
    while True:
        factor, failure = dpotrf(matrix + shift * np.eye(len(matrix)) if shift else matrix, lower=1)
        if not failure:
            return np.asarray(factor)
        if not np.isfinite(matrix).all() or shift > 1:
            raise FloatingPointError("a Newton system is beyond doubles")
        shift = max(DIAGONAL_SHIFT, 10 * shift)


def _inverse(factor: Floats, scale: Floats, head: Ints) -> Floats:
    """The inverse of one reading's matrix, back in relative changes of its points."""
    half = np.tril(dpotri(factor, lower=1)[0])
    inverse = (half + np.tril(half, -1).T) * scale[:, None] * scale[None, :]
    is_follower = head != np.arange(len(head))
    if not is_follower.any():
        return np.asarray(inverse)
    rows = inverse[head]
    rows[is_follower] += inverse[is_follower]
    result = rows[:, head]
    result[:, is_follower] += rows[:, is_follower]
    return np.asarray(result)


def _coupling(model: Model, coupling_matrix: Floats) -> tuple[Floats, Floats]:
    """The factor of the coupled system summed over orbits, and the scale that makes its diagonal 1."""
    count = int(model.orbit.max()) + 1
    member = np.zeros((count, len(model.orbit)))
    member[model.orbit, np.arange(len(model.orbit))] = 1.0
    orbit_matrix = member @ coupling_matrix @ member.T
    scale = 1 / np.sqrt(np.maximum(np.diag(orbit_matrix), np.finfo(float).tiny))
    return _factor(orbit_matrix * scale[:, None] * scale[None, :]), scale


SYMBOL_PATTERNS = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
ThreadSwitch: TypeAlias = tuple[Callable[[], int], Callable[[int], None]]  # how many threads there are; make it so many


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS on one thread in this block, where it is the OpenBLAS that numpy and scipy bring; elsewhere no change."""
    with ExitStack() as stack:
        for get_threads, set_threads in _thread_switches():
            stack.callback(set_threads, get_threads())
            set_threads(1)
        yield


@cache
def _thread_switches() -> tuple[ThreadSwitch, ...]:
    import numpy
    import scipy

    package_folders = [(Path(package.__path__[0]), package.__name__) for package in (numpy, scipy)]
    folders = [folder for root, name in package_folders for folder in (root.parent / f"{name}.libs", root / ".dylibs")]
    switches = (_thread_switch(library) for folder in folders for library in folder.glob("*openblas*"))
    return tuple(switch for switch in switches if switch is not None)


def _thread_switch(library: Path) -> ThreadSwitch | None:
    try:
        blas = ctypes.CDLL(str(library))
    except OSError:
        return None
    for pattern in SYMBOL_PATTERNS:
        if hasattr(blas, pattern.format("set")):
            return getattr(blas, pattern.format("get")), getattr(blas, pattern.format("set"))
    return None
