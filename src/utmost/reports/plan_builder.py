"""Describe a plan that is being written: what is asked, and what each query says of its price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.publish.pricing import PricedPair, pair_queries
from utmost.reports.blocks import Block, Cell, Facts, Paragraph, Report, Table
from utmost.reports.numbers import Rounding, amount

if TYPE_CHECKING:
    from utmost.publish.builder import PlanBuilder

HEADER = ("query", "kind", "columns", "price")
MAX_SHOWN_COLUMNS = 4


def describe(builder: PlanBuilder) -> Report:
    """The budget and the price of the whole, and a row for each query."""
    pairs = pair_queries(builder.specs)
    price = builder.price
    amounts = {"ε ": price.epsilon, "δ ": price.delta, "ρ ": price.rho}
    parts: list[Cell] = []
    for symbol, value in amounts.items():
        parts += [] if value is None else [", " * bool(parts) + symbol, amount(value, Rounding.UP)]
    facts = Facts((("Budget", builder.budget), ("Price", Paragraph(*parts or ["that of its queries"]))))
    blocks: dict[str, Block | None] = {
        "plan": facts,
        "queries": Table(HEADER, tuple(map(_query_row, pairs)), text_columns=3) if pairs else Paragraph("No queries."),
    }
    document: dict[str, Any] = {"budget": builder.budget, "queries": [pair.query.name for pair in pairs]}
    return Report(blocks, document)


def _query_row(pair: PricedPair) -> tuple[Cell, ...]:
    query = pair.query.query
    columns = sorted(query.columns)
    more = f" and {len(columns) - MAX_SHOWN_COLUMNS} more" if len(columns) > MAX_SHOWN_COLUMNS else ""
    return pair.query.name, query.kind, ", ".join(columns[:MAX_SHOWN_COLUMNS]) + more, _price_text(pair)


def _price_text(pair: PricedPair) -> str:
    """What a query says of its price."""
    query_spec = pair.query
    if query_spec.wanted is not None:
        return query_spec.wanted.words()
    if query_spec.share is not None:
        return f"share {query_spec.share}"
    if query_spec.rho is not None:
        return f"ρ {amount(query_spec.rho, Rounding.UP)}"
    return f"ε {amount(pair.price, Rounding.UP)}"
