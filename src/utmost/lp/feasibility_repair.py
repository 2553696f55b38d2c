"""Pushing an almost feasible rational point back where it belongs. What it costs shows in the gap."""

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
    done = row_products(program, clipped)
    missing = {r: program.targets[r] - done[r] for r in range(len(done)) if program.equality[r]}
    if any(missing.values()):
        change = particular_solution(_lines(program, set(missing)), missing, clipped)
        if change is None:
            return None
        for column, value in change.items():
            clipped[column] += value
    return _mixed(program, clipped)


def _mixed(program: LinearProgram, x: list[Rational]) -> list[Rational] | None:
    """The point x with just enough of `interior`."""
    short = _slacks(program, x)
    if min(short, default=ZERO) >= 0:
        return x
    if program.interior is None:
        return None
    inside = flint_vector("interior", program.interior, program.shape[1])
    room = _slacks(program, inside)
    share = ZERO
    for gap, slack in zip(short, room, strict=True):
        if gap < 0:
            if slack <= 0:
                return None
            share = max(share, -gap / (slack - gap))
    share = min(ONE, round_up_dyadic(share))
    return [a + share * (b - a) for a, b in zip(x, inside, strict=True)]


def _slacks(program: LinearProgram, x: Sequence[Rational]) -> list[Rational]:
    """What x leaves over on every inequality, x >= 0 included."""
    rows = zip(row_products(program, x), program.targets, program.equality.tolist(), strict=True)
    return [*x, *(done - target for done, target, equal in rows if not equal)]


def dual_repair(program: LinearProgram, y: Sequence[Rational]) -> list[Rational]:
    """Multipliers near y, >= 0 on inequality rows, with reduced costs >= 0 wherever a covering row can make them so.

    A row all of whose coefficients have one sign lifts the reduced costs of all its columns when its multiplier moves
    the right way: down if they are >= 0 (on an equality), up if they are <= 0 (anywhere). It moves just enough.
    """
    fixed = [v if equal else max(v, ZERO) for v, equal in zip(y, program.equality.tolist(), strict=True)]
    reduced = flint_reduced_costs(program, fixed)
    cover = _covers(program)
    for column, row in _first_cover(cover).items():
        if reduced[column] < 0:
            shift = reduced[column] / cover[row][column]
            fixed[row] += shift
            for other, value in cover[row].items():
                reduced[other] -= shift * value
    return fixed


def _lines(program: LinearProgram, rows: set[int]) -> Rows:
    lines: Rows = {row: {} for row in rows}
    for row, column, value in program.entries:
        if row in rows:
            lines[row][column] = lines[row].get(column, ZERO) + value
    return lines


def _covers(program: LinearProgram) -> Rows:
    lines = _lines(program, set(range(program.shape[0])))
    return {
        row: line
        for row, line in lines.items()
        if all(v <= 0 for v in line.values()) or (program.equality[row] and all(v >= 0 for v in line.values()))
    }


def _first_cover(cover: Rows) -> dict[int, int]:
    chosen: dict[int, int] = {}
    for row, line in cover.items():
        for column, value in line.items():
            if value:
                chosen.setdefault(column, row)
    return chosen
