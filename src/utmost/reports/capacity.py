"""Describe the capacities of a privacy type: the most that any of its mechanisms can tell, and what proves it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.exact import decimal_above
from utmost.reports.blocks import Cell, Paragraph, Report
from utmost.reports.mechanism import channel_document
from utmost.reports.numbers import JSON_DIGITS, SENTENCE_DIGITS, at_least, at_most, quantity, with_exact
from utmost.tables import double_above

if TYPE_CHECKING:
    import altair as alt

    from utmost.design import Capacities, Capacity

MAX_EXACT_BITS = 600  # of the denominator of a capacity that a document has exactly
MAX_NUMBER_BITS = 1200  # the same, of the value that a page shows on hover
MAX_SENTENCE_CHARS = 40  # of an exact capacity in a sentence
MAX_WRITTEN_POINTS = 128  # points of a space up to which a document has the mechanism and the weights
GAP_DIGITS, JSON_GAP_DIGITS = 2, 3


def describe(capacities: Capacities) -> Report:
    """What each capacity says of a consumer, and what proves it."""
    multiplicative, additive = capacities.multiplicative, capacities.additive
    blocks = {
        "multiplicative": Paragraph(
            "Multiplicative capacity ",
            *_capacity_parts(multiplicative),
            ": whatever the prior and the gain, an answer multiplies what a consumer can gain by at most this.",
        ),
        "additive": Paragraph(
            "Additive capacity ",
            *_capacity_parts(additive),
            ": where the expected gain lies between 0 and 1 whatever the prior, an answer adds at most this to it.",
        ),
        "multiplicative proof": _proof_paragraph("Multiplicative", multiplicative),
        "additive proof": _proof_paragraph("Additive", additive),
    }
    pair = {"multiplicative": multiplicative, "additive": additive}
    numbers = {name: at_most(_number_value(capacity), SENTENCE_DIGITS) for name, capacity in pair.items()}
    numbers |= {f"{name} gap": at_most(capacity.gap, GAP_DIGITS) for name, capacity in pair.items()}
    return Report(blocks, lambda: _document(capacities), numbers)


def describe_one(capacity: Capacity) -> Report:
    """One of the two, and what proves it."""
    blocks = {
        "value": Paragraph("Capacity ", *_capacity_parts(capacity), "."),
        "proof": _proof_paragraph("Proof", capacity),
    }
    return Report(blocks, lambda: _certificate_document(capacity))


def figure(capacities: Capacities) -> alt.TopLevelMixin:
    """Both capacities as bars, up to their upper bounds."""
    from utmost.charts.intervals import IntervalLine, IntervalPanel, interval_chart

    panels = []
    for name, unit, capacity in (
        ("multiplicative", "times as much gain, at most", capacities.multiplicative),
        ("additive", "more gain, at most, where gains lie between 0 and 1", capacities.additive),
    ):
        upper = double_above(capacity.upper)
        line = IntervalLine(name, upper, 0.0, upper, Paragraph(*_capacity_parts(capacity)).typeset)
        panels.append(IntervalPanel("", (line,), unit))
    return interval_chart(panels, "Capacities", "What any private mechanism can tell at most, to any consumer.")


def _capacity_parts(capacity: Capacity) -> tuple[Cell, ...]:
    """The exact capacity with a decimal beside it, or a decimal that is not below it."""
    upper = at_most(capacity.upper, SENTENCE_DIGITS)
    if str(upper) == "1" and capacity.upper < 1:
        return "1 − ", at_least(1 - capacity.upper, SENTENCE_DIGITS)
    if _has_short_text(capacity) and len(str(capacity.value)) <= MAX_SENTENCE_CHARS:
        return with_exact(quantity(capacity.value, SENTENCE_DIGITS), MAX_SENTENCE_CHARS)
    return (upper,)


def _proof_paragraph(name: str, capacity: Capacity) -> Paragraph:
    attained = ""
    if capacity.channel is not None:
        count = len(capacity.channel.outputs)
        attained = f"; a mechanism of {count} output{'s' if count > 1 else ''} attains it"
    gap: tuple[Cell, ...] = ("0",) if capacity.exact else ("at most ", at_most(capacity.gap, GAP_DIGITS))
    return Paragraph(f"{name}: {capacity.how}{attained}; gap ", *gap, ".")


def _number_value(capacity: Capacity) -> Any:
    """The upper bound; twelve digits above it where it is a fraction too long to be read."""
    value = capacity.upper
    is_long = isinstance(value, Fraction) and value.denominator.bit_length() > MAX_NUMBER_BITS
    return Fraction(decimal_above(value, JSON_DIGITS)) if is_long else value


def _has_short_text(capacity: Capacity) -> bool:
    """Is the capacity known exactly, and short enough to be read."""
    value = capacity.value
    return capacity.exact and isinstance(value, Fraction) and value.denominator.bit_length() <= MAX_EXACT_BITS


def _document(capacities: Capacities) -> dict[str, Any]:
    """`capacity` and `certificate`, each with `multiplicative` and `additive`."""
    pair = {"multiplicative": capacities.multiplicative, "additive": capacities.additive}
    return {
        "capacity": {name: _value_document(capacity) for name, capacity in pair.items()},
        "certificate": {name: _certificate_document(capacity) for name, capacity in pair.items()},
    }


def _value_document(capacity: Capacity) -> Any:
    """Exact as text where it is short, else a decimal that is not below it."""
    return str(capacity.value) if _has_short_text(capacity) else at_most(capacity.upper, JSON_DIGITS)


def _certificate_document(capacity: Capacity) -> dict[str, Any]:
    """The bounds, the method, and up to 128 points the mechanism and the weights that prove them."""
    channel, weights = capacity.channel, capacity.weights
    is_small = channel is not None and len(channel.inputs) <= MAX_WRITTEN_POINTS
    return {
        "lower": at_least(capacity.lower, JSON_DIGITS),
        "upper": at_most(capacity.upper, JSON_DIGITS),
        "gap": "0" if capacity.exact else at_most(capacity.gap, JSON_GAP_DIGITS),
        "how": capacity.how,
        "columns": None if channel is None else len(channel.outputs),
        "channel": channel_document(channel) if is_small and channel is not None else None,
        "weights": [str(weight) for weight in weights] if is_small and weights is not None else None,
    }
