from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from solve.programs import best_loss, count_program, parma, small_programs, uniform
from utmost.errors import InfeasibleError, SolverError
from utmost.solve import Program
from utmost.solve.basis import Basis
from utmost.solve.feasibility import bound, objective
from utmost.solve.pivoting import from_scratch, pivoted
from utmost.solve.rational import fraction


def slack_basis(program: Program) -> Basis:
    return Basis(np.zeros(program.shape[1], dtype=bool), np.ones(program.shape[0], dtype=bool))


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_exact_steps_from_the_slack_basis_end_at_the_optimum(program: Program) -> None:
    status, value = parma(program)
    try:
        pair = pivoted(program, slack_basis(program))
    except InfeasibleError:
        assert status == "unfeasible"
    except SolverError:
        assert status == "unbounded"
    else:
        assert pair is None or fraction(objective(program, pair[0])) == value


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_no_float_solver_is_needed_for_small_programs(program: Program) -> None:
    status, value = parma(program)
    if status == "optimized":
        pair = from_scratch(program)
        assert pair is not None
        assert fraction(objective(program, pair[0])) == fraction(bound(program, pair[1])) == value
    else:
        with pytest.raises(InfeasibleError if status == "unfeasible" else SolverError):
            from_scratch(program)


def test_large_programs_are_not_solved_from_scratch() -> None:
    assert from_scratch(count_program(16, Fraction(1, 2), uniform(16), scaled=False)) is None


def test_dual_steps_solve_a_count_program_from_scratch() -> None:
    alpha = Fraction(1, 2)
    program = count_program(3, alpha, uniform(3), scaled=False)
    pair = pivoted(program, slack_basis(program))
    assert pair is not None
    assert fraction(objective(program, pair[0])) == best_loss(3, alpha, uniform(3))


def test_unbounded_and_infeasible_programs_are_proved_so() -> None:
    unbounded = Program([-1], [0], [0], [1], [0], [False])
    with pytest.raises(SolverError, match="lower bound"):
        pivoted(unbounded, slack_basis(unbounded))
    empty = Program([1], [0], [0], [-1], [1], [False])
    with pytest.raises(InfeasibleError, match="exact dual steps"):
        pivoted(empty, slack_basis(empty))


def test_a_basis_that_is_not_square_is_no_start() -> None:
    program = count_program(3, Fraction(1, 2), uniform(3), scaled=False)
    nothing = Basis(np.zeros(program.shape[1], dtype=bool), np.zeros(program.shape[0], dtype=bool))
    assert pivoted(program, nothing) is None
