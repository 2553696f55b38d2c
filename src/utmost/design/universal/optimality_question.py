"""The question and the verdict: is this mechanism best in its privacy type for this loss, whatever the prior?

A verdict says what the decision rests on, and how to check it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_exact_inputs, is_private
from utmost.channel.channel import matrix_product
from utmost.consumer.consumer import first_minimum
from utmost.consumer.loss_operations import Exacts, LossLike, loss_rows
from utmost.consumer.losses import Loss, check_points
from utmost.design.privacy_program import privacy_program
from utmost.design.universal.cell_corners import cell_corners
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Real
from utmost.lp import LinearProgram, verify_certificate
from utmost.spaces import Space

Prior: TypeAlias = tuple[Fraction, ...]
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class OptimalityQuestion:
    """A type, a loss ℓ[x, w] and a mechanism of the type, M[x, y], its rows in the order of the space; all rational."""

    space: Space
    level: Level
    losses: Exacts
    rows: Matrix

    def uncertainty(self, prior: Prior) -> Fraction:
        """U_ℓ(π, M)."""
        return uncertainty(prior, self.rows, self.losses)

    def program(self, prior: Prior) -> LinearProgram:
        """The least expected loss over the whole type, for this prior."""
        return privacy_program(self.space, self.level, costs(prior, self.losses))

    def induced(self, prior: Prior) -> list[Fraction]:
        """The mechanism followed by its best reading: a feasible point of `program` that costs U_ℓ(π, M)."""
        cells = np.full(self.losses.shape, Fraction(0), dtype=object)
        for y, w in enumerate(readings(prior, self.rows, self.losses)):
            cells[:, w] += self.rows[:, y]
        return list(cells.ravel())


def optimality_question(
    space: Space, level: Level, loss: LossLike, mechanism: Channel | Mechanism
) -> OptimalityQuestion:
    """The question, once it is one: the data rational, the mechanism private at the level."""
    source = align_exact_inputs(mechanism, space)
    if isinstance(loss, Loss):
        check_points(loss, space)
    losses = loss_rows(loss, len(space))
    require_rational(space, level, losses, source.rows)
    if not is_private(source, space, level):
        raise InputError(
            f"mechanism must be of the type, got one that is not private on {space.name} at this level", "mechanism"
        )
    return OptimalityQuestion(space, level, losses, source.rows)


def require_rational(space: Space, level: Level, *data: Matrix) -> None:
    """Refuses data that are not fractions."""
    powers = np.array([level.power(space.distance(x, z)) for x, z in space.edges], dtype=object)
    if any(isinstance(value, Real) for value in powers.flat):
        raise InputError(
            "universal optimality is decided for rational alpha^distance, got an irrational one",
            hint="give alpha as a fraction, and distances that are whole numbers",
        )
    if any(isinstance(value, Real) for matrix in data for value in matrix.flat):
        raise InputError(
            "universal optimality is decided for rational losses and mechanisms, got an irrational entry: absolute, "
            "squared, binary and nib are rational where the distances are"
        )


def costs(prior: Sequence[Fraction], losses: Exacts) -> Exacts:
    """c[x, w] = π_x·ℓ[x, w]."""
    weights = np.empty(len(prior), dtype=object)
    weights[:] = prior
    result: Exacts = weights[:, None] * losses
    return result


def readings(prior: Sequence[Fraction], rows: Matrix, losses: Exacts) -> list[int]:
    """The best action for each output, the first of those that tie."""
    return [first_minimum(column) for column in matrix_product(costs(prior, losses).T, rows).T]


def uncertainty(prior: Sequence[Fraction], rows: Matrix, losses: Exacts) -> Fraction:
    """U_ℓ(π, M) = Σ_y min_w Σ_x π_x·M[x,y]·ℓ[x,w] (FMPD23 eq. 5).

    >>> half = Fraction(1, 2)
    >>> binary = np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]], dtype=object)
    >>> uncertainty((half, half), np.array([[half, half], [half, half]], dtype=object), binary)
    Fraction(1, 2)
    """
    scores = matrix_product(costs(prior, losses).T, rows)
    return sum((min(column) for column in scores.T), Fraction(0))


@dataclass(frozen=True, slots=True)
class CornerProof:
    """A prior at which the mechanism's loss is the least of the type: `multipliers` solve the dual with that value."""

    prior: Prior
    loss: Fraction
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A consumer who is better served: with `prior` the loss is `loss` by the mechanism, `better_loss` by `better`."""

    prior: Prior
    loss: Fraction
    better: Channel
    better_loss: Fraction


@dataclass(frozen=True, slots=True)
class Verdict:
    """Is a mechanism universally ℓ-optimal: if so `corners` prove it, if not `objection` refutes it.

    At α = 1 there are no corners to prove: every mechanism of the type tells nothing.
    """

    corners: tuple[CornerProof, ...]
    objection: Counterexample | None

    @property
    def optimal(self) -> bool:
        """No consumer objects."""
        return self.objection is None


def verify(space: Space, level: Level, loss: LossLike, mechanism: Channel | Mechanism, verdict: Verdict) -> bool:
    """Does the verdict prove what it says; no solver is asked.

    An objection: the other mechanism is private, and the two losses are as said, the second one less. Corners: they are
    all the corners of the mechanism's cells (enumerated afresh), and at each the loss is as said and the multipliers
    bound every mechanism of the type from below by it (weak duality, multiplied out).
    """
    question = optimality_question(space, level, loss, mechanism)
    if verdict.objection is not None:
        return _is_refuted(question, verdict.objection)
    if level.alpha == 1:
        return True
    proved_priors = {corner.prior for corner in verdict.corners}
    return proved_priors >= set(cell_corners(question.rows, question.losses)) and all(
        _is_attained(question, proof) for proof in verdict.corners
    )


def _is_attained(question: OptimalityQuestion, corner: CornerProof) -> bool:
    try:
        certificate = verify_certificate(
            question.program(corner.prior), question.induced(corner.prior), corner.multipliers
        )
    except (InputError, SolverError):  # multipliers that are negative, or not as many as there are rows
        return False
    return certificate.lower == certificate.upper == corner.loss == question.uncertainty(corner.prior)


def _is_refuted(question: OptimalityQuestion, objection: Counterexample) -> bool:
    better = align_exact_inputs(objection.better, question.space)
    prior = objection.prior
    return (
        is_private(better, question.space, question.level)
        and sum(prior) == 1
        and min(prior) >= 0
        and objection.loss == question.uncertainty(prior)
        and objection.better_loss == uncertainty(prior, better.rows, question.losses)
        and objection.better_loss < objection.loss
    )
