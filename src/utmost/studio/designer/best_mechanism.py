"""The best mechanism for a question, with its certificate, as the page and its JSON twin have it."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, Field

from utmost import design
from utmost.channel import Channel
from utmost.reports import Matrix
from utmost.reports.optimum import DesignProblem, describe, design_signature
from utmost.studio.designer.forms import DesignQuestion, require_quick
from utmost.studio.number_format import FormattedNumber

Progress = Callable[[float, float], None]


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

    def block(self, caption: str) -> Matrix:
        """The channel as a page shows it."""
        return Matrix(self.channel(), caption)


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
    """The certified optimum of a question, described by `reports.optimum`."""
    points, level, consumer = question.points(), question.level(), question.consumer()
    optimum = design.optimal(points, level, consumer, progress)
    problem = DesignProblem(points, level, consumer, question.space, question.prior, question.loss)
    report = describe(optimum, problem, min(consumer.costs().sum(axis=0)))
    signature = design_signature(optimum, points, level)
    numbers = report.numbers
    return BestMechanism(
        mechanism=ChannelMatrix.of(optimum.channel),
        loss=FormattedNumber.of(numbers["loss"]),
        silent=FormattedNumber.of(numbers["silent"]),
        lower=FormattedNumber.of(numbers["lower"]),
        gap=str(numbers["gap"]),
        epsilon=optimum.privacy_loss.epsilon,
        private=optimum.private,
        remap=optimum.remap,
        signature=None if signature is None else list(signature),
        proof=report.text("proof"),
        made=report.text("remap"),
    )


def quick_mechanism(question: DesignQuestion) -> BestMechanism:
    """The certified optimum of a question that is small enough to be answered at once."""
    require_quick(question)
    return best_mechanism(question)
