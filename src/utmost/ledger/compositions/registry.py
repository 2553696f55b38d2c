"""All compositions. A new one is a module here and a line in `COMPOSITIONS`."""

from __future__ import annotations

from utmost.ledger.compositions.approximate import APPROXIMATE
from utmost.ledger.compositions.pld import PLD
from utmost.ledger.compositions.pure import PURE
from utmost.ledger.compositions.zcdp import ZCDP
from utmost.ledger.costs import Composition

COMPOSITIONS: tuple[Composition, ...] = (  # the first is the default
    PURE,
    APPROXIMATE,
    ZCDP,
    PLD,
)


def names() -> list[str]:
    """The names of all compositions."""
    return [composition.name for composition in COMPOSITIONS]


def find(name: str) -> Composition:
    """The composition of this name, which is one of `names()`."""
    return next(composition for composition in COMPOSITIONS if composition.name == name)


def choices_text() -> str:
    """All compositions by name and in words.

    >>> choices_text()
    'pure (ε adds up), approximate (ε and δ add up), zcdp (ρ adds up) or pld (privacy-loss distributions)'
    """
    *choices, last = [f"{composition.name} ({composition.words})" for composition in COMPOSITIONS]
    return f"{', '.join(choices)} or {last}"
