from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

from lp.programs import best_loss, count_program, dense_matrix, small_programs, uniform
from utmost.errors import InfeasibleError, SolverError
from utmost.lp import LinearProgram, certified_optimum, solve

HALF = Fraction(1, 2)
ALL_STATUSES = ("Optimal", "Infeasible", "Unbounded", "Primal infeasible or unbounded")


@settings(max_examples=100, deadline=None)
@given(small_programs())
def test_the_guess_agrees_with_scipy(program: LinearProgram) -> None:
    matrix, rhs = np.array(dense_matrix(program), dtype=float), np.array(program.rhs, dtype=float)
    equal = program.equality
    scipy_result = linprog(
        np.array(program.cost, dtype=float), -matrix[~equal], -rhs[~equal], matrix[equal], rhs[equal], method="highs"
    )
    guess = solve(program, accept=ALL_STATUSES)
    assert (guess.status == "Optimal") == (scipy_result.status == 0)
    if scipy_result.status == 0:
        assert guess.objective == pytest.approx(scipy_result.fun, abs=1e-7)


def test_infeasible_and_unbounded_programs_raise() -> None:
    with pytest.raises(InfeasibleError, match="no feasible point"):
        solve(LinearProgram([1], [0], [0], [1], [-1], [True]))
    with pytest.raises(SolverError, match="finite optimum"):
        solve(LinearProgram([-1], [0], [0], [1], [1], [False]))


def test_a_basis_has_as_many_members_as_rows() -> None:
    program = count_program(6, HALF, uniform(6), scaled=True)
    guess = solve(program)
    assert guess.basic_columns.sum() + guess.basic_rows.sum() == program.shape[0]


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    solve(count_program(4, HALF, uniform(4), scaled=False))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n", [40, pytest.param(60, marks=pytest.mark.slow)])
def test_a_float_answer_can_be_below_the_optimum_and_have_an_infinite_ratio(n: int) -> None:
    program = count_program(n, HALF, uniform(n), scaled=False)
    guess = solve(program)
    assert guess.objective < best_loss(n, HALF, uniform(n)) - Fraction(1, 10**9)
    table = guess.x.reshape(n + 1, n + 1)
    above, below = table[:-1], table[1:]
    assert ((above == 0) & (below > 0)).any() or ((above > 0) & (below == 0)).any()
    assert certified_optimum(program).upper == best_loss(n, HALF, uniform(n))
