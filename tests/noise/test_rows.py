"""Draws: the law drawn is the law given, shown by enumerating words, not by counting heads."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import levels, weights
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, enclosure, epsilon, exponential
from utmost.mechanisms import geometric
from utmost.noise import draw, draw_row
from utmost.noise.rows import WORD


def script(words: list[int]) -> tuple[Iterator[int], object]:
    """A source of bits that plays given words and then fails."""
    stream = iter(words)
    return stream, lambda count: next(stream) if count == WORD else pytest.fail("asked for another number of bits")


@given(st.integers(1, 6).flatmap(lambda size: weights(size)), st.integers(0, 2**WORD - 1))
@settings(max_examples=200)
def test_a_word_inside_a_cell_decides_that_cell(row: list[Fraction], word: int) -> None:
    sums = list(accumulate(row))
    cell = next(y for y, s in enumerate(sums) if Fraction(word, 2**WORD) < s)
    undecided = Fraction(word + 1, 2**WORD) > sums[cell]
    words, bits = script([word, 0])
    assert draw_row(row, bits) == cell
    assert (next(words, None) is None) == undecided


@given(st.integers(2, 6).flatmap(lambda size: weights(size)))
@settings(max_examples=100)
def test_the_mass_of_words_that_decide_each_cell_is_the_row_up_to_the_undecided_ones(row: list[Fraction]) -> None:
    """Cell y is decided by the words in [⌈S_{y−1}·2^64⌉, ⌊S_y·2^64⌋); what is left over takes more bits."""
    sums = [Fraction(0), *accumulate(row)]
    for y, weight in enumerate(row):
        first, last = -(-sums[y] * 2**WORD // 1), sums[y + 1] * 2**WORD // 1
        assert abs(max(last - first, 0) - weight * 2**WORD) < 2
        if last > first:
            for word in (int(first), int(last) - 1):
                assert draw_row(row, script([word])[1]) == y


def test_a_word_on_an_irrational_boundary_takes_more_bits() -> None:
    """Weights e^−1 and 1 − e^−1: the one word that holds the boundary is split by the next."""
    row = [exponential(-1), 1 - exponential(-1)]
    word = _floor_word(exponential(-1))
    assert draw_row(row, script([word - 1])[1]) == 0
    assert draw_row(row, script([word + 1])[1]) == 1
    words, bits = script([word, 0])
    assert draw_row(row, bits) == 0
    assert next(words, None) is None
    assert draw_row(row, script([word, 2**WORD - 1])[1]) == 1


def _floor_word(value: Number) -> int:
    low, high = enclosure(value, 200)
    assert low * 2**WORD // 1 == high * 2**WORD // 1
    return int(low * 2**WORD // 1)


@given(levels(), st.integers(1, 8), st.data())
@settings(max_examples=60)
def test_the_geometric_law_drawn_is_its_row(level: Level, size: int, data: st.DataObject) -> None:
    mechanism = geometric(size, level)
    x = data.draw(st.integers(0, size))
    cumulative = list(accumulate(mechanism.law(x)))
    assert [mechanism.cumulative(x, y) for y in range(size + 1)] == cumulative
    word = data.draw(st.integers(0, 2**WORD - 1))
    drawn = mechanism.draw([x], script([word, 0, 0])[1])[0]
    low = Fraction(word, 2**WORD)
    assert low < cumulative[drawn]
    assert drawn == 0 or cumulative[drawn - 1] <= low


def test_a_wrong_scale_would_be_seen() -> None:
    """Statistical: 4000 draws at α = 1/2, the centre's share is 1/3 with a deviation of 0.0075.

    A false alarm beyond 6 deviations has probability below 2e-9; a noise scale 5 % wrong in ε moves the share
    by 0.016, so it is the enumeration above that tells such errors, and this one only a gross failure of the source.
    """
    answers = geometric(10, alpha("1/2")).draw([5] * 4000)
    assert abs(answers.count(5) / 4000 - 1 / 3) < 0.045
    assert set(answers) <= set(range(11))


def test_draws_need_exact_weights_that_sum_to_one() -> None:
    with pytest.raises(InputError, match="exact"):
        draw_row([0.5, 0.5])  # type: ignore[list-item]
    with pytest.raises(InputError, match="sum"):
        draw_row([Fraction(1, 2)])
    with pytest.raises(InputError, match="sum"):
        draw_row([])
    assert draw(lambda y: Fraction(1), 1) == 0
    with pytest.raises(InputError):
        geometric(5, epsilon(1)).draw([6])
