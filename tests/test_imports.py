"""Heavy packages are imported only by what uses them: looked up in sys.modules, not timed."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"numpy", "scipy", "flint", "highspy", "altair", "pandas", "vl_convert", "matplotlib"}

HELP = """
import runpy, sys
sys.argv = ["utmost", "--help"]
try:
    runpy.run_module("utmost", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
"""


def modules_after(code: str) -> set[str]:
    """Names of all modules loaded once a fresh interpreter has run the code."""
    report = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


def test_import_utmost_loads_no_heavy_package_nor_the_terminal():
    assert not modules_after("import utmost") & (HEAVY | {"rich", "typer", "click"})


def test_help_loads_no_heavy_package():
    loaded = modules_after(HELP)
    assert "utmost.cli" in loaded
    assert not loaded & HEAVY


def test_the_probe_sees_a_heavy_package_when_one_is_loaded():
    assert "numpy" in modules_after("import numpy")
