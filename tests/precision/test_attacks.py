"""Mironov's attack: sound support tests, leaks found where they are, nothing where they are not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import alpha
from utmost.precision import run_attack, uniform_generator
from utmost.precision.attacks import (
    SUPPORT_TESTS,
    is_fine_quantile,
    is_informative,
    is_lattice_point,
    is_quantile,
    is_sum,
    largest_ratio,
    last_digits,
    lattice_laplace,
    load_sampler,
    polar_laplace,
    rounded_quantile_law,
    scaled_law,
    textbook_laplace,
)

DOUBLES = st.floats(-50, 50)


@given(DOUBLES, DOUBLES)
def test_a_sum_that_was_made_is_never_called_impossible(secret, noise):
    assert is_sum(secret + noise, secret, 1.0)


@given(DOUBLES, st.integers(1, 2**52), st.sampled_from([0.3, 1.0, 7.0]), st.booleans())
@settings(max_examples=150)
def test_a_quantile_that_was_drawn_is_never_called_impossible(secret, j, scale, sign):
    noise = -scale * math.log(j * 2.0**-52)
    result = secret + (noise if sign else -noise)
    assert is_quantile(result, secret, scale)
    assert is_fine_quantile(result, secret, scale)
    assert is_sum(result, secret, scale)


def test_the_impossible_is_impossible_by_brute_force():
    """0.1 is no sum 1 + x: the doubles around −0.9 give 0.09999999999999998 and 0.10000000000000009."""
    assert not is_sum(0.1, 1.0, 1.0)
    x = -0.9
    for _ in range(50):
        assert 1.0 + x != 0.1
        x = math.nextafter(x, -1)


def test_the_textbook_sampler_gives_most_secrets_away():
    """The share of results that give the secret away is about 0.8; fewer than 0.6 of 800 has a chance below 1e-30."""
    attack = run_attack(textbook_laplace, draws=400)
    assert attack.support_test == "quantiles"
    assert sum(attack.certain_counts) > 480
    assert attack.identifies_a_secret
    assert attack.success_probability > Fraction(3, 4)
    assert any(example.identifies_secret for example in attack.examples)
    assert 0 < attack.identified_share(-1.0, 2.0) <= 1


def test_numpy_s_laplace_leaks_too():
    rng = np.random.default_rng(1)
    attack = run_attack(rng.laplace, draws=300)
    assert attack.support_test == "fine quantiles"
    assert sum(attack.certain_counts) > 200
    assert attack.identifies_a_secret


def test_a_sampler_nobody_knows_is_attacked_by_its_sums():
    rng = np.random.default_rng(2)
    attack = run_attack(lambda secret, scale, count: secret + scale * rng.standard_normal(count), draws=300)
    assert attack.support_test == "sums"
    assert attack.certain_counts[0] > 50


@pytest.mark.parametrize(
    ("secrets", "support_tests"),
    [((0.0, 1.0), SUPPORT_TESTS), ((0.25, -3.5), SUPPORT_TESTS), ((1000.0, 1001.0), {"sums": SUPPORT_TESTS["sums"]})],
)
def test_the_attack_finds_nothing_in_utmost_s_draws(secrets, support_tests):
    """Far from 0 only `sums` is asked: there the quantiles are so dense that hundreds of lattice points can fit them
    by chance; the next test is about that."""
    attack = run_attack(lattice_laplace, secrets, 2.0, 400, support_tests)
    assert not attack.identifies_a_secret
    assert attack.success_probability == Fraction(1, 2)


def rounded_laplace(secret, scale, count):
    """Laplace noise in fractions, the sum rounded once: every double near by is possible, as in a sound sampler."""
    rng = np.random.default_rng()
    noise = rng.laplace(0.0, scale, count)
    finer = rng.integers(-(2**20), 2**20, count)
    return [
        float(Fraction(secret) + Fraction(float(x)) * (1 + Fraction(int(k), 2**70)) + Fraction(int(k), 2**90))
        for x, k in zip(noise, finer, strict=True)
    ]


@pytest.mark.parametrize("secrets", [(0.0, 1.0), (1000.0, 1001.0), (0.0, 1000.0)])
@pytest.mark.parametrize("draws", [1, 10, 99, 150])
def test_a_sampler_that_fits_no_support_test_is_not_called_infinite_by_chance(secrets, draws):
    for _ in range(5):
        assert not run_attack(rounded_laplace, secrets, draws=draws).identifies_a_secret


@pytest.mark.parametrize("name", SUPPORT_TESTS)
def test_a_support_test_that_few_draws_did_not_contradict_is_not_believed(name):
    assert run_attack(textbook_laplace, draws=99, support_tests={name: SUPPORT_TESTS[name]}).support_test is None


def test_a_support_test_that_accepts_nearly_everything_is_not_believed():
    """At 1000 the quantiles of textbook noise fill all doubles: that they fit is no evidence, even of textbook."""
    attack = run_attack(textbook_laplace, (1000.0, 1001.0), 1.0, 300)
    assert attack.support_test is None
    assert not is_informative(lambda y, secret, scale: True, (0.0, 1.0), 1.0, [[0.1 * k for k in range(500)]] * 2)


def test_the_same_result_again_is_no_new_evidence():
    assert not is_informative(lambda y, secret, scale: y == 0.5, (0.0, 1.0), 1.0, [[0.5] * 500] * 2)
    assert is_informative(lambda y, secret, scale: False, (0.0, 1.0), 1.0, [[0.1 * k for k in range(100)]] * 2)


def test_the_assumption_is_stated():
    assert run_attack(textbook_laplace, draws=200).assumption == "noise ±b·ln v with v a multiple of 2^-52"
    assert run_attack(textbook_laplace, draws=5).assumption is None


def test_what_is_known_of_utmost_s_draws_leaves_no_result_to_one_secret_even_where_they_are_far_apart():
    attack = run_attack(lattice_laplace, (0.0, 1e6), 0.5, 50, {"lattice": is_lattice_point})
    assert attack.support_test == "lattice"
    assert attack.certain_counts == (0, 0)


def test_the_lattice_draws_have_the_scale_asked_for():
    """The mean of |noise| is scale; with 4000 draws its error has σ = 0.016, and 6σ is a false alarm of 2e-9."""
    noise = np.abs(lattice_laplace(0.0, 1.0, 4000))
    assert abs(noise.mean() - 1) < 0.1


def test_without_a_fitting_support_test_nothing_is_found():
    attack = run_attack(lambda secret, scale, count: [0.1] * count, (1.0, 0.3), 1.0, 20)
    assert attack.support_test is None
    assert not attack.identifies_a_secret


def test_support_tests_are_tried_from_the_sharpest():
    assert list(SUPPORT_TESTS) == ["quantiles", "fine quantiles", "sums"]


def test_samplers_are_loaded_by_name_and_their_failures_are_one_line():
    assert len(load_sampler("numpy.random:laplace")(0.0, 1.0, 5)) == 5
    for name in ("nowhere:f", "math:nothing", "math", ":f", "math:pi"):
        with pytest.raises(InputError, match="sampler must be"):
            load_sampler(name)
    with pytest.raises(InputError, match="raised TypeError"):
        load_sampler("math:sqrt")(0.0, 1.0, 5)


@pytest.mark.parametrize(
    "change", [{"scale": 0.0}, {"scale": math.nan}, {"secrets": (1.0, 1.0)}, {"secrets": (0.0, math.inf)}, {"draws": 0}]
)
def test_bad_attacks_are_refused(change):
    with pytest.raises(InputError, match="must be"):
        run_attack(textbook_laplace, **change)
    with pytest.raises(InputError, match="as many finite numbers"):
        run_attack(lambda secret, scale, count: [], draws=3)


@given(st.integers(1, 3), st.integers(0, 5), st.integers(0, 63))
@settings(max_examples=12)
def test_example_11_keeps_the_last_digits_of_every_secret(doublings, k, h):
    secret = Fraction(2**doublings * k + h, 2**6)
    digits = last_digits(secret, 6, doublings)
    law = scaled_law(secret, 6, doublings)
    assert {last_digits(Fraction(result), 6, doublings) for result in law} == {digits}
    assert sum(law.values()) == 1


@given(st.sampled_from([16, 32, 64, 100, 1000]), st.sampled_from(["closed", "centred"]))
@settings(max_examples=10)
def test_example_41_makes_a_ratio_of_2_where_4_3_was_meant(count, kind):
    laws = [rounded_quantile_law(alpha("3/4"), uniform_generator(count, kind), r, 30) for r in (0, 1)]
    ratio, single_support = largest_ratio(*laws)
    assert ratio >= 2
    assert single_support
    assert all(sum(law.values()) == 1 for law in laws)


def test_the_stepped_law_is_the_count_of_values():
    law = rounded_quantile_law(alpha("3/4"), uniform_generator(101, "centred"), 0, 6)
    counts = dict.fromkeys(law, 0)
    for z in range(101):
        u = (z + 0.5) / 101
        noise = -math.copysign(math.log(1 - 2 * abs(u - 0.5)) / math.log(4 / 3), u - 0.5) if u != 0.5 else 0.0
        value = Fraction(round(noise))
        counts[value if abs(value) <= 6 else "∞"] += 1
    assert law == {value: Fraction(n, 101) for value, n in counts.items()}


def test_polar_noise_has_the_radius_and_the_angle_meant():
    """Radius: mean 2/ε, σ = √2/ε. Angle: mean direction 0. 3000 draws, 6σ: false alarm 2e-9 each."""
    points = polar_laplace(0.5, 3000)
    radius = np.hypot(points[:, 0], points[:, 1])
    assert abs(radius.mean() - 4) < 6 * math.sqrt(8) / math.sqrt(3000)
    assert np.abs((points / radius[:, None]).mean(axis=0)).max() < 6 * math.sqrt(0.5 / 3000)


def test_a_sampler_that_ends_the_program_or_never_ends_is_refused(tmp_path, monkeypatch):
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(5)\n")
    body = "import itertools, sys\ndef leave(*a): sys.exit(0)\ndef endless(*a): return itertools.repeat(1.0)\n"
    (tmp_path / "odd_sampler.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="MODULE:FUNCTION"):
        load_sampler("leaving:anything")
    with pytest.raises(InputError, match="SystemExit"):
        load_sampler("odd_sampler:leave")(0.0, 1.0, 5)
    with pytest.raises(InputError, match="as many finite numbers"):
        run_attack(load_sampler("odd_sampler:endless"), draws=5)
