"""Kernel mechanisms: against the published counts, two other algorithms, pplpy, and what makes a kernel."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import levels, rational_levels
from utmost.channel import is_private
from utmost.errors import InputError
from utmost.exact import Level, alpha, epsilon, sign
from utmost.polytopes import (
    PosteriorRegion,
    count_kernels,
    is_kernel_mechanism,
    kernel_arrays,
    kernel_sets,
    kernels,
    kernels_by_description,
    kernels_by_subsets,
    posterior_region,
)
from utmost.polytopes.kernels import fits_in_doubles, integer_masses, real_weights
from utmost.polytopes.positive_circuits import count_circuits, generic_row, positive_circuits
from utmost.polytopes.type_members import null_vector
from utmost.polytopes.vertex_columns import (
    RealColumns,
    are_dependent,
    exact_determinant,
    integer_column,
    primes,
    vertex_columns,
)
from utmost.spaces import Space, line, parse_space

HALF = alpha("1/2")
SMALL = ["line:2", "line:3", "line:4", "discrete:3", "discrete:4", "hamming:2", "cycle:5", "grid:2x2:manhattan"]


def sets_of(region: PosteriorRegion) -> set[tuple[int, ...]]:
    vertex_sets = [tuple(vertex_set) for sets in kernel_sets(region) for vertex_set in sets.tolist()]
    assert len(vertex_sets) == len(set(vertex_sets))
    return set(vertex_sets)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("line:2", 1), ("line:3", 2), ("line:4", 11), ("line:5", 187), ("line:6", 15346),
        ("discrete:2", 1), ("discrete:3", 5), ("discrete:4", 41), ("discrete:5", 1291),
        ("grid:2x2", 403), ("hamming:2", 4),
    ],
)  # fmt: skip
def test_the_counts_of_tables_4a_to_7a(name: str, count: int) -> None:
    """FMPD23 §VI, α = 1/2."""
    assert count_kernels(parse_space(name), HALF) == count


@pytest.mark.slow
def test_three_bits_have_29213_kernels_not_the_29275_printed() -> None:
    """FMPD23 Table 7a prints 29275. Two algorithms that share nothing agree on another set of sets."""
    cube = parse_space("hamming:3")
    vertex_sets = sets_of(posterior_region(cube, HALF))
    assert len(vertex_sets) == 29213 == count_kernels(cube, HALF)
    assert vertex_sets == kernels_by_description(cube, HALF)


@pytest.mark.parametrize(
    ("name", "count"), [("discrete:6", 200213), ("cycle:5", 5806), ("cycle:6", 473), ("grid:2x3:manhattan", 210)]
)
def test_counts_beyond_the_tables(name: str, count: int) -> None:
    """Found by `count_kernels` and by pplpy (the next test; discrete:6 takes it half a minute)."""
    assert count_kernels(parse_space(name), HALF) == count


@pytest.mark.parametrize("name", ["line:5", "discrete:5", "cycle:5", "cycle:6", "grid:2x3:manhattan"])
def test_pplpy_finds_the_same_vertices_of_the_same_polytope(name: str) -> None:
    region = posterior_region(parse_space(name), HALF)
    points = pplpy_vertices(region)
    assert {tuple(v for v, c in enumerate(g.coefficients()) if c) for g in points} == sets_of(region)


@pytest.mark.parametrize(
    ("name", "count"), [("line:6", 15346), pytest.param("hamming:3", 29213, marks=pytest.mark.slow)]
)
def test_pplpy_finds_as_many(name: str, count: int) -> None:
    assert len(pplpy_vertices(posterior_region(parse_space(name), HALF))) == count


def pplpy_vertices(region: PosteriorRegion) -> list[Any]:
    """The vertices of {λ ≥ 0 : Vλ = 1}."""
    ppl = pytest.importorskip("ppl", reason="pplpy is a test oracle: make oracles")
    system = ppl.Constraint_System()
    scale = max(value.denominator for column in region.columns for value in column)
    for row in zip(*region.columns, strict=True):
        system.insert(ppl.Linear_Expression([int(value * scale) for value in row], -1) == 0)
    for v in range(len(region.columns)):
        system.insert(ppl.Variable(v) >= 0)
    return [g for g in ppl.C_Polyhedron(system).minimized_generators() if g.is_point()]


@given(st.sampled_from(SMALL), rational_levels())
@settings(max_examples=30, deadline=None)
def test_all_sets_tried_one_by_one_give_the_same(name: str, level: Level) -> None:
    points = parse_space(name)
    if len(points) <= 4:
        assert sets_of(posterior_region(points, level)) == kernels_by_subsets(points, level)
    assert sets_of(posterior_region(points, level)) == kernels_by_description(points, level)


@given(st.sampled_from(["line:3", "line:4", "discrete:3", "hamming:2"]), levels())
@settings(max_examples=8, deadline=None)
def test_each_kernel_is_a_private_channel_that_is_a_kernel_mechanism(name: str, level: Level) -> None:
    points = parse_space(name)
    for kernel in kernels(points, level):
        mechanism = kernel.channel()
        assert all(sum(row[1:], start=row[0]) == 1 for row in mechanism.rows)
        assert sum(kernel.weights[1:], start=kernel.weights[0]) == 1
        assert all(sign(weight) > 0 for weight in kernel.weights)
        assert is_private(mechanism, points, level)
        assert is_kernel_mechanism(mechanism, points, level)
        assert mechanism.outputs == kernel.columns


def test_kernels_of_the_unit_square_are_exact_channels_with_irrational_entries() -> None:
    square = parse_space("grid:2x2")
    square_kernels = kernels(square, HALF)
    for _ in range(6):
        kernel = next(square_kernels)
        assert all(sum(row[1:], start=row[0]) == 1 for row in kernel.channel().rows)
        assert is_kernel_mechanism(kernel.channel(), square, HALF)


@pytest.mark.parametrize("level", [alpha("1/3"), epsilon("1/10"), epsilon(2)])
def test_balls_with_exact_tests_and_whole_numbers_agree(level: Level) -> None:
    """The same columns through both kinds of arithmetic; with ε given, only balls are there."""
    region = posterior_region(parse_space("discrete:4"), level)
    for through_balls in (RealColumns(region.columns), RealColumns(region.columns, region.polynomials)):
        circuits = {tuple(circuit) for sets in positive_circuits(through_balls) for circuit in sets.tolist()}
        assert circuits == sets_of(region)
        assert len(circuits) == count_circuits(through_balls) == 41


@pytest.mark.parametrize(("name", "level"), [("grid:2x2", HALF), ("line:4", epsilon("1/3")), ("sqrt(2)*line:4", HALF)])
def test_polynomials_vanish_where_exact_numbers_do(name: str, level: Level) -> None:
    region = posterior_region(parse_space(name), level)
    assert region.polynomials is not None
    numbers, polynomials = RealColumns(region.columns), RealColumns(region.columns, region.polynomials)
    for size in range(1, len(region.space)):
        subsets = np.array(list(combinations(range(len(region.columns)), size))[:60])
        candidates = [row for row in subsets if null_vector([numbers.vectors[v] for v in row[:-1]]) is None]
        if candidates:
            assert (
                numbers.dependent_sets(np.array(candidates)) == polynomials.dependent_sets(np.array(candidates))
            ).all()


def test_roots_of_a_rational_level_are_no_symbols_and_are_decided_as_numbers() -> None:
    """Half of a line at α = 1/2: √(1/2) is algebraic, so its powers are exact numbers, not polynomials."""
    region = posterior_region(parse_space("1/2*line:4"), HALF)
    assert region.polynomials is None
    assert sum(map(len, kernel_sets(region))) == 11
    assert posterior_region(parse_space("1/2*line:4"), alpha("1/4")).columns == posterior_region(line(4), HALF).columns


@pytest.mark.parametrize("name", ["line:4", "line:5", "discrete:4", "cycle:5"])
def test_no_kernel_holds_another(name: str) -> None:
    """FMPD23 Property 1."""
    vertex_sets = [set(vertex_set) for vertex_set in sets_of(posterior_region(parse_space(name), HALF))][:400]
    assert not any(first < second for first in vertex_sets for second in vertex_sets)


@pytest.mark.parametrize("name", ["line:3", "line:4", "discrete:3", "hamming:2"])
def test_no_kernel_is_another_post_processed(name: str) -> None:
    """FMPD23 Property 3, for different kernels: K·R = K′ has no stochastic R. Decided by scipy's solver."""
    from scipy.optimize import linprog

    channels = [kernel.channel().floats() for kernel in kernels(parse_space(name), HALF)]
    for first in channels:
        for second in channels:
            width, outputs = first.shape[1], second.shape[1]
            product = np.kron(first, np.eye(outputs))
            stochastic = np.kron(np.eye(width), np.ones(outputs))
            solution = linprog(
                np.zeros(width * outputs),
                A_eq=np.vstack([product, stochastic]),
                b_eq=np.concatenate([second.ravel(), np.ones(width)]),
            )
            assert (solution.status == 0) == (first is second)


