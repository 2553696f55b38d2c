"""Where output may go: an output replaces only a file of its own kind, and never an input of the same command.

What a file is, is told by how it begins, not by its name. An empty file is nobody's, and may be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from utmost.errors import InputError, UtmostError

if TYPE_CHECKING:
    from utmost.publish.plans import Plan

START_BYTES = 4096  # bytes that tell what a file is
LEDGER_SUFFIXES = ("", "-journal", "-wal", "-shm")  # a ledger, and what SQLite keeps beside it


@dataclass(frozen=True, slots=True)
class FileKind:
    """What an output is: in words, and how an earlier file of the kind is recognised."""

    words: str
    recognises: Callable[[Path], bool]


def _starts_with(pattern: bytes) -> Callable[[Path], bool]:
    start = re.compile(rb"(?:\xef\xbb\xbf)?\s*" + pattern, re.IGNORECASE)

    def recognises(path: Path) -> bool:
        with path.open("rb") as stream:
            return start.match(stream.read(START_BYTES)) is not None

    return recognises


def _is_channel(path: Path) -> bool:
    from utmost.channel.files import read_channel

    try:
        read_channel(path)
    except UtmostError:
        return False
    return True


RELEASE = FileKind("a release", _starts_with(rb'\{\s*"schema"\s*:\s*"utmost-release/'))
CHANNEL = FileKind("a mechanism", _is_channel)
KIND_BY_ENDING = {
    ".svg": FileKind("a picture", _starts_with(rb"<(?:\?xml|svg|!doctype svg)")),
    ".png": FileKind("a picture", _starts_with(rb"\x89PNG")),
    ".html": FileKind("a picture", _starts_with(rb"<(?:!doctype html|html)")),
    ".jsonl": FileKind("a list of vertices", _starts_with(rb'\{"(?:vertex|kernel)": ')),
    ".csv": CHANNEL,
    ".json": CHANNEL,
}


def check_output(path: Path, option: str, kind: FileKind, inputs: Mapping[str, Path]) -> None:
    """Refuse an output that would replace an input, or a file of another kind."""
    check_not_input(path, option, inputs)
    try:
        is_replaceable = not path.exists() or (path.is_file() and (path.stat().st_size == 0 or kind.recognises(path)))
    except OSError:
        is_replaceable = False
    if not is_replaceable:
        raise InputError(
            f"{option} must be a new file or replace {kind.words}, got {path.name[:60]}, which is something else: "
            "name another"
        )


def check_not_input(path: Path, option: str, inputs: Mapping[str, Path]) -> None:
    """Refuse an output that would replace an input."""
    for name, input_path in inputs.items():
        if is_same_file(path, input_path):
            raise InputError(f"{option} must be another file than {name}, which would be lost: name another")


def is_same_file(first: Path, second: Path) -> bool:
    """Do two paths name one file, be it there or not."""
    try:
        return first.resolve() == second.resolve() or (first.exists() and second.exists() and first.samefile(second))
    except (OSError, ValueError):
        return False


def check_release_output(plan: Plan) -> None:
    """Refuse a plan whose output would replace its table, its ledger or anything that is not a release."""
    if plan.output is None:
        return
    inputs = {} if "://" in plan.source.location else {"the source": plan.folder / plan.source.location}
    if "://" not in plan.ledger:
        ledger_path = plan.folder / plan.ledger
        inputs |= {
            f"the ledger{suffix}": ledger_path.with_name(ledger_path.name + suffix) for suffix in LEDGER_SUFFIXES
        }
    check_output(plan.output, "output", RELEASE, inputs)
