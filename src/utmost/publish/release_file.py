"""A release as JSON, schema `utmost-release/1` (docs/release-file.md). What `release_to_json` writes, `parse_release`
reads back equal.

Exact numbers are texts ("1/10"), whole numbers and floats are numbers.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from utmost.data.cells import MAX_CELLS
from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe
from utmost.exact.input_text import Fields, check_plain_text, file_error_reason
from utmost.publish import release_json
from utmost.publish.release_json import release_content
from utmost.publish.release_model import SCHEMA, Release

MAX_RELEASE_BYTES = 1 << 28  # bytes
MAX_INTEGER_DIGITS = 1000  # digits
MAX_ENTRIES = MAX_CELLS  # of a list or a table
MAX_DEPTH = 10  # of tables and lists in each other
NO_RESERVATION = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)  # of a file system that cannot set room aside


def release_to_json(release: Release) -> str:
    """The JSON text of a release."""
    return json.dumps(release_content(release), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def read_release(path: str | Path) -> Release:
    """The release in a file."""
    release_path = Path(path)
    check_no_named_pipe(release_path, "release")
    try:
        with release_path.open("rb") as stream:
            raw = stream.read(MAX_RELEASE_BYTES + 1)
        if len(raw) > MAX_RELEASE_BYTES:
            raise InputError(f"release must be at most {MAX_RELEASE_BYTES >> 20} MiB, got a larger file", "release")
        return parse_release(raw.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"release must name a readable text file, got {release_path.name}: {file_error_reason(problem)}", "release"
        ) from None


def parse_release(document: str) -> Release:
    """The release in a text; refused with one line where it is none."""
    try:
        content = json.loads(
            document, parse_constant=_refuse_constant, parse_int=_parse_integer, object_pairs_hook=_parse_table
        )
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(
            "release must be a JSON document written by utmost release, got text that is not JSON", "release"
        ) from None
    return release_from_content(content)


def release_from_content(content: object) -> Release:
    """The release in a JSON document that was parsed already."""
    if not isinstance(content, dict) or not isinstance(content.get("schema"), str):
        raise InputError("release must be a document written by utmost release, got JSON without its schema", "release")
    if content["schema"] != SCHEMA:
        schema = content["schema"][:40]
        raise InputError(
            f'release must be of schema {SCHEMA}, got "{schema}"', "release", "read it with the version that wrote it"
        )
    _check_size(content)
    check_plain_text(content, "release")
    return release_json.decode_release(Fields(content, "release"))


def _check_size(content: Any, depth: int = 0) -> None:
    """Refuse what is longer or deeper than any release, before anything looks at each entry."""
    if depth > MAX_DEPTH or len(content) > MAX_ENTRIES:
        raise InputError(
            f"release must have lists and tables of at most {MAX_ENTRIES} entries, {MAX_DEPTH} deep, got others",
            "release",
            "ask for the file that utmost release wrote",
        )
    for entry in content.values() if isinstance(content, dict) else content:
        if isinstance(entry, dict | list):
            _check_size(entry, depth + 1)


def _parse_table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table, each of whose keys is there once: of two, readers would not agree on which holds."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise InputError("release must have each key of a table once, got one twice", "release", "take one of them out")
    return table


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError("a whole number that no release has")
    return int(digits)


def _refuse_constant(word: str) -> float:
    raise ValueError(word)


def save_text(document: str, path: Path) -> None:
    """A text in a file, whole or not at all: an earlier file stays until the new one is on disk."""
    with ReservedFile(path, len(document.encode("utf-8"))) as output_file:
        output_file.fill(document)


class ReservedFile:
    """Where a file will be: a temporary file beside it is made on entry, with room for `size` bytes.

    A text of up to so many bytes finds room on the disk when it is filled in, whatever others write meanwhile. Only a
    file, or nothing yet, is replaced: no folder, device or link. Left without being filled, nothing changes.
    """

    def __init__(self, path: Path, size: int = 0) -> None:
        self.path, self.size = path, size
        self._temporary_file: Path | None = None

    def __enter__(self) -> ReservedFile:
        """Make the temporary file, or say why it cannot be made."""
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_file()):
            raise InputError(
                f"output must be a file, got {self.path.name[:60]}, which is something else", "output", "name another"
            )
        try:
            self._temporary_file = _make_temporary_file(self.path.parent)
            _set_room_aside(self._temporary_file, self.size)
        except OSError as problem:
            self.__exit__()
            raise InputError(
                f"output must be in a folder that can be written to, got {self.path.name[:60]}: "
                f"{file_error_reason(problem)}",
                "output",
            ) from None
        return self

    def fill(self, document: str) -> None:
        """Write the text, and put it where it belongs when it is on disk."""
        assert self._temporary_file is not None
        with self._temporary_file.open("r+b") as stream:
            stream.write(document.encode("utf-8"))
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
        self._temporary_file.replace(self.path)

    def __exit__(self, *_: object) -> None:
        """Remove a temporary file that was not used."""
        if self._temporary_file is not None:
            self._temporary_file.unlink(missing_ok=True)


def _make_temporary_file(folder: Path) -> Path:
    """A new empty file with the permissions that the umask leaves. The umask itself, which all threads share, stays."""
    for number in count():
        path = folder / f".utmost-{os.getpid()}-{threading.get_ident()}-{number}.part"
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            return path
    raise AssertionError("there is always another number")


def _set_room_aside(path: Path, size: int) -> None:
    """Make an empty file `size` bytes long, each of which has its place on the disk."""
    if size == 0:
        return
    with path.open("r+b") as stream:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, size)
                return
        except OSError as problem:
            if problem.errno not in NO_RESERVATION:
                raise
        stream.write(bytes(size))
        stream.flush()
        os.fsync(stream.fileno())
