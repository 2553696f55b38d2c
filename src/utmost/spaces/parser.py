"""Spaces as the command line writes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path

from utmost.errors import InputError
from utmost.exact import integer, number
from utmost.spaces import files
from utmost.spaces.compound_spaces import product_space, scale_space
from utmost.spaces.space import Space
from utmost.spaces.standard_spaces import cycle, discrete, grid, hamming, line

FORMS = (
    "line:N, discrete:N, grid:RxC, grid:RxC:manhattan, hamming:N, cycle:N, matrix:FILE, graph:FILE, "
    "a product A+B or a multiple 1/2*A"
)
MAX_SPACE_NESTING = 20  # nested parentheses
MAX_SPACE_CHARS = 4096  # characters


def parse_space(text: str) -> Space:
    """The space that the command line means.

    >>> (
    ...     parse_space("line:3").labels,
    ...     len(parse_space("2*(hamming:2+1/3*cycle:5)")),
    ...     parse_space("grid:2x2:manhattan").distance(0, 3),
    ... )
    ((0, 1, 2), 20, Fraction(2, 1))
    """
    if len(text) > MAX_SPACE_CHARS:
        raise InputError(f"space must be written in at most {MAX_SPACE_CHARS} characters, got {len(text)}")
    return _sum(text.strip(), 0)


def _refusal(text: str) -> InputError:
    got = f'"{text[:40]}"' if text else "nothing"
    return InputError(f"space must be {FORMS}, got {got}")


def _sum(text: str, depth: int) -> Space:
    """A+B, where + is outside of parentheses."""
    if depth > MAX_SPACE_NESTING:
        raise _refusal(text)
    if _file(text) is not None:
        return _atom(text)
    return reduce(product_space, [_multiple(part.strip(), depth) for part in _split(text, "+")])


def _multiple(text: str, depth: int) -> Space:
    """1/2*A, (A) or a space with a name."""
    factor, *rest = _split(text, "*", 1) if _file(text) is None else [text]
    if rest:
        if "-" in factor.strip().lstrip("-") and len(_split(factor, "-")) > 1:
            raise _refusal(text)
        return scale_space(_multiple(rest[0].strip(), depth), number(factor, "factor of a space"))
    if text.startswith("(") and text.endswith(")"):
        return _sum(text[1:-1].strip(), depth + 1)
    return _atom(text)


def _split(text: str, sign: str, most: int = -1) -> list[str]:
    """The parts between signs that stand outside of parentheses."""
    parts: list[str] = []
    depth = start = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == sign and depth == 0 and most != len(parts):
            parts.append(text[start:k])
            start = k + 1
    return [*parts, text[start:]]


def _file(text: str) -> str | None:
    """The name of the file, if the text is one space in a file that exists."""
    kind, _, rest = text.partition(":")
    try:
        return rest if kind in FILES and Path(rest).is_file() else None
    except (OSError, ValueError):
        return None


def _atom(text: str) -> Space:
    kind, _, rest = text.partition(":")
    if kind in FILES and rest:
        return FILES[kind](rest)
    if kind in COUNTED and rest:
        return COUNTED[kind](integer(rest, f"space {kind}:N"))
    if kind == "grid" and rest:
        return _grid(rest, text)
    raise _refusal(text)


def _grid(size: str, text: str) -> Space:
    sides, _, metric = size.partition(":")
    rows, _, columns = sides.partition("x")
    if not rows or not columns or "x" in columns or metric not in ("", "euclidean", "manhattan"):
        raise _refusal(text)
    height, width = integer(rows, "rows of a grid"), integer(columns, "columns of a grid")
    return grid(height, width, "manhattan" if metric == "manhattan" else "euclidean")


FILES: dict[str, Callable[[str], Space]] = {"matrix": files.read_distances, "graph": files.read_graph}
COUNTED: dict[str, Callable[[int], Space]] = {
    "line": line,
    "discrete": discrete,
    "hamming": hamming,
    "cycle": cycle,
}
