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

from utmost.solve.basis import Basis
from utmost.solve.program import Program, products, reductions
from utmost.solve.rational import ZERO, Quotient, dyadic, fractions, rounded
from utmost.solve.solver import Guess, Scaled, Start, floats, run, scaled

# The solver's numbers are read to 2^-DIGITS; a side without violation is magnified by QUIET.
DIGITS = 64
QUIET = fmpq(2**20)


@dataclass(frozen=True, slots=True)
class Point:
    """An almost optimal rational pair x, y and the basis it came with."""

    x: list[Quotient]
    y: list[Quotient]
    basis: Basis


@dataclass(frozen=True, slots=True)
class Frame:
    """A program and its slack form in the solver's units: made once, used every round."""

    program: Program
    view: Scaled


def frame(program: Program) -> Frame:
    """The program with its slack form, scaled."""
    return Frame(program, scaled(slack_form(program)))


def opening(frame: Frame, guess: Guess) -> Point:
    """The guess, made rational: multiples of 2^-DIGITS in the solver's units."""
    view = frame.view
    x = [rounded(dyadic(v) / s, DIGITS) * s for v, s in zip(guess.x.tolist(), view.column, strict=False)]
    units = [view.cost / r for r in view.row]
    y = [rounded(dyadic(v) / u, DIGITS) * u for v, u in zip(guess.y.tolist(), units, strict=True)]
    return Point(x, y, Basis(guess.basic_columns, guess.basic_rows))


def refine(frame: Frame, xs: Sequence[list[Quotient]], ys: Sequence[list[Quotient]], basis: Basis) -> Point | None:
    """One round around the least violating of the points `xs` and of the multipliers `ys`, starting at `basis`.

    Solves the magnified residual program and adds its answer; None if the solver has none.
    """
    program, view = frame.program, frame.view
    primal, residual, z = min((_primal(frame, x) for x in xs), key=lambda side: side[0])
    dual, reduced, w = min((_dual(frame, y) for y in ys), key=lambda side: side[0])
    up, over = _magnification(primal), _magnification(dual)
    rhs, cost = floats(v * up for v in residual), floats(v * over for v in reduced)
    answer = run(view, cost, rhs, floats(-v * up for v in z), _start(program, basis))
    if answer.status != "Optimal":
        return None
    moves = zip(z, answer.x.tolist(), view.column[: program.shape[1]], strict=False)
    turns = zip(w, answer.y.tolist(), view.row, strict=True)
    x = [(a + rounded(dyadic(v), DIGITS) / up) * s for a, v, s in moves]
    y = [(a + rounded(dyadic(v), DIGITS) / over) * view.cost / r for a, v, r in turns]
    return Point(x, y, _folded(program, answer))


def slack_form(program: Program) -> Program:
    """The same program with A x − s = rhs, s >= 0 on its inequality rows; the slacks follow the columns, by row."""
    count, width = program.shape
    free = np.flatnonzero(~program.equality)
    unit = scaled(program).row
    units = fractions(unit[r] for r in free.tolist())
    return Program(
        cost=[*program.cost, *[Fraction(0)] * len(free)],
        rows=np.concatenate([program.rows, free]),
        columns=np.concatenate([program.columns, width + np.arange(len(free))]),
        values=np.array([*program.values, *[Fraction(-1)] * len(free)], dtype=object),
        rhs=program.rhs,
        equality=np.ones(count, dtype=bool),
        scale=[*(program.scale or [Fraction(1)] * width), *units],
    )


def _primal(frame: Frame, x: list[Quotient]) -> tuple[Quotient, list[Quotient], list[Quotient]]:
    """(largest violation, (rhs − A x)/row, x/column) in the slack form; slacks are what the rows leave over."""
    program, view = frame.program, frame.view
    over = [a - b for a, b in zip(products(program, x), program.targets, strict=True)]
    equal = program.equality.tolist()
    residual = [-v / r if e else ZERO for v, r, e in zip(over, view.row, equal, strict=True)]
    whole = [*x, *(v for v, e in zip(over, equal, strict=True) if not e)]
    z = [v / s for v, s in zip(whole, view.column, strict=True)]
    return max([*map(abs, residual), *(-v for v in z)], default=ZERO), residual, z


def _dual(frame: Frame, y: list[Quotient]) -> tuple[Quotient, list[Quotient], list[Quotient]]:
    """(largest violation, (cost − Aᵀ y)·column/cost, y·row/cost) in the slack form."""
    view = frame.view
    reduced = zip(reductions(view.program, y), view.column, strict=True)
    costs = [c * s / view.cost for c, s in reduced]
    return max((-v for v in costs), default=ZERO), costs, [v * r / view.cost for v, r in zip(y, view.row, strict=True)]


def _magnification(worst: Quotient) -> Quotient:
    """A power of two in (1/(2·worst), 1/worst], at least 1; QUIET if nothing is violated."""
    if worst <= 0:
        return QUIET
    return fmpq(2 ** max(int((1 / worst).floor()).bit_length() - 1, 0))


def _start(program: Program, basis: Basis) -> Start:
    """The basis in the slack form: a basic inequality row is its slack; a basic equality row stays."""
    return Start(
        np.concatenate([basis.columns, basis.rows[~program.equality]]), np.where(program.equality, basis.rows, False)
    )


def _folded(program: Program, answer: Guess) -> Basis:
    """A basis of the slack form as one of the program: a slack or its row basic makes the row basic."""
    width = program.shape[1]
    rows = answer.basic_rows.copy()
    rows[~program.equality] |= answer.basic_columns[width:]
    return Basis(answer.basic_columns[:width], rows)
