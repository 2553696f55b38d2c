"""One exact draw of a position j with Pr[j] ∝ e^(−rate·loss_j), for losses that are secret.

A uniform number U in [0, 1) is revealed a few words at a time, and the answer is the j with S_{j−1} ≤ U < S_j, where
S_j = W_j/W, W_j = w_0 + … + w_j and w_i = e^(−rate·(loss_i − least loss)). The first `bits` bits of U say
prefix ≤ U·2^bits < prefix + 1. Each w_i·2^bits is enclosed between two integers by a ball, so W_j·2^bits lies between
the running sums low_j and high_j of integers, and with l and h for the sums over all positions

* (prefix + 1)·h ≤ low_j·2^bits says U < S_j, and the last S_j is 1;
* high_j·2^bits ≤ prefix·l says S_j ≤ U.

If both are known for one j and its predecessor, j is the answer; else more bits are revealed. A wrong answer is
impossible, so the law drawn is the law given, and no float is involved.

**Nothing here depends on the losses but the answer.** Every running sum is known within 2·n units of 2^−bits, n the
number of positions, and l ≥ 2^bits − 1; so more bits are needed with probability at most about 4·n²·2^−bits whatever
the losses are, 2^−200 for the first 256 bits and 10⁴ positions. A share S_j that is a multiple of 2^−bits, which an
equality of losses makes, is as quick as any other: no tie is ever decided. Every loss has its weight computed, equal or
not, to the same number of bits, large or not; and no step can fail.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from utmost.exact import ball
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource
from utmost.noise.table_sampling import WORD_BITS

if TYPE_CHECKING:
    from flint import arb

FIRST_WORDS = 4  # words of U revealed at first
GUARD_BITS = 32  # of a weight's ball beyond those asked for

IntegerBounds = tuple[list[int], list[int]]  # below and above


def draw_exponential_choice(losses: Sequence[int], rate: Fraction, source: EntropySource) -> int:
    """A position of `losses`, which are not empty, drawn with Pr[j] ∝ e^(−rate·loss_j); rate > 0.

    >>> from utmost.noise import system_source
    >>> draw_exponential_choice([10**30, 0, 10**30], Fraction(1), system_source())
    1
    """
    prefix, bits, count = 0, 0, FIRST_WORDS
    while True:
        for word in source.words(count).tolist():
            prefix, bits = prefix << WORD_BITS | word, bits + WORD_BITS
        position = position_of_prefix(prefix, bits, weight_sums(losses, rate, bits))
        if position is not None:
            return position
        count = 1


def position_of_prefix(prefix: int, bits: int, sums: IntegerBounds) -> int | None:
    """The j with S_{j−1} ≤ U < S_j for every U whose first bits are `prefix`, or None where the sums do not tell."""
    low, high = sums
    least = -(-(prefix + 1) * high[-1] >> bits)  # the least low_j for which U < S_j is known
    position = min(bisect_left(low, least), len(low) - 1)
    is_above = position == 0 or high[position - 1] << bits <= prefix * low[-1]
    return position if is_above else None


def weight_sums(losses: Sequence[int], rate: Fraction, bits: int) -> IntegerBounds:
    """Running sums of integers below and above e^(−rate·(loss − least loss))·2^bits."""
    least = min(losses)
    weights = weight_bounds([loss - least for loss in losses], rate, bits)
    low, high = zip(*weights, strict=True)
    return list(accumulate(low)), list(accumulate(high))


def weight_bounds(distances: Sequence[int], rate: Fraction, bits: int) -> list[tuple[int, int]]:
    """Integers below and above e^(−rate·distance)·2^bits for each distance ≥ 0.

    From rate·distance = bits on they are 0 and 1, since e > 2: a distance beyond changes no bound and takes no time.

    >>> weight_bounds([0, 1, 2, 100, 10**40], Fraction(1), 10)
    [(1024, 1024), (376, 377), (138, 139), (0, 1), (0, 1)]
    """
    from flint import arb

    farthest = -(-bits * rate.denominator // rate.numerator)
    with working_precision(bits + GUARD_BITS):
        exponent, scale = -ball(rate, bits + GUARD_BITS), arb(1 << bits)
        scaled = [(exponent * min(distance, farthest)).exp() * scale for distance in distances]
        return [(_whole(x.lower().floor()), _whole(x.upper().ceil())) for x in scaled]


def _whole(value: arb) -> int:
    """The integer that a ball of radius 0 is."""
    mantissa, exponent = value.man_exp()
    return int(mantissa) << int(exponent)
