"""The Laplace mechanism for a count, against the geometric one (GRS12 App. A)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.continuous import LaplaceLoss, geometric_loss, laplace_factor, laplace_loss, laplace_price, rounded_laplace
from utmost.errors import InputError
from utmost.exact import Level, Number, alpha, ball, ball_endpoints, epsilon, power
from utmost.mechanisms import geometric, untruncated_law

HALF = Fraction(1, 2)
LOSSES = {
    "absolute": lambda i, w: Fraction(abs(i - w)),
    "squared": lambda i, w: Fraction((i - w) ** 2),
    "binary": lambda i, w: Fraction(i != w),
}
ALPHAS = [alpha("1/2"), alpha("1/4"), alpha("9/10"), alpha("2/97")]
EPSILONS = [epsilon("0.1"), epsilon(5), epsilon("0.001")]


def uniform_costs(n, loss):
    return np.array([[loss(i, w) / (n + 1) for w in range(n + 1)] for i in range(n + 1)], dtype=object)


def skewed_costs(n, loss):
    """A prior that favours small counts, with a count of probability 0."""
    weights = [Fraction(0 if i == 1 else 1 + (n - i) ** 2) for i in range(n + 1)]
    return np.array(
        [[weights[i] * loss(i, w) / sum(weights) for w in range(n + 1)] for i in range(n + 1)], dtype=object
    )


@st.composite
def rational_alphas(draw):
    denominator = draw(st.integers(2, 12))
    return alpha(Fraction(draw(st.integers(1, denominator - 1)), denominator))


@st.composite
def priors(draw, n):
    weights = draw(st.lists(st.integers(0, 6), min_size=n + 1, max_size=n + 1).filter(any))
    return [Fraction(w, sum(weights)) for w in weights]


@st.composite
def legal_costs(draw):
    """A prior, and a loss that depends on i and |i − w| and does not fall as |i − w| grows (GRS12 §2.2)."""
    n = draw(st.integers(1, 4))
    prior = draw(priors(n))
    rises = [draw(st.lists(st.integers(0, 3), min_size=n + 1, max_size=n + 1)) for _ in range(n + 1)]
    table = [np.cumsum(rise) for rise in rises]
    rows = [[prior[i] * int(table[i][abs(i - w)]) for w in range(n + 1)] for i in range(n + 1)]
    return np.array(rows, dtype=object)


@st.composite
def any_costs(draw):
    """Costs of no structure at all, and as many readings as they like."""
    counts, readings = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    entries = st.lists(st.integers(0, 9), min_size=readings, max_size=readings)
    return np.array([[Fraction(c) for c in draw(entries)] for _ in range(counts)], dtype=object)


def assert_between(low: Number, loss: LaplaceLoss, high: Number) -> None:
    """low ≤ loss ≤ high, decided: exactly, or by an enclosure that lies strictly inside."""
    if loss.exact is not None:
        assert low <= loss.exact <= high
    else:
        assert low < loss.lower < loss.upper < high


def quadrature(costs, eps: float) -> float:
    """The least loss by numerical integration of ε/2·min_w Σ_i c_iw e^(−ε|i−r|)."""
    from scipy.integrate import quad

    matrix, counts = costs.astype(float), np.arange(len(costs))

    def density(r: float) -> float:
        return eps / 2 * float((np.exp(-eps * np.abs(counts - r)) @ matrix).min())

    reach, n = 50 / eps, len(costs) - 1
    cuts = [-reach, -reach / 8, *np.linspace(0, n, 8 * n + 1), n + reach / 8, n + reach]
    return sum(quad(density, low, high, epsabs=1e-11, epsrel=1e-9, limit=400)[0] for low, high in pairwise(cuts))


def every_crossing(costs, level: Level, bits: int = 400):
    """The least loss as a ball: each [k, k+1] is cut at all pairwise crossings, pieces read as at their middles."""
    from flint import ctx

    with ctx.workprec(bits):
        a1 = ball(level.alpha, bits)
        c = [[ball(value, bits) for value in row] for row in costs]
        counts, readings = range(len(c)), range(len(c[0]))
        total = min((sum(c[i][w] * a1**i for i in counts) for w in readings), key=lambda x: x.mid()) / 2
        total += (
            min((sum(c[i][w] * a1 ** (len(c) - 1 - i) for i in counts) for w in readings), key=lambda x: x.mid()) / 2
        )
        for k in counts[:-1]:
            a = [sum(c[i][w] * a1 ** (k - i) for i in counts if i <= k) for w in readings]
            b = [sum(c[i][w] * a1 ** (i - k) for i in counts if i > k) for w in readings]
            total += _between_crossings(a, b, 1 / a1)
        return total


def _between_crossings(a, b, last):
    readings = range(len(a))
    squares = [(a[w] - a[v]) / (b[v] - b[w]) for v in readings for w in readings if not (b[v] - b[w]).contains(0)]
    inner = sorted((q.sqrt() for q in squares if q > 1 and q < last * last), key=lambda x: x.mid())
    total = 0
    for s0, s1 in pairwise([last / last, *inner, last]):
        middle = ((s0 + s1) / 2).mid()
        w = min(readings, key=lambda w: (a[w] / middle + b[w] * middle).mid())
        total += (b[w] * s1 - a[w] / s1 - b[w] * s0 + a[w] / s0) / 2
    return total


def test_example_a1_laplace_loses_one_over_two_root_two_where_the_geometric_loses_a_third():
    costs, level = uniform_costs(1, LOSSES["binary"]), alpha("1/2")
    loss = laplace_loss(costs, level)
    assert loss.exact == power(2, Fraction(-3, 2))
    assert loss.lower**2 < Fraction(1, 8) < loss.upper**2
    assert float(loss) == pytest.approx(8**-0.5, rel=1e-15)
    assert geometric_loss(costs, level) == Fraction(1, 3)


@given(level=rational_alphas() | st.integers(1, 50).map(lambda k: epsilon(Fraction(k, 10))))
def test_the_consumer_of_example_a1_loses_root_alpha_over_two_and_attains_the_factor_at_every_level(level):
    row = laplace_price(uniform_costs(1, LOSSES["binary"]), level)
    assert row.laplace.exact == level.power(HALF) / 2
    assert row.geometric == level.alpha / (1 + level.alpha)
    assert row.laplace.exact == row.bound * row.geometric
    assert row.ratio == pytest.approx(float(row.bound), rel=1e-14)


@pytest.mark.parametrize("level", [alpha("1/2"), alpha("9/10"), epsilon("0.1")], ids=str)
@pytest.mark.parametrize("n", [2, 5, 9])
def test_every_uniform_prior_with_the_binary_loss_attains_the_factor(n, level):
    row = laplace_price(uniform_costs(n, LOSSES["binary"]), level)
    assert row.laplace.exact == row.bound * row.geometric


def test_the_factor_is_the_papers_number_at_one_half_and_one_without_noise():
    assert laplace_factor(alpha("1/2")) == 3 * power(2, Fraction(1, 2)) / 4
    assert round(float(laplace_factor(alpha("1/2"))), 4) == 1.0607  # GRS12 prints 1.06
    assert laplace_factor(alpha(1)) == 1


@given(costs=legal_costs(), level=rational_alphas())
def test_theorem_a2_no_legal_consumer_loses_more_than_the_factor_and_none_gains(costs, level):
    row = laplace_price(costs, level)
    assert row.laplace.exact is not None
    assert row.geometric <= row.laplace.exact <= row.bound * row.geometric


@given(costs=any_costs(), level=rational_alphas())
def test_theorem_a2_needs_no_legality_when_the_yardstick_is_the_geometric_mechanism(costs, level):
    row = laplace_price(costs, level)
    assert_between(row.geometric, row.laplace, row.bound * row.geometric)


@settings(max_examples=40)
@given(costs=legal_costs(), level=st.sampled_from([*EPSILONS, epsilon(1)]))
def test_theorem_a2_is_decided_at_irrational_alpha_too(costs, level):
    row = laplace_price(costs, level)
    assert_between(row.geometric, row.laplace, row.bound * row.geometric)


@settings(max_examples=40)
@given(costs=any_costs(), level=rational_alphas())
def test_laplace_loss_is_the_integral_that_quadrature_finds(costs, level):
    assert float(laplace_loss(costs, level)) == pytest.approx(quadrature(costs, level.epsilon), rel=1e-7, abs=1e-9)


@pytest.mark.few
@pytest.mark.parametrize("level", [alpha("1/2"), *EPSILONS], ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_laplace_loss_of_twenty_is_the_integral_that_quadrature_finds(name, level):
    costs = skewed_costs(20, LOSSES[name])
    row = laplace_price(costs, level)
    assert float(row.laplace) == pytest.approx(quadrature(costs, level.epsilon), rel=1e-7)
    assert_between(row.geometric, row.laplace, row.bound * row.geometric)


@pytest.mark.parametrize("level", [*ALPHAS, *EPSILONS, alpha("sqrt(1/2)")], ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_laplace_loss_agrees_to_thirty_digits_with_brute_force_over_all_crossings(name, level):
    costs = skewed_costs(6, LOSSES[name])
    loss, (low, high) = laplace_loss(costs, level), ball_endpoints(every_crossing(costs, level))
    assert loss.lower <= high
    assert low <= loss.upper
    assert max(loss.upper, high) - min(loss.lower, low) <= loss.upper / 10**30


def test_roots_too_large_to_write_down_are_enclosed_to_thirty_digits():
    costs, level = uniform_costs(30, LOSSES["squared"]), alpha("1234567/2345678")
    loss = laplace_loss(costs, level)
    assert loss.exact is None
    assert 0 < loss.upper - loss.lower <= loss.lower / 10**30
    assert loss.lower <= Fraction(float(loss)) * (1 + Fraction(1, 10**15))
    low, high = ball_endpoints(every_crossing(costs, level))
    assert loss.lower <= high
    assert low <= loss.upper


@given(costs=any_costs(), level=rational_alphas())
def test_counting_from_the_other_end_changes_nothing(costs, level):
    forward, backward = laplace_loss(costs, level), laplace_loss(costs[::-1, ::-1], level)
    if forward.exact is not None and backward.exact is not None:
        assert forward.exact == backward.exact
    else:
        assert max(forward.lower, backward.lower) <= min(forward.upper, backward.upper)


@given(costs=legal_costs(), first=rational_alphas(), second=rational_alphas())
def test_more_noise_never_loses_less(costs, first, second):
    less, more = sorted((first, second), key=lambda level: level.alpha)
    assert laplace_loss(costs, less).exact <= laplace_loss(costs, more).exact


@pytest.mark.slow
def test_a_consumer_whose_reading_never_changes_loses_exactly_the_same_from_both():
    costs, level = uniform_costs(20, LOSSES["absolute"]), epsilon("0.001")
    row = laplace_price(costs, level)
    assert row.laplace.exact == row.geometric == Fraction(110, 21)  # the reading is 10 whatever the answer
    assert row.ratio == 1


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("0.1")], ids=str)
def test_a_consumer_whose_reading_changes_at_a_whole_count_loses_exactly_the_same_from_both(level):
    costs = np.array([[0, 5], [1, 3], [7, 7], [3, 1], [5, 0]], dtype=object)  # the two readings are equal at r = 2
    row = laplace_price(costs, level)
    assert row.laplace.exact == row.geometric


def test_two_counts_that_are_not_equally_likely_lose_the_root_of_their_product_times_alpha():
    costs = np.array([[0, Fraction(1, 3)], [Fraction(2, 3), 0]], dtype=object)  # least of p·e^(−εt)/2 + q·e^(−ε(1−t))/2
    assert laplace_loss(costs, epsilon(1)).exact == power(Fraction(2, 9), HALF) * epsilon(1).power(HALF)


def test_a_change_of_reading_halfway_between_two_counts_is_exact_at_irrational_alpha():
    level = epsilon("0.1")
    # Readings are 1 below 3/2, 2 above: off by 1 + [noise > 3/2] at the outer counts, by [noise > 1/2] at the inner.
    outer, inner = 1 + level.power(Fraction(3, 2)) / 2, level.power(HALF) / 2
    assert laplace_loss(uniform_costs(3, LOSSES["absolute"]), level).exact == (outer + inner) / 2


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("0.1")], ids=str)
def test_a_consumer_who_knows_loses_nothing_and_pays_no_price(level):
    costs = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=object)
    row = laplace_price(costs, level)
    assert row.laplace == LaplaceLoss(Fraction(0), Fraction(0), Fraction(0))
    assert (row.geometric, row.ratio) == (0, 1)


@given(costs=any_costs())
def test_the_ends_tell_everything_and_nothing(costs):
    informed, uninformed = laplace_loss(costs, alpha(0)).exact, laplace_loss(costs, alpha(1)).exact
    assert informed == sum(min(row) for row in costs) == geometric_loss(costs, alpha(0))
    assert uninformed == min(costs.sum(axis=0)) == geometric_loss(costs, alpha(1))
    assert informed <= laplace_loss(costs, alpha("1e-14")).upper <= informed + Fraction(1, 10**4)
    assert uninformed - Fraction(1, 10**4) <= laplace_loss(costs, alpha("0.9999999")).lower <= uninformed


@given(costs=any_costs(), level=rational_alphas() | st.sampled_from([alpha(0), alpha(1), epsilon("0.1")]))
def test_geometric_loss_is_the_best_reading_of_each_answer_of_the_channel(costs, level):
    channel = geometric(len(costs) - 1, level).channel()
    assert geometric_loss(costs, level) == sum(min(column @ costs) for column in channel.rows.T)


@given(level=rational_alphas() | st.sampled_from(EPSILONS), i=st.integers(-9, 9).filter(bool))
def test_rounded_laplace_noise_is_the_factor_times_geometric_noise_except_at_zero(level, i):
    (at_i, at_zero), factor = untruncated_law(0, [i, 0], level), laplace_factor(level)
    assert rounded_laplace(i, level) == factor * at_i
    assert rounded_laplace(0, level) < at_zero
    assert rounded_laplace(0, level) * (1 + level.power(HALF)) == at_zero * (1 + level.alpha)


@given(level=rational_alphas() | st.sampled_from(EPSILONS), reach=st.integers(0, 6))
def test_rounded_laplace_noise_is_a_law(level, reach):
    inner_mass = sum(rounded_laplace(i, level) for i in range(-reach, reach + 1))
    assert inner_mass + level.power(reach + HALF) == 1  # ½·α^(reach+½) beyond either end


@pytest.mark.parametrize("level", [*ALPHAS, *EPSILONS], ids=str)
def test_rounded_laplace_noise_has_the_masses_of_the_laplace_distribution(level):
    from scipy.stats import laplace

    noise = laplace(scale=1 / level.epsilon)
    for i in range(-4, 5):
        mass = noise.cdf(i + 0.5) - noise.cdf(i - 0.5)
        assert float(rounded_laplace(i, level)) == pytest.approx(mass, rel=1e-9, abs=1e-15)


def test_no_noise_is_rounded_to_zero():
    assert [rounded_laplace(i, alpha(0)) for i in (-1, 0, 1)] == [0, 1, 0]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.array([[0.5, 0.0]]), "exact numbers"),
        (np.array([[Fraction(-1)]], dtype=object), ">= 0"),
        (np.array([Fraction(1)], dtype=object), "matrix"),
        (np.empty((0, 2), dtype=object), "matrix"),
    ],
)
def test_costs_that_are_not_costs_are_refused(costs, message):
    for loss in (laplace_loss, geometric_loss):
        with pytest.raises(InputError, match=message):
            loss(costs, alpha("1/2"))


def test_levels_without_a_factor_or_a_law_are_refused():
    with pytest.raises(InputError, match="alpha must be > 0"):
        laplace_factor(alpha(0))
    with pytest.raises(InputError, match="alpha must be < 1"):
        rounded_laplace(1, alpha(1))
    with pytest.raises(InputError, match="exact root"):
        laplace_factor(alpha("sqrt(1/2)"))
