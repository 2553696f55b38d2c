"""Describe the prior that makes the answers of a channel most likely."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from utmost.consumer.family import read_text
from utmost.exact import json_number, rational
from utmost.exact.input_text import escape_control
from utmost.reports.blocks import Block, Paragraph, Report, Table
from utmost.reports.numbers import JSON_DIGITS, at_most, quantity

if TYPE_CHECKING:
    from fractions import Fraction

    from utmost.qif import PriorEstimate

SHOWN_SECRETS = 60
TABLE_DIGITS, GAP_DIGITS = 5, 2
MAX_LABEL_CHARS = 40


def parse_counts(text: str) -> list[Fraction]:
    """Numbers with commas between them, or a file with one on each line."""
    is_file = Path(text).suffix.lower() in (".csv", ".txt")
    items = read_text(Path(text), "--counts").split() if is_file else text.split(",")
    return [rational(item.strip(), "--counts") for item in items]


def describe(estimate: PriorEstimate, wanted_gap: float | None = None) -> Report:
    """The weight of each secret, and how much likelier another prior could make the answers."""
    rows = tuple(
        (escape_control(str(label)[:MAX_LABEL_CHARS], frozenset()), quantity(float(weight), TABLE_DIGITS))
        for label, weight in zip(estimate.inputs[:SHOWN_SECRETS], estimate.weights, strict=False)
    )
    hidden = len(estimate.inputs) - len(rows)
    blocks: dict[str, Block | None] = {
        "weights": Table(("secret", "weight"), rows),
        "hidden": Paragraph(f"And {hidden} more; --json has them all.") if hidden else None,
        "gap": Paragraph(
            f"After {estimate.rounds} rounds no prior makes an answer's log-likelihood larger by more than ",
            at_most(estimate.gap, GAP_DIGITS),
            ".",
        ),
        "rounds": _rounds_paragraph(estimate, wanted_gap),
    }
    document = {
        "inputs": list(estimate.inputs),
        "weights": [json_number(float(weight)) for weight in estimate.weights],
        "log_likelihood": json_number(estimate.log_likelihood),
        "gap": at_most(estimate.gap, JSON_DIGITS) if estimate.gap else "0",
        "rounds": estimate.rounds,
    }
    return Report(blocks, document)


def _rounds_paragraph(estimate: PriorEstimate, wanted_gap: float | None) -> Paragraph | None:
    if wanted_gap is None or estimate.gap <= wanted_gap:
        return None
    return Paragraph("The rounds ended before the gap that was asked for: --rounds allows more.")
