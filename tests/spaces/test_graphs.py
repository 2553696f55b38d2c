"""Shortest paths, exact: against scipy's where they are whole numbers, against Floyd–Warshall where they are not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError, MetricError
from utmost.exact import Number, number
from utmost.spaces import cycle, graph, hamming, line, space

WEIGHTS = ["1", "2", "1/3", "sqrt(2)", "sqrt(8)", "1+sqrt(2)", "sqrt(3)", "sqrt(2)+sqrt(3)", "3.146264369941972342"]


@st.composite
def connected_graphs(draw: st.DrawFn, weights: st.SearchStrategy[object]) -> list[tuple[int, int, object]]:
    """A tree and some more edges, each with a weight."""
    size = draw(st.integers(2, 7))
    edges = [(draw(st.integers(0, k - 1)), k, draw(weights)) for k in range(1, size)]
    extra_edges = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1), weights), max_size=8))
    return edges + [(a, b, w) for a, b, w in extra_edges if a != b]


def floyd_warshall_distances(edges: list[tuple[int, int, object]]) -> list[list[Number]]:
    """By the definition of Floyd and Warshall, in exact arithmetic."""
    size = max(max(a, b) for a, b, _ in edges) + 1
    far = Fraction(10**6)
    d: list[list[Number]] = [[Fraction(0) if i == j else far for j in range(size)] for i in range(size)]
    for a, b, weight in edges:
        d[a][b] = d[b][a] = min(d[a][b], number(weight))
    for k in range(size):
        for i in range(size):
            for j in range(size):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d


@given(connected_graphs(st.sampled_from(WEIGHTS)))
@settings(max_examples=80, deadline=None)
def test_distances_are_shortest_paths_and_edges_generate_them(edges: list[tuple[int, int, object]]) -> None:
    graph_space = graph(edges)
    expected = floyd_warshall_distances(edges)
    assert graph_space.labels == tuple(range(len(expected)))
    assert all(
        graph_space.distance(x, z) == expected[x][z] for x in range(len(graph_space)) for z in range(len(graph_space))
    )
    assert graph_space.edges == space(expected).edges
    assert graph([(x, z, graph_space.distance(x, z)) for x, z in graph_space.edges]).edges == graph_space.edges


@given(connected_graphs(st.integers(1, 50)), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_rational_weights_agree_with_scipy(edges: list[tuple[int, int, int]], unit: int) -> None:
    from scipy.sparse.csgraph import floyd_warshall

    graph_space = graph([(a, b, Fraction(w, unit)) for a, b, w in edges])
    dense = np.zeros((len(graph_space), len(graph_space)))
    for a, b, w in edges:
        dense[a, b] = dense[b, a] = min(w, dense[a, b] or w)
    assert [[Fraction(int(v), unit) for v in row] for row in floyd_warshall(dense)] == graph_space.distances.tolist()


def test_lines_cycles_and_cubes_are_graphs() -> None:
    for named in (line(7), cycle(8), hamming(3)):
        graph_space = graph([(named.labels[x], named.labels[z]) for x, z in named.edges], named.labels)
        assert (graph_space.distances == named.distances).all()
        assert graph_space.edges == named.edges


def test_weights_beyond_doubles_are_exact() -> None:
    graph_space = graph([(0, 1, 2**60), (1, 2, "1/3"), (0, 2, 2**60 + 1), (2, 3, "10^400")])
    assert graph_space.distance(0, 2) == 2**60 + Fraction(1, 3)
    assert graph_space.edges == ((0, 1), (1, 2), (2, 3))


def test_paths_that_are_equal_as_doubles_are_distinguished() -> None:
    """√2 + √3 = 3.14626436994197234232…: a direct edge is shorter with the first digits, longer with one more."""
    for direct, is_edge in (("3.14626436994197234232", True), ("3.14626436994197234233", False)):
        graph_space = graph([("a", "b", "sqrt(2)"), ("b", "c", "sqrt(3)"), ("a", "c", direct)])
        assert ((0, 2) in graph_space.edges) is is_edge
        assert (graph_space.distance(0, 2) == number(direct)) is is_edge
    graph_space = graph([("a", "b", "sqrt(2)"), ("b", "c", "sqrt(2)"), ("a", "c", "sqrt(8)")])
    assert graph_space.edges == ((0, 1), (1, 2))


def test_labels_stand_in_their_order() -> None:
    assert graph([(10, 9), (2, 10)]).labels == (2, 9, 10)
    assert graph([("y", "x"), ("x", 3)]).labels == ("y", "x", 3)
    assert graph([("y", "x")], ["x", "y"]).labels == ("x", "y")
    assert graph([], ["alone"]).edges == ()


@pytest.mark.parametrize(
    ("edges", "labels", "reason"),
    [
        ([("a", "b"), ("c", "d")], None, "must be connected, got no path from a to c"),
        ([("a", "b", "sqrt(2)"), ("c", "d")], None, "must be connected, got no path from a to c"),
        ([("a", "b")], ["a", "b", "c"], "no path from a to c"),
        ([("a", "a")], None, "from a to itself"),
        ([("a", "b", 0)], None, "must be > 0, got 0 between a and b"),
        ([("a", "b", "1-sqrt(2)")], None, "must be > 0"),
        ([("a", "b")], ["a"], "ends at b"),
        ([("a", "b")], ["a", "b", "a"], "distinct labels"),
        ([("a",)], None, "two points and perhaps a weight, got 1 parts"),
        (["ab"], None, "two points"),
        ([("a", "b", float("nan"))], None, "weight of an edge"),
        ([], None, "1 to 4096 points, got 0"),
        ([(k, k + 1) for k in range(5000)], None, "1 to 4096 points, got 5001: a table has n² distances"),
    ],
)
def test_what_is_no_connected_graph_is_refused(edges: list[tuple[object, ...]], labels: list[str], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        graph(edges, labels)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_graph_in_two_parts_breaks_an_axiom() -> None:
    with pytest.raises(MetricError):
        graph([(0, 1), (2, 3)])


def test_a_cheaper_edge_beside_a_dearer_one_counts() -> None:
    assert graph([("a", "b", 5), ("b", "a", 3), ("a", "b", 4)]).distance(0, 1) == 3
