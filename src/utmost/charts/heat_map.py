"""A channel as a picture: a heat map of its entries, or the laws of a few inputs where it is large."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import ChartLine, line_chart
from utmost.charts.export import add_title, apply_style
from utmost.exact import decimal

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel

LARGEST_MAP = 60  # inputs or outputs of a heat map of numbers; more are shown as curves
LARGEST_NAMED = 160  # inputs or outputs of a heat map of names, which no curve joins
LARGEST_TEXT = 14  # inputs and outputs of a heat map with its entries written in
MAX_FRACTION_CHARS = 6  # characters of a fraction that is written in
LONGEST_ENTRY = 40  # characters of an entry that is told whole when pointed at
LETTER = 6.2  # pixels of a character of a label, about
MOST_LABELS = 24  # of an axis
LAWS = 5  # of a larger channel


def channel_chart(channel: Channel, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """The heat map of a channel; above 60 inputs or outputs (160 where they are names) five laws as curves."""
    numbered = all(isinstance(label, int) for label in (*channel.inputs, *channel.outputs))
    if max(len(channel.inputs), len(channel.outputs)) > (LARGEST_MAP if numbered else LARGEST_NAMED):
        return row_laws_chart(channel, title, subtitle)
    return heat_map(channel, title, subtitle)


def heat_map(channel: Channel, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One square an entry, the darker the likelier (shade ∝ √probability), with the entry in it where there is room."""
    import altair as alt

    longest = max(len(channel.inputs), len(channel.outputs))
    side = max(7, min(52, 640 // longest))
    base = alt.Chart(alt.InlineData(values=_cells(channel)), title=add_title(title, subtitle)).encode(
        x=alt.X("output:N", sort=None, title="answer", axis=_axis(channel.outputs, "top", side)),
        y=alt.Y("input:N", sort=None, title="true value", axis=_axis(channel.inputs, "left", side)),
    )
    top = max(float(value) for value in channel.rows.flat)
    layers = [_squares(base, top, "#e3e8ee" if longest <= LARGEST_TEXT else None)]
    if longest <= LARGEST_TEXT:
        ink = alt.condition(f"datum.chance > {0.45 * top}", alt.value("white"), alt.value("#333"))
        layers.append(base.mark_text(fontSize=12).encode(text="shown:N", color=ink))
    width, height = side * len(channel.outputs), side * len(channel.inputs)
    return apply_style(alt.layer(*layers).properties(width=width, height=height))  # type: ignore[no-any-return]


def _squares(base: Any, top: float, edge: str | None) -> Any:
    import altair as alt

    shades = alt.Scale(
        type="sqrt", domain=[0, top / 4, top], range=["#ffffff", "#93bfe3", "#08488f"], interpolate="lab"
    )
    legend = alt.Legend(title="probability", gradientLength=160, format=".3~g", tickCount=4)
    squares = base.mark_rect(stroke=edge, strokeWidth=1) if edge else base.mark_rect()
    return squares.encode(
        color=alt.Color("chance:Q", scale=shades, legend=legend), tooltip=["input:N", "output:N", "entry:N"]
    )


def _axis(labels: tuple[str | int, ...], orient: Any, side: int) -> alt.Axis:
    """At most 24 labels; those above a map stand upright where they would run into each other."""
    import altair as alt

    step = next(step for step in (1, 2, 5, 10) if len(labels) <= step * MOST_LABELS)
    shown = [str(label) for label in labels[::step]]
    upright = orient == "top" and LETTER * max(map(len, shown)) + 4 > side * step
    turned: dict[str, Any] = {"labelAngle": -90, "labelAlign": "left"} if upright else {"labelAngle": 0}
    return alt.Axis(orient=orient, ticks=False, domain=False, values=shown, labelOverlap=False, **turned)


def _cells(channel: Channel) -> list[dict[str, object]]:
    return [
        {"input": str(x), "output": str(y), "chance": float(value), "entry": _told(value), "shown": _written(value)}
        for x, row in zip(channel.inputs, channel.rows, strict=True)
        for y, value in zip(channel.outputs, row, strict=True)
    ]


def _told(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_ENTRY else decimal(value, 9)


def _written(value: Any) -> str:
    text = str(value)
    return text if isinstance(value, Fraction) and len(text) <= MAX_FRACTION_CHARS else decimal(value, 2)


def row_laws_chart(channel: Channel, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """The laws of five inputs, evenly spread, as curves over the outputs."""
    last = len(channel.inputs) - 1
    chosen = sorted({round(k * last / (LAWS - 1)) for k in range(LAWS)})
    places = tuple(range(len(channel.outputs)))
    found = [ChartLine(f"{channel.inputs[x]}", places, tuple(float(v) for v in channel.rows[x])) for x in chosen]
    return line_chart(found, title, subtitle, x="answer", y="probability", legend="true value")
