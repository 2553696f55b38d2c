"""The process of one job: `python -m utmost.studio.job_worker FOLDER`. It ends when the studio does."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from utmost.errors import UtmostError
from utmost.studio.forms import one_line
from utmost.studio.jobs import read_json, write_json

REPORT_SECONDS = 0.1  # seconds between two reports that are written down
NICENESS = 5  # pages come first


class ProgressReport:
    """Reports the progress of the work: `report("vertex 3", done=3, total=20, lower="1/2", upper="3/4")`."""

    def __init__(self, path: Path) -> None:
        self._path, self._last = path, 0.0

    def __call__(
        self,
        message: str = "",
        done: int | None = None,
        total: int | None = None,
        lower: object = None,
        upper: object = None,
    ) -> None:
        """Write it down, unless the last report was a moment ago."""
        if time.monotonic() - self._last < REPORT_SECONDS:
            return
        bounds = {"lower": None if lower is None else str(lower), "upper": None if upper is None else str(upper)}
        write_json(self._path, {"words": message[:200], "done": done, "total": total, **bounds})
        self._last = time.monotonic()


JobFunction: TypeAlias = Callable[[dict[str, Any], ProgressReport], dict[str, Any]]


def run_job(folder: Path) -> None:
    """Do the task of a folder, and leave its result or its error there."""
    task = read_json(folder / "task.json")
    assert task is not None
    try:
        module, _, name = task["work"].partition(":")
        work: JobFunction = getattr(import_module(module), name)
        write_json(folder / "result.json", work(task["arguments"], ProgressReport(folder / "progress.json")))
    except UtmostError as problem:
        write_json(folder / "error.json", {"message": one_line(str(problem))})
    except Exception as problem:
        write_json(
            folder / "error.json", {"message": f"internal error ({type(problem).__name__}): this is a bug in utmost"}
        )


def _exit_with_studio() -> None:
    """Our input is a pipe from the studio: it closes when the studio ends, however it ends."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    threading.Thread(target=_exit_with_studio, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    run_job(Path(sys.argv[1]))
    os._exit(0)  # threads of libraries do not hold it up
