"""Mechanisms that see the whole database, not only the count (GRS12 §6, App. C).

A database is a point of a space (rows differ in Hamming distance); the query's answer for each is a list of counts.
Objective (8) weighs databases by a prior over them; objective (9) has a prior over answers only and takes the worst
database of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, PrivacyLoss, least_epsilon
from utmost.channel.channel import Label, trusted_channel
from utmost.consumer.losses import Loss, square
from utmost.design.privacy_program import privacy_program, privacy_rows
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Number, rational
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum
from utmost.spaces import Space


@dataclass(frozen=True, slots=True)
class DatabaseSetting:
    """A space of databases, the query's answer for each (a count 0 … size), and a loss over counts."""

    space: Space
    answers: tuple[int, ...]
    loss: Loss

    @property
    def counts(self) -> int:
        """How many counts there are: 0 … the largest answer."""
        return max(self.answers) + 1

    def losses(self) -> np.ndarray[tuple[int, int], np.dtype[np.object_]]:
        """ℓ(f(d), j) for each database d and reading j."""
        return square(self.loss, self.counts)[list(self.answers)]


@dataclass(frozen=True, slots=True)
class DatabaseDesign:
    """A mechanism from databases to counts, its objective, the program's certificate and the ε it really has."""

    channel: Channel
    loss: Fraction
    certificate: ProgramCertificate
    privacy_loss: PrivacyLoss


def count_query(space: Space, satisfying: Label) -> tuple[int, ...]:
    """How many rows of each database are `satisfying`; the databases' labels are their rows, one sign each."""
    return tuple(str(label).count(str(satisfying)) for label in space.labels)


def optimal_for_prior(setting: DatabaseSetting, level: Level, prior: Sequence[Fraction]) -> DatabaseDesign:
    """Minimises objective (8), Σ_d p_d Σ_j x_dj·ℓ(f(d), j), over private mechanisms."""
    if len(prior) != len(setting.space) or sum(prior) != 1 or min(prior) < 0:
        raise InputError(
            f"the prior over databases must have {len(setting.space)} weights that sum to 1, none negative"
        )
    costs = np.array(prior, dtype=object)[:, None] * setting.losses()
    return _certified_design(setting, level, privacy_program(setting.space, level, costs))


def optimal_for_worst(setting: DatabaseSetting, level: Level, prior: Sequence[Fraction]) -> DatabaseDesign:
    """Minimises objective (9), Σ_i p_i max_{d: f(d)=i} Σ_j x_dj·ℓ(i, j), over private mechanisms.

    One variable t_i for each answer, t_i ≥ Σ_j x_dj·ℓ(i, j) for each database with that answer.
    """
    if len(prior) != setting.counts or sum(prior) != 1:
        raise InputError(f"the prior over answers must have {setting.counts} weights that sum to 1")
    losses = setting.losses()
    points, readings = losses.shape
    base = privacy_program(setting.space, level, np.full(losses.shape, Fraction(0), dtype=object))
    count, cells = base.shape
    d = np.repeat(np.arange(points), readings)
    program = LinearProgram(
        [Fraction(0)] * cells + [rational(p, "prior") for p in prior],
        np.concatenate([base.rows, count + d, count + np.arange(points)]),
        np.concatenate([base.columns, np.arange(cells), cells + np.array(setting.answers)]),
        np.concatenate([base.values, [-rational(v, "loss") for v in losses.ravel()], [Fraction(1)] * points]),
        [*base.rhs, *[Fraction(0)] * points],
        np.concatenate([base.equality, np.zeros(points, dtype=bool)]),
    )
    return _certified_design(setting, level, program)


def worst_case_loss(setting: DatabaseSetting, mechanism: Channel, prior: Sequence[Fraction]) -> Number:
    """Objective (9) of a mechanism read at face value."""
    database_losses = (mechanism.rows * setting.losses()).sum(axis=1)
    worst = [
        max((database_losses[d] for d, f in enumerate(setting.answers) if f == i), default=Fraction(0))
        for i in range(len(prior))
    ]
    return sum((p * w for p, w in zip(prior, worst, strict=True)), Fraction(0))


def average_rows(setting: DatabaseSetting, mechanism: Channel) -> Channel:
    """The oblivious mechanism of Prop. 6.1: each row replaced by the mean of the rows with the same answer.

    For all databases over a set of values it is as private as the one given, and its objective (9) is not larger.
    """
    rows = np.empty(mechanism.rows.shape, dtype=object)
    for answer in set(setting.answers):
        same = [d for d, f in enumerate(setting.answers) if f == answer]
        rows[same] = mechanism.rows[same].sum(axis=0) / Fraction(len(same))
    return trusted_channel(mechanism.inputs, mechanism.outputs, rows)


def common_source(space: Space, level: Level, first: Channel, second: Channel) -> LinearProgram:
    """The system that a private X must solve to have remaps to both channels (App. C).

    X's output may be taken as the pair (j, k) of its two readings: Σ_k x_d,jk = first[d,j], Σ_j x_d,jk = second[d,k],
    privacy, x ≥ 0. No X exists when the system is infeasible; `lp.infeasibility` then gives the Farkas multipliers.
    """
    left, right = len(first.outputs), len(second.outputs)
    readings, points = left * right, len(space)
    rows, columns, values = privacy_rows(space, level, readings)
    count = 2 * len(space.edges) * readings
    cells = np.arange(points * readings)
    d, j, k = cells // readings, cells % readings // right, cells % right
    targets = [*first.rows.ravel(), *second.rows.ravel()]
    return LinearProgram(
        [Fraction(0)] * len(cells),
        np.concatenate([rows, count + d * left + j, count + points * left + d * right + k]),
        np.concatenate([columns, cells, cells]),
        np.concatenate([values, [Fraction(1)] * (2 * len(cells))]),
        [Fraction(0)] * count + [rational(t, "entry") for t in targets],
        np.arange(count + len(targets)) >= count,
    )


def _certified_design(setting: DatabaseSetting, level: Level, program: LinearProgram) -> DatabaseDesign:
    certificate = certified_optimum(program)
    points, readings = setting.losses().shape
    rows = np.array(certificate.proof.x[: points * readings], dtype=object).reshape(points, readings)
    mechanism = trusted_channel(setting.space.labels, range(readings), rows)
    privacy_loss = least_epsilon(mechanism, setting.space)
    if not privacy_loss.within(level):
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return DatabaseDesign(mechanism, certificate.upper, certificate, privacy_loss)
