"""What families of priors and losses share: their parameters in forms, and files with lists of numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

from utmost.errors import InputError
from utmost.exact.files import check_no_named_pipe
from utmost.registry import Family

Content: TypeAlias = Literal["number", "numbers", "pairs", "file"]  # pairs are a:b between commas


@dataclass(frozen=True, slots=True)
class Slider:
    """The range of a slider; `high` None is the number of points of the prior. Scale "log" spreads small values."""

    low: str
    high: str | None
    step: str = "any"
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One input of a form.

    `name` is its name in an address, `content` what its text must be. `suggest` makes a default from the released
    value, where that is a whole number, and a round step about as large as half of the noise.
    """

    name: str
    label: str
    description: str
    content: Content = "number"
    default: str = ""
    hint: str = ""
    slider: Slider | None = None
    suggest: Callable[[int | None, Fraction], str] | None = None


@dataclass(frozen=True, kw_only=True)
class ConsumerFamily(Family):
    """A family that a form can offer: `choice` is its line in the list of choices, empty if it is not offered."""

    choice: str = ""
    parameters: tuple[Parameter, ...] = ()


MAX_FILE_BYTES = 1 << 26  # bytes


def read_text(path: Path, name: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; `name` is what it was read for."""
    check_no_named_pipe(path, name)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except ValueError:
        raise InputError(f"{name} must name a UTF-8 text file, got {path.name}, which is not text", name) from None
    except OSError as problem:
        raise InputError(f"{name} must name a readable text file, got {path.name}: {problem.strerror}", name) from None
    if len(raw) > MAX_FILE_BYTES:
        raise InputError(f"{name} must be in a file of at most {MAX_FILE_BYTES >> 20} MiB, got a larger one", name)
    return text


def json_list(text: str, name: str) -> list[Any] | None:
    """The list if the text is JSON, its decimals as text so that they are read exactly; None if it is no JSON list."""
    if not text.lstrip().startswith("["):
        return None
    try:
        return list(json.loads(text, parse_float=str))
    except (ValueError, RecursionError):
        raise InputError(f"{name} must be a JSON list of numbers, got text that is not JSON", name) from None
