"""GRS12, checked: every figure, example and number of the paper that can be computed, and its errata."""

from utmost.papers import KEYS
from utmost.papers.grs12 import databases, figures, laplace, theorems
from utmost.papers.grs12.errata import ERRATA, REMARKS
from utmost.papers.items import Report

__all__ = ["report"]


def report() -> Report:
    """All items, computed now: figures, theorems, databases, Laplace noise."""
    items = (*figures.items(), *theorems.items(), *databases.items(), *laplace.items())
    return Report("GRS12", KEYS["GRS12"], items, ERRATA, REMARKS)
