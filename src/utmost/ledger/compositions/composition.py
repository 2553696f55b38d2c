"""What a way to compose charges says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.errors import InputError
from utmost.exact import decimal
from utmost.ledger.costs import ChargeGroup, Part

if TYPE_CHECKING:
    from utmost.ledger.records import Budget


class Composition(ABC):
    """A way to compose charges: how much of a budget they spend together.

    `name` is its name on the command line, `words` describe it. What it spends is measured by one number, for which
    `measure` is the symbol: ε, or something else that it makes of the costs, such as ρ; `limit` is a budget's total in
    that measure.
    """

    name: str
    words: str
    measure: str = "ε"

    @abstractmethod
    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """What all these charges spend together, exactly or rounded up."""

    @abstractmethod
    def why_part_adds_up(self, part: Part, groups: Sequence[ChargeGroup]) -> str | None:
        """Why a part of a known source adds up with earlier charges on its column; None where it composes with them."""

    def limit(self, budget: Budget) -> Fraction:
        """All that a budget may spend."""
        return budget.epsilon

    def check_terms(self, budget: Budget) -> None:
        """Refuse a budget whose amounts this composition has no use for: δ, unless it overrides this."""
        if budget.delta:
            raise InputError(
                f"delta must be 0 with {self.name} composition, got {decimal(budget.delta)}",
                "delta",
                "say composition pld",
            )

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Load what `spent` needs, which can take a second, or say how to install it."""
