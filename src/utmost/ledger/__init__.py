"""Ledgers: budgets of ε and what was charged to them, in SQLite or PostgreSQL. They hold no data."""

from utmost.ledger.costs import Part, QueryCost
from utmost.ledger.ledger import Ledger, open_ledger
from utmost.ledger.records import Budget, BudgetState, Charge, ChargeReceipt, ReleaseCost

__all__ = [
    "Budget",
    "BudgetState",
    "Charge",
    "ChargeReceipt",
    "Ledger",
    "Part",
    "QueryCost",
    "ReleaseCost",
    "open_ledger",
]
