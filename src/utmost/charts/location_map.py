"""Maps of a mechanism on a grid of places: for a true place, the probability that each place is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.charts.export import add_title, apply_style
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.spaces import Label

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
