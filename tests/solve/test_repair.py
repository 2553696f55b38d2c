from __future__ import annotations

from fractions import Fraction

from solve.programs import best_loss, count_program, geometric, uniform
from utmost.solve import Program, solve
from utmost.solve.feasibility import bound, dual_fault, objective, primal_fault
from utmost.solve.rational import dyadic, fraction, quotient
from utmost.solve.repair import dual_repair, primal_repair

HALF = Fraction(1, 2)


def test_float_answers_become_feasible_at_the_price_of_the_tolerance() -> None:
    n = 40
    inside = [v for row in geometric(n, Fraction(3, 5)) for v in row]
    program = count_program(n, HALF, uniform(n), scaled=True, interior=inside)
    guess = solve(program)
    x = primal_repair(program, [dyadic(v) for v in guess.x.tolist()])
    y = dual_repair(program, [dyadic(v) for v in guess.y.tolist()])
    assert x is not None
    assert primal_fault(program, x) is None
    assert dual_fault(program, y) is None
    low, high = fraction(bound(program, y)), fraction(objective(program, x))
    assert low <= best_loss(n, HALF, uniform(n)) <= high < low + Fraction(1, 10**6)


def test_a_feasible_point_is_left_as_it_is() -> None:
    n = 4
    program = count_program(n, HALF, uniform(n), scaled=False)
    point = [quotient(v) for row in geometric(n, HALF) for v in row]
    assert primal_repair(program, point) == point


def test_without_an_interior_point_a_violated_inequality_stays_unrepaired() -> None:
    program = Program([1], [0], [0], [1], [1], [False])
    assert primal_repair(program, [quotient(HALF)]) is None


def test_contradicting_equalities_cannot_be_repaired() -> None:
    program = Program([1], [0, 1], [0, 0], [1, 1], [1, 2], [True, True])
    assert primal_repair(program, [quotient(HALF)]) is None


def test_an_interior_point_on_the_boundary_is_not_enough() -> None:
    program = Program([1], [0], [0], [1], [1], [False], interior=[1])
    assert primal_repair(program, [quotient(HALF)]) is None


def test_a_packing_row_lifts_negative_reduced_costs() -> None:
    program = Program([-1, -2], [0, 0], [0, 1], [-1, -1], [-3], [False])
    y = dual_repair(program, [quotient(Fraction(-1))])
    assert dual_fault(program, y) is None
    assert bound(program, y) == -6
