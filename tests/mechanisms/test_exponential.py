"""The exponential mechanism: exact weights, ε at most the level, and the factor that monotone scores save."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, fixed_stream
from utmost.channel import least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms.exponential import exponential
from utmost.noise import row_sampler
from utmost.spaces import line, space

LEVELS = st.sampled_from([alpha("1/2"), alpha("1/4"), epsilon("0.1"), epsilon(2)])
SCORES = st.integers(-12, 12).map(lambda k: Fraction(k, 3))


@st.composite
def score_tables(draw: st.DrawFn) -> list[list[Fraction]]:
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(SCORES, min_size=width, max_size=width), min_size=2, max_size=3))


def discrete_space(size: int):
    return space([[int(x != y) for y in range(size)] for x in range(size)])


@given(score_tables(), LEVELS)
@settings(max_examples=40, deadline=None)
def test_inputs_whose_scores_differ_by_the_sensitivity_are_within_the_level(rows, level: Level) -> None:
    gaps = [abs(a - b) for row in rows for other in rows for a, b in zip(row, other, strict=True)]
    mechanism = exponential(rows, level, max(gaps) or 1)
    channel = mechanism.channel()
    assert all(row.sum() == 1 for row in channel.rows)
    assert least_epsilon(channel, discrete_space(len(rows))).within(level)


@given(score_tables(), LEVELS, st.lists(st.integers(0, 3), min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_monotone_scores_need_no_factor_of_two(rows, level: Level, rises: list[int]) -> None:
    """Scores that all rise from one input to the next by at most Δ: half the noise for the same level."""
    first = rows[0]
    second = [score + rise for score, rise in zip(first, rises, strict=False)]
    mechanism = exponential([first, second], level, max(max(rises[: len(first)]), 1), monotone=True)
    assert least_epsilon(mechanism.channel(), discrete_space(2)).within(level)


def test_without_the_factor_scores_that_move_both_ways_break_the_level() -> None:
    """Scores 0, 1, 1 against 1, 0, 0: the first answer's odds move by e·(1 + 2e)/(2 + e) > e."""
    scores = [[0, 1, 1], [1, 0, 0]]
    assert not least_epsilon(exponential(scores, epsilon(1), 1, monotone=True).channel(), discrete_space(2)).within(
        epsilon(1)
    )
    assert least_epsilon(exponential(scores, epsilon(1), 1).channel(), discrete_space(2)).within(epsilon(1))


