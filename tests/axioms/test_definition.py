"""Definitions: a relation and a bound for each pair."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.axioms import (
    Definition,
    approximate,
    curve_from_points,
    definition_of,
    identity,
    parse_bound,
    pure,
    relation_from_pairs,
    relation_from_space,
    subsampling,
    variation,
)
from utmost.channel import Channel, channel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.spaces import line

UNIT = st.fractions(min_value=0, max_value=1, max_denominator=24)
GRID = [Fraction(k, 24) for k in range(25)]


def events(mechanism: Channel, first: int, second: int) -> list[tuple[Fraction, Fraction]]:
    """(P(O|x), P(O|other)) for every event O."""
    columns = range(len(mechanism.outputs))
    subsets = [subset for size in range(len(mechanism.outputs) + 1) for subset in combinations(columns, size)]
    return [
        tuple(sum((mechanism.rows[k, y] for y in subset), Fraction(0)) for k in (first, second)) for subset in subsets
    ]


@given(st.fractions(min_value="1/24", max_value=1, max_denominator=24), UNIT)
def test_approximate_privacy_is_both_inequalities_for_an_event_and_for_its_complement(shrink, delta):
    bound = approximate(alpha(shrink), delta)
    for a in GRID:
        for b in GRID:
            ways = [(a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)]
            assert all(second <= first / shrink + delta for first, second in ways) == (
                bound.reflected(a) <= b <= bound(a)
            )


@given(UNIT)
def test_the_named_bounds_are_bounds_and_special_cases_of_each_other(share):
    assert pure(alpha(1)) == curve_from_points([(0, 0), (1, 1)]) == variation(0)
    assert variation(share) == approximate(alpha(1), share)
    assert pure(alpha(0)) == identity() == variation(1) == subsampling(1)
    for bound in (variation(share), pure(alpha(share)), subsampling(share)):
        assert Definition(relation_from_space(line(2)), bound).bound(0, 1) is bound
        assert bound.reversed.reversed == bound


def test_the_bound_of_an_irrational_level_is_exact():
    bound = pure(epsilon(1))
    a, value = bound.points[1]
    assert value == bound(a) == 1 - a
    assert str(value) == "1/(1 + exp(-1))"
    assert parse_bound("approximate:1,1e-6")(0) == Fraction(1, 10**6)


@given(st.integers(1, 3), UNIT)
def test_a_random_subset_meets_subsampling_and_no_smaller_bound_from_fewer_records_to_more(size, rate):
    """The outputs are the subsets of `size` records; the inputs are all records, and all but the last."""
    subsets = [frozenset(members) for k in range(size + 1) for members in combinations(range(size), k)]
    rows = [
        [rate ** len(s) * (1 - rate) ** (n - len(s)) if max(s, default=-1) < n else Fraction(0) for s in subsets]
        for n in (size - 1, size)
    ]
    mechanism = channel(np.array(rows, dtype=object).tolist())
    pairs, bound = events(mechanism, 0, 1), subsampling(rate)
    assert all(bound.reflected(a) <= b <= bound(a) for a, b in pairs)
    assert all(bound.reversed.reflected(b) <= a <= bound.reversed(b) for a, b in pairs)
    assert {a: max(b for c, b in pairs if c == a) for a, _ in pairs} == {a: bound(a) for a, _ in pairs}


@given(st.integers(1, 5), UNIT)
def test_a_count_of_a_random_subset_meets_the_subsampling_definition_on_the_line(size, rate):
    rows = [
        [comb(n, k) * rate**k * (1 - rate) ** (n - k) if k <= n else Fraction(0) for k in range(size + 1)]
        for n in range(size + 1)
    ]
    mechanism, definition = channel(rows), definition_of(f"subsampling:{rate}", relation_from_space(line(size + 1)))
    for first, second in definition.relation.pairs:
        bound = definition.bound(first, second)
        assert all(b <= bound(a) for a, b in events(mechanism, first, second))


def test_some_pairs_may_have_bounds_of_their_own():
    relation = relation_from_pairs([("ann", "bob"), ("bob", "ann"), ("bob", "cyd")])
    definition = Definition(relation, variation("1/2"), {(0, 1): variation("1/10")})
    assert definition.bound(0, 1)(0) == Fraction(1, 10)
    assert definition.bound(1, 0)(0) == definition.bound(1, 2)(0) == Fraction(1, 2)
    with pytest.raises(InputError, match="a pair of the relation"):
        Definition(relation, variation("1/2"), {(0, 2): variation("1/10")})
    with pytest.raises(InputError, match=r"bound for \(ann, bob\) must be concave"):
        Definition(relation, variation("1/2"), {(0, 1): parse_bound("points:0 0,1/2 1/4,1 1")})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("points:0 0,1/2 2,1 1", "bound M must be <= 1"),
        ("points:0 -1/2,1 1", "bound M must be >= 0"),
        ("points:0 0,1 9/10", "bound M must be 1 at 1, got 0.9"),
        ("points:0 0,1/2 1,3/4 1/2,1 1", "bound M must never decrease, got less at"),
        ("points:0 1,0 1/2,1 1", "bound M must never decrease, got less at"),
        ("points:0 0,1/2 1/4,1 1", "bound M must be concave, got a dent at 0.5 between 0 and 1"),
    ],
)
def test_a_curve_that_is_no_bound_is_refused_with_what_it_must_be(text, problem):
    with pytest.raises(InputError, match=problem) as error:
        definition_of(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "pure", "pure:", "pure:x", "pure:-1", "pure:1e9", "identity:1", "approximate:1", "approximate:1,2"),
        *("alpha:2", "variation:-1", "subsampling:3/2", "points:", "points:0,1", "points:0 0 0", "points:0 0"),
        *("points:1 1,0 0", "laplace:1", "nan", "points:0 nan,1 1", "ρ:½"),
        *("pure:" + "1" * 200_000, "points:" + "0 0," * 40_000),
    ],
)
def test_text_that_means_no_bound_is_refused_in_one_short_line(text):
    with pytest.raises(InputError) as error:
        definition_of(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_jump_at_0_is_written_as_two_points_and_read_back():
    curve = parse_bound("points:0 0,0 1/2,1 1")
    assert (curve.at_zero, curve.points[0][1]) == (0, Fraction(1, 2))
    assert parse_bound(f"points:{curve}") == curve
    assert definition_of(f"points:{curve}").default == curve
