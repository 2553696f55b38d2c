"""Tasks for the tests of jobs; a job's process imports this module by its name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from utmost.errors import InputError
from utmost.studio.job_worker import ProgressReport


def double(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    report("doubling", done=1, total=2, lower="1/2", upper="3/4")
    return {"twice": 2 * arguments["number"]}


def endless(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    for k in range(10**6):
        report("going on", done=k, total=10**6, lower=k)
        Path(arguments["file"]).write_text(str(k))
        time.sleep(0.02)
    return {}


def raise_input_error(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    raise InputError("epsilon must be > 0, got 0")


def raise_unexpected_error(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    print("row 17: Ann")
    raise RuntimeError("row 17: Ann")


def exit_without_result(arguments: dict[str, Any], report: ProgressReport) -> dict[str, Any]:
    import os

    os._exit(9)
