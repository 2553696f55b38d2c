"""Exact sparse linear systems over the rationals.

Bases of structured programs are nearly triangular: most rows have two entries. So cheap pivots first (a row or a column
with one entry costs nothing, then least fill), and only the dense core that is left goes to flint.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from utmost.lp.rationals import ONE, ZERO, Rational, to_fmpqs, to_fraction

# A remaining square matrix at least this full is handed to the dense solver.
DENSE = 0.3


def solve_sparse(
    rows: Sequence[int], columns: Sequence[int], values: Sequence[Fraction], size: int, rhs: Sequence[Fraction]
) -> list[Fraction] | None:
    """The x with Σ_k [rows_k = r] values_k·x[columns_k] = rhs_r for r < size, exactly; None if the matrix is singular.

    >>> solve_sparse([0, 0, 1], [0, 1, 1], [Fraction(1), Fraction(2), Fraction(3)], 2, [Fraction(1), Fraction(1)])
    [Fraction(1, 3), Fraction(1, 3)]
    """
    entries = zip(rows, columns, to_fmpqs(values), strict=True)
    solution = eliminate([(int(r), int(c), v) for r, c, v in entries], size, to_fmpqs(rhs))
    return None if solution is None else [to_fraction(value) for value in solution]


def eliminate(
    entries: Sequence[tuple[int, int, Rational]], size: int, rhs: Sequence[Rational]
) -> list[Rational] | None:
    """`solve_sparse` in flint's rationals."""
    system = _system(entries, size, size, rhs)
    pivots: list[tuple[int, int]] = []
    while system.queue:
        row = _shortest_row(system)
        if row is None or _dense(system):
            break
        if not system.rows[row]:
            return None
        pivots.append((row, _pivot(system, row)))
    solution = _core(system, size)
    return None if solution is None else _back(system, pivots, solution)


def null_vector(entries: Sequence[tuple[int, int, Rational]], height: int, width: int) -> list[Rational] | None:
    """Some d ≠ 0 with M d = 0 for the height × width matrix M of `entries`; None if its columns are independent."""
    system = _system(entries, height, width, [ZERO] * height)
    pivots: list[tuple[int, int]] = []
    while (row := _shortest_row(system)) is not None:
        if system.rows[row]:
            pivots.append((row, _pivot(system, row)))
        else:
            system.live.discard(row)
    if not system.free:
        return None
    solution = [ZERO] * width
    solution[min(system.free)] = ONE
    return _back(system, pivots, solution)


def particular_solution(
    lines: Mapping[int, Mapping[int, Rational]], rhs: Mapping[int, Rational], weight: Sequence[Rational]
) -> dict[int, Rational] | None:
    """Some x with Σ_c lines[r][c]·x_c = rhs[r] for every r; None if there is none.

    Greedy: each row, with the pivots so far taken out, is solved for its column of largest `weight`, so x is 0 on all
    but as many columns as there are independent rows, and those weigh much.
    """
    pivots: list[tuple[int, dict[int, Rational], Rational]] = []
    for row, line in lines.items():
        rest, target = {c: v for c, v in line.items() if v}, rhs[row]
        for column, known, value in pivots:
            if column in rest:
                factor = rest[column]
                target -= factor * value
                for c, v in known.items():
                    rest[c] = rest.get(c, ZERO) - factor * v
                rest = {c: v for c, v in rest.items() if v}
        if rest:
            chosen = max(rest, key=lambda c: (weight[c], -c))
            lead = rest[chosen]
            pivots.append((chosen, {c: v / lead for c, v in rest.items()}, target / lead))
        elif target:
            return None
    solution: dict[int, Rational] = {}
    for column, known, value in reversed(pivots):
        solution[column] = value - sum((v * solution[c] for c, v in known.items() if c in solution), ZERO)
    return solution


@dataclass(frozen=True, slots=True)
class _System:
    """Rows as dicts, columns as sets of live rows, a lazy heap of (row length, row)."""

    rows: list[dict[int, Rational]]
    columns: list[set[int]]
    rhs: list[Rational]
    live: set[int]
    free: set[int]
    single: list[int]
    queue: list[tuple[int, int]]
    count: list[int]


