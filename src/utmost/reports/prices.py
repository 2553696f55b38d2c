"""Describe where the ε of each query of a plan comes from: its own, a wanted error, a share, a part of another's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.publish.pricing import pair_queries
from utmost.reports.blocks import Cell, Paragraph
from utmost.reports.numbers import Quantity, Rounding, amount

if TYPE_CHECKING:
    from utmost.publish.plan_model import Plan, QuerySpec


def split_paragraph(plan: Plan) -> Paragraph | None:
    """How much of the plan's ε goes where, and how much is not used; None where the plan has no ε of its own."""
    if plan.told is not None:
        return _told_paragraph(plan)
    if plan.price.epsilon is None:
        return None
    sums = {words: Fraction(0) for words in ("of their own", "for wanted errors", "by share")}
    for pair in pair_queries(plan.queries):
        sums[_origin(pair.query)] += pair.price
    parts: list[Cell] = ["ε ", amount(plan.price.epsilon, Rounding.UP), " of the plan: "]
    for words, epsilon in sums.items():
        parts += [amount(epsilon, Rounding.UP), f" {words}, "] if epsilon else []
    return Paragraph(*parts, amount(plan.unused, Rounding.DOWN), " not used")


def _told_paragraph(plan: Plan) -> Paragraph:
    """How the ε of a plan with Gaussian noise follows from its queries."""
    assert plan.told is not None
    if plan.told.rho is None:
        return Paragraph("the privacy-loss distributions of all queries are composed")
    return Paragraph("ρ ", amount(plan.told.rho, Rounding.UP), " in all, told as ε at the stated δ")


def told_document(plan: Plan) -> dict[str, Any]:
    """By which definition the ε and δ of a plan with Gaussian noise are told, and its ρ."""
    if plan.told is None:
        return {}
    return {"definition": plan.told.definition} | ({} if plan.told.rho is None else {"rho": str(plan.told.rho)})


def _origin(query_spec: QuerySpec) -> str:
    if query_spec.wanted is not None:
        return "for wanted errors"
    return "of their own" if query_spec.share is None else "by share"


def price_sentences(queries: Sequence[QuerySpec], total: Fraction | None) -> Iterator[str]:
    """What led to the ε of each query: wanted errors, parts of a price, and the rest where a plan's ε was split."""
    shares = sum((query_spec.share or Fraction(0) for query_spec in queries), Fraction(0))
    if any(query_spec.rho is not None for query_spec in queries):
        yield from _rho_sentences(queries, shares)
        return
    for pair in pair_queries(queries):
        query_spec, price = pair.query, amount(pair.price, Rounding.UP)
        if query_spec.wanted is not None:
            yield f"{query_spec.name}: {query_spec.wanted.sentence(query_spec.epsilon)}."
        elif query_spec.share is not None:
            yield f"{query_spec.name}: share {query_spec.share} of {shares} → ε {price}."
        elif total is not None:
            yield f"{query_spec.name}: {_own_price(query_spec, price)}."
        if pair.over is not None:
            yield f"{pair.over.name}: {pair.part} of ε {price} → ε {amount(pair.over.epsilon, Rounding.UP)}."


def _own_price(query_spec: QuerySpec, price: Quantity) -> str:
    """The ε that a query has of its own, and what the ρ that it stands for gives without Gaussian noise."""
    if query_spec.stated_epsilon is None:
        return f"ε {price} of its own"
    stated = amount(query_spec.stated_epsilon, Rounding.UP)
    return f"ε {stated} of its own stands for a ρ, as that of the plan does → ε {price}"


def _rho_sentences(queries: Sequence[QuerySpec], shares: Fraction) -> Iterator[str]:
    """What led to the prices of a plan with Gaussian noise: wanted errors, parts of a price, shares other than 1."""
    for pair in pair_queries(queries):
        query_spec = pair.query
        if query_spec.wanted is not None:
            yield f"{query_spec.name}: {query_spec.wanted.words()} → {_price_text(query_spec)}."
        elif query_spec.share not in (None, 1):
            yield f"{query_spec.name}: share {query_spec.share} of {shares} → {_price_text(query_spec)}."
        elif query_spec.stated_epsilon is not None:
            yield f"{query_spec.name}: {_own_price(query_spec, amount(query_spec.epsilon, Rounding.UP))}."
        if pair.over is not None:
            yield f"{pair.over.name}: {pair.part} of the price of both → {_price_text(pair.over)}."


def _price_text(query_spec: QuerySpec) -> str:
    """ρ of Gaussian noise, else ε."""
    if query_spec.rho is None:
        return f"ε {amount(query_spec.epsilon, Rounding.UP)}"
    return f"ρ {amount(query_spec.rho, Rounding.UP)}"


def split_document(plan: Plan) -> dict[str, Any]:
    """The plan's ε and what is not used of it, where it has one."""
    return (
        {}
        if plan.price.epsilon is None
        else {"split": {"epsilon": str(plan.price.epsilon), "unused": str(plan.unused)}}
    )


def price_document(query_spec: QuerySpec) -> dict[str, Any]:
    """What led to the ε of a query, where it does not stand in the plan."""
    if query_spec.wanted is not None:
        return {"wanted": query_spec.wanted.content()}
    if query_spec.over is not None:
        return {"over": str(query_spec.over)}
    return {} if query_spec.share is None else {"share": str(query_spec.share)}
