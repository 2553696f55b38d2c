"""Tables: the law drawn is the law given, shown by enumerating what each word decides, not by counting heads."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from strategies import levels, numbers, weights
from utmost.errors import InputError
from utmost.exact import Level, Number, enclosure, exponential, power
from utmost.mechanisms import geometric
from utmost.noise import SamplingTable, draw_samples, row_sampler, sampling_table
from utmost.noise.table_sampling import MAX_WORD, WORD_BITS, complement_threshold, exact_threshold

UNIT = 1 << WORD_BITS
TINY = Fraction(1, 3 * 2**70)
VERY_TINY = Fraction(1, 3**300)  # beyond the leading bits that are looked at first
CROWDED_ROW = [Fraction(1, 2), TINY, TINY, Fraction(0), Fraction(1, 2) - 2 * TINY]


def rows() -> st.SearchStrategy[list[Fraction]]:
    """Rows of one to eight fractions, some of them zero."""
    return st.integers(1, 8).flatmap(lambda size: weights(size))


def range_starts(law: SamplingTable) -> list[int]:
    """First words of the ranges on which a draw's comparisons, with thresholds and buckets, all come out the same."""
    around_thresholds = {int(t) + k for t in law.thresholds for k in (0, 1)}
    bucket_starts = {b << law.shift for b in range(len(law.guide))}
    return sorted({0} | {word for word in around_thresholds | bucket_starts if word <= MAX_WORD})


def answers_by_range(law: SamplingTable) -> list[tuple[int, int, int | None]]:
    """(first word, how many words, the answer they decide or None) for all ranges of words, as `draw` has it."""
    starts = range_starts(law)
    undecided = {int(t) for t in law.thresholds[law.split]}
    decided = [word for word in starts if word not in undecided]
    answer_of = dict(zip(decided, draw_samples(law, len(decided), ScriptedWords(decided)).tolist(), strict=True))
    return [(word, after - word, answer_of.get(word)) for word, after in pairwise([*starts, UNIT])]


def overlap(low: Fraction, high: Fraction, word: int) -> tuple[Fraction, Fraction]:
    """The part of [low, high) that lies within the word, as numbers from 0 to 1 inside it."""
    return max(low * UNIT - word, Fraction(0)), min(high * UNIT - word, Fraction(1))


def shares_of_word(law: SamplingTable, sums: list[Fraction], word: int) -> dict[int, Fraction]:
    """The share of an undecided word that each answer gets; the second word is checked to part them there."""
    shares = {}
    for y, (low, high) in enumerate(pairwise([Fraction(0), *sums])):
        start, end = overlap(low, high, word)
        if start < end:
            shares[y] = end - start
            first, last = math.ceil(start * UNIT), math.floor(end * UNIT) - 1
            for second in {first, last} if first <= last else ():
                assert draw_samples(law, 1, ScriptedWords([word, second])).tolist() == [y]
    return shares


@given(rows())
@example(CROWDED_ROW)
@example([Fraction(1, 2) - VERY_TINY, VERY_TINY, Fraction(1, 2) - VERY_TINY, VERY_TINY])
@example([Fraction(1, 3)] * 3)
@example([Fraction(0), Fraction(1), Fraction(0), Fraction(0)])
@example([Fraction(1, 2**80), 1 - Fraction(2, 2**80), Fraction(1, 2**80)])
@settings(max_examples=60)
def test_the_words_that_decide_each_answer_make_up_its_weight(row: list[Fraction]) -> None:
    """Σ words/2^64 + shares of the undecided words/2^64 = weight, an equality of fractions."""
    law, sums = row_sampler(row), list(accumulate(row))
    mass = dict.fromkeys(range(len(row)), Fraction(0))
    for word, word_count, answer in answers_by_range(law):
        if answer is None:
            assert word_count == 1
            for y, share in shares_of_word(law, sums, word).items():
                mass[y] += share / UNIT
        else:
            mass[answer] += Fraction(word_count, UNIT)
    assert list(mass.values()) == row


@given(levels(), st.integers(1, 12), st.data())
@settings(max_examples=40)
def test_an_irrational_law_is_drawn_within_a_nested_interval_of_it(
    level: Level, size: int, data: st.DataObject
) -> None:
    """Each answer's decided words are a lower bound, and with the undecided ones at its two ends an upper bound."""
    row = geometric(size, level).law(data.draw(st.integers(0, size)))
    law = row_sampler(row)
    decided_words = dict.fromkeys(range(size + 1), 0)
    for _, word_count, answer in answers_by_range(law):
        if answer is not None:
            decided_words[answer] += word_count
    for y, weight in enumerate(row):
        low, high = enclosure(weight, 200)
        assert Fraction(decided_words[y], UNIT) <= high
        assert low <= Fraction(decided_words[y] + 2, UNIT)


