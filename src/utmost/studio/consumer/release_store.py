"""The releases that a visitor may read: those of the studio's folders, and the visitor's own uploads.

Uploads, releases and weights of priors, are kept in the state folder for one session alone: under the hash of their
content, in a folder named by the hash of the session. They are forgotten after a day, or when there is too much.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from utmost.consumer import priors
from utmost.consumer.family import json_list
from utmost.consumer.priors import Explicit
from utmost.errors import InputError
from utmost.publish import release_file
from utmost.publish.release_file import ReservedFile
from utmost.publish.release_model import Release
from utmost.studio import data_folder
from utmost.studio.consumer.forms import parse_number
from utmost.studio.forms import errors_for_field
from utmost.studio.settings import Settings, private_folder
from utmost.studio.visitors import Visitor

ReleaseOwner: TypeAlias = Literal["releases", "uploads"]

MAX_RELEASE_BYTES = 4 << 20  # bytes
MAX_WEIGHTS_BYTES = 1 << 20
MAX_WEIGHTS = 100_001
MAX_FILES_PER_VISITOR = 16  # files of one visitor
MAX_TOTAL_BYTES = 256 << 20  # of all visitors
DAY_SECONDS = 86_400
UPLOAD_PATTERN = re.compile(r"[0-9a-f]{24}")
RELEASE_SUFFIX, WEIGHTS_SUFFIX = ".release.json", ".weights"


def open_release(settings: Settings, visitor: Visitor, owner: ReleaseOwner, name: str) -> Release:
    """The release of this name, of the studio or uploaded by this visitor."""
    with errors_for_field("release"):
        path = (
            data_folder.release_path(settings, name)
            if owner == "releases"
            else _upload_path(settings, visitor, name, RELEASE_SUFFIX)
        )
        status = path.stat()
        return _read_release(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read_release(path: Path, modified_ns: int, size: int) -> Release:
    return release_file.read_release(path)


def keep_release(settings: Settings, visitor: Visitor, content: bytes) -> str:
    """Keep a release that the visitor uploaded, if it is one; its name among the uploads."""
    if len(content) > MAX_RELEASE_BYTES:
        raise InputError(f"release must be at most {MAX_RELEASE_BYTES >> 20} MiB here, got a larger one", "file")
    with errors_for_field("file"):
        try:
            release_file.parse_release(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InputError("release must be UTF-8 text, got a file that is not", "file") from None
    return _store_upload(settings, visitor, content, RELEASE_SUFFIX)


def keep_weights(settings: Settings, visitor: Visitor, content: bytes) -> str:
    """Keep the weights of a prior: one a line, between commas, or a JSON list."""
    if len(content) > MAX_WEIGHTS_BYTES:
        raise InputError(
            f"weights must be at most {MAX_WEIGHTS_BYTES >> 10} KiB here, got more: group the values", "prior"
        )
    try:
        parse_weights(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError("weights must be UTF-8 text, got a file that is not", "prior") from None
    return _store_upload(settings, visitor, content, WEIGHTS_SUFFIX)


def uploaded_prior(settings: Settings, visitor: Visitor, name: str) -> Explicit:
    """The prior whose weights the visitor uploaded."""
    with errors_for_field("prior"):
        path = _upload_path(settings, visitor, name, WEIGHTS_SUFFIX)
    return _read_weights(path)


@lru_cache(maxsize=16)
def _read_weights(path: Path) -> Explicit:
    return parse_weights(path.read_text(encoding="utf-8-sig"))


def parse_weights(text: str) -> Explicit:
    """The weights that a text lists, divided by their sum, exactly."""
    with errors_for_field("prior"):
        json_cells = json_list(text, "prior")
        cells = (
            [cell for line in text.splitlines() for cell in line.split(",") if cell.strip()]
            if json_cells is None
            else json_cells
        )
        if not 1 <= len(cells) <= MAX_WEIGHTS:
            raise InputError(f"prior must have 1 to {MAX_WEIGHTS} weights, got {len(cells)}: group the values", "prior")
        return priors.normalised(
            [parse_number("prior", cell if isinstance(cell, str) else repr(cell)) for cell in cells]
        )


def list_uploads(settings: Settings, visitor: Visitor) -> list[str]:
    """The names of the releases that this visitor uploaded, the latest first."""
    folder = _visitor_folder(settings, visitor)
    paths = sorted(folder.glob(f"*{RELEASE_SUFFIX}"), key=_modified_at, reverse=True) if folder.is_dir() else []
    return [path.name.removesuffix(RELEASE_SUFFIX) for path in paths]


def _upload_path(settings: Settings, visitor: Visitor, name: str, suffix: str) -> Path:
    path = _visitor_folder(settings, visitor) / f"{name}{suffix}"
    if UPLOAD_PATTERN.fullmatch(name) is None or not path.is_file():
        field = "release" if suffix == RELEASE_SUFFIX else "prior"
        raise InputError(
            f"{field} must be one that this session uploaded, got another or an old one: upload it again", field
        )
    return path


def _store_upload(settings: Settings, visitor: Visitor, content: bytes, suffix: str) -> str:
    folder = private_folder(_visitor_folder(settings, visitor))
    name = hashlib.sha256(content).hexdigest()[:24]
    with ReservedFile(folder / f"{name}{suffix}") as path:
        path.fill(content.decode("utf-8-sig"))
    _remove_old(folder.parent, folder)
    return name


def _visitor_folder(settings: Settings, visitor: Visitor) -> Path:
    """The visitor's folder: by session, or by name where a program shows a token."""
    identity = visitor.session or f"bearer:{visitor.name}"
    return settings.state_folder / "uploads" / hashlib.sha256(identity.encode()).hexdigest()[:32]


def _remove_old(root: Path, own_folder: Path) -> None:
    """Forget the visitor's oldest files above the limit, and everybody's that are old or, together, too large."""
    for path in sorted(own_folder.iterdir(), key=_modified_at, reverse=True)[MAX_FILES_PER_VISITOR:]:
        path.unlink(missing_ok=True)
    total = 0
    for folder in sorted(root.iterdir(), key=_modified_at, reverse=True):
        total += sum(_file_size(path) for path in folder.iterdir()) if folder.is_dir() else 0
        if folder != own_folder and (total > MAX_TOTAL_BYTES or time.time() - _modified_at(folder) > DAY_SECONDS):
            shutil.rmtree(folder, ignore_errors=True)


def _modified_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # somebody else tidied it away
        return 0.0


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
