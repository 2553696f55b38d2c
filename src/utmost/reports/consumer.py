"""Describe a consumer: prior and loss; and readings that are best for the worst secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.reports.blocks import Block, Facts, Matrix, Paragraph, Report
from utmost.reports.channel import MAX_SHOWN_LABELS
from utmost.reports.numbers import SENTENCE_DIGITS, quantity

if TYPE_CHECKING:
    from utmost.consumer import Consumer, Minimax, MinimaxReading

MAX_NAME_CHARS = 80


def describe(consumer: Consumer) -> Report:
    """What the consumer believes, minds, and wants to know."""
    prior, count = consumer.prior, quantity(consumer.prior.size)
    pairs = (
        ("prior", Paragraph(f"{prior.name[:MAX_NAME_CHARS]}, on ", count, " secrets")),
        ("loss", consumer.loss.name[:MAX_NAME_CHARS]),
    )
    return Report({"consumer": Facts(pairs)})


def describe_minimax(consumer: Minimax) -> Report:
    """A loss that is to be small for every secret."""
    return Report({"loss": Paragraph(f"No prior; loss {consumer.loss.name[:MAX_NAME_CHARS]} of the worst secret.")})


def describe_reading(reading: MinimaxReading) -> Report:
    """The randomised remap and the worst expected loss that it leaves."""
    loss = Paragraph("Worst expected loss ", quantity(reading.loss, SENTENCE_DIGITS), ", and no reading has less.")
    blocks: dict[str, Block | None] = {
        "loss": loss,
        "remap": Matrix(reading.remap, max_labels=MAX_SHOWN_LABELS, is_shaded=True),
    }
    return Report(blocks)
