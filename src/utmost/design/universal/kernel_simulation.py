"""Universal ℓ-optimality decided a second way, by simulating every kernel mechanism.

Write L_Z(x) = Σ_w Z[x,w]·ℓ[x,w] for a mechanism Z whose outputs are actions. **Theorem.** M is universally ℓ-optimal if
and only if for every deterministic remap Z of a kernel mechanism there is a stochastic R with L_MR ≤ L_Z at every
secret.

*Proof.* If such R exist, U(π, M) ≤ π·L_MR ≤ π·L_Z for all π and Z, and the least of the right side over Z is the least
of the type, since every mechanism refines a visible choice of kernels (FMPD23 Thm 3), and U is linear in the choice.
Conversely, for each Z the game min_R max_π π·(L_MR − L_Z) = max_π min_R (both sets are compact and convex, the payoff
is bilinear: von Neumann) = max_π [U(π, M) − π·L_Z] is ≤ 0 when M is universally ℓ-optimal; the R that attains it will
do. ∎

The game is a linear program; when its value is positive, the multipliers of the secrets are the prior of a consumer who
is better served by Z. Kernel mechanisms are an argument here, since listing them is geometry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_exact_inputs
from utmost.channel.channel import matrix_product, trusted_channel
from utmost.consumer.loss_classes import Exacts, LossLike, loss_rows
from utmost.design.certified_design import reading_names
from utmost.design.universal.decision import (
    Counterexample,
    OptimalityQuestion,
    Progress,
    optimality_question,
    require_rational,
    uncertainty,
)
from utmost.errors import SolverError
from utmost.exact import Level
from utmost.lp import LinearProgram, certified_optimum
from utmost.spaces import Label, Space

Vector: TypeAlias = tuple[Fraction, ...]
Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class RemappedKernel:
    """A kernel mechanism read by a deterministic remap, and what it costs at each secret."""

    kernel: int
    remap: tuple[int, ...]
    losses: Vector


@dataclass(frozen=True, slots=True)
class SimulationStep:
    """A stochastic remap of the mechanism that costs no more than `direct` at any secret."""

    direct: RemappedKernel
    remap: Channel


@dataclass(frozen=True, slots=True)
class Simulation:
    """Is a mechanism universally ℓ-optimal: `steps` simulate all kernels, or `objection` names who is better off."""

    steps: tuple[SimulationStep, ...]
    objection: Counterexample | None

    @property
    def optimal(self) -> bool:
        """No consumer objects."""
        return self.objection is None


def simulation(
    space: Space,
    level: Level,
    loss: LossLike,
    mechanism: Channel | Mechanism,
    kernels: Sequence[Channel | Mechanism],
    progress: Progress | None = None,
) -> Simulation:
    """Does the mechanism simulate all `kernels` (all kernel mechanisms of the type), so that it is universally optimal.

    Only direct mechanisms that no other one beats at every secret are tried (`minimal_remaps`).
    """
    question = optimality_question(space, level, loss, mechanism)
    directs = minimal_remaps(space, level, loss, kernels)
    steps: list[SimulationStep] = []
    for k, direct in enumerate(directs):
        if progress is not None:
            progress("kernel mechanisms simulated", k, len(directs))
        step = _simulate(question, direct, kernels)
        if isinstance(step, Counterexample):
            return Simulation((), step)
        steps.append(step)
    return Simulation(tuple(steps), None)


def verify_simulation(
    space: Space,
    level: Level,
    loss: LossLike,
    mechanism: Channel | Mechanism,
    kernels: Sequence[Channel | Mechanism],
    claim: Simulation,
) -> bool:
    """Do the steps prove it: each remap costs no more than said, and every direct mechanism costs no less than one."""
    question = optimality_question(space, level, loss, mechanism)
    valid_steps = [
        step
        for step in claim.steps
        if _is_below(_remap_losses(question.rows, step.remap.rows, question.losses), step.direct)
    ]
    covered = [step.direct.losses for step in valid_steps]
    directs = minimal_remaps(space, level, loss, kernels)
    return all(any(_dominates(losses, direct.losses) for losses in covered) for direct in directs)


def minimal_remaps(
    space: Space, level: Level, loss: LossLike, kernels: Sequence[Channel | Mechanism]
) -> list[RemappedKernel]:
    """The remaps of kernels whose losses no other remap's are below at every secret.

    L_Z = Σ_y K_y∘ℓ_r(y), so partial sums that another one is below are dropped as they come.
    """
    losses = loss_rows(loss, len(space))
    minimal: dict[Vector, RemappedKernel] = {}
    for k, kernel in enumerate(kernels):
        rows = align_exact_inputs(kernel, space).rows
        require_rational(space, level, losses, rows)
        sums: dict[Vector, tuple[int, ...]] = {(Fraction(0),) * len(space): ()}
        for column in rows.T:
            sums = _minimal(_add_column(sums, column, losses))
        minimal = _minimal({**{total: RemappedKernel(k, remap, total) for total, remap in sums.items()}, **minimal})
    return list(minimal.values())


def _add_column(sums: dict[Vector, tuple[int, ...]], column: Matrix, losses: Exacts) -> dict[Vector, tuple[int, ...]]:
    action_losses = [tuple(column * losses[:, w]) for w in range(losses.shape[1])]
    return {
        tuple(a + b for a, b in zip(total, addition, strict=True)): (*remap, w)
        for total, remap in sums.items()
        for w, addition in enumerate(action_losses)
    }


def _minimal(table: dict[Vector, Entry]) -> dict[Vector, Entry]:
    """The entries whose vector no other one is below."""
    minimal: dict[Vector, Entry] = {}
    for vector in sorted(table, key=sum):
        if not any(_dominates(smaller, vector) for smaller in minimal):
            minimal[vector] = table[vector]
    return minimal


def _dominates(low: Vector, high: Vector) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True))


def _is_below(losses: Vector, direct: RemappedKernel) -> bool:
    return _dominates(losses, direct.losses)


def _remap_losses(rows: Matrix, remap: Matrix, losses: Exacts) -> Vector:
    """L_MR."""
    return tuple((matrix_product(rows, remap) * losses).sum(axis=1))


def _simulate(
    question: OptimalityQuestion, direct: RemappedKernel, kernels: Sequence[Channel | Mechanism]
) -> SimulationStep | Counterexample:
    certificate = certified_optimum(game(question, direct.losses))
    outputs, actions = question.rows.shape[1], question.losses.shape[1]
    if certificate.upper == 0:
        rows = np.array(certificate.proof.x[:-1], dtype=object).reshape(outputs, actions)
        return SimulationStep(direct, trusted_channel(range(outputs), range(actions), rows))
    if certificate.lower <= 0:
        raise SolverError("the value of a game was not closed to a gap of 0: the question stays open")
    weights = certificate.proof.y[: len(question.space)]
    prior = tuple(weight / sum(weights) for weight in weights)
    better = _remap_kernel(
        align_exact_inputs(kernels[direct.kernel], question.space), direct.remap, reading_names(question.space, actions)
    )
    return Counterexample(prior, question.uncertainty(prior), better, uncertainty(prior, better.rows, question.losses))


def _remap_kernel(kernel: Channel, remap: Sequence[int], actions: Sequence[Label]) -> Channel:
    rows = np.full((len(kernel.inputs), len(actions)), Fraction(0), dtype=object)
    for y, w in enumerate(remap):
        rows[:, w] += kernel.rows[:, y]
    return trusted_channel(kernel.inputs, actions, rows)


def game(question: OptimalityQuestion, limits: Vector) -> LinearProgram:
    """minimise t ≥ 0 over stochastic R with L_MR(x) ≤ limits[x] + t for every secret x.

    Variables: R row by row, then t. Rows: one for each secret, then one for each row of R. Where the value is positive
    the multipliers of the secrets sum to 1 (t is basic), and are the prior for which max_π [U(π, M) − π·limits] is had.
    """
    points, outputs = question.rows.shape
    actions = question.losses.shape[1]
    terms = -(question.rows[:, :, None] * question.losses[:, None, :]).reshape(points, -1)
    cells = np.arange(outputs * actions)
    x = np.arange(points)
    return LinearProgram(
        [Fraction(0)] * len(cells) + [Fraction(1)],
        np.concatenate([np.repeat(x, len(cells)), x, points + cells // actions]),
        np.concatenate([np.tile(cells, points), np.full(points, len(cells)), cells]),
        np.array([*terms.ravel(), *[Fraction(1)] * (points + len(cells))], dtype=object),
        [-limit for limit in limits] + [Fraction(1)] * outputs,
        np.arange(points + outputs) >= points,
    )
