"""Describe a budget that a program has: what it has spent and left now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utmost.reports import budget

if TYPE_CHECKING:
    from utmost.publish.builder import NamedBudget
    from utmost.reports.blocks import Report


def describe(named_budget: NamedBudget) -> Report:
    """The budget as the ledger has it."""
    return budget.describe(named_budget.terms, named_budget.state)
