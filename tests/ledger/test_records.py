"""Invalid budgets and costs are refused when they are made, with a line that says why."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import BudgetError, InputError
from utmost.ledger import Budget, Part, QueryCost, ReleaseCost
from utmost.ledger.records import budget_error, format_amounts

COST = QueryCost("count", Fraction(1, 10))


@pytest.mark.parametrize(
    "name", ["", "x" * 101, "a\nb", "a\0", " a", "a ", "\ud800", "\u200b", "\x1b[31m", None], ids=ascii
)
def test_a_name_is_printable_and_not_too_long(name):
    with pytest.raises(InputError, match="name of a budget must be 1 to 100 printable characters"):
        Budget(name, Fraction(1))
    with pytest.raises(InputError, match="name of a budget"):
        ReleaseCost(name, "row", "replace", (COST,))


@pytest.mark.parametrize("name", ["a", "x" * 100, "Umfrage für ε", "雪", 'it\'s "50%" -- ?'])
def test_any_printable_name_is_one(name):
    assert Budget(name, Fraction(1)).name == name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0 and at most 1000, got 0"),
        ({"epsilon": "-1/2"}, "epsilon must be > 0"),
        ({"epsilon": "1000.1"}, "at most 1000, got 1000.1"),
        ({"epsilon": 0.1}, "epsilon must be exact, got the float 0.1"),
        ({"epsilon": "exp(1)"}, "epsilon must be a rational number"),
        ({"epsilon": Fraction(1, 10**40)}, "at most 40 digits"),
        (
            {"delta": "1e-6", "composition": "pure"},
            "delta must be 0 with pure composition, got 1e-06: say composition approximate, zcdp or pld",
        ),
        ({"delta": -1}, "delta must be from 0 to below 1"),
        ({"delta": 1, "composition": "pld"}, "delta must be from 0 to below 1, got 1"),
        ({"composition": "pld"}, "delta must be at least 1e-30 with pld composition, got 0"),
        ({"composition": "pld", "delta": "1e-31"}, "delta must be at least 1e-30"),
        ({"composition": "rdp"}, 'composition must be pure or approximate or zcdp or pld, got "rdp"'),
        ({"neighbours": "swap"}, 'neighbours must be replace or add-remove, got "swap"'),
        ({"unit": ""}, "unit must be text of 1 to 1000 characters"),
        ({"unit": "a\0b"}, "unit must be text without the character 0"),
    ],
    ids=str,
)
def test_an_invalid_budget_is_refused(change, message):
    with pytest.raises(InputError) as refusal:
        Budget(**{"name": "survey", "epsilon": Fraction(1), **change})
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**39), 1, "1/3", "0.1", 1000, Fraction(1000)])
def test_every_epsilon_up_to_a_thousand_is_one(epsilon):
    assert Budget("survey", epsilon).epsilon == Fraction(epsilon)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0}, "epsilon of a cost must be > 0"),
        (
            {"law": "gauss"},
            'law of a cost must be geometric or any or gaussian or concentrated or canonical, got "gauss"',
        ),
        ({"steps": 0}, "steps of a cost must be from 1"),
        ({"steps": 2**63}, "steps of a cost must be from 1"),
        ({"query": "x" * 1001}, "query of a cost must be text"),
    ],
    ids=str,
)
def test_an_invalid_cost_is_refused(change, message):
    with pytest.raises(InputError) as refusal:
        QueryCost(**{"query": "count", "epsilon": Fraction(1), **change})
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": ()}, "costs must be from 1 to 10000, got 0"),
        ({"neighbours": "swap"}, "neighbours must be"),
        ({"unit": ""}, "unit must be"),
        ({"fingerprint": ""}, "fingerprint must be text of 1"),
        ({"plan": "\ud800"}, "plan must be text without"),
        ({"unit_kind": ""}, "unit_kind must be"),
    ],
    ids=ascii,
)
def test_an_invalid_release_cost_is_refused(change, message):
    with pytest.raises(InputError) as refusal:
        ReleaseCost(**{"budget": "survey", "unit": "row", "neighbours": "replace", "costs": (COST,), **change})
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (("", "north"), "column of a part must be"),
        (("region", "a\0"), "value of a part must be"),
        (("region", "north", ""), "kind of a part must be"),
        (("region", "north", "text", "\ud800"), "table of a part must be"),
        (("region", "north", "text", None, "x" * 1001), "source of a part must be"),
    ],
    ids=ascii,
)
def test_an_invalid_part_is_refused(part, message):
    with pytest.raises(InputError) as refusal:
        Part(*part)
    assert message in str(refusal.value)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=3), st.integers(0, 12))
def test_short_decimals_are_written_exactly_and_with_as_many_places(numbers, decimals):
    values = [Fraction(n, 10**decimals) for n in numbers]
    texts = format_amounts(*values)
    assert [Fraction(text) for text in texts] == values
    assert len({len(text.partition(".")[2]) for text, value in zip(texts, values, strict=True) if value}) <= 1


@given(st.fractions(0, 10**6))
def test_an_amount_is_exact_or_says_that_it_is_not(value):
    (text,) = format_amounts(value)
    assert text.startswith("about ") or Fraction(text) == value
    assert len(text) <= 30


def test_long_fractions_are_about_something():
    assert format_amounts(Fraction(10**60, 3 * 10**60 + 1)) == ["about 0.333333"]
    assert format_amounts(Fraction(1, 3)) == ["1/3"]


def test_a_short_budget_is_bad_input():
    problem = budget_error(Budget("survey", Fraction(1)), Fraction(1, 4), Fraction(1, 3))
    assert isinstance(problem, BudgetError)
    assert isinstance(problem, InputError)
    assert "has ε 0.25 left, this plan costs 1/3" in str(problem)
