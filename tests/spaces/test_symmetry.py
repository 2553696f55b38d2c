"""Symmetries keep distances exactly; orbits and orders against all permutations."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import small_spaces
from utmost.errors import InputError
from utmost.spaces import (
    Space,
    cycle,
    databases,
    discrete,
    grid,
    hamming,
    line,
    parse_space,
    product_space,
    scale_space,
    space,
    symmetries,
)
from utmost.spaces import symmetry as automorphism_search
from utmost.spaces.compound_spaces import ProductShape
from utmost.spaces.symmetry import automorphisms, orbits


def all_symmetries(codes: npt.NDArray[np.int64]) -> list[tuple[int, ...]]:
    """Every permutation is tried."""
    size = len(codes)
    candidates = (np.array(image) for image in permutations(range(size)))
    return [tuple(image.tolist()) for image in candidates if np.array_equal(codes[np.ix_(image, image)], codes)]


def orbits_by_enumeration(codes: npt.NDArray[np.int64]) -> tuple[list[int], list[list[int]]]:
    """Orbits of points and of ordered pairs under all symmetries, numbered by first members."""
    group, size = all_symmetries(codes), len(codes)
    points = [min(image[x] for image in group) for x in range(size)]
    pairs = [[min(image[x] * size + image[z] for image in group) for z in range(size)] for x in range(size)]
    point_orbits, pair_orbits = sorted(set(points)), sorted({k for row in pairs for k in row})
    return [point_orbits.index(k) for k in points], [[pair_orbits.index(k) for k in row] for row in pairs]


def as_table(metric: Space) -> Space:
    """The same distances, without a name that says their symmetries."""
    return space(metric.distances.tolist())


@given(small_spaces())
@settings(max_examples=80, deadline=None)
def test_every_generator_keeps_all_distances(metric: Space) -> None:
    group = symmetries(metric)
    for image in group.generators:
        assert sorted(image.tolist()) == list(range(len(metric)))
        assert (metric.distances[np.ix_(image, image)] == metric.distances).all()
        assert np.array_equal(group.points[image], group.points)
        assert np.array_equal(group.pairs[np.ix_(image, image)], group.pairs)


@given(small_spaces(2).filter(lambda metric: len(metric) <= 6))
@settings(max_examples=60, deadline=None)
def test_orbits_and_order_are_those_of_all_permutations(metric: Space) -> None:
    """Of a product the axes may have more in common than can be seen; its table has all of them."""
    for form in [as_table(metric)] if isinstance(metric.shape, ProductShape) else [metric, as_table(metric)]:
        group = symmetries(form)
        points, pairs = orbits_by_enumeration(metric.codes)
        assert group.order == len(all_symmetries(metric.codes))
        assert group.points.tolist() == points
        assert group.pairs.tolist() == pairs


@given(st.integers(1, 6), st.data())
@settings(max_examples=150, deadline=None)
def test_the_search_finds_the_whole_group_of_any_table(size: int, data: st.DataObject) -> None:
    """Distances 1, 3/2 and 2 always make a metric: there are few of them, so symmetries are many."""
    entries = data.draw(st.lists(st.integers(2, 4), min_size=size * size, max_size=size * size))
    codes = np.array(entries).reshape(size, size)
    codes = np.triu(codes, 1) + np.triu(codes, 1).T
    group = automorphisms(codes)
    points, pairs = orbits_by_enumeration(codes)
    assert group.order == len(all_symmetries(codes))
    assert orbits(size, group.permutations).tolist() == points
    assert symmetries(space([[f"{k}/2" for k in row] for row in codes.tolist()])).pairs.tolist() == pairs


@pytest.mark.parametrize(
    ("metric", "order"),
    [
        (hamming(3), 48),
        (hamming(5), 3840),
        (line(1), 1),
        (line(9), 2),
        (discrete(1), 1),
        (discrete(2), 2),
        (discrete(7), math.factorial(7)),
        (cycle(1), 1),
        (cycle(2), 2),
        (cycle(3), 6),
        (cycle(12), 24),
        (grid(1, 1), 1),
        (grid(1, 5), 2),
        (grid(4, 6), 4),
        (grid(6, 6), 8),
        (grid(5, 5, "manhattan"), 8),
        (scale_space(grid(5, 5), "1/3"), 8),
        (product_space(line(3), line(3)), 8),
        (product_space(line(3), line(4)), 4),
        (product_space(line(3), scale_space(line(3), 2)), 4),
        (product_space(product_space(cycle(5), discrete(3)), cycle(5)), 1200),
        (product_space(scale_space(hamming(2), 3), scale_space(line(2), 3)), 48),
        (product_space(product_space(line(3), line(3)), line(3)), 48),
        (product_space(grid(3, 3, "manhattan"), line(3)), 48),
        (product_space(grid(3, 3), line(3)), 16),
        (databases("abc", 2), 72),
        (databases("ab", 0), 1),
        (product_space(databases("abc", 2), discrete(3)), 6**3 * 6),
        (product_space(scale_space(product_space(line(3), hamming(1)), 2), scale_space(line(3), 2)), 16),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_orders_of_the_families_are_found_by_search_too(metric: Space, order: int) -> None:
    closed_form, by_search = symmetries(metric), symmetries(as_table(metric))
    assert closed_form.order == by_search.order == order
    assert np.array_equal(closed_form.points, by_search.points)
    assert np.array_equal(closed_form.pairs, by_search.pairs)


@given(small_spaces())
@settings(max_examples=40, deadline=None)
def test_a_homogeneous_space_of_a_family_has_one_orbit(metric: Space) -> None:
    if metric.profile is not None:
        assert symmetries(metric).points.max() == 0


def test_orbits_of_a_square_grid_are_those_of_an_eighth() -> None:
    """10 x 10 places: the triangle 0 ≤ r ≤ c ≤ 4 has 15, and Burnside's lemma counts (10⁴ + 2·10² + …)/8 pairs."""
    symmetry_group = symmetries(grid(10, 10))
    assert symmetry_group.points.max() + 1 == 15
    positions = np.arange(100).reshape(10, 10)
    group = [np.rot90(reflected, k) for reflected in (positions, positions.T) for k in range(4)]
    fixed_counts = [int((image == positions).sum()) for image in group]
    assert symmetry_group.pairs.max() + 1 == sum(count**2 for count in fixed_counts) // 8


