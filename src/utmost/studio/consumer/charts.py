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

from utmost.charts import reading as pictures
from utmost.charts.reading import ReadingData
from utmost.consumer.losses import ByError, Loss
from utmost.publish.reading import Estimate
from utmost.studio import charts
from utmost.studio.charts import Chart, VegaSpec
from utmost.studio.number_format import format_rounded

Row: TypeAlias = dict[str, Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

POSTERIOR, LIKELIHOOD, PRIOR = "var(--series-1)", "var(--series-2)", "var(--series-6)"
NAMES, COLOURS = ["posterior", "likelihood", "prior"], [POSTERIOR, LIKELIHOOD, PRIOR]
DASHES = [[1, 0], [7, 4], [2, 3]]
MAX_CURVE_POINTS = 300  # points of a curve: what a page draws while a slider moves
READINGS = 121  # whose cost is drawn
NEGLIGIBLE = 1e-9  # of a posterior's largest weight, for the picture of costs
MOST_CELLS = 60


def belief_chart(read: ReadingData, words: str) -> Chart:
    """Prior, likelihood and posterior, with the released value, its best reading and the interval."""
    released, best = _mark("released", read.value), _mark("read as", read.estimate)
    left, right = (released, best) if read.value <= read.estimate else (best, released)
    interval = [{"x": read.interval[0], "to": read.interval[1]}]
    rows: dict[str, list[Row]] = {"marks": [released, best], "left": [left], "right": [right], "interval": interval}
    return charts.make_chart(_beliefs(), words, curves=pictures.thin_points(read, MAX_CURVE_POINTS), **rows)


def _mark(name: str, x: float) -> Row:
    return {"x": x, "name": name, "text": f"{name} {format_rounded(x)}"}


def _x(title: str) -> alt.X:
    axis = alt.Axis(grid=False, labelOverlap="greedy", labelSeparation=10, tickCount=8, format=",~r")
    return alt.X("x:Q", title=title, scale=alt.Scale(zero=False, nice=False), axis=axis)


def _y(field: str, title: str) -> alt.Y:
    axis = alt.Axis(gridColor="var(--grid)", domain=False, ticks=False, tickCount=4)
    scale = alt.Scale(zero=False, nice=False) if field == "w" else alt.Scale()
    return alt.Y(f"{field}:Q", title=title, axis=axis, scale=scale)


@cache
def _beliefs() -> VegaSpec:
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolSize=240, symbolStrokeWidth=3)
    colour = alt.Color("name:N", scale=alt.Scale(domain=NAMES, range=COLOURS), legend=legend)
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=NAMES, range=DASHES), legend=legend)
    told = [
        alt.Tooltip("name:N", title="what"),
        alt.Tooltip("x:Q", title="value"),
        alt.Tooltip("weight:Q", format=".4g"),
    ]
    curve = alt.Chart(alt.NamedData("curves")).encode(x=_x("value"), y=_y("weight", "probability"))
    after = alt.datum.name == "posterior"
    layers = [
        curve.transform_filter(after).mark_area(color=POSTERIOR, opacity=0.15),
        curve.mark_line(strokeWidth=2.2).encode(color=colour, strokeDash=dash, tooltip=told),
        _foot(),
        *_rules(),
    ]
    return charts.chart_spec(alt.layer(*layers).properties(height=245))


def _foot() -> Any:
    bar = alt.Chart(alt.NamedData("interval")).mark_rule(strokeWidth=6, color=POSTERIOR, opacity=0.6, strokeCap="round")
    return bar.encode(x="x:Q", x2="to:Q", y=alt.value(242))


def _rules() -> list[Any]:
    """The released value dashed, the best reading solid, each with its name on the side away from the other."""
    released = alt.datum.name == "released"
    colour = alt.condition(released, alt.value("var(--ink)"), alt.value(POSTERIOR))
    dash = alt.condition(released, alt.value([4, 3]), alt.value([1, 0]))
    both = alt.Chart(alt.NamedData("marks")).mark_rule(strokeWidth=1.6)
    layers: list[Any] = [both.encode(x="x:Q", color=colour, strokeDash=dash)]
    for side, shift in (("left", -5), ("right", 5)):
        text = alt.Chart(alt.NamedData(side)).mark_text(
            align="right" if side == "left" else "left", dx=shift, fontSize=12
        )
        layers.append(text.encode(x="x:Q", text="text:N", color=colour, y=alt.value(8)))
    return layers


