"""Text from elsewhere: without control characters, parsed as TOML, its tables read key by key.

Text without control characters, so that a text from elsewhere cannot control a terminal or reverse what is read.

Control characters are those of C0 and C1, those that change the direction of text, and lone surrogates.

TOML is parsed here too, with exact decimal numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from itertools import islice
from typing import Any

from utmost.errors import InputError
from utmost.exact import rational

CONTROL_CHARACTER = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
MARKUP_CHARACTER = re.compile("[<>&]")
LINE_CHARACTERS = frozenset("\t\n\r")
MULTILINE_KEYS = ("where", "predicate")  # formulas, which may be written on several lines
MULTILINE_TABLES = ("derive",)  # tables of such formulas


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
        allowed = LINE_CHARACTERS if key in MULTILINE_KEYS or key in MULTILINE_TABLES else frozenset()
        for found in CONTROL_CHARACTER.finditer(content):
            if found[0] not in allowed:
                raise InputError(
                    f"{name} must have texts without control characters, got U+{ord(found[0]):04X}", name, "take it out"
                )
    elif isinstance(content, dict):
        for inner_key, value in content.items():
            check_plain_text(inner_key, name)
            check_plain_text(value, name, key if key in MULTILINE_TABLES else inner_key)
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


_MISSING: Any = object()
_TYPE_NAMES = {
    dict: "a table",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}
INTEGER_LIMIT = 10**1000  # whole numbers, and both parts of a fraction, are below it
MAX_NUMBER_CHARS = 2000  # characters of a number that is written as a text
MAX_TEXT_CHARS = 20_000  # characters of a text
MAX_COMPARED_KEYS, MAX_COMPARED_CHARS = 100, 100  # in the search for a misspelling


def file_error_reason(problem: Exception) -> str:
    """Why a file could not be read, in a few words."""
    if isinstance(problem, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (getattr(problem, "strerror", None) or "it cannot be read").lower()


def _is_too_long(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) >= INTEGER_LIMIT
    return isinstance(value, str) and len(value) > MAX_NUMBER_CHARS


def _similar_keys(key: str, keys: Iterable[str]) -> list[str]:
    """The key most like this one, if any is; a file may have so many or so long keys that not all are compared."""
    compared_keys = [k for k in islice(keys, MAX_COMPARED_KEYS) if len(str(k)) <= MAX_COMPARED_CHARS]
    return get_close_matches(key[:MAX_COMPARED_CHARS], compared_keys, 1)


class Fields:
    """A mapping that records which of its keys were read, to find unknown ones.

    `label` says in errors which document or table it is. The `field` of an error is the dotted key: in the document, or
    in the query for a table in a list. `table_path` is the part of it that the label says, `key_path` the part that the
    message says.
    """

    def __init__(self, content: Mapping[str, Any], label: str, table_path: str = "", key_path: str = "") -> None:
        self.label = label
        self._table_path, self._key_path = table_path, key_path
        self._content = content
        self._read_keys: set[str] = set()
        self._expected_keys: frozenset[str] = frozenset()

    def expect(self, keys: Iterable[str]) -> None:
        """Name keys that are read later: none of them is taken for a misspelling of one that is missing."""
        self._expected_keys = frozenset(keys)

    def columns(self) -> list[str]:
        """The keys."""
        return list(self._content)

    def with_label(self, label: str) -> Fields:
        """The same fields under another label for error messages."""
        renamed_fields = Fields(self._content, label, self._table_path, self._key_path)
        renamed_fields._read_keys, renamed_fields._expected_keys = self._read_keys, self._expected_keys
        return renamed_fields

    def error(self, key: str, problem: str, hint: str | None = None) -> InputError:
        """The error of a key: `problem` says what it must be."""
        path = f"{self._key_path}{key}"
        return InputError(f"{path} {problem}", f"{self._table_path}{path}", hint, context=self.label)

    def locate(self, error: InputError, key: str | None = None) -> InputError:
        """An error raised elsewhere about these fields; about this key, if it is given."""
        named = error if key is None else error.about(f"{self._table_path}{self._key_path}{key}")
        return named.within(self.label)

    def raw(self, key: str, default: Any = _MISSING) -> Any:
        """The value of a key, unchecked."""
        self._read_keys.add(key)
        if key in self._content:
            return self._content[key]
        if default is not _MISSING:
            return default
        known_keys = self._read_keys | self._expected_keys
        similar_keys = _similar_keys(key, (k for k in self._content if k not in known_keys))
        hint = f'is "{similar_keys[0][:40]}" a misspelling of it?' if similar_keys else "add it"
        raise self.error(key, "is missing", hint)

    def value(self, key: str) -> Any:
        """The value of a required key, unchecked."""
        return self.raw(key)

    def text(self, key: str, default: Any = _MISSING) -> Any:
        """A text, or the default."""
        value = self.raw(key, default)
        if value is default:
            return default
        if not isinstance(value, str):
            raise self._wrong_type(key, "a text in quotes", value)
        if len(value) > MAX_TEXT_CHARS or "\0" in value:
            raise self.error(key, f"must be a text of at most {MAX_TEXT_CHARS} characters, without NUL")
        return value

    def integer(self, key: str, default: Any = _MISSING) -> Any:
        """A whole number, or the default."""
        value = self.raw(key, default)
        if value is default:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong_type(key, "a whole number", value)
        if abs(value) >= INTEGER_LIMIT:
            raise self.error(key, "must be a whole number of fewer than 1000 digits")
        return value

    def truth(self, key: str, default: Any = _MISSING) -> Any:
        """True or false, or the default."""
        value = self.raw(key, default)
        if value is not default and not isinstance(value, bool):
            raise self._wrong_type(key, "true or false", value)
        return value

    def number(self, key: str, alternative: str = "") -> Fraction:
        """A number, exactly: 0.1 is 1/10, and "1/3" is a third."""
        raw_value = self.raw(key)
        if isinstance(raw_value, bool) or not isinstance(raw_value, int | str | Decimal | Fraction | float):
            raise self._wrong_type(key, f"a number{alternative}", raw_value)
        if _is_too_long(raw_value):
            raise self.error(key, "must be a shorter number")
        try:
            value = rational(str(raw_value) if isinstance(raw_value, Decimal) else raw_value, f"{self._key_path}{key}")
        except InputError as problem:
            raise self.locate(problem, key) from None
        if max(abs(value.numerator), value.denominator) >= INTEGER_LIMIT:
            raise self.error(key, "must be a shorter number")
        return value

    def numbers(self, key: str) -> list[Fraction]:
        """A list of numbers, exactly; a text may have them with commas between them."""
        value = self.raw(key)
        items = value.split(",") if isinstance(value, str) else self.items(key)
        return [self._item(key, item.strip() if isinstance(item, str) else item) for item in items]

    def _item(self, key: str, item: Any) -> Fraction:
        return Fields({key: item}, self.label, self._table_path, self._key_path).number(key)

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self.raw(key)
        if not isinstance(value, list):
            raise self._wrong_type(key, "a list in [ ]", value)
        return value

    def table(self, key: str, default: Any = _MISSING) -> Any:
        """A table as fields of its own, or the default (an empty one stands for a table without keys)."""
        value = self.raw(key, default)
        if value is None and default is None:
            return None
        if not isinstance(value, dict):
            form = f"[{key}]" if self.label == "plan" else f"{key} = {{ name = ... }}"
            raise self._wrong_type(key, f"a table: {form}", value)
        if self.label == "plan":
            return Fields(value, f"[{key}]", f"{key}.")
        return Fields(value, self.label, self._table_path, f"{self._key_path}{key}.")

    def tables(self, key: str) -> list[Fields]:
        """A list of tables."""
        value = self.raw(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._wrong_type(key, f"a list of tables: [[{key}]]", value)
        return [Fields(item, f"{key} {k}") for k, item in enumerate(value, 1)]

    def finish(self) -> None:
        """Refuse the keys that were never read."""
        for key in self._content:
            if key not in self._read_keys:
                similar_keys = _similar_keys(str(key), self._read_keys)
                hint = (
                    f"did you mean {similar_keys[0]}?"
                    if similar_keys
                    else f"the keys are {', '.join(sorted(self._read_keys))}"
                )
                path = f"{self._key_path}{str(key)[:40]}"
                message = f'"{path}" is not known here'
                raise InputError(message, f"{self._table_path}{path}", hint, context=self.label)

    def _wrong_type(self, key: str, expected: str, value: object) -> InputError:
        fallback = "a date or time" if isinstance(value, date | time) else "nothing" if value is None else "a number"
        kind = _TYPE_NAMES.get(type(value), fallback)
        return self.error(key, f"must be {expected}, got {kind}")
