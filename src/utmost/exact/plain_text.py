"""Text without control characters, so that a text from elsewhere cannot control a terminal or reverse what is read.

Control characters are those of C0 and C1, those that change the direction of text, and lone surrogates.

TOML is parsed here too, with exact decimal numbers.
"""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from typing import Any

from utmost.errors import InputError

CONTROL_CHARACTER = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
MARKUP_CHARACTER = re.compile("[<>&]")
LINE_CHARACTERS = frozenset("\t\n\r")
MULTILINE_KEYS = ("where", "predicate")  # formulas, which may be written on several lines


def escape_control(text: str, allowed: frozenset[str] = frozenset("\t\n")) -> str:
    r"""The text with every control character written out, but for those `allowed`.

    >>> print(escape_control("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return CONTROL_CHARACTER.sub(lambda found: found[0] if found[0] in allowed else _escape(found[0]), text)


def escape_json(text: str) -> str:
    r"""JSON text with every control character in it written as JSON does.

    >>> print(escape_json('"a\x9bb"'))
    "a\u009bb"
    """
    return CONTROL_CHARACTER.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def escape_script(text: str) -> str:
    r"""JSON text that may stand in the script of a page: no text in it ends the script, and it reads back equal.

    >>> print(escape_script('"</script>&"'))
    "\u003c/script\u003e\u0026"
    """
    return escape_json(MARKUP_CHARACTER.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def check_plain_text(content: Any, name: str, key: object = "") -> None:
    """Refuse a document with a control character in any of its texts; formulas may have several lines."""
    if isinstance(content, str):
        allowed = LINE_CHARACTERS if key in MULTILINE_KEYS else frozenset()
        for found in CONTROL_CHARACTER.finditer(content):
            if found[0] not in allowed:
                raise InputError(
                    f"{name} must have texts without control characters, got U+{ord(found[0]):04X}", name, "take it out"
                )
    elif isinstance(content, dict):
        for inner_key, value in content.items():
            check_plain_text(inner_key, name)
            check_plain_text(value, name, inner_key)
    elif isinstance(content, list | tuple):
        for value in content:
            check_plain_text(value, name, key)


KEY_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
TOO_LONG_KEY = re.compile(rf"(?:\.[ \t]*+{KEY_PART}[ \t]*+){{100}}")  # tomllib takes the square of its length in time


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The content of a text, decimals exact as written; ValueError or RecursionError where it is not TOML.

    Control characters in its texts are refused.

    >>> parse_toml("epsilon = 0.1", "plan")
    {'epsilon': Decimal('0.1')}
    """
    if TOO_LONG_KEY.search(text) is not None:
        raise InputError(f"{name} must have keys of at most 100 parts with dots between them, got a longer one", name)
    content = tomllib.loads(text, parse_float=Decimal)
    check_plain_text(content, name)
    return content
