"""What mechanisms share that are put on a space: levels at a distance, lines, and irrational laws as private fractions.

The law of the planar Laplace or of the exponential mechanism on places has no entries that can be written down: sums
without end, or quotients of hundreds of roots. It is put into fractions so that privacy is not lost. The law is taken
at a level that is stricter by 2^−40 of ε, and its entries are rounded to within 2^−72 of themselves, or closer where ε
between neighbours is small. Two entries that may differ by e^(ε·d) then differ by at most
e^(ε·d − 2^−40·ε·d)·(1 + 2^−70) ≤ e^(ε·d). `least_epsilon` decides the same from the fractions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Mechanism, channel_of, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, ball, sign
from utmost.exact.working_precision import working_precision
from utmost.spaces import Space

if TYPE_CHECKING:
    from flint import arb

SLACK_BITS = 40  # 2^−40 of ε is given up for rounding
MIN_ENTRY_BITS = 72  # of an entry
MAX_ENTRY_BITS = 4096  # of the common denominator; beyond, an entry is as good as 0


def line_step(space: Space) -> Number | None:
    """The distance of neighbours, if the points stand on a line at equal distances in their order; 1 for one point."""
    size = len(space)
    if size == 1:
        return Fraction(1)
    if len(space.edge_array) != size - 1 or not np.array_equal(space.edge_array, np.arange(size - 1)[:, None] + [0, 1]):
        return None
    steps = np.unique(space.codes[space.edge_array[:, 0], space.edge_array[:, 1]])
    return space.values[steps[0]] if len(steps) == 1 else None


def level_at(level: Level, distance: Number) -> Level:
    """The level of one unit where the unit is this distance: what `level` allows between points so far apart.

    >>> from utmost.exact import alpha
    >>> str(level_at(alpha("1/2"), Fraction(2)).alpha)
    '1/4'
    """
    if distance == 1:
        return level
    if level.exponent is not None and isinstance(distance, Fraction):
        return Level(level.power(distance), level.exponent * distance)
    return Level(level.power(distance))


def least_distance(space: Space) -> Number:
    """The distance of the nearest two points; 1 for one point."""
    return space.values[1] if len(space) > 1 else Fraction(1)


def private_on(space: Space, mechanism: Mechanism, level: Level) -> Channel:
    """The mechanism's channel between the points of a space, its k-th input the k-th point, if its level holds there.

    Outputs that are its inputs become the points too. Its ε on the space is recomputed from the entries.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> from utmost.spaces import line
    >>> private_on(line(3), geometric(2, alpha("1/2")), alpha("1/2")).outputs
    (0, 1, 2)
    """
    channel = channel_of(mechanism)
    if len(channel.inputs) != len(space):
        raise InputError(
            f"the space must have {len(channel.inputs)} points, one for each input of the mechanism, got {len(space)}",
            "space",
        )
    is_same = channel.outputs == channel.inputs
    placed = trusted_channel(space.labels, space.labels if is_same else channel.outputs, channel.rows)
    loss = least_epsilon(placed, space)
    if not loss.within(level):
        raise InputError(
            f"this mechanism must keep its level on {space.name[:40]}, got {loss.text} there",
            "space",
            "make it at a stricter level, or take mechanisms.channel_on",
        )
    return placed


def on_points(space: Space, channel: Channel) -> Channel:
    """A channel between as many inputs and outputs, under the labels of the points."""
    return trusted_channel(space.labels, space.labels, channel.rows)


def refuse_space(name: str, need: str, space: Space) -> InputError:
    """The refusal of a space that a mechanism is not made for."""
    return InputError(f"{name} needs {need}, got {space.name[:40]}", "space", "choose another mechanism")


def entry_bits(space: Space, level: Level) -> int:
    """The bits to which entries are rounded, so that what they lose is less than the ε that was given up."""
    nearest = level.epsilon * float(least_distance(space))
    return MIN_ENTRY_BITS + max(0, ceil(-log2(nearest))) if 0 < nearest < 1 else MIN_ENTRY_BITS


def strict_epsilon(level: Level, bits: int) -> arb:
    """(1 − 2^−40)·ε, a ball."""
    with working_precision(bits):
        return level.epsilon_ball(bits) * ball(1 - Fraction(1, 1 << SLACK_BITS), bits)


def rounded_rows(rows: Sequence[Sequence[arb]], bits: int) -> npt.NDArray[np.object_]:
    """Rows of positive balls as fractions within 2^−bits of each, relatively; each row sums to exactly 1.

    All are whole multiples of one power of 1/2, and what a row lacks goes to its largest entry. The rows are taken to
    sum to 1, up to their radii.
    """
    places = bits + max(0, -min(_exponent(entry) for row in rows for entry in row))
    if places > MAX_ENTRY_BITS:
        raise InputError(
            "epsilon times the largest distance must be smaller to write this mechanism out in fractions", "epsilon"
        )
    unit, result = 1 << places, np.empty((len(rows), len(rows[0])), dtype=object)
    value_of_id: dict[int, int] = {}
    for x, row in enumerate(rows):
        for entry in row:
            if id(entry) not in value_of_id:
                value_of_id[id(entry)] = _multiples(entry, places)
        digits = [value_of_id[id(entry)] for entry in row]
        largest = max(range(len(digits)), key=digits.__getitem__)
        digits[largest] += unit - sum(digits)
        result[x] = [Fraction(k, unit) for k in digits]
    return result


def _exponent(entry: arb) -> int:
    """k with entry ≥ 2^(k−1) or so."""
    mantissa, exponent = entry.mid().man_exp()
    return int(mantissa).bit_length() + int(exponent) - 1


def _multiples(entry: arb, places: int) -> int:
    """The middle of a ball as a whole multiple of 2^−places."""
    mantissa, exponent = entry.mid().man_exp()
    shift = int(exponent) + places
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


def check_inner(name: str, level: Level) -> None:
    """Refuse the ends of privacy."""
    if not level.is_inner:
        end = "alpha 0" if sign(level.alpha) == 0 else "alpha 1"
        raise InputError(f"{name} needs a level with 0 < alpha < 1, got {end}", "level")
