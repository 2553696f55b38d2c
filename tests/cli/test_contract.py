"""What holds for every command: exit codes, one line of error, no traceback, no artefact of floats."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import utmost as package

FIGURE = ("optimal", "line:6", "--alpha", "1/2")
GEOMETRIC = ("mechanism", "geometric", "--size", "5", "--alpha", "1/2")

FILES = {
    "ragged.csv": b"x,0,1\n0,1/2,1/2\n1,1\n",
    "empty.csv": b"",
    "garbage.csv": bytes(range(256)) * 20,
    "zeros.csv": b"\0" * 4096,
    "short.csv": b"x,0,1\n0,1/2,1/3\n1,0,1\n",
    "nan.csv": b"x,0,1\n0,nan,1\n1,0,1\n",
    "wrong.json": b'{"rows": 3}',
    "cut.json": b'{"rows": [["1/2"',
    "negative.csv": b"0,-1\n1,0\n",
    "long.txt": b"1/30000\n" * 30_000,
}

BAD = [
    (("mechansim",), "mechanism"),
    (("--bogus",), "--bogus"),
    (("mechanism",), "NAME"),
    (("mechanism", "geometric"), "--size"),
    ((*GEOMETRIC, "--alfa", "1/2"), "did you mean --alpha"),
    ((*GEOMETRIC, "surplus"), "surplus"),
    (("mechanism", "gauss", "--size", "5", "--alpha", "1/2"), "NAME must be geometric"),
    (GEOMETRIC[:-2], "--alpha or --epsilon"),
    ((*GEOMETRIC, "--epsilon", "0.1"), "both"),
    ((*GEOMETRIC[:-1], "3/2"), "alpha must be in [0, 1], got 1.5"),
    ((*GEOMETRIC[:-1], "-1/2"), "alpha must be in [0, 1]"),
    ((*GEOMETRIC[:-1], "nan"), "alpha must be a number"),
    ((*GEOMETRIC[:-2], "--epsilon", "-1"), "epsilon must be >= 0"),
    ((*GEOMETRIC[:-2], "--epsilon", "inf"), "epsilon must be a number"),
    (("mechanism", "geometric", "--size", 10**12, "--alpha", "1/2"), "--size must be from 0 to 500"),
    (("mechanism", "geometric", "--size", "101", "--epsilon", "0.1"), "--size must be from 0 to 100"),
    (("mechanism", "geometric", "--size", "-1", "--alpha", "1/2"), "--size must be"),
    (("mechanism", "geometric", "--size", "5/2", "--alpha", "1/2"), "--size must be a whole number"),
    ((*GEOMETRIC, "--plot", "heat.pdf"), "--plot must be a file that ends in .svg, .png or .html"),
    ((*GEOMETRIC, "--plot", "nowhere/heat.svg"), "directory that exists"),
    ((*GEOMETRIC, "--plot", "folder.svg"), "cannot write folder.svg"),
    ((*GEOMETRIC, "--output", "heat.xls"), "--output must be a file that ends in .csv or .json"),
    ((*GEOMETRIC, "--output", "folder.csv"), "cannot write folder.csv"),
    (FIGURE[:2], "--alpha or --epsilon"),
    (("optimal", "ring:6", "--alpha", "1/2"), "space must be line:6"),
    (("optimal", f"line:{10**12}", "--alpha", "1/2"), "line must have 1 to"),
    ((*FIGURE, "--prior", "1/2,1/3,0,0,0,0"), "prior must sum to 1, got 5/6"),
    ((*FIGURE, "--prior", "1/2,1/2"), "prior must have 6 weights"),
    ((*FIGURE, "--prior", "nan,0,0,0,0,1"), "prior must be uniform"),
    ((*FIGURE, "--prior", "long.txt"), "prior must have 6 weights"),
    ((*FIGURE, "--prior", "z" * 50_000), "prior must be uniform"),
    ((*FIGURE, "--prior", "garbage.csv"), "prior must name a UTF-8 text file"),
    ((*FIGURE, "--loss", "hinge"), "loss must be absolute"),
    ((*FIGURE, "--loss", "asymmetric:-1,1"), "under and over must be >= 0"),
    ((*FIGURE, "--loss", "matrix:absent.csv"), "loss must name a readable text file"),
    (("optimal", "line:2", "--alpha", "1/2", "--loss", "matrix:negative.csv"), "loss must be >= 0"),
    (("check",), "CHANNEL"),
    (("check", "absent.csv"), "cannot read channel file absent.csv"),
    (("check", "ragged.csv"), "line 3 must have 3 cells"),
    (("check", "empty.csv"), "needs a header"),
    (("check", "garbage.csv"), "UTF-8"),
    (("check", "zeros.csv"), "zeros.csv"),
    (("check", "short.csv"), "row 0 must sum to 1"),
    (("check", "nan.csv"), "must be a number"),
    (("check", "wrong.json"), "rows"),
    (("check", "cut.json"), "could not be parsed"),
    (("check", "good.csv", "--space", "line:3"), "points of line:3"),
    (("check", "good.csv", "--space", "ring"), "space must be line:6"),
    (("demo", "--plot", "demo.txt"), "--plot must be"),
    (("demo", "--plot", "folder.svg"), "cannot write folder.svg"),
    (("papers", "GRS99"), "GRS12"),
    (("papers", "--output", "figures"), "KEY"),
    (("papers", "GRS12", "--output", "good.csv"), "--output must be a directory"),
]


@pytest.fixture
def files(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "good.csv").write_text("x,0,1\n0,1/2,1/2\n1,1/3,2/3\n")
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "folder.csv").mkdir()


@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=lambda value: " ".join(map(str, value))[:60])
@pytest.mark.usefixtures("files")
def test_bad_input_ends_with_code_2_and_one_line_that_names_it(utmost, arguments, expected):
    result = utmost(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert len(result.err) < 450
    assert expected in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("command", ["demo", "mechanism", "optimal", "check", "papers"])
def test_each_command_explains_itself_with_examples(utmost, command):
    result = utmost(command, "--help")
    assert result.code == 0
    assert "--json" in result.out
    assert f"utmost {command}" in result.out.split("Examples:")[1]
    assert max(map(len, result.out.splitlines())) <= 80


def test_no_command_shows_the_help_that_lists_them_all(utmost):
    result = utmost()
    assert result == utmost("--help")
    commands = re.findall(r"^  (\w+)  +\S", result.out.split("Start:\n")[1], re.MULTILINE)
    assert commands[:2] == ["demo", "release"]
    assert {"budget", "calibrate", "obfuscate", "recover", "mechanism", "optimal", "check", "papers"} < set(commands)


def test_the_version_is_the_package_s(utmost):
    assert utmost("--version").out == f"utmost {package.__version__}\n"


def test_floats_in_a_document_have_at_most_12_digits(utmost):
    floats: list[str] = []
    for command in (GEOMETRIC, FIGURE, ("demo",)):
        result = utmost(*command, "--json")
        json.loads(result.out, parse_float=lambda text: floats.append(text) or float(text))
    assert len(floats) >= 8
    assert all(len(re.sub(r"e.*|\D", "", text).lstrip("0")) <= 12 for text in floats)


@pytest.mark.parametrize("problem", [RuntimeError("row of Ann: 393"), KeyError("393"), MemoryError(), RecursionError()])
def test_a_bug_is_one_line_without_data(utmost, monkeypatch, problem):
    def raise_problem(*_):
        raise problem

    monkeypatch.setattr("utmost.mechanisms.Geometric.channel", raise_problem)
    result = utmost(*GEOMETRIC)
    assert result.code == 1
    assert result.err.startswith(f"utmost: internal error ({type(problem).__name__})")
    assert result.err.count("\n") == 1
    assert "393" not in result.err


def test_an_interrupt_ends_with_code_130(utmost, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("utmost.mechanisms.Geometric.channel", interrupt)
    result = utmost(*GEOMETRIC)
    assert (result.code, result.out) == (130, "")
    assert "Traceback" not in result.err


def test_a_reader_who_leaves_early_is_no_error():
    command = [sys.executable, "-m", "utmost", "mechanism", "geometric", "--size", "150", "--alpha", "1/2", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(10).startswith(b"{")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) in (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_terminal_without_unicode_gets_an_answer(form, tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "utmost", *FIGURE, *form],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(filter(None, sys.path))},
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    if form:
        assert json.loads(run.stdout)["signature"] == ["↓↑↑↑↑↑", "↓↓↑↑↑↑", "↓↓↓↑↑↑", "↓↓↓↓↑↑", "↓↓↓↓↓↑"]
