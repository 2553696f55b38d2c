"""Both tiers together run every test with all its examples, and the fast one has some of every product."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tiers import MAX_FAST_EXAMPLES, covering

CONFTEST = Path(__file__).parent / "conftest.py"
TESTS = """
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

drawn = []

def test_plain():
    pass

@pytest.mark.slow
def test_marked():
    pass

@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b", "xyz")
def test_product(a, b):
    pass

@pytest.mark.few
@pytest.mark.parametrize("text", "abcdefg")
def test_list(text):
    pass

@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_engines(engine):
    pass

@settings(max_examples=50, database=None)
@given(st.integers())
def test_drawn(x):
    drawn.append(x)

@settings(max_examples=5, database=None)
@given(st.integers())
def test_drawn_a_few_times(x):
    pass

def test_inside(max_examples):
    assert len(drawn) <= 2 * max_examples(50)
"""


def run_tests(folder: Path, *options: str) -> tuple[set[str], str]:
    """Names of the tests that ran, and all that was printed."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n slow: x\n few: x\n")
    (folder / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_example.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
    environment = {"PYTHONPATH": str(CONFTEST.parent), "PATH": "", "UTMOST_NO_SKIP": "1"}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout
    return {line.split("::")[1].split(" ")[0] for line in run.stdout.splitlines() if " PASSED" in line}, run.stdout


def test_both_tiers_together_run_everything_and_the_fast_one_has_every_value(tmp_path: Path):
    everything, _ = run_tests(tmp_path, "--tier=all")
    fast, _ = run_tests(tmp_path, "--tier=fast")
    slow, _ = run_tests(tmp_path, "--tier=slow")
    assert len(everything) == 1 + 1 + 12 + 7 + 2 + 3
    assert fast | slow == everything
    assert fast & slow == {"test_drawn", "test_inside"}  # with few examples, then with all
    assert {"test_marked", "test_engines[spark]"} <= slow - fast
    assert {name for name in fast if name.startswith("test_list")} == {f"test_list[{k}]" for k in "adg"}
    cases = [name[len("test_product[") : -1].split("-") for name in fast if name.startswith("test_product")]
    assert len(cases) == 4
    assert [set(values) for values in zip(*cases, strict=True)] == [set("xyz"), set("0123")]


@pytest.mark.slow
def test_without_an_option_the_fast_tier_runs_and_a_file_that_is_named_runs_whole(tmp_path: Path):
    fast, _ = run_tests(tmp_path, "--tier=fast")
    assert run_tests(tmp_path)[0] == fast
    assert run_tests(tmp_path, ".")[0] == fast
    assert "test_marked" in run_tests(tmp_path, "test_example.py")[0]
    assert run_tests(tmp_path, "test_example.py::test_marked")[0] == {"test_marked"}


@pytest.mark.slow
def test_workers_know_the_tier(tmp_path: Path):
    printed = run_tests(tmp_path, "-n", "2", "--tier=fast")[1]
    assert "test_plain" in printed
    assert "test_marked" not in printed


@pytest.mark.parametrize("sizes", [(3,), (3, 4), (2, 5, 3), (1, 1)])
def test_the_cases_that_cover_a_product_are_as_many_as_its_longest_side(sizes: tuple[int, ...]):
    cases = list(product(*(range(size) for size in sizes)))
    chosen = covering(cases, lambda case: frozenset(enumerate(map(str, case))))
    assert len(chosen) == max(sizes)
    assert all({case[k] for case in chosen} == set(range(size)) for k, size in enumerate(sizes))
    assert chosen == sorted(chosen)


def test_cases_that_share_no_value_are_all_kept_and_none_is_made_up():
    assert covering([3, 1, 2], lambda case: frozenset([(0, str(case))])) == [3, 1, 2]
    assert covering([], lambda case: frozenset()) == []
    assert MAX_FAST_EXAMPLES >= 10
