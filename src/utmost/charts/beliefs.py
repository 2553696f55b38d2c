"""Chart of several consumers' posteriors after the same answer: one panel each, the answer and the estimate marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

PANEL_WIDTH, PANEL_HEIGHT = 620, 108


@dataclass(frozen=True, slots=True)
class BeliefPanel:
    """A consumer: name, posterior probability chances[k] of counts[k], and estimate."""

    name: str
    counts: tuple[int, ...]
    chances: tuple[float, ...]
    estimate: int


def belief_chart(answer: int, consumers: Sequence[BeliefPanel], title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """One panel a consumer over a common axis of counts: posterior as bars, the answer dashed, the estimate solid."""
    import altair as alt

    low, high = min(c.counts[0] for c in consumers), max(c.counts[-1] for c in consumers)
    scale = alt.Scale(domain=[low, high], nice=False)
    panels = [
        _panel(consumer, answer, scale, PALETTE[k % len(PALETTE)], k == len(consumers) - 1)
        for k, consumer in enumerate(consumers)
    ]
    return apply_style(alt.vconcat(*panels, spacing=14, title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def _panel(consumer: BeliefPanel, answer: int, scale: Any, colour: str, is_last: bool) -> Any:
    import altair as alt

    rows = [{"count": k, "chance": p} for k, p in zip(consumer.counts, consumer.chances, strict=True)]
    axis = alt.Axis(grid=False, format="d") if is_last else None
    x_axis = alt.X("count:Q", scale=scale, axis=axis, title="count" if is_last else None)
    y_axis = alt.Y(
        "chance:Q",
        title=None,
        axis=alt.Axis(gridColor="#eee", domain=False, ticks=False, tickCount=3, format="%", minExtent=36),
    )
    step = PANEL_WIDTH / max(len(rows), 1)
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=colour, opacity=0.55, width=max(step * 0.8, 1))
        .encode(x=x_axis, y=y_axis)
    )
    lines = [_rule(answer, x_axis, "#222", [4, 3]), _rule(consumer.estimate, x_axis, colour, [1, 0])]
    heading = alt.TitleParams(consumer.name, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return alt.layer(bars, *lines).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=heading)


def _rule(count: int, x_axis: Any, colour: str, dash: list[int]) -> Any:
    import altair as alt

    chart = alt.Chart(alt.InlineData(values=[{"count": count}]))
    return chart.mark_rule(color=colour, strokeDash=dash, strokeWidth=2).encode(x=x_axis)
