"""KL10 Prop. 2.1.4: bounds on the move of an attacker's odds, and the true law of that move."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import channels, fractions, levels
from utmost.axioms import likelihood_ratio
from utmost.axioms.curves import Curve, curve_from_lines, curve_from_points
from utmost.axioms.privacy_profiles import profile
from utmost.channel import channel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import response


@st.composite
def bounds(draw: st.DrawFn) -> Curve:
    """A bound M: concave, M(1) = 1, perhaps with a jump at 0."""
    source = draw(channels(2))
    curve = profile(source, (0, 1)).curve
    lower = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])) * curve.at_zero
    return Curve(curve.points, lower, Fraction(1))


@given(channels(2), levels())
def test_the_true_law_of_the_move_is_that_of_the_outputs(source, level):
    # Δ ≥ ε on output o exactly when α·P(o|i₂) ≥ P(o|i₁)
    tails = likelihood_ratio.odds_tails(profile(source, (0, 1)).curve, level)
    columns = list(source.rows.T)
    assert tails.rise == sum((p for p, q in columns if p and level.alpha * q >= p), Fraction(0))
    assert tails.fall == sum((p for p, q in columns if p and q <= level.alpha * p), Fraction(0))


@given(channels(2))
def test_the_law_of_the_ratio_sums_to_one_and_has_mean_at_most_one(source):
    # E[e^Δ | i₁] = P(outputs possible under i₁ | i₂)
    law = likelihood_ratio.odds_law(profile(source, (0, 1)).curve)
    assert sum(chance for _, chance in law) == 1
    assert sum(ratio * chance for ratio, chance in law) == 1 - profile(source, (0, 1)).curve.at_zero
    assert list(law) == sorted(law, reverse=True)


@given(channels(2), levels(), fractions(0, 1))
def test_a_mechanism_stays_within_the_bounds_of_any_definition_it_meets(source, level, slack):
    curve = profile(source, (0, 1)).curve
    wider = Curve(tuple((a, value + slack * (1 - value)) for a, value in curve.points), curve.at_zero, Fraction(1))
    true_tails, profile_bounds, wider_bounds = (
        likelihood_ratio.odds_tails(curve, level),
        likelihood_ratio.odds_bounds(curve, level),
        likelihood_ratio.odds_bounds(wider, level),
    )
    assert true_tails.rise <= profile_bounds.rise <= wider_bounds.rise
    assert true_tails.fall <= profile_bounds.fall <= wider_bounds.fall


@given(bounds(), levels())
def test_the_bounds_are_attained_by_a_mechanism_with_two_outputs_that_meets_the_definition(bound, level):
    limits = likelihood_ratio.odds_bounds(bound, level)
    for first_probability, limit_curve, side, attained in (
        (limits.rise, bound, "rise", limits.attained[0]),
        (limits.fall, bound.reflected, "fall", limits.attained[1]),
    ):
        if not first_probability or not attained:
            continue
        second_probability = limit_curve(first_probability)
        curve = profile(
            channel([[first_probability, 1 - first_probability], [second_probability, 1 - second_probability]]), (0, 1)
        ).curve
        assert all(b <= bound(a) for a, b in curve.points)
        assert getattr(likelihood_ratio.odds_tails(curve, level), side) == first_probability


@given(bounds(), levels(), st.fractions(0, 1, max_denominator=40))
def test_the_bounds_are_suprema(bound, level, a):
    limits = likelihood_ratio.odds_bounds(bound, level)
    if not a:
        return
    if level.alpha * bound(a) >= a:
        assert a <= limits.rise
    if bound.reflected(a) <= level.alpha * a:
        assert a <= limits.fall
    if a < limits.rise:
        assert level.alpha * bound(a) >= a  # M(a)/a does not increase
    if a < limits.fall:
        assert bound.reflected(a) <= level.alpha * a  # m(a)/a does not decrease


def test_randomised_response_attains_both_bounds_of_its_own_level():
    # pure ε: M(a) = min(e^ε·a, 1 − e^−ε·(1−a)) bends at 1/(1+e^ε); a′ = 1/(1+e^ε), a″ = e^ε/(1+e^ε)
    level = alpha("1/3")
    bound = curve_from_lines([(3, 0), ("1/3", "2/3")])
    limits = likelihood_ratio.odds_bounds(bound, level)
    assert (limits.rise, limits.fall) == (Fraction(1, 4), Fraction(3, 4))
    assert likelihood_ratio.odds_tails(profile(response(2, level), (0, 1)).curve, level) == limits


def test_beyond_the_level_of_a_pure_definition_the_odds_never_move():
    bound = curve_from_lines([(3, 0), ("1/3", "2/3")])
    limits = likelihood_ratio.odds_bounds(bound, alpha("1/4"))
    assert (limits.rise, limits.fall) == (0, 0)


def test_a_level_given_by_epsilon_stays_exact():
    level = epsilon(1)
    bound = profile(response(2, level), (0, 1)).curve
    assert likelihood_ratio.odds_bounds(bound, level).rise == level.alpha / (1 + level.alpha)


def test_a_definition_that_starts_above_zero_allows_every_move_sometimes():
    # total variation 1/10: M(a) = min(1, a + 1/10); a + 1/10 = 1000a at a = 1/9990
    bound = curve_from_lines([(1, "1/10")])
    limits = likelihood_ratio.odds_bounds(bound, alpha("1/1000"))
    assert limits.rise == Fraction(1, 9990)
    # m(a) = max(0, a − 1/10) ≤ a/1000 up to a = 100/999
    assert limits.fall == Fraction(100, 999)


def test_a_jump_at_zero_leaves_a_supremum_that_is_not_attained():
    # M(0) = 0 but M = 1 after it: all events but sure ones are free, so P(Δ ≤ −ε) comes as near to 1 as one likes
    bound = curve_from_points([(0, 1), (1, 1)], at_zero=0)
    limits = likelihood_ratio.odds_bounds(bound, alpha("1/2"))
    assert (limits.fall, limits.attained) == (1, (True, False))
    probability = Fraction(999, 1000)
    curve = profile(channel([[probability, 1 - probability], [0, 1]]), (0, 1)).curve
    assert all(b <= bound(a) for a, b in curve.points)
    assert likelihood_ratio.odds_tails(curve, alpha("1/2")).fall == probability


def test_at_infinite_epsilon_only_impossible_answers_count():
    curve = profile(channel([["1/4", "3/4", 0], [0, "1/2", "1/2"]]), (0, 1)).curve
    tails = likelihood_ratio.odds_tails(curve, alpha(0))
    assert (tails.rise, tails.fall) == (0, Fraction(1, 4))
    assert likelihood_ratio.odds_bounds(curve, alpha(0)).fall >= Fraction(1, 4)


def test_a_move_must_be_positive_and_a_bound_must_be_one():
    with pytest.raises(InputError, match="must be > 0"):
        likelihood_ratio.odds_bounds(curve_from_lines([(2, 0)]), alpha(1))
    with pytest.raises(InputError, match="must be concave"):
        likelihood_ratio.odds_bounds(curve_from_points([(0, 0), ("1/2", "1/4"), (1, 1)]), alpha("1/2"))