def graph_codes(size: int, edges: set[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Distance 1 along an edge, else 2."""
    codes = 2 - 2 * np.eye(size, dtype=np.int64)
    for x, z in edges:
        codes[x, z] = codes[z, x] = 1
    return codes


def rook() -> set[tuple[int, int]]:
    return {(x, z) for x in range(16) for z in range(x) if x // 4 == z // 4 or x % 4 == z % 4}


def shrikhande() -> set[tuple[int, int]]:
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    return {(x, z) for x in range(16) for z in range(x) if ((x // 4 - z // 4) % 4, (x - z) % 4) in steps}


def side_by_side(first: set[tuple[int, int]], size: int, second: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return first | {(x + size, z + size) for x, z in second}


def ring(size: int) -> set[tuple[int, int]]:
    return {(k, (k + 1) % size) for k in range(size)}


@pytest.mark.parametrize(
    ("size", "edges", "order", "count"),
    [
        (9, side_by_side(ring(3), 3, ring(6)), 6 * 12, 2),
        (12, side_by_side(ring(3), 3, side_by_side(ring(3), 3, ring(6))), 72 * 12, 2),
        (16, rook(), 2 * math.factorial(4) ** 2, 1),
        (16, shrikhande(), 192, 1),
        (32, side_by_side(rook(), 16, shrikhande()), 1152 * 192, 2),
    ],
)
def test_regular_graphs_with_equal_colours_are_distinguished(
    size: int, edges: set[tuple[int, int]], order: int, count: int
) -> None:
    """The 4 x 4 rook's graph and Shrikhande's are strongly regular with the same numbers, 16, 6, 2, 2."""
    group = automorphisms(graph_codes(size, edges))
    assert group.order == order
    assert orbits(size, group.permutations).max() + 1 == count


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda edge: edge[0] != edge[1]), max_size=14))
@settings(max_examples=30, deadline=None)
def test_the_search_finds_the_whole_group_of_any_graph_on_seven_points(edges: set[tuple[int, int]]) -> None:
    codes = graph_codes(7, edges)
    assert automorphisms(codes).order == len(all_symmetries(codes))


def test_equal_tables_given_as_factors_are_exchanged() -> None:
    towns = space([[0, 1, 2], [1, 0, 2], [2, 2, 0]])
    assert symmetries(towns).order == 2
    assert symmetries(product_space(towns, towns)).order == 8


def test_a_search_beyond_its_work_limit_has_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    table = as_table(hamming(4))
    monkeypatch.setattr(automorphism_search, "MAX_TABLE_READS", 3000)
    group = symmetries(table)
    assert group.order is None
    assert all((table.codes[np.ix_(g, g)] == table.codes).all() for g in group.generators)
    monkeypatch.setattr(automorphism_search, "MAX_TABLE_READS", 0)
    assert symmetries(table).generators == ()
    assert symmetries(table).points.tolist() == list(range(16))
    assert symmetries(product_space(table, line(2))).order is None


def test_axes_that_look_different_and_are_equal_are_exchanged() -> None:
    for text in ("grid:1x2+line:2", "cycle:2+discrete:2", "1/2*line:2+1/2*hamming:1"):
        assert symmetries(parse_space(text)).order == 8
    assert symmetries(parse_space("cycle:3+discrete:3")).order == 72
    assert symmetries(parse_space("1/2*cycle:3+discrete:3")).order == 36


def test_a_table_without_symmetry_has_the_identity_alone() -> None:
    group = symmetries(space([[0, 2, 3], [2, 0, 4], [3, 4, 0]]))
    assert (group.generators, group.order) == ((), 1)
    assert group.pairs.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_symmetries_need_a_space_that_can_be_written_out() -> None:
    for huge in (hamming(20), parse_space("cycle:100000"), product_space(hamming(20), line(2))):
        with pytest.raises(InputError, match="can be written out"):
            symmetries(huge)
