"""Budgets and charges as JSON."""

from __future__ import annotations

from typing import Any

from utmost.ledger.records import ROW, Budget, BudgetState, Charge


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
        "part": None if charge.part is None else {"column": charge.part[0], "equals": charge.part[1]},
        "epsilon": str(charge.epsilon),
        "costs": costs,
        "kept": charge.kept,
    }


def protection_sentence(budget: Budget) -> str:
    """Whom a budget protects, and against which change.

    >>> from fractions import Fraction
    >>> protection_sentence(Budget("survey", Fraction(1), unit="person"))
    'each value of person, replace'
    """
    unit = "each row" if budget.unit == ROW else f"each value of {budget.unit}"
    return f"{unit}, {budget.neighbours}"
