"""Offers on disk: a plan at a cost under a key, whether its run was started, and its outcome.

An offer is a folder. `offer.json` says whose it is, the plan and the cost that was shown; `begun.json` is made, by one
process and never again, before the ledger is charged; `outcome.json` names the release.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from utmost.publish import plans, release_file
from utmost.studio.forms import Refusal
from utmost.studio.rendering import FormattedNumber

KEY_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")
MAX_OFFERS = 500  # offers that are kept
UNKNOWN_KEY_MESSAGE = "key must be of a confirmation of yours, got another: look at the plan again, and confirm it anew"


class OfferedQuery(BaseModel):
    """A query of a plan, and how far off its answer will be."""

    name: str
    kind: str
    epsilon: FormattedNumber
    delta: FormattedNumber | None = Field(default=None, description="None where it needs none")
    expected: FormattedNumber = Field(description="Expected absolute error of the noise alone, and its suffix")
    half_width: FormattedNumber = Field(description="The noise is within ± this in 95 % of cases")
    optimal: str = Field(description="In which sense no mechanism is better")


class Offer(BaseModel):
    """A plan at a cost, to be accepted once. `key`, `plan`, `cost` and `takes` are what accepting it must repeat.

    The amounts of δ follow from the plan, and are checked again like those of ε.
    """

    key: str
    plan: str = Field(description="The plan as TOML")
    cost: str = Field(description="ε of the plan by itself, exactly")
    takes: str = Field(
        description="What is taken from the budget: ε, exactly; 0 where the ledger remembers the release"
    )
    delta: str = Field(default="0", description="δ of the plan by itself, exactly")
    takes_delta: str = Field(default="0", description="What is taken from the budget's δ")
    budget: str
    left: str
    after: str
    delta_left: str = "0"
    delta_after: str = "0"
    free: bool
    preview: dict[str, Any] = Field(description="What utmost release --dry-run --json prints")
    queries: list[OfferedQuery] = Field(default=[], description="The queries as the page shows them")
    remarks: list[str]


class AcceptedOffer(BaseModel):
    """An offer that is accepted: all that was shown, sent back."""

    key: str = Field(max_length=100)
    plan: str = Field(max_length=plans.MAX_PLAN_BYTES)
    cost: str = Field(max_length=200)
    takes: str = Field(max_length=200)


class Outcome(BaseModel):
    """The outcome of an offer.

    `open`: nothing yet. `going`: its release is being made. `done`: here is its file. `lost`: the studio was stopped in
    the middle of it; if there is an `entry`, it was paid for.
    """

    state: Literal["open", "going", "done", "lost"]
    key: str
    file: str | None = Field(default=None, description="The release, for /api/curator/releases/{file}")
    budget: str | None = None
    entry: int | None = Field(default=None, description="The number of the charge in the ledger")
    left: str | None = None
    repeated: bool = Field(default=False, description="It had been accepted before: nothing was charged now")
    words: str = Field(default="", description="How far it is, or what happened")


class StartedRun(BaseModel):
    """What is known of a run before it charges: when, the charges its budget had, the plan's digest, the release."""

    at: float
    charges: int
    digest: str
    stem: str


class Offers:
    """The offers in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, owner: str, offer: Offer) -> None:
        """Keep a new offer."""
        folder = self._folder / offer.key
        folder.mkdir(mode=0o700)
        _write_json(folder / "offer.json", {"owner": owner, "offer": offer.model_dump()})

    def find(self, owner: str, key: str) -> Offer:
        """The offer under a key, if it was made to this owner; another's is refused like one that never was."""
        content = _read_json(self._folder / key / "offer.json") if KEY_PATTERN.fullmatch(key) else None
        if content is None or content["owner"] != owner:
            raise Refusal(404, UNKNOWN_KEY_MESSAGE)
        return Offer.model_validate(content["offer"])

    def start_run(self, key: str, run: StartedRun) -> None:
        """Record on the disk that the charge is about to be made; refused where it is recorded already."""
        try:
            _create_json(self._folder / key / "begun.json", run.model_dump())
        except FileExistsError:
            raise Refusal(
                409, "this confirmation is being carried out elsewhere: reload the page in a moment"
            ) from None

    def find_run(self, key: str) -> StartedRun | None:
        """The run that was begun, if one was."""
        content = _read_json(self._folder / key / "begun.json")
        return None if content is None else StartedRun.model_validate(content)

    def cancel_run(self, key: str) -> None:
        """Remove that record: nothing was charged, and the offer stands as before."""
        (self._folder / key / "begun.json").unlink()

    def save_outcome(self, outcome: Outcome) -> Outcome:
        """Save the outcome of an offer."""
        _write_json(self._folder / outcome.key / "outcome.json", outcome.model_dump())
        return outcome

    def find_outcome(self, key: str) -> Outcome | None:
        """The outcome of an offer, if it has ended."""
        content = _read_json(self._folder / key / "outcome.json")
        return None if content is None else Outcome.model_validate(content)

    def remove_old(self, needed: Collection[str]) -> None:
        """Forget the oldest offers but those that are needed; what is forgotten can no longer be accepted."""
        folders = sorted(self._folder.iterdir(), key=lambda folder: folder.stat().st_mtime_ns, reverse=True)
        for folder in folders[MAX_OFFERS:]:
            if folder.name not in needed:
                shutil.rmtree(folder, ignore_errors=True)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """JSON in a file, whole or not at all, on the disk."""
    release_file.save_text(json.dumps(content), path)
    _sync_folder(path.parent)


def _create_json(path: Path, content: Mapping[str, Any]) -> None:
    """JSON in a file that must not be there yet, on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(content))
        stream.flush()
        os.fsync(stream.fileno())
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The folder's own entries on the disk, where the system has a way."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read_json(path: Path) -> dict[str, Any] | None:
    """The JSON in a file; None where there is none, or where writing it was cut short."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content
