"""The grammar of privacy predicates, read by us: no text is ever executed.

From loose to tight: or, and, not, comparisons (chains too: a <= b <= 2*a), + and -, * and /, signs. Values are a, b,
numbers as `exact` reads them, exp(…) and sqrt(…) of constants. Products and quotients by constants only, so that every
side is linear in a and b. What nests deeper than DEEPEST is refused before Python's own stack could object.
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
MOST_FORMS = 24  # comparisons that involve a or b
MAX_FUNCTION_ARGUMENT = 1000  # what exp and sqrt are taken of
MAX_SHOWN_CHARS = 20  # characters of a word that an error repeats
OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN = range(7)
ZERO, ONE = Fraction(0), Fraction(1)
SIGNS = {"<": {-1}, "<=": {-1, 0}, "=": {0}, "!=": {-1, 1}, ">=": {0, 1}, ">": {1}}
SPELLED = {"==": "=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "·": "*"}
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign><=|>=|<>|!=|==|[=<>+\-*/()≤≥≠−·]))"
)
EXAMPLE_PREDICATE = "b <= 2*a + 1/10 and 1-b <= 2*(1-a) + 1/10"


@dataclass(frozen=True, slots=True)
class Word:
    """A number, a name, a sign or the end; where it starts, from 1."""

    role: str
    content: str
    at: int

    def __str__(self) -> str:
        """The word as an error shows it."""
        return "the end" if self.role == "end" else f'"{self.content[:MAX_SHOWN_CHARS]}"'


def parse_privacy_predicate(text: str) -> Predicate:
    """The predicate that a text means; an InputError names the place where it means none.

    >>> parse_privacy_predicate("a <= b <= 2*a or not b < 1/2")(Fraction(1, 3), Fraction(1, 2))
    True
    """
    return Predicate(text.strip(), _Parser(_words(text)).predicate())


def _words(text: str) -> list[Word]:
    if len(text) > MAX_PREDICATE_CHARS:
        raise InputError(f"predicate must have at most {MAX_PREDICATE_CHARS} characters, got {len(text)}")
    found, place, end = [], 0, len(text.rstrip())
    while place < end:
        match = TOKEN.match(text, place)
        if match is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            advice = "abs is not linear: write both inequalities" if text[start] == "|" else ""
            raise _refusal(start + 1, f"{text[start]!a} is not understood", advice)
        role = str(match.lastgroup)
        content = match.group(role)
        found.append(Word(role, SPELLED.get(content, content), match.start(role) + 1))
        place = match.end()
    return [*found, Word("end", "", end + 1)]


def _refusal(at: int, problem: str, advice: str = "") -> InputError:
    return InputError(f"predicate, at character {at}: {problem}" + (f": {advice}" if advice else ""))


class _Parser:
    """Precedence climbing; an expression is a linear function or a tree."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words, self.next, self.depth = words, 0, 0

    @property
    def word(self) -> Word:
        return self.words[self.next]

    def took(self, *contents: str) -> bool:
        """Take the next word if it is one of these."""
        found = self.word.role != "end" and self.word.content in contents
        self.next += found
        return found

    def need(self, content: str) -> None:
        if not self.took(content):
            raise _refusal(self.word.at, f"expected {content}, got {self.word}")

    def predicate(self) -> Tree:
        if self.word.role == "end":
            raise InputError(f"predicate must be such as {EXAMPLE_PREDICATE}, got nothing")
        at, found = self.word.at, self.expression(OR)
        if self.word.role != "end":
            raise _refusal(self.word.at, f"expected and, or, or the end, got {self.word}", self.stray())
        tree = _truth(found, at)
        if sum(1 for _ in linear_forms(tree)) > MOST_FORMS:
            raise InputError(f"predicate must have at most {MOST_FORMS} comparisons with a or b, got more")
        return tree

    def stray(self) -> str:
        """What to do about a word that does not follow."""
        before = self.words[max(self.next - 1, 0)].role
        if self.word.content == "(" or (before == "number" and self.word.role == "name"):
            return "a product is written with *"
        return "a ( is missing" if self.word.content == ")" else ""

    def expression(self, tightness: int) -> Linear | Tree:
        """The longest expression from here whose loosest sign is at least this tight."""
        self.depth += 1
        if self.depth > MAX_PREDICATE_NESTING:
            raise _refusal(self.word.at, f"nested deeper than {MAX_PREDICATE_NESTING}", "take parentheses away")
        at = self.word.at
        if tightness <= NOT and self.took("not"):
            found: Linear | Tree = negation(_truth(self.expression(NOT), at))
        else:
            found = self.compared(self.arithmetic(self.prefix(), tightness, at), tightness, at)
        if tightness <= AND and self.took("and"):
            found = AllOf(self.parts(found, at, "and", NOT))
        if tightness <= OR and self.took("or"):
            found = AnyOf(self.parts(found, at, "or", AND))
        self.depth -= 1
        return found

    def parts(self, first: Linear | Tree, at: int, sign: str, tightness: int) -> tuple[Tree, ...]:
        found = [_truth(first, at)]
        while True:
            start = self.word.at
            found.append(_truth(self.expression(tightness), start))
            if not self.took(sign):
                return tuple(found)

    def compared(self, left: Linear | Tree, tightness: int, at: int) -> Linear | Tree:
        """`left`, or the comparisons of a chain that begins with it."""
        found: list[Tree] = []
        while tightness <= COMPARISON and self.word.content in SIGNS:
            sign, start = SIGNS[self.word.content], self.word.at
            self.next += 1
            right = _value(self.expression(SUM), start)
            found.append(Comparison(_value(left, at) + right.times(-ONE), frozenset(sign)))
            left = right
        if not found:
            return left
        return found[0] if len(found) == 1 else AllOf(tuple(found))

    def arithmetic(self, left: Linear | Tree, tightness: int, at: int) -> Linear | Tree:
        """`left` with the signs + - * / that follow, from the left."""
        while tightness <= (tight := {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}.get(self.word.content, -1)):
            sign = self.word
            self.next += 1
            right = _value(self.expression(tight + 1), sign.at)
            left = _combined(sign, _value(left, at), right)
        return left

    def prefix(self) -> Linear | Tree:
        word = self.word
        if self.took("-", "+"):
            inside = _value(self.expression(SIGN), word.at)
            return inside.times(-ONE) if word.content == "-" else inside
        if self.took("("):
            found = self.expression(OR)
            self.need(")")
            return found
        self.next += word.role != "end"
        if word.role == "number":
            return Linear(ZERO, ZERO, number(word.content, f"predicate, at character {word.at}: a number"))
        if word.content in ("a", "b"):
            return Linear(ONE, ZERO, ZERO) if word.content == "a" else Linear(ZERO, ONE, ZERO)
        if word.content in ("exp", "sqrt"):
            return Linear(ZERO, ZERO, self.function(word))
        advice = "a is P(O|i1) and b is P(O|i2)" if word.role == "name" else ""
        raise _refusal(word.at, f"expected a, b, a number or (, got {word}", advice)

    def function(self, word: Word) -> Number:
        self.need("(")
        inside = _constant(_value(self.expression(SUM), word.at), word.at)
        self.need(")")
        if not -MAX_FUNCTION_ARGUMENT <= inside <= MAX_FUNCTION_ARGUMENT:
            raise _refusal(
                word.at,
                f"{word.content}(…) must be of a number between -{MAX_FUNCTION_ARGUMENT} and {MAX_FUNCTION_ARGUMENT}",
            )
        try:
            return number(f"{word.content}({inside})")
        except InputError:
            advice = "exp takes rational numbers and roots, sqrt rational numbers >= 0"
            raise _refusal(word.at, f"{word.content}(…) of this number is not known exactly", advice) from None


def _truth(found: Linear | Tree, at: int) -> Tree:
    if isinstance(found, Linear):
        raise _refusal(at, "expected a comparison, got a number", f"write for instance {EXAMPLE_PREDICATE}")
    return found


def _value(found: Linear | Tree, at: int) -> Linear:
    if not isinstance(found, Linear):
        raise _refusal(at, "expected a number, got a comparison", "join comparisons with and, or, not")
    return found


def _constant(value: Linear, at: int) -> Number:
    if not value.constant:
        raise _refusal(at, "only numbers without a and b can stand here", "every side must be linear in a and b")
    return value.shift


def _combined(sign: Word, left: Linear, right: Linear) -> Linear:
    if sign.content in "+-":
        return left + (right if sign.content == "+" else right.times(-ONE))
    if sign.content == "*":
        return right.times(left.shift) if left.constant else left.times(_constant(right, sign.at))
    divisor = _constant(right, sign.at)
    if not divisor:
        raise _refusal(sign.at, "division by zero")
    return left.times(1 / divisor)
