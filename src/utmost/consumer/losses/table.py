"""Losses given entry by entry."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from utmost.consumer.family import json_list, read_text
from utmost.consumer.losses.loss import Exacts, Floats, Loss, LossFamily
from utmost.errors import InputError
from utmost.exact import Number, number, sign
from utmost.result_values import short_repr
from utmost.spaces import Label

MAX_TABLE_SIDE = 4096


def _distinct_entries(rows: tuple[tuple[Number | float, ...], ...]) -> Iterable[Number | float]:
    """Each object among the entries once: distances of many points are few numbers, and dear to convert."""
    return {id(value): value for row in rows for value in row}.values()


@dataclass(frozen=True, slots=True)
class Table(Loss):
    """A loss given entry by entry: row i is the truth, column j the reading. If one entry is a float, all are.

    There may be more or fewer columns than rows: then the readings are not the secrets themselves but actions.
    `labels` are the secrets' names, where it is known whose losses these are: the rows of channels are matched by them.

    >>> matrix([[0, 1], [3, 0]]).exact(1, 0)
    Fraction(3, 1)
    """

    __repr__ = short_repr

    rows: tuple[tuple[Number | float, ...], ...]
    name: str = "matrix"
    labels: tuple[Label, ...] | None = None
    _floats: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            double_of_id = {id(value): float(value) for value in _distinct_entries(self.rows)}
        except OverflowError:
            raise InputError(
                "loss must be at most 1e308 in every entry, got a larger one", "loss", "scale the loss"
            ) from None
        floats = [[double_of_id[id(value)] for value in row] for row in self.rows]
        object.__setattr__(self, "_floats", np.array(floats, dtype=np.float64))

    @property
    def is_exact(self) -> bool:
        """Are the entries exact; they are all so, or all doubles."""
        return not isinstance(self.rows[0][0], float)

    @property
    def monotone(self) -> bool:
        """Does no row fall away from its truth, to either side; decided in doubles."""
        height, width = self._floats.shape
        rises = np.diff(self._floats, axis=1)
        is_beyond_truth = np.arange(width - 1)[None, :] >= np.arange(height)[:, None]
        return bool(np.all(np.where(is_beyond_truth, rises, -rises) >= 0))

    @property
    def ignores_distance(self) -> bool:
        """Its entries are what they are."""
        return True

    def action_count(self, size: int) -> int:
        """The number of columns."""
        return int(self.matrix(size).shape[1])

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        value = self.rows[i][j]
        if isinstance(value, float):
            raise InputError(
                "loss must have exact entries here, got floats", "loss", 'write them as text, for instance "1/3"'
            )
        return value

    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""
        return np.asarray(self._floats[np.asarray(truth), np.asarray(reading)])

    def matrix(self, size: int) -> Exacts:
        """As given: exact entries come out exact, floats come out as floats."""
        width = len(self.rows[0])
        if len(self.rows) != size:
            raise InputError(
                f"loss must be a matrix of {size} rows, one for each secret, got {len(self.rows)} x {width}", "loss"
            )
        result = np.empty((size, width), dtype=object)
        for i, row in enumerate(self.rows):
            result[i, :] = row
        return result

    def check(self, size: int) -> None:
        """Refuses a table that is not size × size: one whose readings are not the secrets."""
        if len(self.rows) != size or len(self.rows[0]) != size:
            raise InputError(
                f"loss must be a matrix of {size} rows and columns, one for each count, "
                f"got {len(self.rows)} x {len(self.rows[0])}",
                "loss",
            )


def matrix(rows: Sequence[Sequence[object]]) -> Table:
    """The loss with these entries, each ≥ 0; exact ("1/3", 2, Fraction) or float. A row a secret, a column a reading.

    >>> matrix([["0", "1/2"], [1, 0]]).rows
    ((Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 1), Fraction(0, 1)))
    """
    size = len(rows)
    width = len(rows[0]) if size else 0
    if not 1 <= size <= MAX_TABLE_SIDE or not 1 <= width <= MAX_TABLE_SIDE:
        raise InputError(
            f"loss must be a matrix of 1 to {MAX_TABLE_SIDE} rows and columns, got {size} x {width}", "loss"
        )
    for i, row in enumerate(rows):
        if len(row) != width:
            raise InputError(f"loss must have {width} entries in row {i} as in the first one, got {len(row)}", "loss")
    floats = any(isinstance(value, float) for row in rows for value in row)
    parse_entry = _float_entry if floats else _exact_entry
    return Table(tuple(tuple(parse_entry(value) for value in row) for row in rows))


def _exact_entry(value: object) -> Number:
    result = number(int(value) if isinstance(value, np.integer) else value, "loss")
    if sign(result) < 0:
        raise InputError(f"loss must be >= 0 in every entry, got {result}", "loss", "add a constant to the row")
    return result


def _float_entry(value: object) -> float:
    result = float(value) if isinstance(value, float | np.integer) else float(number(value, "loss"))
    if not 0 <= result < float("inf"):
        raise InputError(f"loss must be a finite number >= 0 in every entry, got {result}", "loss")
    return result


def _read_rows(path: Path) -> list[list[str]]:
    """The rows of a CSV file without a header, or of a JSON list of lists (its decimals are read exactly)."""
    text = read_text(path, "loss")
    rows = json_list(text, "loss")
    if rows is not None:
        return [list(row) if isinstance(row, list) else [row] for row in rows]
    try:
        return [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    except csv.Error:
        raise InputError(f"loss must be in a CSV or JSON file, got one that is neither: {path.name}", "loss") from None


MATRIX = LossFamily(
    kind="matrix",
    example="matrix:FILE",
    meaning="as written",
    reads_files=True,
    parse=lambda path: matrix(_read_rows(Path(path))),
)
