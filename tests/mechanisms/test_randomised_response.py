"""Randomised response and its dual: closed forms, exact ε, and draws by a shift."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, fixed_stream
from strategies import channels, levels
from utmost.channel import Channel, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms.randomised_response import RandomisedResponse, pairwise_privacy_loss, response, response_dual
from utmost.spaces import Space, space

MAKERS = pytest.mark.parametrize("make", [response, response_dual])


def discrete_space(size: int) -> Space:
    return space([[int(x != y) for y in range(size)] for x in range(size)])


@MAKERS
@given(level=levels(), size=st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_the_epsilon_is_exactly_the_level_for_every_pair(make, level: Level, size: int) -> None:
    channel = make(size, level).channel()
    assert least_epsilon(channel, discrete_space(size)).ratio * level.alpha == 1
    assert all(row.sum() == 1 for row in channel.rows)
    assert [list(row) for row in channel.rows] == [make(size, level).law(x) for x in range(size)]
    for x in range(1, size):
        pair = trusted_channel((0, 1), channel.outputs, channel.rows[[0, x]])
        assert least_epsilon(pair, discrete_space(2)).ratio * level.alpha == 1


@given(channels())
@settings(max_examples=100, deadline=None)
def test_the_widest_column_is_the_least_epsilon_of_the_discrete_metric(channel: Channel) -> None:
    loss = least_epsilon(channel, discrete_space(len(channel.inputs)))
    assert pairwise_privacy_loss(channel).ratio == loss.ratio


@pytest.mark.parametrize("size", [2, 3, 7])
def test_randomised_response_is_that_of_another_library(size: int) -> None:
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    reference = np.array(qif.mechanism.d_privacy.randomized_response(size, 0.7))
    assert np.allclose(response(size, epsilon("0.7")).channel().floats(), reference, atol=1e-12)


def test_the_matrices_of_the_paper() -> None:
    """FMPD23 §VI-B at e^ε = 2, three values: k = 2 and m = 5. Capacities 3/2 and 2/5 as in its Table 5a."""
    assert response(3, alpha("1/2")).channel().row(0).tolist() == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    dual = response_dual(3, alpha("1/2")).channel()
    assert dual.row(0).tolist() == [Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)]
    assert response(3, alpha("1/2")).channel().rows.max(axis=0).sum() == Fraction(3, 2)
    assert 1 - dual.rows.min(axis=0).sum() == Fraction(2, 5)


@MAKERS
@given(level=levels(), size=st.integers(2, 8), x=st.integers(0, 7))
@settings(max_examples=30, deadline=None)
def test_a_shift_that_is_zero_with_the_truth_s_probability_and_else_uniform_has_the_law(make, level, size, x) -> None:
    mechanism: RandomisedResponse = make(size, level)
    shift_law = dict.fromkeys(range(1, size), (1 - mechanism.truth) / (size - 1)) | {0: mechanism.truth}
    assert [shift_law[(y - x % size) % size] for y in range(size)] == mechanism.law(x % size)


@MAKERS
def test_draws_have_the_law_and_a_five_per_cent_error_is_detected(make) -> None:
    """χ² at a false alarm of 1e-6; 400 000 draws. A level of 1.05·ε gives a non-centrality above 100 in both cases."""
    from scipy import stats

    level, wrong = epsilon(2), epsilon("2.1")
    law = [float(p) for p in make(4, level).law(1)]
    for used, fits in ((level, True), (wrong, False)):
        counts = np.bincount(make(4, used).draw([1] * 400_000), minlength=4)
        assert (stats.chisquare(counts, np.array(law) * 400_000).pvalue > 1e-6) == fits


@MAKERS
def test_words_do_not_depend_on_the_inputs_nor_do_shifts(make) -> None:
    mechanism, first, second = make(10, epsilon(1)), CountedWords(fixed_stream(4)), CountedWords(fixed_stream(4))
    zeros, others = mechanism.draw([0] * 500, first), mechanism.draw(np.arange(500) % 10, second)
    assert first.taken == second.taken
    assert np.array_equal((zeros + np.arange(500)) % 10, others)


@MAKERS
def test_one_value_and_the_levels_alpha_zero_and_one(make) -> None:
    assert make(1, alpha("1/2")).draw([0, 0]).tolist() == [0, 0]
    assert make(1, alpha(0)).channel().rows.tolist() == [[1]]
    assert pairwise_privacy_loss(make(3, alpha(0)).channel()).ratio is None
    assert pairwise_privacy_loss(make(3, alpha(1)).channel()).ratio == 1
    assert make(4, alpha("1/2")).draw([]).shape == (0,)
    assert response(3, alpha(0)).draw([0, 1, 2]).tolist() == [0, 1, 2]


@MAKERS
def test_small_integer_types_do_not_wrap_around(make) -> None:
    values = np.array([100, 127], dtype=np.int8)
    assert (
        make(1000, epsilon(1)).draw(values, fixed_stream(3)).tolist()
        == make(1000, epsilon(1)).draw([100, 127], fixed_stream(3)).tolist()
    )


@MAKERS
def test_large_alphabets_are_drawn_from_without_a_matrix(make) -> None:
    mechanism = make(10**5, epsilon(12))
    answers = mechanism.draw(np.arange(1000))
    assert answers.min() >= 0
    assert answers.max() < 10**5
    with pytest.raises(InputError, match="matrix"):
        mechanism.channel()


@MAKERS
@pytest.mark.parametrize("inputs", [[3], [-1], [0.0], ["a"], [[0], [1]], [True]])
def test_invalid_values_are_refused_before_any_word(make, inputs: list[object]) -> None:
    source = CountedWords(fixed_stream(0))
    with pytest.raises(InputError, match="input"):
        make(3, epsilon(1)).draw(inputs, source)
    assert source.taken == 0


@MAKERS
@pytest.mark.parametrize("size", [0, -1, 10**9, "x"])
def test_an_invalid_size_is_refused(make, size: object) -> None:
    with pytest.raises(InputError, match="size"):
        make(size, epsilon(1))
