"""Describe a release: its answers, how far off they are, and what it guarantees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.exact import decimal_above
from utmost.publish.release_file import release_content
from utmost.queries.answer_error import kept_limits, noise_remark
from utmost.reports.blocks import Block, Cell, Paragraph, Report, Table
from utmost.reports.numbers import Quantity, Rounding, amount, quantity
from utmost.reports.preview import shown_error

if TYPE_CHECKING:
    import altair as alt

    from utmost.publish.release_model import Answer, Release

MAX_SHOWN_CELLS = 12  # of a histogram
VALUE_DIGITS = 8


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
    blocks |= {f"cells of {answer.name}": _cells_paragraph(answer) for answer in release}
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


def shown_half_width(answer: Answer) -> Cell:
    """The half width of the 95 % interval, as far as the release itself says it."""
    return shown_error(answer.released_error).half_width


def figure(release: Release) -> alt.TopLevelMixin:
    """A panel for each answer, its numbers as dots on their intervals."""
    from utmost.reports.answer import answers_figure

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
    notes = sorted({answer.released_error.note for answer in release} - {""})
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


def _cells_paragraph(answer: Answer) -> Paragraph | None:
    """The cells of a histogram with their values, the first of many."""
    if not isinstance(answer.value, tuple):
        return None
    parts: list[Cell] = [f"{answer.name}: "]
    pairs = answer.named_values
    for number, (name, value) in enumerate(pairs[:MAX_SHOWN_CELLS]):
        parts += [f"{'; ' if number else ''}{name}: ", quantity(value)]
    hidden = len(pairs) - MAX_SHOWN_CELLS
    return Paragraph(*parts, f"; and {hidden} more" if hidden > 0 else "")
