"""A space as dots and the pairs that generate its metric as lines, with a path in it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from utmost.charts.curves import PALETTE
from utmost.charts.export import add_title, apply_style
from utmost.charts.simplex import name_aside
from utmost.errors import InputError

if TYPE_CHECKING:
    import altair as alt

MAX_SIDE_PIXELS = 420  # pixels of the longer side
AREA = 110  # pixels² of a dot
PLAIN, MARKED = "#7a8791", PALETTE[1]


def network_chart(
    labels: Sequence[str],
    spots: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    title: str,
    subtitle: str = "",
    *,
    path: Sequence[int] = (),
) -> alt.TopLevelMixin:
    """Points named at their places (x, y), joined by `edges`, pairs of positions; a path of positions stands out."""
    drawn = network_panel(labels, spots, edges, list(pairwise(path)), set(path), MAX_SIDE_PIXELS)
    return apply_style(drawn.properties(title=add_title(title, subtitle)))  # type: ignore[no-any-return]


def network_panel(
    labels: Sequence[str],
    spots: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    bold: Sequence[tuple[int, int]],
    marked: Collection[int],
    longest: int,
) -> Any:
    """The same without its style and title: some pairs of positions `bold`, some points `marked`."""
    import altair as alt

    if len(labels) != len(spots):
        raise InputError(f"each point must have a place, got {len(labels)} points and {len(spots)} places")
    ends = [(min(spot[k] for spot in spots), max(spot[k] for spot in spots)) for k in (0, 1)]
    room = 0.12 * max(high - low for low, high in ends) or 1.0
    scales = [alt.Scale(domain=[low - room, high + room], nice=False, zero=False) for low, high in ends]
    place = {"x": alt.X("x:Q", scale=scales[0], axis=None), "y": alt.Y("y:Q", scale=scales[1], axis=None)}
    sizes = [high - low + 2 * room for low, high in ends]
    width, height = (round(longest * size / max(sizes)) for size in sizes)
    layers = [
        _lines(spots, edges, place, PLAIN, 1.4),
        *([_lines(spots, bold, place, MARKED, 4)] if bold else []),
        *_dots(labels, spots, edges, marked, place),
    ]
    return alt.layer(*layers).properties(width=width, height=height)


def _lines(spots: Sequence[tuple[float, float]], pairs: Any, place: Any, colour: str, width: float) -> Any:
    import altair as alt

    values = [{"edge": k, "x": spots[p][0], "y": spots[p][1]} for k, pair in enumerate(pairs) for p in pair]
    lines = alt.Chart(alt.InlineData(values=values)).mark_line(color=colour, strokeWidth=width)
    return lines.encode(detail="edge:N", **place)


def _dots(labels: Sequence[str], spots: Any, edges: Any, marked: Collection[int], place: Any) -> list[Any]:
    """The points, each with its name on the side that its lines leave free."""
    import altair as alt

    values = [
        {"name": str(label), "x": x, "y": y, "marked": k in marked}
        for k, (label, (x, y)) in enumerate(zip(labels, spots, strict=True))
    ]
    dots = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, size=AREA, opacity=1, stroke="white")
    colour = alt.condition("datum.marked", alt.value(MARKED), alt.value(PLAIN))
    drawn = [dots.encode(color=colour, **place)]
    for k, value in enumerate(values):
        dx, dy, align = name_aside(*_free(k, spots, edges), AREA)
        word = alt.Chart(alt.InlineData(values=[value]))
        text = word.mark_text(dx=dx, dy=dy, align=align, fontSize=13, color="#222")
        drawn.append(text.encode(text="name:N", **place))
    return drawn


def _free(point: int, spots: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """A direction away from a point's lines: the middle of the widest angle between two of them; up without any."""
    x, y = spots[point]
    others = [spots[pair[0] if pair[1] == point else pair[1]] for pair in edges if point in pair]
    turns = sorted(math.atan2(v - y, u - x) for u, v in others)
    if not turns:
        return 0.0, 1.0
    _, middle = max((b - a, (a + b) / 2) for a, b in pairwise([*turns, turns[0] + math.tau]))
    return math.cos(middle), math.sin(middle)
