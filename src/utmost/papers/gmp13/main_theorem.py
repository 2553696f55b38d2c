"""GMP13 §3 and §4: closeness, the main theorem as printed and as proved, and both against enumerated machines."""

from __future__ import annotations

import math
from fractions import Fraction

from utmost.exact import ball, decimal, decimal_above, epsilon, nearest_double
from utmost.papers.items import Claim, Item, LabelledMatrix, Value, claims_item, computed_item, statement_item
from utmost.precision import laplace
from utmost.precision.enumeration import BoundViolation, exact_epsilon, printed_bound_violation, wasserstein
from utmost.precision.guarantee import Implementation, PrecisionGuarantee, closeness_counterexample, is_close
from utmost.precision.number_formats import (
    BINARY16,
    BINARY64,
    SUM_METHODS,
    NumberFormat,
    UniformGenerator,
    fixed_point_format,
    sum_error,
    uniform_generator,
)

MACHINES: tuple[tuple[NumberFormat, UniformGenerator], ...] = (
    (fixed_point_format(8), uniform_generator(2**8)),
    (fixed_point_format(10), uniform_generator(2**10)),
    (BINARY16, uniform_generator(2**11)),
)
EPSILONS = ("1/4", "1", "2")
SECRETS = tuple(Fraction(k, 8) for k in range(9))


def items() -> tuple[Item, ...]:
    """In the order of the paper."""
    return remark1(), theorem41(), theorem45(), enumerated_machines()


def remark1() -> Item:
    """δ_f of a sum of a million terms in [0, 1]: what it adds to the sensitivity."""
    rows = [
        [decimal_above(2 * sum_error(BINARY64, terms, 1, method), 3) for method in SUM_METHODS]
        for terms in (10**3, 10**6, 10**9)
    ]
    grid = LabelledMatrix("terms", SUM_METHODS, ("10^3", "10^6", "10^9"), rows)
    return computed_item(
        "Remark 1", "2δ_f of a sum of numbers in [0, 1] in binary64: it adds to the sensitivity 1", grid
    )


def theorem41() -> Item:
    """Closeness from a Lipschitz constant and an error, and the converse."""
    points = [Fraction(k, 16) for k in range(17)]
    k, delta = Fraction(3), Fraction(1, 8)
    lines: list[Claim] = [
        (
            "Thm 4.1: 3-Lipschitz, rounded to 1/4: (3, 1/8)-close",
            True,
            is_close(_triple, _rounded_triple, points, k, delta),
        ),
        (
            "Thm 4.2: a slope of 4 is beyond (3, 1/8)",
            True,
            closeness_counterexample(lambda u: 4 * u, points, k, delta) is not None,
        ),
        ("Thm 4.2: a slope of 3 is not", True, closeness_counterexample(_triple, points, k, delta) is None),
    ]
    return claims_item("Theorems 4.1, 4.2", "n(u) = 3u on the multiples of 1/16, n′ rounded to multiples of 1/4", lines)


def _triple(u: Fraction) -> Fraction:
    return 3 * u


def _rounded_triple(u: Fraction) -> Fraction:
    return Fraction(round(3 * u * 4), 4)


def theorem45() -> Item:
    """The printed bound, broken by noise rounded to a grid; the bound as proved holds."""
    levels = (1, 2, 4, 6, 7, 8, 10, 12)
    violations = [printed_bound_violation(e) for e in levels]
    rows = [_violation_row(b) for b in violations]
    return statement_item(
        "Theorem 4.5",
        "Laplace noise rounded to a grid, Δ = L = 1, δ_t = 31/512: its exact ε beside the bounds",
        "ε′ = ε + ln(1 + R·e^{(L+δ_t)/Δ})",
        LabelledMatrix("ε", ("exact", "printed ε′", "proved ε′", "printed holds"), levels, rows),
        not any(b.is_violated for b in violations),
        "without ε in the exponent the bound fails here from ε = 7 on; for ε ≤ 1 it follows from what is proved",
    )


def _violation_row(b: BoundViolation) -> list[Value]:
    actual = nearest_double(ball(b.actual, 96).log())
    return [decimal(actual), decimal_above(b.printed), decimal_above(b.certified), not b.is_violated]


def enumerated_machines() -> Item:
    """Small machines enumerated: exact ε ≤ certified ε′, W_∞ ≤ δ_t."""
    rows, holds, names = [], True, []
    for number_format, generator in MACHINES:
        for text in EPSILONS:
            implementation = Implementation(number_format, generator)
            setting = laplace.laplace_setting(epsilon(text), 1, 0, 1, "1/4")
            guarantee = laplace.certify_laplace(setting, implementation)
            row, row_holds = _compare_with_guarantee(setting, implementation, guarantee)
            rows.append(row)
            holds = holds and row_holds
            names.append(f"{number_format.name}, N = {generator.count}, ε = {text}")
    return statement_item(
        "Theorem 4.5 as proved",
        "every value of the generator enumerated, answers 0, 1/8, …, 1, results rounded to 1/4",
        "a mechanism that respects Conditions 1–3 is ε′-differentially private",
        LabelledMatrix("machine", ("exact ε", "with ends", "ε′", "sharper", "W_∞", "δ_t"), names, rows),
        holds,
        "exact ε: the largest quotient of probabilities, a fraction, and its logarithm; ends: Remark 2",
    )


def _compare_with_guarantee(
    setting: laplace.LaplaceSetting, implementation: Implementation, guarantee: PrecisionGuarantee
) -> tuple[list[Value], bool]:
    cut_off, clamped = (exact_epsilon(setting, implementation, SECRETS, flag) for flag in (False, True))
    distance = wasserstein(setting, implementation)
    if guarantee.theorem is None or guarantee.sharp is None or guarantee.closeness is None:
        return [decimal(cut_off.epsilon), decimal(clamped.epsilon), "∞", "∞", decimal(distance, 3), "∞"], True
    holds = (
        cut_off.is_at_most(guarantee.sharp)
        and clamped.is_at_most(guarantee.sharp)
        and guarantee.sharp <= guarantee.theorem
    )
    exact = [decimal(value, 5) for value in (cut_off.epsilon, clamped.epsilon)]
    bounds = [decimal_above(value, 5) for value in (guarantee.theorem, guarantee.sharp)]
    gaps = [decimal(distance, 3), decimal_above(guarantee.closeness.delta_t, 3)]
    holds = holds and distance <= guarantee.closeness.delta_t and not math.isinf(cut_off.epsilon)
    return [*exact, *bounds, *gaps], holds
