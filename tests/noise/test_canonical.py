"""Canonical noise on the integers: its law, found again from the recursion and by exact sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noise.word_sources import ScriptedWords
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, ball_endpoints, epsilon
from utmost.lp import LinearProgram, certified_optimum
from utmost.mechanisms import untruncated_law
from utmost.noise.canonical import CanonicalLaw, canonical_law, canonical_noise, canonical_tables
from utmost.noise.entropy import system_source
from utmost.noise.geometric import geometric_noise
from utmost.noise.table_sampling import SamplingTable, exact_threshold

ALPHAS = ("1/2", "1/3", "9/10", "1/100")
DELTAS = ("1/2", "1/10", "1/7", "1/1000", "9/10", "1/3", "1/15", "3/1000000")


def masses(law: CanonicalLaw) -> list[Number]:
    """Pr[X = −L] … Pr[X = L]."""
    assert law.last is not None
    return [law.mass(n) for n in range(-law.last, law.last + 1)]


def hockey_stick(first: list[Number], second: list[Number], factor: Number) -> Number:
    """The least δ for which every event is at most factor times as likely, + δ."""
    return sum((max(p - factor * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))


def largest_step(value: Fraction, factor: Fraction, delta: Fraction) -> Fraction:
    """The largest probability of an event that has this one under a neighbour."""
    return min(factor * value + delta, 1 - (1 - value - delta) / factor, Fraction(1))


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_the_cdf_takes_the_largest_step_that_privacy_allows(level: str, delta: str) -> None:
    law, factor = canonical_law(alpha(level), delta), 1 / Fraction(level)
    assert law.last is not None
    cdf = [law.cdf(n) for n in range(-law.last, law.last + 3)]
    assert all(after == largest_step(before, factor, Fraction(delta)) for before, after in pairwise(cdf))
    assert 0 == law.cdf(-law.last - 1) < cdf[0] <= Fraction(delta)
    assert cdf[2 * law.last - 1] < 1 == cdf[2 * law.last]


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_the_law_is_symmetric_and_whole_and_its_sums_are_its_cdf(level: str, delta: str) -> None:
    law = canonical_law(alpha(level), delta)
    g = masses(law)
    assert g == g[::-1]
    assert min(g) > 0
    assert sum(g) == 1
    assert [sum(g[: k + 1]) for k in range(len(g))] == [law.cdf(n) for n in range(-law.last, law.last + 1)]
    assert law.mass(law.last + 1) == 0


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_delta_is_used_up_exactly_in_both_directions(level: str, delta: str) -> None:
    g, factor, zero = masses(canonical_law(alpha(level), delta)), 1 / Fraction(level), [Fraction(0)]
    assert hockey_stick([*g, *zero], [*zero, *g], factor) == Fraction(delta)
    assert hockey_stick([*zero, *g], [*g, *zero], factor) == Fraction(delta)


@pytest.mark.parametrize(("level", "delta", "units"), list(product(("1/2", "9/10"), ("1/10", "1/1000"), (2, 3))))
def test_several_units_cost_what_their_formula_says(level: str, delta: str, units: int) -> None:
    g, factor, end = masses(canonical_law(alpha(level), delta)), 1 / Fraction(level), [Fraction(0)] * units
    bound = Fraction(delta) * (factor**units - 1) / (factor - 1)
    assert hockey_stick([*g, *end], [*end, *g], factor**units) <= bound


@pytest.mark.parametrize("level", [alpha("1/2"), alpha("9/10"), epsilon("0.3")], ids=str)
def test_without_delta_it_is_geometric_noise_and_a_small_delta_is_near_it(level: Level) -> None:
    values = range(-5, 6)
    geometric = untruncated_law(0, values, level)
    law, near = canonical_law(level, 0), canonical_law(level, "1e-12")
    assert [law.mass(n) for n in values] == geometric
    assert law.expected_error() == 2 * level.alpha / (1 - level.alpha * level.alpha)
    assert all(abs(float(near.mass(n)) - float(p)) < 1e-10 for n, p in zip(values, geometric, strict=True))
    words = [1 << 60, 1 << 63, 12345 << 45, (1 << 64) - (1 << 50)]
    drawn, expected = (
        canonical_noise(level, 0, 4, ScriptedWords(words)),
        geometric_noise(level, 4, ScriptedWords(words)),
    )
    assert drawn.tolist() == expected.tolist()


@given(st.integers(1, 30), st.integers(1, 60), st.integers(2, 1000))
def test_it_is_smaller_than_geometric_noise_in_mean_and_square(a: int, b: int, inverse_delta: int) -> None:
    level = alpha(Fraction(a, a + b))
    law = canonical_law(level, Fraction(1, inverse_delta))
    assert law.last is not None
    g = [(n, law.mass(n)) for n in range(-law.last, law.last + 1)]
    ratio = Fraction(level.alpha)
    assert law.expected_error() == sum(abs(n) * p for n, p in g) < 2 * ratio / (1 - ratio**2)
    assert sum(n * n * p for n, p in g) < 2 * ratio / (1 - ratio) ** 2


@given(st.integers(1, 30), st.integers(2, 10**6), st.integers(-60, 60))
def test_balls_hold_the_cdf(tenths: int, inverse_delta: int, value: int) -> None:
    law = canonical_law(epsilon(Fraction(tenths, 10)), Fraction(1, inverse_delta))
    low, high = ball_endpoints(law.cdf_ball(value, 64))
    assert low <= law.cdf(value) <= high
    assert high - low < Fraction(1, 2**60)


@pytest.mark.parametrize("level", [epsilon("0.3"), alpha("1/2"), alpha("1/50")], ids=str)
@pytest.mark.parametrize("delta", ["1/1000", "1/4"])
def test_errors_and_widths_are_those_of_the_law(level: Level, delta: str) -> None:
    law = canonical_law(level, delta)
    values, doubles = law.error_masses()
    assert doubles == pytest.approx([float(p) for p in masses(law)])
    assert float(np.abs(values) @ doubles) == pytest.approx(float(law.expected_error()))
    width = law.half_width(Fraction(1, 20))
    beyond = [
        sum((p for n, p in zip(values, masses(law), strict=True) if abs(n) > limit), Fraction(0))
        for limit in (width, width - 1)
    ]
    assert beyond[0] <= Fraction(1, 20) < beyond[1]


@pytest.mark.parametrize("level", [alpha("1/2"), alpha("1/3"), alpha("3/4"), epsilon("0.7")], ids=str)
@pytest.mark.parametrize("delta", ["1/10", "1/100", "2/3"])
def test_every_threshold_of_the_table_is_that_of_the_cdf(level: Level, delta: str) -> None:
    law = canonical_law(level, delta)
    table = canonical_tables(law)
    assert isinstance(table, SamplingTable)
    assert law.last is not None
    exact = [exact_threshold(law.cdf(n), 64) for n in range(-law.last, law.last)]
    assert table.first == -law.last
    assert table.thresholds.tolist() == [floor for floor, _ in exact]
    assert table.split.tolist() == [not whole for _, whole in exact]


@given(st.integers(0, 2**64 - 1))
def test_a_word_gives_the_noise_whose_cell_it_lies_in(word: int) -> None:
    law = canonical_law(alpha("1/2"), "1/20")
    drawn = int(canonical_noise(alpha("1/2"), "1/20", 1, ScriptedWords([word, 0]))[0])
    assert law.cdf(drawn - 1) <= Fraction(word, 2**64) + Fraction(1, 2**64)
    assert Fraction(word, 2**64) < law.cdf(drawn)


def test_draws_have_the_law() -> None:
    law, count = canonical_law(epsilon("0.5"), "1e-3"), 200_000
    assert law.last is not None
    draws = canonical_noise(epsilon("0.5"), "1e-3", count, system_source())
    assert -law.last <= draws.min() <= draws.max() <= law.last
    for n in range(-law.last, law.last + 1):
        probability = float(law.cdf(n))
        deviation = (probability * (1 - probability) / count) ** 0.5
        assert abs((draws <= n).mean() - probability) <= 6 * deviation + 1e-12


def test_noise_that_is_too_long_or_none_is_refused() -> None:
    with pytest.raises(InputError, match="canonical noise may reach"):
        canonical_law(epsilon("1e-5"), "1e-9")
    for level, delta in ((epsilon(0), "1/2"), (epsilon(1), 1), (epsilon(1), "-1/2")):
        with pytest.raises(InputError, match="0 <= delta < 1"):
            canonical_law(level, delta)
    with pytest.raises(InputError, match="they have no end"):
        canonical_law(epsilon(1), 0).error_masses()


@pytest.mark.parametrize(("level", "delta"), list(product(("1/2", "1/3", "3/4"), ("1/10", "1/20", "1/3", "1/17"))))
@pytest.mark.parametrize("target", [0, 1])
def test_no_integer_noise_is_nearer_to_an_integer(level: str, delta: str, target: int) -> None:
    """min Pr[|N − t| > n] over all private noise on −8 … 8, by certified programs that know nothing of the law."""
    law, reach = canonical_law(alpha(level), delta), 8
    for width in (0, 1, 2):
        costs = [Fraction(abs(value - target) > width) for value in range(-reach, reach + 1)]
        certificate = certified_optimum(noise_program(costs, 1 / Fraction(level), Fraction(delta)))
        assert certificate.gap == 0
        assert certificate.lower >= 2 * law.tail(width)
        if target == 0 and law.last is not None and law.last <= reach:
            assert certificate.upper == 2 * law.tail(width)


def noise_program(costs: list[Fraction], factor: Fraction, delta: Fraction) -> LinearProgram:
    """Least mean cost of noise whose law and shifted law differ by at most δ beyond a factor, in both directions."""
    size, entries, rhs = len(costs), [], []
    for k, shift in product(range(size + 1), (0, 1)):  # s[k] ≥ p[k − shift] − e^ε·p[k − 1 + shift]
        slack, row = size + (size + 1) * shift + k, len(rhs)
        entries += [(row, slack, Fraction(1))]
        entries += [(row, k - shift, Fraction(-1))] if 0 <= k - shift < size else []
        entries += [(row, k - 1 + shift, factor)] if 0 <= k - 1 + shift < size else []
        rhs.append(Fraction(0))
    for shift in (0, 1):
        entries += [(len(rhs), size + (size + 1) * shift + k, Fraction(-1)) for k in range(size + 1)]
        rhs.append(-delta)
    entries += [(len(rhs), k, Fraction(1)) for k in range(size)]
    rows, columns, values = (list(part) for part in zip(*entries, strict=True))
    equality = [False] * len(rhs) + [True]
    return LinearProgram(
        [*costs, *[Fraction(0)] * (2 * size + 2)], rows, columns, values, [*rhs, Fraction(1)], equality
    )
