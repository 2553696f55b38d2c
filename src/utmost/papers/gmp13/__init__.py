"""GMP13, checked: both figures, both applications, the main theorem against the truth, and its errata."""

from utmost.papers import KEYS
from utmost.papers.gmp13 import applications, figures, main_theorem
from utmost.papers.gmp13.errata import ERRATA, REMARKS
from utmost.papers.items import Report

__all__ = ["report"]


def report() -> Report:
    """All items, computed now: examples and figures, the theorem, the two applications."""
    items = (*figures.items(), *main_theorem.items(), *applications.items())
    return Report("GMP13", KEYS["GMP13"], items, ERRATA, REMARKS)
