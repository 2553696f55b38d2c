"""`utmost audit`."""

from __future__ import annotations

import sys

import pytest

GEOMETRIC = ("mechanism", "geometric", "--size", 5, "--alpha", "1/2", "--output", "g.csv")
KEYS = ["lower", "confidence", "event", "samples", "claimed", "verdict", "witness"]


@pytest.fixture
def module(tmp_path, request, monkeypatch):
    """A module of its own name in the current directory."""
    name = f"box_{abs(hash(request.node.nodeid))}"

    def write(text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        return f"{name}:draw"

    yield write
    sys.modules.pop(name, None)


def test_a_channel_s_epsilon_is_exact_with_its_witness(utmost):
    utmost(*GEOMETRIC)
    found = utmost("audit", "g.csv", "--epsilon", "0.1", "--json").document
    assert list(found) == KEYS
    assert (found["confidence"], found["samples"], found["verdict"], found["claimed"]) == ("1", 0, "refuted", "1/10")
    assert found["witness"] == {"high": 0, "low": 1, "output": 0, "ratio": "2"}
    assert found["event"] == "output 0"
    said = utmost("audit", "g.csv", "--alpha", "1/2", "--secrets", "0,3", "--distance", "3")
    assert "holds, decided" in said.out
    assert utmost("audit", "g.csv", "--space", "line:6", "--json").document["verdict"] is None


def test_a_function_in_this_directory_is_audited(utmost, module):
    draw = module("print('hello')\ndef draw(secret):\n    print('noise')\n    return secret\n")
    said = utmost("audit", draw, "--secrets", "0,1", "--epsilon", "1", "--samples", "1000", "--json")
    assert list(said.document) == KEYS
    assert said.document["lower"] > 4
    assert (said.document["verdict"], said.document["confidence"]) == ("refuted", "99/100")
    assert said.document["witness"]["draws"] == 500
    assert "noise" in said.err


def test_the_text_says_bound_confidence_event_and_verdict(utmost, module):
    draw = module("def draw(secret):\n    return secret\n")
    words = " ".join(utmost("audit", draw, "--secrets", '"a","b"', "--epsilon", "1", "--samples", 1000).out.split())
    assert "with 99 % confidence, from 1000 draws of each secret" in words
    assert "Event: value = 'a'." in words or "Event: value = 'b'." in words
    assert "REFUTED, at 99 % confidence" in words
    draw = module("def draw(secret):\n    return 0\n")
    words = " ".join(utmost("audit", "math:isnan", "--secrets", "0,1", "--epsilon", "1", "--samples", 1000).out.split())
    assert "no event told the secrets apart" in words
    assert "not refuted, which does not prove it" in words


def test_a_program_is_audited(utmost, tmp_path):
    (tmp_path / "program.py").write_text("import sys\nfor line in sys.stdin:\n    print(int(line) * 2)\n")
    line = f"{sys.executable} program.py"
    found = utmost("audit", "--command", line, "--secrets", "0,1", "--samples", "1000", "--json").document
    assert found["lower"] > 4


def test_a_slow_box_shows_its_progress(utmost, module):
    draw = module("import time\ndef draw(secret):\n    time.sleep(0.004)\n    return secret\n")
    said = utmost("audit", draw, "--secrets", "0,1", "--samples", "200", "--json")
    assert said.document["samples"] == 200
    assert "drawn" in said.err


def test_secrets_may_be_tables(utmost, module):
    draw = module("def draw(secret):\n    return sum(secret)\n")
    assert utmost("audit", draw, "--secrets", "[1,1],[1,0]", "--samples", 200, "--json").document["lower"] > 2


@pytest.mark.parametrize(
    ("arguments", "names"),
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
        (("absent_module:draw", "--secrets", "0,1"), "could not be loaded"),
        (("absent.csv",), "cannot read channel file"),
        (("g.csv", "--samples", "1000"), "--samples must not be given for a channel"),
        (("g.csv", "--secrets", "0"), "two inputs of the channel"),
        (("g.csv", "--secrets", "0,9"), "not an input"),
        (("g.csv", "--distance", "2"), "--distance must come with --secrets"),
        (("--command", "false", "--secrets", "0,1"), "it ended with 1"),
    ],
    ids=lambda value: " ".join(map(str, value))[:60],
)
def test_bad_input_is_one_line_and_no_result(utmost, arguments, names):
    utmost(*GEOMETRIC)
    said = utmost("audit", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert names in said.err


def test_a_function_that_fails_midway_leaves_no_result(utmost, module):
    draw = module("calls = []\ndef draw(secret):\n    calls.append(1)\n    return 1 // (900 - len(calls))\n")
    said = utmost("audit", draw, "--secrets", "0,1", "--samples", "1000", "--json")
    assert (said.code, said.out) == (2, "")
    assert "raised ZeroDivisionError" in said.err


def test_the_help_has_examples(utmost):
    said = utmost("audit", "--help")
    assert "utmost audit" in said.out.split("Examples:")[1]
    assert max(map(len, said.out.splitlines())) <= 80
