"""Infeasibility, certified in exact arithmetic.

Farkas: A x (=, >=) rhs, x >= 0 has no solution exactly when some y, >= 0 on the inequality rows, has Aᵀ y <= 0 and
rhs·y > 0; for then 0 >= y·Ax >= rhs·y > 0 would hold of any solution x.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import SolverError
from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, flint_vector
from utmost.lp.optimum import certified_optimum
from utmost.lp.rationals import dot_product


@dataclass(frozen=True, slots=True)
class Farkas:
    """Multipliers y that contradict every feasible point."""

    y: tuple[Fraction, ...]

    def check(self, program: LinearProgram) -> bool:
        """Whether y proves, exactly, that `program` has no feasible point."""
        y = flint_vector("y", self.y, program.shape[0])
        has_valid_signs = all(equal or value >= 0 for value, equal in zip(y, program.equality.tolist(), strict=True))
        costs_and_reduced = zip(program.costs, flint_reduced_costs(program, y), strict=True)
        return (
            has_valid_signs
            and all(cost <= reduced for cost, reduced in costs_and_reduced)
            and dot_product(program.targets, y) > 0
        )


def infeasibility(program: LinearProgram) -> Farkas | None:
    """A checked Farkas certificate of `program`; None when it is proved to have a feasible point.

    Phase one, minimise the sum of artificial variables, is feasible and >= 0; its optimum is positive exactly when the
    program is infeasible, and then its multipliers are the certificate. SolverError if neither side can be certified.
    """
    phase = phase_one(program)
    certificate = certified_optimum(phase)
    proof = Farkas(certificate.proof.y)
    if proof.check(program):
        return proof
    if certificate.upper == 0:
        return None
    raise SolverError("feasibility must be decided by phase one, got a gap across 0: give the program a scale")


def phase_one(program: LinearProgram) -> LinearProgram:
    """Minimise Σ t subject to A x + t >= rhs (inequalities), A x + t⁺ − t⁻ = rhs (equalities), all >= 0.

    Columns: x, one t a row, one t⁻ for each equality. A dual feasible y has Aᵀ y <= 0 and y >= 0 on inequalities.
    """
    count, width = program.shape
    equality_rows = np.flatnonzero(program.equality)
    all_rows = np.arange(count)
    artificial_count = count + len(equality_rows)
    unit = Fraction(1)
    return LinearProgram(
        cost=[Fraction(0)] * width + [unit] * artificial_count,
        rows=np.concatenate([program.rows, all_rows, equality_rows]),
        columns=np.concatenate([program.columns, width + np.arange(artificial_count)]),
        values=np.array([*program.values, *[unit] * count, *[-unit] * len(equality_rows)], dtype=object),
        rhs=program.rhs,
        equality=program.equality,
        scale=None if program.scale is None else [*program.scale, *[unit] * artificial_count],
    )
