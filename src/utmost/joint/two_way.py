"""Two-way tables with marginals of rows and columns, which are no hierarchy: least squares, and whole tables by flow.

**Least squares.** With precisions a of a cell, b of a row, c of a column, d of the total (sums of 1/variance) the
normal equations of an R × C table have the matrix a·I + b·(I⊗J) + c·(J⊗I) + d·(J⊗J), J all ones. It has four
eigenspaces, so with B the weighted sum of answers, m its mean, r_i and c_j its row and column means,

    x_ij = (B_ij − r_i − c_j + m)/a + (r_i − m)/(a + bC) + (c_j − m)/(a + cR) + m/(a + bC + cR + dRC),

in fractions. Variances are sums over the same eigenspaces.

**A whole table.** The whole table ≥ 0 nearest to real targets z minimises Σ w·|t − z| over cells, rows, columns and the
total. Between whole numbers |t − z| may be replaced by its chord, so this is a flow of least cost from rows to columns
with convex costs. Its matrix is totally unimodular, so a vertex of the linear program is whole; the solver's answer is
rounded, its sums are made again in integers, and its cost in fractions is compared with the program's bound.

**Three ways.** Of three-way tables with two-way marginals neither holds: the matrix is not totally unimodular, and
whether a whole non-negative table with given marginals exists is NP-complete (Irving and Jerrum 1994).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from utmost.errors import InputError, SolverError
from utmost.joint.laws import NoiseLaw
from utmost.joint.tree import Key, key_text
from utmost.notebook import Figure, draw_figure, report_html
from utmost.tables import Column, Label, ResultTable, Tabular, unique_columns

MAX_TWO_WAY_CELLS = 10**5
NUMBER_COLUMNS = ("level", "answer", "unbiased", "unbiased_low", "unbiased_high", "whole")
COST_TOLERANCE = 1e-6  # relative, of a cost in fractions above the program's
KINDS = ("cells", "rows", "columns", "total")


@dataclass(frozen=True)
class TwoWayTable:
    """A complete table of rows and columns; `answers` of each kind are (values by key, law)."""

    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    answers: tuple[tuple[str, Mapping[Key, int], NoiseLaw], ...] = ()
    names: tuple[str, str] = ("row", "column")

    def level_name(self, kind: str) -> str:
        """The columns that tell the numbers of a kind apart, or the total."""
        row, column = self.names
        return {"cells": f"{row}, {column}", "rows": row, "columns": column, "total": "total"}[kind]

    def released(self, kind: str, key: Key) -> list[int]:
        """The answers of a number."""
        return [values[key] for answered, values, _ in self.answers if answered == kind]

    def with_answers(self, kind: str, values: Mapping[Key, int], law: NoiseLaw) -> TwoWayTable:
        """One more answer for all cells (keys (row, column)), rows (row,), columns (column,) or the total ()."""
        if kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind[:40]}", "kind")
        keys = self.keys(kind)
        if set(values) != set(keys):
            missing = next(iter(set(keys) ^ set(values)))
            raise InputError(f"values must have each of the {kind} once, not so {key_text(missing)}", "values")
        if law.variance is None:
            raise InputError("law must have unbiased values in least squares, got one without", "law")
        return replace(self, answers=(*self.answers, (kind, dict(values), law)))

    def keys(self, kind: str) -> list[Key]:
        """The keys of the cells, rows, columns or total, in their order."""
        if kind == "cells":
            return [(row, column) for row in self.rows for column in self.columns]
        if kind == "total":
            return [()]
        return [(label,) for label in (self.rows if kind == "rows" else self.columns)]


@dataclass(frozen=True, repr=False)
class TwoWayEstimate(Tabular):
    """Least squares of a two-way table: estimates by kind and key, and the variance of each kind, in fractions."""

    table: TwoWayTable
    estimates: Mapping[str, Mapping[Key, Fraction]]
    variances: Mapping[str, Fraction]

    def whole(self) -> Mapping[Key, int]:
        """The whole table ≥ 0 nearest to the estimates, each weighed by 1/√variance of its kind."""
        return whole_table(self)

    @cached_property
    def whole_numbers(self) -> Mapping[str, Mapping[Key, int]]:
        """The same by kind and key: cells, and the sums that rows, columns and the total are."""
        counts = self.whole()
        return {
            kind: {key: sum(counts[cell] for cell in _cells_of(self.table, kind, key)) for key in self.table.keys(kind)}
            for kind in KINDS
        }

    def sum_variance(self, keys: Iterable[Key]) -> Fraction:
        """The variance of the sum of these cells: its squared length in each eigenspace over the eigenvalue."""
        height, width = len(self.table.rows), len(self.table.columns)
        chosen = list(keys)
        known = set(self.table.keys("cells"))
        if not chosen or len(set(chosen)) < len(chosen) or not known.issuperset(chosen):
            raise InputError("a sum must have cells of the table, each once", "sum")
        constant = Fraction(len(chosen) ** 2, height * width)
        in_rows = Fraction(sum(n**2 for n in Counter(key[0] for key in chosen).values()), width)
        in_columns = Fraction(sum(n**2 for n in Counter(key[1] for key in chosen).values()), height)
        values = _Eigenvalues.of(self.table, _precisions(self.table))
        return (
            (len(chosen) - in_rows - in_columns + constant) / values.inner
            + (in_rows - constant) / values.row
            + (in_columns - constant) / values.column
            + constant / values.constant
        )

    def sum(self, keys: Iterable[Key]) -> Fraction:
        """The least squares estimate of the sum of these cells."""
        return sum((self.estimates["cells"][key] for key in keys), Fraction(0))

    def half_width(self, kind: str, coverage: float = 0.95) -> float:
        """z·√variance of a number of a kind, z the normal quantile of the coverage."""
        return normal_half_width(self.variances[kind], coverage)

    def __repr__(self) -> str:
        """A line: how many cells."""
        return f"<TwoWayEstimate of {len(self.table.rows)} x {len(self.table.columns)} counts>"

    def _repr_html_(self) -> str:
        return report_html(self, "two_way_estimate")

    def plot(self) -> Figure:
        """A chart of the estimates with their intervals beside the answers."""
        return draw_figure(self, "two_way_estimate")

    def _result_table(self) -> ResultTable:
        """A row for each number: its kind and keys, its answer if it has a single one, and its readings."""
        table = self.table
        numbers = [(kind, key) for kind in KINDS for key in table.keys(kind)]
        rows = [key[0] if kind in ("cells", "rows") else None for kind, key in numbers]
        columns = [key[-1] if kind in ("cells", "columns") else None for kind, key in numbers]
        answers = [table.released(kind, key) for kind, key in numbers]
        reaches = {kind: self.half_width(kind) for kind in KINDS}
        unbiased = [self.estimates[kind][key] for kind, key in numbers]
        names = unique_columns(table.names, NUMBER_COLUMNS)
        ends = [(float(value), reaches[kind]) for value, (kind, _) in zip(unbiased, numbers, strict=True)]
        return ResultTable(
            (
                Column.labels("level", (table.level_name(kind) for kind, _ in numbers)),
                Column.labels(names[0], rows),
                Column.labels(names[1], columns),
                Column.values("answer", (one[0] if len(one) == 1 else None for one in answers)),
                Column.values("unbiased", unbiased),
                Column.lower("unbiased_low", (value - reach for value, reach in ends)),
                Column.upper("unbiased_high", (value + reach for value, reach in ends)),
                Column.values("whole", (self.whole_numbers[kind][key] for kind, key in numbers)),
            )
        )


def normal_half_width(variance: Fraction, coverage: float) -> float:
    """z·√variance, z the normal quantile of the coverage."""
    from scipy.special import ndtri

    if not 0 < coverage < 1:
        raise InputError("coverage must be strictly between 0 and 1, got another: 0.95 is usual", "coverage")
    return float(ndtri((1 + coverage) / 2)) * math.sqrt(variance)


def two_way(rows: Sequence[Label], columns: Sequence[Label], *more: Sequence[Label]) -> TwoWayTable:
    """The complete table of these rows and columns; more than two ways are refused with the reason.

    >>> from utmost.exact import alpha
    >>> from utmost.joint.laws import GeometricNoise
    >>> law, table = GeometricNoise(alpha("1/2"), None), two_way("ab", "xy")
    >>> table = table.with_answers("cells", {(r, c): 1 for r in "ab" for c in "xy"}, law)
    >>> estimate = two_way_least_squares(table.with_answers("rows", {("a",): 5, ("b",): 2}, law))
    >>> {kind: str(variance) for kind, variance in estimate.variances.items()}
    {'cells': '8/3', 'rows': '8/3', 'columns': '16/3', 'total': '16/3'}
    >>> estimate.whole()
    {('a', 'x'): 2, ('a', 'y'): 2, ('b', 'x'): 1, ('b', 'y'): 1}
    """
    if more:
        raise InputError(
            f"a table of marginals must have two ways, got {2 + len(more)}: whether a whole three-way table >= 0 has "
            "given marginals is NP-complete",
            "columns",
            "read a hierarchy of the columns instead",
        )
    for labels, name in ((rows, "rows"), (columns, "columns")):
        if not labels or len(set(labels)) != len(labels):
            raise InputError(f"{name} must be labels that are listed once each, got none or one twice", name)
    if len(rows) * len(columns) > MAX_TWO_WAY_CELLS:
        raise InputError(f"rows × columns must be at most {MAX_TWO_WAY_CELLS}, got {len(rows) * len(columns)}", "rows")
    return TwoWayTable(tuple(rows), tuple(columns))


def two_way_least_squares(table: TwoWayTable) -> TwoWayEstimate:
    """The best linear unbiased estimates, exact; needs answers of the cells."""
    precisions, weighted = _precisions(table), {kind: dict[Key, Fraction]() for kind in KINDS}
    for kind, values, law in table.answers:
        assert law.variance is not None
        for key, value in values.items():
            weighted[kind][key] = weighted[kind].get(key, Fraction(0)) + law.unbiased(value) / law.variance
    if not precisions["cells"]:
        raise InputError("answers must be of the cells too, got marginals alone", "answers")
    cells = _cell_estimates(table, _right_sides(table, weighted), _Eigenvalues.of(table, precisions))
    estimates = {"cells": cells, **_margins(table, cells)}
    return TwoWayEstimate(table, estimates, _Eigenvalues.of(table, precisions).variances(table))


def _precisions(table: TwoWayTable) -> dict[str, Fraction]:
    """Of each kind the sum of 1/variance of its answers."""
    precisions = dict.fromkeys(KINDS, Fraction(0))
    for kind, _, law in table.answers:
        assert law.variance is not None
        precisions[kind] += 1 / law.variance
    return precisions


@dataclass(frozen=True)
class _Eigenvalues:
    """Of the normal equations: on interactions, row effects, column effects and the constant."""

    inner: Fraction
    row: Fraction
    column: Fraction
    constant: Fraction

    @classmethod
    def of(cls, table: TwoWayTable, precisions: Mapping[str, Fraction]) -> _Eigenvalues:
        """The four sums of the head of this module."""
        inner, height, width = precisions["cells"], len(table.rows), len(table.columns)
        row, column = inner + precisions["rows"] * width, inner + precisions["columns"] * height
        return cls(inner, row, column, row + column - inner + precisions["total"] * width * height)

    def variances(self, table: TwoWayTable) -> dict[str, Fraction]:
        """Of each kind: the squared length of its sum in each eigenspace over the eigenvalue."""
        height, width = len(table.rows), len(table.columns)
        rest_high, rest_wide = 1 - Fraction(1, height), 1 - Fraction(1, width)
        return {
            "cells": rest_high * rest_wide / self.inner
            + rest_high / width / self.row
            + rest_wide / height / self.column
            + 1 / (height * width * self.constant),
            "rows": rest_high * width / self.row + Fraction(width, height) / self.constant,
            "columns": rest_wide * height / self.column + Fraction(height, width) / self.constant,
            "total": height * width / self.constant,
        }


def _right_sides(table: TwoWayTable, weighted: Mapping[str, Mapping[Key, Fraction]]) -> list[list[Fraction]]:
    """B: of each cell the weighted answers of it, its row, its column and the total."""
    nothing = Fraction(0)
    total = weighted["total"].get((), nothing)
    return [
        [
            weighted["cells"][row, column]
            + weighted["rows"].get((row,), nothing)
            + weighted["columns"].get((column,), nothing)
            + total
            for column in table.columns
        ]
        for row in table.rows
    ]


def _cell_estimates(table: TwoWayTable, sides: list[list[Fraction]], values: _Eigenvalues) -> dict[Key, Fraction]:
    height, width = len(table.rows), len(table.columns)
    row_means = [sum(line, Fraction(0)) / width for line in sides]
    column_means = [sum((line[place] for line in sides), Fraction(0)) / height for place in range(width)]
    mean = sum(row_means, Fraction(0)) / height
    return {
        (row, column): (sides[i][j] - row_means[i] - column_means[j] + mean) / values.inner
        + (row_means[i] - mean) / values.row
        + (column_means[j] - mean) / values.column
        + mean / values.constant
        for i, row in enumerate(table.rows)
        for j, column in enumerate(table.columns)
    }


def _margins(table: TwoWayTable, cells: Mapping[Key, Fraction]) -> dict[str, dict[Key, Fraction]]:
    rows = {(row,): sum((cells[row, column] for column in table.columns), Fraction(0)) for row in table.rows}
    columns = {(column,): sum((cells[row, column] for row in table.rows), Fraction(0)) for column in table.columns}
    return {"rows": rows, "columns": columns, "total": {(): sum(rows.values(), Fraction(0))}}  # type: ignore[dict-item]


def whole_table(estimate: TwoWayEstimate) -> dict[Key, int]:
    """The whole table ≥ 0 with the least Σ w·|t − z| over cells, rows, columns and the total.

    Every number t is floor(z) + step + over − under, 0 ≤ step ≤ 1; a unit costs 1 − 2·frac(z) across z and 1 elsewhere.
    """
    from scipy.optimize import linprog

    program = _flow_program(estimate)
    result = linprog(program.costs, A_eq=program.matrix, b_eq=program.right, bounds=program.bounds, method="highs-ds")
    if result.status != 0:
        raise SolverError("the flow of least cost must exist, and the solver found none")
    keys = estimate.table.keys("cells")
    counts = {key: round(value) for key, value in zip(keys, result.x[: len(keys)].tolist(), strict=True)}
    cost, bound = _cost(estimate, counts), float(result.fun) + program.constant
    if min(counts.values()) < 0 or cost > bound + COST_TOLERANCE * (1 + abs(bound)):
        raise SolverError("the flow of least cost must be whole, and the solver's answer is not")
    return counts


@dataclass(frozen=True)
class _FlowProgram:
    """min costs·v, matrix·v = right, bounds; `constant` is added to its least cost."""

    costs: list[float]
    matrix: object
    right: list[float]
    bounds: list[tuple[float, float | None]]
    constant: float


def _flow_program(estimate: TwoWayEstimate) -> _FlowProgram:
    """Variables are the cells, then the step, over and under of each target: a row for each target's sum."""
    from scipy.sparse import csr_matrix

    table = estimate.table
    cell_place = {key: place for place, key in enumerate(table.keys("cells"))}
    costs, constant = [0.0] * len(cell_place), 0.0
    right: list[float] = []
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * len(cell_place)
    entries: list[tuple[int, int, float]] = []
    for kind, key, target in _targets(estimate):
        line, weight, floor = len(right), _weight(estimate, kind), math.floor(target)
        entries += [(line, cell_place[cell], 1.0) for cell in _cells_of(table, kind, key)]
        entries += [(line, len(costs) + step, sign) for step, sign in enumerate((-1.0, -1.0, 1.0))]
        share = float(target - floor)
        costs += [weight * (1 - 2 * share), weight, weight]
        bounds += [(0.0, 1.0), (0.0, None), (0.0, None)]
        right.append(float(floor))
        constant += weight * share
    lines, places, signs = zip(*entries, strict=True)
    matrix = csr_matrix((signs, (lines, places)), shape=(len(right), len(costs)))
    return _FlowProgram(costs, matrix, right, bounds, constant)


def _targets(estimate: TwoWayEstimate) -> list[tuple[str, Key, Fraction]]:
    return [(kind, key, value) for kind in KINDS for key, value in estimate.estimates[kind].items()]


def _weight(estimate: TwoWayEstimate, kind: str) -> float:
    return 1 / math.sqrt(estimate.variances[kind])


def _cells_of(table: TwoWayTable, kind: str, key: Key) -> list[Key]:
    """The cells that a number is the sum of."""
    if kind == "cells":
        return [key]
    if kind == "rows":
        return [(key[0], column) for column in table.columns]
    return [(row, key[0]) for row in table.rows] if kind == "columns" else table.keys("cells")


def _cost(estimate: TwoWayEstimate, counts: Mapping[Key, int]) -> float:
    """Σ w·|t − z|, sums in integers and differences in fractions."""
    cost = 0.0
    for kind, key, target in _targets(estimate):
        total = sum(counts[cell] for cell in _cells_of(estimate.table, kind, key))
        cost += _weight(estimate, kind) * float(abs(total - target))
    return cost
