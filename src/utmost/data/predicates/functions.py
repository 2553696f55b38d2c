"""The functions of predicates and derived columns: one entry each, with what it takes, what it gives and its values.

Every function is total: it has a value or NULL on every row, fails on none, and is the same on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from utmost.data.engines.engine import Engine
from utmost.data.engines.schema import ColumnKind
from utmost.data.predicates import function_values
from utmost.data.predicates.syntax import Literal, Node, Token, syntax_error
from utmost.data.predicates.typed_values import Value
from utmost.errors import InputError

NUMBERS = frozenset([ColumnKind.INTEGER, ColumnKind.NUMBER])
MOMENTS = frozenset([ColumnKind.DATE, ColumnKind.TIME])
ALL_KINDS = frozenset(ColumnKind) - {ColumnKind.OTHER}


def _same_kind(kind: ColumnKind, _: Sequence[Node]) -> ColumnKind:
    return kind


def _integer_kind(_: ColumnKind, __: Sequence[Node]) -> ColumnKind:
    return ColumnKind.INTEGER


def _bin_kind(kind: ColumnKind, arguments: Sequence[Node]) -> ColumnKind:
    """An integer where value and width are."""
    width = arguments[1].value if isinstance(arguments[1], Literal) else None
    return kind if isinstance(width, Fraction) and width.denominator == 1 else ColumnKind.NUMBER


@dataclass(frozen=True, slots=True)
class Function:
    """A function: how it is written, what it means, the kinds it takes (`words` say them) and the kind of its value.

    `constants` are the places of arguments that must be numbers above 0, written out; whole ones if `whole_constant`.
    """

    form: str
    meaning: str
    kinds: frozenset[ColumnKind]
    words: str
    value: Callable[[Sequence[Value], Engine, int], Value]
    result: Callable[[ColumnKind, Sequence[Node]], ColumnKind] = _same_kind
    least: int = 1
    most: int | None = 1
    constants: tuple[int, ...] = ()
    whole_constant: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.form.partition("(")[0]


def _moment_part(form: str, meaning: str, value: Any, kinds: frozenset[ColumnKind] = MOMENTS) -> Function:
    words = "a date or a time" if kinds is MOMENTS else "a time"
    return Function(form, meaning, kinds, words, value, _integer_kind)


def _text_function(form: str, meaning: str, value: Any) -> Function:
    return Function(form, meaning, frozenset([ColumnKind.TEXT]), "a text", value)


_ALL = [
    Function(
        "bin(x, w)",
        "the lower edge of the bin of width w that x is in: w·⌊x/w⌋, with a constant w > 0",
        NUMBERS,
        "a number",
        function_values.lower_edge,
        _bin_kind,
        least=2,
        most=2,
        constants=(1,),
    ),
    Function(
        "div(x, n)",
        "⌊x/n⌋, with a constant n > 0; also written `x // n` or `x div n`",
        NUMBERS,
        "a number",
        function_values.floor_quotient,
        _integer_kind,
        least=2,
        most=2,
        constants=(1,),
    ),
    Function("abs(x)", "the size of a number", NUMBERS, "a number", function_values.absolute),
    Function(
        "least(a, b, …)",
        "the least of numbers, dates or times; missing ones are left out",
        NUMBERS | MOMENTS,
        "numbers, dates or times",
        function_values.least,
        least=2,
        most=None,
    ),
    Function(
        "greatest(a, b, …)",
        "the greatest of them",
        NUMBERS | MOMENTS,
        "numbers, dates or times",
        function_values.greatest,
        least=2,
        most=None,
    ),
    Function(
        "coalesce(a, b, …)",
        "the first that is not missing, of values of one kind",
        ALL_KINDS,
        "values of one kind",
        function_values.coalesce,
        least=2,
        most=None,
    ),
    _moment_part("year(d)", "the year of a date or a time", function_values.year),
    _moment_part("month(d)", "the month, from 1 to 12", function_values.month),
    _moment_part("day(d)", "the day of the month, from 1 to 31", function_values.day),
    _moment_part("weekday(d)", "the day of the week: 1 is Monday, 7 is Sunday", function_values.weekday),
    _moment_part("hour(t)", "the hour of a time, from 0 to 23", function_values.hour, frozenset([ColumnKind.TIME])),
    _text_function("lower(s)", "the text with a to z for A to Z; other letters stay", function_values.lower),
    _text_function("upper(s)", "the text with A to Z for a to z; other letters stay", function_values.upper),
    _text_function("trim(s)", "the text without blanks, tabs and line ends at its two ends", function_values.trim),
    Function(
        "prefix(s, n)",
        "the first n characters, with a constant n > 0",
        frozenset([ColumnKind.TEXT]),
        "a text",
        function_values.prefix,
        least=2,
        most=2,
        constants=(1,),
        whole_constant=True,
    ),
]
FUNCTIONS: Mapping[str, Function] = MappingProxyType({function.name: function for function in _ALL})


def unknown_function(token: Token) -> InputError:
    """A name before a parenthesis that no function has."""
    close = get_close_matches(token.content.lower()[:40], FUNCTIONS, 1)
    guess = f"did you mean {close[0]}? " if close else ""
    return syntax_error(
        token.position, f"there is no function {token}", f"{guess}the functions are {', '.join(FUNCTIONS)}"
    )


def check_arity(function: Function, count: int, position: int) -> None:
    """Refuse too few or too many arguments."""
    if count < function.least or (function.most is not None and count > function.most):
        values = "value" if function.least == 1 else "values"
        number = f"{function.least} {values}" if function.most is not None else f"at least {function.least} {values}"
        raise syntax_error(position, f"{function.name} takes {number}, got {count}", f"write {function.form}")
