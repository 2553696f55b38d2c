"""Files that densities are read from: bins with weights, or points with heights."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from utmost.consumer.files import json_list, read_text
from utmost.errors import InputError
from utmost.exact import rational

MAX_ROWS = 100_000


def read_bins(path: Path) -> tuple[list[Fraction], list[Fraction]]:
    """The edges and masses of a histogram: rows `from,to,weight`, bins that touch, weights divided by their sum."""
    rows = _read_rows(path, 3, "bins from,to,weight")
    if any(before[1] != after[0] for before, after in pairwise(rows)):
        raise InputError("prior must have bins that touch: each begins where the one before it ends", "prior")
    weights = [row[2] for row in rows]
    return [rows[0][0], *(row[1] for row in rows)], _normalize(weights, sum(weights, Fraction(0)))


def read_points(path: Path) -> list[tuple[Fraction, Fraction]]:
    """The points of a broken line: rows `x,height`, heights divided by their integral."""
    rows = _read_rows(path, 2, "points x,height")
    area = sum(((v - u) * (a + b) / 2 for (u, a), (v, b) in pairwise(rows)), Fraction(0))
    return list(zip([row[0] for row in rows], _normalize([row[1] for row in rows], area), strict=True))


def _normalize(values: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    if total <= 0:
        raise InputError(
            "prior must have a total > 0: weights and heights are not all 0, nor negative, and x increases", "prior"
        )
    return [value / total for value in values]


def _read_rows(path: Path, width: int, form: str) -> list[list[Fraction]]:
    """The rows of numbers of a CSV file without a header, or of a JSON list of lists; messages quote no entry."""
    text = read_text(path, "prior")
    rows = json_list(text, "prior")
    if rows is None:
        try:
            rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
        except csv.Error:
            raise InputError(
                f"prior must be in a CSV or JSON file of {form}, got one that is neither", "prior"
            ) from None
    if not 1 <= len(rows) <= MAX_ROWS:
        raise InputError(f"prior must be in a file of 1 to {MAX_ROWS} {form}, got {len(rows)}", "prior")
    return [_parse_row(row, row_number, width, form) for row_number, row in enumerate(rows, start=1)]


def _parse_row(row: object, row_number: int, width: int, form: str) -> list[Fraction]:
    if not isinstance(row, list) or len(row) != width:
        raise InputError(f"prior must be in a file of {form}, got another number of cells in row {row_number}", "prior")
    try:
        return [rational(cell, "prior") for cell in row]
    except InputError:
        raise InputError(
            f"prior must be in a file of {form}, got no rational number in row {row_number}", "prior"
        ) from None
