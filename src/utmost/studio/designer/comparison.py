"""The best mechanism beside the ones people take: geometric, Laplace, randomised response; and the curve over ε."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from pydantic import BaseModel

from utmost import design
from utmost.continuous import laplace_loss
from utmost.design.optimal import is_line
from utmost.exact import Number, alpha
from utmost.mechanisms import geometric, response
from utmost.studio.designer.forms import DesignQuestion, require_quick
from utmost.studio.number_format import FormattedNumber, format_number

LEVELS = tuple(Fraction(k, 20) for k in (19, 18, 16, 14, 12, 10, 8, 6, 4, 3, 2, 1))  # α of the curve


class UsualMechanism(BaseModel):
    """A mechanism of the same level, read by this consumer in her best way."""

    name: str
    loss: FormattedNumber
    times: FormattedNumber | None
    says: str


def usual_mechanisms(asked: DesignQuestion, least: Number) -> list[UsualMechanism]:
    """What she loses with the usual mechanisms, each read in her best way, beside the least loss there is."""
    points, level, reader = asked.points(), asked.level(), asked.reader()
    found: list[tuple[str, Number, str]] = [("the best", least, "certified")]
    if is_line(points) and level.is_inner and points.distance(0, min(1, len(points) - 1)) == 1:
        told = geometric(len(points) - 1, level)
        found.append(
            (
                "geometric",
                _exactly(reader.expected_loss(told)),
                "truncated; universally optimal for legal losses, GRS12 Thm 3.2",
            )
        )
        lost = laplace_loss(reader.costs(), level)
        value = lost.exact if lost.exact is not None else Fraction(lost.upper)
        found.append(("Laplace", value, "continuous noise of scale 1/ε, GRS12 App. A"))
    if len(points) > 1 and level.is_inner:
        near = min(points.distance(x, other) for x, other in points.edges)
        spread = response(len(points), alpha(level.power(near))).channel()
        found.append(
            ("randomised response", _exactly(reader.expected_loss(spread)), "the truth, or any other value alike")
        )
    silent: Number = min(reader.costs().sum(axis=0))
    found.append(("silence", silent, "no answer at all: private at every level"))
    return [
        UsualMechanism(name=name, loss=format_number(loss, 6), times=_times(loss, least), says=says)
        for name, loss, says in found
    ]


def _exactly(value: Number | float) -> Number:
    return Fraction(value) if isinstance(value, float) else value


def _times(loss: Number, least: Number) -> FormattedNumber | None:
    return format_number(loss / least, 4) if least else None


class TradeOffPoint(BaseModel):
    """One level, and the least expected loss at it."""

    epsilon: float
    loss: float


@lru_cache(maxsize=64)
def trade_off_curve(space: str, prior: str, loss: str) -> tuple[TradeOffPoint, ...]:
    """The least expected loss over ε, certified at each of twelve rational levels."""
    points = []
    for rate in LEVELS:
        asked = DesignQuestion(space, str(rate), "", prior, loss)
        require_quick(asked)
        found = design.optimal(asked.points(), alpha(rate), asked.reader())
        points.append(TradeOffPoint(epsilon=-math.log(rate), loss=float(found.loss)))
    return tuple(points)
