"""Canonical noise that uses its δ up: its law by sums, its privacy by enumeration in fractions, its draws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.noise import system_source
from utmost.noise.canonical import canonical_law
from utmost.noise.geometric import Lattice
from utmost.noise.table_sampling import SamplingTable
from utmost.noise.tight_canonical import (
    MIN_TOLD_DELTA,
    TightLaw,
    draw_tight_noise,
    least_reach,
    tight_law,
    tight_tables,
)

ALPHAS = ("1/2", "1/3", "9/10")


def law_of(rate: str, reach: int) -> TightLaw:
    return TightLaw(alpha(rate), reach)


@pytest.mark.parametrize(("rate", "reach"), list(product(ALPHAS, (1, 2, 5, 30))))
def test_it_is_the_canonical_law_of_the_delta_that_it_uses_up(rate: str, reach: int) -> None:
    law = law_of(rate, reach)
    canonical = canonical_law(alpha(rate), law.delta(1))
    assert (canonical.last, canonical.is_tight) == (reach, True)
    masses = [law.mass(n) for n in range(-reach - 1, reach + 2)]
    assert masses == [canonical.mass(n) for n in range(-reach - 1, reach + 2)]
    assert sum(masses) == 1
    assert [law.tail(n) for n in range(reach + 2)] == [sum(masses[reach + n + 2 :]) for n in range(reach + 2)]
    mean = sum(abs(n) * mass for n, mass in zip(range(-reach - 1, reach + 2), masses, strict=True))
    assert law.expected_error() == pytest.approx(float(mean), rel=1e-14)


@pytest.mark.parametrize(
    ("rate", "reach", "steps"),
    [("1/2", 3, 1), ("1/3", 2, 2), ("9/10", 3, 2), pytest.param("1/2", 4, 3, marks=pytest.mark.slow)],
)
def test_delta_is_that_of_the_worst_move_of_several_numbers_by_enumeration(rate: str, reach: int, steps: int) -> None:
    """Two numbers that move by Δ steps in all: Σ over all answers of (p − e^(Δε)·q)₊, in fractions."""
    law, factor = law_of(rate, reach), 1 / Fraction(rate) ** steps
    answers = list(product(range(-reach - steps, reach + steps + 1), repeat=2))

    def least_delta(move: tuple[int, int]) -> Fraction:
        pairs = (
            (prod(law.mass(y) for y in answer), prod(law.mass(y - k) for y, k in zip(answer, move, strict=True)))
            for answer in answers
        )
        return sum((max(p - factor * q, Fraction(0)) for p, q in pairs), Fraction(0))

    moves = [(j, k) for j in range(steps + 1) for k in range(-steps, steps + 1) if j + abs(k) <= steps]
    deltas = {move: least_delta(move) for move in moves}
    assert max(deltas.values()) == deltas[steps, 0] == law.delta(steps)


@given(st.fractions("1/100", 5), st.integers(1, 40), st.integers(1, 12), st.integers(1, 99))
@settings(max_examples=60)
def test_the_reach_is_the_least_and_its_delta_leads_back_to_it(
    amount: Fraction, steps: int, decimals: int, digits: int
) -> None:
    level, delta = epsilon(amount / steps), Fraction(digits, 100 * 10**decimals)
    law = tight_law(level, steps, delta)
    told = law.told_delta(steps)
    assert law.delta(steps) <= told <= delta
    assert told <= max(law.delta(steps) * (1 + Fraction(1, 10**11)), MIN_TOLD_DELTA)
    assert law.reach == steps or TightLaw(level, law.reach - 1).told_delta(steps) > delta
    assert least_reach(level, steps, told) == law.reach
    if steps == 1:
        assert canonical_law(level, delta).last == law.reach


@pytest.mark.parametrize("rate", ["1/2", "9/10"])
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 3), Fraction(1, 10**9)])
def test_the_half_width_is_the_least_that_misses_rarely_enough(rate: str, miss: Fraction) -> None:
    law = law_of(rate, 20)
    width = law.half_width(miss)
    assert 2 * law.tail(width) <= miss
    assert width == 0 or 2 * law.tail(width - 1) > miss


@pytest.mark.parametrize(("amount", "delta", "kind"), [("1/4", "1e-3", Lattice), ("1/4", "3/10", SamplingTable)])
def test_draws_have_the_law(amount: str, delta: str, kind: type) -> None:
    law = tight_law(epsilon(amount), 1, Fraction(delta))
    tables, count = tight_tables(law), 40_000
    assert isinstance(tables.tables, kind)
    draws = draw_tight_noise(tables, count, system_source())
    values, counts = np.unique(draws, return_counts=True)
    assert int(np.abs(draws).max()) <= law.reach
    for value, seen in zip(values.tolist(), counts.tolist(), strict=True):
        expected = count * float(law.mass(value))
        assert abs(seen - expected) <= 8 * (expected**0.5 + 1)
    assert draw_tight_noise(tables, 0, system_source()).tolist() == []


def test_noise_of_many_steps_is_drawn_too() -> None:
    law = tight_law(epsilon(Fraction(1, 10**12)), 10**12, Fraction("1e-6"))
    draws = draw_tight_noise(tight_tables(law), 100, system_source())
    assert int(np.abs(draws).max()) <= law.reach < 2 * 10**13


def test_what_cannot_be_told_or_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="delta must be at least 1e-27"):
        tight_law(epsilon(1), 1, Fraction(1, 10**28))
    with pytest.raises(InputError, match="0 < delta < 1"):
        tight_law(epsilon(1), 1, Fraction(0))
    with pytest.raises(InputError, match="canonical noise may reach"):
        tight_law(epsilon("1e-9"), 1, Fraction("1e-6"))
    with pytest.raises(InputError, match="canonical noise may reach"):
        tight_law(epsilon("1e-20"), 10**20, Fraction("1e-6"))
    assert TightLaw(epsilon(1), 10**5).told_delta(1) == MIN_TOLD_DELTA


@pytest.mark.parametrize(("rate", "steps"), [(Fraction(1, 10**17), 10**12), (Fraction(1, 10**12), 1)])
def test_the_least_reach_of_a_wide_sum_is_found_at_once(rate: Fraction, steps: int) -> None:
    """One step of so long a noise changes δ by less than the digits that are told, at a δ that is no decimal."""
    level, delta = epsilon(rate), Fraction(1, 3 * 10**6)
    reach = least_reach(level, steps, delta)
    assert TightLaw(level, reach).told_delta(steps) <= delta
    assert reach == steps or TightLaw(level, reach - 1).told_delta(steps) > delta
