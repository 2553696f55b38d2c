"""Measures of utility against KL10's generality axiom."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from axioms.private_mechanisms import mechanisms, relations
from strategies import channels, fractions, levels, rational_levels, weights
from utmost.axioms.constraint_graphs import privacy_constraints
from utmost.axioms.definition import Relation, parse_relation
from utmost.axioms.dobrushin import ergodicity
from utmost.axioms.utility_measures import (
    absolute_determinant,
    check_measure,
    dobrushin,
    negative_expected_loss,
    remap_counterexample,
    rename_counterexample,
)
from utmost.channel import channel, identity
from utmost.consumer import Consumer, losses, priors
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import geometric, response
from utmost.qif import posterior_uncertainty
from utmost.spaces import line

HALF = alpha("1/2")


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(channels(n, n), channels(n, n))))
def test_the_determinant_respects_generality(pair):
    source, post_processing = pair
    determinant = absolute_determinant(source.then(post_processing))
    assert determinant == absolute_determinant(source) * absolute_determinant(post_processing)
    assert determinant <= absolute_determinant(source) <= 1


@given(st.data())
def test_dobrushin_s_coefficient_respects_generality(data):
    """KL10 App. A, for any shapes."""
    source = data.draw(channels())
    assert dobrushin(source.then(data.draw(channels(len(source.outputs))))) <= dobrushin(source)


@settings(max_examples=40)
@given(st.data())
def test_dobrushin_s_coefficient_respects_generality_at_irrational_levels(data):
    level, relation = data.draw(levels()), data.draw(relations(4))
    source = data.draw(mechanisms(relation, level))
    post_processing = data.draw(channels(len(source.outputs)))
    assert dobrushin(source.then(post_processing)) <= dobrushin(source) == ergodicity(source).value


@given(st.data())
def test_the_loss_of_the_best_reading_respects_generality(data):
    source = data.draw(channels())
    post_processing = data.draw(channels(len(source.outputs)))
    prior = data.draw(weights(len(source.inputs)))
    loss = [[data.draw(fractions(0, 5)) for _ in range(3)] for _ in source.inputs]
    assert posterior_uncertainty(prior, loss, source) <= posterior_uncertainty(
        prior, loss, source.then(post_processing)
    )


@st.composite
def losses_over(draw, size):
    width = draw(st.integers(1, 4))
    rows = [draw(st.lists(fractions(0, 3), min_size=width, max_size=width)) for _ in range(size)]
    if draw(st.booleans()):  # columns with equal sums, where a constant mechanism refutes nothing
        rows[-1] = [1000 - sum((row[w] for row in rows[:-1]), Fraction(0)) for w in range(width)]
    return rows


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_expected_loss_of_answers_as_they_are_is_refuted_whenever_it_depends_on_them(data):
    relation, level = data.draw(relations(4)), data.draw(levels())
    loss = data.draw(losses_over(len(relation)))
    refutation = rename_counterexample(loss, relation, level)
    assert (refutation is None) == all(len(set(row)) == 1 for row in loss)
    if refutation is not None:
        privacy_constraints(relation, level).channel(refutation.mechanism)
        assert refutation.holds(negative_expected_loss(loss))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_where_everything_must_be_the_same_only_sums_over_components_count(data):
    """At α = 1 a private mechanism is constant on each component."""
    relation = data.draw(relations(4))
    loss = data.draw(losses_over(len(relation)))
    refutation = rename_counterexample(loss, relation, alpha(1))
    sums = [
        {sum((loss[x][w] for x in component), Fraction(0)) for w in range(len(loss[0]))}
        for component in relation.components
    ]
    assert (refutation is None) == all(len(values) == 1 for values in sums)
    if refutation is not None:
        privacy_constraints(relation, alpha(1)).channel(refutation.mechanism)
        assert refutation.holds(negative_expected_loss(loss))


def test_the_geometric_mechanism_loses_less_once_it_is_read():
    """KL10 Example 3.2.1, after GRS12: prior (1/8, 3/4, 1/8), absolute loss; at face value 5/8, read as 1 only 1/4."""
    reader = Consumer(priors.parse("1/8,3/4,1/8", 3), losses.absolute)
    refutation = remap_counterexample(geometric(2, HALF), reader)
    assert (refutation.before, refutation.after) == (Fraction(-5, 8), Fraction(-1, 4))
    assert refutation.after == -reader.expected_loss(geometric(2, HALF))
    assert refutation.holds(negative_expected_loss(reader.costs()))
    assert remap_counterexample(identity(range(3)), reader) is None


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_the_trial_refutes_the_loss_and_not_the_others(data):
    relation, level = data.draw(relations(3)), data.draw(rational_levels())
    for measure in (dobrushin, absolute_determinant):
        trial = check_measure(measure, relation, level)
        assert trial.refutation is None
        assert trial.tried > 0 or len(relation) == 1
    loss = data.draw(losses_over(len(relation)))
    assume(len(loss[0]) > 1)
    refutation = check_measure(negative_expected_loss(loss), relation, level, width=len(loss[0])).refutation
    assert refutation is None or refutation.holds(negative_expected_loss(loss))
    if len({sum(row[w] for row in loss) for w in range(len(loss[0]))}) > 1:
        assert refutation is not None


def test_the_trial_finds_what_a_user_s_measure_does_wrong():
    def first_answer(source):
        return source.rows[:, 0].sum()

    trial = check_measure(first_answer, line(6), HALF)
    assert trial.refutation.holds(first_answer)
    privacy_constraints(line(6), HALF).channel(trial.refutation.mechanism)
    relation = Relation(("a", "b"), ())
    assert check_measure(dobrushin, relation, alpha(1)).refutation is None


def test_a_volume_instead_of_the_determinant_is_refuted_by_an_output_split_in_halves():
    """√det(M·Mᵀ) extends |det M| to other shapes; squared, it is 1/2 before the halves are merged and 1 after."""
    halves = channel([["1/2", "1/2", 0], [0, 0, 1]])
    whole = halves.then(channel([[1, 0], [1, 0], [0, 1]]))

    def squared_volume(source):
        gram = source.rows.dot(source.rows.T)
        return gram[0, 0] * gram[1, 1] - gram[0, 1] * gram[1, 0]

    assert (squared_volume(halves), squared_volume(whole)) == (Fraction(1, 2), 1)
    assert absolute_determinant(whole) == 1
    with pytest.raises(InputError, match="2 inputs and 3 outputs"):
        absolute_determinant(halves)


@pytest.mark.parametrize("level", [HALF, epsilon(1)])
def test_the_determinant_of_the_geometric_mechanism_has_a_closed_form(level):
    """det α^|i−j| = (1−α²)^n, times the weights 1/(1+α) of both ends and (1−α)/(1+α) of the others."""
    rate = level.alpha
    for n in (1, 2, 4):
        weight = (1 / (1 + rate)) ** 2 * ((1 - rate) / (1 + rate)) ** (n - 1)
        assert absolute_determinant(geometric(n, level)) == weight * (1 - rate * rate) ** n


def test_a_singular_matrix_has_determinant_zero():
    rate = epsilon(1).alpha
    assert absolute_determinant(channel([[rate, 1 - rate]] * 2)) == 0
    assert absolute_determinant(channel([[rate, 1 - rate, 0], [0, rate, 1 - rate], [1 - rate, 0, rate]])) > 0
    assert absolute_determinant(channel([["1/2", "1/2"]] * 2)) == 0


def test_numpy_finds_the_same_determinant():
    source = response(5, HALF).channel()
    assert float(absolute_determinant(source)) == pytest.approx(abs(np.linalg.det(source.floats())), rel=1e-12)


def test_a_loss_of_another_shape_is_refused():
    with pytest.raises(InputError, match="3 columns"):
        negative_expected_loss([[0, 1], [1, 0], [0, 0]])(geometric(2, HALF).channel())
    with pytest.raises(InputError, match="rows"):
        rename_counterexample([[0, 1]], parse_relation("line:2"), HALF)
