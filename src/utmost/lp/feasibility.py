"""Check an exact pair: the first constraint it violates, its objective and its bound."""

from __future__ import annotations

from collections.abc import Sequence

from utmost.lp.linear_program import LinearProgram, flint_reduced_costs, row_products
from utmost.lp.rationals import Rational, dot_product, to_fmpq


def primal_fault(program: LinearProgram, x: Sequence[Rational]) -> str | None:
    """The first constraint that x violates, as text; None if x is feasible, exactly."""
    for column, value in enumerate(x):
        if value < 0:
            return f"variable {column} must be >= 0, got less"
    rows = zip(row_products(program, x), program.targets, program.equality.tolist(), strict=True)
    for row, (activity, target, equal) in enumerate(rows):
        if equal and activity != target:
            return f"row {row} must equal its right-hand side, got {'more' if activity > target else 'less'}"
        if activity < target:
            return f"row {row} must be at least its right-hand side, got less"
    return None


def dual_fault(program: LinearProgram, y: Sequence[Rational], *, trust_upper: bool = True) -> str | None:
    """The first dual constraint that y violates, as text; None if y is feasible, exactly.

    With `trust_upper`, a column with an upper bound cannot be violated: `dual_bound` charges it instead.
    """
    for row, (value, equal) in enumerate(zip(y, program.equality.tolist(), strict=True)):
        if value < 0 and not equal:
            return f"multiplier of inequality row {row} must be >= 0, got less"
    upper = program.upper if trust_upper and program.upper is not None else [None] * program.shape[1]
    for column, (value, limit) in enumerate(zip(flint_reduced_costs(program, y), upper, strict=True)):
        if value < 0 and limit is None:
            return f"reduced cost of variable {column} must be >= 0, got less"
    return None


def dual_bound(program: LinearProgram, y: Sequence[Rational]) -> Rational:
    """rhs·y + Σ_j min(0, d_j)·upper_j with d = cost − Aᵀ y: a lower bound of the optimum if `dual_fault` is None.

    For feasible x, cost·x = y·Ax + d·x >= rhs·y + Σ_j min(0, d_j)·upper_j. Neumaier, Shcherbina (Math. Program. 2004).
    """
    total = dot_product(program.targets, y)
    if program.upper is None:
        return total
    reduced = zip(flint_reduced_costs(program, y), program.upper, strict=True)
    return sum((value * to_fmpq(limit) for value, limit in reduced if value < 0 and limit is not None), total)


def primal_objective(program: LinearProgram, x: Sequence[Rational]) -> Rational:
    """cost·x."""
    return dot_product(program.costs, x)
