"""Repair an almost feasible rational point to a feasible one; what that costs shows in the gap."""

from __future__ import annotations

from collections.abc import Sequence

from utmost.lp.elimination import particular_solution
from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, flint_vector, row_products
from utmost.lp.rationals import ONE, ZERO, Rational, round_up_dyadic

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
