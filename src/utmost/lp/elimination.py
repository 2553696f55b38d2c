"""Exact sparse linear systems over the rationals.

Bases of structured programs are nearly triangular: most rows have two entries. So cheap pivots first (a row or a column
with one entry costs nothing, then least fill), and only the dense core that is left goes to flint.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq_mat

from utmost.lp.linear_program import ONE, ZERO, Rational

# A remaining square matrix at least this full is handed to the dense solver.
DENSE_SHARE = 0.3


def eliminate(
    entries: Sequence[tuple[int, int, Rational]], size: int, rhs: Sequence[Rational]
) -> list[Rational] | None:
    """The x with Σ of value·x[column] over the entries (row, column, value) of row r = rhs_r for r < size, exactly.

    None if the matrix is singular.
    """
    system = _build_system(entries, size, size, rhs)
    pivots: list[tuple[int, int]] = []
    while system.row_queue:
        row = _next_pivot_row(system)
        if row is None or _is_dense(system):
            break
        if not system.rows[row]:
            return None
        pivots.append((row, _eliminate_row(system, row)))
    solution = _solve_dense_core(system, size)
    return None if solution is None else _substitute_back(system, pivots, solution)


def null_vector(entries: Sequence[tuple[int, int, Rational]], height: int, width: int) -> list[Rational] | None:
    """Some d ≠ 0 with M d = 0 for the height × width matrix M of `entries`; None if its columns are independent."""
    system = _build_system(entries, height, width, [ZERO] * height)
    pivots: list[tuple[int, int]] = []
    while (row := _next_pivot_row(system)) is not None:
        if system.rows[row]:
            pivots.append((row, _eliminate_row(system, row)))
        else:
            system.live_rows.discard(row)
    if not system.free_columns:
        return None
    solution = [ZERO] * width
    solution[min(system.free_columns)] = ONE
    return _substitute_back(system, pivots, solution)


def particular_solution(
    lines: Mapping[int, Mapping[int, Rational]], rhs: Mapping[int, Rational], weight: Sequence[Rational]
) -> dict[int, Rational] | None:
    """Some x with Σ_c lines[r][c]·x_c = rhs[r] for every r; None if there is none.

    Greedy: each row, with the pivots so far taken out, is solved for its column of largest `weight`, so x is 0 on all
    but as many columns as there are independent rows, and those weigh much.
    """
    pivots: list[tuple[int, dict[int, Rational], Rational]] = []
    for row, line in lines.items():
        remainder, target = {c: v for c, v in line.items() if v}, rhs[row]
        for column, pivot_line, value in pivots:
            if column in remainder:
                factor = remainder[column]
                target -= factor * value
                for c, v in pivot_line.items():
                    remainder[c] = remainder.get(c, ZERO) - factor * v
                remainder = {c: v for c, v in remainder.items() if v}
        if remainder:
            pivot_column = max(remainder, key=lambda c: (weight[c], -c))
            pivot_value = remainder[pivot_column]
            pivots.append((pivot_column, {c: v / pivot_value for c, v in remainder.items()}, target / pivot_value))
        elif target:
            return None
    solution: dict[int, Rational] = {}
    for column, pivot_line, value in reversed(pivots):
        solution[column] = value - sum((v * solution[c] for c, v in pivot_line.items() if c in solution), ZERO)
    return solution


@dataclass(frozen=True, slots=True)
class _System:
    """Rows as dicts, columns as sets of live rows, a lazy heap of (row length, row)."""

    rows: list[dict[int, Rational]]
    columns: list[set[int]]
    rhs: list[Rational]
    live_rows: set[int]
    free_columns: set[int]
    single_columns: list[int]
    row_queue: list[tuple[int, int]]
    entry_count: list[int]


def _build_system(
    entries: Sequence[tuple[int, int, Rational]], height: int, width: int, rhs: Sequence[Rational]
) -> _System:
    rows: list[dict[int, Rational]] = [{} for _ in range(height)]
    for row, column, value in entries:
        rows[row][column] = rows[row].get(column, ZERO) + value
    columns: list[set[int]] = [set() for _ in range(width)]
    for row, line in enumerate(rows):
        for column in [c for c, value in line.items() if not value]:
            del line[column]
        for column in line:
            columns[column].add(row)
    single_columns = [column for column in range(width) if len(columns[column]) == 1]
    row_queue = [(len(line), row) for row, line in enumerate(rows)]
    heapq.heapify(row_queue)
    live_rows, free_columns = set(range(height)), set(range(width))
    return _System(rows, columns, list(rhs), live_rows, free_columns, single_columns, row_queue, [sum(map(len, rows))])


def _next_pivot_row(system: _System) -> int | None:
    """The live row to pivot on: the one row of a single-row column if there is one, else a shortest row."""
    while system.single_columns:
        column = system.single_columns.pop()
        if column in system.free_columns and len(system.columns[column]) == 1:
            (row,) = system.columns[column]
            return row
    while system.row_queue:
        length, row = system.row_queue[0]
        if row in system.live_rows and length == len(system.rows[row]):
            return row
        heapq.heappop(system.row_queue)
    return None


def _is_dense(system: _System) -> bool:
    size = len(system.live_rows)
    return size > 2 and system.entry_count[0] >= DENSE_SHARE * size * size


def _eliminate_row(system: _System, row: int) -> int:
    """Retire `row` with its rarest column, which is subtracted out of the other live rows; return that column."""
    line = system.rows[row]
    column = min(line, key=lambda c: (len(system.columns[c]), c))
    system.live_rows.discard(row)
    system.free_columns.discard(column)
    system.entry_count[0] -= len(line)
    for other in line:
        system.columns[other].discard(row)
        if len(system.columns[other]) == 1:
            system.single_columns.append(other)
    for target in list(system.columns[column]):
        _subtract(system, target, row, column)
    return column


def _subtract(system: _System, target: int, row: int, column: int) -> None:
    """Row `target` minus the multiple of row `row` that clears `column`."""
    line, target_line = system.rows[row], system.rows[target]
    previous_length = len(target_line)
    factor = target_line.pop(column) / line[column]
    for other, value in line.items():
        if other == column:
            continue
        difference = target_line.get(other, ZERO) - factor * value
        if difference:
            target_line[other] = difference
            system.columns[other].add(target)
        else:
            del target_line[other]
            system.columns[other].discard(target)
            if len(system.columns[other]) == 1:
                system.single_columns.append(other)
    system.rhs[target] -= factor * system.rhs[row]
    system.entry_count[0] += len(target_line) - previous_length
    heapq.heappush(system.row_queue, (len(target_line), target))


def _solve_dense_core(system: _System, size: int) -> list[Rational] | None:
    """A vector holding the solution of the rows still live, zero elsewhere; None if they are singular."""
    solution = [ZERO] * size
    if not system.live_rows:
        return solution
    order = sorted(system.free_columns)
    position = {column: k for k, column in enumerate(order)}
    matrix = fmpq_mat(len(order), len(order))
    target = fmpq_mat(len(order), 1)
    for k, row in enumerate(sorted(system.live_rows)):
        target[k, 0] = system.rhs[row]
        for column, value in system.rows[row].items():
            matrix[k, position[column]] = value
    try:
        dense = matrix.solve(target)
    except ZeroDivisionError:
        return None
    for k, column in enumerate(order):
        solution[column] = dense[k, 0]
    return solution


def _substitute_back(system: _System, pivots: list[tuple[int, int]], solution: list[Rational]) -> list[Rational]:
    """Back substitution: each retired row gives its pivot variable from those solved after it."""
    for row, column in reversed(pivots):
        line = system.rows[row]
        settled_sum = sum((v * solution[c] for c, v in line.items() if c != column and solution[c]), ZERO)
        solution[column] = (system.rhs[row] - settled_sum) / line[column]
    return solution
