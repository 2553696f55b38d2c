"""Exact draws from a finite law, whole arrays at a time.

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
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, integer
from utmost.noise.entropy import EntropySource, Words, entropy_source
from utmost.noise.thresholds import Threshold, ThresholdFunction, exact_threshold

Positions = npt.NDArray[np.int64]

WORD_BITS = 64  # bits revealed at a time
MAX_WORD = (1 << WORD_BITS) - 1
FINEST = 16  # leading bits that the guide looks at, at most
SLAB_DRAWS = 1 << 15  # draws made at a time, so that what they need stays in the cache
LARGEST_COUNT = 1 << 40  # draws asked for at once; more is a mistake


@dataclass(frozen=True, slots=True, eq=False)
class SamplingTable:
    """A law on first … first + len(thresholds), ready to draw from.

    `thresholds[k]` is t_y for y = first + k, as far as S_y < 1; `split[k]` says that a word equal to it is undecided;
    `guide` holds the answer for each value of a word's leading bits, or first − 1 where those do not tell;
    `cuts(y, bits)` are the cumulative weights to any number of bits.
    """

    first: int
    thresholds: Words
    split: npt.NDArray[np.bool_]
    cuts: ThresholdFunction = field(repr=False)
    guide: Positions = field(repr=False)

    @property
    def shift(self) -> int:
        """How many bits of a word the guide does not look at."""
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


def table_from_thresholds(cuts: ThresholdFunction, count: int, first: int = 0) -> SamplingTable:
    """The same from the cuts of the cumulative weights; the last weight is taken to be 1."""
    return assemble_table([cuts(y, WORD_BITS) for y in range(first, first + count - 1)], cuts, first)


def assemble_table(found: Sequence[Threshold], cuts: ThresholdFunction, first: int = 0) -> SamplingTable:
    """The same from cuts that are already known to 64 bits."""
    thresholds, split = clip_thresholds(found)
    inner = sum(floor <= MAX_WORD for floor, _ in found)  # from S_y = 1 on no answer is left
    thresholds, split = thresholds[:inner], split[:inner]
    return SamplingTable(first, thresholds, split, cuts, _guide(thresholds, split, first))


def clip_thresholds(found: Sequence[Threshold]) -> tuple[Words, npt.NDArray[np.bool_]]:
    """Thresholds that fit a word: S_y = 1 becomes the last word, split, so that further words tell U < 1."""
    if any(after[0] < before[0] for before, after in pairwise(found)):
        raise InputError("cumulative weights must never fall: every weight must be >= 0")
    if found and not 0 <= found[0][0] <= found[-1][0] <= MAX_WORD + 1:
        raise InputError("cumulative weights must lie in [0, 1]")
    thresholds = np.array([min(floor, MAX_WORD) for floor, _ in found], dtype=np.uint64)
    split = np.array([not integer or floor > MAX_WORD for floor, integer in found], dtype=np.bool_)
    return thresholds, split


def _guide(thresholds: Words, split: npt.NDArray[np.bool_], first: int) -> Positions:
    """For each bucket of words with the same leading bits their answer, or first − 1 if they do not all share one."""
    bits = min(FINEST, max(8, len(thresholds).bit_length() + 6))
    shift = np.uint64(WORD_BITS - bits)
    lowest = np.arange(1 << bits, dtype=np.uint64) << shift
    answer = np.searchsorted(thresholds, lowest, side="right")
    last = np.searchsorted(thresholds, lowest | np.uint64((1 << int(shift)) - 1), side="right")
    sure = answer == last
    sure[(thresholds[split] >> shift).astype(np.intp)] = False
    return np.where(sure, answer + first, first - 1).astype(np.int64)


def draw_samples(law: SamplingTable, count: int, source: EntropySource | None = None) -> Positions:
    """`count` independent draws from a law.

    One word a draw, and more only for a draw whose first word is undecided, which has probability at most
    len(thresholds)·2^−64.
    """
    result, stream = sample_array(count), entropy_source(source)
    scratch = workspace(len(result))
    for slab in slabs(result):
        fill(law, slab, stream, scratch)
    return result


def sample_array(count: int) -> Positions:
    """An array for `count` draws."""
    size = integer(count, "count")
    if not 0 <= size <= LARGEST_COUNT:
        raise InputError(f"count must be from 0 to 2^40, got {size if abs(size) < 10**30 else 'more'}")
    return np.empty(size, dtype=np.int64)


def workspace(count: int) -> Words:
    """Room for the places of a slab in the guide: made once a call, since new memory costs as much as a draw."""
    return np.empty(min(count, SLAB_DRAWS), dtype=np.uint64)


def slabs(array: Positions) -> list[Positions]:
    """The array in pieces that fit in the cache together with what a draw needs."""
    return [array[start : start + SLAB_DRAWS] for start in range(0, len(array), SLAB_DRAWS)]


def fill(law: SamplingTable, out: Positions, source: EntropySource, scratch: Words) -> npt.NDArray[np.intp]:
    """Fill a slab with draws; returns which of them the guide did not tell."""
    words, places = source.words(len(out)), scratch[: len(out)]
    np.right_shift(words, np.uint64(law.shift), out=places)
    law.guide.take(places.view(np.int64), out=out, mode="clip")
    unsure = (out < law.first).nonzero()[0]
    if len(unsure):
        out[unsure] = searched(law, words[unsure], source)
    return unsure


def searched(law: SamplingTable, words: Words, source: EntropySource) -> Positions:
    """The answers to given first words, by search."""
    above = np.searchsorted(law.thresholds, words, side="right")
    answers = above + law.first
    before = np.maximum(above - 1, 0)
    undecided = (above > 0) & law.split[before] & (law.thresholds[before] == words)
    for k in undecided.nonzero()[0]:
        word = int(words[k])
        run = np.searchsorted(law.thresholds, words[k : k + 1], side="left")[0]
        answers[k] = law.first + run + settle_ties(word, range(law.first + run, law.first + above[k]), law.cuts, source)
    return answers


def settle_ties(word: int, candidates: range, cuts: ThresholdFunction, source: EntropySource) -> int:
    """How many of the candidates y, whose S_y·2^64 all have the floor `word`, have S_y ≤ U: by further words."""
    known, bits = word, WORD_BITS
    while True:
        known, bits = known << WORD_BITS | int(source.words(1)[0]), bits + WORD_BITS
        found = [cuts(y, bits) for y in candidates]
        if not any(floor == known and not integer for floor, integer in found):
            return sum(floor <= known for floor, _ in found)
