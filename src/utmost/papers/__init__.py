"""Recompute the tables, figures and examples of five papers beside the published values."""

from importlib import import_module

from utmost.errors import InputError
from utmost.papers.items import SOURCE_TEXT, Item, Report, Series, Table, document

KEYS: dict[str, str] = {
    "GRS12": "Ghosh, Roughgarden, Sundararajan: Universally Utility-Maximizing Privacy Mechanisms",
    "GMP13": "Gazeau, Miller, Palamidessi: Preserving differential privacy under finite-precision semantics",
    "FMPD23": "Fernandes, McIver, Palamidessi, Ding: Universal optimality and robust utility bounds for metric "
    "differential privacy",
    "FMM21": "Fernandes, McIver, Morgan: The Laplace mechanism has optimal utility for differential privacy over "
    "continuous queries",
    "KL10": "Kifer, Lin: Towards an Axiomatization of Statistical Privacy and Utility",
}

__all__ = ["KEYS", "SOURCE_TEXT", "Item", "Report", "Series", "Table", "document", "report"]


def report(key: str) -> Report:
    """Everything that can be computed again of one paper, computed now.

    >>> report("GRS13")
    Traceback (most recent call last):
        ...
    utmost.errors.InputError: paper must be one of GRS12, GMP13, FMPD23, FMM21, KL10, got 'GRS13': see the list of keys
    """
    if key.upper() not in KEYS:
        raise InputError(f"paper must be one of {', '.join(KEYS)}, got {key[:20]!r}: see the list of keys")
    paper_report: Report = import_module(f"utmost.papers.{key.lower()}").report()
    return paper_report
