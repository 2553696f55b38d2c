"""The grammar of predicates, by operator precedence.

From loose to tight: or, and, not, comparisons (also in, between, is null; no chains), + and -, * and //, unary minus.
An expression that nests deeper than MAX_PREDICATE_NESTING is refused before Python's own stack, or an engine's, could
object. A chain of + - * // nests once for each sign; and, or and the items of in do not nest. The words of case, div
and the names of functions are words by their place alone: columns may be called like them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from utmost.data.predicates.functions import FUNCTIONS, check_arity, unknown_function
from utmost.data.predicates.syntax import (
    And,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Minus,
    Node,
    Not,
    Or,
    Token,
    expression_error,
    quote_text,
    syntax_error,
    tokenize,
    walk,
)

MAX_PREDICATE_NESTING = 50
MAX_NUMBER_DIGITS = 1000
MAX_EXPONENT = 1000
MAX_REPEATED_NODES = 2000  # engines see what stands before `in` once for each item of its list that is no constant
OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN = range(7)
PRECEDENCES = {"+": SUM, "-": SUM, "*": PRODUCT, "//": PRODUCT}
COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)")
EXPECTED_VALUE_TEXT = "a column, a number, a 'text' or ("


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


def parse_expression(text: str) -> Predicate:
    """The expression that a text means, of any kind: that of a derived column.

    >>> sorted(parse_expression("case when hour(left_at) < 6 then 'night' else region end").columns)
    ['left_at', 'region']
    """
    return parse_predicate(text)


class _Parser:
    """Precedence climbing over the tokens of one predicate."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.index, self.depth = tokens, 0, 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def sign(self) -> str:
        """The next token if it is a sign or a keyword, and not a text or a name that looks like one."""
        return self.token.content if self.token.role in ("sign", "keyword") else ""

    @property
    def word(self) -> str:
        """The next token in small letters if it is a name without quotes."""
        return self.token.content.lower() if self.token.role == "name" else ""

    @property
    def operator(self) -> str:
        """The next token if it is a sign; // also where it is written div."""
        return "//" if self.word == "div" else self.sign

    def advance(self) -> Token:
        token = self.token
        self.index += token.role != "end"
        return token

    def accept(self, *contents: str) -> bool:
        """Go past the next token if it is one of these signs or keywords, and tell whether it was."""
        is_accepted = self.sign in contents
        self.index += is_accepted
        return is_accepted

    def expect(self, content: str, advice: str = "") -> None:
        if not self.accept(content):
            raise syntax_error(self.token.position, f"expected {content}, got {self.token}", advice)

    def predicate(self) -> Node:
        if self.token.role == "end":
            raise expression_error(
                " must be a predicate such as age >= 65, got nothing", "leave it out to ask of all rows"
            )
        tree = self.expression(OR)
        if self.token.role != "end":
            raise syntax_error(
                self.token.position, f"expected and, or, or the end, got {self.token}", self._stray_advice()
            )
        return tree

    def _stray_advice(self) -> str:
        """What to do about a token that does not follow."""
        token, previous = self.token, self.tokens[max(self.index - 1, 0)]
        if token.role == "name" and token.content.lower() in ("like", "ilike", "similar", "regexp"):
            return "there are no text patterns: list the texts with in"
        if self.sign == "(" and previous.role == "quoted":
            return "the name of a function stands without quotes"
        if token.role == previous.role == "name":
            return f'a name with a space stands between double quotes: "{previous.content} {token.content}"'
        if self.sign in COMPARISONS:
            return "a comparison has two sides: write a < b and b < c"
        return "a ( is missing" if self.sign == ")" else ""

    def descend(self, position: int, steps: int = 1) -> None:
        self.depth += steps
        if self.depth > MAX_PREDICATE_NESTING:
            raise syntax_error(
                position, f"nested deeper than {MAX_PREDICATE_NESTING}", "take parentheses away, or split the query"
            )

    def expression(self, min_precedence: int) -> Node:
        """The longest expression from here whose loosest sign has at least this precedence."""
        depth = self.depth
        self.descend(self.token.position)
        tree = self.negation(min_precedence) if self.sign == "not" else self.arithmetic(self.prefix(), min_precedence)
        if min_precedence <= AND and self.accept("and"):
            tree = And(self.operands(tree, "and", NOT), tree.position)
        if min_precedence <= OR and self.accept("or"):
            tree = Or(self.operands(tree, "or", AND), tree.position)
        self.depth = depth
        return tree

    def negation(self, min_precedence: int) -> Node:
        token = self.advance()
        if min_precedence <= NOT:
            return Not(self.expression(NOT), token.position)
        raise syntax_error(
            token.position, "not is looser than what stands before it", "put it and what follows in parentheses"
        )

    def prefix(self) -> Node:
        position = self.token.position
        if self.accept("-"):
            return _negate(self.expression(SIGN), position)
        if self.accept("+"):
            return self.expression(SIGN)
        if self.accept("("):
            operand = self.expression(OR)
            self.expect(")", "a parenthesis is not closed")
            return operand
        return self.atom(self.advance())

    def arithmetic(self, tree: Node, min_precedence: int) -> Node:
        """`tree` with the signs + - * // that follow, from the left, and then, if tight enough, one comparison."""
        while min_precedence <= (precedence := PRECEDENCES.get(self.operator, -1)):
            sign, token = self.operator, self.advance()
            self.descend(token.position)
            right = self.expression(precedence + 1)
            is_quotient = sign == "//"
            tree = (
                Call("div", (tree, right), token.position)
                if is_quotient
                else Arithmetic(sign, tree, right, token.position)
            )
        return self.comparison(tree) if min_precedence <= COMPARISON else tree

    def operands(self, first: Node, sign: str, min_precedence: int) -> tuple[Node, ...]:
        operands = [first, self.expression(min_precedence)]
        while self.accept(sign):
            operands.append(self.expression(min_precedence))
        return tuple(operands)

    def comparison(self, left: Node) -> Node:
        """`left`, or `left` compared with what follows."""
        token = self.token
        if self.accept(*COMPARISONS):
            return Comparison(token.content, left, self.right_side(), token.position)
        if self.accept("is"):
            is_negated = self.accept("not")
            self.expect("null", "is is followed by null or not null")
            return _negate_if(is_negated, IsNull(left, token.position))
        is_negated = self.accept("not")
        if self.accept("in"):
            return _negate_if(is_negated, self.membership(left, token.position))
        if self.accept("between"):
            return _negate_if(is_negated, self.between(left, token.position))
        if is_negated:
            raise syntax_error(
                self.token.position, f"expected in or between after not, got {self.token}", self._stray_advice()
            )
        return left

    def right_side(self) -> Node:
        """The right side of a comparison."""
        previous = self.tokens[self.index - 1]
        if previous.content == "=" and self.sign in ("<", ">"):
            raise syntax_error(previous.position, f"expected a value after =, got {self.sign}", f"write {self.sign}=")
        return self.expression(SUM)

    def membership(self, left: Node, position: int) -> Node:
        self.expect("(", "the values of in stand between parentheses")
        items = [self.expression(SUM)]
        while self.accept(","):
            items.append(self.expression(SUM))
        self.expect(")", "the values of in are parted by commas and closed by )")
        if sum(not isinstance(item, Literal) for item in items) * sum(1 for _ in walk(left)) > MAX_REPEATED_NODES:
            raise syntax_error(
                position, "this list has too many columns for what stands before in", "shorten one of them"
            )
        return In(left, tuple(items), position)

    def between(self, left: Node, position: int) -> Node:
        low = self.expression(SUM)
        self.expect("and", "between takes two values: x between 1 and 9")
        high = self.expression(SUM)
        return And((Comparison(">=", left, low, position), Comparison("<=", left, high, position)), position)

    def call(self, token: Token) -> Node:
        """A function of its arguments; its name is known, and it takes so many."""
        name = token.content.lower()
        if name not in FUNCTIONS:
            raise unknown_function(token)
        self.expect("(")
        arguments = [] if self.sign == ")" else [self.expression(OR)]
        while self.accept(","):
            arguments.append(self.expression(OR))
        self.expect(")", "the values of a function are parted by commas and closed by )")
        check_arity(FUNCTIONS[name], len(arguments), token.position)
        return Call(name, tuple(arguments), token.position)

    def case(self, token: Token) -> Node:
        """What follows the word case."""
        conditions, values, default = [], [], None
        while self.accept_word("when"):
            conditions.append(self.expression(OR))
            self.expect_word("then")
            values.append(self.expression(OR))
        if self.accept_word("else"):
            default = self.expression(OR)
        self.expect_word("end")
        return Case(tuple(conditions), tuple(values), default, token.position)

    def accept_word(self, word: str) -> bool:
        is_accepted = self.word == word
        self.index += is_accepted
        return is_accepted

    def expect_word(self, word: str) -> None:
        if not self.accept_word(word):
            advice = "write case when … then … else … end"
            raise syntax_error(self.token.position, f"expected {word}, got {self.token}", advice)

    def atom(self, token: Token) -> Node:
        if token.role == "name" and token.content.lower() in ("date", "time") and self.token.role == "text":
            return _parse_moment(token, self.advance())
        if token.role == "name" and token.content.lower() == "case" and self.word == "when":
            return self.case(token)
        if token.role == "name" and self.sign == "(":
            return self.call(token)
        if token.role in ("name", "quoted"):
            return Column(token.content, token.position)
        if token.role == "number":
            return Literal(_parse_number(token), token.position)
        if token.role == "text":
            return Literal(token.content, token.position)
        if token.role == "keyword" and token.content in ("true", "false"):
            return Literal(token.content == "true", token.position)
        if token.role == "keyword" and token.content == "null":
            raise syntax_error(token.position, "null equals nothing", "write is null or is not null")
        advice = "put a column named like a keyword in double quotes" if token.role == "keyword" else ""
        raise syntax_error(token.position, f"expected {EXPECTED_VALUE_TEXT}, got {token}", advice)


