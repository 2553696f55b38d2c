"""Exact draws of a position by weights: a row, the rows of a channel, e^(−rate·loss) for secret losses.

One exact draw of a position j with Pr[j] ∝ e^(−rate·loss_j), for losses that are secret.

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

**Permute-and-flip** (McKenna and Sheldon 2020) visits the positions in a random order and stops at j with probability
w_j. Its answer has the law of the j with the least U_j/w_j, for independent uniform U_j in (0, 1): that is the greatest
−rate·loss_j + E_j with E_j = −ln U_j exponential (Ding, Kifer, Steinke and others 2021). With prefixes u_j of all U_j
and integers w_j below the weights, U_j/w_j is at least u_j/(w_j + 2) and below (u_j + 1)/w_j. The position with the
least upper end is the answer if no other lower end is below it; else every U_j is revealed further. The least quotient
is at most 1, so enclosures that matter overlap with probability at most about 8·n²·2^−bits, 2^−226 for 10⁴ positions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, Real, ball, is_exact, sign
from utmost.exact.exact_numbers import exact_sum
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, Words, entropy_source
from utmost.noise.table_sampling import (
    GUARD_BITS,
    WORD_BITS,
    Positions,
    SamplingTable,
    Threshold,
    ThresholdFunction,
    assemble_table,
    ball_threshold,
    clip_thresholds,
    complement_threshold,
    draw_samples,
    exact_threshold,
    settle_ties,
)
from utmost.result_values import short_repr

if TYPE_CHECKING:
    from flint import arb, fmpz

LEADING_BITS = 256  # of a fraction, which are compared first


class ChannelRows(Protocol):
    """What a draw needs of a channel."""

    @property
    def rows(self) -> npt.NDArray[Any]:
        """The matrix: row x is the law of the output given the x-th input."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ChannelSampler:
    """All rows of a channel, ready to draw from: thresholds and undecided words as in `SamplingTable`, one row an
    input.
    """

    __repr__ = short_repr

    thresholds: Words
    split: npt.NDArray[np.bool_]
    threshold_functions: tuple[ThresholdFunction, ...] = field(repr=False)


def draw_row(row: Sequence[Number], source: EntropySource | None = None) -> int:
    """A position drawn from a row of exact weights that sum to 1.

    >>> draw_row([Fraction(0), Fraction(1), Fraction(0)])
    1
    """
    return int(draw_samples(row_sampler(row), 1, source)[0])


def row_sampler(row: Sequence[Number]) -> SamplingTable:
    """The law of a row of exact weights that sum to exactly 1, on 0 … len(row)−1.

    >>> row_sampler([Fraction(1, 2), Fraction(1, 2)]).thresholds.tolist() == [2**63]
    True
    """
    return assemble_table(*_row_thresholds(row))


def _row_thresholds(row: Sequence[Number]) -> tuple[list[Threshold], ThresholdFunction]:
    """The thresholds of a checked row's cumulative weights to 64 bits, and to any number of them."""
    if not all(is_exact(weight) for weight in row):
        raise InputError("a draw needs exact weights: floats have no exact law")
    weights: list[Number] = [value if isinstance(value, Fraction | Real) else Fraction(value) for value in row]
    rational = not any(isinstance(value, Real) for value in weights)
    thresholds = _fraction_thresholds(weights) if rational else _real_thresholds(weights)
    return thresholds, lambda y, bits: exact_threshold(exact_sum(weights[: y + 1]), bits)


