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
from utmost.axioms.pair_rules import AllowedPairs, permits
from utmost.axioms.predicate import AllOf, Predicate, from_curve
from utmost.axioms.regions import region
from utmost.axioms.soundness import _region_closure
from utmost.exact import alpha

ZERO = Fraction(0)


@settings(max_examples=40)
@given(predicates())
def test_the_closure_is_sound_and_allows_all_that_the_rule_allows(rule):
    rule_closure = closure(rule)
    check_bound(rule_closure.bound)
    assert soundness(rule_closure.bound).sound
    allowed_pairs = AllowedPairs(rule)
    if allowed_pairs(ZERO, ZERO):
        assert all(permits(rule_closure.bound, a, b) for a in GRID for b in GRID if allowed_pairs(a, b))


@settings(max_examples=40)
@given(predicates())
def test_each_corner_of_the_closure_is_an_event_of_an_allowed_mechanism_or_a_limit_of_such(rule):
    """Hence each of its points is an event of a mixture, and no smaller definition is sound."""
    allowed_pairs = AllowedPairs(rule)
    assume(allowed_pairs(ZERO, ZERO))
    rule_closure = closure(rule)
    corners = [(ZERO, rule_closure.bound.at_zero), *rule_closure.bound.points[1:]]
    attained = [allowed_pairs(*corner) for corner in corners]
    assert not rule_closure.attained or all(attained)
    rule_region = region(rule)
    for (a, b), is_attained in zip(rule_closure.bound.points, [*attained], strict=True):
        if not is_attained or (a == 0 and b != rule_closure.bound.at_zero):
            limits = [
                rule_region.limits(k)
                for k in range(1, len(rule_region.columns), 2)
                if rule_region.columns[k].top is not None
            ]
            column = rule_region.column(a)
            possible_heights = {value for pair in limits for value in pair} | {
                a,
                *([column.top.value] if column.top else []),
            }
            assert b in possible_heights


@settings(max_examples=40)
@given(predicates(), st.lists(st.tuples(st.fractions(1, 4, max_denominator=4), UNIT), max_size=2))
def test_what_a_sound_bound_allows_has_a_closure_below_that_bound(rule, lines):
    bound = curve_from_lines(lines)
    both = Predicate("both", AllOf((rule.tree, from_curve(bound).tree)))
    excess = closure(both).bound.below(bound)
    assert excess.amount <= 0


@settings(max_examples=40)
@given(curves(ends_at_one=True))
def test_the_closure_of_a_curve_is_the_same_as_of_its_region_and_changes_nothing_twice(curve):
    rule_closure = closure(curve)
    assert rule_closure == _region_closure(region(curve))
    again = closure(rule_closure.bound)
    assert again.bound == rule_closure.bound
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
    rule_closure = closure(SampledPredicate(lambda a, b: b <= 2 * a, steps=8))
    assert (rule_closure.bound, rule_closure.certain) == (parse_bound("points:0 0,1/2 1,1 1"), False)


def test_two_bounds_for_a_pair_and_its_reverse_close_to_their_minimum():
    forward, backward = variation("1/5"), parse_bound("subsampling:1/10")
    assert closure(forward, backward).bound == pointwise_minimum([forward, backward.reversed])
    region_closure = _region_closure(region(forward, backward))
    assert (region_closure.bound, region_closure.attained) == (pointwise_minimum([forward, backward.reversed]), True)
