"""The parser: precedence, places, limits, slips."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.predicates.strategies import COLUMN_SORTS, trees, write_predicate
from utmost.data.predicates import parse_predicate
from utmost.data.predicates.parser import MAX_EXPONENT, MAX_NUMBER_DIGITS, MAX_PREDICATE_NESTING
from utmost.data.predicates.syntax import (
    MAX_PREDICATE_CHARS,
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
)
from utmost.errors import InputError

A, B, C, D = (Column(name) for name in "abcd")
ONE, TWO = Literal(Fraction(1)), Literal(Fraction(2))
TOKEN_TEXTS = """
    and or not in between is null true false date time AND Not like a b flag = == != <> < <= > >= + - * ( ) , / % ! &&
    || ; . ` [ ≤ ≠ ‘ “ # 1 0.5 .5 1. 1e5 1e 0x1F 1e999999 9e-9999999999 '' 'x' 'O''Neill' ' " "a" "a""b" '2020-01-31'
    '2020-99-99' -- /* ${x} é 🦆
"""
FRAGMENTS = [*TOKEN_TEXTS.split(), " ", "\n", "\0", "\ud800", "\u00a0", "9" * 2000, "(" * 60]


@settings(max_examples=300)
@given(trees(COLUMN_SORTS))
def test_a_tree_written_out_with_the_fewest_parentheses_is_parsed_back(tree: Node) -> None:
    assert parse_predicate(write_predicate(tree)).tree == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a or b and not c", Or((A, And((B, Not(C)))))),
        ("a and b or c and d", Or((And((A, B)), And((C, D))))),
        ("a and b and c", And((A, B, C))),
        ("not a = 1 and b", And((Not(Comparison("=", A, ONE)), B))),
        ("NOT a IN (1, 2)", Not(In(A, (ONE, TWO)))),
        ("a not in (1)", Not(In(A, (ONE,)))),
        ("a is not NULL", Not(IsNull(A))),
        ("a Between 1 and 2 and b", And((And((Comparison(">=", A, ONE), Comparison("<=", A, TWO))), B))),
        ("a not between 1 and 2", Not(And((Comparison(">=", A, ONE), Comparison("<=", A, TWO))))),
        ("a == 1", Comparison("=", A, ONE)),
        ("a <> 1", Comparison("!=", A, ONE)),
        ("a - b - 1 < 2", Comparison("<", Arithmetic("-", Arithmetic("-", A, B), ONE), TWO)),
        (
            "a + b * -c > 0.5",
            Comparison(">", Arithmetic("+", A, Arithmetic("*", B, Minus(C))), Literal(Fraction(1, 2))),
        ),
        ("(a > 1) = b", Comparison("=", Comparison(">", A, ONE), B)),
        ("a = 'O''Neill'", Comparison("=", A, Literal("O'Neill"))),
        ("a = 'not' and \"a\"", And((Comparison("=", A, Literal("not")), A))),
        ('"x ""y""" = 1', Comparison("=", Column('x "y"'), ONE)),
        ("date = date '2020-01-31'", Comparison("=", Column("date"), Literal(date(2020, 1, 31)))),
        ("time < TIME '2020-01-31T12:00'", Comparison("<", Column("time"), Literal(datetime(2020, 1, 31, 12)))),
        ("a < time '2020-01-31 12:00:01.25'", Comparison("<", A, Literal(datetime(2020, 1, 31, 12, 0, 1, 250000)))),
        ("true", Literal(True)),
    ],
)
def test_operators_bind_as_in_sql(text: str, tree: Node) -> None:
    assert parse_predicate(text).tree == tree


def test_a_predicate_knows_its_columns_and_its_text() -> None:
    predicate = parse_predicate('age >= 65 and ("odd one" is null or age in (1, low))')
    assert predicate.columns == {"age", "odd one", "low"}
    assert str(predicate) == predicate.text


@settings(max_examples=500)
@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(" ".join),
        st.text("ab1'\"()=<>!-+* ", max_size=30),
    )
)
@example("'" * 9_999)
@example("(" * MAX_PREDICATE_CHARS)
@example("not " * 2_500)
@example("-" * MAX_PREDICATE_CHARS)
@example("a" + "+a" * 4_999)
@example("9" * MAX_PREDICATE_CHARS)
@example("1e" + "9" * (MAX_PREDICATE_CHARS - 2))
@example('"' * 9_998 + "x")
def test_any_text_is_a_predicate_or_an_input_error_of_one_line(text: str) -> None:
    try:
        message = f"where {type(parse_predicate(text)).__name__}"
    except InputError as problem:
        message = str(problem)
    assert message.startswith("where")
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize("value", [None, 3, b"a = 1", ["a"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="where must be a text"):
        parse_predicate(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "position", "advice"),
    [
        ("age >", 6, "expected a column"),
        ("age > and vote = 1", 7, "expected a column"),
        ("age => 3", 5, "write >="),
        ("age =< 3", 5, "write <="),
        ("a < b < c", 7, "write a < b and b < c"),
        ("not a = b = c", 11, "a comparison has two sides"),
        ("a && b", 3, "write and"),
        ("a || b", 3, "write or"),
        ("!a", 1, "write not"),
        ("a / 2 > 1", 3, "multiply the other side"),
        ("a = 'north", 5, "a text is not closed"),
        ('"a = 1', 1, "a column name is not closed"),
        ("a = ‘north’", 5, "plain single quotes"),
        ("a ≤ 3", 3, "write <="),
        ("`a` = 3", 1, "double quotes"),
        ("people.age = 3", 7, "write the column alone"),
        ("a = null", 5, "is null"),
        ("a is 3", 6, "null or not null"),
        ("a like 'x%'", 3, "no text patterns"),
        ("a not like 'x%'", 7, "no text patterns"),
        ("length(a) = 3", 1, "the functions are bin, div"),
        ("lowr(a) = 'x'", 1, "did you mean lower"),
        ('"lower"(a) = 3', 8, "without quotes"),
        ("lower() = 'x'", 1, r"lower takes 1 value, got 0: write lower\(s\)"),
        ("bin(a) = 1", 1, r"bin takes 2 values, got 1: write bin\(x, w\)"),
        ("coalesce(a) = 1", 1, "coalesce takes at least 2 values, got 1"),
        ("lower(a = 'x'", 14, "closed by"),
        ("case when a = 1 then 2 else 3 = 1", 34, "expected end, got the end"),
        ("case when a = 1 or 2 end", 22, "expected then"),
        ("a / 2 = 1", 3, "no division but whole division"),
        ("a in 3", 6, "between parentheses"),
        ("a in (1 2)", 9, "parted by commas"),
        ("a in ()", 7, "expected a column"),
        ("a between 1", 12, "between takes two values"),
        ("(a = 1", 7, "not closed"),
        ("a = 1)", 6, r"a \( is missing"),
        ("patient id = 1", 9, 'stands between double quotes: "patient id"'),
        ("a = 1; b", 6, "one predicate"),
        ("a = not b", 5, "parentheses"),
        ("in = 3", 1, "double quotes"),
        ("12abc = 3", 1, "no number and no name"),
        ("a = date '31.1.2020'", 10, "a date is written"),
        ("a = date '2020-02-30'", 10, "the calendar"),
        ("a = time '2020-01-31 12:00:00+02:00'", 10, "in UTC, without an offset"),
        ("a = 'x\0y'", 7, "U\\+0000"),
        ("a = '\ud800'", 6, "U\\+D800"),
    ],
)
def test_a_slip_is_found_at_its_position_with_advice(text: str, position: int, advice: str) -> None:
    with pytest.raises(InputError, match=f"^where, at character {position}: .*{advice}"):
        parse_predicate(text)


@pytest.mark.parametrize("text", ["", "   \n"])
def test_nothing_is_no_predicate(text: str) -> None:
    with pytest.raises(InputError, match="leave it out to ask of all rows"):
        parse_predicate(text)


def test_length_depth_digits_and_exponents_are_bounded() -> None:
    parse_predicate("(" * (MAX_PREDICATE_NESTING - 1) + "a" + ")" * (MAX_PREDICATE_NESTING - 1))
    parse_predicate(f"a < {'9' * MAX_NUMBER_DIGITS}e{MAX_EXPONENT}")
    parse_predicate("a" + " " * (MAX_PREDICATE_CHARS - 1))
    parse_predicate(" or ".join(["a"] * 2000))
    for text, message in [
        ("(" * MAX_PREDICATE_NESTING + "a" + ")" * MAX_PREDICATE_NESTING, "nested deeper"),
        ("not " * MAX_PREDICATE_NESTING + "a", "nested deeper"),
        ("a" + "+a" * MAX_PREDICATE_NESTING + " > 1", "nested deeper"),
        ("- " * MAX_PREDICATE_NESTING + "a > 1", "nested deeper"),
        (f"a < {'9' * (MAX_NUMBER_DIGITS + 1)}", "at most 1000 digits"),
        ("a < 1e999999", "exponents up to 1000"),
        (f"a < 1e-{MAX_EXPONENT + 1}", "exponents up to 1000"),
        ("a" + " " * MAX_PREDICATE_CHARS, "at most 10000 characters"),
    ]:
        with pytest.raises(InputError, match=message):
            parse_predicate(text)
