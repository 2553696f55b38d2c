"""The families of spaces that have a name, in the order of help."""

from __future__ import annotations

from utmost.registry import Registry
from utmost.spaces.cycle import CYCLE
from utmost.spaces.discrete import DISCRETE
from utmost.spaces.files import GRAPH, MATRIX
from utmost.spaces.grid import GRID
from utmost.spaces.hamming import HAMMING
from utmost.spaces.line import LINE
from utmost.spaces.shapes import SpaceFamily

SPACES: Registry[SpaceFamily] = Registry("space", [LINE, DISCRETE, GRID, HAMMING, CYCLE, MATRIX, GRAPH])


def forms(*, files: bool = True) -> str:
    """What may be written for a space, as a list in words; without `files` only what names no file.

    >>> forms(files=False)[-53:]
    'hamming:3, cycle:5, a product A+B or a multiple 1/2*A'
    """
    named = ", ".join(family.list_entry for family in SPACES if files or not family.reads_files)
    return f"{named}, a product A+B or a multiple 1/2*A"
