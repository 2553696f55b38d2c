"""Planar noise: integers enclose what they claim, decisions are nested intervals, and the law is e^(−θ√(i²+j²))."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.word_sources import CountedWords, ScriptedWords, fixed_stream
from utmost.errors import InputError
from utmost.exact import Level, alpha, ball_endpoints, epsilon
from utmost.noise import planar
from utmost.noise.planar import accept, acceptance_bounds, lower_exponential, normalised_root, planar_noise, planar_rate

BITS = 256


def theta_of(level: Level, step: Fraction) -> arb:
    """θ straight from its definition."""
    rate = -arb(fmpq(level.alpha.numerator, level.alpha.denominator)).log() if level.exponent is None else None
    exponent = level.exponent or Fraction(0)
    rate = arb(fmpq(exponent.numerator, exponent.denominator)) if rate is None else rate
    return rate * arb(fmpq(step.numerator, step.denominator))


def gamma_of(level: Level, step: Fraction, beta: Fraction, i: int, j: int) -> arb:
    """γ straight from its definition."""
    steps = arb(fmpq(beta.numerator, beta.denominator)) * (abs(i) + abs(j))
    return theta_of(level, step) * arb(i * i + j * j).sqrt() - steps


LEVELS = st.one_of(
    st.sampled_from(["1/2", "9/10", "999/1000", "1/100"]).map(alpha),
    st.sampled_from(["1e-6", "0.001", "0.1", "1/3", "1", "7", "50"]).map(epsilon),
)
STEPS = st.sampled_from([Fraction(1), Fraction(1, 7), Fraction(3)])


@st.composite
def settings_and_points(draw: st.DrawFn) -> tuple[Level, Fraction, list[tuple[int, int]]]:
    level, step = draw(LEVELS), draw(STEPS)
    spread = min(int(40 / float(theta_of(level, step))) + 2, 2**30 - 1)
    coordinate = st.integers(-spread, spread) | st.sampled_from([0, 1, spread])
    return level, step, draw(st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=20))


@given(settings_and_points())
@settings(max_examples=120, deadline=None)
def test_the_integers_enclose_the_probability_of_acceptance_and_narrowly(case) -> None:
    level, step, points = case
    rate = planar_rate(level, step)
    low, high = acceptance_bounds(rate, np.array(points, dtype=np.int64))
    for (i, j), lower, upper in zip(points, low.tolist(), high.tolist(), strict=True):
        with ctx.workprec(BITS):
            gamma = gamma_of(level, step, rate.beta, i, j)
            lower_endpoint, upper_endpoint = ball_endpoints((-gamma).exp() * 2**32)
            length = float(theta_of(level, step) * arb(max(i * i + j * j, 1)).sqrt())
        assert lower <= lower_endpoint
        assert upper_endpoint <= upper
        assert upper - lower <= 20 + 16 * length


@given(LEVELS, STEPS)
@settings(deadline=None)
def test_the_proposals_are_never_lighter_than_the_law(level: Level, step: Fraction) -> None:
    """β ≤ θ/√2, hence γ ≥ 0 everywhere; and close to it, so that acceptance is about π/4."""
    rate = planar_rate(level, step)
    with ctx.workprec(BITS):
        largest_beta = theta_of(level, step) / arb(2).sqrt()
        beta = arb(fmpq(rate.beta.numerator, rate.beta.denominator))
        assert beta <= largest_beta
        assert beta >= largest_beta * (1 - arb(2) ** -22)


@given(st.lists(st.integers(0, 2**62 - 1) | st.integers(0, 2**31).map(lambda r: max(r * r - 1, 0)), min_size=1))
@settings(deadline=None)
def test_the_root_is_the_integer_root_of_the_shifted_square(squares: list[int]) -> None:
    squares = [min(n, 2**62 - 1) for n in squares]
    root, half = normalised_root(np.array(squares, dtype=np.uint64))
    for n, r, h in zip(squares, root.tolist(), half.tolist(), strict=True):
        assert r == isqrt(n << 2 * h)
        assert n == 0 or 2**60 <= n << 2 * h < 2**62


def test_a_wrong_guess_of_a_root_is_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planar.np, "sqrt", lambda values: values * 0 + 12345.0)
    squares = [0, 1, 2, 10**9, 2**62 - 1]
    root, half = normalised_root(np.array(squares, dtype=np.uint64))
    assert root.tolist() == [isqrt(n << 2 * h) for n, h in zip(squares, half.tolist(), strict=True)]


@given(st.lists(st.integers(0, 40 << 32) | st.integers(0, 1 << 25), min_size=1))
@settings(deadline=None)
def test_the_exponential_is_rounded_down_by_at_most_six(exponents: list[int]) -> None:
    rounded = lower_exponential(np.array(exponents, dtype=np.uint64)).tolist()
    for x, value in zip(exponents, rounded, strict=True):
        with ctx.workprec(BITS):
            low, high = ball_endpoints((-arb(fmpq(x, 2**32))).exp() * 2**32)
        assert high - 6 <= value <= low


def boundary_word(level: Level, i: int, j: int, bits: int) -> int:
    """⌊e^(−γ)·2^bits⌋ for a step of 1."""
    with ctx.workprec(BITS + bits):
        low, high = ball_endpoints(
            (-gamma_of(level, Fraction(1), planar_rate(level, Fraction(1)).beta, i, j)).exp() * (1 << bits)
        )
    assert low // 1 == high // 1
    return int(low // 1)


POINTS = [(i, j) for i in range(-2, 4) for j in range(-2, 4) if (i, j) != (0, 0)]


@pytest.mark.parametrize("level", [epsilon("1/2"), epsilon(3), alpha("1/2")], ids=str)
def test_a_decision_is_u_below_e_to_minus_gamma_to_the_last_bit(level: Level) -> None:
    """Words below the boundary accept, words above reject, and the boundary word is split by the next, at its place."""
    rate = planar_rate(level, Fraction(1))
    for i, j in POINTS:
        first_boundary, point = boundary_word(level, i, j, 64), np.array([[i, j]])
        second_boundary = boundary_word(level, i, j, 128) - (first_boundary << 64)
        for words, verdict in (
            ((first_boundary - 1,), True),
            ((first_boundary + 1,), False),
            ((first_boundary, second_boundary - 1), True),
            ((first_boundary, second_boundary + 1), False),
        ):
            source = ScriptedWords(words)
            assert accept(rate, point, source).tolist() == [verdict]
            assert source.remaining == []
    assert accept(rate, np.array([[0, 0]]), ScriptedWords([2**64 - 1])).tolist() == [True]


@pytest.mark.parametrize("level", [epsilon("1/2"), epsilon(3), alpha("1/2")], ids=str)
def test_proposal_times_acceptance_is_the_law(level: Level) -> None:
    """e^(−β(|i|+|j|))·Pr[accept] against e^(−θ√(i²+j²)), Pr[accept] enumerated to 128 bits; at (0, 0) both are 1."""
    beta = planar_rate(level, Fraction(1)).beta
    for i, j in POINTS:
        accepted_words = boundary_word(level, i, j, 128)
        with ctx.workprec(BITS):
            proposal = (-arb(fmpq(beta.numerator, beta.denominator)) * (abs(i) + abs(j))).exp()
            expected = (-theta_of(level, Fraction(1)) * arb(i * i + j * j).sqrt()).exp()
            assert proposal * arb(fmpq(accepted_words, 2**128)) <= expected
            assert proposal * arb(fmpq(accepted_words + 1, 2**128)) >= expected


def ring_p_value(points: np.ndarray, level: Level) -> float:
    """Pearson's χ² of i²+j² over rings against the law, as its probability under the law."""
    from scipy import stats

    from utmost.mechanisms.planar import planar as mechanism

    edges = [0, 1, 2, 4, 8, 13, 20, 32, 50, 80, 128]
    lattice = [(i, j) for i in range(-12, 13) for j in range(-12, 13) if i * i + j * j < edges[-1]]
    masses = [float(p) for p in mechanism(1, level).law((0, 0), lattice)]
    cells = np.searchsorted(edges, [i * i + j * j for i, j in lattice], side="right") - 1
    expected = np.bincount(cells, masses, len(edges))
    expected[-1] = 1 - expected.sum()
    squares = (points.astype(np.int64) ** 2).sum(axis=1)
    observed = np.bincount(np.searchsorted(edges, squares, side="right") - 1, minlength=len(edges))
    return float(stats.chisquare(observed, expected * len(points)).pvalue)


