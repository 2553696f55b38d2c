"""Curves: exact, piecewise linear, with a jump at each end at most."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axioms.rules import curves
from utmost.axioms import curve_from_lines, curve_from_points, pointwise_minimum
from utmost.errors import InputError
from utmost.exact import epsilon

UNIT = st.fractions(min_value=0, max_value=1, max_denominator=24)
GRID = [Fraction(k, 24) for k in range(25)]


@given(curves(), UNIT)
def test_a_curve_is_linear_between_its_points_and_has_its_own_values_at_the_ends(curve, a):
    if a in (0, 1):
        assert curve(a) == (curve.at_zero if a == 0 else curve.at_one)
        return
    (left, low), (right, high) = next((p, q) for p, q in pairwise(curve.points) if p[0] <= a <= q[0])
    assert curve(a) * (right - left) == low * (right - a) + high * (a - left)
    slope, start = curve.lines[[p[0] for p in curve.points].index(left)]
    assert slope * a + start == curve(a)


@given(curves())
def test_equal_functions_are_equal_curves_whatever_points_lie_on_their_lines(curve):
    arguments = sorted({*GRID, *(a for a, _ in curve.points)})
    assert curve_from_points([(a, curve.inside(a)) for a in arguments], curve.at_zero, curve.at_one) == curve


@given(curves())
def test_a_dent_is_three_points_of_the_curve_below_a_chord_and_without_one_every_chord_is_below(curve):
    dent = curve.dent
    if dent is not None:
        for a, value in (dent.left, dent.middle, dent.right):
            assert curve(a) == value
        assert dent.left[0] < dent.middle[0] < dent.right[0]
        assert dent.depth > 0
        assert dent.weight * dent.left[0] + (1 - dent.weight) * dent.right[0] == dent.middle[0]
        return
    for first in GRID[::3]:
        for second in GRID[::3]:
            assert curve((first + second) / 2) >= (curve(first) + curve(second)) / 2


@given(curves())
def test_a_drop_is_two_points_of_the_curve_of_which_the_right_one_is_lower(curve):
    drop = curve.drop
    if drop is None:
        values = [curve(a) for a in GRID]
        assert values == sorted(values)
        return
    (left, high), (right, low) = drop
    assert left < right
    assert high > low
    assert (curve(left), curve(right)) == (high, low)


@given(curves(), curves())
def test_the_excess_is_the_supremum_of_the_difference_and_is_attained_or_a_limit_at_an_end(first, second):
    excess = first.below(second)
    assert all(first(a) - second(a) <= excess.amount for a in GRID)
    if excess.attained:
        assert first(excess.argument) - second(excess.argument) == excess.amount
    else:
        assert excess.argument in (0, 1)
        assert first.inside(excess.argument) - second.inside(excess.argument) == excess.amount
        assert first(excess.argument) - second(excess.argument) < excess.amount


@given(curves())
def test_the_hull_is_concave_nowhere_below_and_touches_the_curve_where_it_bends(curve):
    hull = curve.hull
    assert hull.concave
    assert curve.below(hull).amount <= 0
    assert (hull.at_zero, hull.at_one) == (curve.at_zero, curve.at_one)
    for a, value in hull.points:
        assert value in (curve.inside(a), curve(a))


@given(curves(), st.fractions(-3, 3, max_denominator=6))
def test_the_hull_is_below_every_line_that_is_nowhere_below_the_curve(curve, slope):
    start = curve.below(curve_from_points([(0, 0), (1, slope)])).amount
    assert curve.hull.below(curve_from_points([(0, start), (1, slope + start)])).amount == 0


@given(curves())
def test_reflecting_twice_changes_nothing(curve):
    assert curve.reflected.reflected == curve
    assert all(curve.reflected(a) == 1 - curve(1 - a) for a in GRID)


@given(st.lists(curves(), min_size=1, max_size=3))
def test_the_minimum_is_the_least_value_everywhere(curve_list):
    minimum = pointwise_minimum(curve_list)
    assert all(minimum(a) == min(curve(a) for curve in curve_list) for a in GRID)


@given(st.lists(st.tuples(st.fractions(0, 4, max_denominator=6), UNIT), max_size=4))
def test_lines_make_the_minimum_of_them_and_one(lines):
    curve = curve_from_lines(lines)
    assert curve.concave
    assert all(curve(a) == min([1, *(slope * a + start for slope, start in lines)]) for a in GRID)


@given(st.lists(st.tuples(st.fractions(1, 4, max_denominator=6), UNIT), max_size=3), st.booleans())
def test_reversing_a_bound_gives_the_largest_first_probability_for_each_second(lines, steep):
    curve = pointwise_minimum(
        [curve_from_lines(lines), curve_from_points([(0, 0 if steep else 1), ("1/3", 1), (1, 1)])]
    )
    reverse = curve.reversed
    lower = curve.reflected
    for b in GRID:
        a = reverse(b)
        assert lower(a) <= b
        assert a == 1 or lower(min(a + Fraction(1, 10**9), 1)) > b
    assert reverse.reversed == curve


def test_curves_of_irrational_levels_are_exact():
    alpha = epsilon("0.1").alpha
    pure = curve_from_lines([(1 / alpha, 0), (alpha, 1 - alpha)])
    a, value = pure.points[1]
    assert a == alpha / (1 + alpha)
    assert value == 1 / (1 + alpha)
    assert pure.reversed == pure
    assert pure.below(pure).amount == 0


@pytest.mark.parametrize(
    "points",
    [[], [(0, 0)], [(0, 0), ("1/2", 1)], [("1/2", 0), (1, 1)], [(0, 0), (0, 1), (1, 1)], [(0, 0), (2, 1), (1, 1)]],
)
def test_arguments_that_do_not_increase_from_0_to_1_are_refused(points):
    with pytest.raises(InputError, match="points of a curve must"):
        curve_from_points(points)


def test_an_argument_outside_0_and_1_and_a_float_are_refused():
    flat = curve_from_points([(0, 1), (1, 1)])
    with pytest.raises(InputError, match=r"must be in \[0, 1\]"):
        flat("3/2")
    with pytest.raises(InputError, match="exact"):
        flat(0.5)
    with pytest.raises(InputError, match="exact"):
        curve_from_points([(0, 0.5), (1, 1)])


def test_only_concave_bounds_that_end_at_1_are_reversed():
    with pytest.raises(InputError, match="concave"):
        _ = curve_from_points([(0, 0), ("1/2", "1/4"), (1, 1)]).reversed
    with pytest.raises(InputError, match="value 1 at 1"):
        _ = curve_from_points([(0, 0), (1, "1/2")]).reversed
