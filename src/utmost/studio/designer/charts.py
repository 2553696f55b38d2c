"""The designer's pictures and their JSON: the mechanism, the trade-off over ε, the simplex of three secrets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from fastapi import APIRouter

from utmost import charts
from utmost.errors import InputError
from utmost.exact import number
from utmost.reports.numbers import quantity
from utmost.studio.background import ComputeDep
from utmost.studio.charts import Chart, VegaSpec, chart_from_altair, chart_spec, make_chart
from utmost.studio.designer.forms import DesignForm, DesignInput
from utmost.studio.designer.pages import JobId
from utmost.studio.designer.results import (
    BestMechanism,
    ChannelMatrix,
    UsualMechanism,
    quick_mechanism,
    trade_off_curve,
    usual_mechanisms,
)
from utmost.studio.forms import Refusal
from utmost.studio.state import StateDep, VisitorDep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from utmost.channel import Channel
    from utmost.exact import Level
    from utmost.spaces import Space
    from utmost.studio.designer.results import TradeOffPoint


def draw_mechanism(question: DesignInput, mechanism: ChannelMatrix) -> Chart:
    """The mechanism of a question."""
    return mechanism_chart(mechanism.channel(), question.points())


def draw_trade_off(question: DesignInput, optimum: BestMechanism) -> Chart:
    """The least expected loss over ε, with the optimum of the question on it."""
    curve = trade_off_curve(question.space, question.prior, question.loss)
    return trade_off_chart(curve, optimum.epsilon, float(number(optimum.loss.exact)))


def draw_simplex(question: DesignInput) -> Chart:
    """The posteriors of a question with three secrets."""
    points, level = question.points(), question.level()
    if len(points) != 3 or not level.is_inner:
        raise InputError("space must have three secrets for a triangle, and the level 0 < α < 1", "space")
    return simplex_chart(quick_mechanism(question).mechanism.channel(), points, level)


def mechanism_chart(channel: Channel, points: Space) -> Chart:
    """A heat map; on a grid maps, one for each of a few true places."""
    shape = points.shape.grid_size
    if shape is not None and set(channel.outputs) <= set(channel.inputs):
        caption = f"Where the answer falls for some true places of {points.name}, ringed."
        return chart_from_altair(charts.location_maps(channel, shape, "", ""), caption, wide=False)
    rows, columns = len(channel.inputs), len(channel.outputs)
    return chart_from_altair(
        charts.channel_chart(channel, "", ""), f"The probability of each of {columns} answers for {rows} secrets."
    )


@cache
def _trade_off_spec() -> VegaSpec:
    import altair as alt

    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(zero=True))
    y = alt.Y("loss:Q", title="least expected loss", scale=alt.Scale(zero=True))
    line = alt.Chart(alt.NamedData("curve")).mark_line(point=True, color="var(--series-1)").encode(x=x, y=y)
    point = alt.Chart(alt.NamedData("here")).mark_point(color="var(--series-2)", size=160, filled=True, opacity=1)
    return chart_spec(alt.layer(line, point.encode(x="epsilon:Q", y="loss:Q")).properties(height=280))


def trade_off_chart(points: Sequence[TradeOffPoint], epsilon: float, loss: float) -> Chart:
    """The least loss over ε, with the question's own level marked."""
    rows = [point.model_dump() for point in points]
    point = f"{quantity(loss).typeset} at ε = {quantity(epsilon, 3).typeset}"
    caption = f"The least expected loss at each ε, certified; yours is {point}."
    return make_chart(_trade_off_spec(), caption, curve=rows, here=[{"epsilon": epsilon, "loss": loss}])


def simplex_chart(channel: Channel, points: Space, level: Level) -> Chart:
    """Three secrets: the region of posteriors that privacy leaves under a uniform prior, and the mechanism's own."""
    caption = "Shaded: every posterior that any private mechanism can leave, under a uniform prior. Dots: this one's."
    return chart_from_altair(charts.region_chart(points, level, channel, ""), caption, wide=False)


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
        return compute(draw_mechanism, question, best(question, compute).mechanism)
    result = state.jobs.find(visitor.name, job).result
    if result is None:
        raise Refusal(409, "job must be done before its mechanism can be drawn: wait for it")
    return compute(draw_mechanism, question, BestMechanism(**result).mechanism)


@api.get("/curve")
def curve(question: DesignForm, compute: ComputeDep) -> Chart:
    """The least expected loss over ε, with your level on it."""
    return compute(draw_trade_off, question, best(question, compute))


@api.get("/simplex")
def simplex(question: DesignForm, compute: ComputeDep) -> Chart:
    """Three secrets: the posteriors that privacy allows, and those of the best mechanism."""
    return compute(draw_simplex, question)
