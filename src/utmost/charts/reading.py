"""A released number read by a consumer: her prior, what the answer says, her posterior, and her remap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT, LOWER = 620, 250, 190
MAX_CURVE_POINTS = 500  # points of a curve; where there are more, each stands for the highest of its neighbours
MAX_MARKED_POINTS = 40  # points of a curve that are marked one by one
LABELLED = 12  # points that each have their number below
HEIGHT_OF_CELL = 22
COLOURS = {"prior": "#8a949b", "likelihood": PALETTE[1], "posterior": PALETTE[0]}
DASHES = {"prior": [2, 3], "likelihood": [7, 4], "posterior": [1, 0]}


@dataclass(frozen=True, slots=True)
class ReadingData:
    """A released value and its reading: weights of prior, likelihood and posterior over the same values x.

    `remap` holds the readings of the answers `answers`; both are empty where an answer is more than one number.
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
    """One cell of a released histogram: its name, its released value, its reading and its interval."""

    name: str
    value: float
    estimate: float
    interval: tuple[float, float]


def reading_chart(read: ReadingData, title: str, subtitle: str = "", *, x: str = "") -> alt.TopLevelMixin:
    """Three curves over one axis with the value and its reading marked; below them how every answer is read."""
    import altair as alt

    panels = [_beliefs(read, "" if read.remap else x)]
    if read.remap:
        panels.append(_remap(read, x))
    return apply_style(alt.vconcat(*panels, spacing=18, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _across(read: ReadingData, title: str) -> alt.X:
    """The common axis; its ticks are not closer than the values are."""
    import altair as alt

    closest = read.x[1] - read.x[0] if len(read.x) > 1 else 1
    axis = alt.Axis(grid=False, tickCount=10, tickMinStep=closest, labelOverlap=True)
    if len(read.x) <= LABELLED:
        axis = alt.Axis(grid=False, values=list(read.x), format=".6~g")
    return alt.X("x:Q", scale=alt.Scale(domain=read.domain, nice=False, zero=False), title=title or None, axis=axis)


def _beliefs(read: ReadingData, title: str) -> Any:
    import altair as alt

    across = _across(read, title)
    up = alt.Y("weight:Q", title="probability", axis=alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=4))
    names = list(COLOURS)
    colour = alt.Color("name:N", scale=alt.Scale(domain=names, range=list(COLOURS.values())), legend=_legend())
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=list(DASHES.values())), legend=None)
    rows = thin_points(read)
    after, others = (
        alt.Chart(alt.InlineData(values=[row for row in rows if (row["name"] == "posterior") == last])).encode(
            x=across, y=up
        )
        for last in (True, False)
    )
    layers = [after.mark_area(color=COLOURS["posterior"], opacity=0.16)]
    for curve in (after, others):
        layers.append(curve.mark_line(strokeWidth=2.2).encode(color=colour, strokeDash=dash))
        if len(read.x) <= MAX_MARKED_POINTS:
            layers.append(curve.mark_point(filled=True, size=26, opacity=1).encode(color=colour))
    return alt.layer(*layers, *_marks(read, across)).properties(width=WIDTH, height=HEIGHT)


def _legend() -> alt.Legend:
    import altair as alt

    return alt.Legend(title=None, symbolType="stroke", symbolSize=260, symbolStrokeWidth=3)


def thin_points(read: ReadingData, most: int = MAX_CURVE_POINTS) -> list[dict[str, Any]]:
    """The curves' points, at most so many for each, thinned by taking the highest of neighbours."""
    stride = -(-len(read.x) // most)
    places = range(0, len(read.x), stride)
    return [
        {"name": name, "x": read.x[min(k + stride // 2, len(read.x) - 1)], "weight": max(weights[k : k + stride])}
        for name, weights in (("prior", read.prior), ("likelihood", read.likelihood), ("posterior", read.posterior))
        for k in places
    ]


def _marks(read: ReadingData, across: Any) -> list[Any]:
    """The interval as a bar at the foot, the value dashed, the reading solid, both with their names at the top."""
    import altair as alt

    low, high = read.interval
    bar = alt.Chart(alt.InlineData(values=[{"x": low, "to": high}]))
    foot = bar.mark_rule(strokeWidth=5, color=COLOURS["posterior"], opacity=0.55, strokeCap="round")
    layers = [foot.encode(x=across, x2="to:Q", y=alt.value(HEIGHT - 3))]
    left = read.value <= read.estimate
    for words, place, colour, dash, beside in (
        ("released", read.value, "#222", [4, 3], left),
        ("read as", read.estimate, COLOURS["posterior"], [1, 0], not left),
    ):
        point = alt.Chart(alt.InlineData(values=[{"x": place, "text": f"{words} {axis_number(place)}"}]))
        layers.append(point.mark_rule(color=colour, strokeDash=dash, strokeWidth=1.6).encode(x=across))
        text = point.mark_text(color=colour, align="right" if beside else "left", dx=-5 if beside else 5, fontSize=12)
        layers.append(text.encode(x=across, y=alt.value(-8), text="text:N"))
    return layers


def axis_number(value: float) -> str:
    """A value as the axes write it.

    >>> axis_number(2345678901.0), axis_number(46.60169)
    ('2,345,678,901', '46.6017')
    """
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.6g}"


def _remap(read: ReadingData, title: str) -> Any:
    """The reading of every answer as steps, beside the line of face value; this answer's dotted."""
    import altair as alt

    across = _across(read, title)
    ends = [min(*read.answers, *read.remap), max(*read.answers, *read.remap)]
    up = alt.Y("w:Q", title="read as", scale=alt.Scale(domain=ends, nice=False, zero=False), axis=_quiet())
    face = [{"x": v, "w": v} for v in (read.answers[0], read.answers[-1])]
    steps = [{"x": y, "w": w} for y, w in zip(read.answers, read.remap, strict=True)]
    line = alt.Chart(alt.InlineData(values=face)).mark_line(color="#999", strokeDash=[4, 3], strokeWidth=1.4)
    curve = alt.Chart(alt.InlineData(values=steps)).mark_line(
        color=COLOURS["posterior"], strokeWidth=2.2, interpolate="step"
    )
    here = alt.Chart(alt.InlineData(values=[{"x": read.value, "w": read.estimate}]))
    dot = here.mark_point(filled=True, size=70, color=COLOURS["posterior"], opacity=1)
    words = alt.TitleParams(
        "How each answer would be read (dashed: at face value)", anchor="start", fontSize=12, fontWeight="normal"
    )
    layers = [chart.encode(x=across, y=up) for chart in (line, curve, dot)]
    return alt.layer(*layers).properties(width=WIDTH, height=LOWER, title=words)


def _quiet() -> alt.Axis:
    import altair as alt

    return alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=4)


def cell_chart(rows: Sequence[CellData], title: str, subtitle: str = "", *, x: str = "") -> alt.TopLevelMixin:
    """One line a cell: the interval as a bar, the reading as a dot on it, the released value as a stroke."""
    import altair as alt

    values = [
        {"cell": c.name, "value": c.value, "estimate": c.estimate, "low": c.interval[0], "high": c.interval[1]}
        for c in rows
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
    chart = alt.layer(bars, strokes, dots).properties(width=WIDTH, height=HEIGHT_OF_CELL * len(rows))
    return apply_style(chart.properties(title=add_title(title, subtitle)))  # type: ignore[no-any-return]
