"""Permissions by role. A path that is not named here is the curator's."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.studio.sessions import ANONYMOUS, Visitor

OPEN_ROOTS = ("/static", "/vega", "/health", "/login", "/logout", "/favicon.ico")
CONSUMER_ROOTS = ("/consumer", "/designer", "/precision", "/papers", "/jobs", "/reference")
CONSUMER_PATHS = ("/", "/openapi.json", "/api/home", "/api/session")


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the navigation."""

    path: str
    name: str


NAVIGATION = (
    NavigationEntry("/curator", "Curator"),
    NavigationEntry("/consumer", "Consumer"),
    NavigationEntry("/designer", "Designer"),
    NavigationEntry("/precision", "Precision"),
    NavigationEntry("/papers", "Papers"),
    NavigationEntry("/jobs", "Jobs"),
    NavigationEntry("/reference", "API"),
)


def is_open_to_all(path: str) -> bool:
    """May a visitor without a token come here.

    >>> is_open_to_all("/static/studio.css"), is_open_to_all("/staticfiles"), is_open_to_all("/")
    (True, False, False)
    """
    return any(_is_under(path, root) for root in OPEN_ROOTS)


def is_allowed(visitor: Visitor, path: str) -> bool:
    """May this visitor come here: the consumer reaches releases and what needs no data, the curator everything.

    >>> ann = Visitor("ann", "consumer", "")
    >>> is_allowed(ann, "/api/consumer/releases"), is_allowed(ann, "/api/curator"), is_allowed(ann, "/metrics")
    (True, False, False)
    """
    if is_open_to_all(path) or visitor.role == "curator":
        return True
    if visitor.role == ANONYMOUS:
        return False
    return path in CONSUMER_PATHS or any(_is_under(path.removeprefix("/api"), root) for root in CONSUMER_ROOTS)


def navigation(visitor: Visitor) -> tuple[NavigationEntry, ...]:
    """The navigation that this visitor sees."""
    return tuple(entry for entry in NAVIGATION if visitor.role != ANONYMOUS and is_allowed(visitor, entry.path))


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")
