"""A release as JSON, schema `utmost-release/1` (docs/release-file.md). What `text` writes, `parsed` reads back equal.

Exact numbers are texts ("1/10"), whole numbers and floats are numbers.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from utmost.errors import InputError
from utmost.publish import decode
from utmost.publish.encode import content
from utmost.publish.fields import Fields
from utmost.publish.record import SCHEMA, Release

LARGEST = 1 << 28  # bytes


def text(release: Release) -> str:
    """The JSON text of a release."""
    return json.dumps(content(release), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def read(path: str | Path) -> Release:
    """The release in a file."""
    place = Path(path)
    try:
        with place.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise InputError(f"release must be at most {LARGEST >> 20} MiB, got a larger file")
        return parsed(raw.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"release must name a readable text file, got {place.name}: {type(problem).__name__}"
        ) from None


def parsed(document: str) -> Release:
    """The release in a text; refused with one line where it is none."""
    try:
        found = json.loads(document, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise InputError(
            "release must be a JSON document written by utmost release, got text that is not JSON"
        ) from None
    return of_content(found)


def of_content(found: object) -> Release:
    """The release in a JSON document that was parsed already."""
    if not isinstance(found, dict) or not isinstance(found.get("schema"), str):
        raise InputError("release must be a document written by utmost release, got JSON without its schema")
    if found["schema"] != SCHEMA:
        known = found["schema"][:40]
        raise InputError(f'release must be of schema {SCHEMA}, got "{known}": read it with the version that wrote it')
    return decode.release(Fields(found, "release"))


def _constant(word: str) -> float:
    raise ValueError(word)


def write(release: Release, path: Path) -> None:
    """The release in a file, whole or not at all: an earlier file stays until the new one is on disk."""
    save(text(release), path)


def save(document: str, path: Path) -> None:
    """A text in a file, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(document)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
