"""Generality: the order, canonical forms, maximal generality, the construction of KL10 Appendix B."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from axioms.private_mechanisms import mechanisms, relations
from strategies import channels, levels, rational_levels
from utmost.axioms import generality
from utmost.axioms.constraint_graphs import privacy_constraints, row_graph, row_graphs
from utmost.axioms.definition import Relation, parse_relation, relation_from_space
from utmost.axioms.generality import (
    at_least_as_general,
    canonical,
    equivalent,
    generalize,
    maximally_general,
    peel_extreme_ray,
    split_output,
)
from utmost.channel import Channel, channel, deterministic, identity, is_private
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import alpha, epsilon, sign
from utmost.mechanisms import geometric, response
from utmost.polytopes import decomposition, is_kernel_mechanism, is_vertex_mechanism, kernels, posterior_region
from utmost.qif.hyper import bundle_columns
from utmost.spaces import cycle, discrete, grid, hamming, line

HALF = alpha("1/2")
SPLITS = [split_output, peel_extreme_ray]
SPACES = [line(2), line(4), discrete(3), cycle(4), grid(2, 2), hamming(2)]


@st.composite
def equivalent_channels(draw, source: Channel) -> Channel:
    """An equivalent channel: outputs split in shares, one that never occurs added, all in another order."""
    columns = []
    for column in source.rows.T:
        share = Fraction(draw(st.integers(0, 3)), 3)
        columns += [column * share, column * (1 - share)]
    order = draw(st.permutations(range(len(columns))))
    return trusted_channel(source.inputs, range(len(columns)), np.stack([columns[k] for k in order], axis=1))


@settings(max_examples=40)
@given(st.data())
def test_canonical_forms_are_equal_exactly_for_equivalent_mechanisms(data):
    first = data.draw(channels())
    second = data.draw(st.one_of(equivalent_channels(first), channels(len(first.inputs)), st.just(first)))
    are_equivalent = at_least_as_general(first, second).refines and at_least_as_general(second, first).refines
    assert equivalent(first, second) == are_equivalent == (canonical(first) == canonical(second))
    assert equivalent(first, canonical(first))


@settings(max_examples=30)
@given(st.data())
def test_order_and_names_do_not_matter(data):
    source = data.draw(channels())
    second = data.draw(equivalent_channels(source))
    assert canonical(source) == canonical(second)
    assert equivalent(source, second.restrict(data.draw(st.permutations(source.inputs))))


@pytest.mark.slow
@settings(max_examples=30)
@given(channels(3, 3), channels(3, 2))
def test_qif_finds_the_same_order(source, post_processing):
    qif = pytest.importorskip("qif", reason="qif, an oracle, is not installed")
    coarser = source.then(post_processing)
    assert at_least_as_general(coarser, source).refines
    assert qif.refinement.refined_by(source.rows.copy(), coarser.rows.copy())
    is_reversible = at_least_as_general(source, coarser).refines
    assert is_reversible == qif.refinement.refined_by(coarser.rows.copy(), source.rows.copy())


def test_generality_is_a_preorder_only():
    """KL10 Def. 3.1.2 speaks of a partial order; these two differ and each is at least as general as the other."""
    first = channel([["1/2", "1/2"], ["1/3", "2/3"]])
    second = channel([["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"]])
    assert first != second
    assert equivalent(first, second)


@settings(max_examples=40)
@given(st.data())
def test_maximally_general_is_made_of_extreme_rays(data):
    """KL10 Thm 3.3.3 against FMPD23's vertices, listed by another algorithm."""
    space, level = data.draw(st.sampled_from(SPACES)), data.draw(rational_levels())
    relation = Relation(space.labels, relation_from_space(space).pairs)
    source = data.draw(mechanisms(relation, level))
    assume(is_private(source, space, level))
    maximality = maximally_general(source, space, level)
    vertices = {tuple(v) for v in posterior_region(space, level).columns}
    columns = [column for column in source.rows.T if any(column)]
    assert bool(maximality) == all(
        tuple(c / max(c)) in {tuple(x / max(v) for x in v) for v in vertices} for c in columns
    )
    assert bool(maximality) == bool(is_vertex_mechanism(source, space, level))
    if not maximality:
        assert f"output {maximality.output} falls apart" in maximality.reason
        assert len(maximality.parts) > 1


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(SPLITS))
def test_generalize_is_strictly_more_general_at_every_step_until_nothing_is(data, split):
    level, relation = data.draw(levels()), data.draw(relations())
    source = data.draw(mechanisms(relation, level))
    generalization = generalize(source, relation, level, split)
    assert generalization.channel.then(generalization.post_processing) == source
    assert maximally_general(generalization.channel, relation, level)
    assert (
        bool(maximally_general(source, relation, level))
        == (not generalization.steps)
        == equivalent(source, generalization.channel)
    )
    stages = list(generalization.stages())
    privacy_constraints(relation, level).channel(generalization.channel)
    for before, after, step in zip(stages, stages[1:], generalization.steps, strict=False):
        privacy_constraints(relation, level).channel(after)
        merged_labels = [step.output if y in step.names else y for y in after.outputs]
        assert equivalent(after.then(deterministic(merged_labels, after.outputs, before.outputs)), before)
        assert not equivalent(after, before)
    assert equivalent(stages[-1], generalization.channel)
    assert len(generalization.channel.outputs) == len(bundle_columns(generalization.channel.rows))


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_each_step_is_decided_by_refinement_too(data):
    level, relation = data.draw(rational_levels()), data.draw(relations(3))
    for before, after in pairwise(generalize(data.draw(mechanisms(relation, level)), relation, level).stages()):
        assert at_least_as_general(before, after).refines
        assert not at_least_as_general(after, before).refines


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_both_halves_keep_the_graph_and_join_parts(data):
    """KL10 App. B: the row graph of an output is a proper part of those of its halves."""
    level, relation = data.draw(levels()), data.draw(relations())
    privacy = privacy_constraints(relation, level)
    for column in data.draw(mechanisms(relation, level)).rows.T.tolist():
        graph = row_graph(column, privacy, "o")
        if graph.connected:
            continue
        for split in SPLITS:
            halves = split(tuple(column), graph, privacy)
            assert [a + b for a, b in zip(*halves, strict=True)] == column
            for half in halves:
                assert all(sign(value) >= 0 for value in (*half, *(b.slack(half) for b in privacy.constraints)))
                support = {x for x, value in enumerate(half) if value}
                finer = row_graph(half, privacy, "o")
                assert {edge for edge in graph.edges if set(edge) <= support} <= set(finer.edges)
                assert len(finer.parts) < len(graph.parts)
        assert row_graph(peel_extreme_ray(tuple(column), graph, privacy)[0], privacy, "o").connected


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_numbers_of_outputs_stay_within_their_bounds(data):
    level, relation = data.draw(levels()), data.draw(relations(4))
    source = data.draw(mechanisms(relation, level))
    part_counts = [len(graph.parts) for graph in row_graphs(source, relation, level)]
    assert len(generalize(source, relation, level).channel.outputs) <= sum(2 ** (k - 1) for k in part_counts if k)
    assert len(generalize(source, relation, level, peel_extreme_ray).channel.outputs) <= sum(part_counts)


