"""The console that every command prints through: control characters in what is printed are written out."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from utmost.exact.input_text import escape_control


class SafeConsole(Console):
    """A console on which a text of somebody else's cannot move the cursor, clear the screen or hide a line."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A text as it is printed: alone, in a table or when its width is measured."""
        return super().render_str(escape_control(text), **options)
