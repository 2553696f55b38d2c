"""A line on stderr that tells how far long work is; nothing where stderr is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Report: TypeAlias = Callable[[str], None]


@contextmanager
def progress_line(label: str) -> Iterator[Report]:
    """Shows `label`, then whatever is reported, as one changing line; it is gone when the work is done."""
    from rich.console import Console

    screen = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status(label) as status:
        yield lambda text: status.update(f"{label}: {text}")
