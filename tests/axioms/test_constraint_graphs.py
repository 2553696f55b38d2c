"""Row graphs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axioms.private_mechanisms import mechanisms, relations
from strategies import legal_consumers, levels, rational_levels
from utmost.axioms.constraint_graphs import parts_of, privacy_constraints, row_graphs
from utmost.axioms.definition import Relation, parse_relation, relation_from_pairs, relation_from_space
from utmost.channel import channel, identity
from utmost.design import signature
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.mechanisms import geometric, response
from utmost.spaces import discrete, grid, line

HALF = alpha("1/2")


@settings(max_examples=60)
@given(st.data())
def test_an_edge_is_a_pair_whose_likelihoods_differ_as_much_as_is_allowed(data):
    level, relation = data.draw(levels()), data.draw(relations())
    source = data.draw(mechanisms(relation, level))
    for y, graph in enumerate(row_graphs(source, relation, level)):
        column = source.rows[:, y]
        for first, second in relation.edges:
            tight = {
                (high, low)
                for high, low in ((first, second), (second, first))
                if column[high] and column[low] == level.alpha * column[high]
            }
            assert tight == {edge for edge in graph.edges if set(edge) == {first, second}}
        assert sorted(first for component in graph.parts for first in component) == [
            first for first in range(len(column)) if column[first]
        ]


@settings(max_examples=60)
@given(st.data())
def test_a_connected_graph_determines_the_likelihood_function(data):
    level, relation = data.draw(levels()), data.draw(relations())
    source = data.draw(mechanisms(relation, level))
    for y, graph in enumerate(row_graphs(source, relation, level)):
        assert len(graph.tree) == sum(len(component) - 1 for component in graph.parts)
        assert parts_of([x for component in graph.parts for x in component], graph.tree) == graph.parts
        if graph.connected and graph.parts:
            heights = dict(graph.heights)
            top = next(x for x, k in heights.items() if k == 0)
            assert all(source.rows[x, y] == level.power(k) * source.rows[top, y] for x, k in heights.items())
        elif not graph.connected:
            assert graph.heights is None


@given(st.data())
def test_signatures_are_row_graphs_of_the_line(data):
    """GRS12 §5.3: column j of the signature spells the graph of output j; S is where it falls apart."""
    level, reader = data.draw(rational_levels()), data.draw(legal_consumers())
    source = reader.induced(geometric(reader.prior.size - 1, level))
    signs = signature(source, level)
    for j, graph in enumerate(row_graphs(source, line(len(source.inputs)), level)):
        column_signs = "".join(row[j] for row in signs)
        arrows = {(i, i + 1): "↓" for i in range(len(column_signs))} | {
            (i + 1, i): "↑" for i in range(len(column_signs))
        }
        graph_signs = ["S" if graph.parts else "0"] * len(column_signs)
        for edge in graph.edges:
            graph_signs[min(edge)] = arrows[edge]
        assert "".join(graph_signs) == column_signs
        assert graph.connected == ("S" not in column_signs)


def test_an_undirected_tree_does_not_name_an_output():
    """KL10 bounds the outputs by the number of spanning trees; a line has one, which stands for several outputs.

    Every output of the geometric mechanism has the whole line as its graph; directions tell them apart.
    """
    for size in (1, 2, 5):
        graphs = row_graphs(geometric(size, HALF), line(size + 1), HALF)
        assert {frozenset(map(frozenset, graph.edges)) for graph in graphs} == {
            frozenset(frozenset((i, i + 1)) for i in range(size))
        }
        assert (
            len({graph.edges for graph in graphs}) == size + 1 > relation_from_space(line(size + 1)).spanning_trees == 1
        )


def test_randomised_response_has_a_star_for_each_output():
    for y, graph in enumerate(row_graphs(response(4, HALF), discrete(4), HALF)):
        assert set(graph.edges) == {(y, x) for x in range(4) if x != y}
        assert dict(graph.heights) == {x: Fraction(x != y) for x in range(4)}


def test_distances_of_a_space_are_the_heights():
    plane = grid(2, 2)
    level = epsilon("1/3")
    weights = [[level.power(plane.distance(x, y)) for y in range(4)] for x in range(4)]
    total = sum(weights[0])
    source = channel([[w / total for w in row] for row in weights], plane.labels)
    for y, graph in enumerate(row_graphs(source, plane, level)):
        assert dict(graph.heights) == {x: plane.distance(x, y) for x in range(4)}


def test_row_graphs_at_levels_zero_and_one():
    graphs = row_graphs(identity(range(3)), line(3), alpha(0))
    assert [graph.parts for graph in graphs] == [((x,),) for x in range(3)]
    assert row_graphs(channel([[1]] * 3), line(3), alpha(0))[0].parts == ((0,), (1,), (2,))
    assert row_graphs(channel([[1]] * 3), line(3), alpha(1))[0].parts == ((0, 1, 2),)


def test_an_output_that_never_occurs_has_an_empty_graph():
    graph = row_graphs(channel([[1, 0], [1, 0]]), line(2), HALF)[1]
    assert (graph.edges, graph.parts, graph.connected, graph.heights) == ((), (), True, ())


@pytest.mark.parametrize(
    ("secrets", "source", "says"),
    [
        (relation_from_pairs([("a", "b")]), channel([[1], [1]], "ab"), "relation must be symmetric"),
        (parse_relation("line:3"), channel([[1], [1]]), "inputs must be the 3 secrets of the relation"),
        (parse_relation("line:2"), channel([["1", "0"], ["1/2", "1/2"]]), "private at this level, got inputs 1 and 0"),
        (parse_relation("line:2"), channel([[0.5, 0.5], [0.5, 0.5]]), "exact entries"),
        (line(2), channel([[0.5, 0.5], [0.5, 0.5]]), "exact entries"),
    ],
)
def test_what_has_no_row_graphs_is_refused(secrets, source, says):
    with pytest.raises(InputError, match=says):
        row_graphs(source, secrets, HALF)


def test_many_secrets_take_no_time():
    size = 2000
    path = Relation(tuple(range(size)), tuple((x, x + 1) for x in range(size - 1))).both_ways
    assert len(privacy_constraints(path, HALF).components()) == 1
    assert len(row_graphs(channel([[1]] * size), path, HALF)[0].parts) == size
