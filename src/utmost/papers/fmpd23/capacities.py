"""FMPD23 §V and Cor. 20, 22: capacities of types, by formulas, programs and kernel mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from utmost.design import capacity
from utmost.design.privacy_program import privacy_program
from utmost.exact import Level, Number, alpha
from utmost.lp import certified_optimum
from utmost.mechanisms.geometric import geometric
from utmost.mechanisms.randomised_response import response, response_dual
from utmost.papers.fmpd23.channels import half
from utmost.papers.items import Item, LabelledMatrix, Value, matrix_item, require_exact, statement_item
from utmost.polytopes import kernels
from utmost.qif import capacity as leakage
from utmost.spaces import Space, cycle, discrete, line

LEVELS = tuple(alpha(text) for text in ("1/3", "1/2", "2/3"))
SIZES = (2, 3, 4, 5, 6)


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return (
        theorem14(),
        corollary20(),
        section6a_additive(),
        corollary22("multiplicative"),
        corollary22("additive"),
        corollary22_corrected(),
    )


def diagonal_optimum(space: Space, level: Level, minimise: bool) -> Number:
    """The optimum of Cor. 17 (`minimise`) or 18: the least or greatest m_11 + … + m_nn, solved exactly."""
    size = len(space)
    costs = np.full((size, size), Fraction(0), dtype=object)
    np.fill_diagonal(costs, Fraction(1 if minimise else -1))
    return abs(certified_optimum(privacy_program(space, level, costs)).upper)


def theorem14() -> Item:
    """Thm 14, Cor. 17, 18: the programs, the bounds of `design.capacity`, and the best kernel mechanism."""
    spaces = (line(3), line(4), discrete(3), discrete(4), cycle(4), cycle(5))
    rows = [_capacity_row(space, half()) for space in spaces]
    columns = ("mult.: program", "weights", "best kernel", "add.: program", "weights ", "best kernel ")
    return statement_item(
        "Theorem 14, Corollaries 17 and 18",
        "both capacities in three ways, ε = ln 2",
        "the capacities of a type are attained by kernel mechanisms and are the optima of two linear programs",
        LabelledMatrix("type", columns, [space.name for space in spaces], rows),
        all(row[0] == row[1] == row[2] and row[3] == row[4] == row[5] for row in rows),
    )


def _capacity_row(space: Space, level: Level) -> list[Value]:
    type_capacities = capacity(space, level)
    kernel_leakages = [leakage(kernel.channel()) for kernel in kernels(space, level)]
    return [
        diagonal_optimum(space, level, minimise=False),
        type_capacities.multiplicative.value,
        max(leakages.multiplicative.value for leakages in kernel_leakages),
        1 - diagonal_optimum(space, level, minimise=True),
        type_capacities.additive.value,
        max(leakages.additive.value for leakages in kernel_leakages),
    ]


def level_labels(cases: Sequence[Level]) -> list[str]:
    """The levels as row labels."""
    return [f"α = {level.alpha}" for level in cases]


def corollary20() -> Item:
    """(N(1−α) + 2α)/(1+α), and the geometric mechanism attains it (Thm 15, since ℓ_bin is in its utility set)."""
    formula = [[(n * (1 - level.alpha) + 2 * level.alpha) / (1 + level.alpha) for n in SIZES] for level in LEVELS]
    computed = [[capacity(line(n), level).multiplicative.value for n in SIZES] for level in LEVELS]
    is_attained = [
        [leakage(geometric(n - 1, level)).multiplicative.value for n in SIZES] for level in LEVELS
    ] == computed
    return matrix_item(
        "Corollary 20",
        "the multiplicative capacity of the line, (N(1−α) + 2α)/(1+α)",
        LabelledMatrix("N", [f"N = {n}" for n in SIZES], level_labels(LEVELS), formula),
        computed,
        "the geometric mechanism attains it (Thm 15)" if is_attained else "the geometric mechanism does not attain it",
    )


def section6a_additive() -> Item:
    """The geometric mechanism attains the additive capacity of the line as well."""
    rows = [[capacity(line(n), level).additive.value for n in SIZES] for level in LEVELS]
    geometric_rows = [[leakage(geometric(n - 1, level)).additive.value for n in SIZES] for level in LEVELS]
    return statement_item(
        "Section VI-A, additive capacity",
        "the additive capacity of the line, and that of the geometric mechanism",
        "the geometric mechanism attains the additive capacity for the types computed",
        LabelledMatrix("N", [f"N = {n}" for n in SIZES], level_labels(LEVELS), rows),
        rows == geometric_rows,
        "1 − 2α^⌊N/2⌋/(1+α) for even N, 1 − α^((N−1)/2) for odd N: so it is in every row here"
        if rows == [[_line_additive_capacity(n, level.alpha) for n in SIZES] for level in LEVELS]
        else "the closed form fails",
    )


def _line_additive_capacity(size: int, ratio: Number) -> Number:
    """1 − 2α^(N/2)/(1+α) for even N, 1 − α^((N−1)/2) for odd N."""
    power: Number = ratio ** (size // 2)
    return 1 - (power if size % 2 else 2 * power / (1 + ratio))


def corollary22(kind: str) -> Item:
    """The bounds as printed, beside what the type can deliver."""
    additive = kind == "additive"
    formula = [[_printed_bound(n, level.alpha, additive) for n in SIZES] for level in LEVELS]
    capacities = [[capacity(discrete(n), level) for n in SIZES] for level in LEVELS]
    computed = [[(pair.additive if additive else pair.multiplicative).value for pair in row] for row in capacities]
    caption = "1 − 1/(1+(N−1)e^ε)" if additive else "N/(1+(N−1)e^−ε)"
    return matrix_item(
        f"Corollary 22, {kind}",
        f"the {kind} capacity of the discrete type, printed as {caption}",
        LabelledMatrix("N", [f"N = {n}" for n in SIZES], level_labels(LEVELS), formula),
        computed,
        "misprint: N is missing above the line. What is printed is a bound, and is not attained" if additive else "",
    )


def _printed_bound(size: int, ratio: Number, additive: bool) -> Number:
    return 1 - 1 / (1 + (size - 1) / ratio) if additive else size / (1 + (size - 1) * ratio)


def corollary22_corrected() -> Item:
    """1 − N/(1+(N−1)e^ε), attained by R°; R attains the other."""
    formula = [[1 - size / (1 + (size - 1) / level.alpha) for size in SIZES] for level in LEVELS]
    computed = [
        [require_exact(leakage(response_dual(size, level)).additive.value) for size in SIZES] for level in LEVELS
    ]
    capacities = [[capacity(discrete(size), level) for size in SIZES] for level in LEVELS]
    is_additive_attained = formula == [[pair.additive.value for pair in row] for row in capacities]
    response_values = [[leakage(response(size, level)).multiplicative.value for size in SIZES] for level in LEVELS]
    is_multiplicative_attained = response_values == [[pair.multiplicative.value for pair in row] for row in capacities]
    return statement_item(
        "Corollary 22, as its proof has it",
        "1 − N/(1+(N−1)e^ε) and the additive capacity of R°",
        "the dominating additive capacity is given by R°, the multiplicative one by R",
        LabelledMatrix("N", [f"N = {n}" for n in SIZES], level_labels(LEVELS), computed),
        computed == formula and is_additive_attained and is_multiplicative_attained,
    )
