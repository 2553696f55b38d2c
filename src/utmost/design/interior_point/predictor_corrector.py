"""A primal-dual interior point for privacy programs that looks only at the pairs it comes near to.

Each iterate is private on all pairs, so it gives an upper bound; it gives a lower bound too, by the formula of
`exact_bounds`. That is what lets a run be stopped at any time.

A step is a predictor, a corrector, and a few more correctors for the products v·t that are far from their mean, each
weighed so that the step is longest (Colombo and Gondzio, Computational Optimization and Applications 41, 2008). It is
cut before it violates a pair that is not worked with, and the pairs that it comes near to are then worked with. So
nothing is ever violated, and a slack is always positive. Where the row multipliers promise much more than the lower
bound, the reduced costs are made right first, since the bound needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from utmost.design.interior_point.columns import Columns, first_columns, max_step
from utmost.design.interior_point.model import Model
from utmost.design.interior_point.newton import DIAGONAL_SHIFT, Factors, Move, factor_columns
from utmost.design.interior_point.orbits import Floats, Ints
from utmost.design.interior_point.threads import Workers

BLOCK_READINGS = 25  # of a block, at most
STEP_SHARE = 0.99  # of the way to the nearest bound that a step goes
NEW_PAIR_STEP_SHARE = 0.9  # and of the way to the first pair that is not worked with
NEAR_SHARES = (0.2, 0.05)  # of a pair's largest slack, below which it is worked with: at first, and late
LATE_ENERGY = 1e-4  # of the loss
NEW_PAIR_ENERGY = 0.1  # of the mean v·t, given to a pair when it is first worked with
RESTORED_SHARE = 0.05  # of the energy that the row multipliers may promise above the lower bound
RESTORATION_STEP_SHARE = 0.8  # of the way to where a multiplier is 0, that restores them
MAX_CORRECTORS = 8
TRIAL_FACTOR, TRIAL_EXTRA = 1.08, 0.5  # the step that a corrector is made for, from the longest one so far
MIN_WEIGHT, TRIED_WEIGHTS = 0.1, 6  # of a corrector: the least one, and how many are tried
LONG_STEP = 0.95  # with which no more correctors are tried
MIN_GAIN = 0.005  # of both steps together, that makes the next corrector worth while
PRODUCT_RANGE = 10.0  # times the target and parts of it, between which products v·t are left as they are
MIN_TARGET, MAX_TARGET = 1e-6, 0.99  # of the mean v·t
MAX_REFINEMENTS = 3  # times that the sums of rows are put right at most
ROW_SUM_TOLERANCE = 1e-13  # how far from right they may be


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """A mechanism and multipliers, block by block, and the bounds that they give, in units of the model."""

    blocks: tuple[Columns, ...]
    lower: float
    upper: float

    @property
    def entries(self) -> Floats:
        """Points by readings."""
        return np.concatenate([block.z for block in self.blocks]).T


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """A change of every part of a point, block by block, and how far it can be followed, past 1: primal and dual."""

    dz: list[Floats]
    dt: list[Floats]
    dv: list[Floats]
    du: Floats
    primal: float
    dual: float


Vectors: TypeAlias = list[Floats]


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The Newton systems at a point; `coupling` is the factor of the system of the rows' sums, and its scale."""

    model: Model
    workers: Workers
    factors: list[Factors]
    coupling: tuple[Floats, Floats]

    @property
    def blocks(self) -> list[Columns]:
        """The point."""
        return [factors.columns for factors in self.factors]

    def direction(self, products: Vectors, residuals: Vectors, missing: Floats) -> Direction:
        """The direction with v·dt + t·dv = products, Gᵀdv + du = residuals, and rows whose sums change by `missing`."""
        forces = self.workers.map(lambda c, p, r: c.pull(p / c.t) - r, self.blocks, products, residuals)
        moves = self.workers.map(Factors.solve, self.factors, forces)
        du, remaining = np.zeros_like(missing), missing - self._sums(moves)
        for _ in range(MAX_REFINEMENTS):
            correction = self._row_multipliers(remaining)
            moves = self.workers.map(partial(_add_row_multipliers, correction[self.model.orbit]), self.factors, moves)
            du, remaining = du + correction, missing - self._sums(moves)
            if np.abs(remaining).max() <= ROW_SUM_TOLERANCE:
                break
        return self._complete(moves, products, du)

    def restoration(self, residuals: Vectors) -> Direction:
        """The direction that makes the reduced costs right and leaves every v·t as it is, whatever the row sums."""
        moves = self.workers.map(lambda f, r: f.solve(-r), self.factors, residuals)
        zeros = [np.zeros_like(block.t) for block in self.blocks]
        return self._complete(moves, zeros, np.zeros(len(self.model.orbit_sizes)))

    def _complete(self, moves: list[Move], products: Vectors, du: Floats) -> Direction:
        parts = self.workers.map(_changes, self.factors, moves, products)
        dz, dt, dv, primal, dual = zip(*parts, strict=True)
        return Direction(list(dz), list(dt), list(dv), du, min(primal), min(dual))

    def _sums(self, moves: list[Move]) -> Floats:
        """How the sums of the rows change, orbit by orbit."""
        changes = [(block.z * move.total).sum(axis=0) for block, move in zip(self.blocks, moves, strict=True)]
        return self.model.totals(np.sum(changes, axis=0))

    def _row_multipliers(self, missing: Floats) -> Floats:
        factor, scale = self.coupling
        return np.asarray(scale * dpotrs(factor, scale * missing, lower=1)[0])


