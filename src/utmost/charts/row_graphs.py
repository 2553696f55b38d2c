"""Charts of row graphs, a panel for each output: related secrets joined, tight pairs in bold with an arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.export import add_title, apply_style
from utmost.charts.network import network_panel
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

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
            f"row graphs are drawn for up to {MAX_PANELS} outputs and {MAX_PANEL_POINTS} secrets, got {len(panels)} "
            f"and {len(positions)}: leave the picture out"
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
