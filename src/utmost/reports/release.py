"""Describe a release: its answers, how far off they are, and what it guarantees."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from utmost.exact import decimal_above
from utmost.publish.release_file import release_content
from utmost.publish.tidy_table import answer_rows
from utmost.queries.answer_error import kept_limits, noise_remark
from utmost.reports.answer import answers_figure, has_cell_intervals, shown_half_width, values_table
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.numbers import Quantity, Rounding, amount, quantity

if TYPE_CHECKING:
    import altair as alt

    from utmost.publish.release_model import Answer, Release

MAX_SHOWN_CELLS = 12  # of a histogram
VALUE_DIGITS = 8
CELL_INTERVALS_NOTE = (
    "or less, by cell: each cell has an interval of its own, low to high, which holds with probability 95 %."
)
FOUND_INTERVALS_NOTE = "The interval of a cell that was found holds given that the cell was told."


def describe(release: Release) -> Report:
    """The answers in a table, the cells of histograms, the guarantee, and the entry in the ledger."""
    blocks: dict[str, Block | None] = {
        "answers": Table(
            ("query", "value", "± (95 %)", "ε or ρ" if any(answer.rho for answer in release) else "ε", "best"),
            tuple(_answer_row(answer) for answer in release),
            caption=release.title or "",
        ),
        "space": Paragraph(),
    }
    for answer in release:
        blocks |= _cell_blocks(answer)
    blocks |= {f"remark {number}": Paragraph(remark) for number, remark in enumerate(error_remarks(release))}
    entry = release.entry
    blocks["guarantee"] = Paragraph(f"Guarantee: {release.guarantee}.")
    left = amount(entry.left, Rounding.DOWN)
    blocks["ledger"] = Paragraph(
        f"Ledger: entry {entry.number}, budget {entry.budget}, {entry.measure} ", left, " left."
    )
    if release.remark is not None:
        blocks["remark"] = Paragraph(f"{release.remark[:1].upper()}{release.remark[1:]}.")
    return Report(blocks, lambda: release_content(release))


def answer_value(answer: Answer) -> Quantity | None:
    """The released number; None for a histogram, which has several."""
    return None if isinstance(answer.value, tuple) else quantity(answer.value, VALUE_DIGITS)


def figure(release: Release) -> alt.TopLevelMixin:
    """A panel for each answer, its numbers as dots on their intervals."""
    delta = f", δ = {decimal_above(release.delta)}" if release.delta else ""
    title = release.title or release.source.name
    return answers_figure(release, f"{title}: ε = {decimal_above(release.epsilon)}{delta}", _bars_target(release))


def _bars_target(release: Release) -> str:
    """What the intervals of a release hold: the true numbers, or those of the rows that are kept."""
    if len(release.answers) == 1:
        return release.answers[0].error.target
    limits = kept_limits((answer.query for answer in release), release.unit)
    part = "" if release.part is None else f" among the rows with {release.part}"
    return f"the number asked of {' and '.join(limits)}{part}" if limits else f"the true number{part}"


def error_remarks(release: Release) -> list[str]:
    """What must be known to read the errors of a release."""
    in_cells = [answer for answer in release if has_cell_intervals(answer)]
    notes = sorted({answer.released_error.note for answer in release if answer not in in_cells} - {""})
    if in_cells:
        notes.append(CELL_INTERVALS_NOTE)
    if any(answer.query.needs_delta for answer in in_cells):
        notes.append(FOUND_INTERVALS_NOTE)
    remark = noise_remark((answer.query for answer in release), release.unit, release.part)
    return notes if remark is None else [*notes, remark]


def _answer_row(answer: Answer) -> tuple[Cell, ...]:
    value = answer_value(answer)
    cells = len(answer.named_values)
    claim = answer.optimal.partition(":")[0]
    return (
        answer.name,
        value or quantity(cells, suffix=f" {answer.query.values_noun}"),
        shown_half_width(answer),
        amount(answer.epsilon, Rounding.UP) if answer.rho is None else f"ρ {amount(answer.rho, Rounding.UP)}",
        claim,
    )


def _cell_blocks(answer: Answer) -> dict[str, Block | None]:
    """The cells of an answer with their values, the first of many; as a table where each has an interval of its own."""
    if not isinstance(answer.value, tuple):
        return {}
    key, hidden = f"cells of {answer.name}", len(answer.named_values) - MAX_SHOWN_CELLS
    more = f"and {hidden} more" if hidden > 0 else ""
    if not has_cell_intervals(answer):
        return {key: _cells_paragraph(answer, more)}
    rows = list(islice(answer_rows(answer), MAX_SHOWN_CELLS))
    return {
        f"title of {key}": Paragraph(f"{answer.name}:"),
        key: values_table(answer, rows),
        f"rest of {key}": Paragraph(f"{more}; utmost table, or --table, writes them all.") if more else None,
        f"space after {key}": Paragraph(),
    }


def _cells_paragraph(answer: Answer, more: str) -> Paragraph:
    parts: list[Cell] = [f"{answer.name}: "]
    for number, (name, value) in enumerate(answer.named_values[:MAX_SHOWN_CELLS]):
        parts += [f"{'; ' if number else ''}{name}: ", quantity(value)]
    return Paragraph(*parts, f"; {more}" if more else "")
