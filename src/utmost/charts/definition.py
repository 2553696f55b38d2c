"""Chart of a privacy definition: the pairs of probabilities an event may have, and where their set is not convex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

SIDE_PIXELS = 380
ALLOWED_COLOUR, UPPER_COLOUR, LOWER_COLOUR, FORBIDDEN_COLOUR = "#dbe6f2", PALETTE[0], PALETTE[2], PALETTE[4]


def allowed_region_chart(
    cells: Sequence[Sequence[Sequence[float]]],
    lines: Sequence[tuple[str, Sequence[Sequence[float]]]],
    points: Sequence[Sequence[float]],
    title: str,
    subtitle: str = "",
    *,
    gap: Sequence[Sequence[float]] = (),
    names: tuple[str, str] = ("i1", "i2"),
) -> alt.TopLevelMixin:
    """Cells (two sides: x, low, high), named lines (M or m) through points, single points, all in [0, 1]².

    `gap` is two allowed points and one between them that is not: the segment is drawn and the third point marked.
    """
    import altair as alt

    encoding = _unit_axes(names)
    areas = [{"cell": k, "x": side[0], "y": side[1], "top": side[2]} for k, cell in enumerate(cells) for side in cell]
    layers: list[Any] = [
        alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(color="#aaa", strokeDash=[3, 3], strokeWidth=1)
        .encode(**encoding)
    ]
    if areas:
        area = alt.Chart(alt.InlineData(values=areas)).mark_area(
            color=ALLOWED_COLOUR, stroke=ALLOWED_COLOUR, strokeWidth=1
        )
        layers.insert(0, area.encode(y2="top:Q", detail="cell:N", **encoding))
    layers += [_boundary_line(k, name, line_points, encoding) for k, (name, line_points) in enumerate(lines)]
    layers += [_dot_layer(points, UPPER_COLOUR, 30, encoding)] if points else []
    layers += _gap_layers(gap, encoding) if gap else []
    chart = alt.layer(*layers).properties(width=SIDE_PIXELS, height=SIDE_PIXELS, title=add_title(title, subtitle))
    return apply_style(chart)  # type: ignore[no-any-return]


def _unit_axes(names: tuple[str, str]) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=[0, 1], nice=False)
    return {
        "x": alt.X("x:Q", title=f"P(O | {names[0]})", scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
        "y": alt.Y("y:Q", title=f"P(O | {names[1]})", scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
    }


def _boundary_line(line_index: int, name: str, points: Sequence[Sequence[float]], encoding: dict[str, Any]) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    colour = UPPER_COLOUR if name == "M" else LOWER_COLOUR
    return (
        alt.Chart(alt.InlineData(values=values, name=f"line{line_index}"))
        .mark_line(color=colour, strokeWidth=2.4)
        .encode(**encoding)
    )


def _dot_layer(points: Sequence[Sequence[float]], colour: str, size: int, encoding: dict[str, Any]) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(filled=True, size=size, opacity=1, color=colour)
        .encode(**encoding)
    )


def _gap_layers(gap: Sequence[Sequence[float]], encoding: dict[str, Any]) -> list[Any]:
    """The chord between two allowed points, and the point on it that is not allowed."""
    import altair as alt

    chord = alt.Chart(alt.InlineData(values=[{"x": x, "y": y} for x, y in gap[:2]]))
    return [
        chord.mark_line(color=FORBIDDEN_COLOUR, strokeDash=[5, 4], strokeWidth=1.6).encode(**encoding),
        _dot_layer(gap[:2], UPPER_COLOUR, 60, encoding),
        _dot_layer(gap[2:], FORBIDDEN_COLOUR, 90, encoding),
    ]
