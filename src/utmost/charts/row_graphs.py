"""Row graphs, a panel for each output: related secrets joined, and in bold, with an arrow, those on tight pairs."""

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

COLUMNS = 4
MAX_PANEL_PIXELS = 210  # pixels of a panel's longer side
MOST_PANELS = 36
MOST_POINTS = 64


@dataclass(frozen=True, slots=True)
class RowGraphPanel:
    """One output: its name, the tight pairs (likelier secret first), and what is written at each secret."""

    name: str
    tight: tuple[tuple[int, int], ...]
    marks: tuple[str, ...]


def row_graph_panels(
    spots: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    panels: Sequence[RowGraphPanel],
    title: str,
    subtitle: str = "",
) -> alt.TopLevelMixin:
    """The graphs side by side, on the same places."""
    import altair as alt

    if not 1 <= len(panels) <= MOST_PANELS or len(spots) > MOST_POINTS:
        raise InputError(
            f"row graphs are drawn for up to {MOST_PANELS} outputs and {MOST_POINTS} secrets, got {len(panels)} and "
            f"{len(spots)}: leave the picture out"
        )
    grid = alt.concat(*(_drawn(one, spots, edges) for one in panels), columns=COLUMNS, title=add_title(title, subtitle))
    return apply_style(grid)  # type: ignore[no-any-return]


def _drawn(one: RowGraphPanel, spots: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Any:
    """One graph, with an arrow on each tight pair from the likelier secret to the other."""
    import altair as alt

    graph = network_panel(one.marks, spots, edges, one.tight, {x for pair in one.tight for x in pair}, MAX_PANEL_PIXELS)
    values = [_arrow(spots[high], spots[low]) for high, low in one.tight]
    heads = alt.Chart(alt.InlineData(values=values)).mark_point(
        shape="triangle-right", filled=True, opacity=1, size=170, color="#7a3b00"
    )
    turned = alt.Angle("turn:Q", scale=None)
    arrows = heads.encode(x=alt.X("x:Q", axis=None), y=alt.Y("y:Q", axis=None), angle=turned)
    heading = alt.TitleParams(one.name, anchor="middle", fontSize=12, fontWeight="normal")
    return alt.layer(graph, *([arrows] if values else [])).properties(title=heading)


def _arrow(high: tuple[float, float], low: tuple[float, float]) -> dict[str, float]:
    """The middle of a line and its direction, in degrees clockwise from the right."""
    across, up = low[0] - high[0], low[1] - high[1]
    return {"x": (high[0] + low[0]) / 2, "y": (high[1] + low[1]) / 2, "turn": -math.degrees(math.atan2(up, across))}


def point_positions(size: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Where to draw secrets: on a line where the pairs join each to the next only, else on a circle."""
    if {tuple(sorted(pair)) for pair in edges} == {(x, x + 1) for x in range(size - 1)}:
        return [(float(x), 0.0) for x in range(size)]
    turns = [math.tau * x / size for x in range(size)]
    return [(math.sin(turn), math.cos(turn)) for turn in turns]
