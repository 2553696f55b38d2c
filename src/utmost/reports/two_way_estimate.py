"""Describe the least squares of a two-way table: every number with its interval, and the nearest whole table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from utmost.joint.tree import key_text
from utmost.joint.two_way import KINDS, normal_half_width
from utmost.reports.blocks import Block, Cell, Facts, Paragraph, Report, Table
from utmost.reports.estimate import coverage_text
from utmost.reports.joint_estimate import MAX_CHART_CELLS, MAX_LABELLED_SUM, MAX_SHOWN_CELLS, json_key
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, at_most, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.charts.intervals import IntervalPanel
    from utmost.joint.tree import Key
    from utmost.joint.two_way import TwoWayEstimate

COVERAGE = 0.95
HEADER = ("released", "unbiased", "± at most", "whole")
CLAIM = (
    "Unbiased numbers are the best linear ones, with exact variances; ± is that of a normal law with this variance. "
    "The whole table >= 0 adds up and is the nearest to them, by sums of errors over their standard deviations: no "
    "posterior stands behind it, and nothing is claimed of being best among all mechanisms."
)


def describe(
    estimate: TwoWayEstimate,
    *,
    title: str = "",
    coverage: float = COVERAGE,
    kinds: Sequence[str] = KINDS,
    sums: Sequence[tuple[str, Sequence[Key]]] = (),
    remarks: Sequence[str] = (),
    listed: int | None = None,
) -> Report:
    """All numbers of these kinds, and what holds of them."""
    table = estimate.table
    sizes = ", ".join(f"{table.level_name(kind)}: {len(table.keys(kind))}" for kind in KINDS)
    facts = Facts((("counts", sizes), ("± holds", f"with probability about {coverage_text(coverage)}")))
    blocks: dict[str, Block | None] = {"title": Paragraph(title) if title else None, "facts": facts}
    for kind in kinds:
        blocks |= _kind_blocks(estimate, kind, coverage, listed or MAX_SHOWN_CELLS)
    if sums:
        blocks |= {"space sums": Paragraph(), "sums": _sums_table(estimate, sums, coverage)}
    blocks |= {"space claim": Paragraph(), "claim": Paragraph(CLAIM)}
    blocks |= {f"remark {number}": Paragraph(remark) for number, remark in enumerate(remarks)}
    about = ({"title": title} if title else {}) | ({"remarks": list(remarks)} if remarks else {})
    return Report(blocks, lambda: about | _document(estimate, kinds, coverage, sums))


def _kind_blocks(estimate: TwoWayEstimate, kind: str, coverage: float, listed: int) -> dict[str, Block | None]:
    keys, reach = estimate.table.keys(kind), estimate.half_width(kind, coverage)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            key_text(key),
            ", ".join(map(str, estimate.table.released(kind, key))),
            quantity(float(estimate.estimates[kind][key]), SENTENCE_DIGITS),
            at_most(reach, SENTENCE_DIGITS),
            quantity(estimate.whole_numbers[kind][key], SENTENCE_DIGITS),
        )
        for key in keys[:listed]
    )
    cut = f"The first {listed} of {len(keys)}; the JSON has them all."
    return {
        f"space {kind}": Paragraph(),
        f"table {kind}": Table((estimate.table.level_name(kind), *HEADER), rows),
        f"cut {kind}": Paragraph(cut) if len(keys) > listed else None,
    }


def _sums_table(estimate: TwoWayEstimate, sums: Sequence[tuple[str, Sequence[Key]]], coverage: float) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            text[:MAX_LABELLED_SUM],
            quantity(len(keys)),
            quantity(float(estimate.sum(keys)), SENTENCE_DIGITS),
            at_most(normal_half_width(estimate.sum_variance(keys), coverage), SENTENCE_DIGITS),
        )
        for text, keys in sums
    )
    return Table(("sum", "cells", "unbiased", "± at most"), rows)


def _document(
    estimate: TwoWayEstimate, kinds: Sequence[str], coverage: float, sums: Sequence[tuple[str, Sequence[Key]]]
) -> dict[str, Any]:
    table = estimate.table
    columns = {"cells": table.names, "rows": table.names[:1], "columns": table.names[1:], "total": ()}
    cells = [
        {
            "level": list(columns[kind]),
            "key": [json_key(part) for part in key],
            "released": table.released(kind, key),
            "unbiased": float(estimate.estimates[kind][key]),
            "variance_at_most": at_most(estimate.variances[kind], JSON_DIGITS),
            "whole": estimate.whole_numbers[kind][key],
        }
        for kind in kinds
        for key in table.keys(kind)
    ]
    document: dict[str, Any] = {"coverage": coverage, "cells": cells, "claim": CLAIM}
    if sums:
        document["sums"] = [
            {
                "sum": text,
                "unbiased": float(estimate.sum(keys)),
                "variance_at_most": at_most(estimate.sum_variance(keys), JSON_DIGITS),
            }
            for text, keys in sums
        ]
    return document


def figure(estimate: TwoWayEstimate, kinds: Sequence[str] = KINDS) -> alt.TopLevelMixin:
    """Of each kind that fits: what was released, the unbiased number, and its interval."""
    from utmost.charts.intervals import interval_chart
    from utmost.errors import InputError

    small = [kind for kind in kinds if len(estimate.table.keys(kind)) <= MAX_CHART_CELLS]
    if not small:
        raise InputError(f"--plot must be of a level of at most {MAX_CHART_CELLS} cells, got none", "plot")
    panels = [_panel(estimate, kind) for kind in small]
    caption = f"Stroke: released. Dot: least squares. Bar: about {coverage_text(COVERAGE)}."
    return interval_chart(panels, "Least squares of rows, columns and cells", caption)


def _panel(estimate: TwoWayEstimate, kind: str) -> IntervalPanel:
    from utmost.charts.intervals import IntervalLine, IntervalPanel

    lines, reach = [], estimate.half_width(kind, COVERAGE)
    for key in estimate.table.keys(kind):
        value, released = float(estimate.estimates[kind][key]), estimate.table.released(kind, key)
        mean = sum(released) / len(released) if released else None
        lines.append(IntervalLine(key_text(key), value, value - reach, value + reach, released=mean))
    return IntervalPanel(estimate.table.level_name(kind), tuple(lines))