def _add_row_multipliers(rows: Floats, factors: Factors, move: Move) -> Move:
    """The move, and that of a change of the multipliers of rows."""
    change = factors.solve(rows)
    return Move(move.cluster + change.cluster, move.own + change.own)


def _changes(factors: Factors, move: Move, products: Floats) -> tuple[Floats, Floats, Floats, float, float]:
    """(dz, dt, dv, primal reach, dual reach) of a move."""
    columns = factors.columns
    dt = move.slack_changes(columns)
    dv = products / columns.t - factors.stiffness * dt
    return columns.z * move.total, dt, dv, max_step(columns.t, dt), max_step(columns.v, dv)


def _system(model: Model, workers: Workers, blocks: list[Columns]) -> System:
    factors = workers.map(factor_columns, blocks)
    matrix = np.sum([f.coupling for f in factors], axis=0)
    member = np.zeros((len(model.orbit_sizes), len(matrix)))
    member[model.orbit, np.arange(len(matrix))] = 1.0
    if len(member) < len(matrix):
        matrix = member @ matrix @ member.T
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    return System(model, workers, factors, (_factor_coupling(matrix * scale[:, None] * scale), scale))


def _factor_coupling(matrix: Floats) -> Floats:
    """The Cholesky factor, of a matrix shifted where it is not positive to doubles."""
    shift = 0.0
    while np.isfinite(matrix).all() and shift <= 1:
        factor, failure = dpotrf(matrix + shift * np.eye(len(matrix)), lower=1)
        if not failure:
            return np.asarray(factor)
        shift = max(DIAGONAL_SHIFT, 10 * shift)
    raise FloatingPointError("a Newton system is beyond doubles")


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where the path is: its blocks, multipliers u of the rows' sums, and what the multipliers v add up to."""

    model: Model
    workers: Workers
    blocks: list[Columns]
    u: Floats

    @property
    def energy(self) -> float:
        """Σ v·t."""
        return sum(block.energy for block in self.blocks)

    @property
    def pairs(self) -> int:
        """The number of working pairs."""
        return sum(len(block.t) for block in self.blocks)

    def move(self, blocks: list[Columns], u: Floats) -> Point:
        """The point there."""
        return Point(self.model, self.workers, blocks, u)

    def missing(self) -> Floats:
        """What the rows of each orbit lack."""
        sums = np.sum([block.z.sum(axis=0) for block in self.blocks], axis=0)
        return np.asarray(self.model.orbit_sizes - self.model.totals(sums))

    def residuals(self, pulls: Vectors) -> Vectors:
        """c − u − Gᵀv."""
        rows = self.u[self.model.orbit]
        return [block.costs - rows - pull for block, pull in zip(self.blocks, pulls, strict=True)]

    def iterate(self, pulls: Vectors) -> Iterate:
        """The bounds at this point."""
        minima = np.min(self.workers.map(Columns.dual_minima, self.blocks, pulls), axis=0)
        orbit_minima = np.full((len(minima), len(self.u)), np.inf)
        for row, values in zip(orbit_minima, minima, strict=True):
            np.minimum.at(row, self.model.orbit, values)
        bounds = np.nan_to_num(orbit_minima @ self.model.orbit_sizes, nan=-np.inf, posinf=-np.inf)
        upper = sum(float((block.costs * block.z).sum()) for block in self.blocks)
        return Iterate(tuple(self.blocks), float(bounds.max()), upper)


