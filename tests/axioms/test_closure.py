"""The closure: sound, above, and nothing in it is superfluous."""

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from axioms.rules import GRID, UNIT, curves, predicates
from utmost.axioms import (
    SampledPredicate,
    check_bound,
    closure,
    curve_from_lines,
    curve_from_points,
    parse_bound,
    pointwise_minimum,
    predicate,
    pure,
    soundness,
    variation,
)
from utmost.axioms.closure import _hull
from utmost.axioms.predicate import AllOf, Predicate, from_curve
from utmost.axioms.regions import region
from utmost.axioms.rules import AllowedPairs, permits
from utmost.exact import alpha

ZERO = Fraction(0)


@settings(max_examples=40)
@given(predicates())
def test_the_closure_is_sound_and_allows_all_that_the_rule_allows(rule):
    found = closure(rule)
    check_bound(found.bound)
    assert soundness(found.bound).sound
    allowed = AllowedPairs(rule)
    if allowed(ZERO, ZERO):
        assert all(permits(found.bound, a, b) for a in GRID for b in GRID if allowed(a, b))


@settings(max_examples=40)
@given(predicates())
def test_each_corner_of_the_closure_is_an_event_of_an_allowed_mechanism_or_a_limit_of_such(rule):
    """Hence each of its points is an event of a mixture, and no smaller definition is sound."""
    allowed = AllowedPairs(rule)
    assume(allowed(ZERO, ZERO))
    found = closure(rule)
    corners = [(ZERO, found.bound.at_zero), *found.bound.points[1:]]
    attained = [allowed(*corner) for corner in corners]
    assert not found.attained or all(attained)
    cut = region(rule)
    for (a, b), yes in zip(found.bound.points, [*attained], strict=True):
        if not yes or (a == 0 and b != found.bound.at_zero):
            limits = [cut.limits(k) for k in range(1, len(cut.columns), 2) if cut.columns[k].top is not None]
            column = cut.column(a)
            ends = {value for pair in limits for value in pair} | {a, *([column.top.value] if column.top else [])}
            assert b in ends


@settings(max_examples=40)
@given(predicates(), st.lists(st.tuples(st.fractions(1, 4, max_denominator=4), UNIT), max_size=2))
def test_what_a_sound_bound_allows_has_a_closure_below_that_bound(rule, lines):
    bound = curve_from_lines(lines)
    both = Predicate("both", AllOf((rule.tree, from_curve(bound).tree)))
    found = closure(both).bound.below(bound)
    assert found.amount <= 0


@settings(max_examples=40)
@given(curves(whole=True))
def test_the_closure_of_a_curve_is_the_same_as_of_its_region_and_changes_nothing_twice(curve):
    found = closure(curve)
    assert found == _hull(region(curve))
    again = closure(found.bound)
    assert again.bound == found.bound
    assert again.attained


@settings(max_examples=40)
@given(predicates())
def test_a_sound_rule_is_its_own_closure(rule):
    verdict = soundness(rule)
    assume(verdict.sound and verdict.satisfiable)
    bound = closure(rule).bound
    for a in GRID:
        top = region(rule).column(a).top
        assert top.value == bound(a)


def test_closures_in_closed_form():
    assert closure(predicate("b <= 2*a or b <= 1/2")).bound == curve_from_points([(0, "1/2"), ("1/2", 1), (1, 1)])
    assert closure(predicate("a = b or a = 1/4 and b = 3/4 or a = 3/4 and b = 1/4")).bound == curve_from_points(
        [(0, 0), ("1/4", "3/4"), (1, 1)]
    )
    open_ended = closure(predicate("b < a + 1/10 or a = b"))
    assert (open_ended.bound, open_ended.attained) == (variation("1/10"), False)
    jump = closure(predicate("a > 0 or b = 0"))
    assert (str(jump.bound), jump.attained) == ("0 0, 0 1, 1 1", True)
    one_way = predicate("b <= 2*a")
    assert closure(one_way, one_way).bound == pure(alpha("1/2"))
    assert closure(predicate("a < b")).bound == curve_from_points([(0, 0), (1, 1)])


def test_the_closure_of_a_function_is_what_its_grid_shows():
    found = closure(SampledPredicate(lambda a, b: b <= 2 * a, steps=8))
    assert (found.bound, found.certain) == (parse_bound("points:0 0,1/2 1,1 1"), False)


def test_two_bounds_for_a_pair_and_its_reverse_close_to_their_minimum():
    forth, back = variation("1/5"), parse_bound("subsampling:1/10")
    assert closure(forth, back).bound == pointwise_minimum([forth, back.reversed])
    cut = _hull(region(forth, back))
    assert (cut.bound, cut.attained) == (pointwise_minimum([forth, back.reversed]), True)
