"""The axioms: decided, and where they fail, refuted by mechanisms."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from axioms.rules import GRID, UNIT, curves, events, meets, predicates
from utmost.axioms import (
    Candidate,
    SampledPredicate,
    allowed_range,
    curve_from_points,
    parse_bound,
    predicate,
    pure,
    relation_from_pairs,
    relation_from_space,
    soundness,
)
from utmost.axioms.definition import bound_fault
from utmost.axioms.pair_rules import AllowedPairs, permits
from utmost.axioms.regions import bound, convexity_gap, region
from utmost.channel import channel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.spaces import discrete, line


def laws(outputs):
    """Probabilities in twelfths."""
    return st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)


def mechanism(counts):
    return channel([[Fraction(n, sum(row)) for n in row] for row in counts], ["i1", "i2"])


def check_failures(verdict, rules):
    """Each axiom is refuted by channels that meet the rules (by pairs of positions), and whose result does not."""
    for failure in (verdict.transformation, verdict.choice):
        for mechanism in failure.mechanisms:
            assert all(meets(mechanism, rule, x, y) for (x, y), rule in rules.items())
        assert not all(meets(failure.result, rule, x, y) for (x, y), rule in rules.items())
    assert len(verdict.transformation.mechanism.outputs) <= 3
    assert len(verdict.transformation.post_processing.outputs) == len(verdict.choice.first.outputs) == 2


@given(predicates())
def test_a_verdict_is_a_convex_region_or_a_failure_of_both_axioms(rule):
    verdict = soundness(rule)
    allowed_pairs = AllowedPairs(rule)
    assert verdict.certain
    assert verdict.satisfiable == allowed_pairs(Fraction(0), Fraction(0))
    if not verdict.satisfiable:
        assert verdict.sound
        return
    if verdict.sound:
        allowed_points = [point for point in product(GRID, GRID) if allowed_pairs(*point)]
        for (a, b), (c, d) in combinations(allowed_points[:: max(1, len(allowed_points) // 24)], 2):
            assert allowed_pairs((a + c) / 2, (b + d) / 2)
            assert allowed_pairs((a + 2 * c) / 3, (b + 2 * d) / 3)
        return
    gap = verdict.gap
    assert allowed_pairs(*gap.first)
    assert allowed_pairs(*gap.second)
    assert not allowed_pairs(*gap.missing)
    check_failures(verdict, {(0, 1): rule})


@settings(max_examples=40)
@given(
    predicates(), st.tuples(laws(3), laws(3)), st.tuples(laws(3), laws(3)), st.lists(UNIT, min_size=3, max_size=3), UNIT
)
def test_a_sound_predicate_survives_any_post_processing_and_any_mixture(
    rule, first_counts, second_counts, shares, weight
):
    verdict = soundness(rule)
    first, second = mechanism(first_counts), mechanism(second_counts)
    assume(verdict.sound and meets(first, rule))
    post_processing = channel([[share, 1 - share] for share in shares])
    assert meets(channel(first.rows.tolist()).then(post_processing), rule)
    if meets(second, rule):
        assert meets(channel((first.rows * weight + second.rows * (1 - weight)).tolist()), rule)


@settings(max_examples=40)
@given(predicates())
def test_the_bounds_of_a_sound_predicate_have_every_property_of_the_theorem(rule):
    """KL10 Thm 2.2.5, its item (v) put right: m never decreases, and increases wherever it is above 0."""
    verdict = soundness(rule)
    assume(verdict.sound and verdict.satisfiable)
    rule_region = region(rule)
    upper = bound(rule_region)
    lower = upper.reflected
    assert bound_fault(upper) is None
    for a in GRID:
        column = rule_region.column(a)
        assert (column.top.value, column.bottom.value) == (upper(a), lower(a))
        assert 1 >= upper(a) >= a >= lower(a) >= 0
        assert all(rule(a, b) for b in GRID if lower(a) < b < upper(a))
        assert not any(AllowedPairs(rule)(a, b) for b in GRID if b < lower(a) or b > upper(a))
    for a, later in combinations(GRID, 2):
        assert upper(later) > upper(a) or upper(a) == 1
        assert lower(later) > lower(a) or lower(later) == 0


@settings(max_examples=40)
@given(curves(ends_at_one=True))
def test_a_curve_is_judged_alike_as_a_curve_and_as_a_region(curve):
    verdict = soundness(curve)
    assert verdict.satisfiable
    assert (convexity_gap(region(curve)) is None) == verdict.sound
    assert not verdict.sound or (curve.concave and all(curve(a) >= a for a in GRID))
    if not verdict.sound:
        check_failures(verdict, {(0, 1): lambda a, b: permits(curve, a, b)})


@settings(max_examples=40)
@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=3))
def test_parallelograms_are_what_post_processing_two_outputs_makes(points):
    """Prop. 2.2.2, its second and third items exchanged: the section of the parallelogram of 0, u, 1 and 1−u."""
    for a, b in points:
        low, high = allowed_range(a, b) if a not in (0, 1) else (min(a, b), max(a, b))
        assert 0 <= low <= min(a, b)
        assert max(a, b) <= high <= 1
        source = channel([[a, 1 - a], [b, 1 - b]])
        for first, second in product(GRID, GRID):
            result = source.then(channel([[first, 1 - first], [second, 1 - second]]))
            if result.rows[0, 0] == a and a not in (0, 1):
                assert low <= result.rows[1, 0] <= high


def test_the_printed_items_of_the_proposition_leave_the_unit_interval():
    a, b = Fraction(3, 4), Fraction(1, 2)
    assert (1 - b) * a / (1 - a) == Fraction(3, 2)  # as printed for a >= 1/2
    assert allowed_range(a, b) == (Fraction(1, 2), Fraction(5, 6))


@pytest.mark.slow
def test_two_outputs_do_not_always_refute_transformation_invariance_and_three_do():
    """The union of the parallelograms of (1/6, 1/2) and (1/2, 5/6): closed under post-processing of two outputs."""
    text = "b <= 3*a and b <= 3/5*a + 2/5 or b <= 5/3*a and b <= 1/3*a + 2/3"
    rule = predicate(text)
    allowed_pairs = AllowedPairs(rule)
    for a, b in product(GRID, GRID):
        if allowed_pairs(a, b):
            source = channel([[a, 1 - a], [b, 1 - b]])
            for first, second in product(GRID, GRID):
                assert meets(source.then(channel([[first, 1 - first], [second, 1 - second]])), rule)
    verdict = soundness(rule)
    assert verdict.sound is False
    assert len(verdict.transformation.mechanism.outputs) == 3
    check_failures(verdict, {(0, 1): rule})


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("b <= 2*a", True),
        ("b <= exp(1/10)*a + 1e-6", True),
        ("b < a + 1/10 or a = b", True),  # an open boundary is sound
        ("b < a + 1/10 or a = b or a = 1/3 and b = 13/30", True),  # so is one that has a single point of an edge
        (
            "b < a + 1/10 or a = b or (a = 1/3 or a = 1/2) and b = a + 1/10",
            False,
        ),  # but not two without what is between
        ("a > 0 or b = 0", True),  # the jump at 0
        ("b <= a + 1/2 and (a > 0 or b = 0)", True),
        ("b <= a + 1/2 or a = 0", False),
        ("b <= 2*a and b != a + 1/100", False),
        (
            "a = b or a = 1/4 and b = 3/4",
            False,
        ),  # an isolated point, whose complement is not allowed: nothing but a = b
        ("a = b or a = 1/4 and b = 3/4 or a = 3/4 and b = 1/4", False),
        ("a != 1/3", False),
        ("a = b", True),
        ("0 <= 1", True),
    ],
)
def test_boundaries_jumps_and_isolated_points_are_decided(text, sound):
    verdict = soundness(predicate(text))
    if "3/4" in text and "or a = 3/4" not in text:
        assert verdict.sound  # q(3/4, 1/4) is false, so q(1/4, 3/4) allows nothing: Assumption 2.2.1
        return
    assert verdict.sound is sound
    if not sound:
        check_failures(verdict, {(0, 1): predicate(text)})


@pytest.mark.parametrize("text", ["a < b", "b > 0", "b < 1", "1 < 0", "a + b = 1"])
def test_what_no_mechanism_meets_satisfies_both_axioms_of_nothing(text):
    verdict = soundness(predicate(text))
    assert verdict.sound
    assert not verdict.satisfiable


def test_a_rule_is_judged_together_with_the_one_for_the_reversed_pair():
    """A predicate can be anything where another leaves nothing: KL10 Thm 2.2.5 (i) needs the pair to be alone."""
    relation = relation_from_pairs([(1, 2), (2, 1)])
    two_points = predicate("a = b or a = 1/4 and b = 3/4 or a = 3/4 and b = 1/4")
    candidate = Candidate(relation, predicate("a = b"), {(0, 1): two_points})
    assert soundness(two_points).sound is False
    assert soundness(candidate).sound is True
    for rows in product(product(GRID, repeat=2), repeat=1):
        a, b = rows[0]
        source = channel([[a, 1 - a], [b, 1 - b]], [1, 2])
        assert (meets(source, two_points) and meets(source, predicate("a = b"), 1, 0)) == (a == b)


@pytest.mark.parametrize(
    "relation",
    [relation_from_space(line(4)), relation_from_space(discrete(3)), relation_from_pairs([(1, 2), (2, 3), (1, 3)])],
)
def test_a_failure_is_one_on_all_secrets_where_all_pairs_have_the_same_rule(relation):
    rule = predicate("b <= 2*a or b <= 1/2 or a = b")
    verdict = soundness(Candidate(relation, rule))
    assert verdict.sound is False
    assert verdict.covers_all_secrets
    assert verdict.transformation.mechanism.inputs == relation.labels
    check_failures(verdict, dict.fromkeys(relation.pairs, rule))


def test_a_failure_that_no_continuation_is_found_for_is_one_of_the_two_secrets_only():
    relation = relation_from_pairs([(1, 2), (2, 3), (3, 1)])
    rule = predicate("b <= a or a = 1/4 and b = 1/2 or a = 1/2 and b = 3/4")
    verdict = soundness(Candidate(relation, rule, {(1, 2): predicate("a = b"), (2, 0): predicate("a = b")}))
    assert verdict.sound is None
    assert not verdict.covers_all_secrets
    assert verdict.transformation.mechanism.inputs == (1, 2)
    check_failures(verdict, {(0, 1): rule})


def test_irrational_levels_are_judged_exactly():
    assert soundness(pure(epsilon("0.1"))).sound
    dented_curve = curve_from_points([(0, 0), ("1/2", epsilon("0.1").alpha / 2 + Fraction(1, 100)), (1, 1)])
    verdict = soundness(dented_curve)
    assert verdict.sound is False
    check_failures(verdict, {(0, 1): lambda a, b: permits(dented_curve, a, b)})


def test_a_function_is_refuted_by_three_points_or_only_looked_at_on_a_grid():
    lax = soundness(SampledPredicate(lambda a, b: b <= 2 * a))
    assert (lax.sound, lax.certain) == (True, False)
    square = soundness(SampledPredicate(lambda a, b: b * b <= 4 * a * a * a or a == b))
    assert (square.sound, square.certain) == (False, True)
    check_failures(square, {(0, 1): lambda a, b: b * b <= 4 * a * a * a or a == b})
    empty = soundness(SampledPredicate(lambda a, b: a < b))
    assert not empty.satisfiable


@pytest.mark.parametrize(
    ("function", "problem"),
    [(lambda a, b: 1, "True or False"), (lambda a, b: 1 / a < b, "it raised ZeroDivisionError")],
)
def test_a_function_that_gives_no_answer_is_refused(function, problem):
    with pytest.raises(InputError, match=problem):
        soundness(SampledPredicate(function))
    with pytest.raises(InputError, match="steps of a grid"):
        SampledPredicate(function, 1000)


@settings(max_examples=40)
@given(st.fractions(min_value="1/24", max_value=1, max_denominator=24), laws(3), laws(3))
def test_pure_privacy_as_a_predicate_is_private_channels(shrink, first_counts, second_counts):
    source = mechanism([first_counts, second_counts])
    ratio = all(shrink * p <= q and shrink * q <= p for p, q in zip(*source.rows, strict=True))
    assert ratio == all(permits(pure(alpha(shrink)), a, b) for a, b in events(source))


def test_a_bound_of_its_own_must_be_for_a_pair_of_the_relation():
    with pytest.raises(InputError, match="a pair of the relation"):
        Candidate(relation_from_pairs([(1, 2)]), parse_bound("identity"), {(1, 0): parse_bound("identity")})
