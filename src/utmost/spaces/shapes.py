"""The spaces that have a name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from utmost.errors import InputError
from utmost.exact import whole
from utmost.spaces.space import LARGEST, Label, Space, integer_distances


def line(points: int) -> Space:
    """The counts 0 … points−1 with distance |x − x′|: what one person can change of a count.

    >>> line(6).distance(1, 4), line(6).edges
    (Fraction(3, 1), ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)))
    """
    size = checked(whole(points, "points of a line"), "line")
    positions = np.arange(size)
    distances = integer_distances(np.abs(positions[:, None] - positions[None, :]))
    return Space(f"line:{size}", tuple(range(size)), distances, tuple((k, k + 1) for k in range(size - 1)))


def databases(values: Sequence[Label], rows: int) -> Space:
    """All tables of `rows` rows over `values`, at the number of rows in which they differ (Hamming distance).

    >>> databases("ab", 2).labels
    ('aa', 'ab', 'ba', 'bb')
    """
    if not 0 <= rows <= LARGEST.bit_length() or not values:
        raise InputError(f"databases must have at least one value and 0 to {LARGEST.bit_length()} rows, got {rows}")
    size = checked(len(values) ** rows, f"databases of {rows} rows")
    tables = np.array(list(product(range(len(values)), repeat=rows))).reshape(size, rows)
    differing = (tables[:, None, :] != tables[None, :, :]).sum(axis=2)
    labels = tuple("".join(str(values[k]) for k in table) for table in tables)
    if len(set(labels)) != size:
        raise InputError("values of a database must be distinct when written one after another")
    edges = tuple((int(x), int(y)) for x, y in np.argwhere(np.triu(differing == 1)))
    return Space(f"databases:{len(values)}^{rows}", labels, integer_distances(differing), edges)


def checked(size: int, name: str) -> int:
    """A number of points that can be written out."""
    if not 1 <= size <= LARGEST:
        shown = size if size < 10**15 else f"about 10^{math.floor(math.log10(size))}"
        raise InputError(
            f"{name} must have 1 to {LARGEST} points, got {shown}: larger counts are read without a matrix"
        )
    return size


def parse(text: str) -> Space:
    """The space that the command line means: `line:6`.

    >>> parse("line:3").labels
    (0, 1, 2)
    """
    kind, _, size = text.partition(":")
    if kind != "line" or not size:
        raise InputError(f'space must be line:N, for instance line:6 for the counts 0 to 5, got "{text[:40]}"')
    return line(whole(size, "points of a line"))
