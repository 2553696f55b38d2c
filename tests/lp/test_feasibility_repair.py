from __future__ import annotations

from fractions import Fraction

from lp.programs import best_loss, count_program, geometric, uniform
from utmost.lp import LinearProgram, solve
from utmost.lp.certificate import dual_bound, dual_fault, primal_fault, primal_objective
from utmost.lp.guess_repair import dual_repair, primal_repair
from utmost.lp.linear_program import from_double, to_fmpq, to_fraction

HALF = Fraction(1, 2)


def test_float_answers_become_feasible_at_the_price_of_the_tolerance() -> None:
    n = 40
    interior = [v for row in geometric(n, Fraction(3, 5)) for v in row]
    program = count_program(n, HALF, uniform(n), scaled=True, interior=interior)
    guess = solve(program)
    x = primal_repair(program, [from_double(v) for v in guess.x.tolist()])
    y = dual_repair(program, [from_double(v) for v in guess.y.tolist()])
    assert x is not None
    assert primal_fault(program, x) is None
    assert dual_fault(program, y) is None
    lower, upper = to_fraction(dual_bound(program, y)), to_fraction(primal_objective(program, x))
    assert lower <= best_loss(n, HALF, uniform(n)) <= upper < lower + Fraction(1, 10**6)


def test_a_feasible_point_is_unchanged() -> None:
    n = 4
    program = count_program(n, HALF, uniform(n), scaled=False)
    point = [to_fmpq(v) for row in geometric(n, HALF) for v in row]
    assert primal_repair(program, point) == point


def test_without_an_interior_point_a_violated_inequality_stays_unrepaired() -> None:
    program = LinearProgram([1], [0], [0], [1], [1], [False])
    assert primal_repair(program, [to_fmpq(HALF)]) is None


def test_contradicting_equalities_cannot_be_repaired() -> None:
    program = LinearProgram([1], [0, 1], [0, 0], [1, 1], [1, 2], [True, True])
    assert primal_repair(program, [to_fmpq(HALF)]) is None


def test_an_interior_point_on_the_boundary_is_not_enough() -> None:
    program = LinearProgram([1], [0], [0], [1], [1], [False], interior=[1])
    assert primal_repair(program, [to_fmpq(HALF)]) is None


def test_a_packing_row_lifts_negative_reduced_costs() -> None:
    program = LinearProgram([-1, -2], [0, 0], [0, 1], [-1, -1], [-3], [False])
    y = dual_repair(program, [to_fmpq(Fraction(-1))])
    assert dual_fault(program, y) is None
    assert dual_bound(program, y) == -6
