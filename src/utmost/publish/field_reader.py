"""The keys of a table of a plan or a release, taken one by one; what is left over at the end is a misspelling."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from utmost.errors import InputError
from utmost.exact import rational

_MISSING: Any = object()
_WORDS = {
    dict: "a table",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}
MAX_WHOLE_NUMBER = 10**1000  # whole numbers, and both parts of a fraction, are below it
LONGEST_NUMBER = 2000  # characters of a number that is written as a text
MAX_TEXT_CHARS = 20_000  # characters of a text


def file_error_reason(problem: Exception) -> str:
    """Why a file could not be read, in a few words."""
    if isinstance(problem, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (getattr(problem, "strerror", None) or "it cannot be read").lower()


def _is_long(found: object) -> bool:
    if isinstance(found, int):
        return abs(found) >= MAX_WHOLE_NUMBER
    return isinstance(found, str) and len(found) > LONGEST_NUMBER


class Fields:
    """A mapping that remembers which of its keys were asked for, to tell which are unknown."""

    def __init__(self, content: Mapping[str, Any], place: str) -> None:
        self.place = place
        self._content = content
        self._known: set[str] = set()

    def columns(self) -> list[str]:
        """The keys there are."""
        return list(self._content)

    def named(self, place: str) -> Fields:
        """The same fields, called otherwise in complaints."""
        again = Fields(self._content, place)
        again._known = self._known
        return again

    def raw(self, key: str, default: Any = _MISSING) -> Any:
        """What stands at a key."""
        self._known.add(key)
        if key in self._content:
            return self._content[key]
        if default is not _MISSING:
            return default
        near = get_close_matches(key, [k for k in self._content if k not in self._known], 1)
        hint = f': is "{near[0][:40]}" a misspelling of it?' if near else ""
        raise InputError(f"{self.place}: {key} is missing{hint}" + ("" if near else ": add it"))

    def value(self, key: str) -> Any:
        """What stands at a key that must be there."""
        return self.raw(key)

    def text(self, key: str, default: Any = _MISSING) -> Any:
        """A text, or the default."""
        found = self.raw(key, default)
        if found is default:
            return default
        if not isinstance(found, str):
            raise self._wrong(key, "a text in quotes", found)
        if len(found) > MAX_TEXT_CHARS or "\0" in found:
            raise InputError(f"{self.place}: {key} must be a text of at most {MAX_TEXT_CHARS} characters, without NUL")
        return found

    def whole(self, key: str, default: Any = _MISSING) -> Any:
        """A whole number, or the default."""
        found = self.raw(key, default)
        if found is default:
            return default
        if not isinstance(found, int) or isinstance(found, bool):
            raise self._wrong(key, "a whole number", found)
        if abs(found) >= MAX_WHOLE_NUMBER:
            raise InputError(f"{self.place}: {key} must be a whole number of fewer than 1000 digits")
        return found

    def truth(self, key: str, default: Any = _MISSING) -> Any:
        """True or false, or the default."""
        found = self.raw(key, default)
        if found is not default and not isinstance(found, bool):
            raise self._wrong(key, "true or false", found)
        return found

    def number(self, key: str, otherwise: str = "") -> Fraction:
        """A number, exactly: 0.1 is 1/10, and "1/3" is a third."""
        found = self.raw(key)
        if isinstance(found, bool) or not isinstance(found, int | str | Decimal | Fraction | float):
            raise self._wrong(key, f"a number{otherwise}", found)
        if _is_long(found):
            raise InputError(f"{self.place}: {key} must be a shorter number")
        try:
            value = rational(str(found) if isinstance(found, Decimal) else found, key)
        except InputError as problem:
            raise InputError(f"{self.place}: {problem}") from None
        if max(abs(value.numerator), value.denominator) >= MAX_WHOLE_NUMBER:
            raise InputError(f"{self.place}: {key} must be a shorter number")
        return value

    def items(self, key: str) -> list[Any]:
        """A list."""
        found = self.raw(key)
        if not isinstance(found, list):
            raise self._wrong(key, "a list in [ ]", found)
        return found

    def table(self, key: str, default: Any = _MISSING) -> Any:
        """A table as fields of its own, or the default (an empty one stands for a table without keys)."""
        found = self.raw(key, default)
        if found is None and default is None:
            return None
        if not isinstance(found, dict):
            raise self._wrong(key, f"a table: [{key}]", found)
        return Fields(found, f"[{key}]" if self.place == "plan" else f"{self.place}, {key}")

    def tables(self, key: str) -> list[Fields]:
        """A list of tables."""
        found = self.raw(key)
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self._wrong(key, f"a list of tables: [[{key}]]", found)
        return [Fields(item, f"{key} {k}") for k, item in enumerate(found, 1)]

    def finish(self) -> None:
        """Refuse the keys nobody asked for."""
        for key in self._content:
            if key not in self._known:
                near = get_close_matches(str(key), self._known, 1)
                hint = f": did you mean {near[0]}?" if near else f": it knows {', '.join(sorted(self._known))}"
                raise InputError(f'{self.place}: "{str(key)[:40]}" is not known here{hint}')

    def _wrong(self, key: str, wanted: str, found: object) -> InputError:
        other = "a date or time" if isinstance(found, date | time) else "nothing" if found is None else "a number"
        kind = _WORDS.get(type(found), other)
        return InputError(f"{self.place}: {key} must be {wanted}, got {kind}")
