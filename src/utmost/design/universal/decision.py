"""Universal ℓ-optimality decided, by the corners of the mechanism's cells.

**Theorem.** Let U(π) be the consumer's loss with M under the prior π, and OPT(π) the least over the type. M is
universally ℓ-optimal (FMPD23 Def. 3) if and only if U = OPT at every corner of the cells on which U is linear.

*Proof.* OPT is a minimum of functions linear in π (one for each mechanism of the type and reading of its outputs), so
it is concave; so is U, and OPT ≤ U. Each cell is a polytope. On it OPT − U is concave less linear, hence concave, so
its least value over the cell is at a corner of the cell. If it is ≥ 0 at the corners it is ≥ 0 on the cell, and the
cells cover the simplex. ∎

OPT at a corner is a linear program over direct mechanisms, whose outputs are the actions; it is solved with a
certificate.

Whether a type has any universally ℓ-optimal mechanism is decided here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, Mechanism, channel_of
from utmost.channel.channel import trusted_channel
from utmost.consumer.loss_operations import LossLike
from utmost.design.certified_design import reading_names
from utmost.design.universal.cell_corners import cell_corners
from utmost.design.universal.optimality_question import (
    CornerProof,
    Counterexample,
    OptimalityQuestion,
    Prior,
    Progress,
    Verdict,
    optimality_question,
    uncertainty,
)
from utmost.errors import SolverError
from utmost.exact import Level
from utmost.lp import certified_optimum
from utmost.spaces import Space


def universally_optimal(
    space: Space, level: Level, loss: LossLike, mechanism: Channel | Mechanism, progress: Progress | None = None
) -> Verdict:
    """Is a mechanism of the type at least as good as any other for this loss, whatever the prior: with a proof.

    Decided for rational data; the work is a linear program for each corner (about a hundred for five secrets).

    >>> from utmost.consumer import losses
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> from utmost.spaces import line
    >>> universally_optimal(line(3), alpha("1/2"), losses.absolute, geometric(2, alpha("1/2"))).optimal
    True
    """
    question = optimality_question(space, level, loss, mechanism)
    if level.alpha == 1:
        return Verdict((), None)
    proofs: list[CornerProof] = []
    priors = cell_corners(question.rows, question.losses)
    for k, prior in enumerate(priors):
        if progress is not None:
            progress("priors where the mechanism's loss bends", k, len(priors))
        evidence = decide_at_prior(question, prior)
        if isinstance(evidence, Counterexample):
            return Verdict((), evidence)
        proofs.append(evidence)
    return Verdict(tuple(proofs), None)


def decide_at_prior(question: OptimalityQuestion, prior: Prior) -> CornerProof | Counterexample:
    """Is the mechanism best at this prior: the multipliers that prove it, or a better one."""
    loss = question.uncertainty(prior)
    certificate = certified_optimum(question.program(prior))
    if certificate.lower == loss:
        return CornerProof(prior, loss, certificate.proof.y)
    if certificate.upper == loss:
        raise SolverError("the least loss at a prior was not closed to a gap of 0: the question stays open")
    rows = np.array(certificate.proof.x, dtype=object).reshape(question.losses.shape)
    better = trusted_channel(question.space.labels, reading_names(question.space, question.losses.shape[1]), rows)
    return Counterexample(prior, loss, better, uncertainty(prior, rows, question.losses))


@dataclass(frozen=True, slots=True)
class Existence:
    """A kernel mechanism that is universally ℓ-optimal with its verdict, or an objection to every kernel, in order."""

    mechanism: Channel | None
    verdict: Verdict | None
    objections: tuple[Counterexample, ...]

    @property
    def exists(self) -> bool:
        """Was one found."""
        return self.mechanism is not None


def universal_mechanism(
    space: Space, level: Level, loss: LossLike, kernels: Iterable[Channel | Mechanism], progress: Progress | None = None
) -> Existence:
    """The first universally ℓ-optimal mechanism among `kernels`, or why each is not one.

    Given all kernel mechanisms of the type this decides whether the type has any: a universally ℓ-optimal M refines a
    visible choice of kernels (FMPD23 Thm 3), which is then universally ℓ-optimal too, and so is each kernel in it
    (Thm 6(2), 6(4)): FMPD23 Cor. 7. A consumer who objected to one kernel is asked about the next ones first.
    """
    distinct_objections: list[Counterexample] = []
    objections: list[Counterexample] = []
    for k, kernel in enumerate(kernels):
        if progress is not None:
            progress("kernel mechanisms refuted", k, 0)
        question = optimality_question(space, level, loss, kernel)
        repeat = next((o for o in distinct_objections if question.uncertainty(o.prior) > o.better_loss), None)
        if repeat is not None:
            objections.append(_repeat_objection(question, repeat))
            continue
        verdict = universally_optimal(space, level, loss, kernel)
        if verdict.objection is None:
            return Existence(channel_of(kernel), verdict, tuple(objections))
        distinct_objections.append(verdict.objection)
        objections.append(verdict.objection)
    return Existence(None, None, tuple(objections))


def _repeat_objection(question: OptimalityQuestion, objection: Counterexample) -> Counterexample:
    loss: Fraction = question.uncertainty(objection.prior)
    return Counterexample(objection.prior, loss, objection.better, objection.better_loss)
