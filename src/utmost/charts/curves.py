"""Line charts: named curves over one axis; the remap of answers on an interval; expected losses of mechanisms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.export import add_title, apply_style

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


CHART_WIDTH, REMAP_HEIGHT = 560, 320
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
    return apply_style(chart.properties(title=add_title(title, subtitle), width=CHART_WIDTH, height=REMAP_HEIGHT))  # type: ignore[no-any-return]


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
