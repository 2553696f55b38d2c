"""The consumer's pictures: beliefs, what each reading would cost, how every answer is read, the cells of a histogram.

The specs are fixed; only rows change, so a picture follows a slider in milliseconds.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import altair as alt
import numpy as np
import numpy.typing as npt

from utmost.charts import curves as pictures
from utmost.charts.curves import ReadingData
from utmost.charts.export import VALUE_FORMAT
from utmost.consumer.losses import Loss
from utmost.publish.reading import Estimate
from utmost.reports.estimate import ShownReading
from utmost.reports.numbers import Quantity
from utmost.studio import charts
from utmost.studio.charts import Chart, VegaSpec

Row: TypeAlias = dict[str, Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

POSTERIOR, LIKELIHOOD, PRIOR = "var(--series-1)", "var(--series-2)", "var(--series-6)"
CURVE_NAMES, CURVE_COLOURS = ["posterior", "likelihood", "prior"], [POSTERIOR, LIKELIHOOD, PRIOR]
CURVE_DASHES = [[1, 0], [7, 4], [2, 3]]
MAX_CURVE_POINTS = 300  # points of a curve: what a page draws while a slider moves
COST_POINTS = 121  # whose cost is drawn
NEGLIGIBLE_WEIGHT = 1e-9  # of a posterior's largest weight, for the picture of costs
MAX_CELLS = 60


def belief_chart(data: ReadingData, reading: ShownReading, caption: str) -> Chart:
    """Prior, likelihood and posterior, with the released value, its best reading and the interval."""
    released, best = _mark("released", data.value, reading.value), _mark("read as", data.estimate, reading.estimate)
    left, right = (released, best) if data.value <= data.estimate else (best, released)
    interval = [{"x": data.interval[0], "to": data.interval[1]}]
    rows: dict[str, list[Row]] = {"marks": [released, best], "left": [left], "right": [right], "interval": interval}
    return charts.make_chart(_belief_spec(), caption, curves=pictures.thin_points(data, MAX_CURVE_POINTS), **rows)


def _mark(name: str, x: float, number: Quantity) -> Row:
    return {"x": x, "name": name, "text": f"{name} {number.typeset}"}


def _x_axis(title: str) -> alt.X:
    axis = alt.Axis(grid=False, labelOverlap="greedy", labelSeparation=10, tickCount=8)
    return alt.X("x:Q", title=title, scale=alt.Scale(zero=False, nice=False), axis=axis)


def _y_axis(field: str, title: str) -> alt.Y:
    axis = alt.Axis(gridColor="var(--grid)", domain=False, ticks=False, tickCount=4)
    scale = alt.Scale(zero=False, nice=False) if field == "w" else alt.Scale()
    return alt.Y(f"{field}:Q", title=title, axis=axis, scale=scale)


@cache
def _belief_spec() -> VegaSpec:
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolSize=240, symbolStrokeWidth=3)
    colour = alt.Color("name:N", scale=alt.Scale(domain=CURVE_NAMES, range=CURVE_COLOURS), legend=legend)
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=CURVE_NAMES, range=CURVE_DASHES), legend=legend)
    tooltip = [
        alt.Tooltip("name:N", title="what"),
        alt.Tooltip("x:Q", title="value", format=VALUE_FORMAT),
        alt.Tooltip("weight:Q", format=".4g"),
    ]
    curve = alt.Chart(alt.NamedData("curves")).encode(x=_x_axis("value"), y=_y_axis("weight", "probability"))
    is_posterior = alt.datum.name == "posterior"
    layers = [
        curve.transform_filter(is_posterior).mark_area(color=POSTERIOR, opacity=0.15),
        curve.mark_line(strokeWidth=2.2).encode(color=colour, strokeDash=dash, tooltip=tooltip),
        _interval_bar(),
        *_value_rules(),
    ]
    return charts.chart_spec(alt.layer(*layers).properties(height=245))


def _interval_bar() -> Any:
    bar = alt.Chart(alt.NamedData("interval")).mark_rule(strokeWidth=6, color=POSTERIOR, opacity=0.6, strokeCap="round")
    return bar.encode(x="x:Q", x2="to:Q", y=alt.value(242))


def _value_rules() -> list[Any]:
    """The released value dashed, the best reading solid, each with its name on the side away from the other."""
    is_released = alt.datum.name == "released"
    colour = alt.condition(is_released, alt.value("var(--ink)"), alt.value(POSTERIOR))
    dash = alt.condition(is_released, alt.value([4, 3]), alt.value([1, 0]))
    rules = alt.Chart(alt.NamedData("marks")).mark_rule(strokeWidth=1.6)
    layers: list[Any] = [rules.encode(x="x:Q", color=colour, strokeDash=dash)]
    for side, shift in (("left", -5), ("right", 5)):
        text = alt.Chart(alt.NamedData(side)).mark_text(
            align="right" if side == "left" else "left", dx=shift, fontSize=12
        )
        layers.append(text.encode(x="x:Q", text="text:N", color=colour, y=alt.value(8)))
    return layers


def cost_chart(estimate: Estimate, data: ReadingData, posterior: Floats, caption: str) -> Chart | None:
    """The expected loss of every reading in the picture, given this answer: lowest at the best one."""
    reader = estimate.reader
    if reader is None:
        return None
    axis, size = reader.axis, reader.axis.size
    end_indices = [axis.nearest(Fraction(end)) for end in (data.x[0], data.x[-1])]
    indices = np.unique(np.linspace(end_indices[0], end_indices[1], COST_POINTS).round().astype(int))
    marked_indices = [axis.nearest(Fraction(index)) for index in (data.value, data.estimate)]
    readings = np.unique(np.clip(np.append(indices, marked_indices), 0, size - 1))
    losses = reader.scale * _expected_losses(reader.loss, posterior, readings)
    rows = [{"x": float(axis.value(int(w))), "loss": loss} for w, loss in zip(readings, losses, strict=True)]
    row_at_index = dict(zip(readings.tolist(), rows, strict=True))
    dots = [
        {**row_at_index[index], "name": name}
        for index, name in zip(marked_indices, ("face value", "best reading"), strict=True)
    ]
    return charts.make_chart(_cost_spec(), caption, costs=rows, dots=dots)


def _expected_losses(loss: Loss, posterior: Floats, readings: Ints) -> Floats:
    """Σ_x P(x) ℓ(x, w) for these readings; a loss of the error is looked up by the error."""
    truths = np.flatnonzero(posterior > NEGLIGIBLE_WEIGHT * posterior.max())
    weights = posterior[truths]
    if not loss.by_error:
        return np.array([weights @ loss.array(truths, int(w)) for w in readings])
    low, high = int(readings[0] - truths[-1]), int(readings[-1] - truths[0])
    loss_by_error = loss.array(0, np.arange(low, high + 1))
    return np.array([weights @ loss_by_error[w - truths - low] for w in readings])


@cache
def _cost_spec() -> VegaSpec:
    names, colours = ["best reading", "face value"], [POSTERIOR, "var(--ink)"]
    legend = alt.Legend(title=None, orient="top", symbolType="circle")
    tooltip = [
        alt.Tooltip(f"{name}:Q", title=title, format=VALUE_FORMAT)
        for name, title in (("x", "read as"), ("loss", "expected loss"))
    ]
    line = alt.Chart(alt.NamedData("costs")).mark_line(color="var(--series-4)", strokeWidth=2.2)
    dots = alt.Chart(alt.NamedData("dots")).mark_point(filled=True, size=80, opacity=1)
    colour = alt.Color("name:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    y = _y_axis("loss", "expected loss")
    layers = [
        line.encode(x=_x_axis("read as"), y=y, tooltip=tooltip),
        dots.encode(x="x:Q", y=y, color=colour, tooltip=tooltip),
    ]
    return charts.chart_spec(alt.layer(*layers).properties(height=180))


def remap_chart(data: ReadingData, caption: str) -> Chart | None:
    """How each answer would be read, as steps, beside the line of face value."""
    if not data.answers:
        return None
    face = [{"x": value, "w": value} for value in (data.answers[0], data.answers[-1])]
    steps = [{"x": y, "w": w} for y, w in zip(data.answers, data.remap, strict=True)]
    return charts.make_chart(
        _remap_spec(), caption, face=face, steps=steps, here=[{"x": data.value, "w": data.estimate}]
    )


@cache
def _remap_spec() -> VegaSpec:
    y = _y_axis("w", "read as")
    tooltip = [
        alt.Tooltip(f"{name}:Q", title=title, format=VALUE_FORMAT)
        for name, title in (("x", "answer"), ("w", "read as"))
    ]
    lines = (
        alt.Chart(alt.NamedData("face")).mark_line(color="var(--axis)", strokeDash=[4, 3], strokeWidth=1.6),
        alt.Chart(alt.NamedData("steps")).mark_line(color=POSTERIOR, strokeWidth=2.2, interpolate="step"),
        alt.Chart(alt.NamedData("here")).mark_point(filled=True, size=80, color=POSTERIOR, opacity=1),
    )
    layers = [line.encode(x=_x_axis("answer"), y=y, tooltip=tooltip) for line in lines]
    return charts.chart_spec(alt.layer(*layers).properties(height=180))


def cell_chart(estimate: Estimate, caption: str) -> Chart | None:
    """One line a cell: its interval as a bar, its best reading as a dot, its released value as a stroke."""
    if len(estimate.cells) > MAX_CELLS:
        return None
    rows = [
        {"cell": name, "value": float(r.value), "estimate": float(r.estimate), **_interval_fields(r.interval)}
        for name, r in zip(estimate.cells, estimate.readings, strict=True)
    ]
    return charts.make_chart(_cell_spec(len(rows)), caption, cells=rows)


def _interval_fields(interval: Any) -> Row:
    return {"low": None, "high": None} if interval is None else {"low": float(interval[0]), "high": float(interval[1])}


@cache
def _cell_spec(count: int) -> VegaSpec:
    axis = alt.Axis(domain=False, ticks=False, labelLimit=140)
    tooltip = [alt.Tooltip(f"{name}:Q", format=VALUE_FORMAT) for name in ("value", "estimate", "low", "high")]
    base = alt.Chart(alt.NamedData("cells")).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=axis), tooltip=[alt.Tooltip("cell:N"), *tooltip]
    )
    x = alt.X("low:Q", title=None, axis=alt.Axis(gridColor="var(--grid)", domain=False, ticks=False))
    layers = [
        base.mark_bar(color=POSTERIOR, opacity=0.28, height=9, cornerRadius=4).encode(x=x, x2="high:Q"),
        base.mark_tick(color="var(--ink)", thickness=2, size=15).encode(x="value:Q"),
        base.mark_point(filled=True, size=70, color=POSTERIOR, opacity=1).encode(x="estimate:Q"),
    ]
    return charts.chart_spec(alt.layer(*layers).properties(height=24 * count))
