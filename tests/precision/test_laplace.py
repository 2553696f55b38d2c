"""ε′ of Laplace noise: held against enumerated machines, quantiles and the closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from utmost.channel import channel
from utmost.errors import InputError
from utmost.exact import alpha, decimal_above, epsilon
from utmost.precision import (
    BINARY16,
    BINARY32,
    BINARY64,
    fixed_point_format,
    implementation,
    laplace,
    uniform_generator,
)
from utmost.precision.enumeration import (
    exact_epsilon,
    ideal_noise,
    noise_table,
    printed_bound_violation,
    result_law,
    wasserstein,
)
from utmost.precision.guarantee import (
    BALL_BITS,
    Implementation,
    closeness_counterexample,
    fixed_point,
    is_close,
    rational_ball,
    round_up,
)
from utmost.precision.number_formats import GENERATOR_KINDS
from utmost.precision.remedies import epsilon_text, extra_epsilon_text, laplace_advice

DOUBLE = implementation(BINARY64)
MACHINES = [
    Implementation(fixed_point_format(8), uniform_generator(2**8)),
    Implementation(fixed_point_format(9), uniform_generator(2**9, "centred")),
    Implementation(fixed_point_format(12), uniform_generator(700, "closed")),
    Implementation(BINARY16, uniform_generator(2**9)),
]


def law_channel(laws):
    """The laws as a channel, results in order."""
    results = sorted({r for law in laws.values() for r in law}, key=lambda r: (isinstance(r, str), r))
    rows = [[law.get(result, Fraction(0)) for result in results] for law in laws.values()]
    return channel(rows, [str(secret) for secret in laws], [str(result) for result in results])


def laplace_mass(beta: float, low: float, high: float) -> float:
    def below(x: float) -> float:
        return math.exp(beta * x) / 2 if x < 0 else 1 - math.exp(-beta * x) / 2

    return below(high) - below(low)


@given(
    st.sampled_from(MACHINES),
    st.sampled_from(["1/4", "1/2", "1", "2", "3"]),
    st.sampled_from(["1/4", "1/2", "1"]),
    st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(1, 2)]),
    st.booleans(),
)
@settings(max_examples=25)
def test_the_exact_epsilon_of_an_enumerated_machine_is_never_above_the_certificate(
    machine, eps, step, width, clamp_to_ends
):
    setting = laplace.laplace_setting(epsilon(eps), width, 0, 1, step)
    guarantee = laplace.certify_laplace(setting, machine)
    assume(guarantee.is_finite)
    exact = exact_epsilon(setting, machine, [Fraction(k, 8) for k in range(9)], clamp_to_ends)
    assert exact.is_at_most(guarantee.epsilon_prime)
    assert guarantee.epsilon_prime == min(guarantee.theorem, guarantee.sharp)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: f"{machine.format.name}-{machine.generator.count}")
@pytest.mark.parametrize("eps", ["1/4", "1", "2"])
def test_w_infinity_from_quantiles_is_within_delta_t(machine, eps):
    setting = laplace.laplace_setting(epsilon(eps), 1, 0, 1, "1/4")
    closeness = laplace.closeness(setting, machine)
    if closeness is not None:
        assert wasserstein(setting, machine) <= closeness.delta_t
        assert (
            closeness.delta_t <= 4 * wasserstein(setting, machine) + 8 * machine.delta0 * closeness.k
        )  # and not absurdly above


def test_epsilon_itself_would_be_too_small_a_promise():
    """2^8 values in fixed point, ε = 1/4: the machine really has ln(3/2) ≈ 0.405, within its ε′ of 1.42."""
    setting, implementation = laplace.laplace_setting(epsilon("1/4"), 1, 0, 1, "1/4"), MACHINES[0]
    exact = exact_epsilon(setting, implementation, [Fraction(k, 16) for k in range(17)])
    assert exact.ratio == Fraction(3, 2)
    assert exact.epsilon > 0.25
    assert exact.is_at_most(laplace.certify_laplace(setting, implementation).sharp)


def test_a_machine_too_coarse_for_any_promise_does_leak_without_bound():
    setting = laplace.laplace_setting(epsilon("1/4"), 1, 0, 1, "1/4")
    implementation = Implementation(fixed_point_format(5), uniform_generator(32))
    assert not laplace.certify_laplace(setting, implementation).is_finite
    assert exact_epsilon(setting, implementation, [Fraction(k, 8) for k in range(9)]).ratio is None


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: f"{machine.format.name}-{machine.generator.count}")
def test_the_machine_is_close_as_certified_at_every_value(machine):
    """|n(u) − n′(n₀(u))| ≤ δ_t at both ends of every value's interval, wherever |n(u)| ≤ D + 2δ_t."""
    setting = laplace.laplace_setting(epsilon(1), 1, 0, 1, "1/4")
    closeness, table = laplace.closeness(setting, machine), noise_table(epsilon(1), Fraction(1), machine)
    assert closeness is not None
    edge, check_count = closeness.reach + 2 * closeness.delta_t, 0
    for z, noise in enumerate(table):
        for u in (Fraction(z, len(table)), Fraction(z + 1, len(table))):
            if 0 < u < 1 and round_up(abs(ideal_noise(epsilon(1), Fraction(1), u))) <= edge:
                assert (
                    round_up(abs(ideal_noise(epsilon(1), Fraction(1), u) - rational_ball(Fraction(noise))))
                    <= closeness.delta_t
                )
                check_count += 1
    assert check_count > len(table) / 2


