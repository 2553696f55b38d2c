from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lp.programs import count_program, dense_matrix, small_fractions, small_programs, uniform
from utmost.errors import InputError
from utmost.lp import LinearProgram, activity
from utmost.lp.linear_program import flint_reduced_costs, flint_vector, to_fractions

VALID_ARGUMENTS: dict[str, Any] = {
    "cost": [1, 2],
    "rows": [0, 0],
    "columns": [0, 1],
    "values": [1, Fraction(1, 2)],
    "rhs": [1],
    "equality": [True],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cost", [1.0, 2.0]),
        ("values", [1, 0.5]),
        ("values", [1]),
        ("values", [True, False]),
        ("rows", [0, 1]),
        ("rows", [-1, 0]),
        ("rows", [0.0, 0.0]),
        ("rows", [[0, 0]]),
        ("columns", [0, 2]),
        ("columns", [0]),
        ("equality", [True, False]),
        ("rhs", [0.5]),
        ("scale", [1, 0]),
        ("scale", [1]),
        ("upper", [1]),
        ("upper", [1, 0.5]),
        ("interior", [1, None]),
    ],
)
def test_malformed_data_are_refused_naming_the_argument(name: str, value: Any) -> None:
    with pytest.raises(
        InputError, match="rows, columns and values" if len(value) == 1 and name in ("values", "columns") else name
    ):
        LinearProgram(**{**VALID_ARGUMENTS, name: value})


def test_well_formed_data_become_fractions() -> None:
    program = LinearProgram(**VALID_ARGUMENTS, scale=[1, 2], upper=[1, None], interior=[Fraction(1, 2), 1])
    assert all(type(value) is Fraction for value in (*program.cost, *program.values, *program.rhs))
    assert program.shape == (1, 2)
    assert program.upper == (1, None)


def test_vectors_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(InputError, match="x must have 2"):
        activity(LinearProgram(**VALID_ARGUMENTS), [Fraction(1)])
    with pytest.raises(InputError, match="y must have 1"):
        flint_vector("y", [Fraction(1)] * 2, LinearProgram(**VALID_ARGUMENTS).shape[0])


def test_entries_of_equal_position_add_up() -> None:
    program = LinearProgram([0], [0, 0], [0, 0], [1, 2], [1], [True])
    assert activity(program, [Fraction(1)]) == (3,)


@settings(max_examples=50, deadline=None)
@given(
    small_programs(),
    st.lists(small_fractions, min_size=4, max_size=4),
    st.lists(small_fractions, min_size=5, max_size=5),
)
def test_products_are_those_of_the_dense_matrix(program: LinearProgram, x: list[Fraction], y: list[Fraction]) -> None:
    height, width = program.shape
    matrix = np.array(dense_matrix(program), dtype=object).reshape(height, width)
    assert list(activity(program, x[:width])) == list(matrix @ np.array(x[:width], dtype=object))
    expected = np.array(program.cost, dtype=object) - matrix.T @ np.array(y[:height], dtype=object)
    reduced_costs = flint_reduced_costs(program, flint_vector("y", y[:height], height))
    assert list(to_fractions(reduced_costs)) == list(expected)


def test_forty_thousand_non_zeros_are_multiplied_in_well_under_a_second() -> None:
    n = 88
    program = count_program(n, Fraction(1, 2), uniform(n), scaled=False)
    assert len(program.values) > 39_000
    x = [Fraction(k % 7, 8) for k in range(program.shape[1])]
    start = time.perf_counter()
    activity(program, x)
    assert time.perf_counter() - start < 1
