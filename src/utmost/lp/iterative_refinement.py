"""Iterative refinement of a linear program: a float solver used as often as needed to see further digits.

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
from utmost.lp.solver import ScaledProgram, SolverGuess, StartBasis, run_highs, scale_program, to_floats

# The solver's numbers are read to 2^-DIGITS; a side without violation is magnified by QUIET.
DIGITS = 64
QUIET = fmpq(2**20)


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
    view: ScaledProgram


def scaled_frame(program: LinearProgram) -> Frame:
    """The program with its slack form, scaled."""
    return Frame(program, scale_program(slack_form(program)))


def initial_point(frame: Frame, guess: SolverGuess) -> Point:
    """The guess, made rational: multiples of 2^-DIGITS in the solver's units."""
    view = frame.view
    x = [round_dyadic(from_double(v) / s, DIGITS) * s for v, s in zip(guess.x.tolist(), view.column, strict=False)]
    units = [view.cost / r for r in view.row]
    y = [round_dyadic(from_double(v) / u, DIGITS) * u for v, u in zip(guess.y.tolist(), units, strict=True)]
    return Point(x, y, Basis(guess.basic_columns, guess.basic_rows))


def refine_once(frame: Frame, xs: Sequence[list[Rational]], ys: Sequence[list[Rational]], basis: Basis) -> Point | None:
    """One round around the least violating of the points `xs` and of the multipliers `ys`, starting at `basis`.

    Solves the magnified residual program and adds its answer; None if the solver has none.
    """
    program, view = frame.program, frame.view
    primal, residual, z = min((_primal(frame, x) for x in xs), key=lambda side: side[0])
    dual, reduced, w = min((_dual(frame, y) for y in ys), key=lambda side: side[0])
    up, over = _magnification(primal), _magnification(dual)
    rhs, cost = to_floats(v * up for v in residual), to_floats(v * over for v in reduced)
    answer = run_highs(view, cost, rhs, to_floats(-v * up for v in z), _start(program, basis))
    if answer.status != "Optimal":
        return None
    moves = zip(z, answer.x.tolist(), view.column[: program.shape[1]], strict=False)
    turns = zip(w, answer.y.tolist(), view.row, strict=True)
    x = [(a + round_dyadic(from_double(v), DIGITS) / up) * s for a, v, s in moves]
    y = [(a + round_dyadic(from_double(v), DIGITS) / over) * view.cost / r for a, v, r in turns]
    return Point(x, y, _folded(program, answer))


def slack_form(program: LinearProgram) -> LinearProgram:
    """The same program with A x − s = rhs, s >= 0 on its inequality rows; the slacks follow the columns, by row."""
    count, width = program.shape
    free = np.flatnonzero(~program.equality)
    unit = scale_program(program).row
    units = to_fractions(unit[r] for r in free.tolist())
    return LinearProgram(
        cost=[*program.cost, *[Fraction(0)] * len(free)],
        rows=np.concatenate([program.rows, free]),
        columns=np.concatenate([program.columns, width + np.arange(len(free))]),
        values=np.array([*program.values, *[Fraction(-1)] * len(free)], dtype=object),
        rhs=program.rhs,
        equality=np.ones(count, dtype=bool),
        scale=[*(program.scale or [Fraction(1)] * width), *units],
    )


def _primal(frame: Frame, x: list[Rational]) -> tuple[Rational, list[Rational], list[Rational]]:
    """(largest violation, (rhs − A x)/row, x/column) in the slack form; slacks are what the rows leave over."""
    program, view = frame.program, frame.view
    over = [a - b for a, b in zip(row_products(program, x), program.targets, strict=True)]
    equal = program.equality.tolist()
    residual = [-v / r if e else ZERO for v, r, e in zip(over, view.row, equal, strict=True)]
    whole = [*x, *(v for v, e in zip(over, equal, strict=True) if not e)]
    z = [v / s for v, s in zip(whole, view.column, strict=True)]
    return max([*map(abs, residual), *(-v for v in z)], default=ZERO), residual, z


def _dual(frame: Frame, y: list[Rational]) -> tuple[Rational, list[Rational], list[Rational]]:
    """(largest violation, (cost − Aᵀ y)·column/cost, y·row/cost) in the slack form."""
    view = frame.view
    reduced = zip(flint_reduced_costs(view.program, y), view.column, strict=True)
    costs = [c * s / view.cost for c, s in reduced]
    return max((-v for v in costs), default=ZERO), costs, [v * r / view.cost for v, r in zip(y, view.row, strict=True)]


def _magnification(worst: Rational) -> Rational:
    """A power of two in (1/(2·worst), 1/worst], at least 1; QUIET if nothing is violated."""
    if worst <= 0:
        return QUIET
    return fmpq(2 ** max(int((1 / worst).floor()).bit_length() - 1, 0))


def _start(program: LinearProgram, basis: Basis) -> StartBasis:
    """The basis in the slack form: a basic inequality row is its slack; a basic equality row stays."""
    return StartBasis(
        np.concatenate([basis.columns, basis.rows[~program.equality]]), np.where(program.equality, basis.rows, False)
    )


def _folded(program: LinearProgram, answer: SolverGuess) -> Basis:
    """A basis of the slack form as one of the program: a slack or its row basic makes the row basic."""
    width = program.shape[1]
    rows = answer.basic_rows.copy()
    rows[~program.equality] |= answer.basic_columns[width:]
    return Basis(answer.basic_columns[:width], rows)
