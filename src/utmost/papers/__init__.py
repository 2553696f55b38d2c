"""Recompute the tables, figures and examples of five papers beside the published values."""

from importlib import import_module
from types import ModuleType

from utmost.errors import InputError
from utmost.papers.items import SOURCE_TEXT, Item, Report, Series, Table, document
from utmost.registry import similar_name

KEYS: dict[str, str] = {
    "GRS12": "Ghosh, Roughgarden, Sundararajan: Universally Utility-Maximizing Privacy Mechanisms",
    "GMP13": "Gazeau, Miller, Palamidessi: Preserving differential privacy under finite-precision semantics",
    "FMPD23": "Fernandes, McIver, Palamidessi, Ding: Universal optimality and robust utility bounds for metric "
    "differential privacy",
    "FMM21": "Fernandes, McIver, Morgan: The Laplace mechanism has optimal utility for differential privacy over "
    "continuous queries",
    "KL10": "Kifer, Lin: Towards an Axiomatization of Statistical Privacy and Utility",
}

__all__ = ["KEYS", "SOURCE_TEXT", "Item", "Report", "Series", "Table", "document", "item", "report"]


def report(key: str) -> Report:
    """Everything that can be computed again of one paper, computed now.

    >>> report("GRS13")
    Traceback (most recent call last):
        ...
    utmost.errors.InputError: paper must be one of GRS12, GMP13, FMPD23, FMM21, KL10, got 'GRS13': did you mean GRS12?
    """
    paper_report: Report = _load(key).report()
    return paper_report


def item(key: str, name: str, *arguments: object) -> Item:
    """One item of a paper, computed now; `name` is the module and the function that compute it.

    >>> item("FMPD23", "tables.table7a").agrees
    False
    """
    module, _, function = name.partition(".")
    try:
        compute = getattr(_load(key, f".{module}"), function)
    except (AttributeError, ModuleNotFoundError):
        raise InputError(f"item must be such as tables.table7a, got {name[:40]!r}", "name") from None
    computed: Item = compute(*arguments)
    return computed


def _load(key: str, module: str = "") -> ModuleType:
    if key.upper() not in KEYS:
        similar = similar_name(key.upper(), KEYS)
        hint = "utmost papers has their titles" if similar is None else f"did you mean {similar}?"
        raise InputError(f"paper must be one of {', '.join(KEYS)}, got {key[:20]!r}", "key", hint)
    return import_module(f"utmost.papers.{key.lower()}{module}")
