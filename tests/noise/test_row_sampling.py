"""Rows and channels: exact weights in, exact draws out, one for each of many inputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from strategies import channels
from utmost.channel import Channel, channel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon, exponential
from utmost.mechanisms import geometric
from utmost.noise import ChannelSampler, channel_sampler, draw_channel, draw_row, draw_samples, row_sampler
from utmost.noise.table_sampling import MAX_WORD, WORD_BITS, exact_threshold


@given(channels(), st.data())
@settings(max_examples=60)
def test_a_channel_is_drawn_row_by_row(source: Channel, data: st.DataObject) -> None:
    """The same words through each row's own table give the same answers, also where they fall on a boundary."""
    laws = [row_sampler(list(row)) for row in source.rows]
    boundaries = [int(t) + k for law in laws for t in law.thresholds for k in (-1, 0, 1) if 0 <= int(t) + k <= MAX_WORD]
    word = st.one_of(st.integers(0, MAX_WORD), st.sampled_from([0, MAX_WORD, *boundaries]))
    inputs = data.draw(st.lists(st.integers(0, len(laws) - 1), max_size=12))
    words = [data.draw(word) for _ in inputs]
    single = [int(draw_samples(laws[x], 1, ScriptedWords([w, 5, 5]))[0]) for x, w in zip(inputs, words, strict=True)]
    scripted = ScriptedWords([*words, *([5] * 99)])
    assert draw_channel(source, np.array(inputs, dtype=np.int64), scripted).tolist() == single


def test_a_boundary_word_of_a_channel_takes_one_more() -> None:
    source = channel([["1/3", "2/3"], ["1/2", "1/2"]])
    boundary = 2**64 // 3
    assert draw_channel(source, [0, 1], ScriptedWords([boundary, 2**63 - 1, 0])).tolist() == [0, 0]
    assert draw_channel(source, [0, 1], ScriptedWords([boundary, 2**63, MAX_WORD])).tolist() == [1, 1]
    assert draw_channel(channel([["1"], ["1"]]), [0, 1], ScriptedWords([0, MAX_WORD])).tolist() == [0, 0]


def test_a_channel_takes_as_many_words_whatever_the_inputs() -> None:
    laws = channel_sampler(geometric(20, epsilon("0.1")).channel())
    for inputs in ([0] * 500, [20] * 500, list(range(20)) * 25):
        source = CountedWords(fixed_stream(3))
        draw_channel(laws, inputs, source)
        assert source.taken == 500


def test_a_large_channel_is_drawn_for_many_inputs_at_once() -> None:
    """1000 × 1000 weights, ten rows a hundred times over; 10^5 draws for different inputs; the bench times it."""
    size, shift = 1000, 37
    row = [Fraction(2 * (y + 1), size * (size + 1)) for y in range(size)]
    entries = np.array([row[k * shift :] + row[: k * shift] for k in range(10)], dtype=object)
    ten_rows = channel_sampler(Channel(tuple(range(10)), tuple(range(size)), entries))
    sampler = ChannelSampler(
        np.tile(ten_rows.thresholds, (100, 1)), np.tile(ten_rows.split, (100, 1)), ten_rows.threshold_functions * 100
    )
    inputs = np.arange(10**5) % size
    outputs = draw_channel(sampler, inputs, fixed_stream(11))
    words = fixed_stream(11).words(10**5)
    for k in range(0, 10**5, 9973):
        sums = list(accumulate(entries[inputs[k] % 10]))
        assert outputs[k] == next(y for y, s in enumerate(sums) if Fraction(int(words[k]), 2**WORD_BITS) < s)


@pytest.mark.parametrize(
    "row",
    [
        [Fraction(1, 10**4)] * 10**4,
        geometric(10**4 - 1, alpha("1/2")).law(5000),
        [Fraction(2 * y, 10**4 * (10**4 + 1)) for y in range(1, 10**4 + 1)],
    ],
    ids=["uniform", "geometric", "linear"],
)
def test_a_row_of_ten_thousand_weights_is_set_up_to_the_last_bit(row: list[Fraction]) -> None:
    law = row_sampler(row)
    for y in range(0, 9999, 1111):
        floor, integer = exact_threshold(sum(row[: y + 1], Fraction(0)), WORD_BITS)
        assert (int(law.thresholds[y]), bool(law.split[y])) == (floor, not integer)


def test_a_sum_of_irrational_weights_that_is_dyadic_is_known_to_be() -> None:
    """e^−1/2 + (1/2 − e^−1/2) = 1/2, which no ball can tell from its neighbours."""
    half = exponential(-1) / 2
    law = row_sampler([half, Fraction(1, 2) - half, Fraction(1, 2), Fraction(0)])
    assert int(law.thresholds[1]) == 2**63
    assert law.split.tolist() == [True, False]
    assert draw_samples(law, 3, ScriptedWords([2**63 - 1, 2**63, MAX_WORD])).tolist() == [1, 2, 2]


def test_draws_need_exact_weights_that_sum_to_one() -> None:
    with pytest.raises(InputError, match="exact"):
        draw_row([0.5, 0.5])  # type: ignore[list-item]
    for row in ([Fraction(1, 2)], [], [Fraction(3, 2), Fraction(-1, 2)], [exponential(-1)]):
        with pytest.raises(InputError, match=r"sum|>= 0"):
            draw_row(row)
    with pytest.raises(InputError, match=">= 0"):
        draw_row([-exponential(-1), 1 + exponential(-1)])
    with pytest.raises(InputError, match="exact"):
        draw_channel(Channel((0,), (0,), np.array([[1.0]])), [0])
    assert draw_row([1]) == 0  # type: ignore[list-item]


@pytest.mark.parametrize("inputs", [[2], [-1], [0.5], ["0"], [[0]], [True]])
def test_inputs_are_positions(inputs: list[object]) -> None:
    with pytest.raises(InputError, match="inputs must be"):
        draw_channel(channel([["1/3", "2/3"], ["1/2", "1/2"]]), inputs)  # type: ignore[arg-type]


def test_a_sum_that_its_leading_bits_do_not_decide_is_divided_out() -> None:
    """1/2 − 3^−300 and 1/2 agree in more bits than are looked at first."""
    tiny = Fraction(1, 3**300)
    law = row_sampler([Fraction(1, 2) - tiny, tiny, Fraction(1, 2)])
    assert law.thresholds.tolist() == [2**63 - 1, 2**63]
    assert law.split.tolist() == [True, False]
