"""Describe the ρ of a channel: whether a claim holds, the order that decides it, and the least ρ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utmost.exact import json_above, json_below, json_number
from utmost.reports.blocks import Block, Cell, Paragraph
from utmost.reports.numbers import SENTENCE_DIGITS, at_least, at_most, quantity, short

if TYPE_CHECKING:
    from utmost.channel import Concentration, RenyiWitness

VERDICTS = {True: "yes, decided", False: "NO, decided", None: "undecided: too close to its least ρ"}


def concentration_blocks(result: Concentration, label: str) -> dict[str, Block | None]:
    """Whether the claim holds at every order, the pair and order that are nearest to it, and the least ρ."""
    return {
        "definition": Paragraph(f"Meets {label} at every order: {VERDICTS[result.holds]}."),
        "order": order_paragraph(result),
        "least rho": least_rho_paragraph(result),
    }


def least_rho_paragraph(result: Concentration) -> Paragraph:
    """The least ρ of the channel, enclosed."""
    if result.lower is None or result.upper is None:
        return Paragraph("Its least ρ is infinite.")
    if not result.upper:
        return Paragraph("Its least ρ is 0.")
    low, high = at_least(result.lower, SENTENCE_DIGITS), at_most(result.upper, SENTENCE_DIGITS)
    return Paragraph("Its least ρ is from ", low, " to ", high, ".")


def order_paragraph(result: Concentration) -> Paragraph:
    """The pair and the order with the largest D_a/a, and what the claim allows there."""
    witness = result.witness
    if witness is None:
        return Paragraph("No two secrets that it relates can be told apart at all.")
    if witness.order is None or witness.lower is None:
        first, second = witness.pair
        return Paragraph(f"D_a is infinite: answer {witness.output} can come from {first} but not from {second}.")
    return Paragraph(*_order_parts(witness, result))


def _order_parts(witness: RenyiWitness, result: Concentration) -> list[Cell]:
    assert witness.order is not None
    assert witness.lower is not None
    assert witness.upper is not None
    lead = "The worst order" if result.holds is False else "The nearest order"
    divergence = at_least(witness.lower, SENTENCE_DIGITS)
    sign = "≥"
    if result.holds:
        divergence, sign = at_most(witness.upper, SENTENCE_DIGITS), "≤"
    parts: list[Cell] = [f"{lead}, for i₁ = {witness.pair[0]} and i₂ = {witness.pair[1]}: a = "]
    parts += [quantity(witness.order, SENTENCE_DIGITS), f", with D_a {sign} ", divergence]
    return parts if result.claimed is None else [*parts, ", where a·ρ = ", short(witness.order * result.claimed), "."]


def concentration_document(result: Concentration) -> dict[str, Any]:
    """`witness` and `least_rho`, an enclosure; a bound of D_a is rounded outward."""
    least = [json_below(result.lower), json_above(result.upper)]
    return {"witness": _witness_document(result), "least_rho": least}


def _witness_document(result: Concentration) -> dict[str, Any] | None:
    witness = result.witness
    if witness is None:
        return None
    content: dict[str, Any] = {"pair": list(witness.pair), "output": witness.output, "order": None}
    if witness.order is None:
        return content | {"divergence": ["inf", "inf"], "allowed": None}
    allowed = None if result.claimed is None else float(witness.order * result.claimed)
    bounds = [json_below(witness.lower), json_above(witness.upper)]
    return content | {"order": json_number(float(witness.order)), "divergence": bounds, "allowed": json_number(allowed)}
