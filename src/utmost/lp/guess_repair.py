"""Repair a solver's guess: further digits by iterative refinement, then an exactly feasible point.

Iterative refinement of a linear program: a float solver run repeatedly for further digits.

Around a rational point (x, y) the program with its residuals as data, multiplied by large powers of two, is a program
of the same matrix whose answer, divided again, is the correction. When each round is solved to the same tolerance, the
violations of (x, y) fall geometrically (Gleixner, Steffy, Wolter, INFORMS J. Comput. 28, 2016). Each round also
brings a basis that is closer to an optimal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq

from utmost.lp.elimination import particular_solution
from utmost.lp.linear_program import (
    ONE,
    ZERO,
    LinearProgram,
    Rational,
    flint_reduced_costs,
    flint_vector,
    from_double,
    round_dyadic,
    round_up_dyadic,
    row_products,
    to_fractions,
)
from utmost.lp.simplex import Basis
from utmost.lp.solver import (
    MIN_SCALE_RATIO,
    ScaledProgram,
    SolverGuess,
    StartBasis,
    run_highs,
    scale_program,
    to_floats,
)

# The solver's numbers are read to 2^-DYADIC_BITS; a side without violation is magnified by QUIET_MAGNIFICATION.
DYADIC_BITS = 64
QUIET_MAGNIFICATION = fmpq(2**20)


@dataclass(frozen=True, slots=True)
class Point:
    """An almost optimal rational pair x, y and the basis it came with."""

    x: list[Rational]
    y: list[Rational]
    basis: Basis


@dataclass(frozen=True, slots=True)
class Frame:
    """A program and its slack form in the solver's units: made once, used every round."""

    program: LinearProgram
    scaled: ScaledProgram


def scaled_frame(program: LinearProgram, min_scale_ratio: Rational = MIN_SCALE_RATIO) -> Frame:
    """The program with its slack form, scaled."""
    return Frame(program, scale_program(slack_form(program, min_scale_ratio), min_scale_ratio))


def initial_point(frame: Frame, guess: SolverGuess) -> Point:
    """The guess, made rational: multiples of 2^-DYADIC_BITS in the solver's units."""
    scaled = frame.scaled
    x = [
        round_dyadic(from_double(v) / s, DYADIC_BITS) * s for v, s in zip(guess.x.tolist(), scaled.column, strict=False)
    ]
    units = [scaled.cost / r for r in scaled.row]
    y = [round_dyadic(from_double(v) / u, DYADIC_BITS) * u for v, u in zip(guess.y.tolist(), units, strict=True)]
    return Point(x, y, Basis(guess.basic_columns, guess.basic_rows))


def refine_once(frame: Frame, xs: Sequence[list[Rational]], ys: Sequence[list[Rational]], basis: Basis) -> Point | None:
    """One round around the least violating of the points `xs` and of the multipliers `ys`, starting at `basis`.

    Solves the magnified residual program and adds its answer; None if the solver has none.
    """
    program, scaled = frame.program, frame.scaled
    primal = min((_primal_residuals(frame, x) for x in xs), key=lambda residuals: residuals.violation)
    dual = min((_dual_residuals(frame, y) for y in ys), key=lambda residuals: residuals.violation)
    primal_factor, dual_factor = _magnification(primal.violation), _magnification(dual.violation)
    rhs, cost = to_floats(v * primal_factor for v in primal.residual), to_floats(v * dual_factor for v in dual.residual)
    lower = to_floats(-v * primal_factor for v in primal.point)
    answer = run_highs(scaled, cost, rhs, lower, _slack_form_basis(program, basis))
    if answer.status != "Optimal":
        return None
    primal_terms = zip(primal.point, answer.x.tolist(), scaled.column[: program.shape[1]], strict=False)
    dual_terms = zip(dual.point, answer.y.tolist(), scaled.row, strict=True)
    x = [(a + round_dyadic(from_double(v), DYADIC_BITS) / primal_factor) * s for a, v, s in primal_terms]
    y = [(a + round_dyadic(from_double(v), DYADIC_BITS) / dual_factor) * scaled.cost / r for a, v, r in dual_terms]
    return Point(x, y, _program_basis(program, answer))


def slack_form(program: LinearProgram, min_scale_ratio: Rational = MIN_SCALE_RATIO) -> LinearProgram:
    """The same program with A x − s = rhs, s >= 0 on its inequality rows; the slacks follow the columns, by row."""
    count, width = program.shape
    inequality_rows = np.flatnonzero(~program.equality)
    row_units = scale_program(program, min_scale_ratio).row
    slack_units = to_fractions(row_units[r] for r in inequality_rows.tolist())
    return LinearProgram(
        cost=[*program.cost, *[Fraction(0)] * len(inequality_rows)],
        rows=np.concatenate([program.rows, inequality_rows]),
        columns=np.concatenate([program.columns, width + np.arange(len(inequality_rows))]),
        values=np.array([*program.values, *[Fraction(-1)] * len(inequality_rows)], dtype=object),
        rhs=program.rhs,
        equality=np.ones(count, dtype=bool),
        scale=[*(program.scale or [Fraction(1)] * width), *slack_units],
    )


@dataclass(frozen=True, slots=True)
class _Residuals:
    """The largest violation of a point's constraints, what they leave over, and the point, in the solver's units."""

    violation: Rational
    residual: list[Rational]
    point: list[Rational]


