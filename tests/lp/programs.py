"""Programs to test with: a consumer's best private count, and small random ones; and an exact oracle for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import strategies as st

from utmost.lp import LinearProgram


def count_program(
    n: int, alpha: Fraction, prior: Sequence[Fraction], *, scaled: bool, interior: Sequence[Fraction] | None = None
) -> LinearProgram:
    """The best alpha-private mechanism of a count in 0..n for the absolute loss (GRS12); x_ij is column i(n+1)+j."""
    size = n + 1
    rows: list[int] = []
    columns: list[int] = []
    values: list[Fraction] = []
    count = 0
    for j in range(size):
        for i in range(n):
            for a, b in ((i, i + 1), (i + 1, i)):
                rows += [count, count]
                columns += [a * size + j, b * size + j]
                values += [Fraction(1), -alpha]
                count += 1
    for i in range(size):
        rows += [count + i] * size
        columns += range(i * size, (i + 1) * size)
        values += [Fraction(1)] * size
    cost = [prior[i] * abs(i - j) for i in range(size) for j in range(size)]
    scale = [alpha ** abs(i - j) for i in range(size) for j in range(size)] if scaled else None
    rhs = [Fraction(0)] * count + [Fraction(1)] * size
    equality = [False] * count + [True] * size
    return LinearProgram(cost, rows, columns, values, rhs, equality, scale=scale, interior=interior)


def geometric(n: int, alpha: Fraction) -> list[list[Fraction]]:
    """The truncated geometric mechanism: its rows."""
    outer_columns: dict[int, Callable[[int], Fraction]] = {
        0: lambda i: alpha**i / (1 + alpha),
        n: lambda i: alpha ** (n - i) / (1 + alpha),
    }
    inside = (1 - alpha) / (1 + alpha)
    return [
        [outer_columns[k](i) if k in outer_columns else inside * alpha ** abs(i - k) for k in range(n + 1)]
        for i in range(n + 1)
    ]


def best_loss(n: int, alpha: Fraction, prior: Sequence[Fraction]) -> Fraction:
    """The loss of the geometric mechanism, each answer read in the best way: the optimum, by GRS12 Thm 3.2."""
    law, counts = geometric(n, alpha), range(n + 1)
    return sum(
        (min(sum(prior[i] * law[i][k] * abs(i - w) for i in counts) for w in counts) for k in counts), Fraction(0)
    )


def uniform(n: int) -> list[Fraction]:
    """The uniform prior on 0..n."""
    return [Fraction(1, n + 1)] * (n + 1)


small_fractions = st.sampled_from([Fraction(k, d) for k in range(-4, 5) for d in (1, 2, 3)])


@st.composite
def small_programs(draw: Any, boxed: bool = False) -> LinearProgram:
    """Random programs with many zeros and ties: degenerate, redundant, infeasible or unbounded more often than not.

    A `boxed` one has Σ x <= 5 as its last row, so it is never unbounded.
    """
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    entries = [(r, c, draw(small_fractions)) for r in range(height) for c in range(width) if draw(st.booleans())]
    rhs = [draw(small_fractions) for _ in range(height)]
    equality = [draw(st.booleans()) for _ in range(height)]
    if boxed:
        entries += [(height, c, Fraction(-1)) for c in range(width)]
        rhs.append(Fraction(-5))
        equality.append(False)
    cost = [draw(small_fractions) for _ in range(width)]
    rows, columns, values = ([entry[k] for entry in entries] for k in range(3))
    return LinearProgram(cost, rows, columns, values, rhs, equality)


def dense_matrix(program: LinearProgram) -> list[list[Fraction]]:
    """The matrix of a small program."""
    matrix = [[Fraction(0)] * program.shape[1] for _ in range(program.shape[0])]
    for r, c, v in zip(program.rows, program.columns, program.values, strict=True):
        matrix[r][c] += v
    return matrix


def ppl_optimum(program: LinearProgram) -> tuple[str, Fraction | None]:
    """("optimized" | "unfeasible" | "unbounded", optimum) by the Parma Polyhedra Library's exact simplex."""
    ppl = pytest.importorskip("ppl")
    problem = ppl.MIP_Problem(program.shape[1])
    for constraint in ppl_constraints(program):
        problem.add_constraint(constraint)
    cost, unit = _integer_multiples(program.cost)
    problem.set_objective_function(sum((k * ppl.Variable(j) for j, k in enumerate(cost)), ppl.Linear_Expression(0)))
    problem.set_optimization_mode("minimization")
    status = problem.solve()["status"]
    if status != "optimized":
        return status, None
    value = problem.optimal_value()
    return status, Fraction(int(value.numerator), int(value.denominator)) / unit


def ppl_optimal_set_is_a_point(program: LinearProgram, optimum: Fraction) -> bool:
    """Whether the points of cost `optimum` are one point, by the dimension of their polyhedron."""
    ppl = pytest.importorskip("ppl")
    *cost, target = _integer_multiples([*program.cost, optimum])[0]
    system = ppl.Constraint_System()
    for constraint in ppl_constraints(program):
        system.insert(constraint)
    system.insert(sum((k * ppl.Variable(j) for j, k in enumerate(cost)), ppl.Linear_Expression(0)) == target)
    return int(ppl.C_Polyhedron(system).affine_dimension()) == 0


def ppl_constraints(program: LinearProgram) -> list[Any]:
    """The program's constraints, with integer coefficients."""
    ppl = pytest.importorskip("ppl")
    constraints = [ppl.Variable(j) >= 0 for j in range(program.shape[1])]
    for line, target, equal in zip(dense_matrix(program), program.rhs, program.equality, strict=True):
        *coefficients, target_multiple = _integer_multiples([*line, target])[0]
        expression = sum((k * ppl.Variable(j) for j, k in enumerate(coefficients)), ppl.Linear_Expression(0))
        constraints.append(expression == target_multiple if equal else expression >= target_multiple)
    return constraints


def _integer_multiples(values: Sequence[Fraction]) -> tuple[list[int], int]:
    unit = math.lcm(*(value.denominator for value in values))
    return [int(value * unit) for value in values], unit
