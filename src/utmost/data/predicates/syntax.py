"""The syntax of predicates: tokens with their positions, and the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction

from utmost.errors import InputError

MAX_PREDICATE_CHARS = 10_000
MAX_SHOWN_CHARS = 40  # of a token or a name that an error repeats
KEYWORDS = frozenset(["and", "or", "not", "in", "between", "is", "null", "true", "false"])

TOKEN_PATTERN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<text>'(?:[^']|'')*+')
    |(?P<quoted>"(?:[^"]|"")*+")
    |(?P<sign><=|>=|<>|!=|==|=|<|>|\+|-|\*|//|\(|\)|,)""",
    re.VERBOSE,
)
SIGN_SPELLINGS = {"==": "=", "<>": "!="}  # other spellings of a sign
UNCLOSED_QUOTES = {
    "'": ("a text is not closed", "end it with a single quote; a quote inside it is written ''"),
    '"': ("a column name is not closed", 'end it with a double quote; a quote inside it is written ""'),
}
SLIP_ADVICE = (
    ("&&", "write and"),
    ("||", "write or"),
    ("&", "write and"),
    ("|", "write or"),
    ("!", "write not, or != between two values"),
    ("`", "put a column name in double quotes"),
    ("/", "there is no division but whole division by a constant, x // 2: multiply the other side, a > 2 * b"),
    ("%", "there is no remainder"),
    ("[", "put the values of in between parentheses"),
    (".", "write the column alone, in double quotes if its name has a point"),
    (";", "one predicate is all that fits"),
    ("≤", "write <="),
    ("≥", "write >="),
    ("≠", "write !="),
    ("−", "write a plain minus"),
    ("‘", "write plain single quotes"),
    ("’", "write plain single quotes"),
    ("“", "write plain quotes: single ones around a text"),
    ("”", "write plain quotes: single ones around a text"),
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its role (number, name, keyword, text, quoted, sign or end), its content, where it starts, from 1.

    The content is unquoted, a keyword in small letters, a sign in its first spelling.
    """

    role: str
    content: str
    position: int

    def __str__(self) -> str:
        """The token as an error shows it."""
        return "the end" if self.role == "end" else quote_text(self.content)


def quote_text(content: str) -> str:
    r"""Somebody's text on one line between double quotes, shortened, what does not print escaped.

    >>> print(quote_text("a" * 50), quote_text("a\nb"), quote_text("café"))
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..." "a\nb" "café"
    """
    if len(content) > MAX_SHOWN_CHARS:
        content = content[: MAX_SHOWN_CHARS - 3] + "..."
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in content) + '"'


class ExpressionError(InputError):
    """An error of an expression; `problem` follows the name of where it stands."""

    problem: str

    def named(self, field: str) -> InputError:
        """The same error of an expression that stands elsewhere than in `where`."""
        return InputError(f"{field}{self.problem}", field, self.hint)


def expression_error(problem: str, hint: str | None = None) -> ExpressionError:
    """An error of `where`."""
    error = ExpressionError(f"where{problem}", "where", hint)
    error.problem = problem
    return error


def syntax_error(position: int, problem: str, advice: str = "") -> InputError:
    """A syntax error at a position of the predicate, from 1."""
    return expression_error(f", at character {position}: {problem}", advice or None)


def tokenize(text: object) -> list[Token]:
    """The tokens in order, closed by an end.

    >>> [token.content for token in tokenize("age >= 65 AND name <> 'O''Neill'")]
    ['age', '>=', '65', 'and', 'name', '!=', "O'Neill", '']
    """
    if not isinstance(text, str):
        raise expression_error(f' must be a text such as "age >= 65", got {type(text).__name__}')
    if len(text) > MAX_PREDICATE_CHARS:
        raise expression_error(
            f" must have at most {MAX_PREDICATE_CHARS} characters, got {len(text)}", "split the query"
        )
    _check_characters(text)
    tokens, index = [], 0
    while index < len(text):
        match = TOKEN_PATTERN.match(text, index)
        if match is None:
            raise _slip_error(text, index)
        index = match.end()
        if match.lastgroup != "space":
            tokens.append(_make_token(match))
    return [*tokens, Token("end", "", len(text) + 1)]


def _make_token(match: re.Match[str]) -> Token:
    role, content, position = str(match.lastgroup), match.group(), match.start() + 1
    if role == "name" and content.lower() in KEYWORDS:
        return Token("keyword", content.lower(), position)
    if role in ("text", "quoted"):
        quote = content[0]
        return Token(role, content[1:-1].replace(quote * 2, quote), position)
    if role == "number" and re.match(r"[A-Za-z_.]", match.string[match.end() :]):
        raise syntax_error(
            position, f"{quote_text(match.string[match.start() : match.end() + 1])} is no number and no name"
        )
    return Token(role, SIGN_SPELLINGS.get(content, content), position)


def _check_characters(text: str) -> None:
    """No engine holds a NUL in a text everywhere, nor half of a surrogate pair anywhere."""
    for index, character in enumerate(text):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise syntax_error(
                index + 1, f"the character U+{ord(character):04X} cannot be in a predicate", "leave it out"
            )


def _slip_error(text: str, index: int) -> InputError:
    if text[index] in UNCLOSED_QUOTES:
        return syntax_error(index + 1, *UNCLOSED_QUOTES[text[index]])
    for start, advice in SLIP_ADVICE:
        if text.startswith(start, index):
            return syntax_error(index + 1, f"{quote_text(start)} is not understood", advice)
    return syntax_error(
        index + 1, f"{quote_text(text[index])} is not understood", "put an unusual column name in double quotes"
    )


Constant = Fraction | str | bool | date | datetime


@dataclass(frozen=True, slots=True)
class Column:
    """A column, by its exact name."""

    name: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number (exact), a text, a truth, a date or a time, as written."""

    value: Constant
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Minus:
    """−operand."""

    operand: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """left sign right, with a sign of + - *."""

    sign: str
    left: Node
    right: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """left sign right, with a sign of = != < <= > >=."""

    sign: str
    left: Node
    right: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class In:
    """left in (items): left equals one of them."""

    left: Node
    items: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """operand is null: never unknown itself."""

    operand: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """not operand."""

    operand: Node
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """All parts, joined by and."""

    parts: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """One part at least, joined by or."""

    parts: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """name(arguments): a function of the registry `functions`. x // n is div(x, n)."""

    name: str
    arguments: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first condition that is true, else the default; None is a default that is NULL."""

    conditions: tuple[Node, ...]
    values: tuple[Node, ...]
    default: Node | None
    position: int = field(default=0, compare=False)

    @property
    def results(self) -> tuple[Node, ...]:
        """All values that it can have, but NULL."""
        return self.values if self.default is None else (*self.values, self.default)


Node = Column | Literal | Minus | Arithmetic | Comparison | In | IsNull | Not | And | Or | Call | Case


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Column() | Literal():
            return ()
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case In(left, items):
            return (left, *items)
        case And(operands) | Or(operands) | Call(_, operands):
            return operands
        case Case(conditions):
            return (*conditions, *node.results)
        case Minus(operand) | IsNull(operand) | Not(operand):
            return (operand,)


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, without recursion."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))
