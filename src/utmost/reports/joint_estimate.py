"""Describe the joint reading of a table: every count with its interval, what is claimed, sums of cells, draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from utmost.exact import decimal_above
from utmost.reports.blocks import Block, Cell, Facts, Paragraph, Report, Table
from utmost.reports.estimate import coverage_text
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, at_least, at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.charts.intervals import IntervalPanel
    from utmost.charts.levels import ReadingCloud
    from utmost.joint.draws import CellSum
    from utmost.joint.estimate import TableEstimate
    from utmost.joint.laws import Ints
    from utmost.joint.tree import Key

MAX_SHOWN_CELLS = 24  # of a level
MAX_SHOWN_DRAWS = 5
MAX_CHART_CELLS = 100  # of a level whose cells are drawn one by one
MAX_CLOUD_POINTS = 2000
MAX_LABELLED_SUM = 60  # characters
HEADER = ("released", "mean", "from", "to", "best", "unbiased", "± at most")


def describe(
    estimate: TableEstimate,
    *,
    title: str = "",
    level: int | None = None,
    sums: Sequence[tuple[str, CellSum]] = (),
    draws: Mapping[Key, Ints] | None = None,
    remarks: Sequence[str] = (),
    listed: int | None = None,
) -> Report:
    """All counts of a level, or of every level; then sums and draws that were asked for, and what holds of them.

    At most `listed` cells of a level are shown.
    """
    shown = range(len(estimate.tree.columns)) if level is None else [level]
    blocks: dict[str, Block | None] = {"title": Paragraph(title) if title else None, "facts": _facts(estimate)}
    for number in shown:
        blocks |= _level_blocks(estimate, number, listed or MAX_SHOWN_CELLS)
    if sums:
        blocks |= {"space sums": Paragraph(), "sums": _sums_table(sums)}
    if draws is not None:
        blocks |= _draw_blocks(estimate, shown, draws)
    blocks |= {"space claim": Paragraph(), "claim": Paragraph(_claim(estimate))}
    blocks |= {f"remark {number}": Paragraph(remark) for number, remark in enumerate(remarks)}
    about = ({"title": title} if title else {}) | ({"remarks": list(remarks)} if remarks else {})
    return Report(blocks, lambda: about | _document(estimate, shown, sums, draws))


def _facts(estimate: TableEstimate) -> Facts:
    tree = estimate.tree
    answers = sum(map(len, tree.answers))
    sizes = ", ".join(
        f"{estimate.level_name(level)}: {len(tree.level_nodes(level))}" for level in range(len(tree.columns))
    )
    unused = estimate.least_squares.unused
    pairs: list[tuple[str, Cell | Paragraph]] = [
        ("counts", f"{tree.size} ({sizes}), {answers} answers, {len(tree.totals)} public"),
        ("reader", f"prior {estimate.prior.name}; loss {estimate.loss.name[:60]}"),
        ("intervals", f"with probability {coverage_text(estimate.coverage)}"),
    ]
    return Facts((*pairs, *([("unbiased", f"without {unused} answers that have no unbiased value")] if unused else [])))


def _claim(estimate: TableEstimate) -> str:
    return (
        "The posterior is exact, up to the rounding of doubles, given that no window misses its count: whatever the "
        f"table is, one misses with probability at most {decimal_above(estimate.left_out)}. The best table has the "
        "least expected loss of all whole tables >= 0 that add up. Unbiased estimates are the best linear ones. "
        "Nothing is claimed of being best among all mechanisms."
    )


def _level_blocks(estimate: TableEstimate, level: int, listed: int) -> dict[str, Block | None]:
    nodes = estimate.tree.level_nodes(level)
    rows = tuple(_row(estimate, node) for node in nodes[:listed])
    cut = f"The first {listed} of {len(nodes)} cells; the JSON has them all."
    return {
        f"space {level}": Paragraph(),
        f"level {level}": Table((estimate.level_name(level), *HEADER), rows),
        f"cut {level}": Paragraph(cut) if len(nodes) > listed else None,
    }


def _row(estimate: TableEstimate, node: int) -> tuple[Cell, ...]:
    tree, key = estimate.tree, estimate.tree.keys[node]
    (low, high), linear = estimate.interval[key], estimate.gls[key]
    released = ", ".join(str(answer.value) if answer.law.has_value else "untold" for answer in tree.answers[node])
    unbiased: tuple[Cell, ...] = ("", "")
    if linear is not None:
        reach = (linear.interval[1] - linear.interval[0]) / 2
        unbiased = quantity(float(linear.value), SENTENCE_DIGITS), at_most(reach, SENTENCE_DIGITS)
    return (
        tree.label(node),
        released or ("public" if node in tree.totals else ""),
        quantity(estimate.mean[key], SENTENCE_DIGITS),
        at_least(low, SENTENCE_DIGITS),
        at_most(high, SENTENCE_DIGITS),
        quantity(estimate.table[key], SENTENCE_DIGITS),
        *unbiased,
    )


def _sums_table(sums: Sequence[tuple[str, CellSum]]) -> Table:
    rows = tuple(
        (
            name[:MAX_LABELLED_SUM],
            quantity(len(one.cells)),
            quantity(one.mean, SENTENCE_DIGITS),
            at_least(one.interval[0], SENTENCE_DIGITS),
            at_most(one.interval[1], SENTENCE_DIGITS),
            quantity(one.draw_count),
        )
        for name, one in sums
    )
    return Table(("sum", "cells", "mean", "from", "to", "by draws"), rows)


def _draw_blocks(estimate: TableEstimate, shown: Sequence[int], draws: Mapping[Key, Ints]) -> dict[str, Block | None]:
    tree = estimate.tree
    nodes = [node for level in shown for node in tree.level_nodes(level)][:MAX_SHOWN_CELLS]
    count = len(draws[()])
    header = ("cell", *(f"draw {number + 1}" for number in range(min(count, MAX_SHOWN_DRAWS))))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (tree.label(node), *(quantity(int(value)) for value in draws[tree.keys[node]][:MAX_SHOWN_DRAWS]))
        for node in nodes
    )
    remark = (
        f"The first {len(header) - 1} of {count} draws; the JSON has them all." if count > MAX_SHOWN_DRAWS else None
    )
    return {
        "space draws": Paragraph(),
        "draws": Table(header, rows),
        "cut draws": None if remark is None else Paragraph(remark),
    }


def _document(
    estimate: TableEstimate,
    shown: Sequence[int],
    sums: Sequence[tuple[str, CellSum]],
    draws: Mapping[Key, Ints] | None,
) -> dict[str, Any]:
    """Every count by level and key, exact bounds, and what is claimed."""
    tree = estimate.tree
    nodes = [node for level in shown for node in tree.level_nodes(level)]
    document: dict[str, Any] = {
        "prior": estimate.prior.name,
        "loss_function": estimate.loss.name,
        "coverage": estimate.coverage,
        "left_out": str(estimate.left_out),
        "cells": [_cell_document(estimate, node) for node in nodes],
        "claim": _claim(estimate),
    }
    if sums:
        document["sums"] = [
            {"sum": name, "mean": one.mean, "interval": list(one.interval), "draws": one.draw_count}
            for name, one in sums
        ]
    if draws is not None:
        document["draws"] = [[int(value) for value in draws[tree.keys[node]]] for node in nodes]
    return document


def _cell_document(estimate: TableEstimate, node: int) -> dict[str, Any]:
    tree, key = estimate.tree, estimate.tree.keys[node]
    linear = estimate.gls[key]
    return {
        "level": list(tree.columns[tree.levels[node]]),
        "key": [None if part is None else json_key(part) for part in key],
        "released": tree.released(node),
        "public": tree.known_total(node),
        "mean": estimate.mean[key],
        "interval": list(estimate.interval[key]),
        "best": estimate.table[key],
        "unbiased": None if linear is None else float(linear.value),
        "variance_at_most": None if linear is None else at_most(linear.variance, JSON_DIGITS),
        "unbiased_interval": None if linear is None else list(linear.interval),
    }


def json_key(part: object) -> Any:
    """A key as JSON has it; a date as its text."""
    return part if isinstance(part, bool | int | str) else str(part)


def figure(estimate: TableEstimate, level: int | None = None) -> alt.TopLevelMixin:
    """Of each level that fits, or of one: what was released, the posterior mean, and the interval of each count.

    A level of more cells is drawn as points, face value against posterior mean.
    """
    from utmost.charts.levels import levels_chart

    levels = list(range(len(estimate.tree.columns))) if level is None else [level]
    small = [number for number in levels if len(estimate.tree.level_nodes(number)) <= MAX_CHART_CELLS]
    large = [number for number in levels if len(estimate.tree.level_nodes(number)) > MAX_CHART_CELLS]
    caption = (
        f"Stroke: released. Dot: posterior mean. Bar: {coverage_text(estimate.coverage)} of the posterior. "
        f"Prior {estimate.prior.name}."
    )
    cloud = _cloud(estimate, large[-1]) if large else None
    return levels_chart([_panel(estimate, number) for number in small], cloud, "All answers read together", caption)


def _panel(estimate: TableEstimate, level: int) -> IntervalPanel:
    from utmost.charts.intervals import IntervalLine, IntervalPanel

    lines = []
    for node in estimate.tree.level_nodes(level):
        key = estimate.tree.keys[node]
        low, high = estimate.interval[key]
        lines.append(
            IntervalLine(
                estimate.tree.label(node),
                estimate.mean[key],
                float(low),
                float(high),
                released=_face_value(estimate, node),
            )
        )
    return IntervalPanel(estimate.level_name(level), tuple(lines))


def _cloud(estimate: TableEstimate, level: int) -> ReadingCloud | None:
    """The cells of a level with many, evenly thinned out; None where none of them has an answer."""
    from utmost.charts.levels import ReadingCloud

    nodes = estimate.tree.level_nodes(level)
    points = []
    for node in nodes[:: -(-len(nodes) // MAX_CLOUD_POINTS)]:
        released = _face_value(estimate, node)
        if released is not None:
            points.append((released, estimate.mean[estimate.tree.keys[node]]))
    return ReadingCloud(estimate.level_name(level), tuple(points)) if points else None


def _face_value(estimate: TableEstimate, node: int) -> float | None:
    """The mean of a cell's answers."""
    values = estimate.tree.released(node)
    return sum(values) / len(values) if values else None
