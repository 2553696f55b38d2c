"""The language of `where`: predicates over the rows of a table.

`parse` reads a text, `check` compares it with the kinds of a table's columns, `compiled` turns it into an ibis
expression that means the same rows on every engine and fails on none of them. `docs/predicates.md` describes the
language.
"""

from utmost.data.predicates.compiled import compiled
from utmost.data.predicates.grammar import Predicate, parse
from utmost.data.predicates.types import check

__all__ = ["Predicate", "check", "compiled", "parse"]
