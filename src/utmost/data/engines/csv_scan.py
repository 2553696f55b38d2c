"""Check the bytes of a CSV file before it is read: one line is one row, whatever stands in the others.

An engine that meets an unmatched quote reads on to the next one, and rows that are not at fault disappear. So a file is
refused whole, before anything is charged, unless it is UTF-8 without NUL; its lines end in LF or CR LF, with no other
CR; no line is blank or longer than MAX_LINE_BYTES; and a quote stands only at either end of a value, or doubled inside
a value in quotes that ends on its line. Every engine splits such a file at its line ends and nowhere else.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from utmost.errors import InputError

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 2_000_000  # of a line with its end
LF, CR, SPACE, QUOTE, COMMA = b'\n\r ",'
RULES = {
    "text": ("text in UTF-8 without NUL characters", "save it as UTF-8"),
    "ends": ("lines that end in LF or CR LF, and no other CR", "save it with one kind of line ends"),
    "blank": ("no blank line", 'remove such lines, and write "" for a missing value of an only column'),
    "length": (f"lines of at most {MAX_LINE_BYTES} bytes", "leave columns out, or convert it to Parquet"),
    "quotes": (
        "quotes only around a value on one line, and doubled inside it",
        "mend its quotes; if its values have line breaks, convert it to Parquet",
    ),
}
BEFORE_OPENING, AFTER_CLOSING = np.zeros(256, bool), np.zeros(256, bool)
BEFORE_OPENING[[LF, COMMA, QUOTE]] = AFTER_CLOSING[[LF, CR, COMMA, QUOTE]] = True


def count_rows(path: Path) -> int:
    """How many lines follow the first. A file that breaks a rule is refused, without saying in which line."""
    lines = 0
    for block in _read_lines(path):
        rule = _broken_rule(block)
        if rule is not None:
            what, remedy = RULES[rule]
            raise InputError(f"location must be a CSV file with {what}, got {path.name!r}", "location", remedy)
        lines += block.count(b"\n")
    return lines - 1


def _read_lines(path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines, or of the start of a line that is too long; the last line ends like others."""
    with path.open("rb") as file:
        rest = file.read(len(BOM_UTF8)).removeprefix(BOM_UTF8)
        while chunk := file.read(CHUNK_BYTES):
            head, newline, tail = chunk.rpartition(b"\n")
            if newline:
                yield rest + head + newline
                rest = tail
            else:
                rest += chunk
            if len(rest) > MAX_LINE_BYTES:
                break
    if rest:
        yield rest + b"\r\n"


def _broken_rule(block: bytes) -> str | None:
    """The first rule that the lines break."""
    array = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(array == LF)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if int((ends - starts).max()) >= MAX_LINE_BYTES:
        return "length"
    if b"\0" in block or not _is_utf8(block):
        return "text"
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return "ends"
    if (array[starts] <= SPACE).any() and int(np.maximum.reduceat(array, starts).min()) <= SPACE:
        return "blank"
    return "quotes" if QUOTE in block and not _are_quotes_matched(array, ends) else None


def _is_utf8(block: bytes) -> bool:
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


def _are_quotes_matched(array: NDArray[np.uint8], ends: NDArray[np.intp]) -> bool:
    """Whether every line has quotes in pairs, each around a value; a doubled quote is the end of one and a start.

    The line end that closes the array stands before its first byte too, as index −1.
    """
    quotes = np.flatnonzero(array == QUOTE)
    if (np.searchsorted(quotes, ends) % 2).any():
        return False
    opening, closing = quotes[::2], quotes[1::2]
    return bool(BEFORE_OPENING[array[opening - 1]].all() and AFTER_CLOSING[array[closing + 1]].all())
