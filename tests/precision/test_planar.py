"""ε′ of planar noise: its moduli against a brute force, its implementation against a small machine."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.precision import BINARY64, implementation, planar, uniform_generator
from utmost.precision.guarantee import Implementation
from utmost.precision.remedies import planar_advice

DOUBLE = implementation(BINARY64)


def inverse(u: float, beta: float) -> float:
    return brentq(lambda r: 1 - (1 + beta * r) * math.exp(-beta * r) - u, 0, 200 / beta, xtol=1e-14)


@given(st.sampled_from([0.25, 1.0, 3.0]), st.sampled_from([6, 8, 10, 12]), st.floats(0.2, 3))
@settings(max_examples=30)
def test_the_modulus_bounds_every_step_of_the_radius(beta, bits, reach):
    """No u with C⁻¹(u) ≤ D moves the radius by more than ω when it moves by δ₀, and some u moves it by nearly that."""
    setting = planar.planar_setting(epsilon(Fraction(beta)), 1, (0, 1), (0, 1), 1)
    delta0 = Fraction(1, 2**bits)
    modulus = planar.radius_error(setting, delta0, Fraction(reach))
    edge = 1 - (1 + beta * reach) * math.exp(-beta * reach)
    if modulus is None:
        assert 1 - edge <= float(delta0) * (1 + 1e-9)
        return
    starts = np.append(np.linspace(0, edge, 40), edge)
    steps = [inverse(u + float(delta0), beta) - inverse(u, beta) for u in starts if u + float(delta0) < 1]
    assert max(steps) <= float(modulus) * (1 + 1e-6)
    assert max(steps) >= float(modulus) * (1 - 1e-6)


def test_near_0_the_radius_moves_by_the_root_of_delta0():
    setting = planar.planar_setting(epsilon(2), 1, (0, 1), (0, 1), 1)
    modulus = planar.radius_error(setting, Fraction(1, 2**53), Fraction(1))
    assert float(modulus) == pytest.approx(math.sqrt(2 * 2**-53) / 2, rel=1e-6)
    far_modulus = planar.radius_error(setting, Fraction(1, 2**53), Fraction(14))
    assert float(far_modulus) == pytest.approx(math.exp(28) / (4 * 14) * 2**-53, rel=1e-3)


@given(st.integers(0, 2**12 - 1), st.integers(0, 2**12 - 1), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=100)
def test_points_of_coupled_values_are_within_the_bound(z, w, s, t):
    """A machine with 2^12 values: the ideal point and the point drawn, wherever the ideal radius is within reach."""
    setting = planar.planar_setting(epsilon(1), 1, (0, 2), (0, 2), "1/2")
    machine = Implementation(BINARY64, uniform_generator(2**12))
    closeness = planar.closeness(setting, machine)
    u, v = (z + s) / 2**12, (w + t) / 2**12
    radius = inverse(min(u, 1 - 1e-15), 1.0)
    if radius > float(closeness.reach + 2 * closeness.delta_t):
        return
    drawn_radius = inverse(z / 2**12, 1.0)
    ideal_point = radius * np.exp(2j * math.pi * (v - 0.5))
    drawn_point = drawn_radius * np.exp(2j * math.pi * (w / 2**12 - 0.5))
    assert abs(ideal_point - drawn_point) <= float(closeness.delta_t)


def test_the_formula_is_the_theorem_s_with_the_diagonal():
    setting = planar.planar_setting(epsilon(2), 3, (0, 10), (0, 10), "1/4")
    guarantee = planar.certify_shift(setting, "1/100")
    ratio = 8 * 0.25 * 0.01 / 0.23**2
    assert float(guarantee.robustness) == pytest.approx(ratio)
    assert float(guarantee.epsilon_prime) == pytest.approx(
        2 + math.log1p(ratio * math.exp(2 * (0.25 * math.sqrt(2) + 0.01) / 3))
    )


def small_planar_laws(bits: int, secrets: list[complex], setting: planar.PlanarSetting) -> list[dict[object, int]]:
    """The laws of a machine with 2^bits values for radius and for angle, enumerated: counts of rounded points."""
    count = 2**bits
    radii = np.array([inverse(z / count, 1.0) for z in range(count)])
    angles = np.exp(2j * math.pi * (np.arange(count) / count - 0.5))
    noise = (radii[:, None] * angles[None, :]).ravel()
    step, low, high = float(setting.rounding), float(setting.low[0]), float(setting.high[0])
    laws = []
    for secret in secrets:
        x, y = (np.round(coordinate / step) * step for coordinate in ((noise + secret).real, (noise + secret).imag))
        in_box = (low <= x) & (x <= high) & (low <= y) & (y <= high)
        keys = np.where(in_box, x * 1000 + y, np.inf)
        values, counts = np.unique(keys, return_counts=True)
        laws.append(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    return laws


def test_an_enumerated_planar_machine_is_within_its_certificate():
    setting = planar.planar_setting(epsilon(1), 1, (0, 1), (0, 1), 1)
    guarantee = planar.certify_planar(setting, Implementation(BINARY64, uniform_generator(2**10)))
    secrets = [0, 1, 1j, 0.5, 0.6 + 0.8j, 0.3 + 0.4j, 1 + 1j]
    laws = small_planar_laws(10, secrets, setting)
    worst = max(
        (math.log(count / laws[j].get(key, 1e-300)) for i, a in enumerate(secrets) for j, b in enumerate(secrets)
         if abs(a - b) <= 1 for key, count in laws[i].items()),
    )  # fmt: skip
    assert guarantee.is_finite
    assert 0.5 < worst <= float(guarantee.epsilon_prime)


def test_a_city_of_100_by_100_is_too_wide_and_the_advice_says_how_wide_will_do():
    setting = planar.planar_setting(epsilon(1), 1, (0, 100), (0, 100), "1/64")
    guarantee = planar.certify_planar(setting, DOUBLE)
    assert not guarantee.is_finite
    assert "25.0" in planar_advice(setting, DOUBLE, guarantee)


def test_a_box_may_have_two_sides():
    wide = planar.planar_setting(epsilon(1), 1, (0, 3), (0, 4), "1/2")
    assert float(wide.reach) == pytest.approx(math.hypot(3.25, 4.25))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((epsilon(0), 1, (0, 1), (0, 1), 1), "epsilon must be > 0"),
        ((epsilon(1), 1, (0, 1), (1, 1), 1), "range must be"),
        ((epsilon(1), 1, (0, 1), (0, 1), "-1"), "round must be > 0"),
        ((epsilon(1), "-1", (0, 1), (0, 1), 1), "sensitivity must be > 0"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        planar.planar_setting(*arguments)
