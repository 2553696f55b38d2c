"""What consumers believe after the same answer: one panel each, the answer and her reading marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 620, 108


@dataclass(frozen=True, slots=True)
class BeliefPanel:
    """A consumer: who she is, her belief chances[k] in counts[k], and her reading."""

    name: str
    counts: tuple[int, ...]
    chances: tuple[float, ...]
    estimate: int


def belief_chart(answer: int, consumers: Sequence[BeliefPanel], title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One panel a consumer over a common axis of counts: her belief as bars, the answer dashed, her reading solid."""
    import altair as alt

    low, high = min(c.counts[0] for c in consumers), max(c.counts[-1] for c in consumers)
    scale = alt.Scale(domain=[low, high], nice=False)
    panels = [
        _panel(consumer, answer, scale, PALETTE[k % len(PALETTE)], k == len(consumers) - 1)
        for k, consumer in enumerate(consumers)
    ]
    return apply_style(alt.vconcat(*panels, spacing=14, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _panel(consumer: BeliefPanel, answer: int, scale: Any, colour: str, last: bool) -> Any:
    import altair as alt

    points = [{"count": k, "chance": p} for k, p in zip(consumer.counts, consumer.chances, strict=True)]
    axis = alt.Axis(grid=False, format="d") if last else None
    across = alt.X("count:Q", scale=scale, axis=axis, title="count" if last else None)
    up = alt.Y(
        "chance:Q",
        title=None,
        axis=alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=3, format="%", minExtent=36),
    )
    step = WIDTH / max(len(points), 1)
    bars = (
        alt.Chart(alt.InlineData(values=points))
        .mark_bar(color=colour, opacity=0.55, width=max(step * 0.8, 1))
        .encode(x=across, y=up)
    )
    lines = [_rule(answer, across, "#222", [4, 3]), _rule(consumer.estimate, across, colour, [1, 0])]
    words = alt.TitleParams(consumer.name, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return alt.layer(bars, *lines).properties(width=WIDTH, height=HEIGHT, title=words)


def _rule(count: int, across: Any, colour: str, dash: list[int]) -> Any:
    import altair as alt

    chart = alt.Chart(alt.InlineData(values=[{"count": count}]))
    return chart.mark_rule(color=colour, strokeDash=dash, strokeWidth=2).encode(x=across)
