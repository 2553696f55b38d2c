"""The papers, checked: their tables, figures and examples, computed again beside the published values."""

from importlib import import_module
from typing import TYPE_CHECKING

from utmost.errors import InputError

if TYPE_CHECKING:
    from utmost.papers.report import Report

KEYS: dict[str, str] = {
    "GRS12": "Ghosh, Roughgarden, Sundararajan: Universally Utility-Maximizing Privacy Mechanisms",
}

__all__ = ["KEYS", "report"]


def report(key: str) -> "Report":
    """Everything that can be computed again of one paper, computed now.

    >>> report("GRS13")
    Traceback (most recent call last):
        ...
    utmost.errors.InputError: paper must be one of GRS12, got 'GRS13'
    """
    if key.upper() not in KEYS:
        raise InputError(f"paper must be one of {', '.join(KEYS)}, got {key[:20]!r}")
    found: Report = import_module(f"utmost.papers.{key.lower()}").report()
    return found
