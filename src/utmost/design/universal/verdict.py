"""What a decision about universal optimality rests on, and how anyone checks it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from utmost.channel import Channel, Mechanism, align_exact_inputs, is_private
from utmost.consumer.loss_operations import LossLike
from utmost.design.universal.cell_corners import cell_corners
from utmost.design.universal.optimality_question import OptimalityQuestion, Prior, optimality_question, uncertainty
from utmost.errors import InputError, SolverError
from utmost.exact import Level
from utmost.lp import verify_certificate
from utmost.spaces import Space


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