def _primal_residuals(frame: Frame, x: list[Rational]) -> _Residuals:
    """(rhs − A x)/row and x/column in the slack form; slacks are what the rows leave over."""
    program, scaled = frame.program, frame.scaled
    slack = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    equal = program.equality.tolist()
    residual = [-v / r if e else ZERO for v, r, e in zip(slack, scaled.row, equal, strict=True)]
    extended = [*x, *(v for v, e in zip(slack, equal, strict=True) if not e)]
    z = [v / s for v, s in zip(extended, scaled.column, strict=True)]
    return _Residuals(max([*map(abs, residual), *(-v for v in z)], default=ZERO), residual, z)


def _dual_residuals(frame: Frame, y: list[Rational]) -> _Residuals:
    """(cost − Aᵀ y)·column/cost and y·row/cost in the slack form."""
    scaled = frame.scaled
    reduced = zip(flint_reduced_costs(scaled.program, y), scaled.column, strict=True)
    costs = [c * s / scaled.cost for c, s in reduced]
    multipliers = [v * r / scaled.cost for v, r in zip(y, scaled.row, strict=True)]
    return _Residuals(max((-v for v in costs), default=ZERO), costs, multipliers)


def _magnification(worst: Rational) -> Rational:
    """A power of two in (1/(2·worst), 1/worst], at least 1; QUIET_MAGNIFICATION if nothing is violated."""
    if worst <= 0:
        return QUIET_MAGNIFICATION
    return fmpq(2 ** max(int((1 / worst).floor()).bit_length() - 1, 0))


def _slack_form_basis(program: LinearProgram, basis: Basis) -> StartBasis:
    """The basis in the slack form: a basic inequality row is its slack; a basic equality row stays."""
    return StartBasis(
        np.concatenate([basis.columns, basis.rows[~program.equality]]), np.where(program.equality, basis.rows, False)
    )


def _program_basis(program: LinearProgram, answer: SolverGuess) -> Basis:
    """A basis of the slack form as one of the program: a slack or its row basic makes the row basic."""
    width = program.shape[1]
    rows = answer.basic_rows.copy()
    rows[~program.equality] |= answer.basic_columns[width:]
    return Basis(answer.basic_columns[:width], rows)


Rows = dict[int, dict[int, Rational]]


def primal_repair(program: LinearProgram, x: Sequence[Rational]) -> list[Rational] | None:
    """A feasible point near x; None if the equalities contradict each other or `interior` is missing or not inside.

    Negative entries become 0; the equalities are made to hold by changing as few of the largest entries as it takes;
    then (1 − t)·x + t·interior with the least t (rounded up) that satisfies every inequality.
    """
    clipped = [max(value, ZERO) for value in x]
    activities = row_products(program, clipped)
    missing = {r: program.targets[r] - activities[r] for r in range(len(activities)) if program.equality[r]}
    if any(missing.values()):
        change = particular_solution(_row_coefficients(program, set(missing)), missing, clipped)
        if change is None:
            return None
        for column, value in change.items():
            clipped[column] += value
    return _mix_interior(program, clipped)


def _mix_interior(program: LinearProgram, x: list[Rational]) -> list[Rational] | None:
    """The point x with just enough of `interior`."""
    slacks = _slacks(program, x)
    if min(slacks, default=ZERO) >= 0:
        return x
    if program.interior is None:
        return None
    interior = flint_vector("interior", program.interior, program.shape[1])
    interior_slacks = _slacks(program, interior)
    share = ZERO
    for slack, interior_slack in zip(slacks, interior_slacks, strict=True):
        if slack < 0:
            if interior_slack <= 0:
                return None
            share = max(share, -slack / (interior_slack - slack))
    share = min(ONE, round_up_dyadic(share))
    return [a + share * (b - a) for a, b in zip(x, interior, strict=True)]


def _slacks(program: LinearProgram, x: Sequence[Rational]) -> list[Rational]:
    """What x leaves over on every inequality, x >= 0 included."""
    rows = zip(row_products(program, x), program.targets, program.equality.tolist(), strict=True)
    return [*x, *(activity - target for activity, target, equal in rows if not equal)]


def dual_repair(program: LinearProgram, y: Sequence[Rational]) -> list[Rational]:
    """Multipliers near y, >= 0 on inequality rows, with reduced costs >= 0 wherever a covering row can make them so.

    A row all of whose coefficients have one sign lifts the reduced costs of all its columns when its multiplier moves
    the right way: down if they are >= 0 (on an equality), up if they are <= 0 (anywhere). It moves just enough.
    """
    multipliers = [v if equal else max(v, ZERO) for v, equal in zip(y, program.equality.tolist(), strict=True)]
    reduced = flint_reduced_costs(program, multipliers)
    covering_rows = _covering_rows(program)
    for column, row in _first_covering_row(covering_rows).items():
        if reduced[column] < 0:
            shift = reduced[column] / covering_rows[row][column]
            multipliers[row] += shift
            for other, value in covering_rows[row].items():
                reduced[other] -= shift * value
    return multipliers


def _row_coefficients(program: LinearProgram, rows: set[int]) -> Rows:
    lines: Rows = {row: {} for row in rows}
    for row, column, value in program.entries:
        if row in rows:
            lines[row][column] = lines[row].get(column, ZERO) + value
    return lines


def _covering_rows(program: LinearProgram) -> Rows:
    lines = _row_coefficients(program, set(range(program.shape[0])))
    return {
        row: line
        for row, line in lines.items()
        if all(v <= 0 for v in line.values()) or (program.equality[row] and all(v >= 0 for v in line.values()))
    }


def _first_covering_row(covering_rows: Rows) -> dict[int, int]:
    first_rows: dict[int, int] = {}
    for row, line in covering_rows.items():
        for column, value in line.items():
            if value:
                first_rows.setdefault(column, row)
    return first_rows