@pytest.mark.parametrize("name", ["line:1", "line:2", "line:5", "discrete:4", "grid:2x2", "hamming:2"])
def test_levels_zero_and_one_have_one_kernel_each(name: str) -> None:
    points = parse_space(name)
    (constant,) = kernels(points, alpha(1))
    assert constant.channel().rows.tolist() == [[1]] * len(points)
    (truthful,) = kernels(points, alpha(0))
    assert (truthful.channel().rows == np.eye(len(points), dtype=int)).all()
    assert count_kernels(points, alpha(1)) == count_kernels(points, alpha(0)) == 1


def test_two_secrets_have_one_kernel_at_any_level() -> None:
    """FMPD23 Cor. 9, Thm 8."""
    (kernel,) = kernels(line(2), alpha("1/3"))
    assert sorted(kernel.channel().rows[0].tolist()) == [Fraction(1, 4), Fraction(3, 4)]
    (kernel,) = kernels(parse_space("2*line:2"), alpha("1/3"))
    assert sorted(kernel.channel().rows[0].tolist()) == [Fraction(1, 10), Fraction(9, 10)]


def test_the_number_of_kernels_depends_on_alpha_not_on_the_metric_alone() -> None:
    counts = {a: count_kernels(line(5), alpha(a)) for a in ("1/10", "1/3", "1/2", "2/3", "9/10")}
    assert counts == {"1/10": 195, "1/3": 195, "1/2": 187, "2/3": 222, "9/10": 230}
    assert {count_kernels(line(4), alpha(a)) for a in ("1/10", "1/3", "1/2", "2/3", "9/10")} == {11}
    for a in ("1/10", "1/3", "2/3"):
        assert counts[a] == len(kernels_by_description(line(5), alpha(a)))