def test_the_printed_ratios_of_appendix_b_divide_by_zero():
    """KL10 eq. (3), (4) take all pairs on two sides; on a line of four only (1, 2) is related across."""
    column = tuple(Fraction(v, 32) for v in (16, 8, 6, 3))
    privacy = privacy_constraints(parse_relation("line:4"), HALF)
    graph = row_graph(column, privacy, "o")
    assert graph.parts == ((0, 1), (2, 3))
    first_ratio = max(column[s] / column[t] for s in (0, 1) for t in (2, 3))  # ρ₁ = 16/3 > e^ε = 2
    second_ratio = max(column[t] / column[s] for s in (0, 1) for t in (2, 3))  # ρ₂ = 3/4
    assert (first_ratio, second_ratio, (2 / first_ratio) * (2 / second_ratio) - 1) == (
        Fraction(16, 3),
        Fraction(3, 4),
        0,
    )
    related_ratios = column[1] / column[2], column[2] / column[1]  # 4/3 and 3/4, both below e^ε as the proof needs
    e1, e2 = 2 / related_ratios[0], 2 / related_ratios[1]
    a, b = (e2 - 1) / (e1 * e2 - 1), (e1 - 1) / (e1 * e2 - 1)
    first, second = split_output(column, graph, privacy)
    assert first == tuple(v * a * e1 if x < 2 else v * a for x, v in enumerate(column))
    assert second == tuple(v * b if x < 2 else v * b * e2 for x, v in enumerate(column))


def test_there_are_more_steps_than_spanning_trees():
    """KL10 App. B bounds the repetitions by the number of spanning trees: 1 for a line, and 2^(n−1) − 1 are made."""
    for size in (2, 3, 4, 5):
        generalization = generalize(channel([[1]] * size), parse_relation(f"line:{size}"), HALF)
        assert len(generalization.steps) == 2 ** (size - 1) - 1
        assert len(generalization.channel.outputs) == 2 ** (size - 1)
    assert parse_relation("line:5").spanning_trees == 1


@pytest.mark.parametrize("level", [HALF, epsilon("1/10"), epsilon(3)])
@pytest.mark.parametrize("split", SPLITS)
def test_irrational_levels_stay_exact(level, split):
    for space in (line(4), cycle(5), grid(2, 2)):
        constant = channel([[1]] * len(space), space.labels)
        generalization = generalize(constant, space, level, split)
        assert generalization.channel.then(generalization.post_processing) == constant
        assert is_private(generalization.channel, space, level)
        assert is_vertex_mechanism(generalization.channel, space, level)


def test_the_known_mechanisms_are_maximally_general():
    for level in (HALF, epsilon("1/10")):
        assert maximally_general(geometric(4, level), line(5), level)
        assert maximally_general(response(4, level), discrete(4), level)
        assert not maximally_general(geometric(4, level), line(5), alpha("1/10"))


