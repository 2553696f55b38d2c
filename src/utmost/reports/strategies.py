"""Describe strategies for a table side by side: variances, gains, c, and what is proved."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.errors import InputError
from utmost.exact.input_text import escape_control
from utmost.planning.shares import EPSILON
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, at_least, at_most, quantity, short

if TYPE_CHECKING:
    import altair as alt

    from utmost.planning.strategies import Strategy, StrategyComparison

DIGITS = 5
MAX_SHOWN_LEVELS = 40
NAME_CHARS = 60


def describe(comparison: StrategyComparison) -> Report:
    """One comparison."""
    return describe_all([comparison])


def describe_all(comparisons: Sequence[StrategyComparison]) -> Report:
    """For each table: a row for each strategy, the levels of each, and the bound."""
    blocks: dict[str, Block | None] = {}
    for number, comparison in enumerate(comparisons):
        blocks |= {f"space {number}": Paragraph()} if number else {}
        blocks |= {f"{name} {number}": block for name, block in _blocks(comparison).items()}
    return Report(blocks, lambda: {"tables": [_document(comparison) for comparison in comparisons]})


def _blocks(comparison: StrategyComparison) -> dict[str, Block | None]:
    rows = tuple(_strategy_row(one) for one in comparison.strategies)
    levels = [row for one in comparison.strategies for row in _level_rows(one)]
    cut = f"The first {MAX_SHOWN_LEVELS} of {len(levels)} levels; --json has them all."
    return {
        "title": Paragraph(
            f"Strategies for {escape_control(comparison.name[:NAME_CHARS])}: {comparison.cells} cells, workload "
            f"{comparison.workload}, {comparison.measure} ",
            short(comparison.amount),
            "; nothing is spent.",
        ),
        "strategies": Table(("strategy", "variance", "gain", "c", "c of any"), rows),
        "between": Paragraph(),
        "levels": Table(("strategy", "level", "share", "variance"), tuple(levels[:MAX_SHOWN_LEVELS]), text_columns=2),
        "cut": Paragraph(cut) if len(levels) > MAX_SHOWN_LEVELS else None,
        "after": Paragraph(),
        "bound": Paragraph(*_claim(comparison)),
    }


def _strategy_row(one: Strategy) -> tuple[Cell, ...]:
    gain = "–" if one.gain is None else at_least(one.gain, DIGITS)
    return escape_control(one.name), _upper(one.variance), gain, _upper(one.c), _upper(one.c_any)


def _upper(value: Fraction | None) -> Cell:
    return "–" if value is None else at_most(value, DIGITS)


def _level_rows(one: Strategy) -> list[tuple[Cell, ...]]:
    levels = zip(one.levels, one.shares, one.level_variances, strict=True)
    return [
        (escape_control(one.name), escape_control(level[:NAME_CHARS]), quantity(share, DIGITS), _upper(variance))
        for level, share, variance in levels
    ]


def _claim(comparison: StrategyComparison) -> tuple[Cell, ...]:
    least = at_least(comparison.least_variance, SENTENCE_DIGITS)
    least_any = at_least(comparison.least_any, SENTENCE_DIGITS)
    noise = "geometric or Laplace" if comparison.measure == EPSILON else "Gaussian"
    return (
        "Variances are means over the numbers of a level or a workload, read by least squares. No linear unbiased "
        f"strategy with {noise} noise has less than 1/c of its variance: none has less than ",
        least,
        f", proved with weights that are {escape_control(comparison.weights)}. No unbiased mechanism at all has less "
        "than ",
        least_any,
        " (c of any). Biased readings can err less. Known totals are not counted.",
    )


def _document(comparison: StrategyComparison) -> dict[str, Any]:
    measure = "epsilon" if comparison.measure == EPSILON else "rho"
    return {
        "table": comparison.name,
        "cells": comparison.cells,
        "workload": comparison.workload,
        measure: str(comparison.amount),
        "least_variance": at_least(comparison.least_variance, JSON_DIGITS),
        "least_variance_of_any": at_least(comparison.least_any, JSON_DIGITS),
        "weights": comparison.weights,
        "strategies": [_strategy_document(one) for one in comparison.strategies],
    }


def _strategy_document(one: Strategy) -> dict[str, Any]:
    levels = zip(one.levels, one.shares, one.level_variances, strict=True)
    return {
        "strategy": one.name,
        "variance": _json_upper(one.variance),
        "gain": None if one.gain is None else at_least(one.gain, JSON_DIGITS),
        "c": _json_upper(one.c),
        "c_any": _json_upper(one.c_any),
        "levels": [
            {"level": level, "share": str(share), "variance": _json_upper(variance)}
            for level, share, variance in levels
        ],
    }


def _json_upper(value: Fraction | None) -> Any:
    return None if value is None else at_most(value, JSON_DIGITS)


def figure(comparison: StrategyComparison) -> alt.TopLevelMixin:
    """The variances of workload and levels under each strategy."""
    from utmost.charts.strategies import StrategyBar, strategy_chart

    bars = [
        StrategyBar(
            one.name,
            float(one.variance),
            _note(one),
            tuple(
                (level, float(variance))
                for level, variance in zip(one.levels, one.level_variances, strict=True)
                if variance is not None
            ),
        )
        for one in comparison.strategies
        if one.variance is not None
    ]
    if not bars:
        raise InputError("--plot must have a strategy that tells the workload, got none", "plot")
    claim = (
        f"{comparison.cells} cells, workload {comparison.workload}, {comparison.measure} "
        f"{short(comparison.amount)}. Dashed: no linear unbiased strategy has less."
    )
    title = f"Strategies for {comparison.name[:NAME_CHARS]}"
    return strategy_chart(bars, float(comparison.least_variance), title, claim)


def _note(one: Strategy) -> str:
    return "" if one.c is None else f"c {at_most(one.c, DIGITS)}"
