"""Canonical noise in thirds: nothing of δ is left over, and the nearest integers are canonical noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noise.word_sources import ScriptedWords
from utmost.exact import Level, Number, alpha, ball_endpoints, epsilon
from utmost.noise.canonical import canonical_law, canonical_noise
from utmost.noise.entropy import system_source
from utmost.noise.fine_canonical import FineLaw, fine_canonical_noise, fine_law, fine_table
from utmost.noise.table_sampling import exact_threshold

ALPHAS = ("1/2", "1/3", "9/10", "1/100")
DELTAS = ("1/2", "1/10", "1/7", "1/1000", "9/10", "1/3", "1/15", "3/1000000")


def masses(law: FineLaw) -> list[Number]:
    """Pr[Z = −last] … Pr[Z = last]."""
    assert law.last is not None
    return [law.mass(z) for z in range(-law.last, law.last + 1)]


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_the_law_is_symmetric_and_whole_and_rounds_to_canonical_noise(level: str, delta: str) -> None:
    law, coarse = fine_law(alpha(level), delta), canonical_law(alpha(level), delta)
    g = masses(law)
    assert law.last is not None
    assert coarse.last is not None
    assert g == g[::-1]
    assert sum(g) == 1
    assert min(g) >= 0
    assert g[0] > 0 == law.mass(law.last + 1)
    for n in range(-coarse.last, coarse.last + 1):
        assert sum(law.mass(z) for z in (3 * n - 1, 3 * n, 3 * n + 1)) == coarse.mass(n)


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_delta_is_used_up_by_an_event_that_a_neighbour_makes_impossible(level: str, delta: str) -> None:
    g, factor, zeros = masses(fine_law(alpha(level), delta)), 1 / Fraction(level), [Fraction(0)] * 3
    before, after = [*g, *zeros], [*zeros, *g]
    for first, second in ((before, after), (after, before)):
        assert sum(max(p - factor * q, Fraction(0)) for p, q in zip(first, second, strict=True)) == Fraction(delta)
        assert sum(p for p, q in zip(first, second, strict=True) if not q) == Fraction(delta)


@given(st.integers(1, 19), st.integers(2, 500))
def test_the_tail_takes_the_largest_step_at_the_end_of_every_part(twentieths: int, inverse_delta: int) -> None:
    level, delta = Fraction(twentieths, 20), Fraction(1, inverse_delta)
    law = fine_law(alpha(level), delta)
    assert law.last is not None
    for z in range(-law.last - 1, law.last - 1):
        least = max(1 - (1 - law.tail(z)) / level - delta, level * (law.tail(z) - delta), Fraction(0))
        assert law.tail(z + 3) == least


@pytest.mark.parametrize("level", [alpha("1/2"), alpha("3/4"), epsilon("0.7")], ids=str)
@pytest.mark.parametrize("delta", ["1/10", "1/20", "2/3"])
def test_every_threshold_of_the_table_is_that_of_the_cdf(level: Level, delta: str) -> None:
    law = fine_law(level, delta)
    assert law.last is not None
    table = fine_table(law)
    exact = [exact_threshold(1 - law.tail(z), 64) for z in range(-law.last, law.last)]
    assert table.first == -law.last
    assert table.thresholds.tolist() == [floor for floor, _ in exact]
    assert table.split.tolist() == [not whole for _, whole in exact]


@given(st.integers(1, 30), st.integers(2, 10**6), st.integers(0, 90))
def test_balls_hold_the_tail(tenths: int, inverse_delta: int, value: int) -> None:
    law = fine_law(epsilon(Fraction(tenths, 10)), Fraction(1, inverse_delta))
    low, high = ball_endpoints(law.tail_ball(value, 64))
    assert low <= law.tail(value) <= high
    assert high - low < Fraction(1, 2**60)


def test_draws_have_the_law_and_where_it_is_tight_they_are_those_of_integer_noise() -> None:
    law, count = fine_law(epsilon("0.5"), "1e-3"), 100_000
    assert law.last is not None
    draws = fine_canonical_noise(epsilon("0.5"), "1e-3", count, system_source())
    for z in range(-law.last, law.last + 1):
        probability = 1 - float(law.tail(z))
        deviation = (probability * (1 - probability) / count) ** 0.5
        assert abs((draws <= z).mean() - probability) <= 6 * deviation + 1e-12
    words = [k << 58 for k in range(1, 64, 4)]
    for delta in ("1/10", 0):
        fine = fine_canonical_noise(alpha("1/2"), delta, len(words), ScriptedWords(words))
        coarse = canonical_noise(alpha("1/2"), delta, len(words), ScriptedWords(words))
        assert fine.tolist() == (3 * coarse).tolist()
