"""A studio in a process of its own, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_WAIT_SECONDS = 60


@contextmanager
def run_server(*arguments: str | Path, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that serves, and its address."""
    environment = {**os.environ, "XDG_STATE_HOME": str(cwd / "state"), "XDG_CACHE_HOME": str(cwd / "cache")}
    command = [sys.executable, "-m", "utmost", *map(str, arguments), "--json"]
    with subprocess.Popen(
        command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            lines = []
            while not lines or lines[-1].strip() != "}":
                line = process.stdout.readline()
                if not line:
                    raise AssertionError(process.stderr.read())
                lines.append(line)
            yield process, json.loads("".join(lines))["address"]
        finally:
            process.kill()