def _negate(operand: Node, position: int) -> Node:
    if isinstance(operand, Literal) and isinstance(operand.value, Fraction):
        return Literal(-operand.value, position)
    return Minus(operand, position)


def _negate_if(is_negated: bool, node: Node) -> Node:
    return Not(node, node.position) if is_negated else node


def _parse_number(token: Token) -> Fraction:
    """The number exactly as written; what could only be a slip or an attack is not expanded."""
    digits, _, exponent = token.content.lower().partition("e")
    exponent_digits = exponent.lstrip("+-").lstrip("0")
    exponent_is_long = len(exponent_digits) > len(str(MAX_EXPONENT))
    if len(digits) > MAX_NUMBER_DIGITS or exponent_is_long or int(exponent_digits or 0) > MAX_EXPONENT:
        limits = f"at most {MAX_NUMBER_DIGITS} digits and exponents up to {MAX_EXPONENT}"
        raise syntax_error(token.position, f"a number must have {limits}, got {token}", "write a smaller one")
    return Fraction(token.content)


def _parse_moment(keyword: Token, token: Token) -> Node:
    """date '2020-01-31' or time '2020-01-31 12:00:00'."""
    is_date = keyword.content.lower() == "date"
    try:
        if is_date and DATE.fullmatch(token.content):
            return Literal(date.fromisoformat(token.content), keyword.position)
        if not is_date and (match := TIME.fullmatch(token.content)):
            return Literal(_parse_time(match), keyword.position)
    except ValueError:
        raise syntax_error(token.position, f"the calendar has no {quote_text(token.content)}") from None
    if is_date:
        raise syntax_error(token.position, f"a date is written date '2020-01-31', got {token}")
    raise syntax_error(
        token.position, f"a time is written time '2020-01-31 12:00:00', got {token}", "in UTC, without an offset"
    )


def _parse_time(match: re.Match[str]) -> datetime:
    clock, _, fraction = match[2].partition(".")
    return datetime.fromisoformat(f"{match[1]}T{clock}").replace(microsecond=int(fraction.ljust(6, "0")))