@given(st.integers(7, 20))
@settings(max_examples=6)
def test_the_theorem_as_printed_is_broken_and_as_proved_is_not(eps):
    violation = printed_bound_violation(eps)
    assert violation.is_violated
    with ctx.workprec(BALL_BITS):
        from utmost.exact import ball

        assert ball(violation.actual, BALL_BITS).log() <= rational_ball(violation.certified)


@pytest.mark.parametrize("eps", ["1/4", "1/2", "1"])
def test_for_epsilon_up_to_1_the_printed_theorem_is_not_broken(eps):
    assert not printed_bound_violation(eps).is_violated


@given(st.floats(0.05, 8), st.floats(0.01, 4), st.floats(0.001, 0.49), st.floats(-6, 6))
@settings(max_examples=200)
def test_no_cell_beats_the_sharp_bound(eps, step, share, start):
    """μ[a−δ, a+L+δ] ≤ quotient·μ[a+δ, a+L−δ] for Laplace noise of rate ε, cells anywhere, 0 inside or not."""
    shift = share * step
    setting = laplace.laplace_setting(epsilon(Fraction(eps)), 1, 0, Fraction(step), Fraction(step))
    bound = laplace.sharp_bound(setting, Fraction(shift)) - Fraction(eps)
    outer = laplace_mass(eps, start - shift, start + step + shift)
    inner = laplace_mass(eps, start + shift, start + step - shift)
    assume(inner > 1e-9)
    assert math.log(outer / inner) <= float(bound) + 1e-6
    assert bound <= laplace.certify_shift(setting, Fraction(shift)).theorem - Fraction(eps)


def test_the_formula_is_the_one_of_the_theorem_with_epsilon_in_the_exponent():
    setting = laplace.laplace_setting(epsilon(2), 3, 0, 10, "1/4")
    guarantee = laplace.certify_shift(setting, "1/100")
    ratio = 4 * 0.01 / (0.25 - 0.02)
    assert float(guarantee.robustness) == pytest.approx(ratio)
    assert float(guarantee.theorem) == pytest.approx(2 + math.log1p(ratio * math.exp(2 * 0.26 / 3)))
    assert guarantee.sharp < guarantee.theorem
    assert guarantee.epsilon_prime == guarantee.sharp


def test_delta_t_is_the_paper_s_formula_to_first_order():
    setting = laplace.laplace_setting(epsilon(1), 2, 0, 10, "1/1024")
    closeness = laplace.closeness(setting, DOUBLE)
    k = 2 * 2 * math.exp(float(setting.reach) / 2)
    assert float(closeness.k) == pytest.approx(k, rel=1e-6)
    assert float(closeness.delta_t) == pytest.approx(k * 2**-53 + float(closeness.delta_n), rel=1e-6)
    assert float(laplace.inverse_slope(setting)) == pytest.approx(k, rel=1e-9)


def test_epsilon_prime_tends_to_epsilon_on_a_better_machine():
    setting = laplace.laplace_setting(epsilon(1), 1, 0, 4, "1/16")
    prices = [laplace.certify_laplace(setting, implementation(f)).price for f in (BINARY16, BINARY32, BINARY64)]
    assert prices[0] is None or prices[0] > prices[1]
    assert prices[1] > prices[2]
    assert prices[2] < Fraction(1, 10**10)


