"""Predicates: read by a parser of ours, evaluated exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.axioms import curve_from_points, parse_bound, predicate
from utmost.axioms.predicate import complement, from_curve, linear_forms, negation, swap_arguments
from utmost.errors import InputError

GRID = [Fraction(k, 10) for k in range(11)]
PYTHON = {
    "b <= 2*a + 1/10 and 1-b <= 2*(1-a) + 1/10": lambda a, b: (
        b <= 2 * a + Fraction(1, 10) and 1 - b <= 2 * (1 - a) + Fraction(1, 10)
    ),
    "a = b or not (b < 1/2 or a > 0.3)": lambda a, b: a == b or not (b < Fraction(1, 2) or a > Fraction(3, 10)),
    "a <= b <= 2*a": lambda a, b: a <= b <= 2 * a,
    "(a + b)*3/2 - -b != 1 or a > b and b >= .5": lambda a, b: (
        (a + b) * Fraction(3, 2) + b != 1 or (a > b and b >= Fraction(1, 2))
    ),
    "not not a == b": lambda a, b: a == b,
    "((a ≤ b)) and 2·a ≥ b": lambda a, b: a <= b and 2 * a >= b,
    "1 < 2": lambda a, b: True,
    "not a < b and b < 1 or a = 0": lambda a, b: (not a < b and b < 1) or a == 0,
    "b/2 < a": lambda a, b: b / 2 < a,
}


@pytest.mark.parametrize("text", PYTHON)
def test_a_predicate_means_what_the_same_text_means_in_python(text):
    rule = predicate(text)
    assert all(rule(a, b) == PYTHON[text](a, b) for a in GRID for b in GRID)


@given(st.sampled_from(sorted(PYTHON)), st.sampled_from(GRID), st.sampled_from(GRID))
def test_negation_complement_and_reversal_are_those_of_the_answer(text, a, b):
    tree = predicate(text).tree
    assert negation(tree)(a, b) != tree(a, b)
    assert complement(tree)(a, b) == tree(1 - a, 1 - b)
    assert swap_arguments(tree)(a, b) == tree(b, a)


def test_coefficients_are_exact_even_if_irrational():
    rule = predicate("b <= exp(1/10)*a + sqrt(2) - 7/5")
    (form,) = linear_forms(rule.tree)
    assert str(form.a_coefficient) == "-exp(1/10)"
    assert rule(Fraction(0), Fraction(14142, 10**6))
    assert not rule(Fraction(0), Fraction(14214, 10**6))


@pytest.mark.parametrize("points", ["0 0,1/4 3/4,1 1", "0 1/2,1/2 1/4,1 1", "0 0,0 1/2,1/2 1/2,1 1", "0 1/2,1/3 2,1 1"])
def test_a_curve_is_the_predicate_below_it_with_its_jumps(points):
    curve = parse_bound(f"points:{points}")
    assert all(from_curve(curve)(a, b) == (b <= curve(a)) for a in GRID for b in GRID)
    jump_curve = curve_from_points([(0, "1/2"), (1, "1/2")], at_zero="1/4", at_one=1)
    assert all(from_curve(jump_curve)(a, b) == (b <= jump_curve(a)) for a in GRID for b in GRID)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "got nothing"),
        ("b", "expected a comparison, got a number"),
        ("b <= ", "expected a, b, a number or"),
        ("b <= 2a", "a product is written with *"),
        ("b <= 2(a)", "a product is written with *"),
        ("b <= x", "a is P(O|i1) and b is P(O|i2)"),
        ("a*b <= 1", "only numbers without a and b"),
        ("1/a <= 1", "only numbers without a and b"),
        ("a/0 <= 1", "division by zero"),
        ("exp(a) <= 1", "only numbers without a and b"),
        ("sqrt(-1) <= a", "sqrt"),
        ("(a <= b) + 1 <= 2", "expected a number, got a comparison"),
        ("a and b", "expected a comparison, got a number"),
        ("(a <= b", "expected ), got the end"),
        ("a <= b)", "a ( is missing"),
        ("|a - b| <= 1/10", "write both inequalities"),
        ("a <= b; import os", "is not understood"),
        ("__import__(1)", "expected a, b, a number"),
        ("a <= ½", "is not understood"),
        ("nan <= a", "expected a, b, a number"),
        ("a <= 1e999999", "number"),
        ("(" * 60 + "a <= b" + ")" * 60, "nested deeper"),
        ("-" * 60 + "a <= b", "nested deeper"),
        ("not " * 60 + "a <= b", "nested deeper"),
        (" and ".join(["a <= b"] * 25), "at most 24 comparisons"),
        ("a <= b " * 5000, "at most 10000 characters"),
        ("a\x00b", "is not understood"),
    ],
)
def test_what_is_no_predicate_is_refused_in_one_short_line(text, problem):
    with pytest.raises(InputError) as error:
        predicate(text)
    message = str(error.value)
    assert problem in message
    assert "\n" not in message
    assert len(message) < 200


TOKENS = ["a", "b", "1/2", "2", "+", "-", "*", "/", "(", ")", "<", "<=", "=", "and", "or", "not", "exp", "sqrt"]


@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(TOKENS), max_size=14).map(" ".join)))
def test_any_text_is_read_or_refused(text):
    message = ""
    try:
        predicate(text)(Fraction(1, 2), Fraction(1, 3))
    except InputError as problem:
        message = str(problem)
    assert "\n" not in message
