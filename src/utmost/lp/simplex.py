"""Simplex steps in exact arithmetic, for a basis that is almost optimal.

Bland's rule (lowest index enters, lowest index leaves among ties), columns numbered before rows: no basis comes twice,
so the steps end. Each step solves sparse exact systems, so this is meant for the last few.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from utmost.errors import InfeasibleError, SolverError
from utmost.lp.basis import Basis, BasisMatrix, PrimalDualPair, basis_matrix
from utmost.lp.feasibility import dual_fault, primal_fault
from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, row_products
from utmost.lp.rationals import ONE, ZERO, Rational

# Steps allowed: MIN_STEPS + STEP_WORK/(rows + columns).
MIN_STEPS = 20
STEP_WORK = 100_000


@dataclass(frozen=True, slots=True)
class _Vertex:
    """A basis with its exact solution and multipliers, and what the constraints leave over at them."""

    program: LinearProgram
    matrix: BasisMatrix
    x: list[Rational]
    y: list[Rational]
    slack: list[Rational]
    reduced: list[Rational]


def pivot_to_optimum(program: LinearProgram, basis: Basis) -> PrimalDualPair | None:
    """An optimal pair x, y reached from `basis` by exact steps; None if it is feasible on neither side or far away.

    Primal steps from a feasible x, dual steps from a feasible y. Raises SolverError where the program is proved
    unbounded, InfeasibleError where it is proved infeasible.
    """
    optimum = _pivot_to_optimal_basis(program, basis)
    return None if optimum is None else optimum[1]


def two_phase_simplex(program: LinearProgram) -> PrimalDualPair | None:
    """An optimal pair of a small program without any float: the simplex method in two phases; None if it is large.

    With the costs max(cost, 0) the basis of all slacks is dual feasible, so dual steps lead to a feasible vertex (or
    prove that there is none), and from there primal steps with the true costs to an optimal one. Raises as
    `pivot_to_optimum`.
    """
    count, width = program.shape
    if (count + width) ** 2 > STEP_WORK:
        return None
    slack_basis = Basis(np.zeros(width, dtype=bool), np.ones(count, dtype=bool))
    relaxed = replace(program, cost=[max(c, Fraction(0)) for c in program.cost])
    optimum = _pivot_to_optimal_basis(relaxed, slack_basis)
    return None if optimum is None else pivot_to_optimum(program, optimum[0])


def _pivot_to_optimal_basis(program: LinearProgram, basis: Basis) -> tuple[Basis, PrimalDualPair] | None:
    """The optimal basis and its pair that exact steps from `basis` reach."""
    for _ in range(MIN_STEPS + STEP_WORK // (1 + sum(program.shape))):
        matrix = basis_matrix(program, basis)
        pair = None if matrix is None else matrix.vertex()
        if matrix is None or pair is None:
            return None
        primal_feasible = primal_fault(program, pair[0]) is None
        dual_feasible = not dual_fault(program, pair[1], trust_upper=False)
        if primal_feasible and dual_feasible:
            return basis, pair
        if not (primal_feasible or dual_feasible):
            return None
        vertex = _vertex(program, matrix, *pair)
        basis = _exchange_member(basis, *(_primal_step(vertex) if primal_feasible else _dual_step(vertex)))
    return None


def _vertex(program: LinearProgram, matrix: BasisMatrix, x: list[Rational], y: list[Rational]) -> _Vertex:
    slack = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    return _Vertex(program, matrix, x, y, slack, flint_reduced_costs(program, y))


def _exchange_member(basis: Basis, entering: int, leaving: int) -> Basis:
    """The basis with one member exchanged; members are columns, then rows."""
    flags = np.concatenate([basis.columns, basis.rows])
    flags[entering], flags[leaving] = True, False
    return Basis(flags[: len(basis.columns)], flags[len(basis.columns) :])


def _primal_step(vertex: _Vertex) -> tuple[int, int]:
    """(entering, leaving) for a feasible x: along an edge that lowers the cost, as far as feasibility goes."""
    program, width = vertex.program, vertex.program.shape[1]
    improving_columns = (j for j, d in enumerate(vertex.reduced) if d < 0 and not vertex.matrix.basis.columns[j])
    improving_slacks = (width + r for r in vertex.matrix.tight if vertex.y[r] < 0 and not program.equality[r])
    entering = next(improving_columns, None)
    entering = next(improving_slacks) if entering is None else entering
    direction = _primal_edge(vertex, entering)
    change = row_products(program, direction)
    ratios = [(-vertex.x[c] / direction[c], c) for c in vertex.matrix.basic if direction[c] < 0]
    for r in np.flatnonzero(vertex.matrix.basis.rows).tolist():
        if program.equality[r] and change[r]:
            ratios.append((ZERO, width + r))
        elif change[r] < 0:
            ratios.append((-vertex.slack[r] / change[r], width + r))
    if not ratios:
        raise SolverError("program must have a finite optimum, got one without a lower bound: bound its variables")
    return entering, min(ratios)[1]


def _primal_edge(vertex: _Vertex, entering: int) -> list[Rational]:
    """How x moves when the entering column, or the slack of the entering row, grows by one."""
    width = vertex.program.shape[1]
    if entering >= width:
        return vertex.matrix.primal({entering - width: ONE})
    column: dict[int, Rational] = {}
    for r, c, v in vertex.program.entries:
        if c == entering:
            column[r] = column.get(r, ZERO) - v
    edge = vertex.matrix.primal(column)
    edge[entering] = ONE
    return edge


def _dual_step(vertex: _Vertex) -> tuple[int, int]:
    """(entering, leaving) for a feasible y: the first violated member leaves, its multiplier grows while y stays so."""
    program, width = vertex.program, vertex.program.shape[1]
    leaving = _first_violated_member(vertex)
    direction = _dual_edge(vertex, leaving)
    change = [d - c for d, c in zip(flint_reduced_costs(program, direction), program.costs, strict=True)]
    columns = np.flatnonzero(~vertex.matrix.basis.columns).tolist()
    ratios = [(-vertex.reduced[c] / change[c], c) for c in columns if change[c] < 0 and c != leaving]
    tight = [r for r in vertex.matrix.tight if not program.equality[r] and direction[r] < 0]
    ratios += [(-vertex.y[r] / direction[r], width + r) for r in tight]
    if not ratios:
        raise InfeasibleError("program has no feasible point, proved by exact dual steps: relax its constraints")
    return min(ratios)[1], leaving


def _first_violated_member(vertex: _Vertex) -> int:
    """The first basic column below 0, else the first basic row that violates its right-hand side."""
    width = vertex.program.shape[1]
    negative_columns = (c for c in vertex.matrix.basic if vertex.x[c] < 0)
    rows: Iterable[int] = np.flatnonzero(vertex.matrix.basis.rows).tolist()
    violated_rows = (width + r for r in rows if vertex.slack[r] < 0 or (vertex.program.equality[r] and vertex.slack[r]))
    column = next(negative_columns, None)
    return next(violated_rows) if column is None else column


def _dual_edge(vertex: _Vertex, leaving: int) -> list[Rational]:
    """How y moves when the leaving column's reduced cost, or the leaving row's multiplier, grows by one.

    For an equality row that is exceeded the multiplier falls by one instead.
    """
    width = vertex.program.shape[1]
    if leaving < width:
        return vertex.matrix.dual({leaving: -ONE})
    row = leaving - width
    sign = -ONE if vertex.slack[row] > 0 else ONE
    line: dict[int, Rational] = {}
    for r, c, v in vertex.program.entries:
        if r == row:
            line[c] = line.get(c, ZERO) - sign * v
    edge = vertex.matrix.dual(line)
    edge[row] = sign
    return edge
