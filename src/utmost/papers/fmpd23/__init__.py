"""FMPD23, checked: every table and figure of the paper, its theorems on examples, and what it has wrong."""

from utmost.papers import KEYS
from utmost.papers.fmpd23 import capacities, channels, examples, existence, regions, standing, tables
from utmost.papers.fmpd23.errata import ERRATA, REMARKS
from utmost.papers.items import Report

__all__ = ["report"]


def report() -> Report:
    """All items, computed now: what stands, then channels, regions, existence, capacities, examples, tables."""
    parts = (channels, regions, existence, capacities, examples, tables)
    items = tuple(item for part in parts for item in part.items())
    return Report("FMPD23", KEYS["FMPD23"], (standing.opening(items), *items), ERRATA, REMARKS)
