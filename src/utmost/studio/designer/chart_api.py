"""The designer's pictures as JSON: each follows the form of its page."""

from __future__ import annotations

from fastapi import APIRouter

from utmost.exact import number
from utmost.studio.charts import Chart
from utmost.studio.designer import charts
from utmost.studio.designer.best_mechanism import BestMechanism, best_mechanism
from utmost.studio.designer.comparison import UsualMechanism, trade_off_curve, usual_mechanisms
from utmost.studio.designer.forms import DesignForm, require_quick
from utmost.studio.designer.pages import JobId
from utmost.studio.form_errors import FieldError, Refusal
from utmost.studio.state import StateDep, VisitorDep

api = APIRouter(prefix="/api/designer", tags=["designer"])


@api.get("/best")
def best(question: DesignForm) -> BestMechanism:
    """The best mechanism for a question that is small enough to be answered at once, certified."""
    require_quick(question)
    return best_mechanism(question)


@api.get("/rivals", name="compared")
def compare_usual_mechanisms(question: DesignForm) -> list[UsualMechanism]:
    """The usual mechanisms of the same level, each with this consumer's best remap."""
    optimum = best(question)
    return usual_mechanisms(question, number(optimum.loss.exact))


@api.get("/mechanism")
def mechanism(question: DesignForm, state: StateDep, visitor: VisitorDep, job: JobId = "") -> Chart:
    """The best mechanism as a heat map, or as maps on a grid."""
    if not job:
        return charts.mechanism_chart(best(question).mechanism.channel(), question.points())
    result = state.jobs.find(visitor.name, job).result
    if result is None:
        raise Refusal(409, "job must be done before its mechanism can be drawn: wait for it")
    return charts.mechanism_chart(BestMechanism(**result).mechanism.channel(), question.points())


@api.get("/curve")
def curve(question: DesignForm) -> Chart:
    """The least expected loss over ε, with your level on it."""
    optimum = best(question)
    return charts.trade_off_chart(
        trade_off_curve(question.space, question.prior, question.loss),
        optimum.epsilon,
        float(number(optimum.loss.exact)),
    )


@api.get("/simplex")
def simplex(question: DesignForm) -> Chart:
    """Three secrets: the posteriors that privacy allows, and those of the best mechanism."""
    points, level = question.points(), question.level()
    if len(points) != 3 or not level.is_inner:
        raise FieldError("space", "space must have three secrets for a triangle, and the level 0 < α < 1")
    return charts.simplex_chart(best(question).mechanism.channel(), points, level)