@given(st.lists(SCORES, min_size=1, max_size=6), st.sampled_from(["0.5", "2"]), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_law_is_the_softmax_of_the_scores(scores: list[Fraction], rate: str, sensitivity: int) -> None:
    weights = np.exp(float(rate) * np.array(scores, dtype=float) / (2 * sensitivity))
    law = [float(p) for p in exponential(scores, epsilon(rate), sensitivity).law(0)]
    assert np.allclose(law, weights / weights.sum(), rtol=1e-12)


def test_distances_for_scores_give_the_matrix_of_another_library() -> None:
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    reference = np.array(qif.mechanism.d_privacy.exponential(5, lambda x, y: abs(int(x) - int(y)) * 0.8))
    channel = exponential([[-abs(x - y) for y in range(5)] for x in range(5)], epsilon("0.8")).channel()
    assert np.allclose(channel.floats(), reference, atol=1e-12)
    assert least_epsilon(channel, line(5)).within(epsilon("0.8"))


def test_draws_have_the_law_and_a_five_per_cent_error_is_detected() -> None:
    """χ² at a false alarm of 1e-6 over 400 000 draws; 5 % off in ε has a non-centrality above 200."""
    from scipy import stats

    scores = [0, 1, 3, 5]
    law = np.array([float(p) for p in exponential(scores, epsilon(2)).law(0)])
    for rate, fits in (("2", True), ("2.1", False)):
        counts = np.bincount(exponential(scores, epsilon(rate)).draw([0] * 400_000), minlength=4)
        assert (stats.chisquare(counts, law * 400_000).pvalue > 1e-6) == fits


def test_each_input_draws_from_its_own_row() -> None:
    mechanism = exponential([[1000, 0], [0, 1000], [0, 1000]], epsilon(50))
    assert mechanism.draw([0, 1, 0, 2]).tolist() == [0, 1, 0, 1]
    assert mechanism.draw([]).tolist() == []


def test_words_do_not_depend_on_the_inputs() -> None:
    mechanism, first, second = (
        exponential([[0, 1, 2], [2, 1, 0]], epsilon(1)),
        CountedWords(fixed_stream(1)),
        CountedWords(fixed_stream(1)),
    )
    mechanism.draw([0] * 100, first)
    mechanism.draw([0, 1] * 50, second)
    assert first.taken == second.taken == 100


def test_alpha_zero_and_epsilon_zero() -> None:
    assert exponential([0, 2, 2], alpha(0)).law(0) == [0, Fraction(1, 2), Fraction(1, 2)]
    assert exponential([0, 2, 2], epsilon(0)).law(0) == [Fraction(1, 3)] * 3


@pytest.mark.parametrize(
    ("scores", "sensitivity", "reason"),
    [
        ([], 1, "scores"),
        ([[1, 2], [1]], 1, "scores"),
        ([1.5], 1, "score must be an exact number"),
        (["nan"], 1, "score"),
        ([1], 0, "sensitivity"),
        ([1], -1, "sensitivity"),
    ],
)
def test_invalid_scores_are_refused(scores, sensitivity: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        exponential(scores, epsilon(1), sensitivity)


@pytest.mark.parametrize("inputs", [[1], [-1], [0.0]])
def test_invalid_inputs_are_refused_before_any_word(inputs) -> None:
    source = CountedWords(fixed_stream(0))
    with pytest.raises(InputError, match="input"):
        exponential([1, 2], epsilon(1)).draw(inputs, source)
    assert source.taken == 0
    with pytest.raises(InputError, match="input"):
        exponential([1, 2], epsilon(1)).law(3)


@pytest.mark.parametrize("scores", [5, "12", [[1], 2], [[1, 2], "34"], ["1e400", 0], [[0, "1e7"]]])
def test_an_invalid_score_table_is_refused_without_its_numbers(scores: object) -> None:
    with pytest.raises(InputError, match=r"scores? must be") as caught:
        exponential(scores, epsilon(1))  # type: ignore[arg-type]
    assert not any(word in str(caught.value) for word in ("1e400", "12", "34", "1e7"))


def test_an_array_of_whole_scores_is_a_table() -> None:
    assert exponential(np.array([[1, 2], [3, 4]]), epsilon(1)) == exponential([[1, 2], [3, 4]], epsilon(1))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-6, 6), min_size=1, max_size=7),
    st.sampled_from([alpha("1/2"), alpha("1/4"), epsilon("1/3"), epsilon(2), epsilon(900)]),
    st.booleans(),
)
def test_the_table_drawn_from_is_that_of_the_law_written_out(scores, level, monotone):
    """Threshold for threshold, equal scores included, where a share is a multiple of 2^-64."""
    mechanism = exponential(scores, level, 1, monotone)
    table, expected = mechanism.table(0), row_sampler(mechanism.law(0))
    assert table.thresholds.tolist() == expected.thresholds.tolist()
    assert table.split.tolist() == expected.split.tolist()
    for y in range(len(scores) - 1):
        assert table.threshold_function(y, 200) == expected.threshold_function(y, 200)


def test_ten_thousand_answers_are_drawn_without_writing_the_law_out():
    mechanism = exponential([-abs(k - 3000) * 100 for k in range(10_000)], epsilon(1), 1)
    assert mechanism.draw([0, 0, 0]).tolist() == [3000, 3000, 3000]


@pytest.mark.parametrize("gap", [1000, 10**5, 10**6])
@pytest.mark.parametrize("level", [epsilon(1), epsilon("999.5")])
def test_a_share_next_to_a_half_is_decided_however_small_the_weight_that_moves_it(gap: int, level: Level) -> None:
    """Weights 1, 1, δ: S_0 = 1/(2 + δ) is below 1/2, S_1 = 2/(2 + δ) below 1; with δ in the middle S_0 is below too."""
    below_half, tie = (2**63 - 1, False), (2**63, True)
    last, middle, mirrored = (
        exponential(scores, level).table(0).threshold_function
        for scores in ([0, 0, -gap], [0, -gap, 0], [0, -gap, -gap, 0])
    )
    assert [last(0, 64), last(1, 64)] == [below_half, (2**64 - 1, False)]
    assert [middle(0, 64), middle(1, 64)] == [below_half, (2**63, False)]
    assert [mirrored(y, 64) for y in range(3)] == [below_half, tie, (2**63, False)]


def test_ties_among_many_different_weights_are_decided_in_seconds() -> None:
    """Worked out symbolically a tie among 3000 weights takes minutes."""
    start = time.process_time()
    table = exponential([-min(k, 2999 - k) for k in range(3000)], epsilon(1)).table(0)
    assert table.threshold_function(1499, 64) == (2**63, True)
    assert [table.threshold_function(y, 64)[0] - 2**63 for y in (1498, 1500)] == [-1, 0]
    assert time.process_time() - start < 10
