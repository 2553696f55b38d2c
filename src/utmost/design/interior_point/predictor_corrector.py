"""A primal-dual interior point for privacy programs: Mehrotra's predictor and corrector, from a private mechanism.

Every iterate is private up to rounding, so each gives an upper bound; each gives a lower bound too, by the formula of
`exact_bounds`. That is what lets a run be stopped at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from utmost.design.interior_point.exact_bounds import SHRINK_BITS
from utmost.design.interior_point.model import Floats, Model
from utmost.design.interior_point.newton import NewtonStep, NewtonSystem, newton_system

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
