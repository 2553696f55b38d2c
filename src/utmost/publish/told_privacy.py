"""What a plan or a release with Gaussian noise tells as a whole, where its costs do not just add up as ε and δ.

In a budget that counts ρ the ρ of all answers add up, and are told as (ε, δ) by a conversion at a stated δ. In a budget
that composes privacy-loss distributions ε is what these give at a stated δ. δ of answers that have one of their own,
such as found cells, comes on top of what ρ is converted at. Both are computed anew whenever a release file is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from utmost.errors import InputError
from utmost.exact import decimal_above
from utmost.ledger.costs import CONVERTED_LAWS, ChargeGroup, QueryCost

Definition = Literal["zcdp", "pld"]
DEFINITIONS: tuple[Definition, ...] = ("zcdp", "pld")
TOLD_DIGITS = 12
MIN_EPSILON = Fraction(1, 10**12)  # of an answer whose ρ converts to none


@dataclass(frozen=True, slots=True)
class ToldPrivacy:
    """The (ε, δ) of several answers together, by which definition, and their ρ where that adds up."""

    epsilon: Fraction
    delta: Fraction
    definition: Definition
    rho: Fraction | None = None


def told_privacy(costs: Sequence[QueryCost], delta: Fraction, definition: Definition) -> ToldPrivacy:
    """What these costs tell together; `delta` is all of it, theirs included.

    >>> cost = QueryCost("q", Fraction(1), "gaussian", 1, Fraction("1e-6"), Fraction("0.0004"))
    >>> told = told_privacy([cost] * 60, Fraction("1e-6"), "zcdp")
    >>> str(told.rho), float(told.epsilon) < 1
    ('3/125', True)
    """
    groups = [cost.group(None) for cost in costs]
    conversion_delta = delta - _outside_delta(groups, definition)
    if not 0 < conversion_delta < 1:
        problem = "delta must be more than what found cells take of it where Gaussian noise is told, got less"
        raise InputError(problem, "delta", "raise delta")
    if definition == "zcdp":
        rho = sum((group.concentrated_rho for group in groups), Fraction(0))
        return ToldPrivacy(_short(epsilon_at(rho, conversion_delta)), delta, definition, rho)
    from utmost.ledger.compositions.pld import pld_epsilon

    return ToldPrivacy(pld_epsilon(groups, conversion_delta), delta, definition)


def _outside_delta(groups: Sequence[ChargeGroup], definition: Definition) -> Fraction:
    """The δ that answers have of their own, beside what ρ or loss distributions are told at."""
    from utmost.ledger.compositions.pld import outside_delta

    return outside_delta(groups) if definition == "pld" else sum((group.own_delta for group in groups), Fraction(0))


def _short(epsilon: Fraction) -> Fraction:
    """A decimal of twelve digits that is not below an ε."""
    return Fraction(decimal_above(epsilon, TOLD_DIGITS))


@lru_cache(maxsize=4096)  # equal queries ask again
def epsilon_at(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε that ρ is told as at a δ: rounded up, and above 0."""
    from utmost.noise.concentrated import epsilon_of_rho

    return max(epsilon_of_rho(rho, delta), MIN_EPSILON)


def has_converted(costs: Sequence[QueryCost]) -> bool:
    """Is the ε of one of these what its ρ converts to."""
    return any(cost.law in CONVERTED_LAWS for cost in costs)
