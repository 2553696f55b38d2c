"""All stores, and which of them a location means. A new one is a module here and a line in `STORES`."""

from __future__ import annotations

from pathlib import Path

from utmost.errors import InputError
from utmost.ledger.stores.database import Store, StoreKind
from utmost.ledger.stores.postgres import POSTGRES
from utmost.ledger.stores.sqlite import SQLITE

STORES: tuple[StoreKind, ...] = (
    SQLITE,
    POSTGRES,
)


def find_kind(location: str) -> StoreKind:
    """The kind of store that a location means: by the scheme of a URL, else a file."""
    scheme, separator, _ = location.partition("://")
    is_plausible = bool(location.strip()) and "\0" not in location
    for kind in STORES if is_plausible else ():
        if (scheme in kind.schemes) if separator else not kind.schemes:
            return kind
    raise InputError(f"ledger must be {' or '.join(kind.words for kind in STORES)}", "ledger")


def make_store(location: str, folder: Path | None = None) -> Store:
    """The store at a URL, or in a file relative to `folder`. Nothing is made or looked at yet."""
    return find_kind(location).open(location, folder or Path())


def ledger_files(location: str, folder: Path) -> list[Path]:
    """The file of a ledger and those that its database keeps beside it; none of a ledger that is in no file."""
    kind = find_kind(location)
    path = (folder / location).resolve()
    return [] if kind.schemes else [path.with_name(path.name + suffix) for suffix in ("", *kind.companion_suffixes)]


def choices_text() -> str:
    """The kinds of stores.

    >>> choices_text()
    'SQLite file, or postgresql:// URL'
    """
    return ", or ".join(kind.title for kind in STORES)
