"""Spaces: the metric's axioms with a witness, and the pairs that generate it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError, MetricError
from utmost.spaces import databases, line, parse, space


def test_line_has_the_distance_of_counts() -> None:
    five = line(5)
    assert all(five.distance(x, z) == abs(x - z) for x, z in product(range(5), repeat=2))
    assert five.edges == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert space(five.distances.tolist()).edges == five.edges


@pytest.mark.parametrize(
    ("distances", "witness"),
    [
        ([[1]], "d(0, 0) = 1"),
        ([[0, 1], [2, 0]], "d(0, 1) = 1 but d(1, 0) = 2"),
        ([[0, 0], [0, 0]], "d(0, 1) = 0, must be > 0"),
        ([[0, -1], [-1, 0]], "d(0, 1) = -1, must be > 0"),
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "d(0, 2) = 5 > d(0, 1) + d(1, 2) = 2"),
    ],
)
def test_a_broken_axiom_is_named_with_its_points(distances: list[list[int]], witness: str) -> None:
    with pytest.raises(MetricError) as caught:
        space(distances)
    assert witness in str(caught.value)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7, unique=True))
@settings(max_examples=40)
def test_generating_pairs_give_the_metric_back_as_shortest_paths(points: list[tuple[int, int]]) -> None:
    """Manhattan distances; shortest paths over the edges by scipy, an algorithm of others."""
    from scipy.sparse.csgraph import shortest_path

    distances = [[abs(a - c) + abs(b - d) for c, d in points] for a, b in points]
    made = space(distances)
    graph = np.zeros((len(points), len(points)))
    for x, z in made.edges:
        graph[x, z] = graph[z, x] = distances[x][z]
    assert np.array_equal(shortest_path(graph, directed=False), np.array(distances, dtype=float))


def test_irrational_distances_are_decided() -> None:
    root = "sqrt(2)"
    square = space([[0, 1, root, 1], [1, 0, 1, root], [root, 1, 0, 1], [1, root, 1, 0]])
    assert len(square.edges) == 6
    with pytest.raises(MetricError):
        space([[0, 1, "2.0000001"], [1, 0, 1], ["2.0000001", 1, 0]])


def test_databases_differ_in_rows() -> None:
    cube = databases("01", 3)
    assert len(cube) == 8
    assert cube.distance(cube.position("000"), cube.position("101")) == 2
    assert len(cube.edges) == 12
    assert all(cube.distance(*edge) == Fraction(1) for edge in cube.edges)


@pytest.mark.parametrize(
    "bad", ["line", "line:", "line:0", "line:-3", "line:1.5", "line:1000000000000", "grid:3", "", "line:nan"]
)
def test_a_space_that_cannot_be_read_is_refused(bad: str) -> None:
    with pytest.raises(InputError):
        parse(bad)


def test_labels_must_be_distinct_and_rows_square() -> None:
    with pytest.raises(InputError):
        space([[0, 1], [1, 0]], ["a", "a"])
    with pytest.raises(MetricError):
        space([[0, 1], [1]])
    with pytest.raises(InputError):
        line(3).position(7)
