"""A mechanism on a grid of places as maps: for a true place, how likely each place is to be reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.charts.export import add_title, apply_style
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

    from utmost.channel import Channel
    from utmost.spaces import Label, Space

ALL = 25  # places of a grid of which every one has its map
PIXELS = 620  # of all maps together, across
LARGEST_CELL, LEAST_CELL = 52, 4


def rows_and_columns(space: Space) -> tuple[int, int] | None:
    """The rows and columns of a grid, scaled or not; None for another space."""
    from utmost.spaces.compound_spaces import ScaledShape
    from utmost.spaces.standard_spaces import Grid

    shape = space.shape.base.shape if isinstance(space.shape, ScaledShape) else space.shape
    return (shape.rows, shape.columns) if isinstance(shape, Grid) else None


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
    _checked(channel, rows, columns)
    if inputs is None and rows * columns <= ALL:
        places, across = list(range(rows * columns)), columns
    elif inputs is None:
        places, across = _three(rows, columns), 3
    else:
        places = [_position(channel, label) for label in inputs]
        across = min(len(places), 3)
    below = f"{subtitle}; " if subtitle else ""
    return _panels(channel, places, shape, across, add_title(title, f"{below}ringed: the true place"))  # type: ignore[no-any-return]


def _checked(channel: Channel, rows: int, columns: int) -> None:
    if len(channel.inputs) != rows * columns:
        raise InputError(
            f"a map of {rows} × {columns} places needs a channel of {rows * columns} inputs, got {len(channel.inputs)}"
        )
    strangers = set(channel.outputs) - set(channel.inputs)
    if strangers:
        raise InputError(f"a map needs outputs that are places, got {len(strangers)} that are not: draw a heat map")


def _position(channel: Channel, label: Label) -> int:
    if label not in channel.inputs:
        raise InputError(f"inputs of a map must be inputs of the channel, got {label!r}")
    return channel.inputs.index(label)


def _three(rows: int, columns: int) -> list[int]:
    """A corner, the middle of the upper side, the centre; in a single row or column they may be the same."""
    return list(dict.fromkeys((0, columns // 2, rows // 2 * columns + columns // 2)))


def _cells(channel: Channel, places: Sequence[int], columns: int, across: int) -> list[dict[str, Any]]:
    """One for each true place and each place of the grid; places that are never reported have chance 0."""
    chances = {
        place: dict(zip(channel.outputs, map(float, channel.rows[place]), strict=True))
        for place in dict.fromkeys(places)
    }
    return [
        {
            "panel_row": k // across,
            "panel_column": k % across,
            "row": spot // columns,
            "column": spot % columns,
            "chance": chances[place].get(label, 0.0),
            "here": spot == place,
            "true": str(channel.inputs[place]),
            "reported": str(label),
        }
        for k, place in enumerate(places)
        for spot, label in enumerate(channel.inputs)
    ]


def _panels(channel: Channel, places: Sequence[int], shape: tuple[int, int], across: int, title: Any) -> Any:
    import altair as alt

    rows, columns = shape
    values = _cells(channel, places, columns, across)
    cell = max(LEAST_CELL, min(LARGEST_CELL, PIXELS // (columns * across)))
    layers = _layers(max(value["chance"] for value in values), cell, rows, columns)
    side = {"width": cell * columns, "height": cell * rows}
    bare: Any = {"title": None, "header": alt.Header(labels=False)}
    facets: Any = {"row": alt.Row("panel_row:O", **bare), "column": alt.Column("panel_column:O", **bare)}
    data = alt.InlineData(values=values)
    return apply_style(
        alt.layer(*layers).properties(**side).facet(data=data, spacing=8, **facets).properties(title=title)
    )


def _layers(top: float, cell: int, rows: int, columns: int) -> list[Any]:
    """Squares, and a ring on the true place."""
    import altair as alt

    across, down = (alt.Scale(domain=list(range(size)), padding=0) for size in (columns, rows))
    shades = alt.Scale(
        type="sqrt", domain=[0, top / 4, top], range=["#ffffff", "#93bfe3", "#08488f"], interpolate="lab"
    )
    legend = alt.Legend(title="probability", gradientLength=140, format=".3~g", tickCount=4)
    colour = alt.Color("chance:Q", scale=shades, legend=legend)
    base = alt.Chart().encode(x=alt.X("column:O", axis=None, scale=across), y=alt.Y("row:O", axis=None, scale=down))
    squares = base.mark_rect(stroke="#d5dde5", strokeWidth=0.6)
    ring = base.transform_filter("datum.here").mark_point(
        shape="circle", size=(0.62 * cell) ** 2, color="#d1741f", strokeWidth=2.2, opacity=1
    )
    return [squares.encode(color=colour, tooltip=["true:N", "reported:N", "chance:Q"]), ring]
