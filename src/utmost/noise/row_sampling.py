"""Exact draws from a row of exact weights, and from the rows of a channel."""

from __future__ import annotations

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
from utmost.exact.sums import exact_sum
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, Words, entropy_source
from utmost.noise.table_sampling import (
    WORD_BITS,
    Positions,
    SamplingTable,
    assemble_table,
    clip_thresholds,
    draw_samples,
    settle_ties,
)
from utmost.noise.thresholds import (
    GUARD_BITS,
    Threshold,
    ThresholdFunction,
    ball_threshold,
    complement_threshold,
    exact_threshold,
)

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
