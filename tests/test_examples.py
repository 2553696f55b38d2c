"""Every script in examples/ runs and prints what its first lines promise."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a script as from the shell, in an empty folder, and returns its lines."""
    monkeypatch.chdir(tmp_path)

    def run_script(name: str, *arguments: object) -> list[str]:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run_script


def test_every_script_is_tested_and_listed():
    tested = set(re.findall(r'run\("(\w+)"', Path(__file__).read_text(encoding="utf-8")))
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    assert scripts == tested
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"]({path.name})" in listed for path in EXAMPLES.iterdir() if path.suffix in (".py", ".toml"))


def test_a_table_is_released_and_read_by_three(run, tmp_path: Path):
    lines = run("release_table", tmp_path)
    assert lines[:2] == ["cost ε 1/2, left ε 1, afterwards ε 1/2", "released with ε 1/2"]
    assert re.fullmatch(r"dole voters: \d+", lines[2])
    assert len(lines[3].split()) == 1 + 7
    readings = run("read_release", tmp_path / "survey.release.json")
    assert re.fullmatch(r"released: \d+ \(ε = 1/10\)", readings[0])
    assert [line.split(":")[0] for line in readings[1:]] == ["journalist", "pollster", "sceptic"]
    assert all(re.search(rf"reads \d+, 95 % from \d+ to \d+, expected loss {NUMBER}$", line) for line in readings[1:])
    assert run("release_table", tmp_path)[0] == "cost ε 1/2, left ε 1/2, afterwards ε 0"


def test_the_mechanism_of_a_map_is_certified(run):
    loss, privacy, centre = run("map_mechanism")
    assert re.fullmatch(rf"expected distance 1\.6195\d\d; no mechanism is more than {NUMBER} better", loss)
    assert privacy == "private: True, ε = 0.500000"
    assert re.fullmatch(r"the centre .* with probability 0\.\d{4}", centre)


def test_a_sampler_in_floats_is_refuted_and_an_exact_one_is_not(run):
    in_floats, exact = run("audit_sampler")
    assert "claim ε = 1 refuted" in in_floats
    assert "claim ε = 1 not refuted" in exact


def test_definitions_and_a_mechanism_are_judged(run):
    assert run("check_definition") == [
        "b <= 2*a + 1/10: sound",
        "b <= 2*a or b <= 1/2: not sound: post-processing can break it",
        "randomised response with ε = ln 3 does not meet pure:1",
        "randomised response with ε = ln 3 meets approximate:1,1/10",
    ]


@pytest.mark.slow
def test_the_table_of_gains_is_that_of_the_page(run):
    page = (EXAMPLES.parent / "docs" / "planning.md").read_text(encoding="utf-8")
    lines = run("planning_table")
    assert len(lines) == 9
    assert "\n".join(lines) in page
