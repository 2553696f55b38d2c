"""Vertices of the privacy region: against closed forms, a second algorithm, polyhedra of pplpy, and privacy itself."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import InputError
from utmost.exact import Number, number
from utmost.polytopes import count_vertices, vertices, vertices_by_growth
from utmost.polytopes.vertices import distance_lattice
from utmost.spaces import Space, line, parse_space, space


@st.composite
def metrics(draw: st.DrawFn, max_points: int = 5) -> Space:
    """Random metrics with many ties: shortest paths over few lengths, some of them irrational."""
    size = draw(st.integers(2, max_points))
    lengths = draw(st.sampled_from([["1", "2", "3"], ["1/2", "2/3", "1"], ["1", "sqrt(2)", "sqrt(5)", "2"]]))
    table: list[list[Number]] = [[Fraction(0)] * size for _ in range(size)]
    for x, y in combinations(range(size), 2):
        table[x][y] = table[y][x] = number(draw(st.sampled_from(lengths)))
    for z, x, y in product(range(size), repeat=3):
        table[x][y] = min(table[x][y], table[x][z] + table[z][y])
    return space(table)


def vertices_by_spanning_trees(points: Space) -> set[tuple[Number, ...]]:
    """Every spanning tree with every choice of directions, solved and kept if it breaks no constraint."""
    size, exponents = len(points), set()
    pairs = list(combinations(range(size), 2))
    for tree in combinations(pairs, size - 1):
        for signs in product((1, -1), repeat=size - 1):
            values: dict[int, Number] = {0: Fraction(0)}
            for _ in range(size):
                for (x, y), sign in zip(tree, signs, strict=True):
                    if x in values and y not in values:
                        values[y] = values[x] + sign * points.distance(x, y)
                    if y in values and x not in values:
                        values[x] = values[y] - sign * points.distance(x, y)
            if len(values) == size and all(
                values[x] - values[y] <= points.distance(x, y) for x, y in permutations(range(size), 2)
            ):
                minimum = min(values.values())
                exponents.add(tuple(values[x] - minimum for x in range(size)))
    return exponents


@given(metrics(max_points=4))
@settings(max_examples=25, deadline=None)
def test_the_walk_finds_what_all_spanning_trees_give(points: Space) -> None:
    exponents = list(vertices(points))
    assert len(exponents) == len(set(exponents))
    assert set(exponents) == vertices_by_spanning_trees(points)


@given(metrics(max_points=6))
@settings(max_examples=25, deadline=None)
def test_the_walk_and_the_growth_of_sets_agree(points: Space) -> None:
    assert set(vertices(points)) == vertices_by_growth(points)


@given(metrics(max_points=6))
@settings(max_examples=25, deadline=None)
def test_every_vertex_is_private_and_its_tight_pairs_connect(points: Space) -> None:
    for k in vertices(points):
        assert min(k) == 0
        assert all(k[y] - k[x] <= points.distance(x, y) for x, y in permutations(range(len(k)), 2))
        component, is_growing = {0}, True
        while is_growing:
            new = {y for x in component for y in range(len(k)) if abs(k[y] - k[x]) == points.distance(x, y)} - component
            is_growing = bool(new)
            component |= new
        assert component == set(range(len(k)))


@given(metrics(max_points=6))
@settings(max_examples=25, deadline=None)
def test_there_are_at_least_2n_minus_2_vertices_for_the_region_is_symmetric(points: Space) -> None:
    """FMPD23 Lemma A2: k and −k are vertices together, and a symmetric body in dimension n − 1 has 2(n − 1) corners."""
    exponents = set(vertices(points))
    assert {tuple(max(k) - v for v in k) for k in exponents} == exponents
    assert len(exponents) >= 2 * (len(points) - 1)


@pytest.mark.parametrize("size", range(1, 9))
def test_a_line_has_a_vertex_for_each_choice_of_directions(size: int) -> None:
    assert count_vertices(line(size)) == 2 ** (size - 1)


@pytest.mark.parametrize("size", range(2, 8))
def test_a_discrete_space_has_a_vertex_for_each_proper_part(size: int) -> None:
    assert count_vertices(parse_space(f"discrete:{size}")) == 2**size - 2


@pytest.mark.parametrize(("bits", "count"), [(1, 2), (2, 6), (3, 38)])
def test_a_cube_has_a_vertex_for_each_height_function(bits: int, count: int) -> None:
    """Maps of the cube to the integers that send edges to edges, up to a shift: 2, 6, 38, 990, …."""
    size = 2**bits
    neighbours = [[x ^ (1 << b) for b in range(bits) if x ^ (1 << b) < x] for x in range(size)]
    maps = [[0]]
    for x in range(1, size):
        maps = [
            [*partial, value]
            for partial in maps
            for value in {partial[y] + step for y in neighbours[x] for step in (1, -1)}
            if all(abs(value - partial[y]) == 1 for y in neighbours[x])
        ]
    assert len(maps) == count == count_vertices(parse_space(f"hamming:{bits}"))


@pytest.mark.parametrize("name", ["line:5", "discrete:5", "cycle:5", "cycle:6", "hamming:3", "grid:2x3:manhattan"])
def test_pplpy_finds_as_many_generators_of_the_same_polyhedron(name: str) -> None:
    ppl = pytest.importorskip("ppl", reason="pplpy is a test oracle: make oracles")
    points = parse_space(name)
    size = len(points)
    system = ppl.Constraint_System()
    k = [ppl.Variable(x) for x in range(size)]
    system.insert(k[0] == 0)
    for x, y in permutations(range(size), 2):
        system.insert(k[y] - k[x] <= int(points.distance(x, y)))
    corners = [g for g in ppl.C_Polyhedron(system).minimized_generators() if g.is_point()]
    shifted = {tuple(int(v) - min(map(int, c)) for v in c) for c in (g.coefficients() for g in corners)}
    assert shifted == {tuple(map(int, exponents)) for exponents in vertices(points)}


def test_the_unit_square_and_two_by_three_points_of_the_plane() -> None:
    assert count_vertices(parse_space("grid:2x2")) == 18  # FMPD23 Table 6a
    assert count_vertices(parse_space("grid:2x3")) == 162 == len(vertices_by_growth(parse_space("grid:2x3")))


@pytest.mark.slow
def test_three_by_three_points_of_the_plane_have_4346_vertices_not_the_4798_printed() -> None:
    """FMPD23 Table 6a prints 4798. qhull, in doubles, finds 4346 too."""
    assert count_vertices(parse_space("grid:3x3")) == 4346
    assert qhull_vertices([(x, y) for x in range(3) for y in range(3)]) == 4346


def qhull_vertices(points: list[tuple[int, int]]) -> int:
    from scipy.spatial import HalfspaceIntersection

    halfspaces = []
    for a, b in permutations(range(len(points)), 2):
        row = np.zeros(len(points))
        row[a], row[b] = 1, -1
        halfspaces.append([*row[1:], -math.dist(points[a], points[b])])
    corners = HalfspaceIntersection(np.array(halfspaces), np.zeros(len(points) - 1)).intersections
    return len(np.unique(np.round(corners, 6) + 0.0, axis=0))


def test_a_square_root_rounded_splits_vertices_that_are_one() -> None:
    """With √8 a little short of 2√2, as in doubles of 2^−√8, 3 × 3 points seem to have 4746 vertices."""
    grid_points = [(x, y) for x in range(3) for y in range(3)]
    lengths = {0: "0", 1: "1", 2: "1.414214", 4: "2", 5: "2.236068", 8: "2.828427"}
    rounded = space([[lengths[(a - c) ** 2 + (b - d) ** 2] for c, d in grid_points] for a, b in grid_points])
    assert count_vertices(rounded) == 4746


def test_progress_is_reported_for_each_vertex() -> None:
    reports: list[tuple[str, int, int]] = []
    assert count_vertices(line(4), lambda *report: reports.append(report)) == 8
    assert reports[-1] == ("vertices", 8, 0)


def test_a_space_too_large_to_look_at_all_sets_is_refused_unless_it_is_a_tree() -> None:
    assert next(vertices(line(30)))[29] == 29
    with pytest.raises(InputError, match="at most 20 points"):
        list(vertices(parse_space("cycle:22")))


@given(st.integers(1, 30))
def test_sums_of_roots_are_distinguished_however_close(steps: int) -> None:
    """p − q√2 for the convergents p/q of √2 has the sign of p² − 2q² = ±1; from q ≈ 2^20 on, 40 bits do not tell."""
    lattice = distance_lattice(space([[0, 1, "sqrt(2)"], [1, 0, 1], ["sqrt(2)", 1, 0]]))
    p, q = 1, 1
    for _ in range(steps):
        p, q = p + 2 * q, p + q
    assert lattice.sign(np.array([p, -q])) == p * p - 2 * q * q
    assert lattice.smallest(np.array([[p, -q], [0, 0]])) == (0 if p * p < 2 * q * q else 1)
    assert lattice.sign(np.array([0, 0])) == 0


def test_distances_with_too_many_digits_are_refused() -> None:
    with pytest.raises(InputError, match="fewer digits"):
        count_vertices(space([[0, "1.00000000000000000001"], ["1.00000000000000000001", 0]]))
    with pytest.raises(InputError, match="sums of roots"):
        count_vertices(space([[0, "1/(1+sqrt(2))"], ["1/(1+sqrt(2))", 0]]))
