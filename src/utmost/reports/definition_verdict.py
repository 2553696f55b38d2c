"""Describe whether a privacy definition is sound, and whether a mechanism meets it, without the definition's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.exact import sign
from utmost.reports.blocks import Block, Facts, Paragraph, Report
from utmost.reports.channel import MAX_SHOWN_LABELS
from utmost.reports.numbers import short

if TYPE_CHECKING:
    from utmost.axioms import Satisfaction, Verdict
    from utmost.axioms.satisfaction import Witness

MAX_LABEL_CHARS = 40


def describe(verdict: Verdict) -> Report:
    """Do both axioms hold; where they do not, the point between two allowed ones that is not allowed."""
    blocks: dict[str, Block | None] = {"verdict": Paragraph(_verdict_sentence(verdict)), "gap": None}
    if verdict.gap is not None:
        points = (verdict.gap.first, verdict.gap.second, verdict.gap.missing)
        first, second, missing = (f"({short(a)}, {short(b)})" for a, b in points)
        sentence = f"An event's probabilities may be {first} and {second}, but not {missing} between them."
        blocks["gap"] = Paragraph(sentence)
    return Report(blocks)


def _verdict_sentence(verdict: Verdict) -> str:
    if not verdict.satisfiable:
        return "No mechanism meets it."
    if verdict.sound is None:
        return "Not sound for two secrets by themselves; for all of them undecided."
    if verdict.sound:
        return "Sound: post-processing and mixing keep it." if verdict.certain else "No failure on the grid."
    return "Not sound: post-processing or mixing can break it."


def describe_satisfaction(satisfaction: Satisfaction) -> Report:
    """Whether a mechanism meets a definition, and the event that is worst or nearest to its bound."""
    witness = satisfaction.witness
    if witness is None:
        return Report({"verdict": Paragraph("It holds: no two related secrets can be told apart.")})
    verdict = "It holds." if satisfaction.holds else "It does not hold."
    return Report({"verdict": Paragraph(verdict), "witness": Facts(_witness_pairs(witness))})


def _witness_pairs(witness: Witness) -> tuple[tuple[str, str | Paragraph], ...]:
    first, second = (str(label)[:MAX_LABEL_CHARS] for label in witness.pair)
    labels = [str(label)[:MAX_LABEL_CHARS] for label in witness.event]
    event = ", ".join(labels[:MAX_SHOWN_LABELS]) + (", …" if len(labels) > MAX_SHOWN_LABELS else "")
    relation = "above" if sign(witness.excess) > 0 else "not above"
    bound = Paragraph(short(witness.second), f", {relation} its bound ", short(witness.bound))
    return (
        ("event O", event),
        (f"P(O|{first})", Paragraph(short(witness.first))),
        (f"P(O|{second})", bound),
    )
