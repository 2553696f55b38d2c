"""Charts of a released number read by consumers: prior, likelihood, posterior, remap; several posteriors in panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import VALUE_FORMAT, add_title, apply_style

if TYPE_CHECKING:
    import altair as alt


PANEL_WIDTH = 620
BELIEF_HEIGHT, REMAP_HEIGHT = 250, 190
MAX_CURVE_POINTS = 500  # where there are more, each stands for the highest of its neighbours
MAX_MARKED_POINTS = 40  # points of a curve up to which each has a dot
MAX_LABELLED_POINTS = 12  # points up to which each has its number below
CELL_ROW_HEIGHT = 22
COLOURS = {"prior": "#8a949b", "likelihood": PALETTE[1], "posterior": PALETTE[0]}
DASHES = {"prior": [2, 3], "likelihood": [7, 4], "posterior": [1, 0]}


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
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=list(DASHES.values())), legend=None)
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
        "w:Q", title="read as", scale=alt.Scale(domain=endpoints, nice=False, zero=False), axis=_light_axis()
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


def _light_axis() -> alt.Axis:
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
