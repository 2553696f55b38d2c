"""Before a file is read: record it as an input, and refuse a named pipe.

A pipe waits for a writer for as long as it takes, and nobody may ever write it to the end.
"""

from __future__ import annotations

from pathlib import Path

from utmost.errors import InputError
from utmost.exact.command_files import record_input

OPEN_PIPES = ("/dev/", "/proc/")  # standard input, and what a shell opened with its writer: <(command)


def check_no_named_pipe(path: Path, name: str) -> None:
    """Record an input, and refuse a pipe in a folder, which opening would wait for; `name` is what it is read for."""
    record_input(path)
    try:
        is_pipe = path.is_fifo()
    except (OSError, ValueError):
        return  # opening it says why
    if is_pipe and not str(path).startswith(OPEN_PIPES):
        raise InputError(f"{name} must be a file, got {path.name[:60]}, which is a named pipe: write it to a file")
