"""`utmost precision`."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from utmost.exact import json_above

LAPLACE = ("precision", "laplace", "--epsilon", "1", "--sensitivity", "1", "--format", "binary64", "--round", "1/1024")
PLANAR = ("precision", "planar", "--epsilon", "1", "--round", "1/64")


def test_the_numbers_of_the_document_make_the_formula(utmost):
    document = utmost(*LAPLACE, "--range", "0,25", "--json").document
    shift, step = document["delta_t"], float(Fraction(document["L"]))
    assert document["delta0"] == pytest.approx(2**-53)
    assert shift == pytest.approx(document["k"] * document["delta0"] + document["delta_n"], rel=1e-6)
    assert document["R"] == pytest.approx(4 * shift / (step - 2 * shift))
    assert document["epsilon_theorem"] == pytest.approx(1 + math.log1p(document["R"] * math.exp(step + shift)))
    assert 1 < document["epsilon_prime"] == document["epsilon_sharp"] < document["epsilon_theorem"]
    assert "too fine for the machine: rounded to multiples of 1 " in document["advice"]


def test_a_range_that_no_double_can_serve_is_answered_honestly(utmost):
    document = utmost(*LAPLACE, "--range", "0,100", "--json").document
    assert document["epsilon_prime"] == "inf"
    assert document["k"] > 1e43
    assert "28.4" in document["advice"]
    result = utmost(*LAPLACE, "--range", "0,100")
    assert result.code == 0
    assert "∞ (none)" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("command", [(*LAPLACE, "--range", "0,10"), (*PLANAR, "--range", "0,10")])
def test_the_text_names_every_number_and_ends_with_advice(utmost, command):
    result = utmost(*command)
    assert result.code == 0
    for name in ("δ₀", "δ_n", "k ", "δ_t", "R ", "L ", "ε′"):
        assert name in result.out
    assert "Charge ε′, not ε" in result.out


def test_the_plane_takes_one_range_or_two(utmost):
    square = utmost(*PLANAR, "--range", "0,10", "--json").document
    oblong = utmost(*PLANAR, "--range", "0,10,0,5", "--json").document
    assert square["range"] == ["0", "10", "0", "10"]
    assert oblong["range"] == ["0", "10", "0", "5"]
    assert square["diameter"] == pytest.approx(math.sqrt(2) / 64)
    shift, step = square["delta_t"], 1 / 64
    assert square["R"] == pytest.approx(8 * step * shift / (step - 2 * shift) ** 2)
    assert square["epsilon_prime"] == pytest.approx(1 + math.log1p(square["R"] * math.exp(step * 2**0.5 + shift)))


def test_a_target_chooses_level_and_rounding(utmost):
    document = utmost("precision", "laplace", "--range", "0,20", "--target", "1.1", "--json").document
    assert document["epsilon_prime"] <= 1.1
    assert Fraction(document["epsilon"]) < Fraction("1.1")
    assert Fraction(document["L"]).numerator == 1


def test_a_computed_sum_has_a_larger_sensitivity(utmost):
    document = utmost(*LAPLACE, "--range", "0,10", "--terms", "1000000", "--json").document
    assert document["sensitivity"] == "1"
    assert document["sensitivity_implemented"] > 1
    plain = utmost(*LAPLACE, "--range", "0,10", "--json").document
    assert plain["sensitivity"] == plain["sensitivity_implemented"] == "1"


def test_what_a_computed_sum_costs_is_shown_in_decimals_rounded_up(utmost):
    command = ("precision", "laplace", "--epsilon", "1", "--range", "0,2000", "--round", "1", "--terms", "1000000000")
    text = " ".join(utmost(*command).out.split())
    assert "sensitivity 1 → 223.045 (2δ_f = 222.045): the noise's scale must be 223.045/ε" in text
    assert "raises the sensitivity from 1 to 223.045" in text
    document = utmost(*command, "--json").document
    assert "223.045" in document["advice"]
    assert document["sensitivity_implemented"] == pytest.approx(1 + 2 * 10**18 * 2**-53, rel=1e-6)


def test_a_range_that_was_widened_is_reported(utmost):
    command = ("precision", "laplace", "--epsilon", "1", "--range", "0,10", "--round", "20")
    document = utmost(*command, "--json").document
    assert (document["range"], document["range_used"]) == (["0", "10"], ["0", "20"])
    text = " ".join(utmost(*command).out.split())
    assert "0, 10, used as 0, 20: the ends are moved out to multiples of L" in text
    assert "too fine" not in text
    plane = utmost("precision", "planar", "--epsilon", "1", "--range", "0,1/3", "--round", "1/4", "--json").document
    assert plane["range_used"] == ["0", "1/2", "0", "1/2"]


def test_a_promise_near_epsilon_is_shown_as_epsilon_plus_the_remainder(utmost):
    text = utmost(*LAPLACE, "--range", "0,10").out
    assert "ε′     1 + 2.01e-08  what this implementation promises" in text
    assert "δ₀     1.11022303e-16" in text  # 2^−53 = 1.110223024…e-16, rounded up


def test_alpha_generator_and_ulps_have_an_effect(utmost):
    command = ("precision", "laplace", "--alpha", "1/2", "--range", "-1,1", "--round", "1/8", "--json")
    plain, coarse = utmost(*command).document, utmost(*command, "--generator", "2^20", "--ulps", "4").document
    assert plain["epsilon"] == pytest.approx(math.log(2))
    assert coarse["generator"] == str(2**20)
    assert coarse["epsilon_prime"] > plain["epsilon_prime"]
    assert coarse["delta_n"] > plain["delta_n"]


def test_the_attack_tells_the_secret_of_the_textbook_s_draws_and_of_none_of_utmost_s(utmost, tmp_path):
    result = utmost("precision", "attack", "--draws", "200", "--plot", "leak.svg")
    assert result.code == 0
    text = " ".join(result.out.split())
    assert "assuming noise ±b·ln v with v a multiple of 2^-52, which none of 400 draws contradicts; if so, ε is" in text
    assert "utmost's draws: 0 of 400" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert (tmp_path / "leak.svg").read_text().startswith("<svg")


def test_the_attack_s_document(utmost):
    document = utmost("precision", "attack", "--sampler", "numpy.random:laplace", "--draws", "200", "--json").document
    assert document["epsilon"] == "inf"
    assert document["judge"] == "fine quantiles"
    assert document["assumption"] == "noise ±b·ln v with v a multiple of 2^-53"
    few_draws = utmost("precision", "attack", "--draws", "99", "--json").document
    assert (few_draws["judge"], few_draws["epsilon"]) == (None, None)
    assert "--draws must be at least 100" in few_draws["nothing_found"]
    assert document["utmost"]["certain"] == [0, 0]
    assert len(document["samples"]) == 10
    utmost_document = utmost("precision", "attack", "--sampler", "utmost", "--draws", "100", "--json").document
    assert (utmost_document["certain"], utmost_document["epsilon"], utmost_document["success"]) == ([0, 0], None, 0.5)
    assert "finds nothing" in " ".join(
        utmost("precision", "attack", "--sampler", "utmost", "--draws", "50").out.split()
    )


def test_a_user_s_sampler_is_loaded_from_a_file(utmost, tmp_path):
    (tmp_path / "own_noise.py").write_text("def constant(secret, scale, count):\n    return [0.1] * count\n")
    result = utmost("precision", "attack", "--sampler", "own_noise:constant", "--secrets", "1,3/10", "--draws", "20")
    assert "nothing was found" in result.out


BAD = [
    (("precision", "laplce"), "laplce"),
    (("precision", "laplace"), "--range"),
    ((*LAPLACE, "--range", "0"), "--range must be two numbers"),
    ((*LAPLACE, "--range", "5,1"), "LOW < HIGH"),
    ((*LAPLACE, "--range", "0,nan"), "--range must be a number"),
    ((*LAPLACE[:-2], "--range", "0,1"), "--round must be given"),
    ((*LAPLACE[:-1], "0", "--range", "0,1"), "round must be > 0"),
    ((*LAPLACE[:-1], "1e400", "--range", "0,1"), "round must be at most the largest number of binary64"),
    ((*LAPLACE, "--range", "0,1", "--format", "binary80"), "format must be binary16"),
    ((*LAPLACE, "--range", "0,1", "--generator", "1"), "generator must have"),
    ((*LAPLACE, "--range", "0,1", "--sensitivity", "0"), "sensitivity must be > 0"),
    ((*LAPLACE, "--range", "0,1", "--ulps", "-1"), "ulps must be"),
    ((*LAPLACE, "--range", "0,1", "--target", "1"), "--target chooses"),
    ((*LAPLACE, "--range", "0,1", "--terms", "10", "--method", "kahan"), "method must be one of"),
    (("precision", "laplace", "--epsilon", "0", "--range", "0,1", "--round", "1"), "epsilon must be > 0"),
    (("precision", "laplace", "--range", "0,100", "--target", "1.1"), "27 will do"),
    ((*PLANAR, "--range", "0,1,2"), "--range must be two numbers"),
    (("precision", "attack", "--sampler", "gauss"), "--sampler must be textbook"),
    (("precision", "attack", "--sampler", "math:nothing"), "sampler must be MODULE:FUNCTION"),
    (("precision", "attack", "--sampler", "math:sqrt"), "raised TypeError"),
    (("precision", "attack", "--secrets", "1,1"), "secrets must be two different"),
    (("precision", "attack", "--scale", "0"), "scale must be from"),
    (("precision", "attack", "--draws", "0"), "draws must be"),
    (("precision", "attack", "--scale", "1e400"), "--scale must be a number that a double can hold"),
    (("precision", "attack", "--secrets", "1e400,0"), "--secrets must be a number that a double can hold"),
    (("precision", "attack", "--plot", "leak.pdf"), "--plot must be"),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=lambda value: " ".join(map(str, value))[:70])
def test_bad_input_ends_with_code_2_and_one_line(utmost, arguments, expected):
    result = utmost(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert expected in result.err


@pytest.mark.parametrize("command", [(), ("laplace",), ("planar",), ("attack",)])
def test_help_shows_examples(utmost, command):
    result = utmost("precision", *command, "--help")
    assert result.code == 0
    assert "utmost precision" in result.out.split("Examples:")[1]
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_group_alone_shows_its_help(utmost):
    assert utmost("precision") == utmost("precision", "--help")


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(10**20 + 1), Fraction(7, 10**9), Fraction(-1, 3)])
def test_a_bound_is_shown_no_smaller_than_it_is(value):
    written_value = Fraction(repr(json_above(value)))  # as it is written, to the digit
    assert value <= written_value <= value + abs(value) / 10**10


def test_a_bound_beyond_doubles_is_text():
    assert json_above(Fraction(10) ** 400) == "1e+400"
    assert json_above(None) == "inf"
