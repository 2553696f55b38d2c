"""The grammar of predicates, by operator precedence.

From loose to tight: or, and, not, comparisons (also in, between, is null; no chains), + and -, *, unary minus. An
expression that nests deeper than DEEPEST is refused before Python's own stack, or an engine's, could object. A chain of
+ - * nests once for each sign; and, or and the items of in do not nest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from utmost.data.predicates.syntax_tree import (
    And,
    Arithmetic,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Minus,
    Node,
    Not,
    Or,
    walk,
)
from utmost.data.predicates.tokens import Token, quote_text, syntax_error, tokenize
from utmost.errors import InputError

MAX_PREDICATE_NESTING = 50
MOST_DIGITS = 1000
LARGEST_EXPONENT = 1000
MOST_REPEATED = 2000  # nodes: engines see what stands before in once for each number of its list that is no constant
OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN = range(7)
COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)")
A_VALUE = "a column, a number, a 'text' or ("


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: its text and its tree."""

    text: str
    tree: Node

    @property
    def columns(self) -> frozenset[str]:
        """The columns it names."""
        return frozenset(node.name for node in walk(self.tree) if isinstance(node, Column))

    def __str__(self) -> str:
        """The text."""
        return self.text


def parse_predicate(text: str) -> Predicate:
    """The predicate that a text means, by its form alone; an InputError names the place where it means none.

    >>> sorted(parse_predicate("age >= 65 and not vote = 1").columns)
    ['age', 'vote']
    """
    return Predicate(text, _Parser(tokenize(text)).predicate())


class _Parser:
    """Precedence climbing over the words of one predicate."""

    def __init__(self, found: list[Token]) -> None:
        self.words, self.next, self.depth = found, 0, 0

    @property
    def word(self) -> Token:
        return self.words[self.next]

    @property
    def sign(self) -> str:
        """The next word if it is a sign or a keyword, and not a text or a name that looks like one."""
        return self.word.content if self.word.role in ("sign", "keyword") else ""

    def take(self) -> Token:
        word = self.word
        self.next += word.role != "end"
        return word

    def took(self, *contents: str) -> bool:
        """Take the next word if it is one of these signs or keywords."""
        found = self.sign in contents
        self.next += found
        return found

    def need(self, content: str, advice: str = "") -> None:
        if not self.took(content):
            raise syntax_error(self.word.at, f"expected {content}, got {self.word}", advice)

    def predicate(self) -> Node:
        if self.word.role == "end":
            raise InputError(
                "where must be a predicate such as age >= 65, got nothing: leave it out to ask of all rows"
            )
        tree = self.expression(OR)
        if self.word.role != "end":
            raise syntax_error(self.word.at, f"expected and, or, or the end, got {self.word}", self._stray())
        return tree

    def _stray(self) -> str:
        """What to do about a word that does not follow."""
        word, before = self.word, self.words[max(self.next - 1, 0)]
        if word.role == "name" and word.content.lower() in ("like", "ilike", "similar", "regexp"):
            return "there are no text patterns: list the texts with in"
        if self.sign == "(" and before.role == "name":
            return "there are no functions"
        if self.sign in COMPARISONS:
            return "a comparison has two sides: write a < b and b < c"
        return "a ( is missing" if self.sign == ")" else ""

    def deeper(self, at: int, steps: int = 1) -> None:
        self.depth += steps
        if self.depth > MAX_PREDICATE_NESTING:
            raise syntax_error(
                at, f"nested deeper than {MAX_PREDICATE_NESTING}", "take parentheses away, or split the query"
            )

    def expression(self, tightness: int) -> Node:
        """The longest expression from here whose loosest sign is at least this tight."""
        depth = self.depth
        self.deeper(self.word.at)
        tree = self.negation(tightness) if self.sign == "not" else self.arithmetic(self.prefix(), tightness)
        if tightness <= AND and self.took("and"):
            tree = And(self.parts(tree, "and", NOT), tree.at)
        if tightness <= OR and self.took("or"):
            tree = Or(self.parts(tree, "or", AND), tree.at)
        self.depth = depth
        return tree

    def negation(self, tightness: int) -> Node:
        word = self.take()
        if tightness <= NOT:
            return Not(self.expression(NOT), word.at)
        raise syntax_error(
            word.at, "not is looser than what stands before it", "put it and what follows in parentheses"
        )

    def prefix(self) -> Node:
        at = self.word.at
        if self.took("-"):
            return _negative(self.expression(SIGN), at)
        if self.took("+"):
            return self.expression(SIGN)
        if self.took("("):
            inside = self.expression(OR)
            self.need(")", "a parenthesis is not closed")
            return inside
        return self.atom(self.take())

    def arithmetic(self, tree: Node, tightness: int) -> Node:
        """`tree` with the signs + - * that follow, from the left, and then, if that is tight enough, one comparison."""
        while tightness <= (tight := {"+": SUM, "-": SUM, "*": PRODUCT}.get(self.sign, -1)):
            word = self.take()
            self.deeper(word.at)
            tree = Arithmetic(word.content, tree, self.expression(tight + 1), word.at)
        return self.comparison(tree) if tightness <= COMPARISON else tree

    def parts(self, first: Node, sign: str, tightness: int) -> tuple[Node, ...]:
        found = [first, self.expression(tightness)]
        while self.took(sign):
            found.append(self.expression(tightness))
        return tuple(found)

    def comparison(self, left: Node) -> Node:
        """`left`, or `left` compared with what follows."""
        word = self.word
        if self.took(*COMPARISONS):
            return Comparison(word.content, left, self.side(), word.at)
        if self.took("is"):
            negated = self.took("not")
            self.need("null", "is is followed by null or not null")
            return _unless(negated, IsNull(left, word.at))
        negated = self.took("not")
        if self.took("in"):
            return _unless(negated, self.within(left, word.at))
        if self.took("between"):
            return _unless(negated, self.between(left, word.at))
        if negated:
            raise syntax_error(self.word.at, f"expected in or between after not, got {self.word}", self._stray())
        return left

    def side(self) -> Node:
        """The right side of a comparison."""
        before = self.words[self.next - 1]
        if before.content == "=" and self.sign in ("<", ">"):
            raise syntax_error(before.at, f"expected a value after =, got {self.sign}", f"write {self.sign}=")
        return self.expression(SUM)

    def within(self, left: Node, at: int) -> Node:
        self.need("(", "the values of in stand between parentheses")
        found = [self.expression(SUM)]
        while self.took(","):
            found.append(self.expression(SUM))
        self.need(")", "the values of in are parted by commas and closed by )")
        if sum(not isinstance(item, Literal) for item in found) * sum(1 for _ in walk(left)) > MOST_REPEATED:
            raise syntax_error(at, "this list has too many columns for what stands before in", "shorten one of them")
        return In(left, tuple(found), at)

    def between(self, left: Node, at: int) -> Node:
        low = self.expression(SUM)
        self.need("and", "between takes two values: x between 1 and 9")
        high = self.expression(SUM)
        return And((Comparison(">=", left, low, at), Comparison("<=", left, high, at)), at)

    def atom(self, word: Token) -> Node:
        if word.role == "name" and word.content.lower() in ("date", "time") and self.word.role == "text":
            return _moment(word, self.take())
        if word.role in ("name", "quoted"):
            return Column(word.content, word.at)
        if word.role == "number":
            return Literal(_number(word), word.at)
        if word.role == "text":
            return Literal(word.content, word.at)
        if word.role == "keyword" and word.content in ("true", "false"):
            return Literal(word.content == "true", word.at)
        if word.role == "keyword" and word.content == "null":
            raise syntax_error(word.at, "null equals nothing", "write is null or is not null")
        advice = "put a column named like a keyword in double quotes" if word.role == "keyword" else ""
        raise syntax_error(word.at, f"expected {A_VALUE}, got {word}", advice)


