"""Strategies side by side: the variance of the workload beside what none falls below, and that of each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import VALUE_FORMAT, add_title, apply_style
from utmost.charts.intervals import shown_text, unique_names

if TYPE_CHECKING:
    import altair as alt

WIDTH, ROW_HEIGHT, LEVEL_ROW_HEIGHT = 520, 26, 24
MAX_CHART_LEVELS = 24


@dataclass(frozen=True, slots=True)
class StrategyBar:
    """A strategy: the variance of its workload, a note, and the variance of each level that it tells."""

    name: str
    variance: float
    note: str
    levels: tuple[tuple[str, float], ...]


def strategy_chart(bars: Sequence[StrategyBar], least: float, title: str, subtitle: str = "") -> alt.TopLevelMixin:
    """Above, a dot for each strategy and a rule at the bound; below, a dot for each level; logarithmic scales."""
    import altair as alt

    names = unique_names([bar.name for bar in bars])
    colours = alt.Scale(domain=names, range=[PALETTE[k % len(PALETTE)] for k in range(len(names))])
    color = alt.Color("name:N", title="strategy", scale=colours, sort=None)
    values = [
        {"name": name, "variance": bar.variance, "note": shown_text(bar.note)}
        for name, bar in zip(names, bars, strict=True)
    ]
    top = _workload_panel(values, least, color)
    levels = list(dict.fromkeys(level for bar in bars for level, _ in bar.levels))[:MAX_CHART_LEVELS]
    rows = [
        {"name": name, "level": shown_text(level), "variance": variance}
        for name, bar in zip(names, bars, strict=True)
        for level, variance in bar.levels
        if level in levels
    ]
    below = _level_panel(rows, [shown_text(level) for level in levels], color)
    stacked = alt.vconcat(top, below, spacing=18, title=add_title(shown_text(title), subtitle))
    return apply_style(stacked.resolve_scale(x="independent"))  # type: ignore[no-any-return]


def _axis(title: str) -> Any:
    import altair as alt

    axis = alt.Axis(
        gridColor="#eee", domain=False, ticks=False, format=VALUE_FORMAT, labelOverlap=True, labelSeparation=10
    )
    return alt.X("variance:Q", title=title, scale=alt.Scale(type="log", nice=True), axis=axis)


def _workload_panel(values: list[dict[str, Any]], least: float, color: Any) -> Any:
    import altair as alt

    axis = alt.Axis(domain=False, ticks=False, labelLimit=170, minExtent=150, maxExtent=180)
    base = alt.Chart(alt.InlineData(values=values)).encode(y=alt.Y("name:N", sort=None, title=None, axis=axis))
    tooltip = ["name:N", alt.Tooltip("variance:Q", format=VALUE_FORMAT), "note:N"]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=_axis("mean variance of the workload"), color=color, tooltip=tooltip
    )
    words = base.mark_text(align="left", color="#555", fontSize=11).encode(x=alt.value(WIDTH + 10), text="note:N")
    layers = [dots, words]
    if least > 0:
        rule = alt.Chart(alt.InlineData(values=[{"variance": least}])).mark_rule(strokeDash=[5, 4], color="#555")
        layers.insert(0, rule.encode(x=_axis("mean variance of the workload")))
    return alt.layer(*layers).properties(width=WIDTH, height=ROW_HEIGHT * max(len(values), 2))


def _level_panel(rows: list[dict[str, Any]], levels: list[str], color: Any) -> Any:
    import altair as alt

    axis = alt.Axis(domain=False, ticks=False, labelLimit=170, minExtent=150, maxExtent=180)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("level:N", sort=levels, title=None, axis=axis), color=color
    )
    tooltip = ["name:N", "level:N", alt.Tooltip("variance:Q", format=VALUE_FORMAT)]
    dots = base.mark_point(filled=True, size=70, opacity=0.9).encode(
        x=_axis("mean variance of a cell of the level"), tooltip=tooltip
    )
    return dots.properties(width=WIDTH, height=LEVEL_ROW_HEIGHT * max(len(levels), 2))
