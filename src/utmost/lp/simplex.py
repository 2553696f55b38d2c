"""The simplex method in exact arithmetic, from any basis, and the exact vertex that a basis stands for.

The exact vertex a basis stands for.

A basis names tight rows and basic columns, equally many. Its basic solution is x = 0 off the basic columns and
A x = rhs on the tight rows; its multipliers are y = 0 off the tight rows and cost − Aᵀ y = 0 on the basic columns. When
both are feasible they are optimal: their objectives agree.

The member that violates most, measured in the solver's units, is exchanged (of tied ones that stand in its way, the one
that moves fastest). Steps that change no objective may go round in a circle, so after MAX_STALLED_STEPS of them Bland's
rule takes over (lowest index enters, lowest index leaves among ties, columns numbered before rows) until the objective
changes: no basis comes twice under it, so the steps end. Each step solves sparse exact systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from utmost.errors import InfeasibleError, SolverError
from utmost.lp.elimination import eliminate
from utmost.lp.linear_program import ONE, ZERO, LinearProgram, Rational, flint_reduced_costs, row_products, to_fractions
from utmost.lp.solver import MIN_DOUBLE_RATIO, Flags, scale_program

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


# Steps allowed: MIN_STEPS + STEP_WORK/(rows + columns); a program of up to MAX_SCRATCH_SIZE rows and columns has no
# limit, and can be solved from scratch.
MIN_STEPS = 20
STEP_WORK = 2_000_000
MAX_SCRATCH_SIZE = 1200
MAX_STALLED_STEPS = 60

Member: TypeAlias = tuple[Rational, int]  # how much it violates its constraint, and its index: columns, then rows


class Ratio(NamedTuple):
    """What a member allows: how long a step, its index, and how fast it moves."""

    step: Rational
    member: int
    speed: Rational


@dataclass(frozen=True, slots=True)
class _Vertex:
    """A basis with its exact solution and multipliers, and what the constraints leave over at them."""

    program: LinearProgram
    matrix: BasisMatrix
    x: list[Rational]
    y: list[Rational]
    slack: list[Rational]
    reduced: list[Rational]


@dataclass(frozen=True, slots=True)
class _Step:
    """The members that enter and leave the basis, and how far the step goes: 0 changes no objective."""

    entering: int
    leaving: int
    length: Rational


def pivot_to_optimum(program: LinearProgram, basis: Basis) -> PrimalDualPair | None:
    """An optimal pair x, y reached from `basis` by exact steps; None if the basis is singular, or far from optimal.

    Primal steps from a feasible x, dual steps from a feasible y. A basis that is feasible on neither side is optimal
    on the dual side of a program with other costs; dual steps there lead to a feasible x. Raises SolverError where the
    program is proved unbounded, InfeasibleError where it is proved infeasible.
    """
    start = _vertex(program, basis)
    if start is None:
        return None
    units = _member_units(program)
    if _primal_violations(start, units) and _dual_violations(start, units):
        feasible = _last_vertex(_with_dual_feasible_costs(start), basis, units)
        basis = basis if feasible is None else feasible.matrix.basis
    optimum = _last_vertex(program, basis, units)
    return None if optimum is None else (optimum.x, optimum.y)


def two_phase_simplex(program: LinearProgram) -> PrimalDualPair | None:
    """An optimal pair of a small program without any float: `pivot_to_optimum` from the slacks; None if it is large."""
    if sum(program.shape) > MAX_SCRATCH_SIZE:
        return None
    slack_basis = Basis(np.zeros(program.shape[1], dtype=bool), np.ones(program.shape[0], dtype=bool))
    return pivot_to_optimum(program, slack_basis)


def _last_vertex(program: LinearProgram, basis: Basis, units: Sequence[Rational]) -> _Vertex | None:
    """The optimal vertex that exact steps reach from a basis feasible on one side; None if it is far away."""
    stalled, steps = 0, 0
    while sum(program.shape) <= MAX_SCRATCH_SIZE or steps <= MIN_STEPS + STEP_WORK // sum(program.shape):
        vertex = _vertex(program, basis)
        if vertex is None:
            return None
        primal, dual = _primal_violations(vertex, units), _dual_violations(vertex, units)
        if primal and dual:
            return None
        if not primal and not dual:
            return vertex
        by_index = stalled > MAX_STALLED_STEPS
        step = _dual_step(vertex, primal, by_index) if primal else _primal_step(vertex, dual, by_index)
        basis = _exchange_member(basis, step.entering, step.leaving)
        stalled, steps = 0 if step.length else stalled + 1, steps + 1
    return None


def _member_units(program: LinearProgram) -> list[Rational]:
    """The natural size of each column's x, then of each row's slack."""
    scaled = scale_program(program, MIN_DOUBLE_RATIO)
    return [*scaled.column, *scaled.row]


def _primal_violations(vertex: _Vertex, units: Sequence[Rational]) -> list[Member]:
    """The basic members that are below 0, or an equality's slack that is not 0."""
    width, equality = vertex.program.shape[1], vertex.program.equality
    columns = [(-vertex.x[c] / units[c], c) for c in vertex.matrix.basic if vertex.x[c] < 0]
    rows = [
        (abs(vertex.slack[r]) / units[width + r], width + r)
        for r in np.flatnonzero(vertex.matrix.basis.rows).tolist()
        if vertex.slack[r] < 0 or (equality[r] and vertex.slack[r])
    ]
    return columns + rows


