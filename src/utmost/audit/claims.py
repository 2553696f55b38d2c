"""What is claimed of an audited mechanism: pure ε, (ε, δ), or the ρ of zero-concentrated privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from utmost.channel.concentration import check_rho
from utmost.errors import InputError
from utmost.exact import Level, decimal, rational

NEIGHBOURS_ONLY = "distance must be 1 for a claim with delta or rho, got another: they speak of neighbours alone"


@dataclass(frozen=True, slots=True)
class Claims:
    """A claimed level, the δ at which ε is bounded, and a claimed ρ, each None where it is not given."""

    level: Level | None
    delta: Fraction | None
    rho: Fraction | None

    @property
    def delta_above(self) -> float:
        """A double that is not below δ; 0 without one."""
        return -double_below(-self.delta) if self.delta else 0.0


def check_claims(level: Level | None, delta: object | None, rho: object | None) -> Claims:
    """The claims, if they can be audited together: 0 ≤ δ < 1, ρ > 0 and alone."""
    if rho is not None:
        if level is not None or delta is not None:
            raise InputError(
                "rho must come without epsilon, alpha and delta, got both", "rho", "audit one claim, then the other"
            )
        return Claims(None, None, check_rho(rho))
    return Claims(level, None if delta is None else _check_delta(delta), None)


def _check_delta(value: object) -> Fraction:
    delta = rational(value, "delta")
    if not 0 <= delta < 1:
        raise InputError(f"delta must be >= 0 and below 1, got {decimal(delta)}", "delta", "say for instance 1e-6")
    return delta


def double_below(value: Fraction) -> float:
    """The largest double that is not above a fraction, or the one below it.

    >>> double_below(Fraction(1, 2)), double_below(Fraction(1, 10)) <= Fraction(1, 10)
    (0.5, True)
    """
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
