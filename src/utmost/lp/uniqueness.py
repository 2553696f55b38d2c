"""Decide exactly whether the certified optimal point is the only one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError, SolverError
from utmost.lp.certificate import ProgramCertificate, dual_fault, verify_certificate
from utmost.lp.elimination import null_vector
from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, flint_vector, row_products
from utmost.lp.optimum import certified_optimum
from utmost.lp.rationals import ONE, ZERO, Rational, to_fraction, to_fractions
from utmost.lp.solver import Flags


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """Whether an optimal point is the only one; if not, `witness` is another optimal point, exactly feasible."""

    unique: bool
    witness: tuple[Fraction, ...] | None


@dataclass(frozen=True, slots=True)
class _Face:
    """The optimal face at x: per column and row, what is tight at x and what every optimal point keeps tight."""

    program: LinearProgram
    x: list[Rational]
    slack: list[Rational]
    fixed_columns: Flags
    fixed_rows: Flags

    @property
    def loose(self) -> tuple[list[int], list[int]]:
        """Columns and rows that are tight at x without having to be."""
        columns = [j for j, value in enumerate(self.x) if not value and not self.fixed_columns[j]]
        return columns, [r for r, value in enumerate(self.slack) if not value and not self.fixed_rows[r]]


def is_unique(program: LinearProgram, certificate: ProgramCertificate) -> Uniqueness:
    """Whether certificate.proof.x is the only optimal point of `program`; the certificate must have gap 0.

    Complementary slackness: with y optimal, the optimal points are the feasible x' with x'_j = 0 where the reduced
    cost is positive and (A x')_r = rhs_r where y_r > 0. Call these the fixed constraints, and loose the others that
    are tight at x. Another optimal x' = x + d either keeps all loose constraints tight, or not.
    If it does, d is 0 off the support of x and A d = 0 on the tight rows: the columns of the support, cut to the tight
    rows, are dependent; conversely a dependency d gives x + t·d for a small t > 0.
    If it does not, the sum of the loose slacks is positive at x'. That sum, capped at 1, is maximised over the optimal
    face; x has 0, so the maximum is 0 exactly when there is no such x' (capping loses none: points between x and x' are
    optimal too, with sums down to 0). Hence: unique if and only if the columns are independent and the maximum is 0.
    """
    if not certificate.exact:
        raise InputError(
            "certificate must have gap 0, got a positive one: uniqueness is asked of optimal points only", "certificate"
        )
    verify_certificate(program, certificate.proof.x, certificate.proof.y)
    face = _face(program, certificate)
    witness = _witness_keeping_tight(face)
    witness = _witness_loosening(face) if witness is None else witness
    return Uniqueness(witness is None, witness)


def _face(program: LinearProgram, certificate: ProgramCertificate) -> _Face:
    x, y = (
        flint_vector("x", certificate.proof.x, program.shape[1]),
        flint_vector("y", certificate.proof.y, program.shape[0]),
    )
    if dual_fault(program, y, trust_upper=False) is not None:
        raise InputError(
            "certificate must have reduced costs >= 0, got some below: its bound rests on upper bounds", "certificate"
        )
    slack = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    positive_reduced_costs = np.array([value > 0 for value in flint_reduced_costs(program, y)], dtype=bool)
    positive_multipliers = np.array([value > 0 for value in y], dtype=bool)
    return _Face(program, x, slack, positive_reduced_costs, positive_multipliers | program.equality)


def _witness_keeping_tight(face: _Face) -> tuple[Fraction, ...] | None:
    """Another optimal point on which everything tight at x stays so; None if x is a vertex."""
    support = [j for j, value in enumerate(face.x) if value]
    tight = [r for r, value in enumerate(face.slack) if not value]
    column_position, row_position = {j: k for k, j in enumerate(support)}, {r: k for k, r in enumerate(tight)}
    entries = [
        (row_position[r], column_position[c], v)
        for r, c, v in face.program.entries
        if r in row_position and c in column_position
    ]
    null_direction = null_vector(entries, len(tight), len(support))
    if null_direction is None:
        return None
    direction = [null_direction[column_position[j]] if j in column_position else ZERO for j in range(len(face.x))]
    step = _step(face, direction)
    return to_fractions(a + step * d for a, d in zip(face.x, direction, strict=True))


def _step(face: _Face, direction: list[Rational]) -> Rational:
    """A positive t for which x + t·direction keeps every constraint that is not tight at x."""
    pairs = [*zip(face.x, direction, strict=True), *zip(face.slack, row_products(face.program, direction), strict=True)]
    return min((-slack / change for slack, change in pairs if slack and change < 0), default=ONE)


def _witness_loosening(face: _Face) -> tuple[Fraction, ...] | None:
    """Another optimal point at which some loose constraint is slack; None if there is none."""
    columns, rows = face.loose
    if not columns and not rows:
        return None
    program, cost_at_x = _loosening_program(face, columns, rows)
    certificate = certified_optimum(program)
    if certificate.upper < cost_at_x:
        free_values = iter(certificate.proof.x)
        return tuple(Fraction(0) if fixed else next(free_values) for fixed in face.fixed_columns)
    if certificate.lower < cost_at_x:
        raise SolverError("uniqueness must be decided by a program of its own, got a gap across 0: give a scale")
    return None


def _loosening_program(face: _Face, columns: list[int], rows: list[int]) -> tuple[LinearProgram, Fraction]:
    """The program of the optimal face, and a number that its minimum falls short of by min(1, most loose slack)."""
    program, free_columns = face.program, np.flatnonzero(~face.fixed_columns)
    position = {j: k for k, j in enumerate(free_columns.tolist())}
    loose_slack = [Fraction(0)] * len(free_columns)
    for j in columns:
        loose_slack[position[j]] += 1
    entries = [(r, position[c], to_fraction(v)) for r, c, v in program.entries if c in position]
    loose_rows = set(rows)
    for r, c, v in entries:
        loose_slack[c] += v if r in loose_rows else 0
    offset = sum((program.rhs[r] for r in rows), Fraction(0))
    entries += [(program.shape[0], c, -v) for c, v in enumerate(loose_slack) if v]
    return LinearProgram(
        cost=[-v for v in loose_slack],
        rows=np.array([r for r, _, _ in entries], dtype=np.int64),
        columns=np.array([c for _, c, _ in entries], dtype=np.int64),
        values=np.array([v for _, _, v in entries], dtype=object),
        rhs=[*program.rhs, -1 - offset],
        equality=np.append(face.fixed_rows, False),
        scale=None if program.scale is None else [program.scale[j] for j in free_columns.tolist()],
    ), -offset
