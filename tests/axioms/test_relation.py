"""Relations: irreflexive, read as graphs."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, shortest_path

from utmost.axioms import Relation, relation_from_pairs, relation_from_space, relation_of
from utmost.errors import InputError
from utmost.spaces import cycle, discrete, grid, hamming, line


@st.composite
def relations(draw, max_size=7):
    """Any relation of a few secrets."""
    size = draw(st.integers(1, max_size))
    all_pairs = [(first, second) for first in range(size) for second in range(size) if first != second]
    pairs = draw(st.lists(st.sampled_from(all_pairs), unique=True)) if all_pairs else []
    return Relation(tuple(range(size)), tuple(pairs))


def adjacency_matrix(relation):
    adjacency = np.zeros((len(relation), len(relation)))
    for pair in relation.pairs:
        adjacency[pair] = 1
    return adjacency


@given(relations())
def test_components_distances_and_diameter_are_those_of_scipy(relation):
    table = shortest_path(adjacency_matrix(relation), directed=False, unweighted=True)
    for x in range(len(relation)):
        assert relation.distances(x) == tuple(None if np.isinf(d) else int(d) for d in table[x])
    assert len(relation.components) == connected_components(adjacency_matrix(relation), directed=False)[0]
    assert relation.connected == bool(np.isfinite(table).all())
    assert relation.diameter == (int(table.max()) if relation.connected else None)


@given(relations(), st.data())
def test_a_path_is_shortest_and_walks_along_pairs(relation, data):
    start, end = data.draw(st.sampled_from(range(len(relation)))), data.draw(st.sampled_from(range(len(relation))))
    path = relation.path(start, end)
    steps = relation.distances(start)[end]
    if path is None:
        assert steps is None
        return
    assert (path[0], path[-1], len(path) - 1) == (start, end, steps)
    assert all((min(step), max(step)) in relation.edges for step in pairwise(path))


@given(relations(max_size=5))
def test_spanning_trees_are_counted_as_by_trying_every_set_of_edges(relation):
    trees = 0
    for edges in combinations(relation.edges, len(relation) - 1):
        trees += Relation(relation.labels, edges).connected
    assert relation.spanning_trees == trees


@given(relations())
def test_both_ways_is_the_least_symmetric_relation_above(relation):
    both = relation.both_ways
    assert both.symmetric
    assert set(both.pairs) == {pair for first, second in relation.pairs for pair in ((first, second), (second, first))}


@pytest.mark.parametrize("space", [line(6), discrete(4), cycle(5), hamming(3), grid(2, 3, "manhattan")])
def test_a_space_gives_its_edges_in_both_directions(space):
    relation = relation_from_space(space)
    assert relation.symmetric
    assert relation.labels == space.labels
    assert relation.edges == tuple(sorted(space.edges))
    assert relation.connected


def test_the_line_is_the_relation_of_counts_and_the_discrete_space_relates_all():
    assert relation_from_space(line(6)).pairs == tuple((x, y) for x in range(6) for y in range(6) if abs(x - y) == 1)
    assert len(relation_from_space(discrete(6)).pairs) == 2 * comb(6, 2)
    assert relation_from_space(line(6)).diameter == 5


def test_a_secret_with_itself_is_refused_by_its_label():
    with pytest.raises(InputError, match="irreflexive, got a pair of bob with itself"):
        relation_from_pairs([("ann", "bob"), ("bob", "bob")])


def test_pairs_and_files_are_read_and_what_is_none_is_refused_in_one_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("1,2\n2,x\n\n")
    assert relation_of(f"pairs:{path}") == relation_from_pairs([(1, 2), (2, "x")])
    for content in ("", "1,2,3\n", "1\n", ",2\n", "a\tb,\x07\n"):
        path.write_text(content)
        with pytest.raises(InputError, match="relation must"):
            relation_of(f"pairs:{path}")
    with pytest.raises(InputError, match="of its labels, got c"):
        relation_from_pairs([("a", "c")], labels=["a", "b"])
    with pytest.raises(InputError, match="two labels"):
        relation_from_pairs(["ab"])
    with pytest.raises(InputError, match="positions below 2"):
        Relation(("a", "b"), ((0, 2),))


def test_a_hundred_thousand_pairs_are_a_relation_in_a_moment():
    relation = relation_from_pairs(
        [(k % 4000, (k * 7 + 1 + k // 4000) % 4000) for k in range(100_000) if (k * 6 + 1 + k // 4000) % 4000]
    )
    assert relation.connected
    assert relation.path(0, 77)[-1] == 77
