"""What the queries of a draft cost: an ε of their own, a share of the plan's, or what a wanted error leads to.

The plan's ε and δ are split by the reader of plans itself (`publish.plans`): over queries that ask for nothing but
their prices, so that a query whose other fields are still wrong leaves the prices of the others as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.errors import InputError
from utmost.exact import integer
from utmost.publish import plans, pricing
from utmost.publish.pricing import PricedPair
from utmost.queries import registry
from utmost.queries.count import Count
from utmost.queries.found_cells import BY_FIELD, DELTA_FIELD
from utmost.queries.over import Over
from utmost.studio.curator.forms import PlanDraft, QueryDraft, filled_in
from utmost.studio.forms import Problem, errors_for_field, one_line

NO_PLAN_EPSILON = Problem(
    field="epsilon", message="epsilon of the whole plan must be given: a query takes a share of it"
)
UNASKED_PLAN: Mapping[str, Any] = {"neighbours": "replace", "budget": "b", "source": {}}


@dataclass(frozen=True, slots=True)
class DraftPrices:
    """The prices of a draft's queries after the split; None, and why, where they are not known.

    `has_shares` says that the shares of the plan's ε are known too: they are once every wanted error led to its ε.
    """

    draft: PlanDraft
    pairs: tuple[PricedPair, ...] | None
    problems: tuple[Problem, ...] = ()
    has_shares: bool = False

    def is_known(self, k: int) -> bool:
        """Is it known what a query costs: it says so itself, or the split is known."""
        query = self.draft.queries[k]
        if query.price == "share" and not self.has_shares:
            return False
        return self.pairs is not None or not _splits_delta(query, self.draft)

    def single_price(self, k: int) -> dict[str, Any]:
        """What a query costs, as a plan with this query alone says it; any price where it is not known."""
        query = self.draft.queries[k]
        pair = None if self.pairs is None else self.pairs[k]
        epsilon = pair.price if pair is not None and self.has_shares else Fraction(1)
        delta = Fraction(1, 2) if pair is None else pair.query.delta
        price = {"epsilon": epsilon, **_own_over(query)} if query.price == "share" else own_price(query)
        return {**price, **({DELTA_FIELD.name: delta} if _splits_delta(query, self.draft) else own_delta(query))}


def _splits_delta(query: QueryDraft, draft: PlanDraft) -> bool:
    """Does a query take a share of the plan's δ."""
    return _has_delta(query) and not own_delta(query) and bool(draft.delta.strip())


def _has_delta(query: QueryDraft) -> bool:
    """Is it asked in a way that costs δ."""
    return DELTA_FIELD in registry.asked_fields(query.kind, query.way)


def plan_price(draft: PlanDraft) -> dict[str, str]:
    """What a draft says of the price of the whole plan."""
    return filled_in({"epsilon": draft.epsilon, "delta": draft.delta})


def own_price(query: QueryDraft) -> dict[str, Any]:
    """What a query of a draft says of its ε, as a plan has it; with the part for the persons over its bound."""
    if query.price != "error":
        return filled_in({query.price: query.text(query.price)}) | _own_over(query)
    with errors_for_field("rows"):
        rows = {"rows": integer(query.rows.strip(), "rows")} if query.rows.strip() else {}
    return {"error": query.error.strip(), **rows, **_own_over(query)}


def _own_over(query: QueryDraft) -> dict[str, str]:
    """The part of its price for the persons over its bound; none where these are what it asks for."""
    return {} if query.kind == Over.kind else filled_in({"over": query.over})


def own_delta(query: QueryDraft) -> dict[str, str]:
    """The δ that a query of a draft says, if it is asked of cells that are found."""
    return filled_in({DELTA_FIELD.name: query.text(DELTA_FIELD.name)}) if _has_delta(query) else {}


def split_prices(draft: PlanDraft, found: Mapping[int, Fraction]) -> DraftPrices:
    """The prices of the queries of a draft; `found` has those that wanted errors lead to, by the query's place."""
    if any(query.price == "share" for query in draft.queries) and not draft.epsilon.strip():
        return DraftPrices(draft, None, (NO_PLAN_EPSILON,))
    try:
        queries = [_price_query(k, query, draft) for k, query in enumerate(draft.queries)]
        plan = plans.plan_from_mapping({**UNASKED_PLAN, **plan_price(draft), "query": queries})
        specs, has_shares = plan.queries, all(k in found for k in wanted_places(draft))
        if has_shares:
            names = {str(k): epsilon for k, epsilon in found.items()}
            specs = pricing.price_queries(specs, plan.price.epsilon, names)
    except InputError as error:
        return DraftPrices(draft, None, (_price_problem(error, draft),))
    return DraftPrices(draft, tuple(pricing.pair_queries(specs)), has_shares=has_shares)


def wanted_places(draft: PlanDraft) -> list[int]:
    """Which queries of a draft want an error."""
    return [k for k, query in enumerate(draft.queries) if query.price == "error"]


def _price_query(k: int, query: QueryDraft, draft: PlanDraft) -> dict[str, Any]:
    """A query that has the price of another, and asks for nothing else."""
    try:
        price = own_price(query)
    except InputError as error:
        raise error.within(_query_context(k)) from None
    has_delta = own_delta(query) or _splits_delta(query, draft)
    cells = {BY_FIELD.name: ["x"], **own_delta(query)} if has_delta else {}
    return {"name": str(k), "kind": Count.kind, **price, **cells}


def _query_context(k: int) -> str:
    return f'query "{k}"'


def _price_problem(error: InputError, draft: PlanDraft) -> Problem:
    """What is wrong with a price: of the query that the error names, or of the whole plan."""
    field = error.field or "epsilon"
    for k, query in enumerate(draft.queries):
        if error.context == _query_context(k):
            place = query.price if field == "epsilon" else field
            return Problem(field=f"queries.{k}.{place}", message=one_line(error.text))
    return Problem(field=field if field in ("epsilon", "delta") else "epsilon", message=one_line(error.text))
