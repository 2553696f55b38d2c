"""The staircase mechanism: its law sums to 1, its ε is the level, its width is the best one, its draws are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, fixed_stream
from strategies import levels
from utmost.channel import least_epsilon
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon
from utmost.mechanisms import geometric, untruncated_law
from utmost.mechanisms.staircase import Staircase, staircase, staircase_space
from utmost.spaces import space


@st.composite
def staircases(draw: st.DrawFn, max_sensitivity: int = 5) -> Staircase:
    sensitivity = draw(st.integers(1, max_sensitivity))
    return Staircase(sensitivity, draw(levels()), draw(st.integers(1, sensitivity)))


@given(staircases(), st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_the_law_sums_to_one_and_its_tails_are_closed(mechanism: Staircase, reach: int) -> None:
    inside = sum(mechanism.law(3, range(3 - reach, 3 + reach + 1)), Fraction(0))
    assert inside + 2 * mechanism.tail(reach + 1) == 1
    assert (
        mechanism.tail(reach + 1) - mechanism.tail(reach + 2)
        == mechanism.probability(reach + 1)
        == mechanism.probability(-reach - 1)
    )


@given(staircases(4), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_the_epsilon_of_the_truncated_mechanism_is_at_most_the_level_and_attained(
    mechanism: Staircase, size: int
) -> None:
    loss = least_epsilon(mechanism.truncate(size).channel(), staircase_space(size, mechanism.sensitivity))
    assert loss.within(mechanism.level)
    if size >= 2 * mechanism.sensitivity:
        assert loss.ratio * mechanism.level.alpha == 1


@given(staircases(4), st.integers(0, 7))
@settings(max_examples=30, deadline=None)
def test_the_truncated_law_is_the_clamped_one(mechanism: Staircase, size: int) -> None:
    for x, row in enumerate(mechanism.truncate(size).channel().rows):
        assert row.sum() == 1
        assert list(row) == mechanism.truncate(size).law(x)
        assert list(row[1:-1]) == mechanism.law(x, range(1, size))
        if x and size:
            assert row[0] == mechanism.tail(x)


@pytest.mark.parametrize(("size", "sensitivity"), [(6, 1), (6, 2), (7, 3), (2, 5)])
def test_the_distance_of_neighbours_is_a_metric_made_by_its_edges(size: int, sensitivity: int) -> None:
    counts = staircase_space(size, sensitivity)
    rebuilt = space([[str(d) for d in row] for row in counts.distances])
    assert set(rebuilt.edges) <= set(counts.edges)


@given(levels())
@settings(max_examples=20, deadline=None)
def test_at_sensitivity_one_it_is_the_geometric_mechanism(level: Level) -> None:
    mechanism = staircase(1, level)
    assert mechanism.law(0, range(-4, 5)) == list(untruncated_law(0, range(-4, 5), level))
    assert mechanism.truncate(4).channel() == geometric(4, level).channel()


@given(staircases())
@settings(max_examples=30, deadline=None)
def test_the_expected_error_is_the_sum_it_stands_for(mechanism: Staircase) -> None:
    term_count = mechanism.sensitivity * (int(40 / mechanism.level.epsilon) + 2)
    law = np.array(
        [float(mechanism.top) * float(mechanism.level.alpha) ** (i // mechanism.sensitivity) for i in range(term_count)]
    )
    law[np.arange(term_count) % mechanism.sensitivity >= mechanism.width] *= float(mechanism.level.alpha)
    assert float(mechanism.expected_error()) == pytest.approx(2 * (law * np.arange(term_count)).sum(), rel=1e-9)


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("0.1"), epsilon(4)], ids=str)
def test_the_width_left_out_is_the_best_and_beats_geometric_noise(level: Level) -> None:
    """Geometric noise at ε/Δ a step is Δ-private too, and expects 2β/(1−β²) of error, β = α^(1/Δ)."""
    mechanism = staircase(6, level)
    assert all(mechanism.expected_error() <= Staircase(6, level, r).expected_error() for r in range(1, 7))
    beta = np.exp(-level.epsilon / 6)
    assert float(mechanism.expected_error()) < 2 * beta / (1 - beta**2)


@given(staircases(), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_sign_block_and_offset_with_minus_zero_drawn_again_make_the_law(
    mechanism: Staircase, block: int, offset: int
) -> None:
    """½·Pr[G = k]·Pr[J = j]/(1 − ½·Pr[G = 0]·Pr[J = 0]) is the law at kΔ + j, at 0 too: +0 stays."""
    offset %= mechanism.sensitivity
    weights = [1 if k < mechanism.width else mechanism.level.alpha for k in range(mechanism.sensitivity)]
    total = sum(weights, Fraction(0))
    accepted = (1 - mechanism.level.alpha) * mechanism.level.power(block) * weights[offset] / total / 2
    redrawn = (1 - mechanism.level.alpha) * weights[0] / total / 2
    assert accepted / (1 - redrawn) == mechanism.probability(block * mechanism.sensitivity + offset)


def test_draws_have_the_law_and_a_five_per_cent_error_is_detected() -> None:
    """χ² over −11 … 11 and the two tails, false alarm 1e-6, 200 000 draws; 5 % off is a non-centrality near 500."""
    from scipy import stats

    mechanism = staircase(4, epsilon(1), 2)
    law = [float(mechanism.tail(12)), *(float(p) for p in mechanism.law(0, range(-11, 12))), float(mechanism.tail(12))]
    for rate, fits in (("1", True), ("1.05", False)):
        draws = np.clip(staircase(4, epsilon(rate), 2).draw(np.zeros(200_000, dtype=int)), -12, 12)
        counts = np.bincount(draws + 12, minlength=25)
        assert (stats.chisquare(counts, np.array(law) * 200_000).pvalue > 1e-6) == fits


def test_words_do_not_depend_on_the_inputs_and_the_noise_is_added() -> None:
    mechanism, first, second = (
        staircase(3, epsilon("0.2")),
        CountedWords(fixed_stream(8)),
        CountedWords(fixed_stream(8)),
    )
    zeros, others = mechanism.draw([0] * 300, first), mechanism.draw(np.arange(300), second)
    assert first.taken == second.taken
    assert np.array_equal(zeros + np.arange(300), others)
    clamped = mechanism.truncate(10).draw([5] * 300, CountedWords(fixed_stream(8)))
    assert np.array_equal(clamped, np.clip(zeros + 5, 0, 10))
    assert mechanism.draw([]).shape == (0,)


@pytest.mark.parametrize("sensitivity", [0, -1, 1001, "1/2", "nan"])
def test_an_invalid_sensitivity_is_refused(sensitivity) -> None:
    with pytest.raises(InputError, match="sensitivity"):
        staircase(sensitivity, epsilon(1))


def test_invalid_widths_sizes_levels_and_inputs_are_refused() -> None:
    mechanism, source = staircase(3, epsilon(1)), CountedWords(fixed_stream(0))
    for call, reason in (
        (lambda: staircase(3, epsilon(1), 4), "width"),
        (lambda: staircase(3, epsilon(0)), "level"),
        (lambda: staircase(3, alpha(0)), "level"),
        (lambda: mechanism.truncate(-1), "size"),
        (lambda: mechanism.truncate(501).channel(), "matrix"),
        (lambda: mechanism.truncate(5).law(6), "input"),
        (lambda: mechanism.truncate(5).draw([6], source), "input"),
        (lambda: mechanism.draw([2**60], source), "input"),
        (lambda: mechanism.draw([0.5], source), "input"),
    ):
        with pytest.raises(InputError, match=reason):
            call()
    assert source.taken == 0


@pytest.mark.few
@pytest.mark.parametrize("tiny", ["1e-14", "1e-16", "1e-17", "1e-18", "1e-20"])
def test_huge_noise_does_not_wrap_around(tiny: str) -> None:
    """The median of |N|·ε/Δ is ln 2, the share above 8 is e^−8: of 4000 draws about 1.3, and wrap-around has none.

    The median of 4000 draws is within 0.1 of ln 2 but with a chance below 1e-9 (a deviation of 0.016).
    """
    noise = staircase(1000, epsilon(tiny), 500).noise(4000)
    sizes = sorted(abs(int(n)) * float(epsilon(tiny).epsilon) / 1000 for n in noise)
    assert abs(sizes[2000] - 0.6931) < 0.1
    assert sizes[-1] > 5


def test_a_negative_number_of_draws_is_refused() -> None:
    with pytest.raises(InputError, match="count must"):
        staircase(3, epsilon(1)).noise(-1)
