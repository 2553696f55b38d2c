from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lp.programs import best_loss, count_program, geometric, ppl_optimum, small_programs, uniform
from utmost.errors import InfeasibleError, SolverError
from utmost.lp import LinearProgram, SolverGuess, certified_optimum, certify_guess, solve, verify_certificate

HALF = Fraction(1, 2)
TINY = Fraction(1, 10**30)


@pytest.mark.few
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("n", [*range(3, 21), 40])
def test_the_certified_optimum_is_the_remapped_geometric_loss(n: int, scaled: bool) -> None:
    certificate = certified_optimum(count_program(n, HALF, uniform(n), scaled=scaled))
    assert certificate.exact
    assert certificate.upper == best_loss(n, HALF, uniform(n))


@pytest.mark.parametrize("n", [30, *(pytest.param(n, marks=pytest.mark.slow) for n in (60, 70))])
def test_a_large_scaled_count_program_closes_to_the_last_digit(n: int) -> None:
    assert certified_optimum(count_program(n, HALF, uniform(n), scaled=True)).lower == best_loss(n, HALF, uniform(n))


@settings(max_examples=25, deadline=None)
@given(
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=30),
    st.lists(st.integers(0, 30), min_size=3, max_size=11).filter(any),
    st.booleans(),
)
def test_any_prior_and_level_give_the_remapped_geometric_loss(
    alpha: Fraction, weights: list[int], scaled: bool
) -> None:
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    certificate = certified_optimum(count_program(len(prior) - 1, alpha, prior, scaled=scaled))
    assert certificate.upper == certificate.lower == best_loss(len(prior) - 1, alpha, prior)


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_small_programs_agree_with_an_exact_solver(program: LinearProgram) -> None:
    status, value = ppl_optimum(program)
    if status == "optimized":
        certificate = certified_optimum(program)
        assert certificate.upper == certificate.lower == value
    else:
        with pytest.raises(InfeasibleError if status == "unfeasible" else SolverError):
            certified_optimum(program)


@settings(max_examples=200, deadline=None)
@given(small_programs(boxed=True))
def test_bounded_programs_are_either_solved_exactly_or_proved_infeasible(program: LinearProgram) -> None:
    status, value = ppl_optimum(program)
    if status == "optimized":
        assert certified_optimum(program).lower == value
    else:
        with pytest.raises(InfeasibleError):
            certified_optimum(program)


@settings(max_examples=200, deadline=None)
@given(small_programs(boxed=True), st.data())
def test_a_wrong_guess_never_makes_a_wrong_certificate(program: LinearProgram, data: st.DataObject) -> None:
    height, width = program.shape
    flags = data.draw(st.permutations([True] * height + [False] * width))
    floats = st.floats(-10, 10)
    x = np.array(data.draw(st.lists(floats, min_size=width, max_size=width)))
    y = np.array(data.draw(st.lists(floats, min_size=height, max_size=height)))
    guess = SolverGuess(x, y, np.array(flags[:width]), np.array(flags[width:]), "Optimal", 0.0)
    status, value = ppl_optimum(program)
    try:
        certificate = certify_guess(program, guess)
    except InfeasibleError:
        assert status == "unfeasible"
    except SolverError:
        return
    else:
        assert status == "optimized"
        assert value is not None
        assert certificate.lower <= value <= certificate.upper
        assert verify_certificate(program, certificate.proof.x, certificate.proof.y) == certificate
        certificate.check()


def test_a_perturbed_point_or_multiplier_is_refused() -> None:
    program = count_program(5, HALF, uniform(5), scaled=True)
    certificate = certified_optimum(program)
    for k in range(program.shape[1]):
        x = list(certificate.proof.x)
        x[k] += TINY
        with pytest.raises(SolverError, match="row"):
            verify_certificate(program, x, certificate.proof.y)
    equality_rows = [k for k, equal in enumerate(program.equality) if equal]
    for k in equality_rows:
        y = list(certificate.proof.y)
        y[k] += TINY
        with pytest.raises(SolverError, match="reduced cost of variable"):
            verify_certificate(program, certificate.proof.x, y)
    for k in [k for k, v in enumerate(certificate.proof.y) if not v and k not in equality_rows]:
        y = list(certificate.proof.y)
        y[k] -= TINY
        with pytest.raises(SolverError, match=f"multiplier of inequality row {k} "):
            verify_certificate(program, certificate.proof.x, y)


def test_a_feasible_but_suboptimal_pair_is_accepted_with_its_gap() -> None:
    program = count_program(5, HALF, uniform(5), scaled=True)
    certificate = certified_optimum(program)
    y = list(certificate.proof.y)
    y[-1] -= TINY
    assert verify_certificate(program, certificate.proof.x, y).gap == TINY
    assert not verify_certificate(program, certificate.proof.x, y).exact


def test_negative_points_are_refused_by_name() -> None:
    program = LinearProgram([1], [0], [0], [1], [-1], [False])
    with pytest.raises(SolverError, match="variable 0 must be >= 0"):
        verify_certificate(program, [-TINY], [Fraction(0)])


def test_a_negative_reduced_cost_is_charged_at_the_upper_bound() -> None:
    unbounded = LinearProgram([-1], [0], [0], [-1], [-2], [False])
    with pytest.raises(SolverError, match="reduced cost"):
        verify_certificate(unbounded, [Fraction(2)], [HALF])
    certificate = verify_certificate(replace(unbounded, upper=[Fraction(3)]), [Fraction(2)], [HALF])
    assert (certificate.upper, certificate.lower) == (-2, -1 - Fraction(3, 2))


def test_upper_bounds_that_a_feasible_point_refutes_are_refused() -> None:
    program = LinearProgram([-1], [0], [0], [-1], [-2], [False], upper=[1])
    with pytest.raises(SolverError, match="upper must bound"):
        verify_certificate(program, [Fraction(2)], [Fraction(0)])


def test_without_a_basis_a_repair_still_certifies_a_small_gap() -> None:
    n = 30
    interior = [v for row in geometric(n, Fraction(3, 5)) for v in row]
    program = count_program(n, HALF, uniform(n), scaled=True, interior=interior)
    guess = solve(program)
    without_basis = replace(
        guess, basic_columns=np.zeros_like(guess.basic_columns), basic_rows=np.zeros_like(guess.basic_rows)
    )
    certificate = certify_guess(program, without_basis)
    assert certificate.lower <= best_loss(n, HALF, uniform(n)) <= certificate.upper
    assert certificate.gap < Fraction(1, 10**9)
