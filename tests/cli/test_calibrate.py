"""`utmost calibrate`."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utmost.consumer import Consumer, losses, priors
from utmost.exact import epsilon
from utmost.mechanisms import geometric
from utmost.mechanisms.geometric import tail_probability

GRID = ("--low", "18", "--high", "91", "--step", "1")


def test_a_count_s_document_holds_both_verdicts(utmost):
    document = utmost("calibrate", "count", "--error", "5", "--confidence", "0.95", "--json").document
    assert document["epsilon"] == "0.538175"
    assert document["below"]["epsilon"] == "0.538174"
    assert (
        2 * tail_probability(6, epsilon(document["epsilon"]))
        <= Fraction(1, 20)
        < 2 * tail_probability(6, epsilon("0.538174"))
    )
    assert document["reached"] >= 0.95 > document["below"]["reached"]
    assert (document["kind"], document["target"], document["digits"]) == ("count", "19/20", 6)


def test_the_text_shows_both_verdicts_and_how_they_were_reached(utmost):
    result = utmost("calibrate", "count", "--error", "5")
    text = " ".join(result.out.split())
    assert "ε = 0.538175 is the least of 6 digits with which a count is off by at most 5 with probability 0.95" in text
    assert "0.538175 0.9500002806 meets it" in text
    assert "0.538174 0.949999999 misses it" in text
    assert "certain: decided in interval arithmetic" in text
    assert max(map(len, result.out.splitlines())) <= 80


def test_an_expected_loss_is_met_by_the_best_remap_exactly(utmost):
    options = ("--size", "5", "--prior", "binomial:0.3", "--loss", "squared", "--expected-loss", "1/2", "--digits", "4")
    document = utmost("calibrate", "count", *options, "--json").document
    reader = Consumer(priors.binomial(6, "0.3"), losses.squared)
    assert reader.expected_loss(geometric(5, epsilon(document["epsilon"]))) <= Fraction(1, 2)
    assert reader.expected_loss(geometric(5, epsilon(document["below"]["epsilon"]))) > Fraction(1, 2)
    assert "expected loss of at most 0.5" in " ".join(utmost("calibrate", "count", *options).out.split())


def test_a_target_that_needs_no_answer_says_so(utmost):
    result = utmost("calibrate", "count", "--size", "4", "--expected-loss", "2")
    assert result.out.startswith("ε = 0:")
    assert utmost("calibrate", "count", "--size", "4", "--expected-loss", "2", "--json").document["below"] is None


@pytest.mark.parametrize(
    ("arguments", "least_epsilon"),
    [
        (("histogram", "--cells", "20", "--error", "10"), "0.568698"),
        (("histogram", "--cells", "20", "--error", "10", "--neighbours", "add-remove"), "0.284349"),
        (("histogram", "--cells", "20", "--error", "10", "--together"), "1.12913"),
        (("sum", *GRID, "--error", "500"), "0.43694"),
        (("mean", *GRID, "--rows", "944", "--error", "1"), "0.231539"),
        (("mean", *GRID, "--rows", "944", "--error", "1", "--selected"), "0.317918"),
        (("quantile", *GRID, "--error", "20"), "0.659305"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, tuple) else value,
)
def test_every_kind_is_calibrated(utmost, arguments, least_epsilon):
    """The numbers are those of this code; tests/publish/test_calibration.py decides each kind by a second method."""
    document = utmost("calibrate", *arguments, "--json").document
    assert document["epsilon"] == least_epsilon
    assert document["kind"] == arguments[0]
    assert document["reached"] >= 0.95 > document["below"]["reached"]
    result = utmost("calibrate", *arguments)
    assert f"ε = {least_epsilon} is the least" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_negative_bounds_are_read(utmost):
    assert utmost("calibrate", "sum", "--low", "-10", "--high", "5", "--step", "1", "--error", "3").code == 0


BAD = [
    (("count",), "--error or --expected-loss must be given"),
    (("count", "--error", "5", "--expected-loss", "1"), "one of the two"),
    (("count", "--expected-loss", "1"), "--size must be given"),
    (("count", "--error", "-5"), "error must be >= 0"),
    (("count", "--error", "few"), "error must be a number"),
    (("count", "--error", "5", "--confidence", "1"), "confidence must be from"),
    (("count", "--error", "5", "--digits", "0"), "digits must be from 1"),
    (("count", "--error", "5", "--digits", "x"), "digits"),
    (("count", "--error", "5", "--sensitivity", "0"), "must keep from 1"),
    (("count", "--size", "4", "--expected-loss", "-1"), "expected-loss must be above 0"),
    (("count", "--size", "4", "--expected-loss", "0"), "expected-loss must be above 0"),
    (("count", "--size", "1e9", "--expected-loss", "1"), "size must be from 0"),
    (("count", "--size", "4", "--expected-loss", "1", "--prior", "1/2,1/2"), "prior must have 5 weights"),
    (("histogram", "--cells", "0", "--error", "1"), "--cells must be from 1"),
    (("histogram", "--error", "1"), "--cells"),
    (("sum", "--low", "1", "--high", "0", "--step", "1", "--error", "1"), "low must be below high"),
    (("sum", "--low", "0", "--high", "1", "--step", "0.3", "--error", "1"), "whole numbers of steps"),
    (("mean", *GRID, "--error", "1"), "--rows"),
    (("mean", *GRID, "--rows", "0", "--error", "1"), "--rows must be from 1"),
    (("mean", *GRID, "--rows", "9", "--error", "1", "--neighbours", "swap"), "neighbours must be replace"),
    (("quantile", *GRID, "--error", "0"), "error must be > 0 for a quantile"),
    (("quantile", *GRID, "--error", "5", "--probability", "2"), "probability must be from 0 to 1"),
    (("nothing",), "nothing"),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=lambda value: " ".join(map(str, value))[:60])
def test_bad_input_ends_with_code_2_and_one_line_that_names_it(utmost, arguments, expected):
    result = utmost("calibrate", *arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert expected in result.err


def test_the_group_and_each_command_explain_themselves(utmost):
    assert utmost("calibrate").out == utmost("calibrate", "--help").out
    for kind in ("count", "histogram", "sum", "mean", "quantile"):
        result = utmost("calibrate", kind, "--help")
        assert f"utmost calibrate {kind}" in result.out
        assert "--json" in result.out
        assert max(map(len, result.out.splitlines())) <= 80


OPTION_VALUES = st.one_of(
    st.sampled_from(["0", "-1", "1e999", "1e-999", "1/3", "nan", "5", "0.5", "x", "∞"]), st.text(max_size=6)
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["count", "histogram", "sum", "mean", "quantile"]),
    st.lists(
        st.tuples(
            st.sampled_from(
                ["--error", "--confidence", "--low", "--high", "--step", "--rows", "--cells", "--kept", "--digits"]
            ),
            OPTION_VALUES,
        ),
        max_size=7,
        unique_by=lambda pair: pair[0],
    ),
)
def test_no_option_values_make_a_traceback(utmost, kind, options):
    result = utmost("calibrate", kind, *(word for pair in options for word in pair))
    assert result.code in (0, 2), result.err
    assert "internal error" not in result.err


PLAN = """
neighbours = "replace"
budget = "survey"
source = {location = "bundled:anes96"}
[[query]]
name = "dole"
kind = "count"
where = "vote = 1"
error = 10
[[query]]
name = "schooling"
kind = "histogram"
keys = { educ = [1, 2, 3] }
epsilon = 0.3
"""


def test_a_plan_is_split_in_three_ways_whose_lines_can_be_pasted_and_nothing_is_spent(utmost, tmp_path):
    (tmp_path / "survey.toml").write_text(PLAN)
    result = utmost("calibrate", "survey.toml", "--epsilon", "1")
    assert result.code == 0, result.err
    assert "epsilon = 0.5  # dole" in result.out
    assert "# balanced: " in result.out
    assert [path.name for path in tmp_path.iterdir()] == ["survey.toml"]
    document = utmost("calibrate", "plan", "survey.toml", "--epsilon", "1", "--json").document
    balanced = document["proposals"][2]
    assert (document["epsilon"], balanced["name"]) == ("1", "balanced")
    pasted = PLAN.replace("error = 10", f'epsilon = "{balanced["queries"][0]["epsilon"]}"')
    (tmp_path / "survey.toml").write_text(pasted.replace("0.3", f'"{balanced["queries"][1]["epsilon"]}"'))
    shown = utmost("release", "survey.toml", "--dry-run", "--json").document["queries"]
    assert [query["error"] for query in shown] == [query["error"] for query in balanced["queries"]]


def test_a_plan_that_is_not_there_is_refused_in_one_line(utmost):
    result = utmost("calibrate", "absent.toml", "--epsilon", "1")
    assert result.code == 2
    assert "plan must name a readable text file" in result.err
    assert "--epsilon" in utmost("calibrate", "absent.toml").err
