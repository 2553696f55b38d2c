"""Write files whole or not at all: an earlier file stays as it was until the new one is complete and on disk."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from utmost.errors import InputError


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
        raise InputError(f"output must be a file, got {name}, which is something else: name another")
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
