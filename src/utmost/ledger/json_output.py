"""Budgets and charges as JSON."""

from __future__ import annotations

from typing import Any

from utmost.ledger.records import ROW, Budget, BudgetState, Charge


def budget_content(one: Budget, state: BudgetState) -> dict[str, Any]:
    """A budget with what it has spent and left: what `utmost budget show --json` prints."""
    return {
        "name": one.name,
        "epsilon": str(one.epsilon),
        "delta": str(one.delta),
        "composition": one.composition,
        "unit": one.unit,
        "neighbours": one.neighbours,
        "remember": one.remember,
        "opened": one.opened,
        "spent": str(state.spent),
        "left": str(state.left),
        "charges": state.charges,
    }


def charge_content(one: Charge) -> dict[str, Any]:
    """A charge: what `utmost budget history --json` lists."""
    costs = [
        {"query": cost.query, "epsilon": str(cost.epsilon), "law": cost.law, "steps": cost.steps} for cost in one.costs
    ]
    return {
        "entry": one.number,
        "charged": one.charged,
        "plan": one.plan,
        "fingerprint": one.fingerprint,
        "part": None if one.part is None else {"column": one.part[0], "equals": one.part[1]},
        "epsilon": str(one.epsilon),
        "costs": costs,
        "kept": one.kept,
    }


def protection_sentence(one: Budget) -> str:
    """Whom a budget protects, and against which change.

    >>> from fractions import Fraction
    >>> protection_sentence(Budget("survey", Fraction(1), unit="person"))
    'each value of person, replace'
    """
    unit = "each row" if one.unit == ROW else f"each value of {one.unit}"
    return f"{unit}, {one.neighbours}"
