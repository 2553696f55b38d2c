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
def staircases(draw: st.DrawFn, most: int = 5) -> Staircase:
    span = draw(st.integers(1, most))
    return Staircase(span, draw(levels()), draw(st.integers(1, span)))


@given(staircases(), st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_the_law_sums_to_one_and_its_tails_are_closed(made: Staircase, reach: int) -> None:
    inside = sum(made.law(3, range(3 - reach, 3 + reach + 1)), Fraction(0))
    assert inside + 2 * made.tail(reach + 1) == 1
    assert made.tail(reach + 1) - made.tail(reach + 2) == made.probability(reach + 1) == made.probability(-reach - 1)


@given(staircases(4), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_the_epsilon_of_the_truncated_mechanism_is_at_most_the_level_and_attained(made: Staircase, size: int) -> None:
    leak = least_epsilon(made.truncated(size).channel(), staircase_space(size, made.sensitivity))
    assert leak.within(made.level)
    if size >= 2 * made.sensitivity:
        assert leak.ratio * made.level.alpha == 1


@given(staircases(4), st.integers(0, 7))
@settings(max_examples=30, deadline=None)
def test_the_truncated_law_is_the_clamped_one(made: Staircase, size: int) -> None:
    for x, row in enumerate(made.truncated(size).channel().rows):
        assert row.sum() == 1
        assert list(row) == made.truncated(size).law(x)
        assert list(row[1:-1]) == made.law(x, range(1, size))
        if x and size:
            assert row[0] == made.tail(x)


@pytest.mark.parametrize(("size", "span"), [(6, 1), (6, 2), (7, 3), (2, 5)])
def test_the_distance_of_neighbours_is_a_metric_made_by_its_edges(size: int, span: int) -> None:
    found = staircase_space(size, span)
    checked = space([[str(d) for d in row] for row in found.distances])
    assert set(checked.edges) <= set(found.edges)


@given(levels())
@settings(max_examples=20, deadline=None)
def test_at_sensitivity_one_it_is_the_geometric_mechanism(level: Level) -> None:
    made = staircase(1, level)
    assert made.law(0, range(-4, 5)) == list(untruncated_law(0, range(-4, 5), level))
    assert made.truncated(4).channel() == geometric(4, level).channel()


@given(staircases())
@settings(max_examples=30, deadline=None)
def test_the_expected_error_is_the_sum_it_stands_for(made: Staircase) -> None:
    far = made.sensitivity * (int(40 / made.level.epsilon) + 2)
    law = np.array([float(made.top) * float(made.level.alpha) ** (i // made.sensitivity) for i in range(far)])
    law[np.arange(far) % made.sensitivity >= made.width] *= float(made.level.alpha)
    assert float(made.expected_error()) == pytest.approx(2 * (law * np.arange(far)).sum(), rel=1e-9)


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("0.1"), epsilon(4)], ids=str)
def test_the_width_left_out_is_the_best_and_beats_geometric_noise(level: Level) -> None:
    """Geometric noise at ε/Δ a step is Δ-private too, and expects 2β/(1−β²) of error, β = α^(1/Δ)."""
    made = staircase(6, level)
    assert all(made.expected_error() <= Staircase(6, level, r).expected_error() for r in range(1, 7))
    beta = np.exp(-level.epsilon / 6)
    assert float(made.expected_error()) < 2 * beta / (1 - beta**2)


@given(staircases(), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_sign_block_and_place_with_minus_zero_drawn_again_make_the_law(made: Staircase, block: int, place: int) -> None:
    """½·Pr[G = k]·Pr[J = j]/(1 − ½·Pr[G = 0]·Pr[J = 0]) is the law at kΔ + j, at 0 too: +0 stays."""
    place %= made.sensitivity
    weights = [1 if k < made.width else made.level.alpha for k in range(made.sensitivity)]
    total = sum(weights, Fraction(0))
    stays = (1 - made.level.alpha) * made.level.power(block) * weights[place] / total / 2
    again = (1 - made.level.alpha) * weights[0] / total / 2
    assert stays / (1 - again) == made.probability(block * made.sensitivity + place)


def test_draws_have_the_law_and_a_five_per_cent_error_would_be_seen() -> None:
    """χ² over −11 … 11 and the two tails, false alarm 1e-6, 200 000 draws; 5 % off is a non-centrality near 500."""
    from scipy import stats

    made = staircase(4, epsilon(1), 2)
    law = [float(made.tail(12)), *(float(p) for p in made.law(0, range(-11, 12))), float(made.tail(12))]
    for rate, fits in (("1", True), ("1.05", False)):
        drawn = np.clip(staircase(4, epsilon(rate), 2).draw(np.zeros(200_000, dtype=int)), -12, 12)
        counts = np.bincount(drawn + 12, minlength=25)
        assert (stats.chisquare(counts, np.array(law) * 200_000).pvalue > 1e-6) == fits


def test_words_do_not_depend_on_the_inputs_and_the_noise_is_added() -> None:
    made, first, second = staircase(3, epsilon("0.2")), CountedWords(fixed_stream(8)), CountedWords(fixed_stream(8))
    zeros, others = made.draw([0] * 300, first), made.draw(np.arange(300), second)
    assert first.taken == second.taken
    assert np.array_equal(zeros + np.arange(300), others)
    clamped = made.truncated(10).draw([5] * 300, CountedWords(fixed_stream(8)))
    assert np.array_equal(clamped, np.clip(zeros + 5, 0, 10))
    assert made.draw([]).shape == (0,)


@pytest.mark.parametrize("sensitivity", [0, -1, 1001, "1/2", "nan"])
def test_a_foolish_sensitivity_is_refused(sensitivity) -> None:
    with pytest.raises(InputError, match="sensitivity"):
        staircase(sensitivity, epsilon(1))


def test_foolish_widths_sizes_levels_and_inputs_are_refused() -> None:
    made, source = staircase(3, epsilon(1)), CountedWords(fixed_stream(0))
    for call, names in (
        (lambda: staircase(3, epsilon(1), 4), "width"),
        (lambda: staircase(3, epsilon(0)), "level"),
        (lambda: staircase(3, alpha(0)), "level"),
        (lambda: made.truncated(-1), "size"),
        (lambda: made.truncated(501).channel(), "matrix"),
        (lambda: made.truncated(5).law(6), "input"),
        (lambda: made.truncated(5).draw([6], source), "input"),
        (lambda: made.draw([2**60], source), "input"),
        (lambda: made.draw([0.5], source), "input"),
    ):
        with pytest.raises(InputError, match=names):
            call()
    assert source.taken == 0


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
