"""Iterative refinement of a linear program: a float solver run repeatedly for further digits.

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

from utmost.lp.basis import Basis
from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, row_products
from utmost.lp.rationals import ZERO, Rational, from_double, round_dyadic, to_fractions
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
