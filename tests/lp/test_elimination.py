from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lp.programs import numbers
from utmost.lp.elimination import null_vector, particular_solution, solve_sparse
from utmost.lp.rationals import to_fmpq

Entries = list[tuple[int, int, Fraction]]


@st.composite
def systems(draw: Any, most: int = 7) -> tuple[int, int, Entries]:
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    places = [(r, c) for r in range(height) for c in range(width)]
    return height, width, [(r, c, draw(numbers)) for r, c in places if draw(st.integers(0, 2))]


def matrix(height: int, width: int, entries: Entries) -> fmpq_mat:
    whole = fmpq_mat(height, width)
    for r, c, v in entries:
        whole[r, c] = whole[r, c] + to_fmpq(v)
    return whole


def times(entries: Entries, x: list[Fraction], height: int) -> list[Fraction]:
    total = [Fraction(0)] * height
    for r, c, v in entries:
        total[r] += v * x[c]
    return total


@settings(max_examples=200, deadline=None)
@given(systems(), st.lists(numbers, min_size=7, max_size=7))
def test_the_solution_solves_and_is_missing_only_for_singular_matrices(
    system: tuple[int, int, Entries], rhs: list[Fraction]
) -> None:
    size = max(system[:2])
    x = solve_sparse(*map(list, zip(*system[2], strict=True)), size, rhs[:size]) if system[2] else None
    assert (x is None) == (matrix(size, size, system[2]).det() == 0)
    assert x is None or times(system[2], x, size) == rhs[:size]


@settings(max_examples=200, deadline=None)
@given(systems())
def test_a_kernel_vector_is_one_and_is_missing_only_at_full_column_rank(system: tuple[int, int, Entries]) -> None:
    height, width, entries = system
    d = null_vector([(r, c, to_fmpq(v)) for r, c, v in entries], height, width)
    assert (d is None) == (matrix(height, width, entries).rank() == width)
    if d is not None:
        assert any(d)
        exact = [Fraction(int(v.p), int(v.q)) for v in d]
        assert times(entries, exact, height) == [0] * height


@settings(max_examples=200, deadline=None)
@given(systems(), st.lists(numbers, min_size=7, max_size=7), st.lists(numbers, min_size=7, max_size=7))
def test_a_particular_solution_solves_and_is_missing_only_for_contradictions(
    system: tuple[int, int, Entries], rhs: list[Fraction], weight: list[Fraction]
) -> None:
    height, width, entries = system
    lines: dict[int, dict[int, fmpq]] = {r: {} for r in range(height)}
    for r, c, v in entries:
        lines[r][c] = to_fmpq(v)
    found = particular_solution(lines, {r: to_fmpq(rhs[r]) for r in range(height)}, [to_fmpq(w) for w in weight])
    augmented = matrix(height, width + 1, [*entries, *((r, width, rhs[r]) for r in range(height))])
    assert (found is None) == (augmented.rank() > matrix(height, width, entries).rank())
    if found is not None:
        x = [Fraction(int(found[c].p), int(found[c].q)) if c in found else Fraction(0) for c in range(width)]
        assert times(entries, x, height) == rhs[:height]


def test_ten_thousand_two_entry_rows_around_a_dense_core_collapse() -> None:
    size, core = 10_000, 40
    entries: Entries = [(r, c, Fraction(1 + (r * c + r) % 11)) for r in range(core) for c in range(core)]
    entries += [(r, r, Fraction(1)) for r in range(core)]
    for r in range(core, size):
        entries += [(r, r, Fraction(1)), (r, (r * 7919) % r, Fraction(-1, 2))]
        entries += [(r % core, r, Fraction(1, 3))]
    rows, columns, values = (list(part) for part in zip(*entries, strict=True))
    rhs = [Fraction(r % 5) for r in range(size)]
    x = solve_sparse(rows, columns, values, size, rhs)
    assert x is not None
    assert times(entries, x, size) == rhs
