"""Masses of a window in whole numbers: within two units of the law, wherever the window lies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact.working_precision import working_precision
from utmost.noise.gaussian import mass_ball, tail_ball
from utmost.noise.gaussian_masses import mass_window


@given(
    st.sampled_from([Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(100), Fraction(10**6), Fraction(10**12)]),
    st.integers(-3000, 3000),
    st.integers(0, 40),
)
@settings(max_examples=60, deadline=None)
def test_every_mass_is_within_two_units(variance: Fraction, low: int, width: int) -> None:
    window = mass_window(variance, low, low + width)
    precision = 256 + 2 * abs(window.unit_bits).bit_length()
    with working_precision(precision):
        for k, mass in enumerate(window.masses.tolist()):
            exact = mass_ball(variance, low + k, precision) * arb(2) ** window.unit_bits
            assert mass <= exact < mass + 2
    assert 2**59 <= int(window.masses.sum()) < 2**62


def test_a_long_window_adds_up_to_the_tails_of_the_law() -> None:
    """σ² = 10^10, 300 001 integers around and beside 0."""
    for low in (-100_000, 50_000, -400_000):
        window = mass_window(10**10, low, low + 300_000)
        with working_precision(256):
            for end in (0, 100, 150_000, 300_000):
                share = tail_ball(10**10, low, 200) - tail_ball(10**10, low + end + 1, 200)
                total = int(window.cumulative()[end])
                assert total <= share * arb(2) ** window.unit_bits < total + 2 * (end + 1)


def test_a_window_is_the_mirror_of_its_opposite() -> None:
    window, opposite = mass_window("7/3", -5, 40), mass_window("7/3", -40, 5)
    assert np.array_equal(window.masses, opposite.masses[::-1])
    assert window.unit_bits == opposite.unit_bits


def test_a_posterior_from_masses_is_that_from_logarithms() -> None:
    """Flat prior on 0 … 1000, answer 990 with σ² = 400: weights of 990 − x."""
    masses = mass_window(400, 990 - 1000, 990).masses[::-1].astype(float)
    weights = np.exp(-((990.0 - np.arange(1001)) ** 2) / 800)
    assert np.allclose(masses / masses.sum(), weights / weights.sum(), rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("ends", [(1, 0), (0, 1 << 24), (10**31, 10**31), (0.5, 3), ("1/2", 3)])
def test_windows_that_are_none_are_refused(ends: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="low"):
        mass_window(1, *ends)
