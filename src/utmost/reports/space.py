"""Describe a space: how many secrets, how far apart, and the network of those that generate the metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact.input_text import escape_control
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.numbers import quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.spaces import Space

MAX_SHOWN_POINTS = 8
MAX_CHART_POINTS = 60
MAX_LABEL_CHARS = 24
POINTS_A_ROW = 12  # of a line, which turns back at the end of each row


def describe(space: Space) -> Report:
    """Its name, the number of its points, and the distances of the first."""
    count = len(space)
    points = "point" if count == 1 else "points"
    blocks: dict[str, Block | None] = {"title": Paragraph(f"{space.name}: ", quantity(count), f" {points}.")}
    shown = min(count, MAX_SHOWN_POINTS)
    if count <= MAX_CHART_POINTS:
        labels = _label_texts(space)[:shown]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (labels[x], *(quantity(space.distance(x, other)) for other in range(shown))) for x in range(shown)
        )
        cut = "" if shown == count else f", the first {shown} points"
        blocks["distances"] = Table(("", *labels), rows, caption=f"Distances{cut}")
    document: dict[str, object] = {"name": space.name, "points": count}
    if space.remark:
        blocks["remark"] = Paragraph(f"{space.remark[:1].upper()}{space.remark[1:]}.")
        document["remark"] = space.remark
    return Report(blocks, document)


def figure(space: Space) -> alt.TopLevelMixin:
    """The network of the pairs that generate the metric: a map, a line, or else a ring."""
    from utmost.charts import network_chart

    if len(space) > MAX_CHART_POINTS:
        raise InputError(f"space must have at most {MAX_CHART_POINTS} points to be drawn, got {len(space)}", "space")
    edges = [(int(x), int(other)) for x, other in space.edges]
    subtitle = "Lines join the pairs that generate the metric: privacy is checked on them."
    title = f"{escape_control(space.name)}: {len(space)} points"
    return network_chart(_label_texts(space), _positions(space, edges), edges, title, subtitle)


def _label_texts(space: Space) -> list[str]:
    texts = [escape_control(str(label), frozenset()) for label in space.labels]
    return [text if len(text) <= MAX_LABEL_CHARS else f"{text[: MAX_LABEL_CHARS - 1]}…" for text in texts]


def _positions(space: Space, edges: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Where the points stand: on the map, in rows that turn back, or around a ring."""
    count, places = len(space), space.map_positions
    if places is not None:
        return list(places)
    if {tuple(sorted(edge)) for edge in edges} == {(k, k + 1) for k in range(count - 1)}:
        return [_row_position(k) for k in range(count)]
    angles = [2 * math.pi * k / count for k in range(count)]
    return [(math.sin(angle), math.cos(angle)) for angle in angles]


def _row_position(k: int) -> tuple[float, float]:
    row, place = divmod(k, POINTS_A_ROW)
    return float(place if row % 2 == 0 else POINTS_A_ROW - 1 - place), -float(row)
