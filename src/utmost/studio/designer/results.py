"""What the designer's pages show: the best mechanism, the usual ones beside it, what a type contains."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from utmost import design
from utmost.channel import Channel, channel
from utmost.continuous import laplace_loss
from utmost.design.optimal import is_line
from utmost.errors import InputError
from utmost.exact import Number, alpha, number
from utmost.mechanisms import geometric, response
from utmost.reports import Matrix, Report, Table
from utmost.reports.capacity import describe as describe_capacities
from utmost.reports.numbers import SENTENCE_DIGITS, at_most, quantity
from utmost.reports.optimum import DesignProblem, describe, design_signature
from utmost.reports.privacy_type import posterior_table
from utmost.studio import forms
from utmost.studio.designer.forms import DesignInput, require_quick
from utmost.studio.rendering import FormattedNumber

if TYPE_CHECKING:
    from utmost.consumer import Consumer
    from utmost.exact import Level
    from utmost.spaces import Space

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


def best_mechanism(question: DesignInput, progress: Progress | None = None) -> BestMechanism:
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


def quick_mechanism(question: DesignInput) -> BestMechanism:
    """The certified optimum of a question that is small enough to be answered at once."""
    require_quick(question)
    return best_mechanism(question)


CURVE_ALPHAS = tuple(Fraction(k, 20) for k in (19, 18, 16, 14, 12, 10, 8, 6, 4, 3, 2, 1))  # α of the curve


class UsualMechanism(BaseModel):
    """A mechanism of the same level, with this consumer's best remap."""

    name: str
    loss: FormattedNumber
    times: FormattedNumber | None
    says: str


@dataclass(frozen=True, slots=True)
class UsualLoss:
    """What the consumer loses with a mechanism, in its best reading; an upper bound where that is not known exactly."""

    name: str
    loss: Number
    description: str
    is_exact: bool = True


def usual_mechanisms(question: DesignInput, least_loss_text: str) -> list[UsualMechanism]:
    """What the consumer loses with the usual mechanisms, each in its best reading, beside the least loss there is."""
    points, level, consumer = question.points(), question.level(), question.consumer()
    least_loss = number(least_loss_text)
    losses = [UsualLoss("the best", least_loss, "certified")]
    if is_line(points) and level.is_inner and points.distance(0, min(1, len(points) - 1)) == 1:
        losses += [_geometric_loss(consumer, level, len(points)), _laplace_loss(consumer, level)]
    if len(points) > 1 and level.is_inner:
        losses.append(_response_loss(consumer, level, points))
    losses.append(UsualLoss("silence", min(consumer.costs().sum(axis=0)), "no answer at all: private at every level"))
    return [_formatted(item, least_loss) for item in losses]


def _geometric_loss(consumer: Consumer, level: Level, size: int) -> UsualLoss:
    loss = _to_exact(consumer.expected_loss(geometric(size - 1, level)))
    return UsualLoss("geometric", loss, "truncated; universally optimal for legal losses, GRS12 Thm 3.2")


def _laplace_loss(consumer: Consumer, level: Level) -> UsualLoss:
    bounds = laplace_loss(consumer.costs(), level)
    loss = Fraction(bounds.upper) if bounds.exact is None else bounds.exact
    return UsualLoss("Laplace", loss, "continuous noise of scale 1/ε, GRS12 App. A", bounds.exact is not None)


def _response_loss(consumer: Consumer, level: Level, points: Space) -> UsualLoss:
    min_distance = min(points.distance(x, other) for x, other in points.edges)
    rows = response(len(points), alpha(level.power(min_distance))).channel().rows
    loss = _to_exact(consumer.expected_loss(channel([list(row) for row in rows], points.labels, points.labels)))
    return UsualLoss("randomised response", loss, "the truth, or any other value alike")


def _to_exact(value: Number | float) -> Number:
    return Fraction(value) if isinstance(value, float) else value


def _formatted(item: UsualLoss, least_loss: Number) -> UsualMechanism:
    rounded = quantity if item.is_exact else at_most
    return UsualMechanism(
        name=item.name,
        loss=FormattedNumber.of(rounded(item.loss, SENTENCE_DIGITS)),
        times=FormattedNumber.of(rounded(item.loss / least_loss)) if least_loss else None,
        says=item.description,
    )


class TradeOffPoint(BaseModel):
    """One level, and the least expected loss at it."""

    epsilon: float
    loss: float


@lru_cache(maxsize=64)
def trade_off_curve(space: str, prior: str, loss: str) -> tuple[TradeOffPoint, ...]:
    """The least expected loss over ε, certified at each of twelve rational levels."""
    curve = []
    for curve_alpha in CURVE_ALPHAS:
        question = DesignInput(space, str(curve_alpha), "", prior, loss)
        require_quick(question)
        optimum = design.optimal(question.points(), alpha(curve_alpha), question.consumer())
        curve.append(TradeOffPoint(epsilon=-math.log(curve_alpha), loss=float(optimum.loss)))
    return tuple(curve)


MAX_PROGRAM_POINTS = 100  # points of a space whose capacities are found by a program, at once


class Bound(BaseModel):
    """A capacity: its value, rounded up, and how it is proved."""

    value: FormattedNumber
    exact: bool
    gap: str
    how: str


class TypeCapacity(BaseModel):
    """The capacities of a type: the largest leakage of any of its mechanisms."""

    space: str
    secrets: int
    level: str
    multiplicative: Bound = Field(description="An answer multiplies what a consumer can gain by at most this")
    additive: Bound = Field(description="An answer adds at most this to a gain between 0 and 1")


class TypeMembers(BaseModel):
    """What a type is made of: how many vertices and kernel mechanisms, and the first of each."""

    secrets: list[str]
    vertices: int
    posteriors: list[list[str]]
    kernels: int
    mechanisms: list[ChannelMatrix]

    def block(self) -> Table:
        """The posteriors as a table."""
        return posterior_table(self.secrets, self.posteriors)


def check_type(question: DesignInput) -> None:
    """Refuse a type whose secrets or level cannot be read."""
    question.points(), question.level()


def type_capacity(question: DesignInput) -> TypeCapacity:
    """Both capacities of the type; in closed form for homogeneous spaces of any size."""
    points, level = forms.parse_space(question.space), question.level()
    if points.profile is None and len(points) > MAX_PROGRAM_POINTS:
        raise InputError(
            f"space must have at most {MAX_PROGRAM_POINTS} secrets, or be line, discrete, hamming or cycle", "space"
        )
    capacities = design.capacity(points, level)
    report = describe_capacities(capacities)
    return TypeCapacity(
        space=points.name,
        secrets=len(points),
        level=str(level),
        multiplicative=_bound(capacities.multiplicative, report, "multiplicative"),
        additive=_bound(capacities.additive, report, "additive"),
    )


def _bound(capacity: design.Capacity, report: Report, name: str) -> Bound:
    """A capacity with the numbers of its report."""
    value, gap = FormattedNumber.of(report.numbers[name]), str(report.numbers[f"{name} gap"])
    return Bound(value=value, exact=capacity.exact, gap=gap, how=capacity.how)
