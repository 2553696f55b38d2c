"""Refusals of the library, beside the fields of the consumer's form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from utmost.errors import InputError
from utmost.studio.form_errors import FieldError

OWN = ("prior", "loss", "cell", "grid", "coverage", "query")
OTHERS = {
    "at-least": "at_least",
    "at-most": "at_most",
    "steps": "bars",
    "binomial": "p",
    "poisson": "mean",
    "zipf": "s",
}
FIELDS = {**{name: name for name in OWN}, **OTHERS, "poisson": "mean", "zipf": "s"}


@contextmanager
def errors_for_form() -> Iterator[None]:
    """What is refused inside is told beside the field that its first word names, in words of a page."""
    try:
        yield
    except FieldError:
        raise
    except InputError as problem:
        words = str(problem)
        field = FIELDS.get(words.split(" ", 1)[0], "query")
        raise FieldError(field, worded(words)) from None


def worded(words: str) -> str:
    """The options of the command line as the form calls them.

    >>> worded("at-most must be given: say --at-most N, the largest you hold possible")
    'at most must be given: say at most N, the largest you hold possible'
    """
    for option in ("at-least", "at-most"):
        words = words.replace(f"--{option}", option.replace("-", " ")).replace(option, option.replace("-", " "))
    return words.replace("--grid", "the number of points")
