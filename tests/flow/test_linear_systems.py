"""Exact linear algebra over the numbers of channels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import channels
from utmost.channel.channel import matrix_product
from utmost.exact import Real, epsilon, exponential, power
from utmost.mechanisms import geometric
from utmost.qif.exact_algebra import (
    add_exact,
    common_field,
    has_irrational,
    independent_columns,
    is_solvable,
    object_matrix,
    rational_approximation,
    solve_system,
)

ROOT = power(2, Fraction(1, 2))


@st.composite
def numbers(draw):
    """Quotients of short sums of c·e^q·√k, q of few denominators."""
    exponents, roots = (Fraction(0), Fraction(1, 2), Fraction(-1, 3), Fraction(2)), (1, 2, 3)

    def term_sum():
        terms = st.tuples(st.integers(-5, 5), st.sampled_from(exponents), st.sampled_from(roots))
        sample = draw(st.lists(terms, max_size=3))
        return sum((c * exponential(q) * power(k, Fraction(1, 2)) for c, q, k in sample), Fraction(0))

    numerator, denominator = term_sum(), term_sum()
    return numerator / denominator if denominator else numerator


@settings(max_examples=60)
@given(numbers(), numbers())
def test_calculating_with_ratios_is_calculating_with_the_numbers(left, right):
    field = common_field([left, right])
    a, b = field.ratio(left), field.ratio(right)
    assert (field.number(a), field.number(a + b), field.number(a - b)) == (left, left + right, left - right)
    assert field.number(a * b) == left * right
    assert not right or field.number(a / b) == left / right
    assert bool(a) == bool(left)


@settings(max_examples=60)
@given(st.lists(numbers(), max_size=6))
def test_a_sum_in_the_field_is_the_sum(values):
    assert add_exact(values) == sum(values, Fraction(0))


def test_powers_with_roots_in_the_exponent_come_back():
    values = [exponential(-ROOT), power(3, -ROOT), exponential(Fraction(-1, 3)) + ROOT, Fraction(2, 7)]
    field = common_field(values)
    assert [field.number(field.ratio(value)) for value in values] == values


@pytest.mark.parametrize("bits", [20, 64, 200])
def test_fractions_substituted_for_powers_are_close_and_keep_the_row_sums(bits):
    rows = geometric(4, epsilon("0.3")).channel().rows
    (approximation,) = rational_approximation(bits, rows)
    assert not has_irrational(approximation)
    assert all(row.sum() == 1 for row in approximation)
    assert np.abs(approximation.astype(float) - rows.astype(float)).max() < max(1e-15, 2.0 ** (4 - bits))


@settings(max_examples=40)
@given(channels(4, 3))
def test_the_solution_of_an_irrational_system_is_found(solution):
    left = geometric(3, epsilon("0.2")).channel().rows
    result = solve_system(left, matrix_product(left, solution.rows))
    assert np.all(result == solution.rows)


def test_an_overdetermined_system_is_solved_or_refused():
    left = geometric(2, epsilon("1")).channel().rows[:, :2]
    right = matrix_product(left, object_matrix([[Fraction(1, 3)], [exponential(1)]]))
    assert solve_system(left, right)[1, 0] == exponential(1)
    broken = right.copy()
    broken[2, 0] = broken[2, 0] + 1
    assert solve_system(left, broken) is None
    assert (
        solve_system(object_matrix([[Fraction(1)], [Fraction(2)]]), object_matrix([[Fraction(1)], [Fraction(1)]]))
        is None
    )


def test_dependent_columns_are_seen_through_irrational_entries():
    rows = geometric(2, epsilon("0.1")).channel().rows
    wide = np.hstack([rows[:, :2], (rows[:, 0] + rows[:, 1] * exponential(1))[:, None], rows[:, 2:]])
    assert independent_columns(wide) == [0, 1, 3]
    assert solve_system(wide[:, :3], rows) is None
    assert (
        solve_system(object_matrix([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]), object_matrix([[1], [2]]))
        is None
    )


def test_a_denominator_that_vanishes_as_a_number_is_no_solution():
    """2^(1/2) is free only as a variable: its square less 2 is 0."""
    left = object_matrix([[ROOT, Fraction(2)], [Fraction(1), ROOT]])
    assert isinstance(left[0, 0], Real)
    assert solve_system(left, object_matrix([[Fraction(1)], [Fraction(1)]])) is None


def test_many_unknowns_are_solved_where_few_powers_are_involved():
    rows = geometric(9, epsilon("0.1")).channel().rows
    assert is_solvable(rows, rows)
    several = rows.copy()
    for k, base in enumerate((2, 3, 5)):
        several[k, k] = several[k, k] + power(base, Fraction(1, 2))
    assert not is_solvable(several, rows)


def test_powers_without_a_common_measure_are_added_and_approximated_one_by_one():
    values = [exponential(Fraction(1, 997)), exponential(Fraction(1, 991)), exponential(Fraction(1, 983))]
    assert common_field(values) is None
    assert add_exact(values) == sum(values)
    (approximation,) = rational_approximation(64, object_matrix([values]))
    assert np.allclose(approximation.astype(float), [[float(value) for value in values]], rtol=1e-15)
    assert solve_system(object_matrix([values]).T, object_matrix([values]).T) is None
    assert not is_solvable(object_matrix([values]), object_matrix([values]))
