"""The exact vertex a basis stands for.

A basis names tight rows and basic columns, equally many. Its basic solution is x = 0 off the basic columns and
A x = rhs on the tight rows; its multipliers are y = 0 off the tight rows and cost − Aᵀ y = 0 on the basic columns. When
both are feasible they are optimal: their objectives agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from utmost.errors import SolverError
from utmost.lp.elimination import eliminate
from utmost.lp.linear_program import LinearProgram
from utmost.lp.rationals import ZERO, Rational
from utmost.lp.solver import Flags

PrimalDualPair: TypeAlias = tuple[list[Rational], list[Rational]]


@dataclass(frozen=True, slots=True)
class Basis:
    """Which columns and which rows (their slacks) are basic."""

    columns: Flags
    rows: Flags

    def key(self) -> bytes:
        """Equal for equal bases of one program."""
        return self.columns.tobytes() + self.rows.tobytes()


@dataclass(frozen=True, slots=True)
class BasisMatrix:
    """The matrix of a basis: tight rows by basic columns."""

    program: LinearProgram
    basis: Basis
    tight: list[int]
    basic: list[int]
    entries: list[tuple[int, int, Rational]]

    def vertex(self) -> PrimalDualPair | None:
        """The basic solution x and its multipliers y, exact; None if the matrix is singular."""
        x = eliminate(self.entries, len(self.tight), [self.program.targets[r] for r in self.tight])
        if x is None:
            return None
        y = eliminate(self._transposed(), len(self.tight), [self.program.costs[c] for c in self.basic])
        if y is None:
            return None
        return _scatter(x, self.basic, self.program.shape[1]), _scatter(y, self.tight, self.program.shape[0])

    def primal(self, rhs: Mapping[int, Rational]) -> list[Rational]:
        """The x on basic columns with A x = rhs on tight rows; rows not in `rhs` have 0."""
        return _scatter(
            _solve_regular(self.entries, [rhs.get(r, ZERO) for r in self.tight]), self.basic, self.program.shape[1]
        )

    def dual(self, cost: Mapping[int, Rational]) -> list[Rational]:
        """The y on tight rows with Aᵀ y = cost on basic columns; columns not in `cost` have 0."""
        return _scatter(
            _solve_regular(self._transposed(), [cost.get(c, ZERO) for c in self.basic]),
            self.tight,
            self.program.shape[0],
        )

    def _transposed(self) -> list[tuple[int, int, Rational]]:
        return [(c, r, v) for r, c, v in self.entries]


def basis_matrix(program: LinearProgram, basis: Basis) -> BasisMatrix | None:
    """The matrix of `basis`; None if it is not square."""
    tight, basic = np.flatnonzero(~basis.rows).tolist(), np.flatnonzero(basis.columns).tolist()
    if len(tight) != len(basic):
        return None
    row_position = {r: k for k, r in enumerate(tight)}
    column_position = {c: k for k, c in enumerate(basic)}
    entries = [
        (row_position[r], column_position[c], v)
        for r, c, v in program.entries
        if r in row_position and c in column_position
    ]
    return BasisMatrix(program, basis, tight, basic, entries)


def basic_solution(program: LinearProgram, basis: Basis) -> PrimalDualPair | None:
    """The basic solution x and its multipliers y, exact; None if the basis is not one (singular, or not square)."""
    matrix = basis_matrix(program, basis)
    return None if matrix is None else matrix.vertex()


def _solve_regular(entries: list[tuple[int, int, Rational]], rhs: list[Rational]) -> list[Rational]:
    solution = eliminate(entries, len(rhs), rhs)
    if solution is None:
        raise SolverError("basis must be regular, got a singular one: start from another guess")
    return solution


def _scatter(values: list[Rational], positions: list[int], size: int) -> list[Rational]:
    vector = [ZERO] * size
    for position, value in zip(positions, values, strict=True):
        vector[position] = value
    return vector
