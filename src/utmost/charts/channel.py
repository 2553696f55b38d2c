"""Charts of a channel: a heat map, the laws of a few inputs, maps of a mechanism on a grid of places."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import ChartLine, line_chart
from utmost.charts.export import add_title, apply_style
from utmost.errors import InputError
from utmost.exact import decimal

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.spaces import Label

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


MAX_FULL_GRID_PLACES = 25  # places of a grid up to which every place has its map
TOTAL_WIDTH_PIXELS = 620  # width of all maps together
MAX_CELL_PIXELS, MIN_CELL_PIXELS = 52, 4


def location_maps(
    channel: Channel,
    shape: tuple[int, int],
    title: str,
    subtitle: str = "",
    *,
    inputs: Sequence[Label] | None = None,
) -> alt.TopLevelMixin:
    """Maps of Pr[reported place | true place], one a true place, which is ringed; darker is likelier.

    The channel's inputs are the places of a grid of `shape` rows × columns, row by row, and each output is one of them.
    Without `inputs` every true place has its map up to 25 of them, laid out as the places are; beyond that three have:
    a corner, the middle of a side, the centre.
    """
    rows, columns = shape
    _check_channel(channel, rows, columns)
    if inputs is None and rows * columns <= MAX_FULL_GRID_PLACES:
        true_indices, maps_per_row = list(range(rows * columns)), columns
    elif inputs is None:
        true_indices, maps_per_row = _corner_side_centre(rows, columns), 3
    else:
        true_indices = [_input_index(channel, label) for label in inputs]
        maps_per_row = min(len(true_indices), 3)
    subtitle_start = f"{subtitle}; " if subtitle else ""
    heading = add_title(title, f"{subtitle_start}ringed: the true place")
    return _map_panels(channel, true_indices, shape, maps_per_row, heading)  # type: ignore[no-any-return]


def _check_channel(channel: Channel, rows: int, columns: int) -> None:
    if len(channel.inputs) != rows * columns:
        raise InputError(
            f"a map of {rows} × {columns} places needs a channel of {rows * columns} inputs, got {len(channel.inputs)}"
        )
    unknown_outputs = set(channel.outputs) - set(channel.inputs)
    if unknown_outputs:
        raise InputError(
            f"a map needs outputs that are places, got {len(unknown_outputs)} that are not", hint="draw a heat map"
        )


def _input_index(channel: Channel, label: Label) -> int:
    if label not in channel.inputs:
        raise InputError(f"inputs of a map must be inputs of the channel, got {label!r}", "inputs")
    return channel.inputs.index(label)


def _corner_side_centre(rows: int, columns: int) -> list[int]:
    """A corner, the middle of the upper side, the centre; in a single row or column they may be the same."""
    return list(dict.fromkeys((0, columns // 2, rows // 2 * columns + columns // 2)))


def _cell_rows(channel: Channel, true_indices: Sequence[int], columns: int, maps_per_row: int) -> list[dict[str, Any]]:
    """One for each true place and each place of the grid; places that are never reported have chance 0."""
    probabilities = {
        true_index: dict(zip(channel.outputs, map(float, channel.rows[true_index]), strict=True))
        for true_index in dict.fromkeys(true_indices)
    }
    return [
        {
            "panel_row": k // maps_per_row,
            "panel_column": k % maps_per_row,
            "row": index // columns,
            "column": index % columns,
            "chance": probabilities[true_index].get(label, 0.0),
            "here": index == true_index,
            "true": str(channel.inputs[true_index]),
            "reported": str(label),
        }
        for k, true_index in enumerate(true_indices)
        for index, label in enumerate(channel.inputs)
    ]


def _map_panels(
    channel: Channel, true_indices: Sequence[int], shape: tuple[int, int], maps_per_row: int, title: Any
) -> Any:
    import altair as alt

    rows, columns = shape
    values = _cell_rows(channel, true_indices, columns, maps_per_row)
    cell = max(MIN_CELL_PIXELS, min(MAX_CELL_PIXELS, TOTAL_WIDTH_PIXELS // (columns * maps_per_row)))
    layers = _map_layers(max(value["chance"] for value in values), cell, rows, columns)
    map_size = {"width": cell * columns, "height": cell * rows}
    no_labels: Any = {"title": None, "header": alt.Header(labels=False)}
    facets: Any = {"row": alt.Row("panel_row:O", **no_labels), "column": alt.Column("panel_column:O", **no_labels)}
    data = alt.InlineData(values=values)
    return apply_style(
        alt.layer(*layers).properties(**map_size).facet(data=data, spacing=8, **facets).properties(title=title)
    )


def _map_layers(max_probability: float, cell: int, rows: int, columns: int) -> list[Any]:
    """Squares, and a ring on the true place."""
    import altair as alt

    x_scale, y_scale = (alt.Scale(domain=list(range(size)), padding=0) for size in (columns, rows))
    shades = alt.Scale(
        type="sqrt",
        domain=[0, max_probability / 4, max_probability],
        range=["#ffffff", "#93bfe3", "#08488f"],
        interpolate="lab",
    )
    legend = alt.Legend(title="probability", gradientLength=140, format=".3~g", tickCount=4)
    colour = alt.Color("chance:Q", scale=shades, legend=legend)
    base = alt.Chart().encode(x=alt.X("column:O", axis=None, scale=x_scale), y=alt.Y("row:O", axis=None, scale=y_scale))
    squares = base.mark_rect(stroke="#d5dde5", strokeWidth=0.6)
    ring = base.transform_filter("datum.here").mark_point(
        shape="circle", size=(0.62 * cell) ** 2, color="#d1741f", strokeWidth=2.2, opacity=1
    )
    return [squares.encode(color=colour, tooltip=["true:N", "reported:N", "chance:Q"]), ring]