def test_range_100_at_epsilon_1_has_no_finite_epsilon_prime_and_the_advice_says_what_has():
    setting = laplace.laplace_setting(epsilon(1), 1, 0, 100, "1/1024")
    guarantee = laplace.certify_laplace(setting, DOUBLE)
    assert not guarantee.is_finite
    assert guarantee.closeness is None
    width = laplace.widest_range(setting, DOUBLE)
    assert Fraction(28) < width < Fraction(29)
    assert laplace.certify_laplace(laplace.laplace_setting(epsilon(1), 1, 0, width, "1/1024"), DOUBLE).is_finite
    assert not laplace.certify_laplace(
        laplace.laplace_setting(epsilon(1), 1, 0, width + Fraction(1, 1024), "1/1024"), DOUBLE
    ).is_finite
    advice = laplace_advice(setting, DOUBLE, guarantee)
    assert "28.4" in advice
    assert "2^53" in advice


def test_past_the_reach_of_the_generator_the_laws_do_have_results_of_one_secret_only():
    """The same by enumeration: 2^8 values, ε = 1, range 8 (e^8 > 2^8)."""
    setting = laplace.laplace_setting(epsilon(1), 1, 0, 8, 1)
    machine = Implementation(fixed_point_format(12), uniform_generator(2**8))
    assert not laplace.certify_laplace(setting, machine).is_finite
    assert exact_epsilon(setting, machine, [Fraction(k) for k in range(9)]).ratio is None
    assert exact_epsilon(setting, machine, [Fraction(k) for k in range(9)], clamp_to_ends=True).ratio is None


@given(st.sampled_from(["1/2", "1", "11/10", "3"]), st.integers(1, 20))
@settings(max_examples=10)
def test_a_plan_keeps_its_promise(epsilon_prime, width):
    try:
        setting, guarantee = laplace.plan_setting(epsilon_prime, 1, 0, width, DOUBLE)
    except InputError as refusal:
        assert "will do" in str(refusal)  # noqa: PT017
        return
    assert guarantee.epsilon_prime <= Fraction(epsilon_prime)
    assert setting.level.exponent < Fraction(epsilon_prime)
    finer = laplace.certify_laplace(laplace.laplace_setting(setting.level, 1, 0, width, setting.rounding / 2), DOUBLE)
    assert not laplace.promises_target(finer, Fraction(epsilon_prime)) or setting.rounding < Fraction(1, 2**30)


def test_an_impossible_plan_names_a_range_that_will_do():
    with pytest.raises(InputError, match=r"range must be narrower .* got 1000: [0-9.]+ will do") as refusal:
        laplace.plan_setting(1, 1, 0, 1000, DOUBLE)
    width = Fraction(str(refusal.value).partition("got 1000: ")[2].split()[0])
    assert width >= 26
    laplace.plan_setting(1, 1, 0, width, DOUBLE)
    with pytest.raises(InputError, match="will do"):
        laplace.plan_setting(1, 1, 0, width + Fraction(1, 10), DOUBLE)


def test_a_plan_is_for_the_range_asked_wherever_it_lies():
    """3 to 10 and 0 to 7 are as wide, so the same rounding serves both."""
    steps = {laplace.plan_setting(1, 1, low, low + 7, DOUBLE)[0].rounding for low in (0, 3)}
    assert len(steps) == 1


@pytest.mark.parametrize(("step", "text"), [("64", "too coarse"), ("1e-9", "too fine")])
def test_the_advice_says_on_which_side_the_rounding_is_wrong(step, text):
    setting = laplace.laplace_setting(epsilon(1), 1, 0, 10, step)
    advice = laplace_advice(setting, DOUBLE, laplace.certify_laplace(setting, DOUBLE), (Fraction(0), Fraction(10)))
    assert text in advice
    assert "multiples of 1 it would be ε′ = 1 + 3.5e-11" in advice


@given(st.fractions(Fraction(1, 10**6), 10**6), st.integers(2, 12))
def test_a_bound_in_decimals_is_never_below_itself(value, digits):
    assert value <= Fraction(decimal_above(value, digits)) <= value * (1 + Fraction(10, 10**digits))


@given(st.fractions(Fraction(1, 10), 8), st.fractions(0, 1))
def test_a_promise_as_text_is_never_below_itself(eps, price):
    text = epsilon_text(epsilon(eps), eps + price / 10**4)
    assert sum(map(Fraction, text.split(" + "))) >= eps + price / 10**4


