"""Parse TOML with exact decimal numbers."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from typing import Any

from utmost.errors import InputError
from utmost.exact.plain_text import check_plain_text

KEY_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
TOO_LONG_KEY = re.compile(rf"(?:\.[ \t]*+{KEY_PART}[ \t]*+){{100}}")  # tomllib takes the square of its length in time


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The content of a text, decimals exact as written; ValueError or RecursionError where it is not TOML.

    Control characters in its texts are refused.

    >>> parse_toml("epsilon = 0.1", "plan")
    {'epsilon': Decimal('0.1')}
    """
    if TOO_LONG_KEY.search(text) is not None:
        raise InputError(f"{name} must have keys of at most 100 parts with dots between them, got a longer one")
    content = tomllib.loads(text, parse_float=Decimal)
    check_plain_text(content, name)
    return content