def iterate_path(model: Model, workers: Workers) -> Iterator[Iterate]:
    """The iterates, each nearer to the optimum as a rule, until doubles carry no further."""
    point = _start_point(model, workers)
    while True:
        pulls = workers.map(lambda block: block.pull(block.v), point.blocks)
        iterate = point.iterate(pulls)
        yield iterate
        try:
            system = _system(model, workers, point.blocks)
            residuals = point.residuals(pulls)
            if float(point.u @ model.orbit_sizes) - iterate.lower > RESTORED_SHARE * point.energy:
                point, system, pulls = _restore(point, system, residuals)
                residuals = point.residuals(pulls)
                yield point.iterate(pulls)
            point = _next_point(point, system, residuals, is_late=point.energy < LATE_ENERGY * iterate.upper)
        except FloatingPointError:
            return
        if not np.isfinite(point.energy):
            return


def _start_point(model: Model, workers: Workers) -> Point:
    count = len(model.costs)
    cuts = np.linspace(0, count, -(-count // BLOCK_READINGS) + 1).astype(int).tolist()
    ranges = list(pairwise(cuts))
    blocks = workers.map(lambda ends: first_columns(model, *ends), ranges)
    if not model.is_complete:
        keys = workers.map(lambda block: block.pairs_near(model, block.z, NEAR_SHARES[0]), blocks)
        blocks = workers.map(lambda block, new: block.with_pairs(model, new, 0.0), blocks, keys)
    level = float(np.sum([(b.costs * b.z).sum() for b in blocks])) / sum(len(b.t) for b in blocks)
    blocks = [replace(block, v=level / block.t) for block in blocks]
    return Point(model, workers, blocks, np.zeros(len(model.orbit_sizes)))


def _restore(point: Point, system: System, residuals: Vectors) -> tuple[Point, System, Vectors]:
    """The point with multipliers whose reduced costs are more nearly right, its system, and what they add up to."""
    direction = system.restoration(residuals)
    share = min(1.0, RESTORATION_STEP_SHARE * direction.dual)
    blocks = [replace(block, v=block.v + share * dv) for block, dv in zip(point.blocks, direction.dv, strict=True)]
    pulls = point.workers.map(lambda block: block.pull(block.v), blocks)
    factors = [replace(f, columns=block) for f, block in zip(system.factors, blocks, strict=True)]
    return point.move(blocks, point.u), replace(system, factors=factors), pulls


def _next_point(point: Point, system: System, residuals: Vectors, *, is_late: bool) -> Point:
    """A predictor, correctors, and a step along their sum; then the pairs that it came near to are worked with."""
    apply, blocks = point.workers.map, point.blocks
    mean = point.energy / point.pairs
    direction = system.direction([-block.v * block.t for block in blocks], residuals, point.missing())
    primal, dual = min(1.0, direction.primal), min(1.0, direction.dual)
    remaining = sum(
        apply(lambda b, dt, dv: float((b.t + primal * dt) @ (b.v + dual * dv)), blocks, direction.dt, direction.dv)
    )
    target = mean * min(max((remaining / point.pairs / mean) ** 3, MIN_TARGET), MAX_TARGET)
    products = apply(lambda dt, dv: target - dt * dv, direction.dt, direction.dv)
    direction = _combine(system, direction, _corrector(system, products), primal * dual, may_refuse=False)
    return _take_step(point, _improve(system, direction, target), NEAR_SHARES[is_late])


def _improve(system: System, direction: Direction, target: float) -> Direction:
    """The direction with correctors for the products v·t that are far from the target, as long as steps get longer."""
    for _ in range(MAX_CORRECTORS):
        if min(direction.primal, direction.dual) > LONG_STEP:
            break
        trial = [min(1.0, TRIAL_FACTOR * step + TRIAL_EXTRA) for step in (direction.primal, direction.dual)]
        outlying = partial(_outlying_products, trial[0], trial[1], target)
        products = system.workers.map(outlying, system.blocks, direction.dt, direction.dv)
        better = _combine(system, direction, _corrector(system, products), MIN_WEIGHT, may_refuse=True)
        gain = better.primal + better.dual - direction.primal - direction.dual
        direction = better
        if gain < MIN_GAIN:
            break
    return direction


def _corrector(system: System, products: Vectors) -> Direction:
    """The direction that changes products v·t alone."""
    zeros = [np.zeros_like(block.z) for block in system.blocks]
    return system.direction(products, zeros, np.zeros(len(system.model.orbit_sizes)))


def _outlying_products(primal: float, dual: float, target: float, columns: Columns, dt: Floats, dv: Floats) -> Floats:
    """What a step's products v·t lack to be within a range of their target."""
    products = (columns.t + primal * dt) * (columns.v + dual * dv)
    lacking = np.clip(products, target / PRODUCT_RANGE, PRODUCT_RANGE * target) - products
    return np.asarray(np.maximum(lacking, -PRODUCT_RANGE * target))


def _combine(
    system: System, direction: Direction, corrector: Direction, least: float, *, may_refuse: bool
) -> Direction:
    """direction + ω·corrector, with the primal and the dual ω that make each step longest; 0 if it may be refused."""
    weights = np.linspace(max(least, MIN_WEIGHT / 2), 1.0, TRIED_WEIGHTS)
    weights = np.concatenate([[0.0], weights]) if may_refuse else weights
    minima = system.workers.map(
        lambda *parts: _least_changes(weights, *parts),
        system.blocks,
        direction.dt,
        direction.dv,
        corrector.dt,
        corrector.dv,
    )
    steps = np.minimum(1.0, -1 / np.minimum(np.min(minima, axis=0), -np.finfo(float).tiny))
    best = len(weights) - 1 - steps[:, ::-1].argmax(axis=1)
    primal, dual = weights[best]
    return Direction(
        [dz + primal * more for dz, more in zip(direction.dz, corrector.dz, strict=True)],
        [dt + primal * more for dt, more in zip(direction.dt, corrector.dt, strict=True)],
        [dv + dual * more for dv, more in zip(direction.dv, corrector.dv, strict=True)],
        direction.du + dual * corrector.du,
        float(steps[0, best[0]]),
        float(steps[1, best[1]]),
    )


def _least_changes(
    weights: Floats, columns: Columns, dt: Floats, dv: Floats, more_dt: Floats, more_dv: Floats
) -> Floats:
    """The least relative change of a slack, and of a multiplier, for each weight."""
    parts = ((dt / columns.t, more_dt / columns.t), (dv / columns.v, more_dv / columns.v))
    return np.array([[(change + weight * more).min() for weight in weights] for change, more in parts])


def _take_step(point: Point, direction: Direction, near_share: float) -> Point:
    """The next point, with the pairs that it is near to worked with."""
    model, apply, blocks = point.model, point.workers.map, point.blocks
    primal, dual = (min(1.0, STEP_SHARE * step) for step in (direction.primal, direction.dual))
    keys: list[Ints] = []
    if not model.is_complete:
        keys = apply(lambda b, dz: b.pairs_near(model, b.z + primal * dz, near_share), blocks, direction.dz)
        reach = min(apply(lambda b, new, dz: b.reach(model, new, dz), blocks, keys, direction.dz))
        primal = primal if reach > primal else NEW_PAIR_STEP_SHARE * reach
    blocks = apply(
        lambda b, dz, dt, dv: b.step(primal, dual, dz, dt, dv), blocks, direction.dz, direction.dt, direction.dv
    )
    following = point.move(blocks, point.u + dual * direction.du)
    if not keys:
        return following
    target = NEW_PAIR_ENERGY * following.energy / following.pairs
    return following.move(apply(lambda b, new: b.with_pairs(model, new, target), blocks, keys), following.u)
