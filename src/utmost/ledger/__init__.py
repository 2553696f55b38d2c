"""Ledgers: budgets of ε and what was charged to them, in SQLite or PostgreSQL. There is no data in one."""

from utmost.ledger.book import Ledger, opened
from utmost.ledger.records import Ask, Budget, Charge, Cost, Entry, State

__all__ = ["Ask", "Budget", "Charge", "Cost", "Entry", "Ledger", "State", "opened"]
