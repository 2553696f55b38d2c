"""The families that have a name, against their definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from itertools import product as tuples

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import number
from utmost.spaces import cycle, databases, discrete, grid, hamming, line, space


def test_line_has_the_distance_of_counts() -> None:
    five = line(5)
    assert all(five.distance(x, z) == abs(x - z) for x, z in tuples(range(5), repeat=2))
    assert five.edges == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert space(five.distances.tolist()).edges == five.edges


@given(st.integers(1, 12))
@settings(deadline=None, max_examples=12)
def test_discrete_and_cycle_have_their_distances(size: int) -> None:
    for x, z in tuples(range(size), repeat=2):
        assert discrete(size).distance(x, z) == (x != z)
        assert cycle(size).distance(x, z) == min((x - z) % size, (z - x) % size)


@given(st.integers(1, 4), st.integers(1, 5))
@settings(deadline=None, max_examples=20)
def test_grids_have_the_distances_of_the_plane(rows: int, columns: int) -> None:
    plane, streets = grid(rows, columns), grid(rows, columns, "manhattan")
    coordinates = [tuple(map(int, str(label).split(","))) for label in plane.labels]
    assert coordinates == list(tuples(range(rows), range(columns)))
    for (x, (a, b)), (z, (c, d)) in tuples(enumerate(coordinates), repeat=2):
        assert plane.distance(x, z) * plane.distance(x, z) == (a - c) ** 2 + (b - d) ** 2
        assert streets.distance(x, z) == abs(a - c) + abs(b - d)


@pytest.mark.parametrize("bits", [1, 2, 3, 5])
def test_hamming_counts_the_bits_that_differ(bits: int) -> None:
    cube = hamming(bits)
    assert cube.labels == tuple("".join(word) for word in tuples("01", repeat=bits))
    for (x, a), (z, b) in tuples(enumerate(cube.labels), repeat=2):
        assert cube.distance(x, z) == sum(i != j for i, j in zip(str(a), str(b), strict=True))
    assert len(cube.edges) == bits * 2 ** (bits - 1)


@given(st.integers(2, 3), st.integers(0, 3))
@settings(deadline=None)
def test_databases_differ_in_rows(values: int, rows: int) -> None:
    tables = databases("abc"[:values], rows)
    assert tables.labels == tuple("".join(word) for word in tuples("abc"[:values], repeat=rows))
    for (x, a), (z, b) in tuples(enumerate(tables.labels), repeat=2):
        assert tables.distance(x, z) == sum(i != j for i, j in zip(str(a), str(b), strict=True))
    assert tables.edges == tuple((x, z) for x, z in combinations(range(len(tables)), 2) if tables.distance(x, z) == 1)
    assert tables.profile == tuple((Fraction(k), math.comb(rows, k) * (values - 1) ** k) for k in range(rows + 1))


def test_databases_need_values_that_can_be_distinguished() -> None:
    assert databases(["a", "bb"], 2).labels == ("aa", "abb", "bba", "bbbb")
    for values, rows in ((["a", "aa"], 2), (["a", "a"], 1), ([], 1), ("ab", -1), ("ab", 63)):
        with pytest.raises(InputError):
            databases(values, rows)


def test_one_object_stands_for_each_distance_of_a_grid() -> None:
    """So that what depends on a distance is made once for each value: the roots of the sums of two squares."""
    table = grid(10, 10).distances
    squares = {a * a + b * b for a, b in tuples(range(10), repeat=2)}
    assert len({id(d) for d in table.ravel()}) == len(squares) == len(grid(10, 10).values)
    assert grid(10, 10).values == tuple(number(f"sqrt({k})") for k in sorted(squares))


def test_edges_of_a_large_euclidean_grid_have_offsets_without_common_divisor() -> None:
    """20 x 20: by counting offsets, and by deciding all 400³/2 triangles of the table without the grid's help."""
    large_grid = grid(20, 20)
    offsets = [(a, b) for a in range(-19, 20) for b in range(-19, 20) if math.gcd(a, b) == 1]
    assert 2 * len(large_grid.edges) == sum((20 - abs(a)) * (20 - abs(b)) for a, b in offsets)
    assert np.array_equal(space(large_grid.distances.tolist()).edge_array, large_grid.edge_array)


@pytest.mark.parametrize("bad", [0, -1, "x", "1/2", 1.5, None, True])
def test_sizes_must_be_whole_numbers_above_zero(bad: object) -> None:
    for family in (line, discrete, cycle, hamming, lambda n: grid(n, 2), lambda n: grid(2, n)):
        with pytest.raises(InputError):
            family(bad)  # type: ignore[arg-type]


def test_a_grid_has_one_of_two_metrics() -> None:
    with pytest.raises(InputError, match="euclidean or manhattan"):
        grid(2, 2, "chebyshev")  # type: ignore[arg-type]
