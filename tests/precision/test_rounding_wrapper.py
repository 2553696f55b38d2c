"""Mechanisms 2 and 3: what comes out is a multiple of the step, inside or ∞, with its guarantee."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.precision import BINARY64, implementation, laplace, planar, wrap_laplace, wrap_planar, wrap_shifted
from utmost.precision.attacks import polar_laplace, textbook_laplace

DOUBLE = implementation(BINARY64)
SETTING = laplace.laplace_setting(epsilon(1), 1, 0, 10, "1/8")
PLANE = planar.planar_setting(epsilon(1), 1, (0, 5), (0, 5), "1/4")


@given(st.floats(-5, 15), st.floats(-30, 30), st.booleans())
def test_every_result_is_the_nearest_multiple_or_cut_off(answer, noise, clamp_to_ends):
    mechanism = wrap_laplace(SETTING, DOUBLE, lambda count: [noise] * count, clamp_to_ends)
    (result,) = mechanism.release([answer])
    exact = min(max(Fraction(answer), Fraction(0)), Fraction(10)) + Fraction(noise)
    if isinstance(result, Fraction) and 0 < result < 10:
        assert result.denominator in (1, 2, 4, 8)
        assert abs(result - exact) <= Fraction(1, 16)
    elif clamp_to_ends:
        assert result == (0 if exact < 5 else 10)
    elif result == math.inf:
        assert (
            exact < -Fraction(1, 16)
            or exact > 10 + Fraction(1, 16)
            or exact in (-Fraction(1, 16), 10 + Fraction(1, 16))
        )


INFINITE_NOISE = [(math.inf, True, 10), (-math.inf, True, 0), (math.inf, False, math.inf)]


@pytest.mark.parametrize(("noise", "clamp_to_ends", "result"), INFINITE_NOISE)
def test_infinite_noise_is_cut_off_on_its_side(noise, clamp_to_ends, result):
    assert wrap_laplace(SETTING, DOUBLE, lambda count: [noise] * count, clamp_to_ends).release([5]) == [result]


def test_the_textbook_sampler_wrapped():
    mechanism = wrap_laplace(SETTING, DOUBLE, lambda count: list(textbook_laplace(0.0, 1.0, count)), clamp_to_ends=True)
    results = mechanism.release([5] * 400)
    assert all(0 <= r <= 10 and (8 * r).denominator == 1 for r in results)
    assert mechanism.guarantee.epsilon_prime < 1 + Fraction(1, 10**8)
    mean = float(sum(results, Fraction(0))) / 400
    assert abs(mean - 5) < 6 * math.sqrt(2 / 400)  # false alarm 2e-9


def test_a_sampler_known_by_its_shift_alone():
    mechanism = wrap_shifted(SETTING, "1/1000", lambda count: [0.0] * count)
    assert mechanism.guarantee.epsilon_prime == laplace.certify_shift(SETTING, "1/1000").epsilon_prime
    assert mechanism.release(["1/3"]) == [Fraction(3, 8)]
    with pytest.raises(InputError, match="no finite"):
        wrap_shifted(SETTING, 1, lambda count: [0.0] * count)
    with pytest.raises(InputError, match="shift must be >= 0"):
        wrap_shifted(SETTING, -1, lambda count: [0.0] * count)


def test_the_plane_has_points_or_nothing():
    mechanism = wrap_planar(PLANE, DOUBLE, lambda count: polar_laplace(1.0, count).tolist())
    results = mechanism.release([(2, "5/2")] * 200)
    points = [pair for pair in results if pair is not None]
    assert len(points) > 100
    assert all(0 <= c <= 5 and (4 * c).denominator == 1 for pair in points for c in pair)
    far_mechanism = wrap_planar(PLANE, DOUBLE, lambda count: [(9.0, 0.0), (math.inf, 0.0)][:count])
    assert far_mechanism.release([(1, 1), (1, 1)]) == [None, None]


BAD_ANSWERS = [["41.7x"], "41.7", 41.7, [None], [math.nan], {"41.7": 1}, [[41.7]]]


@pytest.mark.parametrize("answers", BAD_ANSWERS)
def test_a_refused_answer_is_not_repeated(answers):
    for mechanism in (
        wrap_laplace(SETTING, DOUBLE, lambda count: [0.0] * count),
        wrap_planar(PLANE, DOUBLE, lambda count: [(0.0, 0.0)]),
    ):
        with pytest.raises(InputError, match="answers must be") as refusal:
            mechanism.release(answers)
        assert "41" not in str(refusal.value)


def test_samplers_that_break_the_contract_are_refused():
    for noise in ([], [math.nan]):
        with pytest.raises(InputError, match="noise must"):
            wrap_laplace(SETTING, DOUBLE, lambda count, noise=noise: noise).release([1])
    with pytest.raises(InputError, match="noise must"):
        wrap_planar(PLANE, DOUBLE, lambda count: []).release([(1, 1)])
    with pytest.raises(InputError, match="finite"):
        wrap_laplace(SETTING, DOUBLE, lambda count: [0.0]).release([math.nan])
    with pytest.raises(InputError, match="no finite epsilon-prime"):
        wrap_laplace(laplace.laplace_setting(epsilon(1), 1, 0, 100, "1/1024"), DOUBLE, lambda count: [0.0])
