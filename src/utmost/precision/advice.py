"""What to do about an ε′: one sentence for the person who has to decide."""

from __future__ import annotations

from fractions import Fraction

from utmost.exact import decimal
from utmost.precision import laplace, planar
from utmost.precision.certificate import Certificate, Implementation
from utmost.precision.closeness import down

CHEAP = Fraction(1, 100)  # share of ε that nobody will miss
EXACT = "exact draws (utmost mechanism) need no allowance at all"


def laplace_advice(task: laplace.Setting, run: Implementation, made: Certificate) -> str:
    """For Laplace noise: charge it, round more, or narrow the range."""
    if _cheap(made):
        return _charge(made)
    best = laplace.best_rounding(task, run)
    if best is not None and not laplace.within(made, best.epsilon_prime):
        return _coarser(made, best)
    if made.finite:
        return _charge(made)
    return _narrower(task.high - task.low, laplace.widest(task, run), task.rounding, run, "range")


def planar_advice(task: planar.Setting, run: Implementation, made: Certificate) -> str:
    """The same for planar noise."""
    if _cheap(made):
        return _charge(made)
    best = planar.best_rounding(task, run)
    if best is not None and not laplace.within(made, best.epsilon_prime):
        return _coarser(made, best)
    if made.finite:
        return _charge(made)
    side = max(top - bottom for bottom, top in zip(task.low, task.high, strict=True))
    return _narrower(side, planar.widest(task, run), task.rounding, run, "square")


def _cheap(made: Certificate) -> bool:
    return made.price is not None and made.price <= CHEAP * made.epsilon


def _charge(made: Certificate) -> str:
    return f"Charge ε′, not ε: the arithmetic costs {decimal(made.price or Fraction(0), 3)}; {EXACT}."


def _coarser(made: Certificate, best: Certificate) -> str:
    start = "This rounding is too fine for the machine" if made.finite else "No finite ε′ at this rounding"
    reached = decimal(best.epsilon_prime or Fraction(0))
    return f"{start}: rounded to multiples of {best.rounding} it would be ε′ = {reached}; {EXACT}."


def _narrower(asked: Fraction, width: Fraction | None, step: Fraction, run: Implementation, what: str) -> str:
    generator = f"noise made of {_power(run.generator.count)} uniform values is too coarse"
    if width is None:
        return f"No finite ε′: {generator} for this rounding, however narrow the {what}; {EXACT}."
    shown = decimal(down(width, 10), 4)
    ends = ", whether what is outside is told as ∞ or as the nearer end" if what == "range" else ""
    return (
        f"No finite ε′: {generator} that far out; the {what} must be at most {shown} wide (it is {decimal(asked, 4)}) "
        f"when rounded to {step}{ends}; clamp the answers to a narrower {what}, or draw exactly (utmost mechanism), at "
        "no cost beyond ε."
    )


def _power(count: int) -> str:
    """2^53 where it is a power of two."""
    return f"2^{count.bit_length() - 1}" if count & (count - 1) == 0 else str(count)
