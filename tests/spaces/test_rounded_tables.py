"""Tables and graphs of doubles: read exactly, repaired by shortest paths where rounding broke them, else refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import floyd_warshall
from scipy.spatial.distance import cdist, pdist

from utmost.errors import InputError, MetricError
from utmost.spaces import Space, cycle, discrete, graph, grid, hamming, line, points, product_space, scale_space, space
from utmost.spaces.shortest_paths import close_table

SIDES = st.integers(0, 8)
PLACES = st.lists(st.tuples(SIDES, SIDES), min_size=2, max_size=9, unique=True)


def exact_floyd_warshall(table: list[list[Any]]) -> list[list[Any]]:
    size = len(table)
    d = [row[:] for row in table]
    for k in range(size):
        for i in range(size):
            for j in range(size):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d


@st.composite
def symmetric_tables(draw: st.DrawFn, entries: st.SearchStrategy[int]) -> list[list[int]]:
    size = draw(st.integers(1, 7))
    table = [[0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i):
            table[i][j] = table[j][i] = draw(entries)
    return table


@given(symmetric_tables(st.one_of(st.integers(1, 30), st.integers(1, 10**40), st.integers(2**80, 2**80 + 5))))
@settings(max_examples=120, deadline=None)
def test_closing_a_table_is_floyd_and_warshalls_algorithm(table: list[list[int]]) -> None:
    closed = close_table(np.array(table, dtype=object))
    assert closed.tolist() == exact_floyd_warshall(table)


@given(symmetric_tables(st.integers(1, 1000)))
@settings(max_examples=60, deadline=None)
def test_closing_a_table_agrees_with_scipy(table: list[list[int]]) -> None:
    closed = close_table(np.array(table, dtype=object))
    assert np.array_equal(closed.astype(float), floyd_warshall(np.array(table, dtype=float)))


@given(PLACES, st.sampled_from([0.1, 1 / 3, 1e-200, 1e200]), st.sampled_from(["euclidean", "cityblock"]))
@settings(max_examples=80, deadline=None)
def test_distances_of_doubles_make_a_metric_a_hair_below_them(
    places: list[tuple[int, int]], step: float, metric: Any
) -> None:
    """Points in a row, whose distances as doubles break the triangle inequality by the last digit."""
    table = cdist(np.array(places) * 1.0, np.array(places) * 1.0, metric) * step
    rounded = space(table)
    given_distances = [[Fraction(value) for value in row] for row in table.tolist()]
    assert rounded.distances.tolist() == exact_floyd_warshall(given_distances)
    change = max(
        a - b
        for old, new in zip(given_distances, rounded.distances.tolist(), strict=True)
        for a, b in zip(old, new, strict=True)
    )
    assert ("shortened" in rounded.remark) == (change > 0)
    if change:
        assert Fraction(rounded.remark.rpartition(" ")[2]) >= change


def test_asymmetry_by_a_hair_takes_the_smaller_distance() -> None:
    above = float(np.nextafter(0.3, 1))
    rounded = space([[0, 0.3], [above, 0]])
    assert rounded.distance(0, 1) == Fraction(0.3)
    assert rounded.remark.startswith("distances are doubles, read exactly; 1 distance is shortened to make it a metric")
    assert "shortened" in repr(rounded)
    assert space([[1e-12, 1.0], [1.0, 0.0]]).distance(0, 0) == 0


@pytest.mark.parametrize(
    ("table", "witness"),
    [
        ([[0, 1.0, 2.5], [1.0, 0, 1.0], [2.5, 1.0, 0]], "d(a, c) = 5/2 > d(a, b) + d(b, c) = 2"),
        ([[0, 1.0, 2.0001], [1.0, 0, 1.0], [2.0001, 1.0, 0]], "> d(a, b) + d(b, c) = 2"),
        ([[0, 1.0], [1.5, 0]], "d(a, b) = 1 but d(b, a) = 3/2"),
        ([[0, -1.0], [-1.0, 0]], "d(a, b) = -1, must be > 0"),
        ([[0, 0.0], [0.0, 0]], "d(a, b) = 0, must be > 0"),
        ([[0.5, 1.0], [1.0, 0]], "d(a, a) = 1/2, must be 0"),
    ],
)
def test_more_than_a_hair_is_refused_with_its_points(table: list[list[float]], witness: str) -> None:
    labels = "abc"[: len(table)]
    for source in (table, np.array(table)):
        with pytest.raises(MetricError) as caught:
            space(source, labels)
        assert str(caught.value).startswith("matrix is not a metric: ")
        assert witness in str(caught.value)


def test_the_worst_triangle_is_the_witness() -> None:
    table = np.array([[0, 1, 2.01, 5], [1, 0, 1, 4], [2.01, 1, 0, 1], [5, 4, 1, 0]])
    with pytest.raises(MetricError, match=r"d\(1, 3\) = 4 > d\(1, 2\) \+ d\(2, 3\) = 2"):
        space(table)


def test_numbers_of_32_bits_have_their_own_hair() -> None:
    places = np.array([[0.1 * k, 0.3 * k] for k in range(9)])
    assert len(space(cdist(places, places).astype(np.float32)).edges) == 8
    with pytest.raises(MetricError):
        space(cdist(places, places).astype(np.float32).astype(np.float64))


def test_rounded_tables_are_repaired_by_a_unit_of_the_last_digit() -> None:
    places = np.array([[0.11 * k, 0.31 * k] for k in range(9)])
    town = space(cdist(places, places), digits=2)
    assert len(town.edges) < 36
    assert all(value.denominator in (1, 2, 4, 5, 10, 20, 25, 50, 100) for value in town.values)  # type: ignore[union-attr]
    assert town.remark.startswith("distances are rounded to 2 decimals")


@given(PLACES)
@settings(max_examples=20, deadline=None)
def test_points_and_their_doubles_are_nearly_the_same_space(places: list[tuple[int, int]]) -> None:
    exact = points(places)
    rounded = space(cdist(places, places))
    assert rounded.edges == exact.edges or len(places) < 3 or rounded.remark
    assert np.allclose(rounded.distances.astype(float), exact.distances.astype(float), rtol=1e-12)


def test_frames_match_their_index_and_columns_by_label() -> None:
    import pandas as pd
    import polars as pl

    table = [[0.0, 1.0, 2.5], [1.0, 0.0, 2.0], [2.5, 2.0, 0.0]]
    expected = space(table, ["a", "b", "c"])
    frame = pd.DataFrame(table, index=list("abc"), columns=list("abc"))
    assert space(frame) == space(frame[list("cab")]) == expected
    assert space(pl.DataFrame(dict(zip("abc", zip(*table, strict=True), strict=True)))) == expected
    assert space(pd.DataFrame(table)).labels == (0, 1, 2)
    assert space(frame, ["x", "y", "z"]).labels == ("x", "y", "z")
    with pytest.raises(InputError, match="same labels in its index and its columns, got d missing in its index"):
        space(frame.assign(d=1))
    with pytest.raises(InputError, match="got c missing in its columns"):
        space(frame.rename(columns={"c": "d"}))


class Network:
    """What is used of networkx."""

    def __init__(self, edges: list[tuple[Any, Any, dict[str, Any]]], directed: bool = False) -> None:
        self._edges, self._directed = edges, directed
        self.nodes = list(dict.fromkeys(end for a, b, _ in edges for end in (a, b)))

    def is_directed(self) -> bool:
        return self._directed

    def edges(self, data: bool) -> list[tuple[Any, Any, dict[str, Any]]]:
        return self._edges


ROADS = [("Ay", "Bee", 1.5), ("Bee", "Cee", 2.25), ("Cee", "Ay", 9.0), ("Cee", "Dee", 0.5)]


def test_roads_are_read_from_whatever_holds_them() -> None:
    import pandas as pd
    import polars as pl

    expected = graph(ROADS)
    columns = dict(zip(["from", "to", "length"], map(list, zip(*ROADS, strict=True)), strict=True))
    network = Network([(a, b, {"length": w}) for a, b, w in ROADS])
    position = {label: k for k, label in enumerate(expected.labels)}
    triangle = np.zeros((4, 4))
    for a, b, w in ROADS:
        triangle[position[a], position[b]] = w
    assert expected.distance(0, 2) == Fraction(15, 4)
    assert expected.remark == "weights are doubles, read exactly"
    assert graph(pd.DataFrame(columns)) == graph(pl.DataFrame(columns)) == expected
    assert graph(pd.DataFrame({"w": 1, **columns})[["length", "to", "from"]]) == expected
    assert graph(network, weight="length") == expected
    assert graph(network).distance(0, 2) == 1  # no attribute called weight
    assert (
        graph(csr_array(triangle), expected.labels)
        == graph(csr_array(triangle + triangle.T), expected.labels)
        == expected
    )
    assert space(csr_array(triangle)).labels == (0, 1, 2, 3)
    assert graph(np.array([[0, 1, 0.5], [1, 2, 0.25]])).labels == (0, 1, 2)
    assert space(Network([((0, 0), (0, 1), {"weight": 0.5})])).labels == ("0,0", "0,1")


def test_networkx_and_scipy_agree_on_random_roads() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    random = np.random.default_rng(3)
    roads = networkx.gnm_random_graph(12, 30, seed=5)
    for _, _, attributes in roads.edges(data=True):
        attributes["weight"] = float(random.random())
    own, theirs = space(roads), dict(networkx.all_pairs_dijkstra_path_length(roads))
    for x in range(12):
        for y in range(12):
            assert float(own.distance(x, y)) == pytest.approx(theirs[own.labels[x]][own.labels[y]], rel=1e-12)


@given(st.lists(st.floats(0.01, 50), min_size=3, max_size=12))
@settings(max_examples=40, deadline=None)
def test_float_lengths_agree_with_scipy(lengths: list[float]) -> None:
    size = len(lengths)
    dense = np.zeros((size, size))
    for k, length in enumerate(lengths):
        dense[k, (k + 1) % size] = length
    own = graph(csr_array(dense))
    assert np.allclose(own.distances.astype(float), floyd_warshall(dense, directed=False), rtol=1e-12)


def test_rounded_weights_are_short_fractions() -> None:
    roads = graph([("a", "b", 0.1), ("b", "c", 12.3456)], digits=2)
    assert roads.distance(0, 2) == Fraction("12.45")
    assert roads.remark == "weights rounded to 2 decimals"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: space(np.zeros((5000, 5000), dtype=np.int8)), "1 to 4096 points, got 5000"),
        (lambda: space([[0, 1], [1]]), "must be square"),
        (lambda: space(np.zeros((2, 3))), "must be square"),
        (
            lambda: space(pdist([[0, 0], [1, 1], [2, 5]])),
            "must be a square table, got a flat array: scipy's squareform",
        ),
        (lambda: space(np.array([[0, 1j], [1j, 0]])), "real numbers, got complex ones"),
        (lambda: space(np.array([[0, np.nan], [np.nan, 0]])), "distance in row 0 must be a finite number, got nan"),
        (
            lambda: space([["0", "one"], ["one", "0"]]),
            'distance in row 0 must be a number such as 1/2 or 0.1, got "one"',
        ),
        (lambda: space("abc"), "must be an array, a frame or a list, got str"),
        (lambda: space(5), "must be an array, a frame or a list, got int"),
        (lambda: space([[0, 1], [1, 0]], [1.5, 2]), "labels must be text or whole numbers, got float"),
        (lambda: graph(Network([("a", "b", {})], directed=True)), "both ways, got a directed one"),
        (
            lambda: graph(csr_array(np.array([[0, 1.0], [2.0, 0]]))),
            "same weight both ways, got 1.0 from 0 to 1 and 2.0 back",
        ),
        (lambda: graph(csr_array(np.zeros((2, 3)))), "must be square, got 2 x 3"),
        (lambda: graph(7), "must be a list of edges, a frame or a graph, got int"),
        (lambda: graph([("a", "b", -0.5)]), "must be > 0"),
        (lambda: graph([("a", "b", "far")]), "weight of an edge of graph must be a number"),
        (lambda: graph([7]), "two points and perhaps a weight, got 0 parts"),
    ],
)
def test_what_is_no_table_and_no_graph_is_refused_in_one_line(make: Callable[[], Space], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_frames_of_edges_need_columns_that_say_what_they_are() -> None:
    import pandas as pd

    with pytest.raises(InputError, match="columns source, target and perhaps weight"):
        graph(pd.DataFrame({"p": ["a"], "q": ["b"], "r": [1], "s": [2]}))


def test_spaces_are_equal_when_labels_and_distances_are() -> None:
    pairs = [
        (line(5), space([[abs(a - b) for b in range(5)] for a in range(5)])),
        (discrete(4), space((1 - np.eye(4, dtype=int)).tolist())),
        (
            grid(2, 3),
            points([[r, c] for r in range(2) for c in range(3)], [f"{r},{c}" for r in range(2) for c in range(3)]),
        ),
        (
            grid(2, 3, "manhattan"),
            graph(
                [(f"{r},{c}", f"{r},{c + 1}") for r in range(2) for c in range(2)]
                + [(f"0,{c}", f"1,{c}") for c in range(3)],
                grid(2, 3).labels,
            ),
        ),
        (scale_space(line(3), 2), scale_space(scale_space(line(3), 4), "1/2")),
        (hamming(13), hamming(13)),
        (product_space(line(70), line(70)), product_space(line(70), line(70))),
        (scale_space(cycle(9999), 2), scale_space(cycle(9999), 2)),
    ]
    for first, second in pairs:
        assert first == second
        assert hash(first) == hash(second)
        assert len({first, second}) == 1
    different = [
        line(5),
        line(6),
        cycle(5),
        discrete(5),
        scale_space(line(5), 2),
        space(line(5).distances.tolist(), "abcde"),
        cycle(9999),
        scale_space(cycle(9999), 2),
        product_space(line(70), line(70)),
        line(4900),
    ]
    for k, first in enumerate(different):
        assert all(first != second for second in different[k + 1 :])
    assert line(3) != "line:3"
