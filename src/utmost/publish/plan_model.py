"""What a plan is: its queries with their prices, its table, and whom it protects; `plans` reads one from TOML."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit
from utmost.data.sources import Source
from utmost.errors import InputError
from utmost.publish.pricing import GEOMETRIC
from utmost.publish.table_specs import TableSpec
from utmost.publish.wanted_errors import WantedError
from utmost.queries.query import Query

if TYPE_CHECKING:
    from utmost.publish.told_privacy import ToldPrivacy


@dataclass(frozen=True, slots=True)
class PlanPrice:
    """The price of a whole plan, to be split over its queries; None where each query says its own."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """One query of a plan: its name, what it may cost, and what it asks.

    Its ε is its own, follows from an error that is `wanted`, or is a `share` of what the plan's ε leaves. In a plan
    with a wanted error the last two are 0, which nothing charges, until the setting is known and `execute.price_plan`
    finds them. `splits_delta` says that its δ is a share of the plan's. A query that counts the persons over the bound
    of the one before it has the part `over` of the price of both.

    `noise` is what the plan asks for, and once the query is priced what it gets; with `inherits_noise` it is the plan's
    default, which a kind without such noise need not follow. `rho` and `noise_delta` are the price of Gaussian noise:
    its own in a plan, and found by `noise_choice` otherwise; `rejected_rho` is that of Gaussian noise which would have
    erred more than what was chosen. Of canonical noise `noise_delta` is what it may cost, and once the query is priced
    what it does cost. `stated_epsilon` is the plan's ε of a query that got another one, at the ρ that it stands for.
    """

    name: str
    epsilon: Fraction
    query: Query
    wanted: WantedError | None = None
    share: Fraction | None = None
    splits_delta: bool = False
    over: Fraction | None = None
    noise: str = GEOMETRIC
    inherits_noise: bool = True
    rho: Fraction | None = None
    noise_delta: Fraction = Fraction(0)
    rejected_rho: Fraction | None = None
    stated_epsilon: Fraction | None = None

    @property
    def delta(self) -> Fraction:
        """The δ that it may cost."""
        return self.noise_delta or Fraction(self.query.delta)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a release needs but the data. Locations are relative to `folder`, where the plan was found.

    `price` is what the plan says of its price as a whole; what it comes to is in its queries. `noise` is the default of
    its queries, `told` what they tell together where that is no sum of theirs, once they are priced. The levels of its
    `tables` are the last of its queries.
    """

    title: str | None
    neighbours: NeighbourRelation
    budget: str
    ledger: str
    output: Path | None
    source: Source
    fingerprint: str | None
    unit: PrivacyUnit
    part: Partition | None
    queries: tuple[QuerySpec, ...]
    folder: Path
    price: PlanPrice = PlanPrice()
    noise: str = GEOMETRIC
    told: ToldPrivacy | None = None
    tables: tuple[TableSpec, ...] = ()

    @property
    def chooses_noise(self) -> bool:
        """Does a query ask for other noise than geometric: its price depends on how the budget composes."""
        return any(query_spec.noise != GEOMETRIC for query_spec in self.queries)

    @property
    def epsilon(self) -> Fraction:
        """What the plan costs: its queries are about the same units, so their ε add up, unless ρ does."""
        if self.told is not None:
            return self.told.epsilon
        return sum((query_spec.epsilon for query_spec in self.queries), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """The δ of the plan: those of its queries add up, unless ρ does."""
        if self.told is not None:
            return self.told.delta
        return sum((query_spec.delta for query_spec in self.queries), Fraction(0))

    @property
    def unused(self) -> Fraction:
        """What its queries leave of the plan's ε, which is not spent; 0 where the plan has none of its own."""
        return Fraction(0) if self.price.epsilon is None else max(self.price.epsilon - self.epsilon, Fraction(0))


@contextmanager
def name_query_in_errors(name: str) -> Iterator[None]:
    """Name the query in every error raised inside."""
    try:
        yield
    except InputError as problem:
        raise problem.within(f'query "{name}"') from None


def used_columns(plan: Plan) -> set[str]:
    """All columns that the queries, the unit and the part look at."""
    columns: set[str] = set()
    for query_spec in plan.queries:
        with name_query_in_errors(query_spec.name):
            columns |= query_spec.query.used_columns(plan.unit, plan.part)
    return columns
