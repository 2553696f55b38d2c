"""A table of a plan with its price: one query for each level, with its share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.planning.shares import RHO
from utmost.publish.pricing import GEOMETRIC
from utmost.publish.table_designs import planned_table_shares
from utmost.queries.tables import CountTable

if TYPE_CHECKING:
    from utmost.publish.plan_model import QuerySpec
    from utmost.queries.privacy_setting import PrivacySetting


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table of a plan: what is counted, what the plan says of it, and its price, which the levels share.

    `entries` are the plan's own, but for name, price and noise. `price` is a query with the price of the whole table.
    """

    table: CountTable
    entries: Mapping[str, Any]
    price: QuerySpec
    shares: tuple[Fraction, ...]  # of the levels: they add up to 1
    workload: str
    setting: PrivacySetting
    is_planned: bool = False  # are the shares those that suit the workload

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    @property
    def specs(self) -> tuple[QuerySpec, ...]:
        """A query for each level, with its part of the price; of a wanted error each has the same."""
        levels = zip(self.table.query_names, self.table.queries, self.shares, strict=True)
        return tuple(replace(_part_of(self.price, share), name=name, query=query) for name, query, share in levels)

    def for_sums_of_rho(self) -> TableSpec:
        """The table where the shares of its price are of ρ: shares that were planned are planned for that."""
        if not self.is_planned or self.price.noise == GEOMETRIC or self.price.share is None:
            return self
        return replace(self, shares=planned_table_shares(self.table, self.workload, self.setting, RHO))


def table_spec(
    table: CountTable,
    entries: Mapping[str, Any],
    price: QuerySpec,
    shares: tuple[Fraction, ...] | None,
    workload: str,
    setting: PrivacySetting,
    *,
    measure: str,
) -> TableSpec:
    """The table with its shares: those of the plan, or those that suit its workload."""
    number = len(table.levels)
    if shares is None and price.wanted is None:
        planned = planned_table_shares(table, workload, setting, measure)
        return TableSpec(table, entries, price, planned, workload, setting, True)
    return TableSpec(table, entries, price, shares or (Fraction(1, number),) * number, workload, setting)


def _part_of(price: QuerySpec, part: Fraction) -> QuerySpec:
    """A part of a price."""
    return replace(
        price,
        epsilon=price.epsilon * part,
        rho=None if price.rho is None else price.rho * part,
        share=None if price.share is None else price.share * part,
        noise_delta=price.noise_delta * part,
    )