def _negative(inside: Node, at: int) -> Node:
    if isinstance(inside, Literal) and isinstance(inside.value, Fraction):
        return Literal(-inside.value, at)
    return Minus(inside, at)


def _unless(negated: bool, node: Node) -> Node:
    return Not(node, node.at) if negated else node


def _number(word: Token) -> Fraction:
    """The number exactly as written; what could only be a slip or an attack is not expanded."""
    digits, _, exponent = word.content.lower().partition("e")
    size = exponent.lstrip("+-").lstrip("0")
    if len(digits) > MOST_DIGITS or len(size) > len(str(LARGEST_EXPONENT)) or int(size or 0) > LARGEST_EXPONENT:
        limits = f"at most {MOST_DIGITS} digits and exponents up to {LARGEST_EXPONENT}"
        raise syntax_error(word.at, f"a number must have {limits}, got {word}", "write a smaller one")
    return Fraction(word.content)


def _moment(kind: Token, word: Token) -> Node:
    """date '2020-01-31' or time '2020-01-31 12:00:00'."""
    is_date = kind.content.lower() == "date"
    try:
        if is_date and DATE.fullmatch(word.content):
            return Literal(date.fromisoformat(word.content), kind.at)
        if not is_date and (match := TIME.fullmatch(word.content)):
            return Literal(_time(match), kind.at)
    except ValueError:
        raise syntax_error(word.at, f"the calendar has no {quote_text(word.content)}") from None
    if is_date:
        raise syntax_error(word.at, f"a date is written date '2020-01-31', got {word}")
    raise syntax_error(
        word.at, f"a time is written time '2020-01-31 12:00:00', got {word}", "in UTC, without an offset"
    )


def _time(match: re.Match[str]) -> datetime:
    whole, _, part = match[2].partition(".")
    return datetime.fromisoformat(f"{match[1]}T{whole}").replace(microsecond=int(part.ljust(6, "0")))
