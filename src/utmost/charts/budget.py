"""What is spent of a budget after each charge, beside what it has left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import VALUE_FORMAT, add_title, apply_style
from utmost.charts.intervals import shown_text

if TYPE_CHECKING:
    import altair as alt

HEIGHT, BAR_WIDTH, MIN_WIDTH = 220, 12, 240
LEFT_OPACITY = 0.18  # of the part of a bar that is left


@dataclass(frozen=True, slots=True)
class SpendingPoint:
    """What is spent and left after a charge, the `count`-th; when and for what it was made."""

    count: int
    spent: float
    left: float
    charged: str = ""
    queries: str = ""


def spending_chart(points: Sequence[SpendingPoint], title: str, subtitle: str, measure: str) -> alt.TopLevelMixin:
    """One bar a charge, dark up to what is spent, light up to the limit."""
    import altair as alt

    values = [
        {"count": p.count, "part": part, "amount": amount, "charged": p.charged, "queries": shown_text(p.queries)}
        for p in points
        for part, amount in (("spent", p.spent), ("left", p.left))
    ]
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("count", "charged", "queries", "part")]
    bars = alt.Chart(alt.InlineData(values=values)).mark_bar(color=PALETTE[0])
    chart = bars.encode(
        x=alt.X("count:O", title="charges, the earliest first", axis=_count_axis()),
        y=alt.Y("amount:Q", title=measure, stack="zero", axis=_amount_axis()),
        order=alt.Order("part:N", sort="descending"),
        opacity=alt.Opacity("part:N", title=None, scale=alt.Scale(domain=["spent", "left"], range=[1, LEFT_OPACITY])),
        tooltip=[*tooltip, alt.Tooltip("amount:Q", format=VALUE_FORMAT)],
    )
    sized = chart.properties(width=max(BAR_WIDTH * len(points), MIN_WIDTH), height=HEIGHT)
    return apply_style(sized.properties(title=add_title(shown_text(title), subtitle)))  # type: ignore[no-any-return]


def _count_axis() -> Any:
    import altair as alt

    return alt.Axis(labelAngle=0, labelOverlap=True, ticks=False, domain=False)


def _amount_axis() -> Any:
    import altair as alt

    return alt.Axis(gridColor="#e6e6e6", domain=False, ticks=False, format=VALUE_FORMAT)
