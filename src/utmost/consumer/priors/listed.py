"""Weights as text: a list between commas, or the name of a file that holds them."""

from __future__ import annotations

import os
from pathlib import Path

from utmost.consumer.family import Parameter
from utmost.consumer.files import json_list, read_text
from utmost.consumer.priors.explicit import Explicit, Floating, explicit, normalised
from utmost.consumer.priors.prior import PriorFamily


def read_weights(text: str) -> Explicit | Floating:
    """The prior whose weights a text lists, which sum to 1, or a file holds, which are divided by their sum."""
    name = text.strip()
    if os.path.isfile(name):  # unlike Path.is_file, False for a name that no file can have
        return normalised(_split_weights(read_text(Path(name), "prior")))
    return explicit(_split_weights(name))


def names_weights(text: str) -> bool:
    """Is a text a list of numbers, by its first characters, or the name of a file.

    >>> names_weights(".5, sqrt(1/4)"), names_weights("binomial:0.3")
    (True, False)
    """
    name = text.strip()
    is_word = name[:1].isalpha() and not name.startswith(("exp(", "sqrt("))
    return os.path.isfile(name) or (not is_word and ("," in name or name[:1].isdigit()))


def _split_weights(text: str) -> list[object]:
    """The weights of a text: one a line, between commas, or a JSON list."""
    return json_list(text, "prior") or [cell for line in text.splitlines() for cell in line.split(",") if cell.strip()]


WEIGHTS = PriorFamily(
    kind="weights",
    example="1/4,0,3/4",
    phrase="weights such as 1/4,0,3/4",
    meaning="these weights, which must sum to exactly 1",
    choice="weights that I type",
    lists_weights=True,
    parameters=(
        Parameter(
            name="weights",
            label="Weights, between commas",
            description="one for each value, between commas, up to a factor",
            content="numbers",
            hint="One for each value; they are divided by their sum",
        ),
    ),
    parse=lambda _, text: read_weights(text),
)
FILE = PriorFamily(
    kind="file",
    example="FILE",
    phrase="a file of weights",
    meaning="weights from a file",
    choice="weights from a file",
    lists_weights=True,
    reads_files=True,
    parameters=(
        Parameter(
            name="kept",
            label="A file of weights",
            description="the id of weights that were uploaded",
            content="file",
            hint="One a line, between commas, or a JSON list; one for each value.",
        ),
    ),
    parse=lambda _, text: read_weights(text),
)
