"""Budgets and charges as JSON."""

from __future__ import annotations

from typing import Any

from utmost.ledger.records import CHAIN_CHARS, ROW, Budget, BudgetState, Charge, Part


def budget_content(budget: Budget, state: BudgetState) -> dict[str, Any]:
    """A budget with what it has spent and left: what `utmost budget show --json` prints."""
    return {
        "name": budget.name,
        "epsilon": str(budget.epsilon),
        "delta": str(budget.delta),
        "composition": budget.composition,
        "unit": budget.unit,
        "neighbours": budget.neighbours,
        "remember": budget.remember,
        "opened": budget.opened,
        "spent": str(state.spent),
        "left": str(state.left),
        "charges": state.charges,
        "chain": state.chain,
    }


def charge_content(charge: Charge) -> dict[str, Any]:
    """A charge: what `utmost budget history --json` lists."""
    costs = [
        {"query": cost.query, "epsilon": str(cost.epsilon), "law": cost.law, "steps": cost.steps}
        for cost in charge.costs
    ]
    return {
        "entry": charge.number,
        "charged": charge.charged,
        "plan": charge.plan,
        "fingerprint": charge.fingerprint,
        "part": None if charge.part is None else _part_content(charge.part),
        "epsilon": str(charge.epsilon),
        "costs": costs,
        "kept": charge.kept,
        "unit_kind": charge.unit_kind,
        "chain": charge.chain,
    }


def _part_content(part: Part) -> dict[str, str | None]:
    """A part; `source` is None where it is not known, and then the part adds up with every other."""
    source = None if part.source is None else part.source[:CHAIN_CHARS]
    return {"column": part.column, "equals": part.value, "kind": part.kind, "table": part.table, "source": source}


def protection_sentence(budget: Budget) -> str:
    """Whom a budget protects, and against which change.

    >>> from fractions import Fraction
    >>> protection_sentence(Budget("survey", Fraction(1), unit="person"))
    'each value of person, replace'
    """
    unit = "each row" if budget.unit == ROW else f"each value of {budget.unit}"
    return f"{unit}, {budget.neighbours}"
