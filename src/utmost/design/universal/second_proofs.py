"""Universal optimality a second way: FMPD23 Theorem 6 by statements, and simulation of kernel mechanisms.

FMPD23 Theorem 6, statement by statement, and whether a mechanism extends to more secrets, as 6(5) needs.

FMPD23 Theorem 6, statement by statement, on given mechanisms and losses, each side decided.

L_M is the set of losses for which M is universally optimal in its type. "Trivial" is Def. A1's: one action is best
whatever the secret. With Def. 6's (the loss does not depend on the action) statement 3 fails: [[0, 1], [0, 1]] depends
on it, and the mechanism that tells nothing is universally optimal for it.

Universal ℓ-optimality decided a second way, by simulating every kernel mechanism.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias, TypeVar

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_exact_inputs, channel_of, choice, is_private
from utmost.channel.channel import matrix_product, trusted_channel
from utmost.consumer.loss_classes import Exacts, LossLike, is_trivial, lift_loss, loss_rows
from utmost.design.certified_design import reading_names
from utmost.design.universal.decision import (
    Counterexample,
    OptimalityQuestion,
    Progress,
    optimality_question,
    require_rational,
    uncertainty,
    universally_optimal,
)
from utmost.errors import InputError, SolverError
from utmost.exact import Level, rational
from utmost.lp import Farkas, LinearProgram, certified_optimum, infeasibility
from utmost.spaces import Label, Space, sub_space


@dataclass(frozen=True, slots=True)
class Extension:
    """A private mechanism on the whole space with the given rows, or a Farkas proof that there is none."""

    channel: Channel | None
    refutation: Farkas | None

    @property
    def exists(self) -> bool:
        """Does it extend."""
        return self.channel is not None


def extension(mechanism: Channel | Mechanism, space: Space, level: Level) -> Extension:
    """Rows for the secrets that the mechanism lacks, so that the whole is private at this rational level; 0 < α < 1.

    A column by itself always extends, by c_x = min_x′ α^−d(x,x′)·c_x′; but then the rows need not sum to 1.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> ends = channel([["4/5", "1/5"], ["1/5", "4/5"]], inputs=[0, 2])  # best for two secrets at distance 2
    >>> extension(ends, line(3), alpha("1/2")).exists  # 1 would need at least and at most 2/5 for each answer
    False
    """
    source = channel_of(mechanism)
    program = extension_program(source, space, level)
    refutation = infeasibility(program)
    if refutation is not None:
        return Extension(None, refutation)
    rows = np.empty((len(space), len(source.outputs)), dtype=object)
    new_rows = iter(np.array(certified_optimum(program).proof.x, dtype=object).reshape(-1, len(source.outputs)))
    for x, label in enumerate(space.labels):
        rows[x] = source.rows[source.inputs.index(label)] if label in source.inputs else next(new_rows)
    extended = trusted_channel(space.labels, source.outputs, rows)
    if not is_private(extended, space, level):
        raise SolverError("the extension found is not private; was the mechanism, on its own secrets?")
    return Extension(extended, None)


def extension_program(source: Channel, space: Space, level: Level) -> LinearProgram:
    """Find the missing rows: those of the secrets that the channel lacks, in the order of the space.

    Variables: the rows one after another. Rows: for each generating pair with a missing secret, both ways, and each
    output: C[x,y] − α^d·C[x′,y] ≥ 0; then each missing row sums to 1.
    """
    if not level.is_inner:
        raise InputError("level must have 0 < alpha < 1 here: at 0 and at 1 every mechanism extends", "level")
    require_rational(space, level, source.rows)
    known_rows = {space.position(label): source.rows[k] for k, label in enumerate(source.inputs)}
    missing = {x: k for k, x in enumerate(x for x in range(len(space)) if x not in known_rows)}
    width = len(source.outputs)
    entries, rhs = _privacy_constraints(space, level, known_rows, missing)
    count = len(rhs)
    entries += [(count + k, k * width + y, Fraction(1)) for k in missing.values() for y in range(width)]
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return LinearProgram(
        [Fraction(0)] * (len(missing) * width),
        np.array(rows, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.array(values, dtype=object),
        [*rhs, *[Fraction(1)] * len(missing)],
        np.arange(count + len(missing)) >= count,
    )


def _privacy_constraints(
    space: Space, level: Level, known_rows: Mapping[int, Matrix], missing: Mapping[int, int]
) -> tuple[list[tuple[int, int, Fraction]], list[Fraction]]:
    """The entries and right-hand sides of the privacy rows; what is known goes to the right."""
    width = len(next(iter(known_rows.values())))
    entries: list[tuple[int, int, Fraction]] = []
    rhs: list[Fraction] = []
    pairs = [(a, b) for x, z in space.edges for a, b in ((x, z), (z, x)) if x in missing or z in missing]
    for (x, z), y in product(pairs, range(width)):
        target = Fraction(0)
        for point, value in ((x, Fraction(1)), (z, -rational(level.power(space.distance(x, z)), "alpha^distance"))):
            if point in missing:
                entries.append((len(rhs), missing[point] * width + y, value))
            else:
                target -= value * known_rows[point][y]
        rhs.append(target)
    return entries, rhs


def retraction(space: Space, labels: Sequence[Label]) -> dict[Label, Label] | None:
    """A map of the space onto `labels` that keeps them and brings no two points further apart; None if there is none.

    Where there is one every mechanism on `labels` extends, by pulling it back, at every level, and FMPD23 Thm 6(5)
    holds both ways. Discrete spaces have one onto any part.

    >>> from utmost.spaces import line
    >>> retraction(line(4), [1, 2]), retraction(line(4), [0, 3])
    ({0: 1, 1: 1, 2: 2, 3: 1}, None)
    """
    targets = [space.position(label) for label in labels]
    images: dict[int, int] = {point: point for point in targets}
    remaining = [x for x in range(len(space)) if x not in images]
    mapping = _extend_retraction(space, targets, remaining, images)
    return None if mapping is None else {space.labels[x]: space.labels[mapping[x]] for x in range(len(space))}


def _extend_retraction(
    space: Space, targets: Sequence[int], remaining: Sequence[int], images: dict[int, int]
) -> dict[int, int] | None:
    if not remaining:
        return images
    x = remaining[0]
    for image in targets:
        if all(space.distance(image, known_image) <= space.distance(x, z) for z, known_image in images.items()):
            mapping = _extend_retraction(space, targets, remaining[1:], {**images, x: image})
            if mapping is not None:
                return mapping
    return None


@dataclass(frozen=True, slots=True)
class Statement:
    """Two sides of a statement on one example, and whether they stand as the theorem says."""

    left: bool
    right: bool
    holds: bool


def trivial_is_optimal(space: Space, level: Level, loss: LossLike, mechanism: Channel) -> Statement:
    """(1) L* ⊆ L_M: if the loss is trivial (left), M is optimal for it (right)."""
    left = is_trivial(loss, len(space)).dominated
    right = universally_optimal(space, level, loss, mechanism).optimal
    return Statement(left, right, right or not left)


def refinement_keeps(space: Space, level: Level, loss: LossLike, mechanism: Channel, remap: Channel) -> Statement:
    """(2) M ⊑ M′ = M·R implies L_M ⊇ L_M′: if M′ is optimal (left), so is M (right)."""
    left = universally_optimal(space, level, loss, mechanism.then(remap)).optimal
    right = universally_optimal(space, level, loss, mechanism).optimal
    return Statement(left, right, right or not left)


def check_constant(space: Space, level: Level, loss: LossLike) -> Statement:
    """(3) L_𝕀 = L*: the mechanism that tells nothing is optimal (left) exactly for trivial losses (right); α < 1."""
    constant = trusted_channel(space.labels, (0,), np.full((len(space), 1), Fraction(1), dtype=object))
    left = universally_optimal(space, level, loss, constant).optimal
    right = is_trivial(loss, len(space)).dominated
    return Statement(left, right, left == right)


def check_choice(
    space: Space, level: Level, loss: LossLike, first: Channel, second: Channel, weight: object
) -> Statement:
    """(4) L_{M ⊕_p M′} = L_M ∩ L_M′ for 0 < p < 1: the choice is optimal (left) exactly when both are (right)."""
    left = universally_optimal(space, level, loss, choice(first, second, weight)).optimal
    right = all(universally_optimal(space, level, loss, mechanism).optimal for mechanism in (first, second))
    return Statement(left, right, left == right)


def check_restriction(
    space: Space, level: Level, loss: LossLike, labels: Sequence[Label], mechanism: Channel
) -> Statement:
    """(5) ℓ ∈ L_{M↓X′} (left) if and only if ℓ↑X ∈ L_M (right), X′ = `labels`.

    Left implies right: with π supported on X′ the loss of M is that of M↓X′, and what the type of X can do on X′ the
    type of X′ can do too. The converse needs that mechanisms on X′ extend to X, and **fails** without: on line:3 the
    geometric mechanism is optimal for ℓ_bin on {0, 2}, lifted, but its restriction is not for ℓ_bin, since T, which is,
    extends to no private mechanism on the line (see above). Where X has a `retraction` onto X′ both directions hold.
    """
    part_space = sub_space(space, labels)
    left = universally_optimal(part_space, level, loss, mechanism.restrict(labels)).optimal
    right = universally_optimal(space, level, lift_loss(loss, labels, space), mechanism).optimal
    return Statement(left, right, left == right)


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
