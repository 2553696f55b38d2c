"""Line charts: named curves, remaps, expected losses; readings of a released number by several consumers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.export import VALUE_FORMAT, add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

PALETTE = ("#1f5fa8", "#d1741f", "#3f8f5a", "#8c4fa3", "#b03a48", "#5c6b73", "#a08a1f", "#2a9aa8")

DASHES = ([1, 0], [9, 5], [2, 4])  # so that lines on top of each other can all be seen


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A named line through points (x_k, y_k); with `stems` the points alone, each on a stem: a discrete law.

    `filled` shows the area down to 0 instead of the line. `colour` counts in the palette, for curves that belong
    together; the curve's number in the list if it is None.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    stems: bool = False
    colour: int | None = None
    filled: bool = False


def line_chart(
    lines: Sequence[ChartLine], title: str, subtitle: str = "", *, x: str = "", y: str = "", legend: str = ""
) -> alt.TopLevelMixin:
    """Lines in one frame, distinguished by colour and dashes, with a legend in their order."""
    import altair as alt

    names = [line.name for line in lines]
    points = [
        {"name": line.name, "x": float(a), "y": float(b)} for line in lines for a, b in zip(line.x, line.y, strict=True)
    ]
    colour_indices = [k if line.colour is None else line.colour for k, line in enumerate(lines)]
    colours = alt.Scale(domain=names, range=[PALETTE[k % len(PALETTE)] for k in colour_indices])
    dashes = alt.Scale(domain=names, range=[DASHES[k % len(DASHES)] for k in range(len(names))])
    chart = (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(strokeWidth=2.4)
        .encode(
            x=alt.X("x:Q", title=x or None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(grid=False)),
            y=alt.Y("y:Q", title=y or None, axis=alt.Axis(gridColor="#e6e6e6", domain=False, ticks=False)),
            color=alt.Color("name:N", title=legend or None, scale=colours, sort=None),
            strokeDash=alt.StrokeDash("name:N", title=legend or None, scale=dashes, sort=None),
        )
    )
    shaped_chart = _apply_shapes(
        chart, [line.name for line in lines if line.stems], [line.name for line in lines if line.filled]
    )
    return apply_style(shaped_chart.properties(title=add_title(title, subtitle), width=560, height=300))  # type: ignore[no-any-return]


def _apply_shapes(chart: alt.Chart, stemmed: Sequence[str], filled: Sequence[str]) -> alt.Chart | alt.LayerChart:
    """The chart, its curves of these names drawn as points on stems, or as areas."""
    import altair as alt

    if not stemmed and not filled:
        return chart
    shared_encoding = {name: chart.encoding[name] for name in ("x", "y", "color")}
    stems, areas = (_curves_named(chart, names).encode(**shared_encoding) for names in (stemmed, filled))
    layers = [_curves_named(chart, [*stemmed, *filled], invert=True).mark_line(strokeWidth=2).encode(**shared_encoding)]
    if filled:
        layers.append(areas.mark_area(opacity=0.35, line=False).encode(y=alt.Y("y:Q", stack=None)))
    if stemmed:
        layers.append(stems.mark_rule(strokeWidth=1.4, opacity=0.6).encode(y2=alt.datum(0)))
        layers.append(stems.mark_point(filled=True, size=38, opacity=1))
    return alt.LayerChart(layer=layers)


def _curves_named(chart: alt.Chart, names: Sequence[str], *, invert: bool = False) -> alt.Chart:
    """A bare chart of the curves of these names, or of all others."""
    import altair as alt

    name_index = f"indexof({json.dumps(list(names))}, datum.name)"
    return alt.Chart(chart.data).transform_filter(f"{name_index} < 0" if invert else f"{name_index} >= 0")


CHART_WIDTH, REMAP_CHART_HEIGHT = 560, 320
COST_ROW_HEIGHT = 30
FACE_VALUE_COLOUR = "#999"


@dataclass(frozen=True, slots=True)
class RemapPiece:
    """Answers from `low` to `high` are read as `reading`; a single answer has low = high."""

    low: float
    high: float
    reading: float


@dataclass(frozen=True, slots=True)
class CostBar:
    """A mechanism's loss, between two bounds."""

    name: str
    lower: float
    upper: float
    note: str = ""


