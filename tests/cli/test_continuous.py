"""`utmost continuous grid`: N and why, for a number and for the rows of a mean; what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

SUM = ("continuous", "grid", "--interval", "0,100", "--sensitivity", "0.1", "--epsilon", "1")
MEAN = ("continuous", "grid", "--interval", "18,91", "--rows", "944", "--epsilon", "0.1")


def test_the_coarsest_grid_comes_with_each_term_and_the_next_coarser_one(utmost):
    result = utmost(*SUM, "--extra-loss", "0.01", "--json").document
    assert (result["N"], result["step"], result["sensitivity_steps"], result["epsilon_a_step"]) == (
        6000,
        "1/60",
        6,
        "1/6",
    )
    assert result["terms"]["best"] == pytest.approx(0.1)
    assert result["terms"]["factor"] == pytest.approx(math.exp(1 / 12))
    assert result["extra"] == result["terms"]["rounding"] == pytest.approx(0.1 * math.expm1(1 / 12))
    assert result["terms"]["sensitivity"] == 0
    assert result["coarser"]["N"] == 5000
    assert result["coarser"]["extra"] > 0.01 >= result["extra"]
    assert "whatever the prior, a reader with loss absolute loses at most 0.008691 more" in result["guarantee"]


def test_the_text_says_the_same(utmost):
    result = utmost(*SUM, "--extra-loss", "0.01")
    assert result.code == 0
    assert result.out.startswith("N = 6000 steps of 1/60, from 0 to 100.")
    for expected in ("geometric noise of ε/6 = 1/6", "0.008691", "with 5000 steps it would be", "Guarantee: "):
        assert expected in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_a_mean_is_advised_the_step_that_its_plan_needs(utmost):
    result = utmost(*MEAN, "--extra-loss", "0.1", "--json").document
    step = Fraction(result["step"])
    assert (Fraction(18) / step).denominator == (Fraction(91) / step).denominator == 1
    assert result["sensitivity"] == "73/944"
    assert result["extra"] <= 0.1 < result["coarser"]["extra"]
    assert f'in a plan: step = "{step}"' in utmost(*MEAN, "--extra-loss", "0.1").out


def test_a_step_that_does_not_divide_the_sensitivity_is_priced(utmost):
    result = utmost(*SUM, "--step", "0.03", "--json").document
    assert (result["N"], result["high"], result["sensitivity_steps"], result["coarser"]) == (3334, "5001/50", 4, None)
    assert result["terms"]["sensitivity"] == pytest.approx(6 * 0.02 * math.exp(1 / 8))
    assert result["extra"] == result["terms"]["alone"]
    assert "noise for 4 steps, 0.12, for 0.1" in utmost(*SUM, "--step", "0.03").out


def test_what_is_not_known_is_called_unknown(utmost):
    result = utmost(*SUM, "--step", "0.03", "--loss", "step:0.01")
    assert "unknown" in result.out
    assert utmost(*SUM, "--step", "0.03", "--loss", "step:0.01", "--json").document["extra"] is None


def test_it_explains_itself(utmost):
    result = utmost("continuous", "grid", "--help")
    assert result.code == 0
    assert "utmost continuous grid" in result.out.split("Examples:")[1]
    assert "--json" in result.out
    assert "grid" in utmost("continuous").out


@pytest.mark.parametrize(("arguments", "expected"), [
    (SUM, "--extra-loss or --step must be given"),
    ((*SUM, "--extra-loss", "1", "--step", "1"), "--extra-loss or --step must be given"),
    ((*SUM, "--rows", "5", "--step", "1"), "--sensitivity or --rows must be given"),
    ((*SUM[:4], "--epsilon", "1", "--step", "1"), "--sensitivity or --rows must be given"),
    ((*SUM[:2], "--interval", "5,1", *SUM[4:], "--step", "1"), "interval must run from low to a larger high"),
    ((*SUM, "--extra-loss", "0"), "extra loss must be > 0"),
    ((*SUM, "--extra-loss", "nan"), "extra loss must be a number"),
    ((*SUM, "--extra-loss", "1e-40"), "10^12 steps can guarantee"),
    ((*SUM, "--extra-loss", "1", "--loss", "power:1/2"), "loss must be convex, or 0 for small gaps"),
    ((*SUM, "--extra-loss", "1", "--loss", "hinge"), "loss must be absolute"),
    ((*SUM[:-1], "0", "--extra-loss", "1"), "epsilon must be > 0"),
    ((*SUM[:5], "200", *SUM[6:], "--step", "1"), "sensitivity must be > 0 and at most"),
    ((*MEAN[:5], "0", *MEAN[6:], "--step", "1"), "--rows must be from 1 to 10^12"),
    ((*MEAN, "--step", "1", "--loss", "step:1"), "loss must be Lipschitz where rows are rounded"),
], ids=lambda value: " ".join(map(str, value))[-50:])  # fmt: skip
def test_bad_input_is_one_line_and_code_2(utmost, arguments, expected):
    result = utmost(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert expected in result.err
