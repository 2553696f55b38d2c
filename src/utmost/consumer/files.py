"""Texts and files that priors and losses are read from: lists of numbers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from utmost.errors import InputError
from utmost.exact.readable_file import check_no_named_pipe

MAX_FILE_BYTES = 1 << 26  # bytes
PRIOR_FORMS = "uniform, weights such as 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or a file of weights"


def read_text(path: Path, name: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; `name` is what it was read for."""
    check_no_named_pipe(path, name)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except ValueError:
        raise InputError(f"{name} must name a UTF-8 text file, got {path.name}, which is not text") from None
    except OSError as problem:
        raise InputError(f"{name} must name a readable text file, got {path.name}: {problem.strerror}") from None
    if len(raw) > MAX_FILE_BYTES:
        raise InputError(f"{name} must be in a file of at most {MAX_FILE_BYTES >> 20} MiB, got a larger one")
    return text


def json_list(text: str, name: str) -> list[Any] | None:
    """The list if the text is JSON, its decimals as text so that they are read exactly; None if it is no JSON list."""
    if not text.lstrip().startswith("["):
        return None
    try:
        return list(json.loads(text, parse_float=str))
    except (ValueError, RecursionError):
        raise InputError(f"{name} must be a JSON list of numbers, got text that is not JSON") from None


def read_weights(text: str) -> tuple[list[object], bool]:
    """The weights of a prior that a text lists, or the file it names, and whether they came from a file.

    In a file they stand one a line, between commas, or as a JSON list.

    >>> read_weights(".5, sqrt(1/4)")
    (['.5', ' sqrt(1/4)'], False)
    """
    is_file = os.path.isfile(text)  # unlike Path.is_file, False for a name that no file can have
    if not is_file and not _looks_like_numbers(text):
        raise InputError(f"prior must be {PRIOR_FORMS}, got {text[:60]!r}")
    content = read_text(Path(text), "prior") if is_file else text
    return json_list(content, "prior") or [
        cell for line in content.splitlines() for cell in line.split(",") if cell.strip()
    ], is_file


def _looks_like_numbers(text: str) -> bool:
    """Does a text begin like a list of numbers, and not like a word."""
    is_word = text[:1].isalpha() and not text.startswith(("exp(", "sqrt("))
    return not is_word and ("," in text or text[:1].isdigit())
