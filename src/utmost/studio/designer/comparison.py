"""Compare the best mechanism with the usual ones: geometric, Laplace, randomised response; the least loss over ε."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from pydantic import BaseModel

from utmost import design
from utmost.channel import channel
from utmost.continuous import laplace_loss
from utmost.design.optimal import is_line
from utmost.exact import Number, alpha, number
from utmost.mechanisms import geometric, response
from utmost.studio.designer.forms import DesignQuestion, require_quick
from utmost.studio.number_format import FormattedNumber, format_number

CURVE_ALPHAS = tuple(Fraction(k, 20) for k in (19, 18, 16, 14, 12, 10, 8, 6, 4, 3, 2, 1))  # α of the curve


class UsualMechanism(BaseModel):
    """A mechanism of the same level, with this consumer's best remap."""

    name: str
    loss: FormattedNumber
    times: FormattedNumber | None
    says: str


def usual_mechanisms(question: DesignQuestion, least_loss_text: str) -> list[UsualMechanism]:
    """What the consumer loses with the usual mechanisms, each in its best reading, beside the least loss there is."""
    least_loss = number(least_loss_text)
    points, level, consumer = question.points(), question.level(), question.consumer()
    mechanisms: list[tuple[str, Number, str]] = [("the best", least_loss, "certified")]
    if is_line(points) and level.is_inner and points.distance(0, min(1, len(points) - 1)) == 1:
        truncated = geometric(len(points) - 1, level)
        mechanisms.append(
            (
                "geometric",
                _to_exact(consumer.expected_loss(truncated)),
                "truncated; universally optimal for legal losses, GRS12 Thm 3.2",
            )
        )
        laplace = laplace_loss(consumer.costs(), level)
        laplace_value = laplace.exact if laplace.exact is not None else Fraction(laplace.upper)
        mechanisms.append(("Laplace", laplace_value, "continuous noise of scale 1/ε, GRS12 App. A"))
    if len(points) > 1 and level.is_inner:
        min_distance = min(points.distance(x, other) for x, other in points.edges)
        uniform_response = response(len(points), alpha(level.power(min_distance))).channel()
        response_channel = channel([list(row) for row in uniform_response.rows], points.labels, points.labels)
        mechanisms.append(
            (
                "randomised response",
                _to_exact(consumer.expected_loss(response_channel)),
                "the truth, or any other value alike",
            )
        )
    silent_loss: Number = min(consumer.costs().sum(axis=0))
    mechanisms.append(("silence", silent_loss, "no answer at all: private at every level"))
    return [
        UsualMechanism(name=name, loss=format_number(loss, 6), times=_loss_ratio(loss, least_loss), says=description)
        for name, loss, description in mechanisms
    ]


def _to_exact(value: Number | float) -> Number:
    return Fraction(value) if isinstance(value, float) else value


def _loss_ratio(loss: Number, least_loss: Number) -> FormattedNumber | None:
    return format_number(loss / least_loss, 4) if least_loss else None


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
