"""Chart of a channel: a heat map of its entries, or the laws of a few inputs where it is large."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import ChartLine, line_chart
from utmost.charts.export import add_title, apply_style
from utmost.exact import decimal

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel

MAX_NUMBERED_LABELS = 60  # inputs or outputs of a heat map of numbers; more are shown as curves
MAX_NAMED_LABELS = 160  # inputs or outputs of a heat map of names, which no curve joins
MAX_LABELS_WITH_ENTRIES = 14  # inputs and outputs of a heat map with its entries written in
MAX_FRACTION_CHARS = 6  # of a fraction that is written in
MAX_ENTRY_CHARS = 40  # of an entry that the tooltip shows in full
CHAR_PIXELS = 6.2  # of a character of a label, about
MAX_AXIS_LABELS = 24
LAW_COUNT = 5  # inputs whose laws are shown for a larger channel


def channel_chart(channel: Channel, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """The heat map of a channel; above 60 inputs or outputs (160 where they are names) five laws as curves."""
    is_numbered = all(isinstance(label, int) for label in (*channel.inputs, *channel.outputs))
    if max(len(channel.inputs), len(channel.outputs)) > (MAX_NUMBERED_LABELS if is_numbered else MAX_NAMED_LABELS):
        return row_laws_chart(channel, title, subtitle)
    return heat_map(channel, title, subtitle)


def heat_map(channel: Channel, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One square an entry, the darker the likelier (shade ∝ √probability), with the entry in it where there is room."""
    import altair as alt

    longest = max(len(channel.inputs), len(channel.outputs))
    square_pixels = max(7, min(52, 640 // longest))
    base = alt.Chart(alt.InlineData(values=_entry_rows(channel)), title=add_title(title, subtitle)).encode(
        x=alt.X("output:N", sort=None, title="answer", axis=_label_axis(channel.outputs, "top", square_pixels)),
        y=alt.Y("input:N", sort=None, title="true value", axis=_label_axis(channel.inputs, "left", square_pixels)),
    )
    max_probability = max(float(value) for value in channel.rows.flat)
    layers = [_squares(base, max_probability, "#e3e8ee" if longest <= MAX_LABELS_WITH_ENTRIES else None)]
    if longest <= MAX_LABELS_WITH_ENTRIES:
        ink = alt.condition(f"datum.chance > {0.45 * max_probability}", alt.value("white"), alt.value("#333"))
        layers.append(base.mark_text(fontSize=12).encode(text="shown:N", color=ink))
    width, height = square_pixels * len(channel.outputs), square_pixels * len(channel.inputs)
    return apply_style(alt.layer(*layers).properties(width=width, height=height))  # type: ignore[no-any-return]


def _squares(base: Any, max_probability: float, edge: str | None) -> Any:
    import altair as alt

    shades = alt.Scale(
        type="sqrt",
        domain=[0, max_probability / 4, max_probability],
        range=["#ffffff", "#93bfe3", "#08488f"],
        interpolate="lab",
    )
    legend = alt.Legend(title="probability", gradientLength=160, format=".3~g", tickCount=4)
    squares = base.mark_rect(stroke=edge, strokeWidth=1) if edge else base.mark_rect()
    return squares.encode(
        color=alt.Color("chance:Q", scale=shades, legend=legend), tooltip=["input:N", "output:N", "entry:N"]
    )


def _label_axis(labels: tuple[str | int, ...], orient: Any, square_pixels: int) -> alt.Axis:
    """At most 24 labels; those above a map stand upright where they would run into each other."""
    import altair as alt

    step = next(step for step in (1, 2, 5, 10) if len(labels) <= step * MAX_AXIS_LABELS)
    texts = [str(label) for label in labels[::step]]
    upright = orient == "top" and CHAR_PIXELS * max(map(len, texts)) + 4 > square_pixels * step
    orientation: dict[str, Any] = {"labelAngle": -90, "labelAlign": "left"} if upright else {"labelAngle": 0}
    return alt.Axis(orient=orient, ticks=False, domain=False, values=texts, labelOverlap=False, **orientation)


def _entry_rows(channel: Channel) -> list[dict[str, object]]:
    return [
        {
            "input": str(x),
            "output": str(y),
            "chance": float(value),
            "entry": _entry_text(value),
            "shown": _short_entry_text(value),
        }
        for x, row in zip(channel.inputs, channel.rows, strict=True)
        for y, value in zip(channel.outputs, row, strict=True)
    ]


def _entry_text(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MAX_ENTRY_CHARS else decimal(value, 9)


def _short_entry_text(value: Any) -> str:
    text = str(value)
    return text if isinstance(value, Fraction) and len(text) <= MAX_FRACTION_CHARS else decimal(value, 2)


def row_laws_chart(channel: Channel, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """The laws of five inputs, evenly spread, as curves over the outputs."""
    last = len(channel.inputs) - 1
    input_indices = sorted({round(k * last / (LAW_COUNT - 1)) for k in range(LAW_COUNT)})
    output_indices = tuple(range(len(channel.outputs)))
    lines = [
        ChartLine(f"{channel.inputs[x]}", output_indices, tuple(float(v) for v in channel.rows[x]))
        for x in input_indices
    ]
    return line_chart(lines, title, subtitle, x="answer", y="probability", legend="true value")
