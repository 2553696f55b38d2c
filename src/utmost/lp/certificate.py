"""Certificates: bounds of a number with what proves them, in exact arithmetic.

Every optimum here is certified: lower <= optimum <= upper, and a proof from which anyone computes the bounds again: no
solver, no tolerance, no float. For a linear program the proof is a pair of rational vectors. x meets every constraint,
so cost·x is an upper bound; y is feasible for the dual, so rhs·y is a lower bound (weak duality).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, Protocol, TypeAlias, TypeVar

from utmost.errors import SolverError
from utmost.exact import Number
from utmost.lp.linear_program import (
    LinearProgram,
    Rational,
    dot_product,
    flint_reduced_costs,
    flint_vector,
    row_products,
    to_fmpq,
    to_fraction,
    to_fractions,
)
from utmost.result_values import short_repr

NumberT = TypeVar("NumberT", Fraction, Number)
ProofT = TypeVar("ProofT", bound="Proof")


@dataclass(frozen=True, slots=True)
class Bounds:
    """lower and upper, as a proof gives them."""

    lower: Number
    upper: Number


class Proof(Protocol):
    """What proves the bounds of a certificate."""

    @property
    def method(self) -> str:
        """How the bounds are proved, in words: they are proved "by …"."""

    def bounds(self) -> Bounds:
        """The bounds, computed from this proof alone; SolverError where it proves nothing."""


@dataclass(frozen=True, slots=True)
class Certificate(Generic[NumberT, ProofT]):
    """lower <= optimum <= upper in exact arithmetic, and what proves it."""

    __repr__ = short_repr

    lower: NumberT
    upper: NumberT
    proof: ProofT

    @property
    def gap(self) -> NumberT:
        """The difference upper − lower >= 0: how far what attains `upper` can be from optimal."""
        return self.upper - self.lower

    @property
    def exact(self) -> bool:
        """Whether the optimum is known: the gap is 0."""
        return self.upper == self.lower

    def check(self) -> None:
        """Compute the bounds from the proof again; SolverError where it does not prove these."""
        bounds = self.proof.bounds()
        if bounds.lower < self.lower or bounds.upper > self.upper:
            raise SolverError("certificate is not valid: its proof gives wider bounds")


@dataclass(frozen=True, slots=True)
class ProgramProof:
    """A point x that meets the constraints of `program`, and multipliers y of its rows: both rational."""

    program: LinearProgram = field(repr=False)
    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]

    @property
    def method(self) -> str:
        """The multipliers."""
        return "exact multipliers of the linear program"

    def bounds(self) -> Bounds:
        """cost·x and rhs·y, once both vectors are seen to be feasible."""
        certificate = verify_certificate(self.program, self.x, self.y)
        return Bounds(certificate.lower, certificate.upper)


ProgramCertificate: TypeAlias = Certificate[Fraction, ProgramProof]


def verify_certificate(program: LinearProgram, x: Sequence[Fraction], y: Sequence[Fraction]) -> ProgramCertificate:
    """The certificate that x and y make, or a SolverError naming the first row or variable that they violate.

    x must be feasible. y must be >= 0 on inequality rows, with reduced costs d = cost − Aᵀ y >= 0, save where the
    program has an upper bound u_j: there a negative d_j costs d_j·u_j, so lower = rhs·y + Σ_j min(0, d_j)·u_j
    (Neumaier, Shcherbina, Math. Program. 2004). Nothing is assumed of where x and y come from.
    """
    return program_certificate(program, flint_vector("x", x, program.shape[1]), flint_vector("y", y, program.shape[0]))


def program_certificate(program: LinearProgram, x: Sequence[Rational], y: Sequence[Rational]) -> ProgramCertificate:
    """The certificate of a pair in flint's rationals; every one that leaves this package passes here."""
    for fault in (primal_fault(program, x), dual_fault(program, y)):
        if fault is not None:
            raise SolverError(f"certificate is not valid: {fault}")
    upper, lower = primal_objective(program, x), dual_bound(program, y)
    if lower > upper:
        raise SolverError("upper must bound every feasible point, got a dual bound above a feasible cost: correct it")
    proof = ProgramProof(program, to_fractions(x), to_fractions(y))
    return Certificate(to_fraction(lower), to_fraction(upper), proof)


def primal_fault(program: LinearProgram, x: Sequence[Rational]) -> str | None:
    """The first constraint that x violates, as text; None if x is feasible, exactly."""
    for column, value in enumerate(x):
        if value < 0:
            return f"variable {column} must be >= 0, got less"
    rows = zip(row_products(program, x), program.targets, program.equality.tolist(), strict=True)
    for row, (activity, target, equal) in enumerate(rows):
        if equal and activity != target:
            return f"row {row} must equal its right-hand side, got {'more' if activity > target else 'less'}"
        if activity < target:
            return f"row {row} must be at least its right-hand side, got less"
    return None


def dual_fault(program: LinearProgram, y: Sequence[Rational], *, trust_upper: bool = True) -> str | None:
    """The first dual constraint that y violates, as text; None if y is feasible, exactly.

    With `trust_upper`, a column with an upper bound cannot be violated: `dual_bound` charges it instead.
    """
    for row, (value, equal) in enumerate(zip(y, program.equality.tolist(), strict=True)):
        if value < 0 and not equal:
            return f"multiplier of inequality row {row} must be >= 0, got less"
    upper = program.upper if trust_upper and program.upper is not None else [None] * program.shape[1]
    for column, (value, limit) in enumerate(zip(flint_reduced_costs(program, y), upper, strict=True)):
        if value < 0 and limit is None:
            return f"reduced cost of variable {column} must be >= 0, got less"
    return None


def dual_bound(program: LinearProgram, y: Sequence[Rational]) -> Rational:
    """rhs·y + Σ_j min(0, d_j)·upper_j with d = cost − Aᵀ y: a lower bound of the optimum if `dual_fault` is None.

    For feasible x, cost·x = y·Ax + d·x >= rhs·y + Σ_j min(0, d_j)·upper_j. Neumaier, Shcherbina (Math. Program. 2004).
    """
    total = dot_product(program.targets, y)
    if program.upper is None:
        return total
    reduced = zip(flint_reduced_costs(program, y), program.upper, strict=True)
    return sum((value * to_fmpq(limit) for value, limit in reduced if value < 0 and limit is not None), total)


def primal_objective(program: LinearProgram, x: Sequence[Rational]) -> Rational:
    """cost·x."""
    return dot_product(program.costs, x)
