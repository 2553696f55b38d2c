from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from lp.programs import best_loss, count_program, ppl_optimum, small_programs, uniform
from utmost.errors import InfeasibleError, SolverError
from utmost.lp import LinearProgram
from utmost.lp.certificate import dual_bound, primal_objective
from utmost.lp.linear_program import to_fraction
from utmost.lp.simplex import Basis, pivot_to_optimum, two_phase_simplex


def slack_basis(program: LinearProgram) -> Basis:
    return Basis(np.zeros(program.shape[1], dtype=bool), np.ones(program.shape[0], dtype=bool))


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_exact_steps_from_the_slack_basis_end_at_the_optimum(program: LinearProgram) -> None:
    status, value = ppl_optimum(program)
    try:
        pair = pivot_to_optimum(program, slack_basis(program))
    except InfeasibleError:
        assert status == "unfeasible"
    except SolverError:
        assert status == "unbounded"
    else:
        assert pair is None or to_fraction(primal_objective(program, pair[0])) == value


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_no_float_solver_is_needed_for_small_programs(program: LinearProgram) -> None:
    status, value = ppl_optimum(program)
    if status == "optimized":
        pair = two_phase_simplex(program)
        assert pair is not None
        assert to_fraction(primal_objective(program, pair[0])) == to_fraction(dual_bound(program, pair[1])) == value
    else:
        with pytest.raises(InfeasibleError if status == "unfeasible" else SolverError):
            two_phase_simplex(program)


def test_large_programs_are_not_solved_from_scratch() -> None:
    assert two_phase_simplex(count_program(24, Fraction(1, 2), uniform(24), scaled=False)) is None


def test_dual_steps_solve_a_count_program_from_scratch() -> None:
    alpha = Fraction(1, 2)
    program = count_program(3, alpha, uniform(3), scaled=False)
    pair = pivot_to_optimum(program, slack_basis(program))
    assert pair is not None
    assert to_fraction(primal_objective(program, pair[0])) == best_loss(3, alpha, uniform(3))


def test_unbounded_and_infeasible_programs_are_proved_so() -> None:
    unbounded = LinearProgram([-1], [0], [0], [1], [0], [False])
    with pytest.raises(SolverError, match="lower bound"):
        pivot_to_optimum(unbounded, slack_basis(unbounded))
    infeasible = LinearProgram([1], [0], [0], [-1], [1], [False])
    with pytest.raises(InfeasibleError, match="exact dual steps"):
        pivot_to_optimum(infeasible, slack_basis(infeasible))


def test_a_basis_that_is_not_square_is_no_start() -> None:
    program = count_program(3, Fraction(1, 2), uniform(3), scaled=False)
    empty_basis = Basis(np.zeros(program.shape[1], dtype=bool), np.zeros(program.shape[0], dtype=bool))
    assert pivot_to_optimum(program, empty_basis) is None
