"""Tables of distances: the axioms with a witness, decided where doubles cannot tell."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from itertools import product as tuples

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from strategies import numbers, small_spaces
from utmost.errors import InputError, MetricError
from utmost.exact import Number, enclosure, number, sign
from utmost.spaces import Space, space
from utmost.spaces.distance_order import MAX_DOUBLE_ERROR, integer_multiples, scaled_doubles, sort_distinct


@pytest.mark.parametrize(
    ("distances", "witness"),
    [
        ([[1]], "d(0, 0) = 1, must be 0"),
        ([[0, 1], [2, 0]], "d(0, 1) = 1 but d(1, 0) = 2"),
        ([[0, "sqrt(2)"], ["sqrt(3)", 0]], "d(0, 1) = 2^(1/2) but d(1, 0) = 3^(1/2)"),
        ([[0, 0], [0, 0]], "d(0, 1) = 0, must be > 0"),
        ([[0, -1], [-1, 0]], "d(0, 1) = -1, must be > 0"),
        ([[0, "1-sqrt(2)"], ["1-sqrt(2)", 0]], "d(0, 1) = 1 - 2^(1/2), must be > 0"),
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "d(0, 2) = 5 > d(0, 1) + d(1, 2) = 2"),
        ([[0, 5, 1], [5, 0, 1], [1, 1, 0]], "d(0, 1) = 5 > d(0, 2) + d(2, 1) = 2"),
    ],
)
def test_a_broken_axiom_is_named_with_its_points(distances: list[list[object]], witness: str) -> None:
    with pytest.raises(MetricError) as caught:
        space(distances)
    assert str(caught.value) == f"matrix is not a metric: {witness}"


def test_witnesses_go_by_label_and_long_numbers_are_shortened() -> None:
    long = "1/" + "7" * 500
    with pytest.raises(
        MetricError, match=r"^towns is not a metric: d\(Ay, Bee\) = about .{0,20} but d\(Bee, Ay\) = 1$"
    ):
        space([[0, long], [1, 0]], ["Ay", "Bee"], "towns")
    with pytest.raises(MetricError) as caught:
        space([[0, 1], [2, 0]], ["x" * 1000, "y"])
    assert len(str(caught.value)) < 200


@given(st.lists(st.lists(st.integers(-1, 6), min_size=4, max_size=4), min_size=4, max_size=4), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_table_is_accepted_exactly_if_the_axioms_hold(raw: list[list[int]], mirror: bool) -> None:
    table = [[0 if i == j else raw[min(i, j)][max(i, j)] for j in range(4)] for i in range(4)] if mirror else raw
    holds = all(
        (table[i][j] > 0) == (i != j)
        and (table[i][j] == 0) == (i == j)
        and table[i][j] == table[j][i]
        and table[i][j] <= table[i][k] + table[k][j]
        for i, j, k in tuples(range(4), repeat=3)
    )
    for scale in ("", "*sqrt(5)", "/7", "*10^400", "/10^400"):
        entries = [[f"({entry}){scale}" for entry in row] for row in table]
        if holds:
            assert space(entries).distance(0, 1) == number(entries[0][1])
        else:
            with pytest.raises(MetricError):
                space(entries)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7, unique=True))
@settings(max_examples=40, deadline=None)
def test_generating_pairs_give_the_metric_back_as_shortest_paths(points: list[tuple[int, int]]) -> None:
    """Manhattan distances; shortest paths over the edges by scipy, an algorithm of others."""
    from scipy.sparse.csgraph import shortest_path

    distances = [[abs(a - c) + abs(b - d) for c, d in points] for a, b in points]
    metric = space(distances)
    graph = np.zeros((len(points), len(points)))
    for x, z in metric.edges:
        graph[x, z] = graph[z, x] = distances[x][z]
    assert np.array_equal(shortest_path(graph, directed=False), np.array(distances, dtype=float))


def triangle(direct: object, first: object, second: object) -> Space:
    return space([[0, first, direct], [first, 0, second], [direct, second, 0]])


def test_equal_sums_are_equal_however_they_are_written() -> None:
    for direct, first, second in (
        (2, 1, 1),
        ("sqrt(8)", "sqrt(2)", "sqrt(2)"),
        ("sqrt(2)+sqrt(3)", "sqrt(3)", "sqrt(2)"),
        ("3/10", "1/10", "0.2"),
        ("sqrt(12)", "sqrt(3)", "sqrt(3)"),
        ("5*sqrt(10^9+7)", "2*sqrt(10^9+7)", "3*sqrt(10^9+7)"),
        ("10^30+1", "10^30", "1"),
    ):
        assert triangle(direct, first, second).edges == ((0, 1), (1, 2))


@pytest.mark.parametrize("digits", [12, 17, 40, 300])
@pytest.mark.parametrize(("first", "second"), [("sqrt(2)", "sqrt(3)"), ("1", "1"), ("sqrt(2)/10^9", "sqrt(7)")])
def test_sums_that_are_equal_as_doubles_are_distinguished(digits: int, first: str, second: str) -> None:
    """A side longer than the other two by 10^−digits is no metric; one shorter by as much has nothing between."""
    total = number(first) + number(second)
    low, high = enclosure(total, 8 * digits)
    above, below = high + Fraction(1, 10**digits), low - Fraction(1, 10**digits)
    with pytest.raises(MetricError):
        triangle(above, first, second)
    assert len(triangle(below, first, second).edges) == 3


@given(st.lists(numbers(), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_sort_distinct_sorts_and_decides_equality(sampled: list[Number]) -> None:
    repeated = sampled + [value + 1 - 1 for value in sampled]
    values, positions = sort_distinct(repeated)
    assert all(sign(b - a) > 0 for a, b in pairwise(values))
    assert all(values[k] == value for k, value in zip(positions.tolist(), repeated, strict=True))
    assert set(positions.tolist()) == set(range(len(values)))


@given(st.lists(numbers(), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_doubles_are_within_their_bound(sampled: list[Number]) -> None:
    """The bound that the comparison of sums rests on: |double − scale·value| ≤ 2^−51, the largest below 2."""
    assume(any(sampled))
    doubles = scaled_doubles(sampled)
    largest = max(range(len(sampled)), key=lambda k: abs(doubles[k]))
    assert 0.5 <= abs(doubles[largest]) <= 2
    exponent = round(float(np.log2(abs(doubles[largest]) / abs(float(sampled[largest])))))
    for value, double in zip(sampled, doubles.tolist(), strict=True):
        error = value * Fraction(2) ** exponent - Fraction(double)
        assert abs(error) <= Fraction(1, 2**51)
    assert MAX_DOUBLE_ERROR >= 3 * 2.0**-51 + 2.0**-50


def test_differences_that_cancel_are_compared_exactly() -> None:
    """√(10^36 + 1) − 10^18 is a hair below 10^−18/2, and 64 bits say little of it."""
    difference = number("sqrt(10^36+1)-10^18")
    assert float(scaled_doubles([difference])[0] / scaled_doubles([difference, difference * 2])[0]) in (1.0, 2.0, 4.0)
    values, positions = sort_distinct([difference, Fraction(1, 2 * 10**18), difference + 0, Fraction(0)])
    assert [round(float(v) * 10**18, 3) for v in values] == [0, 0.5, 0.5]
    assert positions.tolist() == [1, 2, 1, 0]


def test_rational_distances_become_whole_numbers_if_they_fit() -> None:
    multiples = integer_multiples([Fraction(0), Fraction(1, 6), Fraction(3, 4)])
    assert multiples is not None
    assert multiples.tolist() == [0, 2, 9]
    assert integer_multiples([Fraction(0), Fraction(1, 2**61), Fraction(1)]) is None
    assert integer_multiples([Fraction(2**62)]) is None
    assert integer_multiples([number("sqrt(2)")]) is None


@given(small_spaces())
@settings(max_examples=30, deadline=None)
def test_a_table_of_a_space_makes_the_same_space(original: Space) -> None:
    rebuilt = space(original.distances.tolist(), original.labels)
    assert (rebuilt.labels, rebuilt.edges, rebuilt.values) == (original.labels, original.edges, original.values)
    assert np.array_equal(rebuilt.codes, original.codes)


def test_entries_may_be_numbers_of_any_kind() -> None:
    mixed = space([[0, Decimal("0.5"), "1/2"], [Fraction(1, 2), np.int64(0), "0.50"], ["sqrt(1/4)", "5e-1", 0]])
    assert mixed.values == (0, Fraction(1, 2))
    assert space(np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])).edges == ((0, 1), (1, 2))
    assert space([[0, 0.5], [0.5, 0]]).values == (0, Fraction(1, 2))
    for bad in (float("nan"), float("inf"), 1j, None, True, "x", "nan"):
        with pytest.raises(InputError, match="distance in row 0"):
            space([[0, bad], [bad, 0]])


def test_labels_must_be_distinct_and_rows_square() -> None:
    for labels in (["a", "a"], ["1", 1], ["a"], ["a", "b", "c"]):
        with pytest.raises(InputError, match="2 distinct labels"):
            space([[0, 1], [1, 0]], labels)
    with pytest.raises(MetricError, match="square"):
        space([[0, 1], [1]])
    with pytest.raises(InputError, match="1 to 4096 points, got 0"):
        space([])
    with pytest.raises(InputError, match="n² distances"):
        space([[0]] * 5000)