def test_a_padded_mechanism_is_recognised():
    """Randomised response, and with probability 1/4 an answer that says nothing."""
    padded_response = channel([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]], outputs=["no", "yes", "?"])
    maximality = maximally_general(padded_response, line(2), HALF)
    assert (maximality.output, maximality.parts) == ("?", ((0,), (1,)))
    generalization = generalize(padded_response, line(2), HALF)
    assert equivalent(generalization.channel, channel([["2/3", "1/3"], ["1/3", "2/3"]]))
    assert generalization.channel.outputs == ("no+?.1", "yes+?.2")
    assert generalization.post_processing.row("no+?.1").tolist() == [Fraction(3, 4), 0, Fraction(1, 4)]


def test_grs12_figure_5a_is_maximally_general_and_not_derivable():
    figure = channel([["1/3", "1/3", "1/3"], ["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])
    assert [graph.connected for graph in row_graphs(figure, line(4), HALF)] == [True, True, True]
    assert maximally_general(figure, line(4), HALF)
    assert not at_least_as_general(figure, geometric(3, HALF)).refines


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_maximally_general_mechanisms_are_visible_choices_of_kernels(data):
    """FMPD23: up to equivalence they are {λ ≥ 0 : Vλ = 1}, V the vertices; kernels are its vertices."""
    space, level = data.draw(st.sampled_from([line(3), discrete(3), cycle(4)])), data.draw(rational_levels())
    source = data.draw(mechanisms(relation_from_space(space), level))
    maximality = maximally_general(source, space, level)
    kernel_decomposition = decomposition(source, space, level)
    assert bool(maximality) == equivalent(kernel_decomposition.convex_sum(), source)
    if maximality:
        assert bool(is_kernel_mechanism(source, space, level)) == (len(kernel_decomposition.kernels) == 1)


@pytest.mark.parametrize("space", [line(3), discrete(3), cycle(4), hamming(2)])
def test_kernel_mechanisms_are_maximally_general_and_none_has_another_s_posteriors(space):
    kernel_channels = [kernel.channel() for kernel in kernels(space, HALF)]
    assert kernel_channels
    supports = []
    for kernel in kernel_channels:
        assert maximally_general(kernel, space, HALF)
        supports.append({tuple(column / max(column)) for column in kernel.rows.T})
    assert not any(a < b or (a == b and j != k) for j, a in enumerate(supports) for k, b in enumerate(supports))


def test_a_maximally_general_mechanism_may_be_no_kernel():
    maximal = generalize(channel([[1]] * 3), line(3), HALF).channel
    assert maximally_general(maximal, line(3), HALF)
    assert is_vertex_mechanism(maximal, line(3), HALF)
    assert not is_kernel_mechanism(maximal, line(3), HALF)


@pytest.mark.parametrize("split", SPLITS)
def test_where_secrets_are_not_related_everything_may_be_revealed(split):
    """KL10's set of connected row graphs is empty for a relation that is not connected; maximal ones exist."""
    relation = Relation(("a", "b", "c"), ((0, 1), (1, 0)))
    generalization = generalize(channel([[1]] * 3, "abc"), relation, HALF, split)
    assert canonical(generalization.channel).rows.tolist() == [
        [Fraction(2, 3), Fraction(1, 3), 0],
        [Fraction(1, 3), Fraction(2, 3), 0],
        [0, 0, 1],
    ]
    assert maximally_general(generalization.channel, relation, HALF)
    assert all(len(graph.parts[0]) < 3 for graph in row_graphs(generalization.channel, relation, HALF))


@pytest.mark.parametrize("split", SPLITS)
def test_generalizing_at_levels_zero_and_one(split):
    constant = channel([[1]] * 3)
    assert equivalent(generalize(constant, line(3), alpha(0), split).channel, identity(range(3)))
    assert equivalent(generalize(constant, line(3), alpha(1), split).channel, constant)
    assert maximally_general(constant, line(3), alpha(1))
    assert maximally_general(identity(range(3)), line(3), alpha(0))
    assert generalize(channel([[1]]), line(1), HALF, split).steps == ()


def test_names_of_outputs_stay_apart_and_short():
    source = channel([["1/2", "1/4", "1/4"], ["1/2", "1/4", "1/4"]], outputs=["a", "a.1", "a.2+x"])
    generalization = generalize(source, line(2), HALF)
    assert len(set(generalization.channel.outputs)) == len(generalization.channel.outputs) == 2
    assert generalization.channel.then(generalization.post_processing) == source
    names = [f"answer-{k}" for k in range(10)]
    many = generalize(channel([["1/10"] * 10] * 2, outputs=names), line(2), HALF)
    assert many.channel.outputs == ("answer-0.1+9 more", "answer-0.2+9 more")


def test_too_many_outputs_are_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr(generality, "MAX_OUTPUTS", 100)
    constant = channel([[1]] * 12)
    with pytest.raises(InputError, match="at most 100 outputs, got more: peeled"):
        generalize(constant, line(12), HALF)
    assert len(generalize(constant, line(12), HALF, peel_extreme_ray).channel.outputs) <= 12


def test_mechanisms_on_other_secrets_are_not_compared():
    with pytest.raises(InputError, match="must be those of the other mechanism"):
        equivalent(identity("ab"), identity("ac"))
