"""FMPD23 Theorem 6 and what its last statement needs: mechanisms on some secrets that extend to all."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from design.universal_cases import HALF, kernels, loss_tables, mechanisms, metrics, remaps
from utmost.channel import channel, is_private
from utmost.consumer import losses
from utmost.consumer.loss_classes import is_trivial, lift_loss
from utmost.design.universal import (
    Verdict,
    binary_mechanism,
    extension,
    retraction,
    uncertainty,
    universally_optimal,
    verify,
)
from utmost.design.universal.second_proofs import (
    check_choice,
    check_constant,
    check_restriction,
    extension_program,
    refinement_keeps,
    trivial_is_optimal,
)
from utmost.errors import InputError, SolverError
from utmost.exact import Level, alpha
from utmost.mechanisms import geometric, response
from utmost.spaces import Space, cycle, discrete, graph, hamming, line, space, sub_space

LEVELS = [alpha(a) for a in ("1/2", "1/3", "2/3")]
KINDS = {"line": line, "discrete": discrete}


@st.composite
def types(draw: st.DrawFn) -> tuple[str, Level]:
    return draw(st.sampled_from(list(KINDS))), draw(st.sampled_from(LEVELS))


@given(types(), loss_tables(3, max_entry=2), st.data())
@settings(max_examples=40)
def test_trivial_losses_make_every_mechanism_optimal(
    kind: tuple[str, Level], table: list[list[int]], data: st.DataObject
) -> None:
    name, level = kind
    mechanism = data.draw(mechanisms(name, 3, level))
    assert trivial_is_optimal(KINDS[name](3), level, table, mechanism).holds


@given(types(), loss_tables(3), st.data())
@settings(max_examples=40)
def test_what_a_refinement_is_best_for_the_mechanism_is_best_for(
    kind: tuple[str, Level], table: list[list[int]], data: st.DataObject
) -> None:
    name, level = kind
    mechanism = data.draw(mechanisms(name, 3, level))
    remap = data.draw(remaps(mechanism))
    assert refinement_keeps(KINDS[name](3), level, table, mechanism, remap).holds


@given(types(), loss_tables(3, max_entry=2))
@settings(max_examples=60)
def test_a_constant_mechanism_is_best_exactly_for_losses_with_a_dominant_action(
    kind: tuple[str, Level], table: list[list[int]]
) -> None:
    name, level = kind
    assert check_constant(KINDS[name](3), level, table).holds


def test_with_the_triviality_of_definition_six_a_constant_mechanism_is_best_for_more() -> None:
    table = [[0, 1], [0, 1]]
    assert not is_trivial(table, 2).constant
    assert check_constant(line(2), HALF, table).left


def test_the_uniform_prior_is_not_enough_to_prove_statement_three() -> None:
    """A loss without a dominant action, yet under the uniform prior every private posterior has the same best one."""
    table = [[0, 1], [100, 0]]
    assert not is_trivial(table, 2).dominated
    rows = np.array([[Fraction(v) for v in row] for row in table], dtype=object)
    uniform = (Fraction(1, 2),) * 2
    constant = np.array([[Fraction(1)], [Fraction(1)]], dtype=object)
    best = binary_mechanism(line(2), HALF).rows
    assert uncertainty(uniform, constant, rows) == uncertainty(uniform, best, rows) == Fraction(1, 2)
    assert not check_constant(line(2), HALF, table).left


@given(types(), loss_tables(3), st.sampled_from(["1/3", "1/2", "9/10"]), st.data())
@settings(max_examples=40)
def test_a_visible_choice_is_best_exactly_for_what_both_are_best_for(
    kind: tuple[str, Level], table: list[list[int]], weight: str, data: st.DataObject
) -> None:
    name, level = kind
    first, second = (data.draw(mechanisms(name, 3, level)) for _ in range(2))
    assert check_choice(KINDS[name](3), level, table, first, second, weight).holds


@given(types(), loss_tables(2), st.sampled_from(list(combinations(range(3), 2))), st.data())
@settings(max_examples=60)
def test_a_restriction_that_is_best_lifts(
    kind: tuple[str, Level], table: list[list[int]], labels: tuple[int, int], data: st.DataObject
) -> None:
    """Statement 5 from left to right always; back where the space retracts onto the part."""
    name, level = kind
    metric = KINDS[name](3)
    statement = check_restriction(metric, level, table, labels, data.draw(mechanisms(name, 3, level)))
    assert statement.right or not statement.left
    if retraction(metric, labels) is not None:
        assert statement.holds


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_statement_five_fails_from_right_to_left_on_three_counts(level: Level) -> None:
    """The smallest case there can be: the geometric mechanism on line:3, and ℓ_bin on its two ends."""
    mechanism = geometric(2, level).channel()
    statement = check_restriction(line(3), level, losses.binary, [0, 2], mechanism)
    assert (statement.left, statement.right, statement.holds) == (False, True, False)
    end_space = sub_space(line(3), [0, 2])
    assert retraction(line(3), [0, 2]) is None
    assert not extension(binary_mechanism(end_space, level), line(3), level).exists


def test_the_numbers_of_that_witness() -> None:
    """α = 1/2, both ends equally likely: 1/4 with the geometric mechanism, and no private one on the line has less;
    1/5 with T, which is private on the two ends."""
    end_space, mechanism = sub_space(line(3), [0, 2]), geometric(2, HALF).channel()
    lifted_loss = lift_loss(losses.binary, [0, 2], line(3))
    verdict = universally_optimal(line(3), HALF, lifted_loss, mechanism)
    assert verdict.optimal
    assert verify(line(3), HALF, lifted_loss, mechanism, verdict)
    half = (Fraction(1, 2), Fraction(1, 2))
    binary = losses.binary.matrix(2)
    assert uncertainty(half, mechanism.restrict([0, 2]).rows, binary) == Fraction(1, 4)
    assert uncertainty(half, binary_mechanism(end_space, HALF).rows, binary) == Fraction(1, 5)
    restricted_verdict = universally_optimal(end_space, HALF, losses.binary, mechanism.restrict([0, 2]))
    assert verify(end_space, HALF, losses.binary, mechanism.restrict([0, 2]), Verdict((), restricted_verdict.objection))


@given(st.integers(1, 4), st.integers(1, 4), st.data(), st.sampled_from(LEVELS))
@settings(max_examples=40)
def test_the_best_mechanism_of_a_pair_extends_to_a_third_secret_exactly_when_it_is_far_enough(
    first: int, second: int, data: st.DataObject, level: Level
) -> None:
    """T on {a, b} extends to c if and only if e^d(a,c) + e^d(b,c) ≥ 1 + e^d(a,b)."""
    gap = data.draw(st.integers(max(1, abs(first - second)), first + second))
    metric = space([[0, gap, first], [gap, 0, second], [first, second, 0]], "abc")
    mechanism = binary_mechanism(sub_space(metric, ["a", "b"]), level)
    extended = extension(mechanism, metric, level)
    growth = 1 / Fraction(level.alpha)
    assert extended.exists == (growth**first + growth**second >= 1 + growth**gap)
    if extended.channel is not None:
        assert is_private(extended.channel, metric, level)
        assert np.all(extended.channel.restrict(["a", "b"]).rows == mechanism.rows)
    else:
        assert extended.refutation is not None
        assert extended.refutation.check(extension_program(mechanism, metric, level))


@pytest.mark.parametrize(("name", "exists"), [("1/3", False), ("1/2", True), ("2/3", False)])
def test_randomised_response_on_the_leaves_of_a_star_reaches_its_centre_only_at_one_half(
    name: str, exists: bool
) -> None:
    """Each answer needs α/(1 + 2α²) at the centre, no more and no less; three of them are 1 at α = 1/2 alone."""
    star = graph([("c", leaf) for leaf in "xyz"])
    level = alpha(name)
    leaf_response = response(3, alpha(Fraction(name) ** 2)).channel()
    mechanism = channel(leaf_response.rows.tolist(), inputs="xyz")
    assert extension(mechanism, star, level).exists == exists


@pytest.mark.parametrize("size", [3, 4])
def test_every_kernel_of_a_discrete_space_extends_to_one_more_secret(size: int) -> None:
    """So statement 5 holds both ways there, and Lemma A6 may use it."""
    assert retraction(discrete(size + 1), range(size)) is not None
    for kernel in kernels("discrete", size, HALF):
        assert extension(kernel, discrete(size + 1), HALF).exists


@given(metrics(3, 4), st.data())
@settings(max_examples=25)
def test_a_retraction_keeps_the_part_and_brings_nothing_further_apart(metric: Space, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from(metric.labels), min_size=1, max_size=3, unique=True))
    mapping = retraction(metric, labels)
    if mapping is None:
        assert len(labels) > 1
        return
    assert all(mapping[label] == label for label in labels)
    assert set(mapping.values()) == set(labels)
    position = metric.position
    for x, z in combinations(metric.labels, 2):
        assert metric.distance(position(mapping[x]), position(mapping[z])) <= metric.distance(position(x), position(z))


def test_the_path_of_figure_eight_is_a_retract_of_the_cube_and_opposite_corners_are_not() -> None:
    assert retraction(hamming(3), ["000", "100", "110", "111"]) is not None
    assert retraction(cycle(4), [0, 2]) is None


def test_extensions_refuse_what_they_cannot_decide() -> None:
    with pytest.raises(InputError, match="0 < alpha < 1"):
        extension(geometric(1, HALF), line(3), alpha(1))
    with pytest.raises(InputError, match="not a point"):
        extension(channel([["1"]], inputs=[7]), line(3), HALF)
    with pytest.raises(SolverError, match="not private"):
        extension(channel([[1, 0], [0, 1], ["1/2", "1/2"]]), line(3), HALF)
