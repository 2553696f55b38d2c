"""Families of things that people name in text, such as `binomial:0.3`, `power:1.5` or `grid:3x4`.

Each kind of thing has one registry. Parsers, error messages, help texts, forms and the tables of the documentation
are all made from it, so a new family is one module and one entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Generic, TypeVar

from utmost.errors import InputError

KIND_PATTERN = re.compile(r"[a-z][a-z0-9_-]*")  # no list of weights, no file, nothing with a colon
MAX_QUOTED_CHARS = 60  # of a text that is refused


def similar_name(text: str, names: Iterable[str]) -> str | None:
    """The name most like a text, if any is.

    >>> similar_name("suvery", ["panel", "survey"]), similar_name("people", ["panel", "survey"])
    ('survey', None)
    """
    matches = get_close_matches(text[:MAX_QUOTED_CHARS], [name for name in names if len(name) <= MAX_QUOTED_CHARS], 1)
    return matches[0] if matches else None


@dataclass(frozen=True, kw_only=True)
class Family:
    """What every family has.

    `kind` is the word before the colon, `example` a text that names a member, `meaning` what the example means in one
    line of the documentation. `phrase` stands for the example in lists of what may be written. `reads_files` is True
    where the text names a file: a web page must not accept it.
    """

    kind: str
    example: str
    meaning: str
    phrase: str = ""
    reads_files: bool = False

    @property
    def list_entry(self) -> str:
        """How a list of what may be written shows it."""
        return self.phrase or self.example

    @property
    def takes_text(self) -> bool:
        """Does a text follow the colon."""
        return ":" in self.example


FamilyType = TypeVar("FamilyType", bound=Family)


class Registry(Generic[FamilyType]):
    """The families of one kind of thing, in the order in which help and forms list them.

    >>> letters = Registry("letter", [Family(kind="a", example="a:1", meaning="the first")])
    >>> letters.register(Family(kind="b", example="b:FILE", meaning="the second", reads_files=True))
    >>> letters.forms(), letters.forms(files=False), letters.find("c")
    ('a:1 or b:FILE', 'a:1', None)
    """

    def __init__(self, noun: str, families: Iterable[FamilyType]) -> None:
        self.noun = noun
        self._families: dict[str, FamilyType] = {}
        for family in families:
            self.register(family)

    def __iter__(self) -> Iterator[FamilyType]:
        return iter(tuple(self._families.values()))

    def find(self, kind: str) -> FamilyType | None:
        """The family of this kind, or None."""
        return self._families.get(kind)

    def register(self, family: FamilyType) -> None:
        """Add a family at the end; its kind must be new, and no text that could be something else."""
        if not KIND_PATTERN.fullmatch(family.kind):
            raise ValueError(f"a kind of {self.noun} must be small letters and hyphens, got {family.kind!r}")
        if family.kind in self._families:
            raise ValueError(f"there is a {self.noun} {family.kind} already")
        self._families[family.kind] = family

    @contextmanager
    def registration(self, family: FamilyType) -> Iterator[None]:
        """Register a family for as long as the block runs."""
        self.register(family)
        try:
            yield
        finally:
            del self._families[family.kind]

    def forms(self, *, files: bool = True) -> str:
        """What may be written, as a list in words; without `files` only what names no file."""
        *first, last = [family.list_entry for family in self if files or not family.reads_files]
        return f"{', '.join(first)} or {last}" if first else last

    def refusal(self, text: str, *, files: bool = True) -> InputError:
        """The error for a text that names no member."""
        message = f"{self.noun} must be {self.forms(files=files)}, got {text[:MAX_QUOTED_CHARS]!r}"
        return InputError(message, self.noun, self.similar(text, files=files))

    def similar(self, text: str, *, files: bool = True) -> str | None:
        """The question whether a family with a similar name was meant; None if there is none.

        >>> Registry("letter", [Family(kind="alpha", example="alpha:1", meaning="the first")]).similar("alfa:3")
        'did you mean alpha:1?'
        """
        families = {family.kind: family for family in self if files or not family.reads_files}
        kind = similar_name(text.strip().partition(":")[0].lower(), families)
        return None if kind is None else f"did you mean {families[kind].example}?"

    @contextmanager
    def input_errors(self, text: str) -> Iterator[None]:
        """Turn a ValueError of a family's own parser into an InputError about this text; it stays as the cause."""
        try:
            yield
        except InputError:
            raise
        except ValueError as problem:
            family = self.find(text.strip().partition(":")[0])
            hint = None if family is None else f"write it like {family.example}"
            message = f"{self.noun} must be one that can be made, got {text[:MAX_QUOTED_CHARS]!r}"
            raise InputError(message, self.noun, hint) from problem
