"""The families of spaces, in the order of help, and the parser of their text form, such as `line:6`."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

from utmost.errors import InputError
from utmost.exact import number
from utmost.registry import Registry
from utmost.spaces.compound_spaces import product_space, scale_space
from utmost.spaces.cycle import CYCLE
from utmost.spaces.discrete import DISCRETE
from utmost.spaces.files import GRAPH, MATRIX
from utmost.spaces.grid import GRID
from utmost.spaces.hamming import HAMMING
from utmost.spaces.line import LINE
from utmost.spaces.space import Space, SpaceFamily

SPACES: Registry[SpaceFamily] = Registry("space", [LINE, DISCRETE, GRID, HAMMING, CYCLE, MATRIX, GRAPH])


def forms(*, files: bool = True) -> str:
    """What may be written for a space, as a list in words; without `files` only what names no file.

    >>> forms(files=False)[-53:]
    'hamming:3, cycle:5, a product A+B or a multiple 1/2*A'
    """
    named = ", ".join(family.list_entry for family in SPACES if files or not family.reads_files)
    return f"{named}, a product A+B or a multiple 1/2*A"


MAX_SPACE_NESTING = 20  # nested parentheses
MAX_SPACE_CHARS = 4096  # characters


def parse_space(text: str) -> Space:
    """The space that a text names.

    >>> (
    ...     parse_space("line:3").labels,
    ...     len(parse_space("2*(hamming:2+1/3*cycle:5)")),
    ...     parse_space("grid:2x2:manhattan").distance(0, 3),
    ... )
    ((0, 1, 2), 20, Fraction(2, 1))
    """
    if len(text) > MAX_SPACE_CHARS:
        raise InputError(f"space must be written in at most {MAX_SPACE_CHARS} characters, got {len(text)}", "space")
    return _parse_sum(text.strip(), 0)


def _syntax_error(text: str) -> InputError:
    quoted = f'"{text[:40]}"' if text else "nothing"
    return InputError(f"space must be {forms()}, got {quoted}", "space", SPACES.similar(text))


def _parse_sum(text: str, depth: int) -> Space:
    """A+B, where + is outside of parentheses."""
    if depth > MAX_SPACE_NESTING:
        raise _syntax_error(text)
    if _file_name(text) is not None:
        return _parse_atom(text)
    return reduce(
        product_space, [_parse_multiple(term.strip(), depth) for term in _split_outside_parentheses(text, "+")]
    )


def _parse_multiple(text: str, depth: int) -> Space:
    """1/2*A, (A) or a space with a name."""
    factor, *rest = _split_outside_parentheses(text, "*", 1) if _file_name(text) is None else [text]
    if rest:
        if "-" in factor.strip().lstrip("-") and len(_split_outside_parentheses(factor, "-")) > 1:
            raise _syntax_error(text)
        return scale_space(_parse_multiple(rest[0].strip(), depth), number(factor, "factor of a space"))
    if text.startswith("(") and text.endswith(")"):
        return _parse_sum(text[1:-1].strip(), depth + 1)
    return _parse_atom(text)


def _split_outside_parentheses(text: str, sign: str, max_splits: int = -1) -> list[str]:
    """The parts between signs that stand outside of parentheses."""
    pieces: list[str] = []
    depth = start = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == sign and depth == 0 and max_splits != len(pieces):
            pieces.append(text[start:k])
            start = k + 1
    return [*pieces, text[start:]]


def _file_name(text: str) -> str | None:
    """The name of the file, if the text is one space in a file that exists."""
    kind, _, rest = text.partition(":")
    family = SPACES.find(kind)
    try:
        return rest if family is not None and family.reads_files and Path(rest).is_file() else None
    except (OSError, ValueError):
        return None


def _parse_atom(text: str) -> Space:
    kind, _, rest = text.partition(":")
    family = SPACES.find(kind)
    with SPACES.input_errors(text):
        space = family.parse(rest) if family is not None and rest else None
    if space is None:
        raise _syntax_error(text)
    return space
