"""Zero-concentrated composition (zCDP): ρ adds up, and is told as (ε, δ)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, decimal_below
from utmost.exact.privacy_levels import MAX_EPSILON
from utmost.ledger.compositions.pure import PureComposition, parallel_sum
from utmost.ledger.costs import ChargeGroup

if TYPE_CHECKING:
    from utmost.ledger.records import Budget

RHO_DIGITS = 12
EPSILON_STEP = Fraction(1, 10**14)
FOUND_CELLS_SHARE = Fraction(1, 10)  # of δ: for charges with a δ of their own; the rest converts ρ


class ZeroConcentratedComposition(PureComposition):
    """Σ ρ of the charges, over the largest parts of a column only, as `pure` has it; ρ = ε²/2 of an ε-private charge.

    M is ρ-zCDP if D_a(M(T) ‖ M(T′)) ≤ a·ρ for the Rényi divergences of all orders a > 1 and all neighbours T, T′ (Bun
    and Steinke 2016, arXiv:1605.02065). An ε-private charge is ε²/2-zCDP (their Prop. 1.4), one that is (ε, δ)-private
    is so but for an event of probability δ: it is δ-approximately ε²/2-zCDP. Both amounts add up, for charges that are
    chosen by earlier answers too, as long as neither sum goes above a number that was fixed when the budget was opened
    (a filter: Feldman and Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023). So both are fixed: a tenth of the
    budget's δ is for charges with a δ of their own, such as cells that are found, and ρ is the largest that the other
    nine tenths convert to the budget's ε (`noise.concentrated.rho_of`). All charges together are (ε, δ)-private then.

    Fix neighbours T, T′. A charge whose part has the same rows in both has the same law, and adds nothing: so parts
    compose as with `pure`.
    """

    name, words, measure = "zcdp", "ρ adds up", "ρ"
    delta_words = " for found keys (a tenth of its δ)"

    def limit(self, budget: Budget) -> Fraction:
        """The ρ that ε and nine tenths of δ convert to, rounded down."""
        return rho_limit(budget.epsilon, budget.delta)

    def delta_hint(self, cost: Fraction) -> str:
        """Ten times the δ of found cells."""
        return f" with --delta {decimal_above(cost / FOUND_CELLS_SHARE)} or more"

    def delta_limit(self, budget: Budget) -> Fraction:
        """A tenth of δ."""
        return budget.delta * FOUND_CELLS_SHARE

    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The ρ of all charges together, exactly."""
        return parallel_sum(groups, budget.unit, budget.neighbours, lambda group: group.concentrated_rho)

    def delta_spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The δ of all charges together, exactly."""
        return parallel_sum(groups, budget.unit, budget.neighbours, lambda group: group.own_delta)

    def check_terms(self, budget: Budget) -> None:
        """δ must be given."""
        if not budget.delta:
            raise InputError("delta must be > 0 with zcdp composition, got 0", "delta", "say --delta 1e-6")


@lru_cache(maxsize=256)
def rho_limit(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The ρ of a budget of (ε, δ): what ε and nine tenths of δ convert to, rounded down."""
    from utmost.noise.concentrated import rho_of

    return Fraction(decimal_below(rho_of(epsilon, delta * (1 - FOUND_CELLS_SHARE)), RHO_DIGITS))


def epsilon_for_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε of a budget at δ whose `limit` is this ρ, of at most 12 digits.

    >>> epsilon = epsilon_for_rho(Fraction(1, 40), Fraction("1e-6"))
    >>> float(epsilon), rho_limit(epsilon, Fraction("1e-6"))
    (1.01914635557566, Fraction(1, 40))
    """
    from utmost.noise.concentrated import epsilon_of_rho

    if rho <= 0:
        raise InputError(f"rho must be > 0, got {decimal(rho)}", "rho", "say for instance --rho 0.02")
    if (short := decimal_below(rho, RHO_DIGITS)) != decimal_above(rho, RHO_DIGITS):
        problem = f"rho must be a decimal of at most {RHO_DIGITS} digits, got another"
        raise InputError(problem, "rho", f"say --rho {short}")
    if not delta:
        raise InputError("delta is missing: ρ is told as ε at a δ", "delta", "say --delta 1e-6")
    if not 0 < delta < 1:
        raise InputError("delta must be > 0 and below 1 with rho, got another", "delta", "say --delta 1e-6")
    epsilon = epsilon_of_rho(rho, delta * (1 - FOUND_CELLS_SHARE))
    if not epsilon:
        raise InputError("rho must be larger: at this delta it converts to no epsilon above 0", "rho", "lower delta")
    if epsilon > MAX_EPSILON:
        problem = f"rho must convert to an epsilon of at most {MAX_EPSILON} at this delta, got a larger one"
        raise InputError(problem, "rho", "lower it")
    while rho_limit(epsilon, delta) < rho:  # the ε of the best order, rounded up, may lack its last digits
        epsilon = Fraction(decimal_above(epsilon * (1 + EPSILON_STEP), 15))
    return epsilon


ZCDP = ZeroConcentratedComposition()
