"""One exact draw of a position j with Pr[j] ∝ e^(−rate·loss_j), for losses that are secret.

A uniform number U in [0, 1) is revealed a few words at a time, and the answer is the j with S_{j−1} ≤ U < S_j, where
S_j = W_j/W, W_j = w_0 + … + w_j and w_i = e^(−rate·(loss_i − least loss)). The first `bits` bits of U say
prefix ≤ U·2^bits < prefix + 1. Each w_i·2^bits is enclosed between two integers, so W_j·2^bits lies between
the running sums low_j and high_j of integers, and with l and h for the sums over all positions

* (prefix + 1)·h ≤ low_j·2^bits says U < S_j, and the last S_j is 1;
* high_j·2^bits ≤ prefix·l says S_j ≤ U.

If both are known for one j and its predecessor, j is the answer; else more bits are revealed. A wrong answer is
impossible, so the law drawn is the law given, and no float is involved.

**Nothing here depends on the losses but the answer.** `prepare_choice` takes the exponentials, from the rate alone: for
each byte of a distance a table of e^(−rate·byte·256^k), each as an integer of one width times a power of 2. A draw then
multiplies one entry of each table for every loss, so equal losses, small ones and huge ones take the same steps with
integers of the same size, and no step can fail.

Every running sum is known within 2·n units of 2^−bits, n the number of positions, and l ≥ 2^bits − 1; so more bits are
needed with probability at most about 4·n²·2^−bits whatever the losses are, 2^−200 for the first 256 bits and 10⁴
positions. A share S_j that is a multiple of 2^−bits, which an equality of losses makes, is as quick as any other: no
tie is ever decided.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from utmost.exact import ball
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource
from utmost.noise.table_sampling import WORD_BITS

if TYPE_CHECKING:
    from flint import arb

FIRST_WORDS = 4  # words of U revealed at first
GUARD_BITS = 32  # of a table's entries beyond those asked for
BALL_BITS = 64  # of a ball beyond those of the entry taken from it

IntegerBounds = tuple[list[int], list[int]]  # below and above
Factor = tuple[int, int]  # m and s, for m·2^−(width − 1 + s) with 2^(width − 1) ≤ m < 2^width


@dataclass(frozen=True, slots=True)
class PreparedChoice:
    """The exponentials that weights are multiplied from, for the first `bits` bits of U.

    A distance beyond `farthest` has the weight of `farthest`, which is below 2^−bits: it changes no bound.
    """

    rate: Fraction
    bits: int
    farthest: int
    tables: tuple[tuple[Factor, ...], ...]

    @property
    def width(self) -> int:
        """How many bits each entry has."""
        return self.bits + GUARD_BITS


@lru_cache(maxsize=64)
def prepare_choice(rate: Fraction, bits: int = FIRST_WORDS * WORD_BITS) -> PreparedChoice:
    """The tables for a rate > 0, one for each byte of the farthest distance that matters."""
    farthest = -(-bits * rate.denominator // rate.numerator)
    places = range(-(-farthest.bit_length() // 8))
    tables = tuple(_byte_table(rate, bits, 256**k, min(farthest // 256**k, 255)) for k in places)
    return PreparedChoice(rate, bits, farthest, tables)


def _byte_table(rate: Fraction, bits: int, place: int, greatest: int) -> tuple[Factor, ...]:
    """The factors just below e^(−rate·place·byte) for the bytes up to the greatest.

    From rate·distance = bits on, e^−bits stands for the weight: both are below 2^−bits, since e > 2.
    """
    width = bits + GUARD_BITS
    with working_precision(width + BALL_BITS):
        exponents = (min(rate * place * byte, Fraction(bits)) for byte in range(greatest + 1))
        return tuple(_factor((-ball(exponent, width + BALL_BITS)).exp(), width) for exponent in exponents)


def _factor(value: arb, width: int) -> Factor:
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    surplus = mantissa.bit_length() - width
    mantissa = mantissa >> surplus if surplus > 0 else mantissa << -surplus
    return mantissa, 1 - width - exponent - surplus


def draw_exponential_choice(losses: Sequence[int], choice: PreparedChoice, source: EntropySource) -> int:
    """A position of `losses`, which are not empty, drawn with Pr[j] ∝ e^(−rate·loss_j).

    >>> from utmost.noise import system_source
    >>> draw_exponential_choice([10**30, 0, 10**30], prepare_choice(Fraction(1)), system_source())
    1
    """
    prefix, bits = 0, 0
    while True:
        for word in source.words((choice.bits - bits) // WORD_BITS).tolist():
            prefix, bits = prefix << WORD_BITS | word, bits + WORD_BITS
        position = position_of_prefix(prefix, bits, weight_sums(losses, choice))
        if position is not None:
            return position
        choice = prepare_choice(choice.rate, bits + WORD_BITS)


def position_of_prefix(prefix: int, bits: int, sums: IntegerBounds) -> int | None:
    """The j with S_{j−1} ≤ U < S_j for every U whose first bits are `prefix`, or None where the sums do not tell."""
    low, high = sums
    least = -(-(prefix + 1) * high[-1] >> bits)  # the least low_j for which U < S_j is known
    position = min(bisect_left(low, least), len(low) - 1)
    is_above = position == 0 or high[position - 1] << bits <= prefix * low[-1]
    return position if is_above else None


def weight_sums(losses: Sequence[int], choice: PreparedChoice) -> IntegerBounds:
    """Running sums of integers below and above e^(−rate·(loss − least loss))·2^bits."""
    least = min(losses)
    low = list(accumulate(weights_below([loss - least for loss in losses], choice)))
    return low, [below + 2 * number for number, below in enumerate(low, 1)]


def weights_below(distances: Sequence[int], choice: PreparedChoice) -> list[int]:
    """For each distance ≥ 0 an integer w with w ≤ e^(−rate·distance)·2^bits < w + 2.

    A product of t entries is below what it stands for, by a share of less than 3·t·2^(1−width): a ball, an entry and a
    product are each rounded down by less than one unit of `width` bits. That is less than 1 after 2^bits; rounding to
    an integer is the rest.

    >>> weights_below([0, 1, 2, 100, 10**40], prepare_choice(Fraction(1), 10))
    [1024, 376, 138, 0, 0]
    """
    tables, farthest, digits, scale = choice.tables, choice.farthest, len(choice.tables), choice.width - 1
    weights = []
    for distance in distances:
        product, places = 1 << scale, scale - choice.bits
        for table, byte in zip(tables, min(distance, farthest).to_bytes(digits, "little"), strict=True):
            factor, more_places = table[byte]
            product, places = product * factor >> scale, places + more_places
        weights.append(product >> places)
    return weights
