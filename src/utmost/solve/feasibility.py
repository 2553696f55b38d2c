"""What an exact pair satisfies, and the first thing it does not."""

from __future__ import annotations

from collections.abc import Sequence

from utmost.solve.program import Program, products, reductions
from utmost.solve.rational import Quotient, inner, quotient


def primal_fault(program: Program, x: Sequence[Quotient]) -> str | None:
    """The first constraint that x breaks, in words; None if x is feasible, exactly."""
    for column, value in enumerate(x):
        if value < 0:
            return f"variable {column} must be >= 0, got less"
    rows = zip(products(program, x), program.targets, program.equality.tolist(), strict=True)
    for row, (done, target, equal) in enumerate(rows):
        if equal and done != target:
            return f"row {row} must equal its right-hand side, got {'more' if done > target else 'less'}"
        if done < target:
            return f"row {row} must be at least its right-hand side, got less"
    return None


def dual_fault(program: Program, y: Sequence[Quotient], *, trust_upper: bool = True) -> str | None:
    """The first dual constraint that y breaks, in words; None if y is feasible, exactly.

    With `trust_upper`, a column with a known upper bound cannot be broken: `bound` charges it instead.
    """
    for row, (value, equal) in enumerate(zip(y, program.equality.tolist(), strict=True)):
        if value < 0 and not equal:
            return f"multiplier of inequality row {row} must be >= 0, got less"
    upper = program.upper if trust_upper and program.upper is not None else [None] * program.shape[1]
    for column, (value, limit) in enumerate(zip(reductions(program, y), upper, strict=True)):
        if value < 0 and limit is None:
            return f"reduced cost of variable {column} must be >= 0, got less"
    return None


def bound(program: Program, y: Sequence[Quotient]) -> Quotient:
    """rhs·y + Σ_j min(0, d_j)·upper_j with d = cost − Aᵀ y: a lower bound of the optimum if `dual_fault` is None.

    For feasible x, cost·x = y·Ax + d·x >= rhs·y + Σ_j min(0, d_j)·upper_j. Neumaier, Shcherbina (Math. Program. 2004).
    """
    total = inner(program.targets, y)
    if program.upper is None:
        return total
    reduced = zip(reductions(program, y), program.upper, strict=True)
    return sum((value * quotient(limit) for value, limit in reduced if value < 0 and limit is not None), total)


def objective(program: Program, x: Sequence[Quotient]) -> Quotient:
    """cost·x."""
    return inner(program.costs, x)
