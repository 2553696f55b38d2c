"""The least ε: decided again by exact numbers, by enumeration and by scipy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_releases import AGES
from strategies import inner_alphas, legal_consumers
from utmost.consumer import Consumer, losses, priors
from utmost.data.queries import Count, Grid, Histogram, Mean, Quantile, Sum
from utmost.errors import InputError, UndecidedError
from utmost.exact import alpha, epsilon, exponential
from utmost.mechanisms import geometric
from utmost.mechanisms.geometric import inverse_geometric, tail_probability
from utmost.publish import accuracy, certified_loss, mechanism_selection
from utmost.publish.calibration import NoisyMean, calibrate_error, calibrate_loss, privacy_setting
from utmost.publish.epsilon_search import exact_decimal, least_epsilon_digits

SHARES = st.sampled_from(["1/2", "0.9", "0.95", "0.999", "0.000001"])
DIGITS = st.integers(1, 8)


def unit(found) -> Fraction:
    """One unit in the last digit."""
    return found.epsilon - found.below


# --- errors -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 300), SHARES, st.integers(1, 5), DIGITS)
def test_a_count_s_epsilon_meets_its_target_and_one_unit_less_does_not_exactly(error, share, kept, digits):
    found = calibrate_error(Count("x"), privacy_setting(kept=kept), error, share, digits=digits)

    def meets(rate: Fraction) -> bool:
        return 2 * tail_probability(error + 1, epsilon(rate / kept)) <= 1 - Fraction(share)

    assert meets(found.epsilon)
    assert not found.below or not meets(found.below)
    assert len(exact_decimal(found.epsilon).replace(".", "").strip("0")) <= digits
    assert unit(found) == Fraction(10) ** round(math.log10(unit(found)))
    assert found.reached >= float(Fraction(share)) > found.missed
    assert found.digits == digits


def test_the_probability_shown_is_scipy_s():
    from scipy.stats import dlaplace

    found = calibrate_error(Count("x"), privacy_setting(), 5, "0.95")
    law = dlaplace(float(found.epsilon))
    assert found.text == "0.538175"
    assert found.reached == pytest.approx(law.cdf(5) - law.cdf(-6), abs=1e-14)


@given(st.fractions(Fraction(1, 50), 40, max_denominator=50), SHARES, st.sampled_from(["replace", "add-remove"]))
def test_sums_and_means_in_the_value_s_unit_agree_with_the_error_a_release_tells(error, share, relation):
    grid = Grid(Fraction(-1), Fraction(5), Fraction(1, 2))
    for query, given_ in (
        (Sum("v", grid, Fraction(0)), privacy_setting(relation)),
        (Sum("v", grid, None, "v < 2"), privacy_setting(relation, 2)),
        (Mean("v", grid, Fraction(0)), privacy_setting("replace", units=40)),
    ):
        if isinstance(query, Mean) and error >= grid.high - grid.low:
            with pytest.raises(InputError, match="error must be below 6, how far apart the bounds are"):
                calibrate_error(query, given_, error, share)
            continue
        found = calibrate_error(query, given_, error, share, digits=4)
        law = mechanism_selection.select_mechanism(query, found.epsilon, given_).mechanism
        assert law.unit * accuracy.half_width(epsilon(law.epsilon), 1 - Fraction(share)) <= error
        if found.below:
            law = mechanism_selection.select_mechanism(query, found.below, given_).mechanism
            assert law.unit * accuracy.half_width(epsilon(law.epsilon), 1 - Fraction(share)) > error


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(0, 30), SHARES, st.sampled_from(["replace", "add-remove"]))
def test_all_cells_at_once_have_the_product_of_their_probabilities(cells, error, share, relation):
    query, given_ = Histogram({"k": tuple(range(cells))}), privacy_setting(relation)
    found = calibrate_error(query, given_, error, share, together=True, digits=5)

    def both(rate: Fraction) -> float:
        step = float(mechanism_selection.select_mechanism(query, rate, given_).mechanism.epsilon) if rate else 0.0
        return (1 - 2 * math.exp(-step * (error + 1)) / (1 + math.exp(-step))) ** cells

    assert found.reached == pytest.approx(both(found.epsilon), abs=1e-12)
    assert found.missed == pytest.approx(both(found.below), abs=1e-12)
    assert found.reached >= float(Fraction(share)) > found.missed
    assert calibrate_error(query, given_, error, share, digits=5).epsilon <= found.epsilon


@settings(max_examples=30)
@given(st.integers(1, 200), SHARES, st.sampled_from(["1/2", "1/3", "9/10"]))
def test_a_quantile_s_epsilon_makes_the_bound_promise_its_rank(error, share, probability):
    query = Quantile("v", Grid(Fraction(0), Fraction(20), Fraction(1)), Fraction(probability), None)
    found = calibrate_error(query, privacy_setting("add-remove"), error, share)

    def promised(rate: Fraction) -> bool:
        law = mechanism_selection.select_mechanism(query, rate, privacy_setting("add-remove")).mechanism
        return law.candidates * exponential(-law.rate * error * Fraction(probability).denominator) <= 1 - Fraction(
            share
        )

    assert promised(found.epsilon)
    assert not found.below or not promised(found.below)


# --- means of a secret number of rows ---------------------------------------------------------------------------------


def enumerated(mixed: NoisyMean, rate: float, mean: int) -> float:
    """Pr[the ratio is off by at most the error], by summing over both noises one by one."""
    steps = [rate * float(law.epsilon) for law in (mixed.law.total, mixed.law.rows)]
    ranges = [range(-math.ceil(42 / step), math.ceil(42 / step) + 1) for step in steps]
    found = []
    for d in ranges[1]:
        rows = mixed.rows + d
        if rows >= 1:
            inside = (t for t in ranges[0] if abs(Fraction(mean * mixed.rows + t, rows) - mean) <= mixed.error)
            chance = math.fsum(math.tanh(steps[0] / 2) * math.exp(-steps[0] * abs(t)) for t in inside)
            found.append(math.tanh(steps[1] / 2) * math.exp(-steps[1] * abs(d)) * chance)
    return math.fsum(found)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 12), st.fractions(Fraction(1, 4), 4, max_denominator=8), st.sampled_from([2.0, 4.0]))
def test_the_confidence_of_a_ratio_is_that_of_enumeration_and_worst_at_the_end_of_the_grid(rows, error, rate):
    query = Mean("v", Grid(Fraction(0), Fraction(3), Fraction(1)), None, "v < 3")
    mixed = NoisyMean(
        mechanism_selection.select_mechanism(query, Fraction(1), privacy_setting()).mechanism, 3, rows, error
    )
    assert mixed.confidence(rate) == pytest.approx(enumerated(mixed, rate, 3), abs=1e-12)
    assert mixed.confidence(rate) <= enumerated(mixed, rate, 0) + 1e-12


def test_a_mean_of_a_secret_number_of_rows_is_as_good_as_asked_over_draws():
    """20000 draws at the ε found for 90 %: the share within the error is 0.9 up to 5 standard errors (10^-6)."""
    query = Mean("age", AGES, None, "vote = 1")
    found = calibrate_error(query, privacy_setting(), 2, "0.9", rows=200)
    law = mechanism_selection.select_mechanism(query, found.epsilon, privacy_setting()).mechanism
    random = np.random.default_rng(20261115)

    def noise(part) -> np.ndarray:
        share = -math.expm1(-float(part.epsilon))
        return random.geometric(share, 20_000) - random.geometric(share, 20_000)

    mean = 73  # half steps from the middle, the last of the grid
    ratio = (mean * 200 + noise(law.total)) / (200 + noise(law.rows))
    share = np.mean(np.abs(ratio - mean) * 0.5 <= 2)
    assert abs(share - 0.9) <= 5 * 0.3 / math.sqrt(20_000)
    assert 0.9 <= found.reached < 0.9001
    assert found.missed < 0.9


# --- expected losses --------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(legal_consumers(2, 5), st.sampled_from([Fraction(1, 3), Fraction(3, 4), Fraction(99, 100)]), st.integers(1, 3))
def test_the_epsilon_for_an_expected_loss_is_decided_again_by_exact_numbers(consumer, share, kept):
    size = consumer.prior.size - 1
    alone = min(sum(column) for column in consumer.costs().T)
    target = share * alone
    if not target:
        return
    try:
        found = calibrate_loss(size, target, consumer.prior, consumer.loss, sensitivity=kept, digits=3)
    except InputError:  # a loss that is 0 off the truth may make less than this impossible at every finite ε
        assert target <= sum(min(row) for row in consumer.costs())
        return
    assert consumer.expected_loss(geometric(size, epsilon(found.epsilon / kept))) <= target
    if found.below:
        assert consumer.expected_loss(geometric(size, epsilon(found.below / kept))) > target
    assert found.how == certified_loss.BY_BALLS


@given(legal_consumers(2, 6), inner_alphas(), inner_alphas())
def test_more_privacy_never_lowers_anybody_s_loss_since_its_answer_can_be_made_from_the_other_s(consumer, one, other):
    size = consumer.prior.size - 1
    precise, blurred = (geometric(size, alpha(a)) for a in sorted((one, other)))
    more = inverse_geometric(size, precise.level) @ blurred.channel().rows
    assert (more >= 0).all()
    assert consumer.expected_loss(precise) <= consumer.expected_loss(blurred)


@given(inner_alphas(), inner_alphas(), st.integers(-6, 6))
def test_noise_of_a_larger_alpha_is_noise_of_a_smaller_one_and_further_noise_exactly(one, other, k):
    """The identity of generating functions at z = 2^k, where both sides are rational."""
    a, b, z = min(one, other), max(one, other), Fraction(2) ** k

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
    held, fear = priors.parse(prior, size), losses.parse(loss)
    costs = certified_loss.loss_problem(held, fear).costs
    low, high = certified_loss.bound_loss_by_balls(costs, Fraction(rate), 128)
    below, above = certified_loss.bound_loss_by_doubles(held, fear, float(Fraction(rate)))
    assert below <= low <= high <= above
    assert above - below <= 1e-6 * above
    assert high - low <= Fraction(1, 2**90) * (1 + high)


@pytest.mark.parametrize("prior", ["poisson:40", "binomial:0.01", "zipf:3"])
def test_cutting_the_tails_of_a_prior_moves_her_loss_by_no_more_than_is_said(prior):
    whole, fear = priors.parse(prior, 3001), losses.absolute
    cut = certified_loss.loss_problem(whole, fear)
    assert cut.prior.size < 3001 or prior == "zipf:3"
    assert cut.left_out < 1e-20
    for rate in ("0.01", "0.3", "2"):
        low, high = certified_loss.bound_loss_by_doubles(cut.prior, fear, float(rate))
        below, above = certified_loss.bound_loss_by_doubles(whole, fear, float(rate))
        assert below - cut.left_out <= high
        assert low <= above + cut.left_out
        assert high - low <= above - below + 1e-15


def test_a_million_counts_with_a_narrow_prior_keep_their_digits():
    found = calibrate_loss(10**6, 2, "poisson:40")
    assert found.digits == 6
    assert calibrate_loss(2000, 2, "poisson:40").epsilon == found.epsilon


@pytest.mark.parametrize("size", [301, 20_000])
def test_large_counts_are_decided_in_doubles_and_say_so(size):
    found = calibrate_loss(size, 5, "binomial:0.45")
    assert found.how == certified_loss.BY_DOUBLES
    consumer = certified_loss.loss_problem(priors.binomial(size + 1, "0.45"), losses.absolute)
    assert consumer.value(float(found.epsilon)) <= 5 < consumer.value(float(found.below))
    assert found.digits >= 5


def test_a_target_that_the_prior_alone_meets_needs_no_answer():
    found = calibrate_loss(4, "1.2")  # the median of 0 … 4 is off by 6/5 on average
    assert (found.epsilon, found.reached, found.below, found.missed) == (0, 1.2, None, None)
    assert calibrate_loss(4, "1.19").epsilon > 0
    assert calibrate_loss(0, 0).epsilon == 0


def test_where_the_last_digits_cannot_be_told_fewer_are_given():
    def verdict(value: Fraction) -> bool | None:
        return None if abs(value - Fraction("0.123456")) < Fraction("0.0001") else value > Fraction("0.123456")

    assert least_epsilon_digits(verdict, 0.123456, 6) == (Fraction("0.124"), Fraction("0.123"), 3)
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


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_told_in_one_line(call, words):
    with pytest.raises(InputError, match=words) as told:
        call()
    assert "\n" not in str(told.value)


def test_a_consumer_with_float_weights_is_served_in_doubles():
    found = calibrate_loss(2, "0.3", priors.explicit([0.25, 0.25, 0.5]), "binary", digits=4)
    exact = calibrate_loss(2, "0.3", "1/4,1/4,1/2", "binary", digits=4)
    assert (found.epsilon, found.how, exact.how) == (exact.epsilon, certified_loss.BY_DOUBLES, certified_loss.BY_BALLS)
    reader = Consumer(priors.explicit(["1/4", "1/4", "1/2"]), losses.binary)
    assert reader.expected_loss(geometric(2, epsilon(found.epsilon))) <= Fraction("0.3")
