"""A privacy definition as a picture: what an event's two probabilities may be, and where that fails to be convex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

SIDE = 380  # pixels
GROUND, UPPER, LOWER, WRONG = "#dbe6f2", PALETTE[0], PALETTE[2], PALETTE[4]


def allowed_region_chart(
    cells: Sequence[Sequence[Sequence[float]]],
    lines: Sequence[tuple[str, Sequence[Sequence[float]]]],
    spots: Sequence[Sequence[float]],
    title: str,
    subtitle: str = "",
    *,
    gap: Sequence[Sequence[float]] = (),
    names: tuple[str, str] = ("i1", "i2"),
) -> alt.TopLevelMixin:
    """Cells (two sides: place, low, high), named lines (M or m) through points, single points, all in [0, 1]².

    `gap` is two allowed points and one between them that is not: the segment is drawn and the third point marked.
    """
    import altair as alt

    axes = _axes(names)
    areas = [{"cell": k, "x": side[0], "y": side[1], "top": side[2]} for k, cell in enumerate(cells) for side in cell]
    layers: list[Any] = [
        alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(color="#aaa", strokeDash=[3, 3], strokeWidth=1)
        .encode(**axes)
    ]
    if areas:
        ground = alt.Chart(alt.InlineData(values=areas)).mark_area(color=GROUND, stroke=GROUND, strokeWidth=1)
        layers.insert(0, ground.encode(y2="top:Q", detail="cell:N", **axes))
    layers += [_line(k, name, points, axes) for k, (name, points) in enumerate(lines)]
    layers += [_dots(spots, UPPER, 30, axes)] if spots else []
    layers += _gap(gap, axes) if gap else []
    chart = alt.layer(*layers).properties(width=SIDE, height=SIDE, title=add_title(title, subtitle))
    return apply_style(chart)  # type: ignore[no-any-return]


def _axes(names: tuple[str, str]) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=[0, 1], nice=False)
    return {
        "x": alt.X("x:Q", title=f"P(O | {names[0]})", scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
        "y": alt.Y("y:Q", title=f"P(O | {names[1]})", scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
    }


def _line(k: int, name: str, points: Sequence[Sequence[float]], axes: dict[str, Any]) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    colour = UPPER if name == "M" else LOWER
    return (
        alt.Chart(alt.InlineData(values=values, name=f"line{k}"))
        .mark_line(color=colour, strokeWidth=2.4)
        .encode(**axes)
    )


def _dots(points: Sequence[Sequence[float]], colour: str, size: int, axes: dict[str, Any]) -> Any:
    import altair as alt

    values = [{"x": x, "y": y} for x, y in points]
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(filled=True, size=size, opacity=1, color=colour)
        .encode(**axes)
    )


def _gap(gap: Sequence[Sequence[float]], axes: dict[str, Any]) -> list[Any]:
    """The chord between two allowed points, and the point on it that is not."""
    import altair as alt

    chord = alt.Chart(alt.InlineData(values=[{"x": x, "y": y} for x, y in gap[:2]]))
    return [
        chord.mark_line(color=WRONG, strokeDash=[5, 4], strokeWidth=1.6).encode(**axes),
        _dots(gap[:2], UPPER, 60, axes),
        _dots(gap[2:], WRONG, 90, axes),
    ]
