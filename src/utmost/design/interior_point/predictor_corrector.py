"""Mehrotra's predictor and corrector for privacy programs, and its Newton systems, solved reading by reading.

One Newton system of the interior point, solved reading by reading.

A step is written as relative changes ζ = dz/z. For one reading its matrix is the Laplacian of a graph whose edges are
the constraints, weighted by v/t·f·z_a·z_b, plus a diagonal: tight constraints weigh 1/μ, slack ones μ, so the matrix is
beyond doubles when μ is small. Points that tight constraints hold together move as one, so the unknowns are taken to be
the move of each such cluster and, for its other points, their moves relative to it; the entries of the matrix in
these unknowns are sums without cancellation, and it is well conditioned once its diagonal is made 1.

BLAS runs with one thread meanwhile: factoring a hundred matrices of a hundred rows takes ten times longer with two
threads than with one when something else runs on the machine.

A primal-dual interior point for privacy programs: Mehrotra's predictor and corrector, from a private mechanism.

Every iterate is private up to rounding, so each gives an upper bound; each gives a lower bound too, by the formula of
`exact_bounds`. That is what lets a run be stopped at any time.
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

from utmost.design.interior_point.exact_bounds import SHRINK_BITS
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


STEP_SHARE = 0.99  # of the way to the nearest bound that a step goes
START_COMPLEMENTARITY = 0.1  # of the first loss: the sum of complementarities at the start


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """A mechanism, multipliers of the model's constraints, and the bounds that they give, in doubles."""

    entries: Floats
    v: Floats
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where the path is: entries z with slacks t, multipliers v of the constraints, s of z ≥ 0, u of the rows."""

    z: Floats
    t: Floats
    v: Floats
    s: Floats
    u: Floats

    @property
    def energy(self) -> Floats:
        """The complementarities of each reading, summed."""
        return np.asarray((self.v * self.t).sum(axis=0) + (self.s * self.z).sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """A change of every part of a point."""

    z: Floats
    t: Floats
    v: Floats
    s: Floats
    u: Floats

    def max_steps(self, point: Point) -> tuple[float, float]:
        """How far it can be followed before an entry or a slack, and before a multiplier, is 0."""
        primal = min(_max_step(point.t, self.t), _max_step(point.z, self.z))
        return primal, min(_max_step(point.v, self.v), _max_step(point.s, self.s))


def iterate_path(model: Model) -> Iterator[Iterate]:
    """The iterates, each nearer to the optimum, until doubles carry no further."""
    costs = model.costs * model.unit * model.copies
    point = _start_point(model, costs)
    while True:
        pull = model.pull(point.v)
        yield _iterate(model, costs, point, pull)
        try:
            point = _next_point(model, costs, point, pull)
        except FloatingPointError:
            return
        if not np.isfinite(point.v.sum() + point.z.sum()):
            return


def _start_point(model: Model, costs: Floats) -> Point:
    slack = model.slack(model.start)
    level = max(START_COMPLEMENTARITY * float((costs * model.start).sum()), np.finfo(float).tiny) / slack.size
    u = np.zeros(int(model.orbit.max()) + 1)
    return Point(model.start, slack, level / slack, level / model.start, u)


def _iterate(model: Model, costs: Floats, point: Point, pull: Floats) -> Iterate:
    """The bounds at a point; the lower one with the multipliers as they are or a little smaller, as in
    `exact_bounds`.
    """
    reduced_costs = (costs - pull) / (model.unit * model.copies)
    lower = -np.inf
    for share in (2.0**-k if k else 0.0 for k in SHRINK_BITS):
        orbit_minima = np.full(len(point.u), np.inf)
        np.minimum.at(orbit_minima, model.orbit, (reduced_costs + share * (model.costs - reduced_costs)).min(axis=1))
        lower = max(lower, float(orbit_minima @ np.bincount(model.orbit)))
    return Iterate(model.unit * point.z, point.v, lower, float((costs * point.z).sum()))


def _next_point(model: Model, costs: Floats, point: Point, pull: Floats) -> Point:
    """One predictor, one corrector, and a step along their sum."""
    z, t, v, s = point.z, point.t, point.v, point.s
    shares = model.unit * model.copies
    missing = np.bincount(model.orbit) - model.totals((shares * z).sum(axis=1))
    residual = costs - pull - s - shares * point.u[model.orbit][:, None]
    joint = newton_system(model, z, v / t, z * (pull + s), point.energy)
    level = float(point.energy.sum()) / (v.size + s.size)

    def direction(push_t: Floats, push_s: Floats) -> Direction:
        return _direction(model, joint, point, push_t, push_s, residual, missing)

    predictor = direction(-v * t, -s * z)
    primal, dual = (min(1.0, reach) for reach in predictor.max_steps(point))
    remaining = float(((v + dual * predictor.v) * (t + primal * predictor.t)).sum())
    remaining += float(((s + dual * predictor.s) * (z + primal * predictor.z)).sum())
    target = level * (remaining / (v.size + s.size) / level) ** 3
    return _take_step(
        model, point, direction(target - v * t - predictor.t * predictor.v, target - s * z - predictor.z * predictor.s)
    )


def _direction(
    model: Model, joint: NewtonSystem, point: Point, push_t: Floats, push_s: Floats, residual: Floats, missing: Floats
) -> Direction:
    """The Newton direction that makes v·dt + t·dv = push_t and s·dz + z·ds = push_s, and both residuals 0."""
    force = point.z * (model.pull(push_t / point.t) - residual) + push_s
    moves, du = joint.solve(force, missing)
    direction = _full_direction(model, point, moves, du, push_t, push_s)
    if not joint.is_stiff:
        return direction
    dual_residual = residual - model.pull(direction.v) - direction.s - joint.shares * du[model.orbit][:, None]
    extra_moves, extra_du = joint.solve(-point.z * dual_residual, missing - joint.sums(moves))
    return _full_direction(model, point, moves + extra_moves, du + extra_du, push_t, push_s)


def _full_direction(
    model: Model, point: Point, moves: NewtonStep, du: Floats, push_t: Floats, push_s: Floats
) -> Direction:
    """The direction whose entries move so, and whose multipliers follow."""
    total = moves.total
    differences = moves.difference(model.low, model.high)
    dt = point.t * total[model.low] + model.factor * point.z[model.high] * differences
    return Direction(point.z * total, dt, (push_t - point.v * dt) / point.t, push_s / point.z - point.s * total, du)


def _take_step(model: Model, point: Point, direction: Direction) -> Point:
    """The next point. Slacks are computed from the entries, but where that cancels, from their own changes."""
    primal, dual = (min(1.0, STEP_SHARE * reach) for reach in direction.max_steps(point))
    z, updated_slack = point.z + primal * direction.z, point.t + primal * direction.t
    slack = model.slack(z)
    t = np.where(slack > updated_slack / 2, slack, updated_slack)
    return Point(z, t, point.v + dual * direction.v, point.s + dual * direction.s, point.u + dual * direction.u)


def _max_step(values: Floats, changes: Floats) -> float:
    worst = float(np.min(changes / values, initial=0.0))
    return -1 / worst if worst < 0 else np.inf