def _dual_violations(vertex: _Vertex, units: Sequence[Rational]) -> list[Member]:
    """The members off the basis whose reduced cost or multiplier is below 0."""
    width, equality = vertex.program.shape[1], vertex.program.equality
    columns = [(-d * units[c], c) for c, d in enumerate(vertex.reduced) if d < 0]
    tight = [r for r in vertex.matrix.tight if vertex.y[r] < 0 and not equality[r]]
    return columns + [(-vertex.y[r] * units[width + r], width + r) for r in tight]


def _with_dual_feasible_costs(vertex: _Vertex) -> LinearProgram:
    """The program with the nearest costs at which the multipliers max(y, 0) are feasible for the same basis."""
    program = vertex.program
    equal = program.equality.tolist()
    multipliers = [v if is_equal else max(v, ZERO) for v, is_equal in zip(vertex.y, equal, strict=True)]
    reduced = flint_reduced_costs(program, multipliers)
    is_basic = vertex.matrix.basis.columns.tolist()
    kept = [ZERO if basic else max(d, ZERO) for d, basic in zip(reduced, is_basic, strict=True)]
    return replace(program, cost=to_fractions(c - d + k for c, d, k in zip(program.costs, reduced, kept, strict=True)))


def _violating_member(members: list[Member], by_index: bool) -> int:
    """The member that violates most, or the first one."""
    return min(k for _, k in members) if by_index else max(members, key=lambda member: (member[0], -member[1]))[1]


def _blocking_member(ratios: list[Ratio], by_index: bool) -> tuple[int, Rational]:
    """The member that allows the shortest step, the fastest or the first one of those, and the step."""
    length = min(ratio.step for ratio in ratios)
    ties = [(ratio.speed, -ratio.member) for ratio in ratios if ratio.step == length]
    return (min(-k for _, k in ties) if by_index else -max(ties)[1]), length


def _vertex(program: LinearProgram, basis: Basis) -> _Vertex | None:
    """The vertex of a basis; None if that is singular or not square."""
    matrix = basis_matrix(program, basis)
    pair = None if matrix is None else matrix.vertex()
    if matrix is None or pair is None:
        return None
    x, y = pair
    slack = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    return _Vertex(program, matrix, x, y, slack, flint_reduced_costs(program, y))


def _exchange_member(basis: Basis, entering: int, leaving: int) -> Basis:
    """The basis with one member exchanged; members are columns, then rows."""
    flags = np.concatenate([basis.columns, basis.rows])
    flags[entering], flags[leaving] = True, False
    return Basis(flags[: len(basis.columns)], flags[len(basis.columns) :])


def _primal_step(vertex: _Vertex, improving: list[Member], by_index: bool) -> _Step:
    """The step from a feasible x along an edge that lowers the cost, as far as feasibility goes."""
    program, width = vertex.program, vertex.program.shape[1]
    entering = _violating_member(improving, by_index)
    direction = _primal_edge(vertex, entering)
    change = row_products(program, direction)
    ratios = [Ratio(-vertex.x[c] / direction[c], c, -direction[c]) for c in vertex.matrix.basic if direction[c] < 0]
    for r in np.flatnonzero(vertex.matrix.basis.rows).tolist():
        if program.equality[r] and change[r]:
            ratios.append(Ratio(ZERO, width + r, abs(change[r])))
        elif change[r] < 0:
            ratios.append(Ratio(-vertex.slack[r] / change[r], width + r, -change[r]))
    if not ratios:
        raise SolverError("program must have a finite optimum, got one without a lower bound: bound its variables")
    return _Step(entering, *_blocking_member(ratios, by_index))


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


def _dual_step(vertex: _Vertex, violated: list[Member], by_index: bool) -> _Step:
    """The step from a feasible y: a violated member leaves, its multiplier grows as long as y stays feasible."""
    program, width = vertex.program, vertex.program.shape[1]
    leaving = _violating_member(violated, by_index)
    direction = _dual_edge(vertex, leaving)
    change = [d - c for d, c in zip(flint_reduced_costs(program, direction), program.costs, strict=True)]
    columns = np.flatnonzero(~vertex.matrix.basis.columns).tolist()
    ratios = [Ratio(-vertex.reduced[c] / change[c], c, -change[c]) for c in columns if change[c] < 0]
    tight = [r for r in vertex.matrix.tight if not program.equality[r] and direction[r] < 0]
    ratios += [Ratio(-vertex.y[r] / direction[r], width + r, -direction[r]) for r in tight]
    if not ratios:
        raise InfeasibleError("program has no feasible point, proved by exact dual steps: relax its constraints")
    entering, length = _blocking_member(ratios, by_index)
    return _Step(entering, leaving, length)


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
