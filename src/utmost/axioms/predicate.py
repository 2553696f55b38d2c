"""Privacy predicates q(a, b): which probabilities of an event are allowed (KL10 Def. 2.0.3), and their parser.

A predicate is a Boolean combination of linear equations and inequalities in a and b, with exact coefficients. It is
evaluated exactly, and the lines along which its answer can change are known, so that `regions` can decide about all of
[0, 1]² at once.

Parse privacy predicates. No text is ever executed.

From loose to tight: or, and, not, comparisons (chains too: a <= b <= 2*a), + and -, * and /, signs. Values are a, b,
numbers as `exact` reads them, exp(…) and sqrt(…) of constants. Products and quotients by constants only, so that every
side is linear in a and b. What nests deeper than MAX_PREDICATE_NESTING is refused, long before Python's
own stack would overflow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from utmost.axioms.curves import Curve
from utmost.errors import InputError
from utmost.exact import Number, number, sign

ZERO, ONE = Fraction(0), Fraction(1)
LESS, LESS_OR_EQUAL, EQUAL = frozenset({-1}), frozenset({-1, 0}), frozenset({0})
EVERY_SIGN = frozenset({-1, 0, 1})


@dataclass(frozen=True, slots=True)
class Linear:
    """The function a_coefficient·a + b_coefficient·b + shift."""

    a_coefficient: Number
    b_coefficient: Number
    shift: Number

    def __call__(self, a: Number, b: Number) -> Number:
        """Its value."""
        return self.a_coefficient * a + self.b_coefficient * b + self.shift

    def __add__(self, other: Linear) -> Linear:
        return Linear(
            self.a_coefficient + other.a_coefficient, self.b_coefficient + other.b_coefficient, self.shift + other.shift
        )

    def times(self, factor: Number) -> Linear:
        """A multiple."""
        return Linear(self.a_coefficient * factor, self.b_coefficient * factor, self.shift * factor)

    @property
    def constant(self) -> bool:
        """Does it depend on neither a nor b."""
        return not self.a_coefficient and not self.b_coefficient

    @property
    def complement(self) -> Linear:
        """The same of the complementary event: its value at (1−a, 1−b)."""
        return Linear(-self.a_coefficient, -self.b_coefficient, self.a_coefficient + self.b_coefficient + self.shift)

    @property
    def swapped(self) -> Linear:
        """The same of the pair (i₂, i₁): its value at (b, a)."""
        return Linear(self.b_coefficient, self.a_coefficient, self.shift)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sign of a linear function is one of `signs`, a set of −1, 0 and 1."""

    form: Linear
    signs: frozenset[int]

    def __call__(self, a: Number, b: Number) -> bool:
        """Does it hold at (a, b)."""
        return sign(self.form(a, b)) in self.signs


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of its parts hold."""

    parts: tuple[Tree, ...]

    def __call__(self, a: Number, b: Number) -> bool:
        """Does it hold at (a, b)."""
        return all(part(a, b) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of its parts holds."""

    parts: tuple[Tree, ...]

    def __call__(self, a: Number, b: Number) -> bool:
        """Does it hold at (a, b)."""
        return any(part(a, b) for part in self.parts)


Tree: TypeAlias = Comparison | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate and the text it was read from, or a name.

    >>> from utmost.axioms.predicate import parse_privacy_predicate
    >>> parse_privacy_predicate("b <= 2*a")(Fraction(1, 4), Fraction(1, 2))
    True
    """

    text: str
    tree: Tree

    def __call__(self, a: Number, b: Number) -> bool:
        """q(a, b), decided."""
        return self.tree(a, b)

    def __str__(self) -> str:
        """The text."""
        return self.text


def linear_forms(tree: Tree) -> Iterator[Linear]:
    """The linear functions whose signs decide a tree; constants left out."""
    if isinstance(tree, Comparison):
        yield from () if tree.form.constant else (tree.form,)
        return
    for part in tree.parts:
        yield from linear_forms(part)


def negation(tree: Tree) -> Tree:
    """What holds where the tree does not (De Morgan)."""
    if isinstance(tree, Comparison):
        return Comparison(tree.form, EVERY_SIGN - tree.signs)
    parts = tuple(negation(part) for part in tree.parts)
    return AnyOf(parts) if isinstance(tree, AllOf) else AllOf(parts)


def complement(tree: Tree) -> Tree:
    """q(1−a, 1−b): the predicate of the complementary event."""
    if isinstance(tree, Comparison):
        return Comparison(tree.form.complement, tree.signs)
    return type(tree)(tuple(complement(part) for part in tree.parts))


def swap_arguments(tree: Tree) -> Tree:
    """q(b, a): what the predicate of the pair (i₂, i₁) asks of (i₁, i₂)."""
    if isinstance(tree, Comparison):
        return Comparison(tree.form.swapped, tree.signs)
    return type(tree)(tuple(swap_arguments(part) for part in tree.parts))


def fix_first_argument(tree: Tree, a: Number) -> Tree | bool:
    """The tree at a fixed a, as a tree in b alone, or its answer where that does not depend on b."""
    if isinstance(tree, Comparison):
        rest = tree.form.a_coefficient * a + tree.form.shift
        if not tree.form.b_coefficient:
            return sign(rest) in tree.signs
        return Comparison(Linear(ZERO, tree.form.b_coefficient, rest), tree.signs)
    decisive = isinstance(tree, AnyOf)
    parts: list[Tree] = []
    for part in tree.parts:
        restricted = fix_first_argument(part, a)
        if restricted is decisive:
            return decisive
        if not isinstance(restricted, bool):
            parts.append(restricted)
    if len(parts) <= 1:
        return parts[0] if parts else not decisive
    return type(tree)(tuple(parts))


def symmetrise(tree: Tree) -> Tree:
    """q(a, b) and q(1−a, 1−b): the same privacy definition, since complements of events are events. KL10 Ass. 2.2.1."""
    return AllOf((tree, complement(tree)))


def from_curve(curve: Curve) -> Predicate:
    """b ≤ M(a) for any curve M, piece by piece."""
    pieces = [
        AllOf((_a_at_least(left[0], strict=left[0] == 0), _a_at_most(right[0], strict=right[0] == 1), _b_at_most(line)))
        for (left, right), line in zip(pairwise(curve.points), curve.lines, strict=True)
    ]
    end_values = [(ZERO, curve.at_zero), (ONE, curve.at_one)]
    points = [AllOf((Comparison(Linear(ONE, ZERO, -a), EQUAL), _b_at_most((ZERO, value)))) for a, value in end_values]
    return Predicate(f"points:{curve}", AnyOf((*pieces, *points)))


def _a_at_least(limit: Number, *, strict: bool) -> Comparison:
    return Comparison(Linear(-ONE, ZERO, limit), LESS if strict else LESS_OR_EQUAL)


def _a_at_most(limit: Number, *, strict: bool) -> Comparison:
    return Comparison(Linear(ONE, ZERO, -limit), LESS if strict else LESS_OR_EQUAL)


def _b_at_most(line: tuple[Number, Number]) -> Comparison:
    slope, start = line
    return Comparison(Linear(-slope, ONE, -start), LESS_OR_EQUAL)


MAX_PREDICATE_CHARS = 10_000  # characters
MAX_PREDICATE_NESTING = 50  # nested parentheses and signs
MAX_COMPARISONS = 24  # comparisons that involve a or b
MAX_FUNCTION_ARGUMENT = 1000  # what exp and sqrt are taken of
MAX_SHOWN_CHARS = 20  # characters of a token that an error repeats
OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN = range(7)
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