def test_progress_is_reported_through_vertices_cuts_and_kernels() -> None:
    reports: list[tuple[str, int, int]] = []
    kernel_list = list(kernels(line(4), HALF, lambda *report: reports.append(report)))
    assert ("vertices", 8, 0) in reports
    assert ("rays after 0 of 3 cuts", 8, 0) in reports
    assert any(stage == "rays after 2 of 3 cuts" for stage, _, _ in reports)
    assert reports[-1] == ("kernel mechanisms", len(kernel_list), 0)


@pytest.mark.parametrize("level", [alpha(Fraction(1, 10**400)), alpha(Fraction(1, 10**100)), epsilon(500)])
def test_levels_whose_powers_no_double_holds_are_decided_exactly(level: Level) -> None:
    assert count_kernels(line(4), level) == 11
    assert count_kernels(line(5), level) == 195
    assert sum(sum(kernel.weights[1:], start=kernel.weights[0]) == 1 for kernel in kernels(line(3), level)) == 2


def test_a_type_with_too_many_kernels_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utmost.polytopes.positive_circuits.MAX_RAY_BYTES", 1 << 14)
    with pytest.raises(InputError, match=r"too many to list: more than \d+ rays after \d of 5 cuts"):
        count_kernels(line(6), HALF)
    monkeypatch.setattr("utmost.polytopes.positive_circuits.MAX_VECTORS", 16)
    with pytest.raises(InputError, match="at most 16 vertices, got 32"):
        count_kernels(line(6), HALF)


def test_kernels_are_yielded_before_all_are_computed() -> None:
    """The first kernel of a type with 4.7 million is there after the cuts, without the others."""
    first = next(kernels(line(7), HALF))
    assert is_kernel_mechanism(first.channel(), line(7), HALF)


@given(st.sampled_from(["line:4", "line:5", "discrete:4", "cycle:5", "hamming:2"]), rational_levels())
@settings(max_examples=20, deadline=None)
def test_weights_at_once_are_the_weights_one_by_one(name: str, level: Level) -> None:
    region = posterior_region(parse_space(name), level)
    integer_columns = [integer_column(column) for column in region.columns]
    for sets, masses in kernel_arrays(region):
        assert fits_in_doubles(integer_columns, sets.shape[1]) == (masses.dtype == np.int64)
        for vertex_set, row in list(zip(sets.tolist(), masses.tolist(), strict=True))[:100]:
            exact = integer_masses([integer_columns[v] for v in vertex_set])
            assert [Fraction(mass, sum(row)) for mass in row] == [Fraction(mass, sum(exact)) for mass in exact]
            assert tuple(Fraction(mass, sum(row)) for mass in row) == real_weights(
                [region.columns[v] for v in vertex_set]
            )


@pytest.mark.parametrize("name", ["line:4", "discrete:4", "cycle:4", "hamming:2", "1/2*line:4", "grid:2x2"])
def test_weights_at_an_irrational_level_are_those_by_determinants_of_exact_numbers(name: str) -> None:
    for kernel in islice(kernels(parse_space(name), epsilon("1/3")), 12):
        assert kernel.weights == real_weights([kernel.region.columns[v] for v in kernel.columns])
        assert sum(kernel.weights[1:], start=kernel.weights[0]) == 1


