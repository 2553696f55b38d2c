"""Parse privacy predicates. No text is ever executed.

From loose to tight: or, and, not, comparisons (chains too: a <= b <= 2*a), + and -, * and /, signs. Values are a, b,
numbers as `exact` reads them, exp(…) and sqrt(…) of constants. Products and quotients by constants only, so that every
side is linear in a and b. What nests deeper than MAX_PREDICATE_NESTING is refused, long before Python's
own stack would overflow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from utmost.axioms.predicate import AllOf, AnyOf, Comparison, Linear, Predicate, Tree, linear_forms, negation
from utmost.errors import InputError
from utmost.exact import Number, number

MAX_PREDICATE_CHARS = 10_000  # characters
MAX_PREDICATE_NESTING = 50  # nested parentheses and signs
MAX_COMPARISONS = 24  # comparisons that involve a or b
MAX_FUNCTION_ARGUMENT = 1000  # what exp and sqrt are taken of
MAX_SHOWN_CHARS = 20  # characters of a token that an error repeats
OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN = range(7)
ZERO, ONE = Fraction(0), Fraction(1)
COMPARISON_SIGNS = {"<": {-1}, "<=": {-1, 0}, "=": {0}, "!=": {-1, 1}, ">=": {0, 1}, ">": {1}}
SIGN_ALIASES = {"==": "=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "·": "*"}
TOKEN_PATTERN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign><=|>=|<>|!=|==|[=<>+\-*/()≤≥≠−·]))"
)
EXAMPLE_PREDICATE = "b <= 2*a + 1/10 and 1-b <= 2*(1-a) + 1/10"


@dataclass(frozen=True, slots=True)
class Token:
    """A number, a name, a sign or the end; where it starts, from 1."""

    role: str
    content: str
    position: int

    def __str__(self) -> str:
        """The token as an error shows it."""
        return "the end" if self.role == "end" else f'"{self.content[:MAX_SHOWN_CHARS]}"'


def parse_privacy_predicate(text: str) -> Predicate:
    """The predicate that a text means; an InputError names the position where it means none.

    >>> parse_privacy_predicate("a <= b <= 2*a or not b < 1/2")(Fraction(1, 3), Fraction(1, 2))
    True
    """
    return Predicate(text.strip(), _Parser(_tokenize(text)).predicate())


def _tokenize(text: str) -> list[Token]:
    if len(text) > MAX_PREDICATE_CHARS:
        raise InputError(f"predicate must have at most {MAX_PREDICATE_CHARS} characters, got {len(text)}", "predicate")
    tokens, position, end = [], 0, len(text.rstrip())
    while position < end:
        match = TOKEN_PATTERN.match(text, position)
        if match is None:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            advice = "abs is not linear: write both inequalities" if text[start] == "|" else ""
            raise _refusal(start + 1, f"{text[start]!a} is not understood", advice)
        role = str(match.lastgroup)
        content = match.group(role)
        tokens.append(Token(role, SIGN_ALIASES.get(content, content), match.start(role) + 1))
        position = match.end()
    return [*tokens, Token("end", "", end + 1)]


def _refusal(position: int, problem: str, advice: str = "") -> InputError:
    return InputError(f"predicate, at character {position}: {problem}" + (f": {advice}" if advice else ""))


class _Parser:
    """Precedence climbing; an expression is a linear function or a tree."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens, self.index, self.depth = tokens, 0, 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def accept(self, *contents: str) -> bool:
        """Take the next token if it is one of these."""
        is_match = self.token.role != "end" and self.token.content in contents
        self.index += is_match
        return is_match

    def expect(self, content: str) -> None:
        if not self.accept(content):
            raise _refusal(self.token.position, f"expected {content}, got {self.token}")

    def predicate(self) -> Tree:
        if self.token.role == "end":
            raise InputError(f"predicate must be such as {EXAMPLE_PREDICATE}, got nothing", "predicate")
        position, expression = self.token.position, self.expression(OR)
        if self.token.role != "end":
            raise _refusal(self.token.position, f"expected and, or, or the end, got {self.token}", self.stray_advice())
        tree = _check_tree(expression, position)
        if sum(1 for _ in linear_forms(tree)) > MAX_COMPARISONS:
            raise InputError(
                f"predicate must have at most {MAX_COMPARISONS} comparisons with a or b, got more", "predicate"
            )
        return tree

    def stray_advice(self) -> str:
        """What to do about a token that does not follow."""
        before = self.tokens[max(self.index - 1, 0)].role
        if self.token.content == "(" or (before == "number" and self.token.role == "name"):
            return "a product is written with *"
        return "a ( is missing" if self.token.content == ")" else ""

    def expression(self, tightness: int) -> Linear | Tree:
        """The longest expression from here whose loosest sign is at least this tight."""
        self.depth += 1
        if self.depth > MAX_PREDICATE_NESTING:
            raise _refusal(self.token.position, f"nested deeper than {MAX_PREDICATE_NESTING}", "take parentheses away")
        position = self.token.position
        if tightness <= NOT and self.accept("not"):
            result: Linear | Tree = negation(_check_tree(self.expression(NOT), position))
        else:
            result = self.comparison_chain(self.arithmetic(self.prefix(), tightness, position), tightness, position)
        if tightness <= AND and self.accept("and"):
            result = AllOf(self.operands(result, position, "and", NOT))
        if tightness <= OR and self.accept("or"):
            result = AnyOf(self.operands(result, position, "or", AND))
        self.depth -= 1
        return result

    def operands(self, first: Linear | Tree, position: int, sign: str, tightness: int) -> tuple[Tree, ...]:
        operand_list = [_check_tree(first, position)]
        while True:
            start = self.token.position
            operand_list.append(_check_tree(self.expression(tightness), start))
            if not self.accept(sign):
                return tuple(operand_list)

    def comparison_chain(self, left: Linear | Tree, tightness: int, position: int) -> Linear | Tree:
        """`left`, or the comparisons of a chain that begins with it."""
        comparisons: list[Tree] = []
        while tightness <= COMPARISON and self.token.content in COMPARISON_SIGNS:
            sign, start = COMPARISON_SIGNS[self.token.content], self.token.position
            self.index += 1
            right = _check_linear(self.expression(SUM), start)
            comparisons.append(Comparison(_check_linear(left, position) + right.times(-ONE), frozenset(sign)))
            left = right
        if not comparisons:
            return left
        return comparisons[0] if len(comparisons) == 1 else AllOf(tuple(comparisons))

    def arithmetic(self, left: Linear | Tree, tightness: int, position: int) -> Linear | Tree:
        """`left` with the signs + - * / that follow, from the left."""
        while tightness <= (tight := {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}.get(self.token.content, -1)):
            sign = self.token
            self.index += 1
            right = _check_linear(self.expression(tight + 1), sign.position)
            left = _combine(sign, _check_linear(left, position), right)
        return left

    def prefix(self) -> Linear | Tree:
        token = self.token
        if self.accept("-", "+"):
            argument = _check_linear(self.expression(SIGN), token.position)
            return argument.times(-ONE) if token.content == "-" else argument
        if self.accept("("):
            expression = self.expression(OR)
            self.expect(")")
            return expression
        self.index += token.role != "end"
        if token.role == "number":
            return Linear(ZERO, ZERO, number(token.content, f"predicate, at character {token.position}: a number"))
        if token.content in ("a", "b"):
            return Linear(ONE, ZERO, ZERO) if token.content == "a" else Linear(ZERO, ONE, ZERO)
        if token.content in ("exp", "sqrt"):
            return Linear(ZERO, ZERO, self.function(token))
        advice = "a is P(O|i1) and b is P(O|i2)" if token.role == "name" else ""
        raise _refusal(token.position, f"expected a, b, a number or (, got {token}", advice)

    def function(self, token: Token) -> Number:
        self.expect("(")
        argument = _check_constant(_check_linear(self.expression(SUM), token.position), token.position)
        self.expect(")")
        if not -MAX_FUNCTION_ARGUMENT <= argument <= MAX_FUNCTION_ARGUMENT:
            raise _refusal(
                token.position,
                f"{token.content}(…) must be of a number between -{MAX_FUNCTION_ARGUMENT} and {MAX_FUNCTION_ARGUMENT}",
            )
        try:
            return number(f"{token.content}({argument})")
        except InputError:
            advice = "exp takes rational numbers and roots, sqrt rational numbers >= 0"
            raise _refusal(token.position, f"{token.content}(…) of this number is not known exactly", advice) from None


def _check_tree(expression: Linear | Tree, position: int) -> Tree:
    if isinstance(expression, Linear):
        raise _refusal(position, "expected a comparison, got a number", f"write for instance {EXAMPLE_PREDICATE}")
    return expression


def _check_linear(expression: Linear | Tree, position: int) -> Linear:
    if not isinstance(expression, Linear):
        raise _refusal(position, "expected a number, got a comparison", "join comparisons with and, or, not")
    return expression


def _check_constant(value: Linear, position: int) -> Number:
    if not value.constant:
        raise _refusal(position, "only numbers without a and b can stand here", "every side must be linear in a and b")
    return value.shift


def _combine(sign: Token, left: Linear, right: Linear) -> Linear:
    if sign.content in "+-":
        return left + (right if sign.content == "+" else right.times(-ONE))
    if sign.content == "*":
        return right.times(left.shift) if left.constant else left.times(_check_constant(right, sign.position))
    divisor = _check_constant(right, sign.position)
    if not divisor:
        raise _refusal(sign.position, "division by zero")
    return left.times(1 / divisor)
