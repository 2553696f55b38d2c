"""Composed profiles, against the channel of all answers together and against dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels
from utmost.axioms import privacy_profiles
from utmost.axioms.curves import Curve, curve_from_lines, curve_from_points
from utmost.axioms.privacy_profiles import (
    compose_profiles,
    compose_repeated,
    delta_at_epsilon,
    epsilon_at_delta,
    law,
    profile,
)
from utmost.channel import Channel, channel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon, exponential
from utmost.mechanisms import geometric, response


def product_channel(*channels: Channel) -> Channel:
    """The channel that gives the answers of independent channels side by side."""
    rows = [
        [
            math.prod(probabilities, start=Fraction(1))
            for probabilities in product(*(source.rows[x] for source in channels))
        ]
        for x in (0, 1)
    ]
    return channel(rows)


def curve_of(source: Channel) -> Curve:
    return profile(source, (0, 1)).curve


@settings(max_examples=60)
@given(st.lists(channels(2), max_size=3))
def test_the_composed_profile_is_that_of_all_answers_together(sources):
    assert compose_profiles(curve_of(source) for source in sources) == curve_of(product_channel(*sources))


@given(channels(2, 3), st.integers(0, 6))
def test_repetition_is_composition_with_itself(source, times):
    once = curve_of(source)
    assert compose_repeated(once, times) == compose_profiles([once] * times)


@given(channels(2), channels(2))
def test_the_order_of_releases_does_not_matter(first, second):
    profiles = [curve_of(first), curve_of(second)]
    assert compose_profiles(profiles) == compose_profiles(reversed(profiles))


@given(channels(2))
def test_the_law_of_the_ratio_determines_a_profile(source):
    assert law(curve_of(source)).curve() == curve_of(source)


def test_epsilons_add_and_irrational_levels_stay_exact():
    once = profile(response(2, epsilon("1/3")), (0, 1)).curve
    fourfold = compose_repeated(once, 4)
    assert epsilon_at_delta(fourfold, 0) == epsilon("4/3")
    # ratios e^((4−2j)/3), j = 0 … 4, with binomial probabilities e^(j/3)·C(4,j)/(1 + e^(1/3))^4 under the first secret
    e_third = exponential(Fraction(1, 3))
    assert fourfold.points[1] == (1 / (1 + e_third) ** 4, e_third**4 / (1 + e_third) ** 4)
    assert len(fourfold.points) == 6


def test_a_rational_release_beside_an_irrational_one():
    sources = [response(2, alpha("1/2")).channel(), response(2, epsilon(1)).channel()]
    composed = compose_profiles(profile(source, (0, 1)).curve for source in sources)
    assert composed == curve_of(product_channel(*sources))
    assert delta_at_epsilon(composed, alpha("1/2")) == delta_at_epsilon(
        curve_of(product_channel(*sources)), alpha("1/2")
    )


def test_what_meets_a_bound_composes_within_the_composed_bound():
    # four answers of geometric(3) on neighbours, against the bound of pure 1/2-privacy
    bound = curve_from_lines([(2, 0), ("1/2", "1/2")])
    profiles = [profile(geometric(3, alpha("1/2")), pair).curve for pair in ((0, 1), (1, 2))]
    assert compose_profiles(profiles).below(compose_repeated(bound, 2)).amount <= 0


@settings(max_examples=30)
@given(channels(2), channels(2), channels(2))
def test_answers_chosen_after_the_first_stay_within_the_composition_of_bounds(first, left, right):
    # the second mechanism depends on the first answer; its bound is any concave curve above both profiles
    profiles = [curve_of(left), curve_of(right)]
    bound = curve_from_points([(0, max(c.at_zero for c in profiles)), *_pointwise_maximum(profiles), (1, 1)]).hull
    rows = [[p * q for y, p in enumerate(first.rows[x]) for q in (left if y % 2 else right).rows[x]] for x in (0, 1)]
    assert curve_of(channel(rows)).below(compose_profiles([curve_of(first), bound])).amount <= 0


def _pointwise_maximum(curves: list[Curve]) -> list[tuple[Fraction, Fraction]]:
    breakpoints = sorted({a for c in curves for a, _ in c.points if 0 < a < 1})
    return [(a, max(c(a) for c in curves)) for a in breakpoints]


@pytest.mark.few
@pytest.mark.parametrize(
    ("rows", "times"),
    [
        ([["2/3", "1/3"], ["1/3", "2/3"]], 60),
        ([["1/2", "3/10", "1/5"], ["3/10", "1/2", "1/5"]], 40),
        ([["1/2", "1/3", "1/6"], ["2/5", "2/5", "1/5"]], 30),
        ([["1/2", "1/2", 0], ["99/200", "99/200", "1/100"]], 20),
    ],
)
def test_dp_accounting_encloses_the_exact_delta(rows, times):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    source = channel(rows)
    exact = compose_repeated(curve_of(source), times)
    laws = [{y: math.log(p) if p else -math.inf for y, p in enumerate(law.tolist())} for law in source.floats()]
    bounds = [
        pld.from_two_probability_mass_functions(
            *laws, pessimistic_estimate=side, value_discretization_interval=1e-4, symmetric=False
        ).self_compose(times)
        for side in (False, True)
    ]
    for rate in ("1/10", "1", "3"):
        level = epsilon(rate)
        delta = max(float(delta_at_epsilon(estimate, level)) for estimate in (exact, exact.reversed))
        low, high = (estimate.get_delta_for_epsilon(float(Fraction(rate))) for estimate in bounds)
        assert low - 1e-9 <= delta <= high + 1e-9
        assert high - low < 1e-2


def test_a_hundred_geometric_answers_in_closed_form():
    # ratios 2^(100−2j): δ(ε = ln 2^m) = Σ_j C(100,j)·(2^(100−j) − 2^m·2^j)₊/3^100
    composed = compose_repeated(profile(geometric(9, alpha("1/2")), (4, 5)).curve, 100)
    for m in (0, 7, 40):
        expected = sum(Fraction(math.comb(100, j) * max(2 ** (100 - j) - 2 ** (m + j), 0), 3**100) for j in range(101))
        assert delta_at_epsilon(composed, alpha(Fraction(1, 2**m))) == expected


def test_a_bound_that_jumps_or_is_not_concave_cannot_be_composed():
    for bad in (
        curve_from_points([(0, "1/4"), (1, 1)], at_zero=0),
        curve_from_points([(0, 0), ("1/2", "1/4"), (1, 1)]),
    ):
        with pytest.raises(InputError, match="must be a profile"):
            compose_profiles([bad])


def test_too_many_ratios_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(privacy_profiles, "MAX_PRODUCTS", 8)
    once = curve_of(channel([["1/2", "1/3", "1/6"], ["1/5", "2/5", "2/5"]]))
    with pytest.raises(InputError, match="got 9: compose fewer"):
        compose_repeated(once, 2)


@pytest.mark.parametrize("times", [-1, "1/2", 1.5])
def test_times_must_be_a_whole_number(times):
    with pytest.raises(InputError, match="times must be"):
        compose_repeated(curve_from_points([(0, 0), (1, 1)]), times)


def test_the_composition_of_no_release_reveals_nothing():
    assert compose_profiles([]) == curve_from_points([(0, 0), (1, 1)])
    assert compose_repeated(curve_of(channel([[1, 0], [0, 1]])), 0) == compose_profiles([])
