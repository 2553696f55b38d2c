"""Counts at several levels: intervals in a panel for each level; of many cells, face value against estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import VALUE_FORMAT, add_title, apply_style
from utmost.charts.intervals import PANEL_WIDTH, IntervalPanel, panel_chart, shown_text
from utmost.exact.input_text import escape_control

if TYPE_CHECKING:
    import altair as alt

CLOUD_HEIGHT = 320


@dataclass(frozen=True, slots=True)
class ReadingCloud:
    """Many cells of one level: (released, estimate) of each."""

    heading: str
    points: tuple[tuple[float, float], ...]


def levels_chart(
    panels: Sequence[IntervalPanel], cloud: ReadingCloud | None, title: str, subtitle: str = ""
) -> alt.TopLevelMixin:
    """The panels one below the other, then the cloud of points."""
    import altair as alt

    charts = [*map(panel_chart, panels), *([] if cloud is None else [_cloud_chart(cloud)])]
    stacked = alt.vconcat(*charts, spacing=16, title=add_title(shown_text(title), escape_control(subtitle)))
    return apply_style(stacked.resolve_scale(x="independent", y="independent"))  # type: ignore[no-any-return]


def _cloud_chart(cloud: ReadingCloud) -> Any:
    """A point for each cell; on the line the estimate is the released number."""
    import altair as alt

    values = [{"released": released, "estimate": estimate} for released, estimate in cloud.points]
    ends = [min(min(pair) for pair in cloud.points), max(max(pair) for pair in cloud.points)]
    axis = alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=6, format=VALUE_FORMAT, labelOverlap=True)
    x = alt.X("released:Q", title="released", axis=axis)
    y = alt.Y("estimate:Q", title="all answers read together", axis=axis)
    line = alt.Chart(alt.InlineData(values=[{"released": end, "estimate": end} for end in ends]))
    rule = line.mark_line(color="#999", strokeDash=[4, 3], strokeWidth=1.2).encode(x=x, y=y)
    points = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, size=14, color=PALETTE[0], opacity=0.5)
    heading = alt.TitleParams(
        shown_text(cloud.heading), anchor="start", frame="group", fontSize=12, fontWeight="normal", offset=6
    )
    chart = alt.layer(rule, points.encode(x=x, y=y)).properties(width=PANEL_WIDTH, height=CLOUD_HEIGHT)
    return chart.properties(title=heading)