@given(rows(), st.integers(0, MAX_WORD), st.integers(-3, 3))
@settings(max_examples=100)
def test_a_word_decides_the_cell_it_lies_in(row: list[Fraction], word: int, first: int) -> None:
    sums = list(accumulate(row))
    cell = next(y for y, s in enumerate(sums) if Fraction(word, UNIT) < s)
    undecided = Fraction(word + 1, UNIT) > sums[cell]
    source = ScriptedWords([word, 0])
    draws = draw_samples(sampling_table(lambda y: sums[y - first], len(row), first), 1, source)
    assert draws.tolist() == [first + cell]
    assert len(source.remaining) == (not undecided)


def test_a_word_on_an_irrational_boundary_takes_more_words_until_they_part() -> None:
    """Weights e^−1 and 1 − e^−1: the floors of e^−1·2^64, ·2^128, ·2^192 hold the boundary; the next words split it."""
    row = [exponential(-1), 1 - exponential(-1)]
    floor = int(enclosure(exponential(-1), 400)[0] * 2**192 // 1)
    first, second, third = floor >> 128, floor >> 64 & MAX_WORD, floor & MAX_WORD
    law = row_sampler(row)
    assert draw_samples(law, 2, ScriptedWords([first - 1, first + 1])).tolist() == [0, 1]
    assert draw_samples(law, 1, ScriptedWords([first, second - 1])).tolist() == [0]
    assert draw_samples(law, 1, ScriptedWords([first, second + 1])).tolist() == [1]
    assert draw_samples(law, 1, ScriptedWords([first, second, third - 1])).tolist() == [0]
    assert draw_samples(law, 1, ScriptedWords([first, second, third + 1])).tolist() == [1]


@given(rows(), st.lists(st.integers(0, MAX_WORD), max_size=40))
@settings(max_examples=50)
def test_a_whole_array_is_drawn_as_one_by_one(row: list[Fraction], words: list[int]) -> None:
    law = row_sampler(row)
    single = [int(draw_samples(law, 1, ScriptedWords([word, 0, 0]))[0]) for word in words]
    assert draw_samples(law, len(words), ScriptedWords([*words, *([0] * 99)])).tolist() == single


@given(numbers(), st.integers(0, 200))
@example(Fraction(3, 4), 2)
@example(power(2, Fraction(1, 2)), 64)
@settings(max_examples=100)
def test_a_threshold_is_the_floor_and_recognises_integers(value: Number, bits: int) -> None:
    floor, integer = exact_threshold(value, bits)
    assert floor <= value * 2**bits < floor + 1
    assert integer == (value * 2**bits == floor)
    assert complement_threshold((floor, integer), bits) == exact_threshold(1 - value, bits)


def test_one_word_a_draw_for_a_large_count_in_several_slabs() -> None:
    source = CountedWords(fixed_stream(7))
    law = row_sampler([Fraction(1, 3), Fraction(2, 3)])
    draws = draw_samples(law, 100_001, source)
    assert source.taken == 100_001
    assert np.array_equal(draws, fixed_stream(7).words(100_001) > MAX_WORD // 3)


def test_a_law_must_end_at_one_and_never_fall() -> None:
    with pytest.raises(InputError, match="end at exactly 1"):
        sampling_table(lambda y: Fraction(1, 2), 2)
    with pytest.raises(InputError, match="at least one"):
        sampling_table(lambda y: Fraction(1), 0)
    with pytest.raises(InputError, match="never fall"):
        sampling_table([Fraction(1, 2), Fraction(1, 4), Fraction(1)].__getitem__, 3)
    with pytest.raises(InputError, match=r"in \[0, 1\]"):
        sampling_table([Fraction(-1, 2), Fraction(1)].__getitem__, 2)
    law = row_sampler([Fraction(1)])
    assert draw_samples(law, 0).tolist() == []
    assert draw_samples(law, 3).tolist() == [0, 0, 0]
    for count in (-1, 2**41):
        with pytest.raises(InputError, match="count must be"):
            draw_samples(law, count)
