"""What one command reads and what it writes: no file is both.

Readers tell each file before they open it, so that it is known however it was named. Outside of a command nothing is
recorded, and nothing refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from utmost.errors import InputError


@dataclass(frozen=True, slots=True)
class CommandFiles:
    """The files a command has read, and those it will write with the option that names each."""

    inputs: set[Path] = field(default_factory=set)
    outputs: dict[Path, str] = field(default_factory=dict)


_command_files: ContextVar[CommandFiles | None] = ContextVar("command_files", default=None)


@contextmanager
def record_files() -> Iterator[None]:
    """Record the files of the command that runs inside."""
    token = _command_files.set(CommandFiles())
    try:
        yield
    finally:
        _command_files.reset(token)


def record_input(path: Path) -> None:
    """A file that is about to be read; refused where it is an output."""
    command_files = _command_files.get()
    if command_files is None:
        return
    for output, option in command_files.outputs.items():
        _check_differ(output, option, path)
    command_files.inputs.add(path)


def record_output(path: Path, option: str) -> None:
    """A file that will be written; refused where it was read."""
    command_files = _command_files.get()
    if command_files is None:
        return
    for input_path in command_files.inputs:
        _check_differ(path, option, input_path)
    command_files.outputs[path] = option


def _check_differ(output: Path, option: str, input_path: Path) -> None:
    if is_same_file(output, input_path):
        raise InputError(f"{option} must be another file than what is read, which would be lost: name another")


def is_same_file(first: Path, second: Path) -> bool:
    """Do two paths name one file, be it there or not."""
    try:
        return first.resolve() == second.resolve() or (first.exists() and second.exists() and first.samefile(second))
    except (OSError, ValueError):
        return False
