"""The least ε: decided again by exact numbers, by enumeration and by scipy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_releases import AGES
from strategies import inner_alphas, legal_consumers
from utmost.consumer import Consumer, losses, priors
from utmost.data.grid import Grid
from utmost.errors import InputError, UndecidedError
from utmost.exact import alpha, epsilon, exponential
from utmost.mechanisms import geometric
from utmost.mechanisms.geometric import inverse_geometric, tail_probability
from utmost.noise import concentrated, gaussian
from utmost.publish import calibration, calibration_search
from utmost.publish.calibration import calibrate_error, calibrate_loss, privacy_setting
from utmost.publish.calibration_search import exact_decimal, least_epsilon_digits
from utmost.queries import Count, Histogram, Mean, Quantile, Sum
from utmost.queries.answer_mechanisms import lattice
from utmost.queries.answer_mechanisms.ratio import NoisyMean

CONFIDENCES = st.sampled_from(["1/2", "0.9", "0.95", "0.999", "0.000001"])
DIGITS = st.integers(1, 8)


def unit(calibration) -> Fraction:
    """One unit in the last digit."""
    return calibration.epsilon - calibration.below


# --- errors -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 300), CONFIDENCES, st.integers(1, 5), DIGITS)
def test_a_count_s_epsilon_meets_its_target_and_one_unit_less_does_not_exactly(error, confidence, unit_rows, digits):
    calibration = calibrate_error(Count("x"), privacy_setting(kept=unit_rows), error, confidence, digits=digits)

    def meets(rate: Fraction) -> bool:
        return 2 * tail_probability(error + 1, epsilon(rate / unit_rows)) <= 1 - Fraction(confidence)

    assert meets(calibration.epsilon)
    assert not calibration.below or not meets(calibration.below)
    assert len(exact_decimal(calibration.epsilon).replace(".", "").strip("0")) <= digits
    assert unit(calibration) == Fraction(10) ** round(math.log10(unit(calibration)))
    assert calibration.achieved >= float(Fraction(confidence)) > calibration.achieved_below
    assert calibration.digits == digits


def test_the_probability_shown_is_scipy_s():
    from scipy.stats import dlaplace

    calibration = calibrate_error(Count("x"), privacy_setting(), 5, "0.95")
    law = dlaplace(float(calibration.epsilon))
    assert calibration.text == "0.538175"
    assert calibration.achieved == pytest.approx(law.cdf(5) - law.cdf(-6), abs=1e-14)


@given(st.fractions(Fraction(1, 50), 40, max_denominator=50), CONFIDENCES, st.sampled_from(["replace", "add-remove"]))
def test_sums_and_means_in_the_value_s_unit_agree_with_the_error_a_release_tells(error, confidence, relation):
    grid = Grid(Fraction(-1), Fraction(5), Fraction(1, 2))
    for query, setting in (
        (Sum("v", grid, Fraction(0)), privacy_setting(relation)),
        (Sum("v", grid, None, "v < 2"), privacy_setting(relation, 2)),
        (Mean("v", grid, Fraction(0)), privacy_setting("replace", units=40)),
    ):
        if isinstance(query, Mean) and error >= grid.high - grid.low:
            with pytest.raises(InputError, match="error must be below 6, how far apart the bounds are"):
                calibrate_error(query, setting, error, confidence)
            continue
        calibration = calibrate_error(query, setting, error, confidence, digits=4)
        mechanism = query.select_mechanism(calibration.epsilon, setting).mechanism
        assert mechanism.unit * lattice.half_width(epsilon(mechanism.epsilon), 1 - Fraction(confidence)) <= error
        if calibration.below:
            mechanism = query.select_mechanism(calibration.below, setting).mechanism
            assert mechanism.unit * lattice.half_width(epsilon(mechanism.epsilon), 1 - Fraction(confidence)) > error


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(0, 30), CONFIDENCES, st.sampled_from(["replace", "add-remove"]))
def test_all_cells_at_once_have_the_product_of_their_probabilities(cells, error, confidence, relation):
    query, setting = Histogram({"k": tuple(range(cells))}), privacy_setting(relation)
    calibration = calibrate_error(query, setting, error, confidence, together=True, digits=5)

    def joint_confidence(rate: Fraction) -> float:
        step = float(query.select_mechanism(rate, setting).mechanism.epsilon) if rate else 0.0
        return (1 - 2 * math.exp(-step * (error + 1)) / (1 + math.exp(-step))) ** cells

    assert calibration.achieved == pytest.approx(joint_confidence(calibration.epsilon), abs=1e-12)
    assert calibration.achieved_below == pytest.approx(joint_confidence(calibration.below), abs=1e-12)
    assert calibration.achieved >= float(Fraction(confidence)) > calibration.achieved_below
    assert calibrate_error(query, setting, error, confidence, digits=5).epsilon <= calibration.epsilon


@settings(max_examples=30)
@given(st.integers(1, 200), CONFIDENCES, st.sampled_from(["1/2", "1/3", "9/10"]))
def test_a_quantile_s_epsilon_makes_the_bound_promise_its_rank(error, confidence, probability):
    query = Quantile("v", Grid(Fraction(0), Fraction(20), Fraction(1)), Fraction(probability), None)
    calibration = calibrate_error(query, privacy_setting("add-remove"), error, confidence)

    def meets(rate: Fraction) -> bool:
        mechanism = query.select_mechanism(rate, privacy_setting("add-remove")).mechanism
        return mechanism.tail_factor * exponential(
            -mechanism.rate * error * Fraction(probability).denominator
        ) <= 1 - Fraction(confidence)

    assert meets(calibration.epsilon)
    assert not calibration.below or not meets(calibration.below)


# --- means of a secret number of rows ---------------------------------------------------------------------------------


def enumerate_confidence(noisy_mean: NoisyMean, rate: float, mean: int) -> float:
    """Pr[the ratio is off by at most the error], by summing over both noises one by one."""
    steps = [rate * float(mechanism.epsilon) for mechanism in (noisy_mean.law.total, noisy_mean.law.rows)]
    ranges = [range(-math.ceil(42 / step), math.ceil(42 / step) + 1) for step in steps]
    terms = []
    for d in ranges[1]:
        rows = noisy_mean.rows + d
        if rows >= 1:
            inside = (
                t for t in ranges[0] if abs(Fraction(mean * noisy_mean.rows + t, rows) - mean) <= noisy_mean.error
            )
            probability = math.fsum(math.tanh(steps[0] / 2) * math.exp(-steps[0] * abs(t)) for t in inside)
            terms.append(math.tanh(steps[1] / 2) * math.exp(-steps[1] * abs(d)) * probability)
    return math.fsum(terms)


@settings(max_examples=12, deadline=None)
@example(rows=1, error=Fraction(17, 7), rate=2.0)  # with whole numbers at the ends: 17/7 is no double
@given(st.integers(1, 12), st.fractions(Fraction(1, 4), 4, max_denominator=8), st.sampled_from([2.0, 4.0]))
def test_the_confidence_of_a_ratio_is_that_of_enumeration_and_worst_at_the_end_of_the_grid(rows, error, rate):
    query = Mean("v", Grid(Fraction(0), Fraction(3), Fraction(1)), None, "v < 3")
    noisy_mean = NoisyMean(query.select_mechanism(Fraction(1), privacy_setting()).mechanism, 3, rows, error)
    assert noisy_mean.confidence(rate) == pytest.approx(enumerate_confidence(noisy_mean, rate, 3), abs=1e-12)
    assert noisy_mean.confidence(rate) <= enumerate_confidence(noisy_mean, rate, 0) + 1e-12


def test_a_mean_of_a_secret_number_of_rows_is_as_good_as_asked_over_draws():
    """20000 draws at the ε found for 90 %: the share within the error is 0.9 up to 5 standard errors (10^-6)."""
    query = Mean("age", AGES, None, "vote = 1")
    calibration = calibrate_error(query, privacy_setting(), 2, "0.9", rows=200)
    mechanism = query.select_mechanism(calibration.epsilon, privacy_setting()).mechanism
    random = np.random.default_rng(20261115)

    def noise(lattice) -> np.ndarray:
        share = -math.expm1(-float(lattice.epsilon))
        return random.geometric(share, 20_000) - random.geometric(share, 20_000)

    mean = 73  # half steps from the middle, the last of the grid
    ratio = (mean * 200 + noise(mechanism.total)) / (200 + noise(mechanism.rows))
    share = np.mean(np.abs(ratio - mean) * 0.5 <= 2)
    assert abs(share - 0.9) <= 5 * 0.3 / math.sqrt(20_000)
    assert 0.9 <= calibration.achieved < 0.9001
    assert calibration.achieved_below < 0.9


# --- expected losses --------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(legal_consumers(2, 5), st.sampled_from([Fraction(1, 3), Fraction(3, 4), Fraction(99, 100)]), st.integers(1, 3))
def test_the_epsilon_for_an_expected_loss_is_decided_again_by_exact_numbers(consumer, share, sensitivity):
    size = consumer.prior.size - 1
    prior_loss = min(sum(column) for column in consumer.costs().T)
    target = share * prior_loss
    if not target:
        return
    try:
        calibration = calibrate_loss(size, target, consumer.prior, consumer.loss, sensitivity=sensitivity, digits=3)
    except InputError:  # a loss that is 0 off the truth may make less than this impossible at every finite ε
        assert target <= sum(min(row) for row in consumer.costs())
        return
    assert consumer.expected_loss(geometric(size, epsilon(calibration.epsilon / sensitivity))) <= target
    if calibration.below:
        assert consumer.expected_loss(geometric(size, epsilon(calibration.below / sensitivity))) > target
    assert calibration.decided_by == calibration_search.BY_INTERVAL_ARITHMETIC


@given(legal_consumers(2, 6), inner_alphas(), inner_alphas())
def test_more_privacy_never_lowers_anybody_s_loss_since_its_answer_can_be_made_from_the_other_s(
    consumer, first_alpha, second_alpha
):
    size = consumer.prior.size - 1
    precise, blurred = (geometric(size, alpha(a)) for a in sorted((first_alpha, second_alpha)))
    further_noise = inverse_geometric(size, precise.level) @ blurred.channel().rows
    assert (further_noise >= 0).all()
    assert consumer.expected_loss(precise) <= consumer.expected_loss(blurred)


@given(inner_alphas(), inner_alphas(), st.integers(-6, 6))
def test_noise_of_a_larger_alpha_is_noise_of_a_smaller_one_and_further_noise_exactly(first_alpha, second_alpha, k):
    """The identity of generating functions at z = 2^k, where both sides are rational."""
    a, b, z = min(first_alpha, second_alpha), max(first_alpha, second_alpha), Fraction(2) ** k

    def g(c: Fraction) -> Fraction:
        return (1 - c) ** 2 / ((1 - c * z) * (1 - c / z)) if (1 - c * z) * (1 - c / z) else Fraction(0)

    if not g(a) or not g(b):
        return
    rest = (1 - a * b) * (1 - a / b) / ((1 - b * z) * (1 - b / z))
    assert g(b) / g(a) == ((1 - b) / (1 - a)) ** 2 * (a / b + rest)
    assert (1 - a * b) * (1 - a / b) >= 0


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 60),
    st.sampled_from(["uniform", "binomial:0.3", "poisson:4", "zipf:1"]),
    st.sampled_from(["absolute", "squared", "binary", "power:1.5", "asymmetric:2,1"]),
    st.sampled_from(["0.05", "0.7", "3"]),
)
def test_the_bounds_of_doubles_hold_what_balls_find(size, prior, loss, rate):
    count_prior, count_loss = priors.parse(prior, size), losses.parse(loss)
    costs = calibration_search.loss_problem(count_prior, count_loss).costs
    low, high = calibration_search.bound_loss_by_balls(costs, Fraction(rate), 128)
    below, above = calibration_search.bound_loss_by_doubles(count_prior, count_loss, float(Fraction(rate)))
    assert below <= low <= high <= above
    assert above - below <= 1e-6 * above
    assert high - low <= Fraction(1, 2**90) * (1 + high)


@pytest.mark.parametrize("prior", ["poisson:40", "binomial:0.01", "zipf:3"])
def test_cutting_the_tails_of_a_prior_moves_her_loss_by_no_more_than_is_said(prior):
    full_prior, loss = priors.parse(prior, 3001), losses.absolute
    problem = calibration_search.loss_problem(full_prior, loss)
    assert problem.prior.size < 3001 or prior == "zipf:3"
    assert problem.left_out < 1e-20
    for rate in ("0.01", "0.3", "2"):
        low, high = calibration_search.bound_loss_by_doubles(problem.prior, loss, float(rate))
        below, above = calibration_search.bound_loss_by_doubles(full_prior, loss, float(rate))
        assert below - problem.left_out <= high
        assert low <= above + problem.left_out
        assert high - low <= above - below + 1e-15


def test_a_million_counts_with_a_narrow_prior_keep_their_digits():
    calibration = calibrate_loss(10**6, 2, "poisson:40")
    assert calibration.digits == 6
    assert calibrate_loss(2000, 2, "poisson:40").epsilon == calibration.epsilon


@pytest.mark.parametrize("size", [301, 20_000])
def test_large_counts_are_decided_in_doubles_and_say_so(size):
    calibration = calibrate_loss(size, 5, "binomial:0.45")
    assert calibration.decided_by == calibration_search.BY_DOUBLES
    problem = calibration_search.loss_problem(priors.binomial(size + 1, "0.45"), losses.absolute)
    assert problem.value(float(calibration.epsilon)) <= 5 < problem.value(float(calibration.below))
    assert calibration.digits >= 5


def test_a_target_that_the_prior_alone_meets_needs_no_answer():
    calibration = calibrate_loss(4, "1.2")  # the median of 0 … 4 is off by 6/5 on average
    assert (calibration.epsilon, calibration.achieved, calibration.below, calibration.achieved_below) == (
        0,
        1.2,
        None,
        None,
    )
    assert calibrate_loss(4, "1.19").epsilon > 0
    assert calibrate_loss(0, 0).epsilon == 0


def test_where_the_last_digits_cannot_be_decided_fewer_are_given():
    def meets_target(value: Fraction) -> bool | None:
        return None if abs(value - Fraction("0.123456")) < Fraction("0.0001") else value > Fraction("0.123456")

    assert least_epsilon_digits(meets_target, 0.123456, 6) == (Fraction("0.124"), Fraction("0.123"), 3)
    with pytest.raises(UndecidedError):
        least_epsilon_digits(lambda value: None, 0.5, 3)


def test_a_guess_that_is_off_is_put_right():
    turn = Fraction("0.5381741")
    for guess in (0.5381, 0.53817410001, 0.5383):
        assert least_epsilon_digits(lambda value: value >= turn, guess, 6)[:2] == (
            Fraction("0.538175"),
            Fraction("0.538174"),
        )


BAD = [
    (lambda: calibrate_error(Count("x"), privacy_setting(), -1), "error must be >= 0"),
    (lambda: calibrate_error(Count("x"), privacy_setting(), "1e999"), "error must be at most 10.18 steps"),
    (lambda: calibrate_error(Count("x"), privacy_setting(), 5, 1), "confidence must be from"),
    (lambda: calibrate_error(Count("x"), privacy_setting(), 5, 0), "confidence must be from"),
    (lambda: calibrate_error(Count("x"), privacy_setting(), 5, digits=0), "digits must be from 1"),
    (lambda: calibrate_error(Count("x"), privacy_setting(), 5, digits=99), "digits must be from 1"),
    (lambda: calibrate_error(Count("x"), privacy_setting(kept=10**6), 0, "0.999999"), "epsilon up to 1000"),
    (lambda: privacy_setting("swap"), "neighbours must be replace or add-remove"),
    (lambda: privacy_setting(kept=0), "unit must keep from 1"),
    (lambda: calibrate_error(Mean("v", AGES, None, "x"), privacy_setting(), 1), "rows must be given"),
    (lambda: calibrate_error(Mean("v", AGES, None, "x"), privacy_setting(), 1, rows=0), "rows must be from 1"),
    (lambda: calibrate_error(Mean("v", AGES, None, "x"), privacy_setting(), 0, rows=9), "error must be > 0"),
    (lambda: calibrate_error(Mean("v", AGES, None, "x"), privacy_setting(), 70, rows=10**9), "so small that it needs"),
    (
        lambda: calibrate_error(Quantile("v", AGES, Fraction(1, 2), None), privacy_setting(), 0),
        "error must be > 0 for a quantile",
    ),
    (lambda: calibrate_loss(4, -1), "expected-loss must be above 0"),
    (lambda: calibrate_loss(4, 0), "expected-loss must be above 0"),
    (lambda: calibrate_loss(4, 1, "1/2,1/2"), "prior must have 5 weights"),
    (lambda: calibrate_loss(4, 1, priors.uniform(3)), "prior must have 5 weights"),
    (lambda: calibrate_loss(4, 1, "uniform", losses.matrix([[0, 1], [1, 0]])), "loss must be a matrix of 5 rows"),
    (lambda: calibrate_loss(-1, 1), "size must be from 0"),
    (lambda: calibrate_loss(10**9, 1), "size must be from 0"),
    (lambda: calibrate_loss(4, 1, sensitivity=0), "sensitivity must be at least 1"),
    (lambda: calibrate_loss(4, "1e-2000"), "epsilon up to 1000"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=message) as problem:
        call()
    assert "\n" not in str(problem.value)


def test_a_consumer_with_float_weights_is_served_in_doubles():
    calibration = calibrate_loss(2, "0.3", priors.explicit([0.25, 0.25, 0.5]), "binary", digits=4)
    exact_calibration = calibrate_loss(2, "0.3", "1/4,1/4,1/2", "binary", digits=4)
    assert (calibration.epsilon, calibration.decided_by, exact_calibration.decided_by) == (
        exact_calibration.epsilon,
        calibration_search.BY_DOUBLES,
        calibration_search.BY_INTERVAL_ARITHMETIC,
    )
    reader = Consumer(priors.explicit(["1/4", "1/4", "1/2"]), losses.binary)
    assert reader.expected_loss(geometric(2, epsilon(calibration.epsilon))) <= Fraction("0.3")


def test_the_least_rho_of_gaussian_noise_meets_the_target_and_the_next_one_does_not() -> None:
    for query, setting, squared in (
        (Count("some"), calibration.privacy_setting(), 1),
        (Count("some"), calibration.privacy_setting(kept=3), 9),
        (Histogram({"c": (1, 2)}), calibration.privacy_setting(), 2),
        (Histogram({"c": (1, 2)}), calibration.privacy_setting("add-remove", 3), 9),
    ):
        result = calibration.calibrate_error(query, setting, 30, noise="gaussian", delta="1e-6")
        assert (result.measure, result.told_delta) == ("ρ", Fraction("1e-6"))
        assert result.below is not None
        for rho, is_met in ((result.epsilon, True), (result.below, False)):
            assert (gaussian.half_width(squared / (2 * rho), Fraction(1, 20)) <= 30) is is_met
        assert result.told_epsilon == concentrated.epsilon_of_rho(result.epsilon, Fraction("1e-6"))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"noise": "gauss"}, 'noise must be geometric, gaussian or canonical, got "gauss"'),
        ({"delta": "1e-6"}, "delta must be left out with geometric noise"),
        ({"noise": "gaussian", "delta": 1}, "delta must be > 0 and below 1"),
    ],
)
def test_noise_that_cannot_be_calibrated_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        calibration.calibrate_error(Count("some"), calibration.privacy_setting(), 30, **options)
