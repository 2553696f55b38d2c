from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from lp.programs import count_program, ppl_optimal_set_is_a_point, ppl_optimum, small_programs, uniform
from utmost.errors import InputError, SolverError
from utmost.lp import (
    Certificate,
    LinearProgram,
    ProgramCertificate,
    ProgramProof,
    certified_optimum,
    is_unique,
    verify_certificate,
)


def midpoint(certificate: ProgramCertificate, witness: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple((a + b) / 2 for a, b in zip(certificate.proof.x, witness, strict=True))


@settings(max_examples=300, deadline=None)
@given(small_programs())
def test_uniqueness_is_the_dimension_of_the_optimal_set(program: LinearProgram) -> None:
    if ppl_optimum(program)[0] != "optimized":
        return
    certificate = certified_optimum(program)
    uniqueness = is_unique(program, certificate)
    assert uniqueness.unique == ppl_optimal_set_is_a_point(program, certificate.upper)
    if uniqueness.witness is not None:
        assert uniqueness.witness != certificate.proof.x
        assert verify_certificate(program, uniqueness.witness, certificate.proof.y).exact
        midpoint_certificate = verify_certificate(
            program, midpoint(certificate, uniqueness.witness), certificate.proof.y
        )
        assert not is_unique(program, midpoint_certificate).unique


def test_a_point_inside_an_edge_is_not_unique() -> None:
    program = LinearProgram([0, 0], [0, 0], [0, 1], [1, 1], [1], [True])
    half = (Fraction(1, 2), Fraction(1, 2))
    uniqueness = is_unique(program, verify_certificate(program, half, [Fraction(0)]))
    assert not uniqueness.unique
    assert uniqueness.witness is not None
    assert uniqueness.witness != half
    assert sum(uniqueness.witness) == 1


@pytest.mark.parametrize(("first", "unique"), [(Fraction(1, 3), False), (Fraction(2, 5), True)])
def test_a_count_of_one_has_many_best_mechanisms_when_a_reading_is_a_tie(first: Fraction, unique: bool) -> None:
    """Answer 0 comes from 0 with weight p·2/3 and from 1 with (1 − p)·1/3: both readings are best at p = 1/3 only."""
    program = count_program(1, Fraction(1, 2), [first, 1 - first], scaled=True)
    assert is_unique(program, certified_optimum(program)).unique == unique


def test_the_uniform_consumer_of_a_large_count_is_answered() -> None:
    program = count_program(20, Fraction(1, 2), uniform(20), scaled=True)
    certificate = certified_optimum(program)
    uniqueness = is_unique(program, certificate)
    assert uniqueness.unique or (
        uniqueness.witness is not None and verify_certificate(program, uniqueness.witness, certificate.proof.y).exact
    )


def test_a_certificate_with_a_gap_is_refused() -> None:
    program = count_program(2, Fraction(1, 2), uniform(2), scaled=True)
    certificate = certified_optimum(program)
    with pytest.raises(InputError, match="gap 0"):
        is_unique(program, replace(certificate, lower=certificate.lower - 1))


def test_an_empty_row_that_holds_is_no_other_optimum() -> None:
    program = LinearProgram([1], [], [], [], [0], [False])
    assert is_unique(program, certified_optimum(program)).unique


def test_a_forged_point_is_refused() -> None:
    program = LinearProgram([1, 1], [0, 0], [0, 1], [1, 1], [1], [True])
    proof = ProgramProof(program, (Fraction(2), Fraction(-1)), (Fraction(1),))
    forged = Certificate(Fraction(1), Fraction(1), proof)
    with pytest.raises(SolverError):
        is_unique(program, forged)
