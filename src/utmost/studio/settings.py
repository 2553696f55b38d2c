"""The settings that a studio is started with."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from utmost.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_HOST = ("0.0.0.0", "[::]")
DEFAULT_LEDGER = "ledger.sqlite"  # the plan's default too
RELEASES_FOLDER = "releases"
PUBLIC_FOLDER = "public"
MAX_FORM_FIELDS = 5000  # of a form: a plan of 30 queries on 400 columns has most of them


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one client, one request and one machine may ask for.

    A rate is (requests a second, requests at once): a bucket that holds the second and is filled by the first.
    """

    body_bytes: int = 8 << 20  # of a request
    head_seconds: int = 15  # for a request's first lines to arrive
    body_seconds: int = 30  # and for the rest of it
    rate: tuple[int, int] = (50, 400)  # of a client elsewhere
    loopback_rate: tuple[int, int] = (2000, 8000)  # of this machine's own clients
    wrong_token_cost: int = 20  # requests that a wrong token counts for
    jobs: int = 2  # that run at a time
    waiting_jobs: int = 16  # that wait for those
    jobs_per_visitor: int = 9  # so that each leaves room for the others
    job_seconds: int = 3600
    kept_jobs: int = 200
    workers: int = 2  # processes that compute for requests, of consumers and of curators each
    calls: int = 256  # that wait for the workers of one kind or run there; each holds a thread
    request_threads: int = 40  # beyond those that calls may hold
    calls_per_visitor: int = 6
    compute_seconds: int = 30  # for one call
    cpu_seconds_per_minute: int = 30  # of one visitor of a team
    live_counts: int = 10_000  # counts of a picture that follows a slider; more is a job


@dataclass(frozen=True, slots=True)
class Settings:
    """A folder of sources and plans, its ledger, where releases go, where the studio keeps its own state, and who may.

    `ledger` is a file in `folder` or a postgresql:// URL. Without `tokens` there is one visitor, who may do everything;
    with it every visitor shows a token of that file. `hosts` are the names under which the studio may be called.
    """

    folder: Path
    state_folder: Path
    ledger: str = DEFAULT_LEDGER
    host: str = "127.0.0.1"
    port: int = 8650
    tokens: Path | None = None
    hosts: tuple[str, ...] = LOOPBACK
    limits: Limits = field(default_factory=Limits)

    @property
    def releases(self) -> Path:
        """The folder that the studio writes releases to."""
        return self.folder / RELEASES_FOLDER

    @property
    def release_folders(self) -> tuple[Path, ...]:
        """Where releases are read: the releases folder, and for a single visitor those beside the plans too."""
        return (self.releases, self.folder) if self.tokens is None else (self.releases,)

    @property
    def public(self) -> Path:
        """The folder of the tables that are public: whoever may write a plan may take their columns as they are."""
        return self.folder / PUBLIC_FOLDER


def local_settings(folder: str | Path, port: int = 8650) -> Settings:
    """A studio of one user on a folder that exists."""
    path = _check_folder(folder)
    return Settings(folder=path, state_folder=_state_folder("studio", path), port=port)


def team_settings(
    folder: str | Path, *, ledger: str, tokens: Path, host: str, port: int, names: tuple[str, ...] = ()
) -> Settings:
    """A studio of a team on a folder that exists; it may be called by its address, the loopback's, and these names."""
    path = _check_folder(folder)
    address = f"[{host}]" if ":" in host else host
    return Settings(
        folder=path,
        state_folder=_state_folder("team", path),
        ledger=ledger,
        host=host,
        port=port,
        tokens=tokens.absolute(),
        hosts=(*LOOPBACK, *(name.lower() for name in (address, *names) if name not in ANY_HOST)),
    )


def _check_folder(folder: str | Path) -> Path:
    path = Path(folder).resolve()
    if not path.is_dir():
        raise InputError(
            f'FOLDER must be a folder that exists, got "{Path(folder).name[:60]}"', "folder", "make it first"
        )
    return path


def _state_folder(kind: str, folder: Path) -> Path:
    """The state of a studio on a folder, identified by the hash of the folder's path."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return _user_folder("XDG_STATE_HOME", ".local/state") / kind / digest


def cache_folder() -> Path:
    """Where what can be made again is kept: $XDG_CACHE_HOME/utmost, or ~/.cache/utmost."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def _user_folder(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    return (Path(value) if os.path.isabs(value) else Path.home() / default) / "utmost"


def private_folder(folder: Path) -> Path:
    """The folder, made where it is missing, for this user's eyes alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"state folder must be one that can be made, got {folder.name}: {problem.strerror}; set XDG_STATE_HOME"
        ) from None
    return folder
