"""FMM21, checked: its matrices, example, figure and definitions, its lemmas and theorems with their constants."""

from utmost.papers import KEYS
from utmost.papers.fmm21 import laplace_refinement, margins, matrices, pixelation, step_losses
from utmost.papers.fmm21.errata import ERRATA, REMARKS
from utmost.papers.items import Report

__all__ = ["report"]


def report() -> Report:
    """All items, computed now: matrices and definitions, pixelation, refinement, losses, their limits."""
    modules = (matrices, pixelation, laplace_refinement, margins, step_losses)
    return Report("FMM21", KEYS["FMM21"], tuple(item for module in modules for item in module.items()), ERRATA, REMARKS)
