"""The language of `where`: predicates over the rows of a table.

`parse_predicate` reads a text, `check_types` compares it with the kinds of a table's columns, `compile_predicate` turns
it into an ibis expression that means the same rows on every engine and fails on none of them. `docs/predicates.md`
describes the language.
"""

from utmost.data.predicates.compiler import compile_expression, compile_predicate
from utmost.data.predicates.parser import Predicate, parse_expression, parse_predicate
from utmost.data.predicates.type_check import check_types

__all__ = [
    "Predicate",
    "check_types",
    "compile_expression",
    "compile_predicate",
    "parse_expression",
    "parse_predicate",
]
