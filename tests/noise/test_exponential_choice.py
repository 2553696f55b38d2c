"""One draw by e^(−rate·loss): a prefix that is decided is decided rightly, and no tie takes longer than none."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from utmost.exact import exponential
from utmost.noise.row_sampling import (
    PreparedChoice,
    draw_exponential_choice,
    position_of_prefix,
    prepare_choice,
    weight_sums,
    weights_below,
)

RATES = st.sampled_from([Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(500)])
LOSSES = st.lists(st.integers(0, 4) | st.sampled_from([10**6, 10**30]), min_size=1, max_size=5)
ALL_ONES, HALF_WORD = 2**64 - 1, 2**63


def shares(losses: list[int], rate: Fraction) -> list:
    """0 and the exact S_j; a weight below e^−400 is given that, which no prefix of a few bits can tell."""
    least = min(losses)
    weights = [exponential(-min(rate * (loss - least), Fraction(400))) for loss in losses]
    total = sum(weights, Fraction(0))
    return [Fraction(0), *(part / total for part in accumulate(weights[:-1])), Fraction(1)]


@settings(max_examples=60, deadline=None)
@given(LOSSES, RATES, st.integers(1, 7))
def test_every_prefix_that_is_decided_has_the_answer_of_all_its_numbers(losses, rate, bits) -> None:
    """S_{j−1} ≤ prefix/2^bits and (prefix + 1)/2^bits ≤ S_j, over all prefixes: so the law drawn is the exact law."""
    sums, exact = weight_sums(losses, prepare_choice(rate, bits)), shares(losses, rate)
    answers = [position_of_prefix(prefix, bits, sums) for prefix in range(1 << bits)]
    for prefix, answer in enumerate(answers):
        if answer is not None:
            assert exact[answer] <= Fraction(prefix, 1 << bits)
            assert Fraction(prefix + 1, 1 << bits) <= exact[answer + 1]
    assert answers.count(None) <= 4 * len(losses) ** 2 + len(losses)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 10**4), min_size=1, max_size=4), RATES, st.integers(1, 300))
def test_weights_lie_within_two_units_above_their_integers(distances, rate, bits) -> None:
    for distance, below in zip(distances, weights_below(distances, prepare_choice(rate, bits)), strict=True):
        assert below <= exponential(-rate * distance) * 2**bits <= below + 2


def test_an_undecided_prefix_takes_one_word_more_and_both_sides_of_a_tie_are_met() -> None:
    """S_1 = 1/2 between irrational weights: U next to it is decided by whether it is below."""
    below = ScriptedWords([HALF_WORD - 1, ALL_ONES, ALL_ONES, ALL_ONES, 0])
    above = ScriptedWords([HALF_WORD, 0, 0, 0, ALL_ONES])
    assert draw_exponential_choice([0, 1, 0, 1], prepare_choice(Fraction(1)), below) == 1
    assert draw_exponential_choice([0, 1, 0, 1], prepare_choice(Fraction(1)), above) == 2
    assert below.remaining == above.remaining == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 10**20), min_size=1, max_size=50), RATES, st.integers(0, 1000))
def test_the_words_taken_do_not_depend_on_the_losses(losses, rate, seed) -> None:
    source = CountedWords(fixed_stream(seed))
    draw_exponential_choice(losses, prepare_choice(rate), source)
    assert source.taken == 4


def least_seconds(losses: list[int], choice: PreparedChoice) -> float:
    """The CPU seconds of a draw, the least of several: what else the machine does only adds to them."""

    def seconds() -> float:
        start = time.process_time()
        draw_exponential_choice(losses, choice, fixed_stream(1))
        return time.process_time() - start

    return min(seconds() for _ in range(7))


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(1234567, 98765432100), Fraction(500)], ids=str)
def test_the_time_of_a_draw_does_not_depend_on_the_losses(rate: Fraction) -> None:
    """All equal, as without any row; two values; all different; and huge."""
    size, choice = 5000, prepare_choice(rate)
    cases = [
        [0] * size,
        [k % 2 for k in range(size)],
        list(range(size)),
        [10**30 * (k > 300) for k in range(size)],
        [k**4 for k in range(size)],
    ]
    seconds = [math.inf] * len(cases)
    for _ in range(8):  # a busy machine needs several turns until each case has had a quiet moment
        seconds = [min(least, least_seconds(losses, choice)) for least, losses in zip(seconds, cases, strict=True)]
        if max(seconds) < 1.5 * min(seconds):
            break
    assert max(seconds) < 1.5 * min(seconds)


def test_every_entry_of_the_tables_has_the_same_number_of_bits() -> None:
    for rate in (Fraction(1, 10**30), Fraction(1, 3), Fraction(10**300)):
        choice = prepare_choice(rate)
        assert {factor.bit_length() for table in choice.tables for factor, _ in table} == {choice.width}


def test_frequencies_are_those_of_the_law() -> None:
    """20 000 draws of a fixed stream, within five standard deviations."""
    source, losses, counts = fixed_stream(7), [0, 2, 1, 0], [0] * 4
    choice = prepare_choice(Fraction(1))
    law = [float(after - before) for before, after in pairwise(shares(losses, Fraction(1)))]
    for _ in range(20_000):
        counts[draw_exponential_choice(losses, choice, source)] += 1
    for count, probability in zip(counts, law, strict=True):
        assert abs(count - 20_000 * probability) < 5 * (20_000 * probability * (1 - probability)) ** 0.5
