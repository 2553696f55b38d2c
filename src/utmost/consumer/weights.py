"""Weights that a text lists, or a file holds: one a line, between commas, or a JSON list."""

from __future__ import annotations

import os
from pathlib import Path

from utmost.consumer.files import json_list, read_text
from utmost.errors import InputError

FORMS = "uniform, weights such as 1/4,0,3/4, binomial:0.3, poisson:12.5, zipf:1, steps:1,3,2 or a file of weights"


def read_weights(text: str) -> tuple[list[object], bool]:
    """The weights, and whether they came from a file.

    >>> read_weights(".5, sqrt(1/4)")
    (['.5', ' sqrt(1/4)'], False)
    """
    found = os.path.isfile(text)  # unlike Path.is_file, False for a name that no file can have
    if not found and not _lists(text):
        raise InputError(f"prior must be {FORMS}, got {text[:60]!r}")
    whole = read_text(Path(text), "prior") if found else text
    return json_list(whole, "prior") or [
        cell for line in whole.splitlines() for cell in line.split(",") if cell.strip()
    ], found


def _lists(text: str) -> bool:
    """Does a text begin like a list of numbers, and not like a word."""
    word = text[:1].isalpha() and not text.startswith(("exp(", "sqrt("))
    return not word and ("," in text or text[:1].isdigit())
