"""Files that a command reads and writes: written whole or not at all, no file both read and written.

Readers record each file before they open it, so that it is known however it was named; a named pipe is refused, since
it would wait for a writer for ever. Outside of a command nothing is recorded, and nothing refused.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

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
        raise InputError(
            f"{option} must be another file than what is read, which would be lost", option, "name another"
        )


def is_same_file(first: Path, second: Path) -> bool:
    """Do two paths name one file, be it there or not."""
    try:
        return first.resolve() == second.resolve() or (first.exists() and second.exists() and first.samefile(second))
    except (OSError, ValueError):
        return False


def is_part_of(path: Path, whole: Path) -> bool:
    """Is a file the same one as another, or inside of it, where that is a folder; by links too."""
    return is_same_file(path, whole) or whole.resolve() in path.resolve().parents


def write_file(path: str | Path, content: bytes) -> None:
    """The content in a file."""
    with replace_file(path) as stream:
        stream.write(content)


@contextmanager
def replace_file(path: str | Path) -> Iterator[BinaryIO]:
    """A stream into a temporary file beside `path`, which takes its place when the block ends without an error.

    A link is followed. A file that may not be written, a folder, a device and a pipe are refused before anything is.
    """
    name, target = Path(path).name[:60], Path(path).resolve()
    if target.exists() and not target.is_file():
        raise InputError(f"output must be a file, got {name}, which is something else", "output", "name another")
    try:
        with _new_file_beside(target) as (stream, temporary):
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            os.replace(temporary, target)
    except OSError as error:
        raise InputError(f"cannot write {name}: {error.strerror}") from None


@contextmanager
def _new_file_beside(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file with the permissions of the one it will replace, or those that the umask leaves; removed if unused."""
    mode = _earlier_mode(target)
    path = target.with_name(f".utmost-{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}.part")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with open(handle, "wb") as stream:
            if mode is not None:
                path.chmod(mode)
            yield stream, path
    finally:
        path.unlink(missing_ok=True)


def _earlier_mode(target: Path) -> int | None:
    """The permissions of the file that is replaced, which must be writable; None where there is none."""
    if not target.exists():
        return None
    target.open("ab").close()
    return stat.S_IMODE(target.stat().st_mode)


OPEN_PIPES = ("/dev/", "/proc/")  # standard input, and what a shell opened with its writer: <(command)


def check_no_named_pipe(path: Path, name: str) -> None:
    """Record an input, and refuse a pipe in a folder, which opening would wait for; `name` is what it is read for."""
    record_input(path)
    try:
        is_pipe = path.is_fifo()
    except (OSError, ValueError):
        return  # opening it says why
    if is_pipe and not str(path).startswith(OPEN_PIPES):
        raise InputError(
            f"{name} must be a file, got {path.name[:60]}, which is a named pipe", name, "write it to a file"
        )
