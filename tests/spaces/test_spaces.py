"""Spaces: nothing is written out before it is asked for, and nothing too large ever is."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import product as tuples

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import small_spaces
from utmost.errors import InputError
from utmost.spaces import Space, cycle, discrete, grid, hamming, line, product_space, scale_space, space
from utmost.spaces.space import MAX_TABLE_POINTS, integer_distances


@given(small_spaces())
@settings(max_examples=60, deadline=None)
def test_a_space_is_a_metric_and_says_the_same_in_each_way(points: Space) -> None:
    size = len(points)
    table = points.distances
    assert table.shape == points.codes.shape == (size, size)
    assert len(points.labels) == len(set(map(str, points.labels))) == size
    assert list(points.values) == sorted(points.values)
    assert all(points.position(label) == k for k, label in enumerate(points.labels))
    for x, y in tuples(range(size), repeat=2):
        assert points.distance(x, y) == table[x, y] == table[y, x] == points.values[points.codes[x, y]]
        assert (table[x, y] == 0) == (x == y)
        assert all(table[x, y] <= table[x, z] + table[z, y] for z in range(size))


@given(small_spaces())
@settings(max_examples=60, deadline=None)
def test_edges_are_the_pairs_without_a_point_between(points: Space) -> None:
    """By the definition, in exact arithmetic: the closed forms of the families have no part in it."""
    d, size = points.distances, len(points)
    between = {
        (x, y)
        for x, y, z in tuples(range(size), repeat=3)
        if x < y and z not in (x, y) and d[x, z] + d[z, y] == d[x, y]
    }
    assert points.edges == tuple((x, y) for x in range(size) for y in range(x + 1, size) if (x, y) not in between)
    assert points.edges == tuple(map(tuple, points.edge_array.tolist()))


@given(small_spaces())
@settings(max_examples=60, deadline=None)
def test_a_profile_is_the_count_of_each_row(points: Space) -> None:
    rows = [tuple((v, int((row == k).sum())) for k, v in enumerate(points.values)) for row in points.codes]
    if points.profile is not None:
        assert set(map(repr, rows)) == {repr(points.profile)}
    else:
        assert not isinstance(points.shape, type(discrete(2).shape) | type(cycle(2).shape) | type(hamming(2).shape))


@pytest.mark.parametrize(
    "huge",
    [hamming(20), cycle(100_000), discrete(10**9), grid(10**6, 10**6), line(10**7), product_space(*[hamming(30)] * 2)],
)
def test_a_huge_space_is_cheap_and_refuses_to_be_written_out(huge: Space) -> None:
    assert huge.distance(0, len(huge) - 1) > 0
    assert huge.distance(-1, 0) == huge.distance(0, -1)
    for table in ("labels", "distances", "edges", "edge_array", "codes", "values"):
        with pytest.raises(InputError, match=f"points and at most {MAX_TABLE_POINTS} can be written out") as caught:
            getattr(huge, table)
        assert "\n" not in str(caught.value)
    if huge.profile is not None:
        assert sum(count for _, count in huge.profile) == len(huge)
        assert "capacity" in str(caught.value)


def test_positions_beyond_the_end_are_refused() -> None:
    for points in (line(3), hamming(20), scale_space(cycle(5), 2)):
        with pytest.raises(IndexError):
            points.distance(0, len(points))


def test_more_points_than_a_length_can_say_are_refused() -> None:
    with pytest.raises(InputError, match="bits of a hamming space must be 1 to 62, got 63"):
        hamming(63)
    with pytest.raises(InputError, match="about 10\\^24"):
        discrete(10**24)
    with pytest.raises(InputError):
        product_space(hamming(40), hamming(40))
    with pytest.raises(InputError, match="profile of cycle"):
        _ = cycle(10**9).profile


def test_a_space_written_out_by_hand_keeps_what_it_was_given() -> None:
    points = Space("three", ("a", "b", "c"), integer_distances(1 - np.eye(3, dtype=np.int64)), ((0, 2),))
    assert (points.edges, points.labels, points.profile) == (((0, 2),), ("a", "b", "c"), None)
    assert points.values == (0, 1)
    assert points.distance(0, 2) == Fraction(1)
    assert repr(points) == "<Space three: 3 points>"


def test_a_space_cannot_be_changed() -> None:
    points = grid(2, 2)
    for table in (points.distances, points.codes, points.edge_array):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1
    with pytest.raises(AttributeError):
        points.name = "other"  # type: ignore[misc]


@given(small_spaces())
@settings(max_examples=15, deadline=None)
def test_a_space_survives_pickling(points: Space) -> None:
    restored = pickle.loads(pickle.dumps(points))
    assert (restored.name, restored.labels, restored.edges) == (points.name, points.labels, points.edges)


@given(st.text(max_size=60))
def test_a_label_that_is_no_point_is_refused_in_few_words(label: str) -> None:
    with pytest.raises(InputError, match="is not a point of line:3"):
        line(3).position(label + "x" * 1000)


def test_a_pickle_of_a_space_has_what_it_is_made_of() -> None:
    places = grid(12, 12)
    assert places.distances.shape == (144, 144)
    text = pickle.dumps(places)
    assert len(text) < 1000
    assert pickle.loads(text) == places
    assert copy.deepcopy(places).name == places.name


def test_too_many_points_are_refused_before_their_distances_are_read() -> None:
    class Rows:
        def __len__(self) -> int:
            return 5000

        def __iter__(self) -> None:
            raise AssertionError("the distances were read")

    with pytest.raises(InputError, match="1 to 4096 points, got 5000"):
        space(Rows())
