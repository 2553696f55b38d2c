"""What the sensitivities of a release rest on, and its guarantee in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit, Selection
from utmost.exact import decimal_above

if TYPE_CHECKING:
    from utmost.queries.query import Query


MAX_EXACT_CHARS = 12  # of an ε in a sentence


@dataclass(frozen=True, slots=True)
class PrivacySetting:
    """What a release's sensitivities rest on: the relation, the unit, the part, and the number of units if public.

    `grouped` is set for a query that is asked of each of several cells: all cells together move by its sensitivity.
    """

    neighbours: NeighbourRelation
    unit: PrivacyUnit
    part: Partition | None
    units: int | None
    grouped: bool = False

    @property
    def replacing(self) -> bool:
        """Is one unit replaced, their number being public."""
        return self.neighbours is NeighbourRelation.REPLACE

    def selection(self, query: Query) -> Selection:
        """The rows that the query is about."""
        return Selection(query.where, self.unit, self.part)

    def holds_everyone(self, query: Query) -> bool:
        """Is every unit in the query with exactly one row, whatever the data: then their number is public."""
        covers_table = self.replacing and self.part is None and query.where is None and not self.grouped
        return covers_table and self.unit.column is None and not query.drops_rows


def short_epsilon(epsilon: Fraction) -> str:
    """ε exactly where that is short, else a decimal that is not below it.

    >>> short_epsilon(Fraction(1, 3)), short_epsilon(Fraction(62499999999871, 62500000000000))
    ('1/3', '1')
    """
    text = str(epsilon)
    return text if len(text) <= MAX_EXACT_CHARS else decimal_above(epsilon)


def guarantee_sentence(
    epsilon: Fraction,
    setting: PrivacySetting,
    delta: Fraction = Fraction(0),
    rho: Fraction | None = None,
    own_delta: Fraction = Fraction(0),
) -> str:
    """The guarantee in words; amounts that are converted are rounded up.

    With an `own_delta`, of found cells, ρ holds but for events of so much probability (Bun and Steinke 2016, Def. 8.1).
    """
    unit = "row" if setting.unit.column is None else f"person ({setting.unit})"
    unit += "" if setting.part is None else f", of which the rows with {setting.part} are looked at,"
    change = f"replacing one {unit} by any other" if setting.replacing else f"adding or removing one {unit}"
    if rho is not None:
        but_for = f", but for an event of probability {decimal_above(own_delta)} at most" if own_delta else ""
        kind = f"{decimal_above(own_delta)}-approximate zero-concentrated" if own_delta else "zero-concentrated"
        return (
            f"{change} changes no Rényi divergence of order a by more than a·{decimal_above(rho)}{but_for}; "
            f"{kind} differential privacy of rho {decimal_above(rho)}, which is (epsilon, delta)-"
            f"differential privacy with epsilon {decimal_above(epsilon)} at delta {decimal_above(delta)}, recomputed "
            "from what ran"
        )
    if delta:
        return (
            f"{change} changes the probability of every set of releases by a factor of at most "
            f"e^({short_epsilon(epsilon)}) and "
            f"{decimal_above(delta)} more; (epsilon, delta)-differential privacy, recomputed from what ran"
        )
    return (
        f"{change} changes the probability of every possible release by a factor of at most "
        f"e^({epsilon}); pure differential privacy, epsilon recomputed from the mechanisms that ran"
    )
