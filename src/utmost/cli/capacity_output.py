"""What a type can deliver at most: its capacities in words and as a document, with what proves them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.design.capacities import Capacities, Capacity
    from utmost.exact import Level, Number
    from utmost.spaces import Space

MAX_CAPACITY_CHARS = 200  # characters of an exact capacity
MAX_WRITTEN_POINTS = 128  # points of a space up to which a document has the mechanism and the weights
DIGITS = 12


def find_capacities(points: Space, level: Level) -> Capacities:
    """Both capacities, with the bounds so far on stderr while they are sought."""
    from utmost.cli.progress import progress_line
    from utmost.design import capacity
    from utmost.exact import decimal

    with progress_line(f"capacities of {points.name}") as report:
        return capacity(points, level, lambda lower, upper: report(f"between {decimal(lower)} and {decimal(upper)}"))


def capacity_document(both: Capacities) -> dict[str, Any]:
    """`capacity` and `certificate`, each with `multiplicative` and `additive`."""
    pair = {"multiplicative": both.multiplicative, "additive": both.additive}
    return {
        "capacity": {name: _value(one) for name, one in pair.items()},
        "certificate": {name: _proof(one) for name, one in pair.items()},
    }


def _value(one: Capacity) -> str | float:
    """Exact as text where it is short, else a float."""
    text = _exact_text(one)
    return text if text is not None else float(f"{float(one.value):.{DIGITS}g}")


def _exact_text(one: Capacity) -> str | None:
    """The capacity itself, if it is known exactly and is short enough to be read."""
    value = one.value
    if not one.exact or not isinstance(value, Fraction) or value.denominator.bit_length() > 3 * MAX_CAPACITY_CHARS:
        return None
    return str(value)


def _proof(one: Capacity) -> dict[str, Any]:
    """The bounds, how they were found, and up to 128 points the mechanism and the weights that prove them."""
    from utmost.cli.output import channel_document

    written = one.channel is not None and len(one.channel.inputs) <= MAX_WRITTEN_POINTS
    return {
        "lower": rounded(one.lower, up=False),
        "upper": rounded(one.upper, up=True),
        "gap": "0" if one.exact else float(f"{float(one.gap) * 1.01:.3g}"),
        "how": one.how,
        "columns": None if one.channel is None else len(one.channel.outputs),
        "channel": channel_document(one.channel) if written and one.channel is not None else None,
        "weights": [str(w) for w in one.weights] if written and one.weights is not None else None,
    }


def rounded(value: Number, *, up: bool) -> float:
    """A double of some 12 digits that is not above the value, or not below it.

    >>> rounded(1 - Fraction(1, 10**30), up=False), rounded(Fraction(1, 3), up=True), rounded(Fraction(5, 2), up=True)
    (0.99999999999, 0.333333333334, 2.5)
    """
    from utmost.exact import enclosure

    bound = enclosure(value, 128)[up]
    if not float(bound):
        return math.ulp(0.0) if up and bound else 0.0
    unit = Fraction(10) ** (math.floor(math.log10(abs(bound))) + 1 - DIGITS)
    return float((math.ceil if up else math.floor)(bound / unit) * unit)


def print_capacities(both: Capacities) -> None:
    """In words: what each says of a consumer, and what proves it."""
    from utmost.cli.output import print_text

    print_text(
        f"Multiplicative capacity {_spelled(both.multiplicative)}: whatever a consumer believes and wants, an answer "
        "multiplies what she can gain by at most this."
    )
    print_text(
        f"Additive capacity {_spelled(both.additive)}: where her expected gain lies between 0 and 1 whatever she "
        "believes, an answer adds at most this to it."
    )
    for name, one in (("Multiplicative", both.multiplicative), ("Additive", both.additive)):
        gap = "0" if one.exact else f"below {float(one.gap) * 1.01:.1g}"
        print_text(f"{name}: {one.how}{_attained(one)}; gap {gap}.")


def _attained(one: Capacity) -> str:
    if one.channel is None:
        return ""
    number = len(one.channel.outputs)
    return f"; a mechanism of {number} output{'s' if number > 1 else ''} attains it"


def _spelled(one: Capacity) -> str:
    from utmost.exact import decimal

    exact, short = _exact_text(one), decimal(one.value)
    if short == "1" and one.value != 1:
        return f"1 − {decimal(1 - one.value)}"
    if exact is None or len(exact) > 40 or exact == short:
        return short
    return f"{exact} {'=' if Fraction(short) == one.value else '≈'} {short}"
