"""KL10, checked: every definition, proposition, theorem, lemma and example that can be computed, and its errata."""

from utmost.papers import KEYS
from utmost.papers.items import Report
from utmost.papers.kl10 import bounds, ergodicity, graphs, odds_bounds, output_splits, predicates, theorems, utility
from utmost.papers.kl10.errata import ERRATA, REMARKS

__all__ = ["report"]


def report() -> Report:
    """All items, computed now, in the order of the paper; each appendix with what it proves."""
    modules = (bounds, odds_bounds, predicates, theorems, utility, graphs, output_splits, ergodicity)
    items = tuple(item for module in modules for item in module.items())
    return Report("KL10", KEYS["KL10"], items, ERRATA, REMARKS)
