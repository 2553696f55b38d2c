from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lp.programs import small_fractions
from utmost.lp.elimination import eliminate, null_vector, particular_solution
from utmost.lp.linear_program import to_fmpq, to_fmpqs, to_fraction

Entries = list[tuple[int, int, Fraction]]


@st.composite
def sparse_systems(draw: Any, max_size: int = 7) -> tuple[int, int, Entries]:
    height, width = draw(st.integers(1, max_size)), draw(st.integers(1, max_size))
    positions = [(r, c) for r in range(height) for c in range(width)]
    return height, width, [(r, c, draw(small_fractions)) for r, c in positions if draw(st.integers(0, 2))]


def flint_matrix(height: int, width: int, entries: Entries) -> fmpq_mat:
    matrix = fmpq_mat(height, width)
    for r, c, v in entries:
        matrix[r, c] = matrix[r, c] + to_fmpq(v)
    return matrix


def row_products(entries: Entries, x: list[Fraction], height: int) -> list[Fraction]:
    products = [Fraction(0)] * height
    for r, c, v in entries:
        products[r] += v * x[c]
    return products


def solve_sparse(rows: Any, columns: Any, values: Any, size: int, rhs: list[Fraction]) -> list[Fraction] | None:
    solution = eliminate(list(zip(rows, columns, to_fmpqs(values), strict=True)), size, to_fmpqs(rhs))
    return None if solution is None else [to_fraction(value) for value in solution]


@settings(max_examples=200, deadline=None)
@given(sparse_systems(), st.lists(small_fractions, min_size=7, max_size=7))
def test_the_solution_solves_and_is_missing_only_for_singular_matrices(
    system: tuple[int, int, Entries], rhs: list[Fraction]
) -> None:
    size = max(system[:2])
    x = solve_sparse(*map(list, zip(*system[2], strict=True)), size, rhs[:size]) if system[2] else None
    assert (x is None) == (flint_matrix(size, size, system[2]).det() == 0)
    assert x is None or row_products(system[2], x, size) == rhs[:size]


@settings(max_examples=200, deadline=None)
@given(sparse_systems())
def test_a_null_vector_is_in_the_kernel_and_is_missing_only_at_full_column_rank(
    system: tuple[int, int, Entries],
) -> None:
    height, width, entries = system
    d = null_vector([(r, c, to_fmpq(v)) for r, c, v in entries], height, width)
    assert (d is None) == (flint_matrix(height, width, entries).rank() == width)
    if d is not None:
        assert any(d)
        exact = [Fraction(int(v.p), int(v.q)) for v in d]
        assert row_products(entries, exact, height) == [0] * height


@settings(max_examples=200, deadline=None)
@given(
    sparse_systems(),
    st.lists(small_fractions, min_size=7, max_size=7),
    st.lists(small_fractions, min_size=7, max_size=7),
)
def test_a_particular_solution_solves_and_is_missing_only_for_contradictions(
    system: tuple[int, int, Entries], rhs: list[Fraction], weight: list[Fraction]
) -> None:
    height, width, entries = system
    lines: dict[int, dict[int, fmpq]] = {r: {} for r in range(height)}
    for r, c, v in entries:
        lines[r][c] = to_fmpq(v)
    solution = particular_solution(lines, {r: to_fmpq(rhs[r]) for r in range(height)}, [to_fmpq(w) for w in weight])
    augmented = flint_matrix(height, width + 1, [*entries, *((r, width, rhs[r]) for r in range(height))])
    assert (solution is None) == (augmented.rank() > flint_matrix(height, width, entries).rank())
    if solution is not None:
        x = [Fraction(int(solution[c].p), int(solution[c].q)) if c in solution else Fraction(0) for c in range(width)]
        assert row_products(entries, x, height) == rhs[:height]


def test_ten_thousand_two_entry_rows_around_a_dense_core_are_solved() -> None:
    size, core_size = 10_000, 40
    entries: Entries = [(r, c, Fraction(1 + (r * c + r) % 11)) for r in range(core_size) for c in range(core_size)]
    entries += [(r, r, Fraction(1)) for r in range(core_size)]
    for r in range(core_size, size):
        entries += [(r, r, Fraction(1)), (r, (r * 7919) % r, Fraction(-1, 2))]
        entries += [(r % core_size, r, Fraction(1, 3))]
    rows, columns, values = (list(column) for column in zip(*entries, strict=True))
    rhs = [Fraction(r % 5) for r in range(size)]
    x = solve_sparse(rows, columns, values, size, rhs)
    assert x is not None
    assert row_products(entries, x, size) == rhs
