"""Line charts: named curves over one axis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utmost.charts.export import add_title, apply_style

if TYPE_CHECKING:
    import altair as alt

PALETTE = ("#1f5fa8", "#d1741f", "#3f8f5a", "#8c4fa3", "#b03a48", "#5c6b73", "#a08a1f", "#2a9aa8")

DASHES = ([1, 0], [9, 5], [2, 4])  # so that lines on top of each other can all be seen


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A named line through points (x_k, y_k); with `stems` the points alone, each on a stem: a discrete law.

    `filled` shows the area down to 0 instead of the line. `colour` counts in the palette, for curves that belong
    together; the curve's number in the list if it is None.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    stems: bool = False
    colour: int | None = None
    filled: bool = False


def line_chart(
    lines: Sequence[ChartLine], title: str, subtitle: str = "", *, x: str = "", y: str = "", legend: str = ""
) -> alt.TopLevelMixin:
    """Lines in one frame, distinguished by colour and dashes, with a legend in their order."""
    import altair as alt

    names = [line.name for line in lines]
    points = [
        {"name": line.name, "x": float(a), "y": float(b)} for line in lines for a, b in zip(line.x, line.y, strict=True)
    ]
    colour_indices = [k if line.colour is None else line.colour for k, line in enumerate(lines)]
    colours = alt.Scale(domain=names, range=[PALETTE[k % len(PALETTE)] for k in colour_indices])
    dashes = alt.Scale(domain=names, range=[DASHES[k % len(DASHES)] for k in range(len(names))])
    chart = (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(strokeWidth=2.4)
        .encode(
            x=alt.X("x:Q", title=x or None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(grid=False)),
            y=alt.Y("y:Q", title=y or None, axis=alt.Axis(gridColor="#e6e6e6", domain=False, ticks=False)),
            color=alt.Color("name:N", title=legend or None, scale=colours, sort=None),
            strokeDash=alt.StrokeDash("name:N", title=legend or None, scale=dashes, sort=None),
        )
    )
    shaped_chart = _apply_shapes(
        chart, [line.name for line in lines if line.stems], [line.name for line in lines if line.filled]
    )
    return apply_style(shaped_chart.properties(title=add_title(title, subtitle), width=560, height=300))  # type: ignore[no-any-return]


def _apply_shapes(chart: alt.Chart, stemmed: Sequence[str], filled: Sequence[str]) -> alt.Chart | alt.LayerChart:
    """The chart, its curves of these names drawn as points on stems, or as areas."""
    import altair as alt

    if not stemmed and not filled:
        return chart
    shared_encoding = {name: chart.encoding[name] for name in ("x", "y", "color")}
    stems, areas = (_curves_named(chart, names).encode(**shared_encoding) for names in (stemmed, filled))
    layers = [_curves_named(chart, [*stemmed, *filled], invert=True).mark_line(strokeWidth=2).encode(**shared_encoding)]
    if filled:
        layers.append(areas.mark_area(opacity=0.35, line=False).encode(y=alt.Y("y:Q", stack=None)))
    if stemmed:
        layers.append(stems.mark_rule(strokeWidth=1.4, opacity=0.6).encode(y2=alt.datum(0)))
        layers.append(stems.mark_point(filled=True, size=38, opacity=1))
    return alt.LayerChart(layer=layers)


def _curves_named(chart: alt.Chart, names: Sequence[str], *, invert: bool = False) -> alt.Chart:
    """A bare chart of the curves of these names, or of all others."""
    import altair as alt

    name_index = f"indexof({json.dumps(list(names))}, datum.name)"
    return alt.Chart(chart.data).transform_filter(f"{name_index} < 0" if invert else f"{name_index} >= 0")
