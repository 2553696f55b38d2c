"""Charts of points joined by lines: a space with the pairs that generate its metric, and row graphs.

A row graph has a panel for each output: related secrets are joined, tight pairs in bold with an arrow.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style
from utmost.charts.simplex import name_offset
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt


MAX_SIDE_PIXELS = 420
DOT_AREA_PIXELS = 110
PLAIN_COLOUR, MARKED_COLOUR = "#7a8791", PALETTE[1]


def network_chart(
    labels: Sequence[str],
    positions: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    title: str,
    subtitle: str = "",
    *,
    path: Sequence[int] = (),
) -> alt.TopLevelMixin:
    """Named points at their positions (x, y), joined by `edges`, pairs of point indices; a path of indices is bold."""
    panel = network_panel(labels, positions, edges, list(pairwise(path)), set(path), MAX_SIDE_PIXELS)
    return apply_style(panel.properties(title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def network_panel(
    labels: Sequence[str],
    positions: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    bold: Sequence[tuple[int, int]],
    marked: Collection[int],
    max_side_pixels: int,
) -> Any:
    """The same without its style and title: some pairs of indices `bold`, some points `marked`."""
    import altair as alt

    if len(labels) != len(positions):
        raise InputError(f"each point must have a place, got {len(labels)} points and {len(positions)} places")
    ranges = [(min(position[k] for position in positions), max(position[k] for position in positions)) for k in (0, 1)]
    margin = 0.12 * max(high - low for low, high in ranges) or 1.0
    scales = [alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False) for low, high in ranges]
    axes = {"x": alt.X("x:Q", scale=scales[0], axis=None), "y": alt.Y("y:Q", scale=scales[1], axis=None)}
    sizes = [high - low + 2 * margin for low, high in ranges]
    width, height = (round(max_side_pixels * size / max(sizes)) for size in sizes)
    layers = [
        _edge_lines(positions, edges, axes, PLAIN_COLOUR, 1.4),
        *([_edge_lines(positions, bold, axes, MARKED_COLOUR, 4)] if bold else []),
        *_named_dots(labels, positions, edges, marked, axes),
    ]
    return alt.layer(*layers).properties(width=width, height=height)


def _edge_lines(positions: Sequence[tuple[float, float]], pairs: Any, axes: Any, colour: str, width: float) -> Any:
    import altair as alt

    values = [{"edge": k, "x": positions[p][0], "y": positions[p][1]} for k, pair in enumerate(pairs) for p in pair]
    lines = alt.Chart(alt.InlineData(values=values)).mark_line(color=colour, strokeWidth=width)
    return lines.encode(detail="edge:N", **axes)


def _named_dots(labels: Sequence[str], positions: Any, edges: Any, marked: Collection[int], axes: Any) -> list[Any]:
    """The points, each with its name on the side that its lines leave free."""
    import altair as alt

    values = [
        {"name": str(label), "x": x, "y": y, "marked": k in marked}
        for k, (label, (x, y)) in enumerate(zip(labels, positions, strict=True))
    ]
    dots = alt.Chart(alt.InlineData(values=values)).mark_point(
        filled=True, size=DOT_AREA_PIXELS, opacity=1, stroke="white"
    )
    colour = alt.condition("datum.marked", alt.value(MARKED_COLOUR), alt.value(PLAIN_COLOUR))
    layers = [dots.encode(color=colour, **axes)]
    for k, value in enumerate(values):
        dx, dy, align = name_offset(*_free_direction(k, positions, edges), DOT_AREA_PIXELS)
        name_chart = alt.Chart(alt.InlineData(values=[value]))
        text = name_chart.mark_text(dx=dx, dy=dy, align=align, fontSize=13, color="#222")
        layers.append(text.encode(text="name:N", **axes))
    return layers


def _free_direction(
    point: int, positions: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]
) -> tuple[float, float]:
    """A direction away from a point's lines: the middle of the widest angle between two of them; up without any."""
    x, y = positions[point]
    others = [positions[pair[0] if pair[1] == point else pair[1]] for pair in edges if point in pair]
    angles = sorted(math.atan2(v - y, u - x) for u, v in others)
    if not angles:
        return 0.0, 1.0
    _, middle = max((b - a, (a + b) / 2) for a, b in pairwise([*angles, angles[0] + math.tau]))
    return math.cos(middle), math.sin(middle)


PANELS_PER_ROW = 4
MAX_PANEL_PIXELS = 210  # pixels of a panel's longer side
MAX_PANELS = 36
MAX_PANEL_POINTS = 64


@dataclass(frozen=True, slots=True)
class RowGraphPanel:
    """One output: its name, the tight pairs (likelier secret first), and the text at each secret."""

    name: str
    tight: tuple[tuple[int, int], ...]
    marks: tuple[str, ...]


def row_graph_panels(
    positions: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    panels: Sequence[RowGraphPanel],
    title: str,
    subtitle: str = "",
) -> alt.TopLevelMixin:
    """The graphs side by side, with the secrets at the same positions."""
    import altair as alt

    if not 1 <= len(panels) <= MAX_PANELS or len(positions) > MAX_PANEL_POINTS:
        raise InputError(
            f"row graphs are drawn for up to {MAX_PANELS} outputs and {MAX_PANEL_POINTS} secrets, got "
            f"{len(panels)} and {len(positions)}",
            hint="leave the picture out",
        )
    grid = alt.concat(
        *(_graph_chart(panel, positions, edges) for panel in panels),
        columns=PANELS_PER_ROW,
        title=add_title(title, subtitle),
    )
    return apply_style(grid)  # type: ignore[no-any-return]


def _graph_chart(
    panel: RowGraphPanel, positions: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]
) -> Any:
    """One graph, with an arrow on each tight pair from the likelier secret to the other."""
    import altair as alt

    graph = network_panel(
        panel.marks, positions, edges, panel.tight, {x for pair in panel.tight for x in pair}, MAX_PANEL_PIXELS
    )
    values = [_arrow_head(positions[high], positions[low]) for high, low in panel.tight]
    heads = alt.Chart(alt.InlineData(values=values)).mark_point(
        shape="triangle-right", filled=True, opacity=1, size=170, color="#7a3b00"
    )
    angle = alt.Angle("turn:Q", scale=None)
    arrows = heads.encode(x=alt.X("x:Q", axis=None), y=alt.Y("y:Q", axis=None), angle=angle)
    heading = alt.TitleParams(panel.name, anchor="middle", fontSize=12, fontWeight="normal")
    return alt.layer(graph, *([arrows] if values else [])).properties(title=heading)


def _arrow_head(high: tuple[float, float], low: tuple[float, float]) -> dict[str, float]:
    """The middle of a line and its direction, in degrees clockwise from the right."""
    dx, dy = low[0] - high[0], low[1] - high[1]
    return {"x": (high[0] + low[0]) / 2, "y": (high[1] + low[1]) / 2, "turn": -math.degrees(math.atan2(dy, dx))}


def point_positions(size: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Where to draw secrets: on a line where the pairs join each to the next only, else on a circle."""
    if {tuple(sorted(pair)) for pair in edges} == {(x, x + 1) for x in range(size - 1)}:
        return [(float(x), 0.0) for x in range(size)]
    angles = [math.tau * x / size for x in range(size)]
    return [(math.sin(angle), math.cos(angle)) for angle in angles]