def cost_chart(found: Estimate, read: ReadingData, chances: Floats, words: str) -> Chart | None:
    """The expected loss of every reading in the picture, given this answer: lowest at the best one."""
    reader = found.reader
    if reader is None:
        return None
    axis, size = reader.axis, reader.axis.size
    ends = [axis.nearest(Fraction(end)) for end in (read.x[0], read.x[-1])]
    places = np.unique(np.linspace(ends[0], ends[1], READINGS).round().astype(int))
    marks = [axis.nearest(Fraction(place)) for place in (read.value, read.estimate)]
    chosen = np.unique(np.clip(np.append(places, marks), 0, size - 1))
    losses = reader.scale * _expected(reader.loss, chances, chosen)
    rows = [{"x": float(axis.value(int(w))), "loss": loss} for w, loss in zip(chosen, losses, strict=True)]
    at = dict(zip(chosen.tolist(), rows, strict=True))
    dots = [{**at[place], "name": name} for place, name in zip(marks, ("face value", "best reading"), strict=True)]
    return charts.make_chart(_costs(), words, costs=rows, dots=dots)


def _expected(loss: Loss, chances: Floats, readings: Ints) -> Floats:
    """Σ_x P(x) ℓ(x, w) for these readings; a loss of the error is looked up by the error."""
    truths = np.flatnonzero(chances > NEGLIGIBLE * chances.max())
    weights = chances[truths]
    if not isinstance(loss, ByError):
        return np.array([weights @ loss.array(truths, int(w)) for w in readings])
    low, high = int(readings[0] - truths[-1]), int(readings[-1] - truths[0])
    gaps = loss.array(0, np.arange(low, high + 1))
    return np.array([weights @ gaps[w - truths - low] for w in readings])


@cache
def _costs() -> VegaSpec:
    names, colours = ["best reading", "face value"], [POSTERIOR, "var(--ink)"]
    legend = alt.Legend(title=None, orient="top", symbolType="circle")
    told = [alt.Tooltip("x:Q", title="read as"), alt.Tooltip("loss:Q", title="expected loss", format=".5g")]
    line = alt.Chart(alt.NamedData("costs")).mark_line(color="var(--series-4)", strokeWidth=2.2)
    dots = alt.Chart(alt.NamedData("dots")).mark_point(filled=True, size=80, opacity=1)
    colour = alt.Color("name:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    up = _y("loss", "expected loss")
    layers = [line.encode(x=_x("read as"), y=up, tooltip=told), dots.encode(x="x:Q", y=up, color=colour, tooltip=told)]
    return charts.chart_spec(alt.layer(*layers).properties(height=180))


def remap_chart(read: ReadingData, words: str) -> Chart | None:
    """How each answer would be read, as steps, beside the line of face value."""
    if not read.answers:
        return None
    face = [{"x": value, "w": value} for value in (read.answers[0], read.answers[-1])]
    steps = [{"x": y, "w": w} for y, w in zip(read.answers, read.remap, strict=True)]
    return charts.make_chart(_remap(), words, face=face, steps=steps, here=[{"x": read.value, "w": read.estimate}])


@cache
def _remap() -> VegaSpec:
    up = _y("w", "read as")
    told = [alt.Tooltip("x:Q", title="answer"), alt.Tooltip("w:Q", title="read as")]
    lines = (
        alt.Chart(alt.NamedData("face")).mark_line(color="var(--axis)", strokeDash=[4, 3], strokeWidth=1.6),
        alt.Chart(alt.NamedData("steps")).mark_line(color=POSTERIOR, strokeWidth=2.2, interpolate="step"),
        alt.Chart(alt.NamedData("here")).mark_point(filled=True, size=80, color=POSTERIOR, opacity=1),
    )
    layers = [line.encode(x=_x("answer"), y=up, tooltip=told) for line in lines]
    return charts.chart_spec(alt.layer(*layers).properties(height=180))


def cell_chart(found: Estimate, words: str) -> Chart | None:
    """One line a cell: its interval as a bar, its best reading as a dot, its released value as a stroke."""
    if len(found.cells) > MOST_CELLS:
        return None
    rows = [
        {"cell": name, "value": float(r.value), "estimate": float(r.estimate), **_ends(r.interval)}
        for name, r in zip(found.cells, found.readings, strict=True)
    ]
    return charts.make_chart(_cells(len(rows)), words, cells=rows)


def _ends(interval: Any) -> Row:
    return {"low": None, "high": None} if interval is None else {"low": float(interval[0]), "high": float(interval[1])}


@cache
def _cells(count: int) -> VegaSpec:
    axis = alt.Axis(domain=False, ticks=False, labelLimit=140)
    told = [alt.Tooltip(f"{name}:Q") for name in ("value", "estimate", "low", "high")]
    base = alt.Chart(alt.NamedData("cells")).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=axis), tooltip=[alt.Tooltip("cell:N"), *told]
    )
    across = alt.X("low:Q", title="count", axis=alt.Axis(gridColor="var(--grid)", domain=False, ticks=False))
    layers = [
        base.mark_bar(color=POSTERIOR, opacity=0.28, height=9, cornerRadius=4).encode(x=across, x2="high:Q"),
        base.mark_tick(color="var(--ink)", thickness=2, size=15).encode(x="value:Q"),
        base.mark_point(filled=True, size=70, color=POSTERIOR, opacity=1).encode(x="estimate:Q"),
    ]
    return charts.chart_spec(alt.layer(*layers).properties(height=24 * count))
