"""What a type can deliver at most: its capacities in words and as a document, with what proves them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.design.capacities import Capacities, Capacity
    from utmost.exact import Level
    from utmost.spaces import Space

MAX_CAPACITY_CHARS = 200  # characters of an exact capacity
MAX_WRITTEN_POINTS = 128  # points of a space up to which a document has the mechanism and the weights
GAP_DIGITS = 3  # of a gap in a document


def find_capacities(points: Space, level: Level) -> Capacities:
    """Both capacities; the bounds so far are on stderr during the search."""
    from utmost.cli.progress import progress_line
    from utmost.design import capacity
    from utmost.exact import decimal_above, decimal_below

    with progress_line(f"capacities of {points.name}") as report:
        return capacity(
            points,
            level,
            lambda lower, upper: report(f"between {decimal_below(lower)} and {decimal_above(upper)}"),
        )


def capacity_document(capacities: Capacities) -> dict[str, Any]:
    """`capacity` and `certificate`, each with `multiplicative` and `additive`."""
    pair = {"multiplicative": capacities.multiplicative, "additive": capacities.additive}
    return {
        "capacity": {name: _json_capacity(capacity) for name, capacity in pair.items()},
        "certificate": {name: _certificate_document(capacity) for name, capacity in pair.items()},
    }


def _json_capacity(capacity: Capacity) -> str | float:
    """Exact as text where it is short, else a double that is not below it."""
    from utmost.exact import json_above

    text = _exact_text(capacity)
    return text if text is not None else json_above(capacity.upper)


def _exact_text(capacity: Capacity) -> str | None:
    """The capacity itself, if it is known exactly and is short enough to be read."""
    value = capacity.value
    if not capacity.exact or not isinstance(value, Fraction) or value.denominator.bit_length() > 3 * MAX_CAPACITY_CHARS:
        return None
    return str(value)


def _certificate_document(capacity: Capacity) -> dict[str, Any]:
    """The bounds, the method, and up to 128 points the mechanism and the weights that prove them."""
    from utmost.cli.output import channel_document
    from utmost.exact import json_above, json_below

    is_small = capacity.channel is not None and len(capacity.channel.inputs) <= MAX_WRITTEN_POINTS
    return {
        "lower": json_below(capacity.lower),
        "upper": json_above(capacity.upper),
        "gap": "0" if capacity.exact else json_above(capacity.gap, GAP_DIGITS),
        "how": capacity.how,
        "columns": None if capacity.channel is None else len(capacity.channel.outputs),
        "channel": channel_document(capacity.channel) if is_small and capacity.channel is not None else None,
        "weights": [str(w) for w in capacity.weights] if is_small and capacity.weights is not None else None,
    }


def print_capacities(capacities: Capacities) -> None:
    """In words: what each says of a consumer, and what proves it."""
    from utmost.cli.output import print_text
    from utmost.exact import decimal_above

    print_text(
        f"Multiplicative capacity {_capacity_text(capacities.multiplicative)}: whatever a consumer believes and "
        "wants, an answer "
        "multiplies what she can gain by at most this."
    )
    print_text(
        f"Additive capacity {_capacity_text(capacities.additive)}: where her expected gain lies between 0 and 1 "
        "whatever she "
        "believes, an answer adds at most this to it."
    )
    for name, capacity in (("Multiplicative", capacities.multiplicative), ("Additive", capacities.additive)):
        gap = "0" if capacity.exact else f"at most {decimal_above(capacity.gap, 2)}"
        print_text(f"{name}: {capacity.how}{_attainment_clause(capacity)}; gap {gap}.")


def _attainment_clause(capacity: Capacity) -> str:
    if capacity.channel is None:
        return ""
    output_count = len(capacity.channel.outputs)
    return f"; a mechanism of {output_count} output{'s' if output_count > 1 else ''} attains it"


def _capacity_text(capacity: Capacity) -> str:
    """The exact capacity with a decimal beside it, or a decimal that is not below it."""
    from utmost.exact import decimal, decimal_above, decimal_below

    exact_text, decimal_text = _exact_text(capacity), decimal_above(capacity.upper)
    if decimal_text == "1" and capacity.upper < 1:
        return f"1 − {decimal_below(1 - capacity.upper)}"
    if exact_text is None or len(exact_text) > 40 or exact_text == decimal_text:
        return decimal_text
    sign = "=" if Fraction(decimal_text) == capacity.value else "≈"
    return f"{exact_text} {sign} {decimal(capacity.value)}"