def remap_chart(
    pieces: Sequence[RemapPiece], title: str, subtitle: str = "", *, x: str = "answer", y: str = "read as"
) -> alt.TopLevelMixin:
    """The estimate for every answer beside the dashed line of face value; single answers are dots."""
    import altair as alt

    endpoints = [min(p.low for p in pieces), max(p.high for p in pieces)]
    x_axis = alt.X("x:Q", title=x, scale=alt.Scale(domain=endpoints, nice=False, zero=False), axis=alt.Axis(grid=False))
    y_axis = alt.Y("w:Q", title=y, scale=alt.Scale(domain=endpoints, nice=False, zero=False), axis=_light_axis())
    face = alt.Chart(alt.InlineData(values=[{"x": v, "w": v} for v in endpoints]))
    layers: list[Any] = [face.mark_line(color=FACE_VALUE_COLOUR, strokeDash=[4, 3], strokeWidth=1.4)]
    spans = [{"x": v, "w": p.reading} for p in pieces if p.low < p.high for v in (p.low, p.high)]
    if spans:
        layers.append(alt.Chart(alt.InlineData(values=spans)).mark_line(color=PALETTE[0], strokeWidth=2.2))
    dots = [{"x": p.low, "w": p.reading} for p in pieces if p.low == p.high]
    if dots:
        layers.append(
            alt.Chart(alt.InlineData(values=dots)).mark_point(filled=True, size=46, color=PALETTE[1], opacity=1)
        )
    chart = alt.layer(*(layer.encode(x=x_axis, y=y_axis) for layer in layers))
    return apply_style(chart.properties(title=add_title(title, subtitle), width=CHART_WIDTH, height=REMAP_CHART_HEIGHT))  # type: ignore[no-any-return]


def cost_chart(
    bars: Sequence[CostBar], title: str, subtitle: str = "", *, x: str = "expected loss"
) -> alt.TopLevelMixin:
    """One line a mechanism: its loss as a bar from 0, the bounds as strokes, and a note behind it."""
    import altair as alt

    values = [{"name": r.name, "lower": r.lower, "upper": r.upper, "note": r.note} for r in bars]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200))
    )
    max_cost = max(r.upper for r in bars) or 1.0
    x_axis = alt.X("lower:Q", title=x, scale=alt.Scale(domain=[0, max_cost * 1.5]), axis=_light_axis())
    loss_bars = base.mark_bar(color=PALETTE[0], opacity=0.3, height=14).encode(x=x_axis)
    strokes = [
        base.mark_tick(color=PALETTE[0], thickness=2, size=18).encode(x=f"{bound}:Q") for bound in ("lower", "upper")
    ]
    notes = base.mark_text(align="left", dx=8, color="#555", fontSize=11).encode(x="upper:Q", text="note:N")
    chart = alt.layer(loss_bars, *strokes, notes).properties(width=CHART_WIDTH, height=COST_ROW_HEIGHT * len(bars))
    return apply_style(chart.properties(title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _light_axis() -> alt.Axis:
    import altair as alt

    return alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=6)


PANEL_WIDTH = 620
BELIEF_HEIGHT, REMAP_HEIGHT = 250, 190
MAX_CURVE_POINTS = 500  # where there are more, each stands for the highest of its neighbours
MAX_MARKED_POINTS = 40  # points of a curve up to which each has a dot
MAX_LABELLED_POINTS = 12  # points up to which each has its number below
CELL_ROW_HEIGHT = 22
COLOURS = {"prior": "#8a949b", "likelihood": PALETTE[1], "posterior": PALETTE[0]}
READING_DASHES = {"prior": [2, 3], "likelihood": [7, 4], "posterior": [1, 0]}


@dataclass(frozen=True, slots=True)
class ReadingData:
    """A released value and its estimate: weights of prior, likelihood and posterior over the same values x.

    `remap` holds the estimates for the answers `answers`; both are empty where an answer is more than one number.
    """

    x: tuple[float, ...]
    prior: tuple[float, ...]
    likelihood: tuple[float, ...]
    posterior: tuple[float, ...]
    value: float
    estimate: float
    interval: tuple[float, float]
    answers: tuple[float, ...] = ()
    remap: tuple[float, ...] = ()

    @property
    def domain(self) -> list[float]:
        """The ends of the common axis: the values x and the released one."""
        return [min(self.x[0], self.value), max(self.x[-1], self.value)]


@dataclass(frozen=True, slots=True)
class CellData:
    """One cell of a released histogram: its name, its released value, its estimate and its interval."""

    name: str
    value: float
    estimate: float
    interval: tuple[float, float]


def reading_chart(
    data: ReadingData,
    title: str,
    subtitle: str = "",
    *,
    x: str = "",
    labels: tuple[str, str] = ("released", "read as"),
) -> alt.TopLevelMixin:
    """Three curves over one axis with the value and its estimate marked; below them the estimate for every answer.

    `labels` stand beside the two marks.
    """
    import altair as alt

    panels = [_belief_panel(data, "" if data.remap else x, labels)]
    if data.remap:
        panels.append(_remap_panel(data, x))
    return apply_style(alt.vconcat(*panels, spacing=18, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _value_axis(data: ReadingData, title: str) -> alt.X:
    """The common axis of values; its ticks are not closer than the values are."""
    import altair as alt

    step = data.x[1] - data.x[0] if len(data.x) > 1 else 1
    axis = alt.Axis(grid=False, tickCount=10, tickMinStep=step, labelOverlap=True)
    if len(data.x) <= MAX_LABELLED_POINTS:
        axis = alt.Axis(grid=False, values=list(data.x), format=VALUE_FORMAT)
    return alt.X("x:Q", scale=alt.Scale(domain=data.domain, nice=False, zero=False), title=title or None, axis=axis)


def _belief_panel(data: ReadingData, title: str, labels: tuple[str, str]) -> Any:
    import altair as alt

    x_axis = _value_axis(data, title)
    y_axis = alt.Y(
        "weight:Q", title="probability", axis=alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=4)
    )
    names = list(COLOURS)
    colour = alt.Color("name:N", scale=alt.Scale(domain=names, range=list(COLOURS.values())), legend=_legend())
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=list(READING_DASHES.values())), legend=None)
    rows = thin_points(data)
    posterior_curve, other_curves = (
        alt.Chart(alt.InlineData(values=[row for row in rows if (row["name"] == "posterior") == is_posterior])).encode(
            x=x_axis, y=y_axis
        )
        for is_posterior in (True, False)
    )
    layers = [posterior_curve.mark_area(color=COLOURS["posterior"], opacity=0.16)]
    for curve in (posterior_curve, other_curves):
        layers.append(curve.mark_line(strokeWidth=2.2).encode(color=colour, strokeDash=dash))
        if len(data.x) <= MAX_MARKED_POINTS:
            layers.append(curve.mark_point(filled=True, size=26, opacity=1).encode(color=colour))
    return alt.layer(*layers, *_value_marks(data, x_axis, labels)).properties(width=PANEL_WIDTH, height=BELIEF_HEIGHT)