def test_what_irrational_levels_cost_is_not_rounded_down():
    level, bound = alpha("1/2"), Fraction(7, 10)
    with ctx.workprec(BALL_BITS):
        assert rational_ball(extra_epsilon_text(level, bound)) >= rational_ball(bound) - arb(2).log()


def test_levels_may_be_given_by_alpha():
    by_alpha = laplace.certify_laplace(laplace.laplace_setting(alpha("1/2"), 1, 0, 5, "1/64"), DOUBLE)
    assert math.log(2) < float(by_alpha.epsilon_prime) < math.log(2) + 1e-9


def test_the_law_is_a_law_and_an_exact_channel():
    setting, machine = laplace.laplace_setting(epsilon(1), 1, 0, 1, "1/4"), MACHINES[0]
    laws = {s: result_law(setting, machine, s) for s in (Fraction(0), Fraction(1))}
    laws_as_rows = law_channel(laws)
    assert laws_as_rows.exact
    assert laws_as_rows.outputs[-1] == "∞"
    assert all(sum(laws_as_rows.rows[k]) == 1 for k in range(2))


def test_the_emulated_machine_is_numpy_s_half_precision():
    """n′ in binary16 beside numpy's float16, which rounds each operation; its log is within one unit."""
    implementation = Implementation(BINARY16, uniform_generator(2**9))
    table = noise_table(epsilon(1), Fraction(1), implementation)
    u = np.arange(1, 2**9) / np.float64(2**9)
    tail = np.float16(1) - np.float16(2) * np.abs(u.astype(np.float16) - np.float16(0.5))
    theirs = -np.log(tail.astype(np.float64)).astype(np.float16) * np.sign(u - 0.5).astype(np.float16)
    ours = np.array([float(noise) for noise in table[1:]])
    assert np.array_equal(ours, theirs.astype(np.float64))


@given(st.lists(st.fractions(0, 1), min_size=2, max_size=8), st.fractions(0, 4), st.fractions(0, 1))
def test_thm_41_and_42_on_affine_functions(points, k, delta):
    assert is_close(lambda u: k * u, lambda u: k * u + delta, points, k, delta)
    pair = closeness_counterexample(lambda u: (k + 1) * u, points, k, delta)
    spread = max(points) - min(points)
    assert (pair is not None) == (spread > 2 * delta)


@given(st.fractions(0, 2, max_denominator=50), st.fractions(0, Fraction(9, 10), max_denominator=50))
def test_a_fix_point_found_is_one(start, slope):
    point = fixed_point(lambda d: start + slope * d)
    assert point is not None
    assert start + slope * point <= point <= start / (1 - slope) * Fraction(51, 50)


@given(st.fractions(-10, 10), st.integers(4, 80))
def test_a_number_rounded_up_is_never_below_itself(value, bits):
    assert value <= round_up(value, bits) <= value + abs(value) * Fraction(2) ** (1 - bits)
    with ctx.workprec(100):
        assert round_up(arb(1) / 3, bits) >= Fraction(1, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((alpha(1), 1, 0, 1, 1), "epsilon must be > 0"),
        ((alpha(0), 1, 0, 1, 1), "epsilon must be > 0"),
        ((epsilon(1), 0, 0, 1, 1), "sensitivity must be > 0"),
        ((epsilon(1), 1, 1, 1, 1), "range must be"),
        ((epsilon(1), 1, 0, 1, 0), "round must be > 0"),
        ((epsilon(1), 1, 0, 1, "1e-20"), "cells"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        laplace.laplace_setting(*arguments)


def test_a_range_beyond_the_format_is_refused():
    with pytest.raises(InputError, match="largest number of binary16"):
        laplace.certify_laplace(laplace.laplace_setting(epsilon(1), 1000, 0, 70000, 1), implementation(BINARY16))


def test_kinds_are_all_used():
    assert {"open", "centred", "closed"} == set(GENERATOR_KINDS)


@pytest.mark.parametrize(("digits", "size", "rate"), [(8, 128, "1/64"), (10, 512, "1/64"), (11, 1024, "1/16")])
def test_a_correctly_rounded_logarithm_is_still_half_a_step_off(digits, size, rate):
    """The shift claimed bounds the shift that is, with `ulps` 0 too."""
    setting = laplace.laplace_setting(epsilon(rate), 1, 0, 4, 4)
    implementation = Implementation(fixed_point_format(digits), uniform_generator(size, "centred"), 0)
    guarantee = laplace.certify_laplace(setting, implementation)
    assert guarantee.closeness is not None
    assert wasserstein(setting, implementation) <= guarantee.closeness.delta_t
