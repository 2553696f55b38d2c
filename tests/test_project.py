"""The files around the code agree with it: one version, workflows and hooks that call what exists."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import utmost

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_is_written_in_one_place():
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert version("utmost") == utmost.__version__
    holders = [path for path in sorted((ROOT / "src").rglob("*.py")) if utmost.__version__ in path.read_text("utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in holders] == ["src/utmost/__init__.py"]
    assert "version:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8").replace("cff-version:", "")


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "CHANGELOG.md", "LICENSE"])
def test_a_file_that_people_look_for_is_there(name: str):
    assert (ROOT / name).read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", ".pre-commit-config.yaml", ".ci/run"])
def test_the_make_targets_that_a_page_names_exist(page: str):
    check_targets(ROOT / page)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_make_targets_that_a_workflow_calls_exist(path: Path):
    check_targets(path)


def check_targets(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    calls = re.findall(r"(?:`|^\s*|run: )make ((?:[a-z-]+ ?)+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    named = {target for call in calls for target in call.split()}
    assert named <= targets, f"{path.name} names {sorted(named - targets)}"


def test_workflows_try_every_python_version_that_the_project_names():
    prefix = "Programming Language :: Python :: 3."
    versions = [f"3.{name.removeprefix(prefix)}" for name in PROJECT["classifiers"] if name.startswith(prefix)]
    assert versions[0] == PROJECT["requires-python"].removeprefix(">=")
    for name in ("test.yml", "nightly.yml"):
        text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
        assert f"python: {json.dumps(versions)}" in text
