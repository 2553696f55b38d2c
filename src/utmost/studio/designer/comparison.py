"""Compare the best mechanism with the usual ones: geometric, Laplace, randomised response; the least loss over ε."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel

from utmost import design
from utmost.channel import channel
from utmost.continuous import laplace_loss
from utmost.design.optimal import is_line
from utmost.exact import Number, alpha, number
from utmost.mechanisms import geometric, response
from utmost.reports.numbers import SENTENCE_DIGITS, at_most, quantity
from utmost.studio.designer.forms import DesignQuestion, require_quick
from utmost.studio.number_format import FormattedNumber

if TYPE_CHECKING:
    from utmost.consumer import Consumer
    from utmost.exact import Level
    from utmost.spaces import Space

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


def usual_mechanisms(question: DesignQuestion, least_loss_text: str) -> list[UsualMechanism]:
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
        question = DesignQuestion(space, str(curve_alpha), "", prior, loss)
        require_quick(question)
        optimum = design.optimal(question.points(), alpha(curve_alpha), question.consumer())
        curve.append(TradeOffPoint(epsilon=-math.log(curve_alpha), loss=float(optimum.loss)))
    return tuple(curve)
