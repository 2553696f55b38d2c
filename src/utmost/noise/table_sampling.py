"""Exact draws from a finite law, whole arrays at a time, by the thresholds of its cumulative weights.

The threshold of a cumulative weight S: ⌊S·2^bits⌋, S exact, and whether S·2^bits is an integer.

A fraction answers by division. An irrational number answers by balls: a ball around S·2^bits that holds no integer
decides both questions. One that holds an integer is made narrower; if that does not help the number is worked out
exactly, since only a fraction can be an integer multiple of 2^−bits.

A uniform number U in [0, 1) is revealed 64 bits at a time, and the answer is the y with S_{y−1} ≤ U < S_y, S the
cumulative weights. The first word w says w ≤ U·2^64 < w + 1. With t_y = ⌊S_y·2^64⌋,

* w < t_y says U < S_y, and w > t_y says S_y ≤ U;
* w = t_y says S_y ≤ U if S_y·2^64 is an integer, and nothing if it is not: then further words are taken and compared
  with S_y to that many bits.

So the answer is the number of t_y ≤ w, unless w is the floor of an S_y that is no multiple of 2^−64. At most one word
in 2^64 for each y is undecided, and those are decided exactly: the law drawn is the law given, and no float is
involved. A guide on the leading bits holds the answer for every bucket of words that no t_y cuts, so that almost every
draw is one shift and one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, ball, ball_endpoints, integer
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, Words, entropy_source
from utmost.result_values import short_repr

if TYPE_CHECKING:
    from flint import arb

Threshold: TypeAlias = tuple[int, bool]  # (⌊S·2^bits⌋, is S·2^bits an integer)
ThresholdFunction: TypeAlias = Callable[[int, int], Threshold]  # (y, bits) → the threshold of S_y

GUARD_BITS = 192  # beyond those requested; a number that they leave undecided is almost surely a fraction
MAX_NARROWINGS = 4  # doublings of the precision before the number is worked out exactly
MAX_PRECISION_BITS = 1 << 20


def exact_threshold(value: Number, bits: int) -> Threshold:
    """The threshold of an exact number.

    >>> exact_threshold(Fraction(1, 3), 4), exact_threshold(Fraction(1, 4), 4)
    ((5, False), (4, True))
    """
    if isinstance(value, Fraction):
        floor, remainder = divmod(value.numerator << bits, value.denominator)
        return floor, not remainder
    return ball_threshold(partial(ball, value), lambda: value, bits)


def ball_threshold(enclose: Callable[[int], arb], exact: Callable[[], Number], bits: int) -> Threshold:
    """The threshold of a number known by a ball of any precision; `exact` is called only if balls do not decide."""
    precision, narrowings = bits + GUARD_BITS, 0
    while precision <= MAX_PRECISION_BITS:
        threshold = threshold_in_ball(enclose(precision), bits)
        if threshold is not None:
            return threshold
        precision, narrowings = 2 * precision, narrowings + 1
        if narrowings == MAX_NARROWINGS and isinstance(value := exact(), Fraction):
            return exact_threshold(value, bits)
    raise UndecidedError(f"where a weight cuts the words is not decided by {MAX_PRECISION_BITS} bits")


def complement_threshold(threshold: Threshold, bits: int) -> Threshold:
    """The threshold of 1 − S from that of S.

    >>> complement_threshold(exact_threshold(Fraction(1, 3), 4), 4) == exact_threshold(Fraction(2, 3), 4)
    True
    """
    floor, integer = threshold
    return (1 << bits) - floor - (not integer), integer


def threshold_in_ball(interval: arb, bits: int) -> Threshold | None:
    """The threshold of a number in a ball that is a point or holds no integer when scaled by 2^bits; else None."""
    from flint import arb

    if interval.is_exact():
        return exact_threshold(ball_endpoints(interval)[0], bits)
    with working_precision(max(interval.bits(), 64) + bits + 64):
        scaled = interval * arb(1 << bits)
        floor = None if scaled.contains_integer() else scaled.floor().unique_fmpz()
    return None if floor is None else (int(floor), False)


Positions = npt.NDArray[np.int64]

WORD_BITS = 64  # bits revealed at a time
MAX_WORD = (1 << WORD_BITS) - 1
MAX_GUIDE_BITS = 16  # leading bits of a word that the guide reads, at most
SLAB_DRAWS = 1 << 15  # computed at a time, so that what they need stays in the cache
MAX_DRAWS = 1 << 40  # in one call; more is a mistake


@dataclass(frozen=True, slots=True, eq=False)
class SamplingTable:
    """A law on first … first + len(thresholds), ready to draw from.

    `thresholds[k]` is t_y for y = first + k, as far as S_y < 1; `split[k]` says that a word equal to it is undecided;
    `guide` holds the answer for each value of a word's leading bits, or first − 1 where those do not decide;
    `threshold_function(y, bits)` are the cumulative weights to any number of bits.
    """

    __repr__ = short_repr

    first: int
    thresholds: Words
    split: npt.NDArray[np.bool_]
    threshold_function: ThresholdFunction = field(repr=False)
    guide: Positions = field(repr=False)

    @property
    def shift(self) -> int:
        """How many bits of a word the guide does not read."""
        return WORD_BITS + 1 - len(self.guide).bit_length()


def sampling_table(cumulative: Callable[[int], Number], count: int, first: int = 0) -> SamplingTable:
    """The law on first … first+count−1 with Pr[answer ≤ y] = cumulative(y), which never falls and ends at exactly 1.

    >>> from fractions import Fraction
    >>> draw_samples(sampling_table(lambda y: Fraction(y >= 1), 3), 4).tolist()
    [1, 1, 1, 1]
    """
    if count < 1 or cumulative(first + count - 1) != 1:
        raise InputError("a law to draw from must have at least one value and cumulative weights that end at exactly 1")
    return table_from_thresholds(lambda y, bits: exact_threshold(cumulative(y), bits), count, first)


def table_from_thresholds(threshold_function: ThresholdFunction, count: int, first: int = 0) -> SamplingTable:
    """The same from the thresholds of the cumulative weights; the last weight is taken to be 1."""
    return assemble_table(
        [threshold_function(y, WORD_BITS) for y in range(first, first + count - 1)], threshold_function, first
    )


def assemble_table(
    exact_thresholds: Sequence[Threshold], threshold_function: ThresholdFunction, first: int = 0
) -> SamplingTable:
    """The same from thresholds that are already computed to 64 bits."""
    thresholds, split = clip_thresholds(exact_thresholds)
    inner_count = sum(floor <= MAX_WORD for floor, _ in exact_thresholds)  # from S_y = 1 on no answer is left
    thresholds, split = thresholds[:inner_count], split[:inner_count]
    return SamplingTable(first, thresholds, split, threshold_function, _guide(thresholds, split, first))


def clip_thresholds(exact_thresholds: Sequence[Threshold]) -> tuple[Words, npt.NDArray[np.bool_]]:
    """Thresholds that fit a word: S_y = 1 becomes the last word, split, so that further words decide U < 1."""
    if any(after[0] < before[0] for before, after in pairwise(exact_thresholds)):
        raise InputError("cumulative weights must never fall: every weight must be >= 0")
    if exact_thresholds and not 0 <= exact_thresholds[0][0] <= exact_thresholds[-1][0] <= MAX_WORD + 1:
        raise InputError("cumulative weights must lie in [0, 1]")
    thresholds = np.array([min(floor, MAX_WORD) for floor, _ in exact_thresholds], dtype=np.uint64)
    split = np.array([not integer or floor > MAX_WORD for floor, integer in exact_thresholds], dtype=np.bool_)
    return thresholds, split


def _guide(thresholds: Words, split: npt.NDArray[np.bool_], first: int) -> Positions:
    """For each bucket of words with the same leading bits their answer, or first − 1 if they do not all share one."""
    bits = min(MAX_GUIDE_BITS, max(8, len(thresholds).bit_length() + 6))
    shift = np.uint64(WORD_BITS - bits)
    lowest = np.arange(1 << bits, dtype=np.uint64) << shift
    answer = np.searchsorted(thresholds, lowest, side="right")
    last = np.searchsorted(thresholds, lowest | np.uint64((1 << int(shift)) - 1), side="right")
    is_decided = answer == last
    is_decided[(thresholds[split] >> shift).astype(np.intp)] = False
    return np.where(is_decided, answer + first, first - 1).astype(np.int64)


def draw_samples(law: SamplingTable, count: int, source: EntropySource | None = None) -> Positions:
    """`count` independent draws from a law.

    One word a draw, and more only for a draw whose first word is undecided, which has probability at most
    len(thresholds)·2^−64.
    """
    result, stream = np.empty(check_draw_count(count), dtype=np.int64), entropy_source(source)
    scratch = workspace(len(result))
    for slab in slabs(result):
        fill_slab(law, slab, stream, scratch)
    return result


def check_draw_count(count: int) -> int:
    """A number of draws, from 0 to 2^40."""
    size = integer(count, "count")
    if not 0 <= size <= MAX_DRAWS:
        raise InputError(f"count must be from 0 to 2^40, got {size if abs(size) < 10**30 else 'more'}", "count")
    return size


def workspace(count: int) -> Words:
    """An array for the guide indices of a slab: allocated once a call, since new memory costs as much as a draw."""
    return np.empty(min(count, SLAB_DRAWS), dtype=np.uint64)


def slabs(array: Positions) -> list[Positions]:
    """The array in pieces that fit in the cache together with what a draw needs."""
    return [array[start : start + SLAB_DRAWS] for start in range(0, len(array), SLAB_DRAWS)]


def fill_slab(law: SamplingTable, out: Positions, source: EntropySource, scratch: Words) -> npt.NDArray[np.intp]:
    """Fill a slab with draws; returns which of them the guide did not decide."""
    words, guide_indices = source.words(len(out)), scratch[: len(out)]
    np.right_shift(words, np.uint64(law.shift), out=guide_indices)
    law.guide.take(guide_indices.view(np.int64), out=out, mode="clip")
    unguided = (out < law.first).nonzero()[0]
    if len(unguided):
        out[unguided] = search_answers(law, words[unguided], source)
    return unguided


def search_answers(law: SamplingTable, words: Words, source: EntropySource) -> Positions:
    """The answers to given first words, by search."""
    counts = np.searchsorted(law.thresholds, words, side="right")
    answers = counts + law.first
    before = np.maximum(counts - 1, 0)
    undecided = (counts > 0) & law.split[before] & (law.thresholds[before] == words)
    for k in undecided.nonzero()[0]:
        word = int(words[k])
        run = np.searchsorted(law.thresholds, words[k : k + 1], side="left")[0]
        answers[k] = (
            law.first
            + run
            + settle_ties(word, range(law.first + run, law.first + counts[k]), law.threshold_function, source)
        )
    return answers


def settle_ties(word: int, candidates: range, threshold_function: ThresholdFunction, source: EntropySource) -> int:
    """How many of the candidates y, whose S_y·2^64 all have the floor `word`, have S_y ≤ U: by further words."""
    prefix, bits = word, WORD_BITS
    while True:
        prefix, bits = prefix << WORD_BITS | int(source.words(1)[0]), bits + WORD_BITS
        thresholds = [threshold_function(y, bits) for y in candidates]
        if not any(floor == prefix and not integer for floor, integer in thresholds):
            return sum(floor <= prefix for floor, _ in thresholds)
