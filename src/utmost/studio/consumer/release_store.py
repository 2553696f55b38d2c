"""The releases that a visitor may read: those of the studio's folders, and those she brought herself.

What she brings, releases and weights of priors, is kept in the state folder for her session alone: under the hash of
its content, in a folder named by the hash of her session. It is forgotten after a day, or when there is too much.
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
from utmost.consumer.files import json_list
from utmost.consumer.priors import Explicit
from utmost.publish import release_file
from utmost.publish.release_file import ReservedFile
from utmost.publish.release_model import Release
from utmost.studio import data_folder
from utmost.studio.consumer.forms import parse_number
from utmost.studio.form_errors import FieldError, errors_for_field
from utmost.studio.sessions import Visitor
from utmost.studio.settings import Settings, private_folder

ReleaseOwner: TypeAlias = Literal["releases", "uploads"]

MAX_RELEASE_BYTES = 4 << 20  # bytes
MAX_WEIGHTS_BYTES = 1 << 20
MOST_WEIGHTS = 100_001
MOST_KEPT = 16  # files of one visitor
MOST_BYTES = 256 << 20  # of all visitors
DAY_SECONDS = 86_400
UPLOAD_PATTERN = re.compile(r"[0-9a-f]{24}")
RELEASE, WEIGHTS = ".release.json", ".weights"


def open_release(settings: Settings, who: Visitor, shelf: ReleaseOwner, name: str) -> Release:
    """The release of this name, on the studio's shelf or on her own."""
    with errors_for_field("release"):
        place = data_folder.release_path(settings, name) if shelf == "releases" else _kept(settings, who, name, RELEASE)
        status = place.stat()
        return _read(place, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read(place: Path, written: int, size: int) -> Release:
    return release_file.read_release(place)


def keep_release(settings: Settings, who: Visitor, content: bytes) -> str:
    """Keep a release that she brought, if it is one; its name on her shelf."""
    if len(content) > MAX_RELEASE_BYTES:
        raise FieldError("file", f"release must be at most {MAX_RELEASE_BYTES >> 20} MiB here, got a larger one")
    with errors_for_field("file"):
        try:
            release_file.parse_release(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise FieldError("file", "release must be UTF-8 text, got a file that is not") from None
    return _keep(settings, who, content, RELEASE)


def keep_weights(settings: Settings, who: Visitor, content: bytes) -> str:
    """Keep the weights of a prior: one a line, between commas, or a JSON list."""
    if len(content) > MAX_WEIGHTS_BYTES:
        raise FieldError(
            "prior", f"weights must be at most {MAX_WEIGHTS_BYTES >> 10} KiB here, got more: group the values"
        )
    try:
        parse_weights(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FieldError("prior", "weights must be UTF-8 text, got a file that is not") from None
    return _keep(settings, who, content, WEIGHTS)


def uploaded_prior(settings: Settings, who: Visitor, name: str) -> Explicit:
    """The prior whose weights she brought."""
    with errors_for_field("prior"):
        place = _kept(settings, who, name, WEIGHTS)
    return _weighed(place)


@lru_cache(maxsize=16)
def _weighed(place: Path) -> Explicit:
    return parse_weights(place.read_text(encoding="utf-8-sig"))


def parse_weights(text: str) -> Explicit:
    """The weights that a text lists, divided by their sum, exactly."""
    with errors_for_field("prior"):
        found = json_list(text, "prior")
        cells = (
            [cell for line in text.splitlines() for cell in line.split(",") if cell.strip()] if found is None else found
        )
        if not 1 <= len(cells) <= MOST_WEIGHTS:
            raise FieldError(
                "prior", f"prior must have 1 to {MOST_WEIGHTS} weights, got {len(cells)}: group the values"
            )
        return priors.normalised(
            [parse_number("prior", cell if isinstance(cell, str) else repr(cell)) for cell in cells]
        )


def list_uploads(settings: Settings, who: Visitor) -> list[str]:
    """The names of the releases on her own shelf, the latest first."""
    folder = _folder(settings, who)
    places = sorted(folder.glob(f"*{RELEASE}"), key=_age, reverse=True) if folder.is_dir() else []
    return [place.name.removesuffix(RELEASE) for place in places]


def _kept(settings: Settings, who: Visitor, name: str, ending: str) -> Path:
    place = _folder(settings, who) / f"{name}{ending}"
    if UPLOAD_PATTERN.fullmatch(name) is None or not place.is_file():
        what = "release" if ending == RELEASE else "prior"
        raise FieldError(
            what, f"{what} must be one that this session uploaded, got another or an old one: upload it again"
        )
    return place


def _keep(settings: Settings, who: Visitor, content: bytes, ending: str) -> str:
    folder = private_folder(_folder(settings, who))
    name = hashlib.sha256(content).hexdigest()[:24]
    with ReservedFile(folder / f"{name}{ending}") as place:
        place.fill(content.decode("utf-8-sig"))
    _tidy(folder.parent, folder)
    return name


def _folder(settings: Settings, who: Visitor) -> Path:
    """Her own: by her session, or by her name where a program shows her token."""
    mark = who.session or f"bearer:{who.name}"
    return settings.state / "uploads" / hashlib.sha256(mark.encode()).hexdigest()[:32]


def _tidy(root: Path, own: Path) -> None:
    """Forget her oldest files above the limit, and everybody's that are old or, together, too large."""
    for place in sorted(own.iterdir(), key=_age, reverse=True)[MOST_KEPT:]:
        place.unlink(missing_ok=True)
    total = 0
    for folder in sorted(root.iterdir(), key=_age, reverse=True):
        total += sum(_size(place) for place in folder.iterdir()) if folder.is_dir() else 0
        if folder != own and (total > MOST_BYTES or time.time() - _age(folder) > DAY_SECONDS):
            shutil.rmtree(folder, ignore_errors=True)


def _age(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:  # somebody else tidied it away
        return 0.0


def _size(place: Path) -> int:
    try:
        return place.stat().st_size
    except OSError:
        return 0
