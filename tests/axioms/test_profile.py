"""Profiles, against every event of small channels and against the definitions of δ, ε and total variation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels, fractions, levels
from utmost.axioms.likelihood_ratio import PreparedLaw, group_by_ratio, prepare_law
from utmost.axioms.privacy_profiles import farthest_breakpoint, profile, profiles
from utmost.channel import Channel, channel
from utmost.errors import InputError
from utmost.exact import Real, alpha, epsilon, exponential
from utmost.mechanisms import geometric, response
from utmost.qif import refinement


def events(source: Channel) -> list[tuple[Fraction, Fraction]]:
    """(P(O|0), P(O|1)) for every event O of a channel on inputs 0 and 1."""
    positions = range(len(source.outputs))
    subsets = [list(subset) for size in range(len(positions) + 1) for subset in combinations(positions, size)]
    return [tuple(sum(source.rows[x, subset], Fraction(0)) for x in (0, 1)) for subset in subsets]


def pairs() -> st.SearchStrategy[Channel]:
    """Two laws on at most ten outputs, zeros and equal ratios included."""
    return st.integers(1, 10).flatmap(lambda width: channels(2, width))


@given(pairs())
def test_no_event_is_above_the_profile_and_its_breakpoints_are_events(source):
    pair_profile = profile(source, (0, 1))
    event_points = events(source)
    assert all(b <= pair_profile.curve(a) for a, b in event_points)
    assert set(pair_profile.curve.points) <= set(event_points)
    assert pair_profile.curve.concave
    assert not pair_profile.curve.jumps


@given(pairs())
def test_the_event_of_a_breakpoint_has_its_probabilities(source):
    pair_profile = profile(source, (0, 1))
    for k, point in enumerate(pair_profile.curve.points):
        event = list(pair_profile.event(k))
        assert point == tuple(sum(source.rows[x, event], Fraction(0)) for x in (0, 1))
    outputs = [y for group in pair_profile.order for y in group]
    assert sorted(outputs) == [y for y in source.outputs if source.column(y).any()]


@given(pairs(), st.fractions(0, 1, max_denominator=60))
def test_the_best_event_has_the_probability_asked_for_and_the_value_of_the_profile(source, a):
    test = profile(source, (0, 1)).best(a)
    mass = [
        sum((law[y] for y in test.surely), Fraction(0))
        + test.share * sum((law[y] for y in test.sometimes), Fraction(0))
        for law in source.rows
    ]
    assert mass == [a, test.second] == [test.first, profile(source, (0, 1)).curve(a)]
    assert 0 <= test.share < 1


@given(pairs())
def test_the_reversed_profile_is_the_profile_of_the_reversed_pair(source):
    forward, backward = profile(source, (0, 1)), profile(source, (1, 0))
    assert forward.reversed == backward
    assert forward.reversed.reversed == forward
    assert forward.curve.reversed == backward.curve


@given(pairs(), st.one_of(levels(), st.sampled_from([alpha(0), alpha(1)])))
def test_delta_is_the_largest_excess_of_any_event_and_the_sum_of_positive_parts(source, level):
    delta = profile(source, (0, 1)).delta(level)
    if not level.alpha:
        assert delta == sum((q for p, q in source.rows.T if not p), Fraction(0))
        return
    ratio = 1 / level.alpha
    assert delta == max((b - ratio * a for a, b in events(source)), key=lambda value: value)
    excesses = [q - ratio * p for p, q in source.rows.T]
    assert delta == sum((excess for excess in excesses if excess > 0), Fraction(0))


@given(pairs(), fractions(0, 1))
def test_the_least_level_at_delta_is_the_least_one(source, delta):
    pair_profile = profile(source, (0, 1))
    level = pair_profile.least_level(delta)
    assert pair_profile.delta(level) <= delta or not level.alpha  # no ε is enough where δ(∞) > δ
    if level.alpha != 1:
        stricter = alpha(level.alpha + (1 - level.alpha) / 1000)
        assert pair_profile.delta(stricter) > delta


@given(pairs())
def test_total_variation_is_half_the_sum_of_the_differences(source):
    variation = profile(source, (0, 1)).variation
    assert variation == sum(abs(p - q) for p, q in source.rows.T) / 2


@settings(max_examples=40)
@given(channels(2), channels(2))
def test_one_profile_is_above_another_exactly_when_the_channel_can_be_processed_into_the_other(first, second):
    above = profile(second, (0, 1)).curve.below(profile(first, (0, 1)).curve).amount <= 0
    assert refinement(first, second).refines == above


@pytest.mark.parametrize("level", [alpha("1/2"), epsilon("0.1")])
def test_neighbours_under_the_geometric_mechanism_are_distinguished_as_by_randomised_response(level):
    # ratios are 1/α above the true count and α below it, so every neighbouring pair has the profile of response(2)
    expected = profile(response(2, level), (0, 1)).curve
    for pair_profile in profiles(geometric(4, level), pairwise(range(5))):
        assert pair_profile.curve == expected
        assert pair_profile.least_level().alpha == level.alpha


def test_an_epsilon_is_remembered_where_it_is_rational():
    pair_profile = profile(response(3, epsilon("0.1")), (0, 2))
    assert pair_profile.least_level() == epsilon("1/10")
    # e^ε/(e^ε + 2) − 1/(e^ε + 2)
    e_tenth = exponential(Fraction(1, 10))
    assert pair_profile.variation == (e_tenth - 1) / (e_tenth + 2)


def test_an_output_that_one_secret_cannot_give_is_a_jump_at_zero():
    pair_profile = profile(channel([["1/2", "1/2", 0, 0], [0, "1/2", "1/4", "1/4"]], outputs="abcd"), (0, 1))
    assert pair_profile.leaps
    assert pair_profile.order == (("c", "d"), ("b",), ("a",))
    assert pair_profile.curve.points == ((0, Fraction(1, 2)), (Fraction(1, 2), 1), (1, 1))
    assert pair_profile.least_level("1/3").alpha == 0
    assert pair_profile.least_level("1/2").alpha == 1


def test_laws_without_a_common_output_are_distinguished_with_certainty():
    pair_profile = profile(channel([[1, 0], [0, 1]]), (0, 1))
    assert pair_profile.curve.points == ((0, 1), (1, 1))
    assert pair_profile.reversed == profile(channel([[1, 0], [0, 1]]), (1, 0))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=40), st.integers(1, 10**400))
def test_ratios_with_equal_doubles_are_distinguished(exponents, huge):
    # ratios 1 + k/huge, far below the resolution of doubles
    if huge < 10**20:
        huge += 10**20
    first = prepare_law([Fraction(huge, 10**500)] * len(exponents))
    second = prepare_law([Fraction(huge + k, 10**500) for k in exponents])
    groups = group_by_ratio(first, second).parts()
    assert [{exponents[y] for y in group} for group in groups] == [{k} for k in sorted(set(exponents), reverse=True)]


def test_equal_reals_written_differently_have_one_ratio():
    e_third = exponential(Fraction(1, 3))
    law = [e_third / (1 + e_third) / 2, 1 / (1 + e_third) / 2, Fraction(1, 2)]
    same_law = [1 / (1 + 1 / e_third) / 2, 1 / (1 + e_third) / 2, Fraction(1, 2)]
    assert isinstance(law[0], Real)
    assert group_by_ratio(prepare_law(law), prepare_law(same_law)).parts() == [[0, 1, 2]]


def test_floats_are_taken_as_the_doubles_they_are_and_said_to_be_floats():
    pair_profile = profile(channel([[0.1, 0.9], [0.3, 0.7]]), (0, 1))
    assert not pair_profile.exact
    assert pair_profile.curve.points[-1] == (1, 1)
    assert float(pair_profile.variation) == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("pair", [(0, 0), (0, 7), (0,), "ab"])
def test_a_pair_that_is_none_is_refused(pair):
    with pytest.raises(InputError, match="two different inputs of the channel"):
        profile(geometric(3, alpha("1/2")), pair)


@pytest.mark.parametrize("share", [-1, 2, "-1/10"])
def test_delta_must_be_a_probability(share):
    with pytest.raises(InputError, match=r"delta must be in \[0, 1\]"):
        profile(geometric(3, alpha("1/2")), (0, 1)).least_level(share)


def test_a_probability_beyond_one_has_no_best_event():
    with pytest.raises(InputError, match=r"must be in \[0, 1\]"):
        profile(geometric(3, alpha("1/2")), (0, 1)).best(2)


@given(pairs(), st.integers(0, 3), fractions(0, 5))
def test_the_farthest_point_is_found_between_any_two_breakpoints(source, low, slope):
    curve = profile(source, (0, 1)).curve
    last = len(curve.points) - 1
    start = min(low, last)
    heights = [value - slope * a for a, value in curve.points]
    assert farthest_breakpoint(curve, slope, 1, start) == start + int(np.argmax(heights[start:]))


def test_rows_are_whole_numbers_over_one_denominator():
    law = prepare_law([Fraction(1, 4), Fraction(1, 6), Fraction(7, 12)])
    assert isinstance(law, PreparedLaw)
    assert law.values.tolist() == [3, 2, 7]
    assert law.scale == 12
    assert law.logs.tolist() == pytest.approx([math.log(3), math.log(2), math.log(7)])
