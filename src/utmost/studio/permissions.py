"""Who may go where. What is not named here is the curator's."""

from __future__ import annotations

from dataclasses import dataclass

from utmost.studio.sessions import ANONYMOUS, Visitor

ALWAYS = ("/static", "/vega", "/health", "/login", "/logout", "/favicon.ico")
CONSUMER = ("/consumer", "/designer", "/precision", "/papers", "/jobs", "/reference")
EXACTLY = ("/", "/openapi.json", "/api/home", "/api/session")


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the navigation."""

    path: str
    name: str


PLACES = (
    NavigationEntry("/curator", "Curator"),
    NavigationEntry("/consumer", "Consumer"),
    NavigationEntry("/designer", "Designer"),
    NavigationEntry("/precision", "Precision"),
    NavigationEntry("/papers", "Papers"),
    NavigationEntry("/jobs", "Jobs"),
    NavigationEntry("/reference", "API"),
)


def open_to_all(path: str) -> bool:
    """May a visitor without a token come here.

    >>> open_to_all("/static/studio.css"), open_to_all("/staticfiles"), open_to_all("/")
    (True, False, False)
    """
    return any(_under(path, root) for root in ALWAYS)


def is_allowed(visitor: Visitor, path: str) -> bool:
    """May this visitor come here: the consumer reaches releases and what needs no data, the curator everything.

    >>> ann = Visitor("ann", "consumer", "")
    >>> is_allowed(ann, "/api/consumer/releases"), is_allowed(ann, "/api/curator"), is_allowed(ann, "/metrics")
    (True, False, False)
    """
    if open_to_all(path) or visitor.role == "curator":
        return True
    if visitor.role == ANONYMOUS:
        return False
    return path in EXACTLY or any(_under(path.removeprefix("/api"), root) for root in CONSUMER)


def navigation(visitor: Visitor) -> tuple[NavigationEntry, ...]:
    """The navigation that this visitor sees."""
    return tuple(place for place in PLACES if visitor.role != ANONYMOUS and is_allowed(visitor, place.path))


def _under(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")
