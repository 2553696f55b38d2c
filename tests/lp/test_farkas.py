from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings

from lp.programs import count_program, ppl_optimum, small_programs, uniform
from utmost.errors import InputError
from utmost.lp import Farkas, LinearProgram, infeasibility


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_a_proof_exists_exactly_when_an_exact_solver_finds_no_point(program: LinearProgram) -> None:
    proof = infeasibility(program)
    assert (proof is not None) == (ppl_optimum(program)[0] == "unfeasible")
    assert proof is None or proof.check(program)


def test_a_contradiction_of_one_part_in_ten_to_the_thirty_is_proved() -> None:
    tiny = Fraction(1, 10**30)
    program = LinearProgram([0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], [1, 1 + tiny], [True, True])
    proof = infeasibility(program)
    assert proof is not None
    assert proof.check(program)


def test_a_private_count_exists() -> None:
    assert infeasibility(count_program(8, Fraction(1, 2), uniform(8), scaled=True)) is None


def test_wrong_multipliers_prove_nothing() -> None:
    program = LinearProgram([0], [0, 1], [0, 0], [1, -1], [1, 0], [False, False])
    proof = infeasibility(program)
    assert proof is not None
    for y in ((0, 0), (-1, 1), (1, 0), (0, 1)):
        assert not Farkas(tuple(map(Fraction, y))).check(program)
    with pytest.raises(InputError, match="y must have 2"):
        Farkas((Fraction(1),)).check(program)
