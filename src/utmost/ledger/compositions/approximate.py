"""Approximate composition: ε adds up and δ adds up, except over parts that no unit can be in twice."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.ledger.compositions.pure import PureComposition, parallel_sum
from utmost.ledger.costs import ChargeGroup

if TYPE_CHECKING:
    from utmost.ledger.records import Budget


class ApproximateComposition(PureComposition):
    """(Σ ε, Σ δ) of the charges, each over the largest parts of a column only, as `pure` has it.

    Fix neighbours T, T′. Let charge i be (ε_i, δ_i)-private. Given all earlier answers, its law under T is δ_i-close to
    a law that is at most e^(ε_i) times the one under T′; so all answers together are (Σ ε_i, Σ δ_i)-private, the sums
    over the charges whose part differs between T and T′, however a charge was chosen by earlier answers, as long as
    both sums stay within numbers that were fixed beforehand (basic composition is a filter: Rogers, Roth, Ullman and
    Vadhan 2016). Whatever parts differ, the largest sums of ε and the largest sums of δ bound theirs.
    """

    name, words = "approximate", "ε and δ add up"

    def delta_spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The δ of all charges together, exactly."""
        return parallel_sum(groups, budget.unit, budget.neighbours, lambda group: group.delta)

    def check_terms(self, budget: Budget) -> None:
        """δ must be given."""
        if not budget.delta:
            raise InputError("delta must be > 0 with approximate composition, got 0", "delta", "say --delta 1e-6")


APPROXIMATE = ApproximateComposition()
