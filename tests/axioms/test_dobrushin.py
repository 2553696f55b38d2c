"""Dobrushin's coefficient: its best value, who attains it, KL10 Lemma 3.3.8 with its indices put right."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axioms.private_mechanisms import mechanisms, relations
from strategies import channels, levels, rational_levels
from utmost.axioms.constraint_graphs import privacy_constraints
from utmost.axioms.definition import Relation, parse_relation, relation_from_pairs, relation_from_space
from utmost.axioms.dobrushin import (
    best_coefficient,
    best_mechanism,
    ergodicity,
    is_dobrushin_optimal,
    least_overlap,
    steepest_path,
)
from utmost.axioms.generality import generalize, maximally_general
from utmost.channel import channel, identity
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import geometric, response
from utmost.spaces import line

HALF = alpha("1/2")


@given(channels())
def test_the_coefficient_is_the_largest_difference_over_all_events(source):
    """1 + μ_Dob = max over pairs and events O of P(O|x) − P(O|x′), by brute force over events."""
    width, rows = len(source.outputs), source.rows
    events = [event for k in range(width + 1) for event in combinations(range(width), k)]
    gaps = [
        sum((rows[x, y] - rows[z, y] for y in event), Fraction(0))
        for x in range(len(rows))
        for z in range(len(rows))
        for event in events
    ]
    best = ergodicity(source)
    assert 1 + best.value == max(gaps)
    x, z = (source.inputs.index(label) for label in best.pair)
    assert -best.value == sum(min(a, b) for a, b in zip(rows[x], rows[z], strict=True))


@settings(max_examples=25, deadline=None)
@given(relations(5, connected=True), rational_levels())
def test_the_closed_form_is_the_optimum_of_certified_programs_over_all_pairs(relation, level):
    programs = [least_overlap(relation, level, x, z) for x, z in combinations(relation.labels, 2)]
    assert all(program.exact for program in programs)
    assert -best_coefficient(relation, level) == min((program.upper for program in programs), default=1)


@settings(max_examples=25, deadline=None)
@given(relations(5, connected=True), rational_levels(), st.data())
def test_for_a_pair_the_program_gives_the_closed_form_of_its_distance(relation, level, data):
    """So only pairs at the diameter can attain the best value (KL10 Lemma 3.3.7)."""
    x, z = data.draw(st.integers(0, len(relation) - 1)), data.draw(st.integers(0, len(relation) - 1))
    distance = relation.distances(x)[z]
    program = least_overlap(relation, level, relation.labels[x], relation.labels[z])
    assert program.upper == program.lower == -best_coefficient(parse_relation(f"line:{distance + 1}"), level)


@settings(max_examples=40, deadline=None)
@given(relations(6), levels())
def test_the_best_mechanism_is_private_and_best(relation, level):
    mechanism = best_mechanism(relation, level)
    privacy_constraints(relation, level).channel(mechanism)
    assert ergodicity(mechanism).value == best_coefficient(relation, level)
    assert is_dobrushin_optimal(mechanism, relation, level)


@given(levels())
def test_the_best_value_grows_with_the_diameter(level):
    values = [best_coefficient(parse_relation(f"line:{n}"), level) for n in range(1, 8)]
    assert values[0] == -1
    assert all(a < b for a, b in pairwise(values))
    assert values[:4] == [
        -1,
        -2 * level.alpha / (1 + level.alpha),
        -level.alpha,
        -2 * level.alpha**2 / (1 + level.alpha),
    ]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_lemma_3_3_8_put_right_decides_who_is_best(data):
    relation, level = data.draw(relations(5, connected=True)), data.draw(levels())
    source = data.draw(st.one_of(mechanisms(relation, level), st.just(best_mechanism(relation, level))))
    if data.draw(st.booleans()):
        source = generalize(source, relation, level).channel
    steepest = steepest_path(source, relation, level)
    assert (steepest is not None) == is_dobrushin_optimal(source, relation, level)
    if steepest is not None:
        end_positions = [relation.labels.index(label) for label in (steepest.path[0], steepest.path[-1])]
        assert relation.distances(end_positions[0])[end_positions[1]] == relation.diameter == len(steepest.path) - 1
        assert len(steepest.rising) + len(steepest.falling) == len(source.outputs)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nobody_exceeds_the_best_and_generalizing_keeps_it(data):
    """KL10 §3.3: an optimum stays one under the construction of App. B."""
    relation, level = data.draw(relations(5)), data.draw(levels())
    source = data.draw(mechanisms(relation, level))
    best = best_coefficient(relation, level)
    general_value = ergodicity(generalize(source, relation, level).channel).value
    assert ergodicity(source).value <= general_value <= best


@pytest.mark.parametrize("size", range(1, 7))
@pytest.mark.parametrize("level", [HALF, alpha("9/10"), epsilon("1/10"), epsilon(2)])
def test_the_geometric_mechanism_is_best(size, level):
    relation = parse_relation(f"line:{size + 1}")
    assert is_dobrushin_optimal(geometric(size, level), relation, level)
    assert steepest_path(geometric(size, level), relation, level).path in (tuple(range(size + 1)),)


def test_randomised_response_is_best_for_two_secrets_only():
    assert is_dobrushin_optimal(response(2, HALF), parse_relation("discrete:2"), HALF)
    assert not is_dobrushin_optimal(response(3, HALF), parse_relation("discrete:3"), HALF)
    # two of three secrets overlap by 2·α/(1+2α) + α/(1+2α) = 3/4, and the best is 2/3
    assert ergodicity(response(3, HALF)).value == Fraction(-3, 4)


def meets_printed_lemma(source, path, rate):
    """KL10 Lemma 3.3.8 as it is printed, with j from 2 and d where Lemma 3.3.5 has n."""
    d = len(path) - 1

    def tight(column, steps, factor):
        return all(column[path[j]] == factor * column[path[j - 1]] for j in steps)

    def meets(column):
        if d % 2 == 0:
            return tight(column, range(2, d // 2 + 2), rate) or tight(column, range(d // 2 + 1, d + 1), 1 / rate)
        return tight(column, range(2, (d + 1) // 2 + 1), rate) or tight(column, range((d + 3) // 2, d + 1), 1 / rate)

    return all(meets(column) for column in source.rows.T)


def test_the_printed_indices_of_lemma_3_3_8_are_wrong_both_ways():
    constant = channel([[1], [1]])
    assert meets_printed_lemma(constant, (0, 1), Fraction(2))  # d = 1: no condition is left, and every mechanism passes
    assert ergodicity(constant).value == -1 < best_coefficient(parse_relation("line:2"), HALF) == Fraction(-2, 3)
    late_rise = channel([["1/3", "2/3"], ["1/3", "2/3"], ["2/3", "1/3"]])
    assert meets_printed_lemma(late_rise, (0, 1, 2), Fraction(2))  # d = 2: only the second step is looked at
    assert (
        ergodicity(late_rise).value
        == Fraction(-2, 3)
        < best_coefficient(parse_relation("line:3"), HALF)
        == Fraction(-1, 2)
    )
    best = channel([["1/4", "3/4"], ["1/2", "1/2"], ["3/4", "1/4"]])
    assert is_dobrushin_optimal(best, parse_relation("line:3"), HALF)
    assert not any(meets_printed_lemma(best, path, Fraction(2)) for path in ((0, 1, 2), (2, 1, 0)))
    assert steepest_path(late_rise, parse_relation("line:3"), HALF) is None
    assert steepest_path(best, parse_relation("line:3"), HALF).path == (0, 1, 2)


def test_a_best_mechanism_need_not_be_maximally_general():
    best = channel([["1/4", "3/4"], ["1/2", "1/2"], ["3/4", "1/4"]])
    assert not maximally_general(best, line(3), HALF)


def test_unrelated_secrets_can_be_distinguished_with_certainty():
    relation = Relation(("a", "b", "c"), ((0, 1), (1, 0)))
    assert best_coefficient(relation, HALF) == 0
    assert best_mechanism(relation, HALF).rows.tolist() == [[0, 1], [0, 1], [1, 0]]
    with pytest.raises(InputError, match="connected"):
        steepest_path(best_mechanism(relation, HALF), relation, HALF)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_best_coefficient_at_levels_zero_and_one(size):
    relation = relation_from_space(line(size))
    assert best_coefficient(relation, alpha(1)) == -1
    assert best_coefficient(relation, alpha(0)) == (0 if size > 1 else -1)
    assert is_dobrushin_optimal(identity(range(size)), relation, alpha(0))
    assert is_dobrushin_optimal(channel([[1]] * size), relation, alpha(1))
    assert steepest_path(channel([[1]] * size), relation, alpha(1)) is not None
    with pytest.raises(InputError, match="alpha > 0"):
        steepest_path(identity(range(size)), relation, alpha(0))


def test_what_is_no_mechanism_of_the_relation_is_refused():
    with pytest.raises(InputError, match="private at this level"):
        is_dobrushin_optimal(identity(range(2)), parse_relation("line:2"), HALF)
    with pytest.raises(InputError, match="symmetric"):
        best_coefficient(relation_from_pairs([("a", "b")]), HALF)
    with pytest.raises(InputError, match="no secret"):
        least_overlap(parse_relation("line:2"), HALF, 0, 7)
    with pytest.raises(InputError, match="alpha of a program"):
        least_overlap(parse_relation("line:2"), epsilon(1), 0, 1)
