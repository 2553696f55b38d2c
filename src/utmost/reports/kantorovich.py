"""Describe the Kantorovich distance of two distributions: the distance, what is moved, and what proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.exact.input_text import escape_control
from utmost.reports.blocks import Block, Paragraph, Report, Table
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, at_least, at_most, quantity, with_exact

if TYPE_CHECKING:
    from utmost.qif import KantorovichDistance
    from utmost.spaces import Space

SHOWN_MOVES = 12
MAX_EXACT_CHARS = 40
TABLE_DIGITS, GAP_DIGITS = 5, 2
MAX_LABEL_CHARS = 40


def describe(result: KantorovichDistance, space: Space) -> Report:
    """The distance, the largest moves, and the proof from both sides."""
    labels = [escape_control(str(label)[:MAX_LABEL_CHARS], frozenset()) for label in space.labels]
    moves = _moves(result)
    rows = tuple(
        (
            labels[x],
            labels[y],
            quantity(result.masses[x, y], TABLE_DIGITS),
            quantity(space.distance(x, y), TABLE_DIGITS),
        )
        for x, y in moves[:SHOWN_MOVES]
    )
    hidden = len(moves) - len(rows)
    name = escape_control(space.name[:MAX_LABEL_CHARS])
    blocks: dict[str, Block | None] = {
        "distance": Paragraph(f"Distance on {name}: ", *with_exact(_value(result), MAX_EXACT_CHARS), "."),
        "moves": Table(("from", "to", "mass", "distance"), rows) if rows else None,
        "hidden": Paragraph(f"The {SHOWN_MOVES} largest of {len(moves)} moves.") if hidden else None,
        "proof": _proof_paragraph(result),
    }
    return Report(blocks, lambda: _document(result, labels, moves))


def _value(result: KantorovichDistance) -> Any:
    return quantity(result.upper, SENTENCE_DIGITS) if result.exact else at_most(result.upper, SENTENCE_DIGITS)


def _moves(result: KantorovichDistance) -> list[tuple[int, int]]:
    """What goes from one point to another, the largest mass first."""
    sources, targets = np.nonzero(result.masses)
    pairs = [(int(x), int(y)) for x, y in zip(sources, targets, strict=True) if x != y]
    return sorted(pairs, key=lambda pair: (-result.masses[pair], pair))


def _proof_paragraph(result: KantorovichDistance) -> Paragraph:
    if result.exact:
        return Paragraph("No move costs less: proved exactly by a potential on the points.")
    return Paragraph("No move costs less by more than ", at_most(result.gap, GAP_DIGITS), ": proved by a potential.")


def _document(result: KantorovichDistance, labels: list[str], moves: list[tuple[int, int]]) -> dict[str, Any]:
    """The document that `utmost distance --json` prints."""
    return {
        "distance": str(result.upper) if result.exact else at_most(result.upper, JSON_DIGITS),
        "lower": at_least(result.lower, JSON_DIGITS),
        "upper": at_most(result.upper, JSON_DIGITS),
        "exact": result.exact,
        "moves": [{"from": labels[x], "to": labels[y], "mass": str(result.masses[x, y])} for x, y in moves],
        "potential": [str(value) for value in result.potential],
    }
