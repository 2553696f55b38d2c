"""The designer's pictures as JSON: each follows the form of its page."""

from __future__ import annotations

from fastapi import APIRouter

from utmost.exact import number
from utmost.studio.charts import Picture
from utmost.studio.designer import drawn
from utmost.studio.designer.asked import Asked, refuse_waiting
from utmost.studio.designer.best import Best
from utmost.studio.designer.best import best as designed
from utmost.studio.designer.compared import Rival, rivals, trade_off
from utmost.studio.designer.pages import JobId
from utmost.studio.house import Here, Who
from utmost.studio.problems import FieldError, Refusal

api = APIRouter(prefix="/api/designer", tags=["designer"])


@api.get("/best")
def best(asked: Asked) -> Best:
    """The best mechanism for a question that is small enough to be answered at once, certified."""
    refuse_waiting(asked)
    return designed(asked)


@api.get("/rivals")
def compared(asked: Asked) -> list[Rival]:
    """The usual mechanisms of the same level, each read in this consumer's best way."""
    found = best(asked)
    return rivals(asked, number(found.loss.exact))


@api.get("/mechanism")
def mechanism(asked: Asked, house: Here, who: Who, job: JobId = "") -> Picture:
    """The best mechanism as a heat map, or as maps on a grid."""
    if not job:
        return drawn.mechanism(best(asked).mechanism.channel(), asked.points())
    kept = house.jobs.find(who.name, job).result
    if kept is None:
        raise Refusal(409, "job must be done before its mechanism can be drawn: wait for it")
    return drawn.mechanism(Best(**kept).mechanism.channel(), asked.points())


@api.get("/curve")
def curve(asked: Asked) -> Picture:
    """The least expected loss over ε, with your level on it."""
    found = best(asked)
    return drawn.trade_off(
        trade_off(asked.space, asked.prior, asked.loss), found.epsilon, float(number(found.loss.exact))
    )


@api.get("/simplex")
def simplex(asked: Asked) -> Picture:
    """Three secrets: the posteriors that privacy allows, and those of the best mechanism."""
    points, level = asked.points(), asked.level()
    if len(points) != 3 or not level.is_inner:
        raise FieldError("space", "space must have three secrets for a triangle, and the level 0 < α < 1")
    return drawn.simplex(best(asked).mechanism.channel(), points, level)