def _fraction_thresholds(weights: Sequence[Any]) -> list[Threshold]:
    """⌊S_y·2^64⌋ by integer sums over the common denominator, of which only the running one is stored."""
    from flint import fmpz

    if not weights or any(weight.numerator < 0 for weight in weights):
        raise InputError("the weights of a row to draw from must be >= 0 and sum to exactly 1")
    common = _common_denominator([fmpz(d) for d in {weight.denominator for weight in weights}])
    share = lru_cache(maxsize=64)(lambda denominator: common // fmpz(denominator))
    total, thresholds = fmpz(0), []
    for weight in weights:
        total += share(weight.denominator) * fmpz(weight.numerator)
        thresholds.append(_quotient_threshold(total, common))
    if total != common:
        raise InputError("the weights of a row to draw from must sum to exactly 1")
    return thresholds[:-1]


def _common_denominator(denominators: list[fmpz]) -> fmpz:
    """The least common multiple, by halves."""
    if len(denominators) == 1:
        return denominators[0]
    middle = len(denominators) // 2
    return _common_denominator(denominators[:middle]).lcm(_common_denominator(denominators[middle:]))


def _quotient_threshold(numerator: fmpz, denominator: fmpz) -> Threshold:
    """The threshold of numerator/denominator, by their leading bits where those decide.

    With a = ⌊numerator/2^s⌋ and b = ⌊denominator/2^s⌋ the quotient lies strictly between a/(b+1) and (a+1)/b; if
    those, times 2^64, have one floor there is no integer between them.
    """
    shift = int(denominator.bit_length()) - LEADING_BITS
    if shift > 0:
        a, b = numerator >> shift, denominator >> shift
        low, high = (a << WORD_BITS) // (b + 1), ((a + 1) << WORD_BITS) // b
        if low == high and numerator:
            return int(low), False
    floor, remainder = divmod(numerator << WORD_BITS, denominator)
    return int(floor), not remainder


def _real_thresholds(weights: Sequence[Number]) -> list[Threshold]:
    """⌊S_y·2^64⌋ by running sums of balls; a sum that they leave undecided is worked out exactly.

    From S_y ≥ 1/2 on the sum from the other end is taken, 1 − S_y: a ball around a small number is a narrow one.
    """
    balls = cache(lambda bits: [ball(weight, bits) for weight in weights])
    weights_and_balls = zip(weights, balls(WORD_BITS + GUARD_BITS), strict=True)
    if any(sign(weight) < 0 for weight, interval in weights_and_balls if not interval >= 0):
        raise InputError("the weights of a row to draw from must be >= 0 and sum to exactly 1")
    if exact_sum(weights) != 1:
        raise InputError("the weights of a row to draw from must sum to exactly 1")
    last = len(weights) - 1

    @cache
    def sums(bits: int) -> tuple[list[arb], list[arb]]:
        with working_precision(bits):
            return list(accumulate(balls(bits))), list(accumulate(reversed(balls(bits))))

    def threshold(y: int) -> Threshold:
        if sums(WORD_BITS + GUARD_BITS)[0][y] < 0.5:
            return ball_threshold(lambda bits: sums(bits)[0][y], lambda: exact_sum(weights[: y + 1]), WORD_BITS)
        complement = ball_threshold(
            lambda bits: sums(bits)[1][last - 1 - y], lambda: exact_sum(weights[y + 1 :]), WORD_BITS
        )
        return complement_threshold(complement, WORD_BITS)

    return [threshold(y) for y in range(last)]


def channel_sampler(channel: ChannelRows) -> ChannelSampler:
    """Every row of a channel with exact entries, ready to draw from. All rows are set up, whichever inputs follow."""
    if channel.rows.dtype != object:
        raise InputError("a draw needs exact weights: floats have no exact law")
    inputs, outputs = channel.rows.shape
    thresholds = np.empty((inputs, outputs - 1), dtype=np.uint64)
    split = np.empty((inputs, outputs - 1), dtype=np.bool_)
    threshold_functions = []
    for x, row in enumerate(channel.rows):
        row_thresholds, threshold_function = _row_thresholds(row.tolist())
        thresholds[x], split[x] = clip_thresholds(row_thresholds)
        threshold_functions.append(threshold_function)
    return ChannelSampler(thresholds, split, tuple(threshold_functions))


def draw_channel(
    channel: ChannelRows | ChannelSampler, inputs: npt.ArrayLike, source: EntropySource | None = None
) -> Positions:
    """One draw for each input: the positions of the outputs, given the positions of the inputs.

    A binary search of ⌈log2(outputs)⌉ steps for all inputs at once, the same steps whatever the inputs are.
    """
    sampler = channel if isinstance(channel, ChannelSampler) else channel_sampler(channel)
    rows = _check_positions(inputs, len(sampler.threshold_functions))
    stream = entropy_source(source)
    words = stream.words(len(rows))
    answers = _count_thresholds(sampler.thresholds, rows, words)
    if not sampler.thresholds.shape[1]:
        return answers
    before = np.maximum(answers - 1, 0)
    undecided = (answers > 0) & sampler.split[rows, before] & (sampler.thresholds[rows, before] == words)
    for k in undecided.nonzero()[0]:
        x, last = int(rows[k]), int(answers[k])
        run = int(np.searchsorted(sampler.thresholds[x], words[k], side="left"))
        answers[k] = run + settle_ties(int(words[k]), range(run, last), sampler.threshold_functions[x], stream)
    return answers


def _count_thresholds(thresholds: Words, rows: Positions, words: Words) -> Positions:
    """How many thresholds of its row each word is at or above."""
    width = thresholds.shape[1]
    flat, start = thresholds.reshape(-1), rows * width
    low = np.zeros(len(rows), dtype=np.int64)
    for step in (1 << k for k in reversed(range(width.bit_length()))):
        probe = low + step
        in_row = probe <= width
        probe_index = start + np.where(in_row, probe, 1) - 1
        low = np.where(in_row & (flat[probe_index] <= words), probe, low)
    return low


def _check_positions(inputs: npt.ArrayLike, count: int) -> Positions:
    """Positions of inputs as a checked array."""
    positions = np.asarray(inputs)
    if positions.ndim != 1 or (positions.size and positions.dtype.kind not in "iu"):
        raise InputError(
            "inputs must be a sequence of positions of the channel's inputs: whole numbers from 0", "inputs"
        )
    if positions.size and (int(positions.min()) < 0 or int(positions.max()) >= count):
        raise InputError(f"inputs must be positions of the channel's inputs: from 0 to {count - 1}", "inputs")
    return positions.astype(np.int64)


FIRST_WORDS = 4  # words of U revealed at first
FACTOR_GUARD_BITS = 32  # of a table's entries beyond those asked for
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
        return self.bits + FACTOR_GUARD_BITS


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
    width = bits + FACTOR_GUARD_BITS
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


def draw_permute_and_flip(losses: Sequence[int], choice: PreparedChoice, source: EntropySource) -> int:
    """A position of `losses`, which are not empty, drawn by permute-and-flip at the rate of the tables.

    >>> from utmost.noise import system_source
    >>> draw_permute_and_flip([10**30, 0, 10**30], prepare_choice(Fraction(1)), system_source())
    1
    """
    least, bits = min(losses), 0
    distances, prefixes = [loss - least for loss in losses], [0] * len(losses)
    while True:
        prefixes = _longer_prefixes(prefixes, (choice.bits - bits) // WORD_BITS, source)
        bits = choice.bits
        position = position_of_least_quotient(prefixes, weights_below(distances, choice))
        if position is not None:
            return position
        choice = prepare_choice(choice.rate, bits + WORD_BITS)


def _longer_prefixes(prefixes: list[int], words: int, source: EntropySource) -> list[int]:
    """Each prefix with so many words more, all of which are taken at once."""
    size = words * WORD_BITS // 8
    stream = source.words(words * len(prefixes)).astype(">u8").tobytes()
    return [
        prefix << 8 * size | int.from_bytes(stream[start : start + size], "big")
        for prefix, start in zip(prefixes, range(0, len(stream), size), strict=True)
    ]


def position_of_least_quotient(prefixes: Sequence[int], weights: Sequence[int]) -> int | None:
    """The j with the least U_j/w_j for all U_j with these prefixes and all w_j within their bounds, or None.

    An end x/y is compared by products, so a weight of 0 has the upper end infinity and no step divides.

    >>> position_of_least_quotient([15, 2], [8, 4]), position_of_least_quotient([7, 6], [8, 8])
    (1, None)
    """
    best, prefix, weight = 0, prefixes[0], weights[0]
    for position, (other_prefix, other_weight) in enumerate(zip(prefixes, weights, strict=True)):
        if (other_prefix + 1) * weight < (prefix + 1) * other_weight:
            best, prefix, weight = position, other_prefix, other_weight
    lower_ends_below = sum(
        other_prefix * weight < (prefix + 1) * (other_weight + 2)
        for other_prefix, other_weight in zip(prefixes, weights, strict=True)
    )
    return best if lower_ends_below == 1 else None


def permute_and_flip_law(weights: Sequence[Any]) -> list[Any]:
    """Pr[j] = w_j·∫₀¹ ∏_{i≠j} (1 − w_i·t) dt for weights in [0, 1], one of which is 1: the exact law.

    Given U_j = w_j·t, each other U_i/w_i is above t with probability 1 − w_i·t. The product is a polynomial in t.
    Fractions give fractions; reals and balls give the same.

    >>> [str(p) for p in permute_and_flip_law([Fraction(1), Fraction(1, 2)])]
    ['3/4', '1/4']
    """
    if not weights:
        raise InputError("weights must be at least one, got none", "weights")
    law, zero = [], weights[0] * 0
    for j, weight in enumerate(weights):
        polynomial = [zero + 1]
        for other in [*weights[:j], *weights[j + 1 :]]:
            shifted = [zero, *(other * coefficient for coefficient in polynomial)]
            polynomial = [a - b for a, b in zip([*polynomial, zero], shifted, strict=True)]
        law.append(weight * sum((coefficient / (k + 1) for k, coefficient in enumerate(polynomial)), zero))
    return law