def test_rings_have_their_masses_and_a_scale_five_per_cent_wrong_is_detected() -> None:
    """False alarm 1e-6. At 200 000 draws a scale 5 % off has a non-centrality near 1000 and 10 degrees of freedom."""
    level = epsilon("1/2")
    assert ring_p_value(planar_noise(level, 1, 200_000), level) > 1e-6
    assert ring_p_value(planar_noise(epsilon("21/40"), 1, 200_000), level) < 1e-6


def test_quadrants_and_axes_are_alike() -> None:
    """Eight reflections, 100 000 draws: the mean of each coordinate has a deviation of σ/√n; false alarm 2e-9 at 6."""
    points = planar_noise(epsilon(1), 1, 100_000).astype(float)
    spread = points.std(axis=0)
    assert np.all(np.abs(points.mean(axis=0)) < 6 * spread / np.sqrt(len(points)))
    assert abs((points[:, 0] * points[:, 1]).mean()) < 6 * (points[:, 0] * points[:, 1]).std() / np.sqrt(len(points))


def test_far_points_are_decided_one_by_one() -> None:
    """From 2^30 on no array arithmetic is trusted: exact balls decide, for Python's integers too."""
    rate = planar_rate(epsilon("1e-7"), Fraction(1))
    far_points = np.array([[2**30, 0], [2**30, 2**30], [0, 0]], dtype=np.int64)
    assert accept(rate, far_points, ScriptedWords([0, 0, 0])).tolist() == [True, True, True]
    assert accept(rate, far_points, ScriptedWords([2**63, 2**64 - 1, 2**63])).tolist() == [False, False, True]
    huge_points = np.array([[2**80, 1], [3, 4]], dtype=object)
    assert accept(rate, huge_points, ScriptedWords([1, 1])).tolist() == [False, True]
    assert accept(planar_rate(epsilon(1000), Fraction(1)), far_points, ScriptedWords([1, 2**64 - 1, 7])).tolist() == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("count", [0, 1, 5, planar.PROPOSALS_PER_CHUNK + 3])
def test_the_count_is_as_requested_and_equal_words_give_equal_points(count: int) -> None:
    first, second = (planar_noise(epsilon("0.3"), "1/2", count, CountedWords(fixed_stream(7))) for _ in range(2))
    assert first.shape == (count, 2)
    assert np.array_equal(first, second)


def test_about_three_words_in_pi_quarters_are_taken() -> None:
    source = CountedWords(fixed_stream(3))
    planar_noise(epsilon("0.05"), 1, 50_000, source)
    assert 3 * 50_000 / 0.80 < source.taken < 3 * 50_000 / 0.68


@pytest.mark.parametrize(
    ("level", "step", "count"),
    [
        (epsilon(0), 1, 1),
        (alpha(0), 1, 1),
        (epsilon(1), 0, 1),
        (epsilon(1), "1e-9", 1),
        (epsilon(1), 10**6, 1),
        (epsilon(1), 1, -1),
    ],
)
def test_invalid_settings_are_refused_before_any_word(level: Level, step: object, count: int) -> None:
    with pytest.raises(InputError):
        planar_noise(level, step, count, ScriptedWords([]))
