"""Composition by privacy-loss distributions (PLD): the smallest ε at a given δ > 0 of many charges together.

The privacy loss of an answer y is ln(Pr[y | T]/Pr[y | T′]); losses of independent answers add, so their distributions
convolve, and δ(ε) = E[(1 − e^(ε − loss))₊]. Each cost is replaced by losses that are at least as bad as its own, and
`utmost.ledger.loss_distributions` convolves them as whole numbers, rounded up: the ε found is proved, not estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal
from utmost.exact.privacy_levels import MAX_EPSILON
from utmost.ledger.costs import CONVERTED_LAWS, ChargeGroup, Composition, Part
from utmost.ledger.loss_distributions import compose

if TYPE_CHECKING:
    from utmost.ledger.loss_laws import LossLaw
    from utmost.ledger.records import Budget

MIN_DELTA = Fraction(1, 10**30)  # of a budget: far below any that is of use
NO_BOUND = Fraction(MAX_EPSILON + 1)  # more than any budget has: no ε is known to do
MAX_CHARGES = 2**40  # that are composed; more add up


class PldComposition(Composition):
    """The least ε at the budget's δ, by convolving the distributions of privacy losses; a part counts as the table."""

    name, words = "pld", "privacy-loss distributions"

    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The ε of all charges together at what their own δ leave of the budget's, rounded up.

        A charge that is (ε, δ)-private is no worse than one that tells everything with probability δ and is ε-private
        otherwise (Kairouz, Oh and Viswanath 2015), so Σ δ comes off the budget's δ first.
        """
        charges = list(groups)
        return pld_epsilon(charges, budget.delta - self.delta_spent(charges, budget))

    def delta_spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The δ that comes off the budget's: none of canonical noise, whose law has it among its losses."""
        return outside_delta(groups)

    def why_part_adds_up(self, part: Part, groups: Sequence[ChargeGroup]) -> str | None:
        """Parts always do."""
        return "its budget composes privacy-loss distributions"

    def check_terms(self, budget: Budget) -> None:
        """δ must be given, and not be smaller than any that is of use."""
        if budget.delta < MIN_DELTA:
            raise InputError(
                f"delta must be at least 1e-30 with pld composition, got {decimal(budget.delta)}",
                "delta",
                "say for instance 1e-6",
            )


PLD = PldComposition()


def outside_delta(groups: Iterable[ChargeGroup]) -> Fraction:
    """Σ of the δ of charges whose law of losses leaves it out."""
    return sum((group.own_delta * group.times for group in groups if group.law != "canonical"), Fraction(0))


def pld_epsilon(groups: Iterable[ChargeGroup], delta: Fraction) -> Fraction:
    """An ε, never below the least one, such that all charges are (ε, δ)-private together.

    At most Σ ε, the composition at δ = 0, or at the δ of canonical noise. The costs must be chosen before the first
    answer is seen; the queries need not be. A charge on a part counts as one on the whole table. Where distributions
    lead to no ε, as at a smaller δ than theirs, Gaussian noise is told by its ρ; at δ = 0 it has no ε, and NO_BOUND is
    returned.
    """
    charges = list(groups)
    counts = sum((_loss_laws(group) for group in charges), Counter())
    ending = sum((group.delta * group.times for group in charges if group.law == "canonical"), Fraction(0))
    adds_up = ending <= max(delta, Fraction(0)) and all(group.law not in CONVERTED_LAWS for group in charges)
    bounds = [sum((group.epsilon * group.times for group in charges), Fraction(0))] if adds_up else []
    if counts and delta >= MIN_DELTA and counts.total() <= MAX_CHARGES:
        composed = _composed_epsilon(tuple(sorted(counts.items(), key=repr)), delta)
        bounds += [] if composed is None else [composed]
    if not bounds and delta > ending:
        bounds.append(_epsilon_by_rho(charges, delta - ending))
    return min(bounds, default=NO_BOUND)


@lru_cache(maxsize=64)  # asked of a plan, by its preview, by the charge and by the release
def _composed_epsilon(counts: tuple[tuple[LossLaw, int], ...], delta: Fraction) -> Fraction | None:
    """The ε of all laws together, whose order does not matter then; None where none is known to do."""
    return compose(dict(counts), delta, with_lower=False).epsilon_above(delta)


def _epsilon_by_rho(charges: Sequence[ChargeGroup], delta: Fraction) -> Fraction:
    """An ε, rounded up, that the sum of all ρ converts to at what δ of their own leave."""
    from utmost.noise.concentrated import epsilon_of_rho

    return epsilon_of_rho(sum((group.concentrated_rho * group.times for group in charges), Fraction(0)), delta)


def _loss_laws(group: ChargeGroup) -> Counter[LossLaw]:
    """The laws of the losses of a group's charges; of what is (ε, δ)-private otherwise, those of ε alone.

    Noise on several numbers is independent, so its losses add up as those of several answers do. Of a unit that moves
    fewer numbers, or moves them less far, no more is told: a threshold tells a shift best, and the further the better.
    """
    from utmost.ledger.loss_laws import CanonicalLoss, ConcentratedLoss, GaussianLoss, GeometricLoss

    if group.law == "gaussian":
        assert group.rho is not None
        variance = group.numbers * group.steps**2 / (2 * group.rho)
        return Counter({GaussianLoss(variance, group.steps): group.numbers * group.times})
    if group.law == "concentrated":
        assert group.rho is not None
        return Counter({ConcentratedLoss(group.rho): group.times})
    if group.law == "canonical":
        return Counter({CanonicalLoss(group.epsilon, group.steps, group.delta): group.times})
    return Counter({GeometricLoss(group.epsilon, group.steps if group.law == "geometric" else 1): group.times})