def test_all_kernels_of_five_secrets_at_an_irrational_level_are_weighed_in_seconds_of_the_processor() -> None:
    start = time.process_time()
    assert sum(1 for _ in kernels(parse_space("discrete:5"), epsilon(1))) == 1291
    assert time.process_time() - start < 4  # 0.4 on an idle machine


def test_numbers_too_long_for_doubles_are_weighed_one_by_one() -> None:
    region = posterior_region(line(5), alpha("97/100"))
    kinds = {masses.dtype for _, masses in kernel_arrays(region)}
    assert kinds == {np.dtype(np.int64), np.dtype(object)}
    assert sum(len(sets) for sets, _ in kernel_arrays(region)) == count_kernels(line(5), alpha("97/100"))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=3, max_size=7))
def test_residues_prove_dependence_exactly(columns: list[list[int]]) -> None:
    triples = list(combinations(range(len(columns)), 3))
    exact = [exact_determinant([[Fraction(v) for v in columns[k]] for k in triple]) == 0 for triple in triples]
    assert are_dependent(columns, np.array(triples)).tolist() == exact


def test_a_multiple_of_the_first_prime_is_not_taken_for_zero() -> None:
    prime = next(primes())
    assert are_dependent([[prime, 0], [0, 1]], np.array([[0, 1]])).tolist() == [False]
    assert are_dependent([[prime, prime], [1, 1]], np.array([[0, 1]])).tolist() == [True]


@given(st.integers(2, 5), st.integers(3, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_circuits_of_any_positive_columns_are_those_of_all_sets(size: int, count: int, data: st.DataObject) -> None:
    """Not only vertices of regions: columns with repeats, multiples and many dependencies."""
    entries = st.sampled_from([Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2)])
    columns = [tuple(data.draw(entries) for _ in range(size)) for _ in range(count)]
    circuits = {tuple(circuit) for sets in positive_circuits(vertex_columns(columns)) for circuit in sets.tolist()}
    region = PosteriorRegion(line(size), HALF, tuple(columns))
    assert circuits == circuits_by_elimination(region)
    assert len(circuits) == count_circuits(vertex_columns(columns))


def circuits_by_elimination(region: PosteriorRegion) -> set[tuple[int, ...]]:
    """Minimal sets with a positive solution of Σ λ·column = 1·μ, by exact elimination over fractions."""
    circuits = set()
    ones = (Fraction(-1),) * len(region.space)
    for width in range(1, len(region.space) + 1):
        for subset in combinations(range(len(region.columns)), width):
            columns = [region.columns[v] for v in subset]
            solution = null_vector([*columns, ones]) if null_vector(columns) is None else None
            if solution is not None and all(sign(value) > 0 for value in solution):
                circuits.add(subset)
    return circuits


def test_a_hyperplane_that_is_not_in_general_position_is_replaced() -> None:
    """Rows that ignore all but one coordinate hold rays that do not vanish; the next attempt is taken."""
    from unittest.mock import patch

    def lazy(size: int, step: int, attempt: int) -> tuple[int, ...]:
        return tuple(int(x == step) for x in range(size)) if attempt == 0 else generic_row(size, step, attempt)

    with patch("utmost.polytopes.positive_circuits.generic_row", lazy):
        assert count_circuits(vertex_columns(posterior_region(parse_space("discrete:5"), HALF).columns)) == 1291
        assert count_circuits(RealColumns(posterior_region(parse_space("discrete:4"), HALF).columns)) == 41


def test_the_second_method_refuses_more_than_63_vertices() -> None:
    points: Space = line(8)
    with pytest.raises(InputError, match="at most 63 vertices"):
        kernels_by_description(points, HALF)


@pytest.mark.parametrize(("level", "vertices"), [(alpha(0), 9), (alpha(1), 1)])
def test_at_levels_zero_and_one_the_kernel_is_a_private_channel(level: Level, vertices: int) -> None:
    points = parse_space("grid:3x3")
    (kernel,) = kernels(points, level)
    assert count_kernels(points, level) == count_kernels(parse_space("hamming:40"), level) == 1
    assert len(kernel.columns) == vertices
    assert all(sum(row) == 1 for row in kernel.channel().rows)
    assert is_kernel_mechanism(kernel.channel(), points, level)


def test_a_region_that_is_too_large_is_refused_at_every_level() -> None:
    for level in (alpha(0), HALF, alpha(1)):
        with pytest.raises(InputError, match="at most 4096 can be written out"):
            posterior_region(parse_space("cycle:100000"), level)
