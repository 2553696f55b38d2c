"""Previews and releases as the commands print them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.cli.output import print_facts, print_table, print_text

if TYPE_CHECKING:
    from utmost.publish.execute import PlannedAnswer, Preview
    from utmost.publish.release_model import Answer, ErrorLaw, Release

MAX_SHOWN_CELLS = 12  # of a histogram in the terminal


def print_preview(preview: Preview) -> None:
    """Print what the plan costs and how far off its answers will be."""
    from utmost.publish.preview import cost_sentence, error_remarks, part_remarks

    setting = preview.setting
    public = "not public" if setting.units is None else f"{setting.units}, public"
    part_facts = [] if setting.part is None else [("Part", f"only the rows with {setting.part}")]
    privacy = f"for {setting.unit}; neighbours: {setting.neighbours}; number of units: {public}"
    print_facts([("Privacy", privacy), *part_facts, ("Cost", cost_sentence(preview))])
    print_text()
    print_table(
        ("query", "kind", "ε", "sensitivity", "error", "± (95 %)"),
        [_planned_row(planned_answer) for planned_answer in preview.planned_answers],
        2,
    )
    for line in error_remarks(preview.planned_answers, setting, preview.guesses, preview.plan.source.columns):
        print_text(line)
    for line in part_remarks(preview.part_adds_up):
        print_text(line)
    print_text()


def _planned_row(planned_answer: PlannedAnswer) -> tuple[str, ...]:
    kind = _query_kind(planned_answer.spec.query)
    error_cells = _error_cells(planned_answer.error, kind)
    return (
        planned_answer.spec.name,
        kind,
        str(planned_answer.spec.epsilon),
        str(planned_answer.law.sensitivity),
        *error_cells,
    )


def _query_kind(query: Any) -> str:
    from utmost.publish.plans import QUERY_KINDS

    return QUERY_KINDS[type(query)]


def _error_cells(error: ErrorLaw, kind: str) -> tuple[str, str]:
    from utmost.publish.preview import error_suffix

    suffix = error_suffix(error, kind)
    return f"{format_number(error.expected, 4)}{suffix}", f"{format_above(error.half_width, 4)}{suffix}"


def format_number(value: Fraction | float, digits: int) -> str:
    """A decimal of so many digits, a large number with all of those before its point.

    >>> format_number(0.123456, 4), format_number(35632000.4, 4), format_number(1e20, 4)
    ('0.1235', '35632000', '1e+20')
    """
    from utmost.exact import decimal

    return str(round(value)) if 10**digits <= abs(float(value)) < 10**16 else decimal(value, digits)


def format_above(value: Fraction | float, digits: int) -> str:
    """`format_number` for an upper bound: never below the value.

    >>> format_above(0.123456, 4), format_above(35632000.4, 4), format_above(Fraction(5, 2), 4)
    ('0.1235', '35632001', '2.5')
    """
    from utmost.exact import decimal_above

    return str(math.ceil(value)) if 10**digits <= value < 10**16 else decimal_above(value, digits)


def print_release(release: Release) -> None:
    """Print the values, and what they guarantee."""
    from utmost.publish.answer_error import noise_remark
    from utmost.publish.preview import format_epsilon

    print_table(("query", "value", "± (95 %)", "best"), [_answer_row(answer) for answer in release], 1)
    print_text()
    for answer in release:
        if isinstance(answer.value, tuple):
            print_text(f"{answer.name}: {cells_text(answer)}")
    remark = noise_remark({answer.kind for answer in release}, release.unit, release.part)
    if remark is not None:
        print_text(remark)
    print_text(f"Guarantee: {release.guarantee}.")
    print_text(
        f"Ledger: entry {release.entry.number}, budget {release.entry.budget}, ε "
        f"{format_epsilon(release.entry.left)} left."
    )


def _answer_row(answer: Answer) -> tuple[str, ...]:
    half_width = _error_cells(answer.error, answer.kind)[1]
    return (answer.name, _value_text(answer), half_width, answer.optimal.partition(":")[0])


def _value_text(answer: Answer) -> str:
    if isinstance(answer.value, tuple):
        return f"{len(answer.value)} cells"
    return str(answer.value) if isinstance(answer.value, int) else format_number(answer.value, 8)


def cells_text(answer: Answer) -> str:
    """The cells of a histogram with their values, the first of many."""
    from utmost.publish.estimate import cell_names

    assert isinstance(answer.value, tuple)
    pairs = [f"{name}: {value}" for name, value in zip(cell_names(answer), answer.value, strict=True)]
    remainder = f"; and {len(pairs) - MAX_SHOWN_CELLS} more" if len(pairs) > MAX_SHOWN_CELLS else ""
    return "; ".join(pairs[:MAX_SHOWN_CELLS]) + remainder