def _legend() -> alt.Legend:
    import altair as alt

    return alt.Legend(title=None, symbolType="stroke", symbolSize=260, symbolStrokeWidth=3)


def thin_points(data: ReadingData, max_points: int = MAX_CURVE_POINTS) -> list[dict[str, Any]]:
    """The curves' points, at most so many for each, thinned by taking the highest of neighbours."""
    stride = -(-len(data.x) // max_points)
    starts = range(0, len(data.x), stride)
    return [
        {"name": name, "x": data.x[min(k + stride // 2, len(data.x) - 1)], "weight": max(weights[k : k + stride])}
        for name, weights in (("prior", data.prior), ("likelihood", data.likelihood), ("posterior", data.posterior))
        for k in starts
    ]


def _value_marks(data: ReadingData, x_axis: Any, labels: tuple[str, str]) -> list[Any]:
    """The interval as a bar at the foot, the value dashed, the estimate solid, both with their labels at the top."""
    import altair as alt

    low, high = data.interval
    bar = alt.Chart(alt.InlineData(values=[{"x": low, "to": high}]))
    foot = bar.mark_rule(strokeWidth=5, color=COLOURS["posterior"], opacity=0.55, strokeCap="round")
    layers = [foot.encode(x=x_axis, x2="to:Q", y=alt.value(BELIEF_HEIGHT - 3))]
    value_is_left = data.value <= data.estimate
    for label, value, colour, dash, on_left in (
        (labels[0], data.value, "#222", [4, 3], value_is_left),
        (labels[1], data.estimate, COLOURS["posterior"], [1, 0], not value_is_left),
    ):
        point = alt.Chart(alt.InlineData(values=[{"x": value, "text": label}]))
        layers.append(point.mark_rule(color=colour, strokeDash=dash, strokeWidth=1.6).encode(x=x_axis))
        text = point.mark_text(color=colour, align="right" if on_left else "left", dx=-5 if on_left else 5, fontSize=12)
        layers.append(text.encode(x=x_axis, y=alt.value(-8), text="text:N"))
    return layers


def _remap_panel(data: ReadingData, title: str) -> Any:
    """The estimate for every answer as steps, beside the line of face value; the released answer is a dot."""
    import altair as alt

    x_axis = _value_axis(data, title)
    endpoints = [min(*data.answers, *data.remap), max(*data.answers, *data.remap)]
    y_axis = alt.Y(
        "w:Q", title="read as", scale=alt.Scale(domain=endpoints, nice=False, zero=False), axis=_reading_axis()
    )
    face = [{"x": v, "w": v} for v in (data.answers[0], data.answers[-1])]
    steps = [{"x": y, "w": w} for y, w in zip(data.answers, data.remap, strict=True)]
    line = alt.Chart(alt.InlineData(values=face)).mark_line(color="#999", strokeDash=[4, 3], strokeWidth=1.4)
    curve = alt.Chart(alt.InlineData(values=steps)).mark_line(
        color=COLOURS["posterior"], strokeWidth=2.2, interpolate="step"
    )
    reading_point = alt.Chart(alt.InlineData(values=[{"x": data.value, "w": data.estimate}]))
    dot = reading_point.mark_point(filled=True, size=70, color=COLOURS["posterior"], opacity=1)
    heading = alt.TitleParams(
        "How each answer would be read (dashed: at face value)", anchor="start", fontSize=12, fontWeight="normal"
    )
    layers = [chart.encode(x=x_axis, y=y_axis) for chart in (line, curve, dot)]
    return alt.layer(*layers).properties(width=PANEL_WIDTH, height=REMAP_HEIGHT, title=heading)


def _reading_axis() -> alt.Axis:
    import altair as alt

    return alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=4)


def cell_chart(cells: Sequence[CellData], title: str, subtitle: str = "", *, x: str = "") -> alt.TopLevelMixin:
    """One line a cell: the interval as a bar, the estimate as a dot on it, the released value as a stroke."""
    import altair as alt

    values = [
        {
            "cell": cell.name,
            "value": cell.value,
            "estimate": cell.estimate,
            "low": cell.interval[0],
            "high": cell.interval[1],
        }
        for cell in cells
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200))
    )
    axis = alt.Axis(gridColor="#eee", domain=False, ticks=False)
    bars = base.mark_bar(color=PALETTE[0], opacity=0.25, height=9, cornerRadius=4).encode(
        x=alt.X("low:Q", title=x or None, axis=axis), x2="high:Q"
    )
    strokes = base.mark_tick(color="#222", thickness=2, size=15).encode(x="value:Q")
    dots = base.mark_point(filled=True, size=70, color=PALETTE[0], opacity=1).encode(x="estimate:Q")
    chart = alt.layer(bars, strokes, dots).properties(width=PANEL_WIDTH, height=CELL_ROW_HEIGHT * len(cells))
    return apply_style(chart.properties(title=add_title(title, subtitle)))  # type: ignore[no-any-return]


PANEL_HEIGHT = 108


@dataclass(frozen=True, slots=True)
class BeliefPanel:
    """A consumer: name, posterior probability chances[k] of counts[k], and estimate."""

    name: str
    counts: tuple[int, ...]
    chances: tuple[float, ...]
    estimate: int


def belief_chart(answer: int, consumers: Sequence[BeliefPanel], title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One panel a consumer over a common axis of counts: posterior as bars, the answer dashed, the estimate solid."""
    import altair as alt

    low, high = min(c.counts[0] for c in consumers), max(c.counts[-1] for c in consumers)
    scale = alt.Scale(domain=[low, high], nice=False)
    panels = [
        _panel(consumer, answer, scale, PALETTE[k % len(PALETTE)], k == len(consumers) - 1)
        for k, consumer in enumerate(consumers)
    ]
    return apply_style(alt.vconcat(*panels, spacing=14, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _panel(consumer: BeliefPanel, answer: int, scale: Any, colour: str, is_last: bool) -> Any:
    import altair as alt

    rows = [{"count": k, "chance": p} for k, p in zip(consumer.counts, consumer.chances, strict=True)]
    axis = alt.Axis(grid=False, format=",d") if is_last else None
    x_axis = alt.X("count:Q", scale=scale, axis=axis, title="count" if is_last else None)
    y_axis = alt.Y(
        "chance:Q",
        title=None,
        axis=alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=3, format="%", minExtent=36),
    )
    step = PANEL_WIDTH / max(len(rows), 1)
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=colour, opacity=0.55, width=max(step * 0.8, 1))
        .encode(x=x_axis, y=y_axis)
    )
    lines = [_rule(answer, x_axis, "#222", [4, 3]), _rule(consumer.estimate, x_axis, colour, [1, 0])]
    heading = alt.TitleParams(consumer.name, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return alt.layer(bars, *lines).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=heading)


def _rule(count: int, x_axis: Any, colour: str, dash: list[int]) -> Any:
    import altair as alt

    chart = alt.Chart(alt.InlineData(values=[{"count": count}]))
    return chart.mark_rule(color=colour, strokeDash=dash, strokeWidth=2).encode(x=x_axis)
