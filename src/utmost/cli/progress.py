"""A line on stderr that tells how far long work is; nothing where stderr is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.text import Text

ProgressReport: TypeAlias = Callable[[str], None]


@contextmanager
def progress_line(label: str) -> Iterator[ProgressReport]:
    """Shows `label`, then whatever is reported, as one changing line; it is gone when the work is done."""
    from rich.console import Console

    screen = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status(_plain(label)) as status:
        yield lambda text: status.update(_plain(f"{label}: {text}"))


def _plain(text: str) -> Text:
    """A text that neither steers the terminal nor is taken for markup."""
    from rich.text import Text

    from utmost.exact.plain_text import escape_control

    return Text(escape_control(text, frozenset()))
