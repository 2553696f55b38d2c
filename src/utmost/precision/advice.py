"""What to do about an ε′: one sentence for the person who has to decide, one more if the answer is a computed sum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from utmost.exact import Level, decimal
from utmost.precision import laplace, planar
from utmost.precision.bound_text import decimal_above, epsilon_text, extra_epsilon_text
from utmost.precision.certificate import Certificate, Implementation
from utmost.precision.closeness import round_down

Pair: TypeAlias = tuple[Fraction, Fraction]
CHEAP = Fraction(1, 100)  # share of ε that nobody will miss
EXACT = "exact draws (utmost mechanism) need no allowance at all"


def laplace_advice(
    task: laplace.LaplaceSetting, run: Implementation, made: Certificate, asked: Pair | None = None
) -> str:
    """For Laplace noise: charge it, round otherwise, or narrow the range; `asked` is the range before it is widened."""
    if _cheap(made):
        return _charge(task.level, made)
    low, high = asked or (task.low, task.high)
    best = laplace.best_rounding(replace(task, low=low, high=high), run)
    if best is not None and not laplace.promises_target(made, best.epsilon_prime):
        return _other(task.level, made, best)
    if made.finite:
        return _charge(task.level, made)
    return _narrower(task.high - task.low, laplace.widest_range(task, run), task.rounding, run, "range")


def planar_advice(
    task: planar.PlanarSetting, run: Implementation, made: Certificate, asked: tuple[Pair, Pair] | None = None
) -> str:
    """The same for planar noise; `asked` are the ranges of x and of y."""
    if _cheap(made):
        return _charge(task.level, made)
    x, y = asked or tuple(zip(task.low, task.high, strict=True))
    best = planar.best_rounding(replace(task, low=(x[0], y[0]), high=(x[1], y[1])), run)
    if best is not None and not laplace.promises_target(made, best.epsilon_prime):
        return _other(task.level, made, best)
    if made.finite:
        return _charge(task.level, made)
    side = max(top - bottom for bottom, top in zip(task.low, task.high, strict=True))
    return _narrower(side, planar.widest_square(task, run), task.rounding, run, "square")


def sum_advice(sensitivity: Fraction, implemented: Fraction) -> str:
    """What a computed sum costs: noise of scale (Δ + 2δ_f)/ε, which is not ε's but the answer's doing.

    >>> sum_advice(Fraction(1), Fraction(5, 4))
    'The computed sum raises the sensitivity from 1 to 1.25: the noise must be 1.25 times as wide, its scale 1.25/ε.'
    """
    raised = decimal_above(implemented)
    return (
        f"The computed sum raises the sensitivity from {decimal_above(sensitivity)} to {raised}: the noise must be "
        f"{decimal_above(implemented / sensitivity)} times as wide, its scale {raised}/ε."
    )


def _cheap(made: Certificate) -> bool:
    return made.price is not None and made.price <= CHEAP * made.epsilon


def _charge(level: Level, made: Certificate) -> str:
    bound = made.epsilon_prime or made.epsilon
    return f"Charge ε′, not ε: the arithmetic costs {decimal_above(extra_epsilon_text(level, bound), 3)}; {EXACT}."


def _other(level: Level, made: Certificate, best: Certificate) -> str:
    """Another rounding is better: this one is too fine for the machine, or coarser than it need be."""
    side = "too fine for the machine" if made.rounding < best.rounding else "too coarse"
    start = f"This rounding is {side}" if made.finite else f"No finite ε′, this rounding is {side}"
    reached = epsilon_text(level, best.epsilon_prime or made.epsilon, 6)
    return f"{start}: rounded to multiples of {best.rounding} it would be ε′ = {reached}; {EXACT}."


def _narrower(asked: Fraction, width: Fraction | None, step: Fraction, run: Implementation, what: str) -> str:
    generator = f"noise made of {_power(run.generator.count)} uniform values is too coarse"
    if width is None:
        return f"No finite ε′: {generator} for this rounding, however narrow the {what}; {EXACT}."
    shown = decimal(round_down(width, 10), 4)
    ends = ", whether what is outside is told as ∞ or as the nearer end" if what == "range" else ""
    return (
        f"No finite ε′: {generator} that far out; the {what} must be at most {shown} wide (it is {decimal(asked, 4)}) "
        f"when rounded to {step}{ends}; clamp the answers to a narrower {what}, or draw exactly (utmost mechanism), at "
        "no cost beyond ε."
    )


def _power(count: int) -> str:
    """2^53 where it is a power of two."""
    return f"2^{count.bit_length() - 1}" if count & (count - 1) == 0 else str(count)
