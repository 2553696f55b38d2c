"""`utmost audit`."""

from __future__ import annotations

import sys
from decimal import Context, Decimal

import pytest

GEOMETRIC = ("mechanism", "geometric", "--size", 5, "--alpha", "1/2", "--output", "g.csv")
KEYS = ["lower", "confidence", "event", "samples", "claimed", "verdict", "witness", "neighbours"]
KEYS += ["bounds", "delta", "claimed_rho", "least_delta", "least_rho"]
COLOURS = "in,red,green,blue\nred,1/2,1/4,1/4\ngreen,1/4,1/2,1/4\nblue,1/6,1/6,2/3\n"


@pytest.fixture
def module(tmp_path, request, monkeypatch):
    """A module of its own name in the current directory."""
    name = f"box_{abs(hash(request.node.nodeid))}"

    def write_module(text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        return f"{name}:draw"

    yield write_module
    sys.modules.pop(name, None)


def test_a_channel_s_epsilon_is_exact_with_its_witness(utmost):
    utmost(*GEOMETRIC)
    document = utmost("audit", "g.csv", "--epsilon", "0.1", "--json").document
    assert list(document) == KEYS
    assert (document["confidence"], document["samples"], document["verdict"], document["claimed"]) == (
        "1",
        0,
        "refuted",
        "1/10",
    )
    assert document["witness"] == {"high": 0, "low": 1, "output": 0, "ratio": "2"}
    assert document["event"] == "output 0"
    result = utmost("audit", "g.csv", "--alpha", "1/2", "--secrets", "0,3", "--distance", "3")
    assert "holds, decided" in result.out
    assert utmost("audit", "g.csv", "--space", "line:6", "--json").document["verdict"] is None


def test_any_two_inputs_with_names_are_neighbours_and_the_text_says_so(utmost, tmp_path):
    (tmp_path / "rb.csv").write_text(COLOURS)
    document = utmost("audit", "rb.csv", "--json").document
    assert (document["neighbours"], document["witness"]["ratio"]) == ("any two inputs", "3")
    assert "Any two inputs are neighbours" in utmost("audit", "rb.csv").out
    pairs = [utmost("audit", "rb.csv", "--secrets", s, "--json").document for s in ('"red","blue"', "red,blue")]
    assert pairs[0] == pairs[1]
    assert (pairs[0]["neighbours"], pairs[0]["witness"]["high"]) == ("pair", "red")
    (tmp_path / "grid.csv").write_text("in,a,b\n0.5,1/4,3/4\n1.5,3/4,1/4\n")
    assert utmost("audit", "grid.csv", "--secrets", "0.5,1.5", "--json").document["witness"]["ratio"] == "3"
    assert utmost("audit", "grid.csv", "--json").document["witness"]["ratio"] == "3"
    utmost(*GEOMETRIC)
    assert utmost("audit", "g.csv", "--json").document["neighbours"] == "line:6"


@pytest.mark.parametrize("ratio", [2, 3, 5, 7, 10, 11])
def test_the_bound_in_a_document_is_never_above_the_exact_one(utmost, tmp_path, ratio):
    """ln 3 = 1.098612288668…: twelve digits to the nearest would be above it. The oracle has 40 digits."""
    (tmp_path / "c.csv").write_text(
        f"in,a,b\n0,{ratio}/{ratio + 1},1/{ratio + 1}\n1,1/{ratio + 1},{ratio}/{ratio + 1}\n"
    )
    lower = utmost("audit", "c.csv", "--json").document["lower"]
    assert 0 <= Decimal(ratio).ln(Context(prec=40)) - Decimal(repr(lower)) < Decimal("2e-11")


def test_the_claim_is_exact_in_a_document_and_a_refuted_one_exits_with_0(utmost):
    utmost(*GEOMETRIC)
    for option, value, exact in (
        ("--alpha", "1/2", "ln(2)"),
        ("--alpha", "2/3", "ln(3/2)"),
        ("--epsilon", "0.1", "1/10"),
    ):
        result = utmost("audit", "g.csv", option, value, "--json")
        assert (result.code, result.document["claimed"]) == (0, exact)
    assert utmost("audit", "g.csv", "--alpha", "1", "--json").document["claimed"] == "0"
    assert utmost("audit", "g.csv", "--alpha", "0", "--json").document["claimed"] == "inf"


def test_a_function_in_this_directory_is_audited(utmost, module):
    draw = module("print('hello')\ndef draw(secret):\n    print('noise')\n    return secret\n")
    result = utmost("audit", draw, "--secrets", "0,1", "--epsilon", "1", "--samples", "1000", "--json")
    assert list(result.document) == KEYS
    assert result.document["lower"] > 4
    assert (result.document["verdict"], result.document["confidence"]) == ("refuted", "99/100")
    assert result.document["witness"]["draws"] == 500
    assert "noise" in result.err


def test_the_text_says_bound_confidence_event_and_verdict(utmost, module):
    draw = module("def draw(secret):\n    return secret\n")
    text = " ".join(utmost("audit", draw, "--secrets", '"a","b"', "--epsilon", "1", "--samples", 1000).out.split())
    assert "with 99 % confidence, from 1000 draws of each secret" in text
    assert "Event: value = 'a'." in text or "Event: value = 'b'." in text
    assert "REFUTED, at 99 % confidence" in text
    draw = module("def draw(secret):\n    return 0\n")
    text = " ".join(utmost("audit", "math:isnan", "--secrets", "0,1", "--epsilon", "1", "--samples", 1000).out.split())
    assert "no event told the secrets apart" in text
    assert "not refuted, which does not prove it" in text


def test_a_program_is_audited(utmost, tmp_path):
    (tmp_path / "program.py").write_text("import sys\nfor line in sys.stdin:\n    print(int(line) * 2)\n")
    line = f"{sys.executable} program.py"
    document = utmost("audit", "--command", line, "--secrets", "0,1", "--samples", "1000", "--json").document
    assert document["lower"] > 4


@pytest.mark.slow
def test_a_slow_box_shows_its_progress(utmost, module):
    draw = module("import time\ndef draw(secret):\n    time.sleep(0.004)\n    return secret\n")
    result = utmost("audit", draw, "--secrets", "0,1", "--samples", "200", "--json")
    assert result.document["samples"] == 200
    assert "drawn" in result.err


def test_secrets_may_be_tables(utmost, module):
    draw = module("def draw(secret):\n    return sum(secret)\n")
    assert utmost("audit", draw, "--secrets", "[1,1],[1,0]", "--samples", 200, "--json").document["lower"] > 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "TARGET and --command"),
        (("math:floor", "--command", "cat"), "TARGET and --command"),
        (("math:floor",), "--secrets must be given"),
        (("math:floor", "--secrets", "0"), "--secrets must be two values"),
        (("math:floor", "--secrets", "1,1"), "--secrets must differ"),
        (("math:floor", "--secrets", "a,b"), "raised TypeError"),
        (("math:floor", "--secrets", "0,1", "--samples", "x"), "--samples must be"),
        (("math:floor", "--secrets", "0,1", "--samples", "1"), "samples must be from"),
        (("math:floor", "--secrets", "0,1", "--seconds", "-1"), "seconds must be"),
        (("math:floor", "--secrets", "0,1", "--confidence", "2"), "confidence must be"),
        (("math:floor", "--secrets", "0,1", "--space", "line:2"), "--space must not be given"),
        (("math:floor", "--secrets", "0,1", "--alpha", "1/2", "--epsilon", "1"), "both"),
        (("floor", "--secrets", "0,1"), "MODULE:FUNCTION"),
        (("absent_module:draw", "--secrets", "0,1"), "can be loaded"),
        (("absent.csv",), "cannot read channel file"),
        (("g.csv", "--samples", "1000"), "--samples must not be given for a channel"),
        (("g.csv", "--secrets", "0"), "two inputs of the channel"),
        (("g.csv", "--secrets", "0,9"), "not an input"),
        (("g.csv", "--distance", "2"), "--distance must come with --secrets"),
        (("--command", "false", "--secrets", "0,1"), "it ended with 1"),
        (("math:floor", "--secrets", "0,1", "--delta", "1"), "delta must be >= 0 and below 1"),
        (("math:floor", "--secrets", "0,1", "--epsilon", "1", "--delta", "-1"), "delta must be >= 0 and below 1"),
        (("math:floor", "--secrets", "0,1", "--delta", "x"), "--delta must be a number"),
        (("math:floor", "--secrets", "0,1", "--rho", "0"), "rho must be > 0"),
        (("math:floor", "--secrets", "0,1", "--rho", "nan"), "--rho must be"),
        (("math:floor", "--secrets", "0,1", "--rho", "1", "--epsilon", "1"), "rho must come without epsilon"),
        (("math:floor", "--secrets", "0,1", "--rho", "1", "--delta", "0.1"), "rho must come without epsilon"),
        (("math:floor", "--secrets", "0,2", "--rho", "1", "--distance", "2"), "distance must be 1"),
        (("g.csv", "--secrets", "0,2", "--delta", "0.1", "--distance", "2"), "distance must be 1"),
    ],
    ids=lambda value: " ".join(map(str, value))[:60],
)
def test_bad_input_is_one_line_and_no_result(utmost, arguments, expected):
    utmost(*GEOMETRIC)
    result = utmost("audit", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert expected in result.err


def test_a_function_that_fails_midway_leaves_no_result(utmost, module):
    draw = module("calls = []\ndef draw(secret):\n    calls.append(1)\n    return 1 // (900 - len(calls))\n")
    result = utmost("audit", draw, "--secrets", "0,1", "--samples", "1000", "--json")
    assert (result.code, result.out) == (2, "")
    assert "raised ZeroDivisionError" in result.err


def test_the_help_has_examples(utmost):
    result = utmost("audit", "--help")
    assert "utmost audit" in result.out.split("Examples:")[1]
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize(
    "options",
    [
        ("--seconds", "1e400"),
        ("--seconds", "1e-400"),
        ("--confidence", "1e500"),
        ("--distance", "1e400"),
        ("--distance", "1e-400"),
    ],
)
def test_numbers_beyond_use_end_with_code_2_and_one_line(utmost, options):
    result = utmost("audit", "math:floor", "--secrets", "0,1", *options)
    assert result.code == 2
    assert options[0].strip("-") in result.err
    assert result.err.count("\n") == 1


def test_half_a_character_is_no_line_for_a_program(utmost):
    result = utmost("audit", "--command", "cat", "--secrets", '"\\ud800","a"')
    assert result.code == 2
    assert "half a character" in result.err


def test_a_channel_s_claim_of_epsilon_and_delta_is_decided_with_its_outputs(utmost):
    utmost(*GEOMETRIC)
    document = utmost("audit", "g.csv", "--alpha", "2/3", "--delta", "0.1", "--json").document
    assert list(document) == KEYS
    assert (document["verdict"], document["bounds"], document["delta"]) == ("refuted", "epsilon", "1/10")
    assert document["witness"]["probabilities"] == ["2/3", "1/3"]
    low, high = map(Decimal, map(repr, document["least_delta"]))
    assert low <= Decimal(1) / 6 <= high
    result = utmost("audit", "g.csv", "--alpha", "2/3", "--delta", "1/6").out
    assert "the least δ = 1/6" in result
    assert "with δ = 1/6: holds, decided" in " ".join(result.split())
    bound = utmost("audit", "g.csv", "--delta", "0.1", "--json").document  # ln((2/3 − 1/10)/(1/3)) = ln 1.7
    assert 0 <= Decimal("1.7").ln(Context(prec=40)) - Decimal(repr(bound["lower"])) < Decimal("2e-11")
    assert bound["verdict"] is None


def test_a_channel_s_rho_is_decided_with_its_order(utmost):
    utmost(*GEOMETRIC)
    document = utmost("audit", "g.csv", "--rho", "0.2", "--json").document
    assert list(document) == KEYS
    assert (document["verdict"], document["bounds"], document["claimed_rho"]) == ("refuted", "rho", "1/5")
    assert document["lower"] == document["least_rho"][0] <= 0.2310490601866484 <= document["least_rho"][1]
    assert document["witness"]["pair"] == [document["witness"]["high"], document["witness"]["low"]]
    assert "The claim ρ = 3/10: holds, decided." in " ".join(utmost("audit", "g.csv", "--rho", "0.3").out.split())


def test_an_infinite_bound_is_text(utmost, tmp_path):
    (tmp_path / "leak.csv").write_text("in,a,b\n0,1,0\n1,0.99,0.01\n")
    for options in (("--delta", "0.001"), ("--rho", "5")):
        document = utmost("audit", "leak.csv", *options, "--json").document
        assert (document["lower"], document["event"]) == ("inf", "output b")
    assert "infinite" in utmost("audit", "leak.csv", "--delta", "0.001").out


def test_a_program_s_claims_of_delta_and_rho_are_refuted_in_plain_words(utmost, module):
    draw = module("def draw(secret):\n    return secret\n")
    options = (draw, "--secrets", "0,1", "--samples", "1000")
    text = " ".join(utmost("audit", *options, "--epsilon", "1", "--delta", "0.25").out.split())
    assert "at δ = 1/4, with 99 % confidence, from 1000 draws of each secret." in text
    assert "The claim ε = 1 with δ = 1/4: REFUTED, at 99 % confidence." in text
    text = " ".join(utmost("audit", *options, "--rho", "0.5").out.split())
    assert text.startswith("ρ ≥ ")
    assert "The claim ρ = 1/2: REFUTED, at 99 % confidence." in text
    document = utmost("audit", *options, "--rho", "0.5", "--json").document
    assert list(document) == KEYS
    assert (document["claimed"], document["claimed_rho"], document["verdict"]) == (None, "1/2", "refuted")
    assert document["witness"]["draws"] == 500
    text = " ".join(utmost("audit", "math:isnan", *options[1:], "--rho", "1").out.split())
    assert "ρ ≥ 0: no statistic told the secrets apart" in text
