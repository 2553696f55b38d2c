"""The optimal selection: its law, found again from the recursion, by brute force and by linear programs."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, ball_endpoints, epsilon
from utmost.lp import LinearProgram, certified_optimum
from utmost.noise import system_source
from utmost.noise.selection import (
    MAX_LAW_LENGTH,
    SelectionLaw,
    delta_of_units,
    draw_selection,
    selection_law,
    selection_table,
)

ALPHAS = ("1/2", "1/3", "9/10", "1/100")
DELTAS = ("1/2", "1/10", "1/7", "1/1000", "9/10", "1/3", "1/15", "3/1000000")


def recursion(factor: Fraction, delta: Fraction, length: int) -> list[Fraction]:
    """π(0), π(1), …, as the theorem has it, e^ε being `factor`."""
    values = [Fraction(0)]
    for _ in range(length):
        values.append(min(factor * values[-1] + delta, 1 - (1 - values[-1] - delta) / factor, Fraction(1)))
    return values


def masses(law: SelectionLaw) -> list[Number]:
    """Pr[N = 0], Pr[N = 1], … to Pr[N = L]."""
    tells = [law.probability(n) for n in range(law.last + 1)]
    return [Fraction(0), *(after - before for before, after in pairwise(tells))]


def hockey_stick(first: list[Number], second: list[Number], factor: Number) -> Number:
    """The least δ for which every event is at most factor times as likely, + δ."""
    return sum((max(p - factor * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_the_closed_form_is_the_recursion(level: str, delta: str) -> None:
    law = selection_law(alpha(level), Fraction(delta))
    tells = [law.probability(n) for n in range(law.last + 3)]
    assert tells == recursion(1 / Fraction(level), Fraction(delta), law.last + 2)
    assert tells[law.last - 1] < 1 == tells[law.last]
    assert tells[law.threshold - 1] < Fraction(1, 2) <= tells[law.threshold]


@pytest.mark.parametrize(("level", "delta"), list(product(ALPHAS, DELTAS)))
def test_the_noisy_number_is_private_by_itself(level: str, delta: str) -> None:
    law, factor = selection_law(alpha(level), Fraction(delta)), 1 / Fraction(level)
    g = masses(law)
    assert hockey_stick([*g[1:], Fraction(0)], g, factor) == Fraction(delta)
    assert hockey_stick(g, [*g[1:], Fraction(0)], factor) <= Fraction(delta)


@pytest.mark.parametrize(("level", "delta", "units"), list(product(("1/2", "9/10"), ("1/10", "1/1000"), (2, 3))))
def test_several_units_cost_what_their_formula_says(level: str, delta: str, units: int) -> None:
    law, factor = selection_law(alpha(level), Fraction(delta)), 1 / Fraction(level)
    g, end = masses(law), [Fraction(0)] * units
    bound = Fraction(delta) * (factor**units - 1) / (factor - 1)
    assert hockey_stick([*g, *end], [*end, *g], factor**units) <= bound
    assert hockey_stick([*end, *g], [*g, *end], factor**units) <= bound
    low, high = ball_endpoints(delta_of_units(alpha(level), units))
    assert low <= bound / Fraction(delta) <= high


@pytest.mark.parametrize(("level", "delta"), [("1/2", "1/20"), ("3/4", "1/10")])
def test_two_cells_of_a_replaced_unit_cost_twice_as_much(level: str, delta: str) -> None:
    """One cell loses a unit and another gains one: all pairs of noisy numbers, by brute force."""
    law, factor = selection_law(alpha(level), Fraction(delta)), 1 / Fraction(level)
    g, zero = masses(law), [Fraction(0)]
    here, there = [*g, *zero], [*zero, *g]
    both = [[p * q for p, q in product(a, b)] for a, b in ((here, there), (there, here))]
    assert hockey_stick(*both, factor**2) <= 2 * Fraction(delta)


@pytest.mark.parametrize(("level", "delta", "count"), [("1/2", "1/10", 4), ("3/4", "1/20", 5), ("1/3", "1/100", 6)])
def test_no_private_mechanism_tells_a_cell_more_often(level: str, delta: str, count: int) -> None:
    """A program over p(1) … p(n), the probabilities that cells of so many units are told; p(0) = 0."""
    factor, slack, entries, bounds = 1 / Fraction(level), Fraction(delta), [], []

    def at_least(bound: Fraction, *coefficients: tuple[int, Fraction]) -> None:
        entries.extend((len(bounds), n - 1, value) for n, value in coefficients if n > 0)
        bounds.append(bound)

    for n in range(count):
        for a, b in ((n, n + 1), (n + 1, n)):
            at_least(-slack, (a, factor), (b, Fraction(-1)))  # told: p(b) ≤ e^ε·p(a) + δ
            at_least(1 - factor - slack, (a, -factor), (b, Fraction(1)))  # not told
        at_least(Fraction(-1), (n + 1, Fraction(-1)))
    rows, columns, values = zip(*entries, strict=True)
    costs = [Fraction(-(n == count - 1)) for n in range(count)]
    program = LinearProgram(costs, rows, columns, values, bounds, [False] * len(bounds))
    certificate = certified_optimum(program)
    best = selection_law(alpha(level), slack).probability(count)
    assert (-certificate.lower, -certificate.upper) == (best, best)


def test_half_of_the_cells_of_109_units_are_told_where_a_laplace_threshold_needs_133() -> None:
    law = selection_law(epsilon("0.1"), Fraction("1e-6"))
    assert law.probability(108) < Fraction(1, 2) <= law.probability(109)
    assert law.threshold == 109
    assert np.ceil(1 + np.log(1 / 2e-6) / 0.1) == 133
    assert (law.half_width(Fraction(1, 20)), law.last) == (30, 218)


@given(st.integers(1, 30), st.integers(2, 10**6), st.integers(0, 500))
def test_balls_hold_the_probabilities(tenths: int, inverse_delta: int, count: int) -> None:
    law = selection_law(epsilon(Fraction(tenths, 10)), Fraction(1, inverse_delta))
    low, high = ball_endpoints(law.probability_ball(count, 64))
    assert low <= law.probability(count) <= high
    assert high - low < Fraction(1, 2**60)


@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 10**290), Fraction(1, 10**600)], ids=float)
@pytest.mark.parametrize("level", [alpha("1/2"), alpha("1/8"), alpha(Fraction(1, 2**1000))], ids=str)
def test_an_error_is_a_number_however_small_delta_is_and_however_large_epsilon(level: Level, delta: Fraction) -> None:
    law = selection_law(level, delta)
    weights = masses(law)
    expected = sum((abs(law.threshold - n) * weight for n, weight in enumerate(weights)), Fraction(0))
    assert law.expected_error() == pytest.approx(float(expected))


@pytest.mark.parametrize("level", [epsilon("0.3"), alpha("1/2")], ids=str)
def test_the_error_is_that_of_the_law(level: Level) -> None:
    law = selection_law(level, Fraction(1, 1000))
    errors = [abs(law.threshold - n) for n in range(law.last + 1)]
    weights = masses(law)
    expected = sum((error * weight for error, weight in zip(errors, weights, strict=True)), Fraction(0))
    assert law.expected_error() == pytest.approx(float(expected))
    width = law.half_width(Fraction(1, 20))
    beyond = [
        sum((weight for error, weight in zip(errors, weights, strict=True) if error > limit), Fraction(0))
        for limit in (width, width - 1)
    ]
    assert beyond[0] <= Fraction(1, 20) < beyond[1]
    assert beyond[0] == law.miss_probability(width)


def test_draws_have_the_law() -> None:
    law = selection_law(epsilon("0.5"), Fraction("1e-3"))
    draws, count = draw_selection(selection_table(law), 200_000, system_source()), 200_000
    assert 1 <= draws.min() <= draws.max() <= law.last
    for n in range(1, law.last + 1):
        probability = float(law.probability(n))
        deviation = (probability * (1 - probability) / count) ** 0.5
        assert abs((draws <= n).mean() - probability) <= 6 * deviation + 1e-12


def test_a_selection_that_is_too_long_or_none_is_refused() -> None:
    for level, delta in (("1e-4", "1e-9"), ("1e-12", "1e-9")):
        with pytest.raises(InputError, match=f"a selection may have {MAX_LAW_LENGTH} steps"):
            selection_law(epsilon(level), Fraction(delta))
    for level, delta in ((epsilon(0), Fraction(1, 2)), (epsilon(1), Fraction(0)), (epsilon(1), Fraction(1))):
        with pytest.raises(InputError, match="0 < delta < 1"):
            selection_law(level, delta)


def test_the_half_width_that_every_cell_has_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    law, asked = selection_law(epsilon("0.0123"), Fraction("1e-6")), []
    decide = SelectionLaw.misses_at_most
    monkeypatch.setattr(SelectionLaw, "misses_at_most", lambda *arguments: asked.append(1) or decide(*arguments))
    widths = {law.half_width(Fraction(1, 40)) for _ in range(100)}
    assert len(widths) == 1
    assert 0 < len(asked) < 20


def told_masses(law: SelectionLaw, count: int) -> dict[int, Number]:
    """The excess y − τ of a cell of so many units that is told, with its probabilities given that it is."""
    g, told = masses(law), law.probability(count)
    return {count - n: g[n] / told for n in range(1, min(count, law.last) + 1)}


SMALL_LAWS = list(product(("1/2", "2/3"), ("1/2", "1/15", "1/1000")))
LONG_LAW = pytest.param("9/10", "1/1000", marks=pytest.mark.slow)


@pytest.mark.parametrize(("level", "delta"), [*SMALL_LAWS, LONG_LAW])
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 3)])
def test_intervals_of_told_cells_hold_given_that_they_are_told(level: str, delta: str, miss: Fraction) -> None:
    law = selection_law(alpha(level), Fraction(delta))
    for count in range(1, 2 * law.last + 2):
        told = told_masses(law, count)
        ranges = {excess: law.told_range(excess, miss) for excess in told}
        assert sum(mass for excess, mass in told.items() if ranges[excess][0] > count) <= miss / 2
        assert sum(mass for excess, mass in told.items() if ranges[excess][1] < count) <= miss / 2


@pytest.mark.parametrize(("level", "delta"), [("1/2", "1/10"), ("1/3", "1/1000"), LONG_LAW])
def test_intervals_of_told_cells_are_the_inverted_conditional_law(level: str, delta: str) -> None:
    """From the definition: the least and the greatest count for which neither tail is rare."""
    law, share = selection_law(alpha(level), Fraction(delta)), Fraction(1, 40)
    laws = {count: told_masses(law, count) for count in range(1, 2 * law.last + 3)}
    for excess in range(0, law.last + 2, 3):
        above = [n for n, told in laws.items() if sum(mass for e, mass in told.items() if e >= excess) > share]
        below = [n for n, told in laws.items() if sum(mass for e, mass in told.items() if e <= excess) > share]
        assert law.told_range(excess, Fraction(1, 20)) == (min(above), max(below))


def test_half_widths_alone_would_hold_no_cell_of_one_unit_that_is_told() -> None:
    """Cells of one unit at δ = 1/100: told with y = 5, whose half width is 3."""
    law = selection_law(epsilon(1), Fraction(1, 100))
    assert law.threshold - law.half_width(Fraction(1, 20)) > 1
    assert law.told_range(0, Fraction(1, 20)) == (1, 7)
