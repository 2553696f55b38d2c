"""The designer's pictures as JSON: each follows the form of its page."""

from __future__ import annotations

from fastapi import APIRouter

from utmost.studio.charts import Chart
from utmost.studio.compute import ComputeDep
from utmost.studio.designer import charts
from utmost.studio.designer.best_mechanism import BestMechanism, quick_mechanism
from utmost.studio.designer.comparison import UsualMechanism, usual_mechanisms
from utmost.studio.designer.forms import DesignForm
from utmost.studio.designer.pages import JobId
from utmost.studio.form_errors import Refusal
from utmost.studio.state import StateDep, VisitorDep

api = APIRouter(prefix="/api/designer", tags=["designer"])


@api.get("/best")
def best(question: DesignForm, compute: ComputeDep) -> BestMechanism:
    """The best mechanism for a question that is small enough to be answered at once, certified."""
    return compute(quick_mechanism, question)


@api.get("/rivals", name="compared")
def compare_usual_mechanisms(question: DesignForm, compute: ComputeDep) -> list[UsualMechanism]:
    """The usual mechanisms of the same level, each with this consumer's best remap."""
    return compute(usual_mechanisms, question, best(question, compute).loss.exact)


@api.get("/mechanism")
def mechanism(
    question: DesignForm, compute: ComputeDep, state: StateDep, visitor: VisitorDep, job: JobId = ""
) -> Chart:
    """The best mechanism as a heat map, or as maps on a grid."""
    if not job:
        return compute(charts.draw_mechanism, question, best(question, compute).mechanism)
    result = state.jobs.find(visitor.name, job).result
    if result is None:
        raise Refusal(409, "job must be done before its mechanism can be drawn: wait for it")
    return compute(charts.draw_mechanism, question, BestMechanism(**result).mechanism)


@api.get("/curve")
def curve(question: DesignForm, compute: ComputeDep) -> Chart:
    """The least expected loss over ε, with your level on it."""
    return compute(charts.draw_trade_off, question, best(question, compute))


@api.get("/simplex")
def simplex(question: DesignForm, compute: ComputeDep) -> Chart:
    """Three secrets: the posteriors that privacy allows, and those of the best mechanism."""
    return compute(charts.draw_simplex, question)
