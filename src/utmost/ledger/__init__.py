"""Ledgers: budgets of ε and what was charged to them, in SQLite or PostgreSQL. There is no data in one."""

from utmost.ledger.ledger import Ledger, open_ledger
from utmost.ledger.records import Budget, BudgetState, Charge, ChargeReceipt, Part, QueryCost, ReleaseCost

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