def _system(entries: Sequence[tuple[int, int, Rational]], height: int, width: int, rhs: Sequence[Rational]) -> _System:
    rows: list[dict[int, Rational]] = [{} for _ in range(height)]
    for row, column, value in entries:
        rows[row][column] = rows[row].get(column, ZERO) + value
    columns: list[set[int]] = [set() for _ in range(width)]
    for row, line in enumerate(rows):
        for column in [c for c, value in line.items() if not value]:
            del line[column]
        for column in line:
            columns[column].add(row)
    single = [column for column in range(width) if len(columns[column]) == 1]
    queue = [(len(line), row) for row, line in enumerate(rows)]
    heapq.heapify(queue)
    live, free = set(range(height)), set(range(width))
    return _System(rows, columns, list(rhs), live, free, single, queue, [sum(map(len, rows))])


def _shortest_row(system: _System) -> int | None:
    """The live row to pivot on: the one row of a single-row column if there is one, else a shortest row."""
    while system.single:
        column = system.single.pop()
        if column in system.free and len(system.columns[column]) == 1:
            (row,) = system.columns[column]
            return row
    while system.queue:
        length, row = system.queue[0]
        if row in system.live and length == len(system.rows[row]):
            return row
        heapq.heappop(system.queue)
    return None


def _dense(system: _System) -> bool:
    size = len(system.live)
    return size > 2 and system.count[0] >= DENSE * size * size


def _pivot(system: _System, row: int) -> int:
    """Retire `row` with its rarest column, which is subtracted out of the other live rows; return that column."""
    line = system.rows[row]
    column = min(line, key=lambda c: (len(system.columns[c]), c))
    system.live.discard(row)
    system.free.discard(column)
    system.count[0] -= len(line)
    for other in line:
        system.columns[other].discard(row)
        if len(system.columns[other]) == 1:
            system.single.append(other)
    for target in list(system.columns[column]):
        _subtract(system, target, row, column)
    return column


def _subtract(system: _System, target: int, row: int, column: int) -> None:
    """Row `target` minus the multiple of row `row` that clears `column`."""
    line, goal = system.rows[row], system.rows[target]
    before = len(goal)
    factor = goal.pop(column) / line[column]
    for other, value in line.items():
        if other == column:
            continue
        changed = goal.get(other, ZERO) - factor * value
        if changed:
            goal[other] = changed
            system.columns[other].add(target)
        else:
            del goal[other]
            system.columns[other].discard(target)
            if len(system.columns[other]) == 1:
                system.single.append(other)
    system.rhs[target] -= factor * system.rhs[row]
    system.count[0] += len(goal) - before
    heapq.heappush(system.queue, (len(goal), target))


def _core(system: _System, size: int) -> list[Rational] | None:
    """A vector holding the solution of the rows still live, zero elsewhere; None if they are singular."""
    solution = [ZERO] * size
    if not system.live:
        return solution
    order = sorted(system.free)
    place = {column: k for k, column in enumerate(order)}
    matrix = fmpq_mat(len(order), len(order))
    target = fmpq_mat(len(order), 1)
    for k, row in enumerate(sorted(system.live)):
        target[k, 0] = system.rhs[row]
        for column, value in system.rows[row].items():
            matrix[k, place[column]] = value
    try:
        dense = matrix.solve(target)
    except ZeroDivisionError:
        return None
    for k, column in enumerate(order):
        solution[column] = dense[k, 0]
    return solution


def _back(system: _System, pivots: list[tuple[int, int]], solution: list[Rational]) -> list[Rational]:
    """Back substitution: each retired row gives its pivot variable from those settled after it."""
    for row, column in reversed(pivots):
        line = system.rows[row]
        known = sum((v * solution[c] for c, v in line.items() if c != column and solution[c]), ZERO)
        solution[column] = (system.rhs[row] - known) / line[column]
    return solution
