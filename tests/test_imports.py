"""Heavy packages are imported only by what uses them: looked up in sys.modules, not timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MATHEMATICS = {"numpy", "scipy", "flint", "highspy", "cryptography"}
ENGINES = {"ibis", "sqlglot", "duckdb", "pyarrow", "psycopg", "pyspark", "pandas", "polars"}
PICTURES = {"altair", "vl_convert", "matplotlib"}
SERVER = {"fastapi", "starlette", "uvicorn", "jinja2"}
HEAVY = MATHEMATICS | ENGINES | PICTURES | SERVER

COMMAND = """
import runpy, sys
sys.argv = ["utmost", *ARGUMENTS]
try:
    runpy.run_module("utmost", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
"""


def modules_after_command(*arguments: str) -> set[str]:
    """Names of all modules loaded once a command has run."""
    return modules_after(f"ARGUMENTS = {arguments!r}\n{COMMAND}")


def modules_after(code: str) -> set[str]:
    """Names of all modules loaded once a fresh interpreter has run the code."""
    report = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


def test_import_utmost_loads_no_heavy_package_nor_the_terminal():
    assert not modules_after("import utmost") & (HEAVY | {"rich", "typer", "click"})


def test_help_loads_no_heavy_package():
    loaded = modules_after_command("--help")
    assert "utmost.cli" in loaded
    assert not loaded & HEAVY


def test_a_command_loads_no_more_than_it_uses():
    plan = str(Path(__file__).parent.parent / "examples" / "survey.toml")
    unused = {
        ("mechanism", "geometric", "--size", "3", "--alpha", "1/2"): ENGINES | PICTURES | SERVER | {"scipy", "highspy"},
        ("release", plan, "--dry-run"): PICTURES | SERVER | {"pandas", "psycopg", "pyspark", "scipy", "highspy"},
    }
    for arguments, packages in unused.items():
        assert not modules_after_command(*arguments) & packages, arguments


def test_the_probe_sees_a_heavy_package_when_one_is_loaded():
    assert "numpy" in modules_after("import numpy")
