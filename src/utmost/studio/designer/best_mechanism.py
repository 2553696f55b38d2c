"""The best mechanism for a question, with its certificate, as the page and its JSON twin have it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from utmost import design
from utmost.channel import Channel
from utmost.design.optimal import is_line
from utmost.exact import Number, Real, decimal_above
from utmost.studio.designer.forms import DesignQuestion, require_quick
from utmost.studio.number_format import FormattedNumber, format_above, format_below, format_number

if TYPE_CHECKING:
    from utmost.design import Design

Progress = Callable[[float, float], None]
LOSS_DIGITS = 6


class ChannelMatrix(BaseModel):
    """A channel: its inputs, its outputs and its rows of exact numbers."""

    inputs: list[str]
    outputs: list[str]
    rows: list[list[str]]

    @classmethod
    def of(cls, channel: Channel) -> ChannelMatrix:
        """A channel, its entries as exact text."""
        rows = [[str(value) for value in row] for row in channel.rows]
        return cls(inputs=[str(x) for x in channel.inputs], outputs=[str(y) for y in channel.outputs], rows=rows)

    def channel(self) -> Channel:
        """The channel again, checked."""
        from utmost.channel import channel

        return channel(self.rows, self.inputs, self.outputs)


class BestMechanism(BaseModel):
    """The best mechanism for a consumer, and what proves it."""

    mechanism: ChannelMatrix
    loss: FormattedNumber = Field(description="Its expected loss; an upper bound where there is a gap")
    silent: FormattedNumber = Field(description="and without any answer")
    lower: FormattedNumber = Field(description="No private mechanism has a smaller expected loss than this")
    gap: str = Field(description="How much less than the loss that is, at most")
    epsilon: float = Field(description="The ε of the mechanism, recomputed from its entries")
    private: bool
    remap: list[int] | None = Field(description="How the geometric mechanism's answers are read to give it")
    signature: list[str] | None = Field(description="Which constraints of privacy are tight, on a line")
    proof: str
    made: str = Field(description="How it comes from the geometric mechanism, where it does")


def best_mechanism(question: DesignQuestion, progress: Progress | None = None) -> BestMechanism:
    """The certified optimum of a question."""
    points, level, consumer = question.points(), question.level(), question.consumer()
    optimum = design.optimal(points, level, consumer, progress)
    has_signature = level.is_inner and is_line(points) and isinstance(level.alpha, Fraction)
    signature = design.signature(optimum.channel, level) if has_signature else None
    certificate = optimum.certificate
    silent_loss = min(consumer.costs().sum(axis=0))
    return BestMechanism(
        mechanism=ChannelMatrix.of(optimum.channel),
        loss=_format_loss(optimum.loss) if not certificate.gap else format_above(optimum.loss, LOSS_DIGITS),
        silent=_format_loss(silent_loss),
        lower=format_below(certificate.lower, LOSS_DIGITS),
        gap=_gap_text(certificate.gap),
        epsilon=certificate.privacy_loss.epsilon,
        private=certificate.private,
        remap=optimum.remap,
        signature=None if signature is None else list(signature),
        proof=_proof_sentence(optimum),
        made=_remap_sentence(optimum.remap),
    )


def quick_mechanism(question: DesignQuestion) -> BestMechanism:
    """The certified optimum of a question that is small enough to be answered at once."""
    require_quick(question)
    return best_mechanism(question)


def _format_loss(value: Number) -> FormattedNumber:
    return format_number(value, LOSS_DIGITS)


def _gap_text(gap: Number) -> str:
    return "0" if not gap else decimal_above(gap, 2)


def _remap_sentence(remap: list[int] | None) -> str:
    if remap is None:
        return ""
    if remap == list(range(len(remap))):
        return "It is the geometric mechanism, read at face value."
    return f"It is the geometric mechanism with its answers read as {', '.join(map(str, remap))}."


def _proof_sentence(optimum: Design) -> str:
    certificate = optimum.certificate
    prefix = "Proved in exact arithmetic: "
    if not certificate.gap:
        return prefix + "no private mechanism gives this consumer less, not even one with other answers. Gap 0."
    kind = "multipliers of the privacy constraints" if certificate.prices is not None else "bounds from both sides"
    if isinstance(certificate.gap, Real):
        kind = "bounds around irrational numbers"
    return (
        prefix
        + f"no private mechanism gives this consumer more than {_gap_text(certificate.gap)} less, by exact {kind}."
    )
