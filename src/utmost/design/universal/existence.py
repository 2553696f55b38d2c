"""Is there any universally ℓ-optimal mechanism in a type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from utmost.channel import Channel, Mechanism, channel_of
from utmost.consumer.loss_operations import LossLike
from utmost.design.universal.decision import universally_optimal
from utmost.design.universal.optimality_question import OptimalityQuestion, Progress, optimality_question
from utmost.design.universal.verdict import Counterexample, Verdict
from utmost.exact import Level
from utmost.spaces import Space


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
