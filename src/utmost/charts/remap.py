"""Two small charts: the remap of answers on an interval, and the expected loss of mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

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
