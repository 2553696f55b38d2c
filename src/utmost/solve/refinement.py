"""Iterative refinement of a linear program: a float solver used as often as needed to see further digits.

Around a rational point (x, y) the program with its residuals as data, multiplied by large powers of two, is a program
of the same matrix whose answer, divided again, is the correction. When each round is solved to the same tolerance, the
violations of (x, y) fall geometrically (Gleixner, Steffy, Wolter, INFORMS J. Comput. 28, 2016). Each round also
brings a basis that is closer to an optimal one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from utmost.solve.basis import Basis
from utmost.solve.program import Program, products, reductions
from utmost.solve.rational import ONE, ZERO, Quotient, dyadic, fractions, rounded
from utmost.solve.solver import Guess, Scaled, Start, floats, run, scaled

ROUNDS = 8
# Factors grow by at most 2^STEP a round, and the solver's numbers are read to 2^-DIGITS.
STEP = 36
DIGITS = 64


@dataclass(frozen=True, slots=True)
class Point:
    """An almost optimal rational pair x, y and the basis it came with."""

    x: list[Quotient]
    y: list[Quotient]
    basis: Basis


@dataclass(frozen=True, slots=True)
class _State:
    """A rational pair in the solver's units (z = x/column, w = y·row/cost) and the last magnifications."""

    z: list[Quotient]
    w: list[Quotient]
    basis: Basis
    primal: Quotient
    dual: Quotient


def refined(program: Program, guess: Guess) -> Iterator[Point]:
    """The guess, then up to ROUNDS ever better points; ends early when a round's program is not solved."""
    slack = slack_form(program)
    view = scaled(slack)
    state: _State | None = _opening(program, view, guess)
    for _ in range(ROUNDS + 1):
        if state is None:
            return
        yield _point(program, view, state)
        state = _next(program, view, state)


def slack_form(program: Program) -> Program:
    """The same program with A x − s = rhs, s >= 0 on its inequality rows; the slacks follow the columns, by row."""
    count, width = program.shape
    free = np.flatnonzero(~program.equality)
    unit = scaled(program).row
    units = fractions(unit[r] for r in free.tolist())
    return Program(
        cost=[*program.cost, *[0] * len(free)],  # type: ignore[list-item]
        rows=np.concatenate([program.rows, free]),
        columns=np.concatenate([program.columns, width + np.arange(len(free))]),
        values=np.array([*program.values, *[-1] * len(free)], dtype=object),
        rhs=program.rhs,
        equality=np.ones(count, dtype=bool),
        scale=[*(program.scale or [1] * width), *units],  # type: ignore[list-item]
    )


def _opening(program: Program, view: Scaled, guess: Guess) -> _State:
    """The guess, made rational; the slacks are what the rows leave over, so inequality rows hold exactly."""
    x = [rounded(dyadic(v) / s, DIGITS) * s for v, s in zip(guess.x.tolist(), view.column, strict=False)]
    w = [rounded(dyadic(v) * r / view.cost, DIGITS) for v, r in zip(guess.y.tolist(), view.row, strict=True)]
    slack = [a - b for a, b, e in zip(products(program, x), program.targets, program.equality, strict=True) if not e]
    z = [v / s for v, s in zip([*x, *slack], view.column, strict=True)]
    return _State(z, w, Basis(guess.basic_columns, guess.basic_rows), ONE, ONE)


def _point(program: Program, view: Scaled, state: _State) -> Point:
    width = program.shape[1]
    x = [z * s for z, s in zip(state.z[:width], view.column, strict=False)]
    y = [w * view.cost / r for w, r in zip(state.w, view.row, strict=True)]
    return Point(x, y, state.basis)


def _next(program: Program, view: Scaled, state: _State) -> _State | None:
    """One round: solve the magnified residual program, add its answer; None if the solver gives none."""
    residual, reduced = _residuals(view, state)
    primal = _magnification(state.primal, [abs(v) for v in residual] + [-z for z in state.z])
    dual = _magnification(state.dual, [-v for v in reduced])
    rhs, cost = floats(v * primal for v in residual), floats(v * dual for v in reduced)
    lower = floats(-z * primal for z in state.z)
    answer = run(view, cost, rhs, lower, _start(program, state.basis))
    if answer.status != "Optimal":
        return None
    z = [a + rounded(dyadic(v), DIGITS) / primal for a, v in zip(state.z, answer.x.tolist(), strict=True)]
    w = [a + rounded(dyadic(v), DIGITS) / dual for a, v in zip(state.w, answer.y.tolist(), strict=True)]
    return _State(z, w, _folded(program, answer), primal, dual)


def _residuals(view: Scaled, state: _State) -> tuple[list[Quotient], list[Quotient]]:
    """(rhs − A x)/row and (cost − Aᵀ y)·column/cost of the slack form."""
    program = view.program
    x = [z * s for z, s in zip(state.z, view.column, strict=True)]
    y = [w * view.cost / r for w, r in zip(state.w, view.row, strict=True)]
    done = zip(program.targets, products(program, x), view.row, strict=True)
    reduced = zip(reductions(program, y), view.column, strict=True)
    return [(b - a) / r for b, a, r in done], [c * s / view.cost for c, s in reduced]


def _magnification(last: Quotient, violations: list[Quotient]) -> Quotient:
    """A power of two of about 1/(the largest violation), at most 2^STEP times the last."""
    limit: Quotient = last * 2**STEP
    worst = max(violations, default=ZERO)
    if worst <= 1 / limit:
        return limit
    size = (1 / worst).floor()
    return max(last, fmpq(2 ** max(int(size).bit_length() - 1, 0)))


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
