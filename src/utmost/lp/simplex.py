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
from utmost.lp.basis import Basis, BasisMatrix, Pair, basis_matrix
from utmost.lp.feasibility import dual_fault, primal_fault
from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, row_products
from utmost.lp.rationals import ONE, ZERO, Rational

# Steps allowed: LEAST + WORK/(rows + columns).
LEAST = 20
WORK = 100_000


@dataclass(frozen=True, slots=True)
class _Vertex:
    """A basis with its exact solution and multipliers, and what the constraints leave over at them."""

    program: LinearProgram
    square: BasisMatrix
    x: list[Rational]
    y: list[Rational]
    slack: list[Rational]
    reduced: list[Rational]


def pivot_to_optimum(program: LinearProgram, basis: Basis) -> Pair | None:
    """An optimal pair x, y reached from `basis` by exact steps; None if it is feasible on neither side or far away.

    Primal steps from a feasible x, dual steps from a feasible y. Raises SolverError where the program is proved
    unbounded, InfeasibleError where it is proved infeasible.
    """
    found = _walk(program, basis)
    return None if found is None else found[1]


def two_phase_simplex(program: LinearProgram) -> Pair | None:
    """An optimal pair of a small program without any float: the simplex method in two walks; None if it is large.

    With the costs max(cost, 0) the basis of all slacks is dual feasible, so dual steps lead to a feasible vertex (or
    prove that there is none), and from there primal steps with the true costs to an optimal one. Raises as
    `pivot_to_optimum`.
    """
    count, width = program.shape
    if (count + width) ** 2 > WORK:
        return None
    slacks = Basis(np.zeros(width, dtype=bool), np.ones(count, dtype=bool))
    eased = replace(program, cost=[max(c, Fraction(0)) for c in program.cost])
    found = _walk(eased, slacks)
    return None if found is None else pivot_to_optimum(program, found[0])


def _walk(program: LinearProgram, basis: Basis) -> tuple[Basis, Pair] | None:
    """The optimal basis and its pair that exact steps from `basis` reach."""
    for _ in range(LEAST + WORK // (1 + sum(program.shape))):
        corner = basis_matrix(program, basis)
        pair = None if corner is None else corner.vertex()
        if corner is None or pair is None:
            return None
        fits, bounds = primal_fault(program, pair[0]) is None, not dual_fault(program, pair[1], trust_upper=False)
        if fits and bounds:
            return basis, pair
        if not (fits or bounds):
            return None
        here = _vertex(program, corner, *pair)
        basis = _swapped(basis, *(_primal_step(here) if fits else _dual_step(here)))
    return None


def _vertex(program: LinearProgram, corner: BasisMatrix, x: list[Rational], y: list[Rational]) -> _Vertex:
    slack = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    return _Vertex(program, corner, x, y, slack, flint_reduced_costs(program, y))


def _swapped(basis: Basis, entering: int, leaving: int) -> Basis:
    """The basis with one member exchanged; members are columns, then rows."""
    flags = np.concatenate([basis.columns, basis.rows])
    flags[entering], flags[leaving] = True, False
    return Basis(flags[: len(basis.columns)], flags[len(basis.columns) :])


def _primal_step(here: _Vertex) -> tuple[int, int]:
    """(entering, leaving) for a feasible x: along an edge that lowers the cost, as far as feasibility goes."""
    program, width = here.program, here.program.shape[1]
    lower = (j for j, d in enumerate(here.reduced) if d < 0 and not here.square.basis.columns[j])
    slack = (width + r for r in here.square.tight if here.y[r] < 0 and not program.equality[r])
    entering = next(lower, None)
    entering = next(slack) if entering is None else entering
    along = _edge(here, entering)
    change = row_products(program, along)
    ratios = [(-here.x[c] / along[c], c) for c in here.square.basic if along[c] < 0]
    for r in np.flatnonzero(here.square.basis.rows).tolist():
        if program.equality[r] and change[r]:
            ratios.append((ZERO, width + r))
        elif change[r] < 0:
            ratios.append((-here.slack[r] / change[r], width + r))
    if not ratios:
        raise SolverError("program must have a finite optimum, got one without a lower bound: bound its variables")
    return entering, min(ratios)[1]


def _edge(here: _Vertex, entering: int) -> list[Rational]:
    """How x moves when the entering column, or the slack of the entering row, grows by one."""
    width = here.program.shape[1]
    if entering >= width:
        return here.square.primal({entering - width: ONE})
    column: dict[int, Rational] = {}
    for r, c, v in here.program.entries:
        if c == entering:
            column[r] = column.get(r, ZERO) - v
    edge = here.square.primal(column)
    edge[entering] = ONE
    return edge


def _dual_step(here: _Vertex) -> tuple[int, int]:
    """(entering, leaving) for a feasible y: the first violated member leaves, its multiplier grows while y stays so."""
    program, width = here.program, here.program.shape[1]
    leaving = _violated(here)
    along = _dual_edge(here, leaving)
    change = [d - c for d, c in zip(flint_reduced_costs(program, along), program.costs, strict=True)]
    columns = np.flatnonzero(~here.square.basis.columns).tolist()
    ratios = [(-here.reduced[c] / change[c], c) for c in columns if change[c] < 0 and c != leaving]
    tight = [r for r in here.square.tight if not program.equality[r] and along[r] < 0]
    ratios += [(-here.y[r] / along[r], width + r) for r in tight]
    if not ratios:
        raise InfeasibleError("program has no feasible point, proved by exact dual steps: relax its constraints")
    return min(ratios)[1], leaving


def _violated(here: _Vertex) -> int:
    """The first basic column below 0, else the first basic row that its right-hand side is not met on."""
    width = here.program.shape[1]
    below = (c for c in here.square.basic if here.x[c] < 0)
    rows: Iterable[int] = np.flatnonzero(here.square.basis.rows).tolist()
    missed = (width + r for r in rows if here.slack[r] < 0 or (here.program.equality[r] and here.slack[r]))
    column = next(below, None)
    return next(missed) if column is None else column


def _dual_edge(here: _Vertex, leaving: int) -> list[Rational]:
    """How y moves when the leaving column's reduced cost, or the leaving row's multiplier, grows by one.

    For an equality row that is exceeded the multiplier falls by one instead.
    """
    width = here.program.shape[1]
    if leaving < width:
        return here.square.dual({leaving: -ONE})
    row = leaving - width
    sign = -ONE if here.slack[row] > 0 else ONE
    line: dict[int, Rational] = {}
    for r, c, v in here.program.entries:
        if r == row:
            line[c] = line.get(c, ZERO) - sign * v
    edge = here.square.dual(line)
    edge[row] = sign
    return edge
