"""What a channel is made of: entries of one kind, rows that sum to 1, labels that differ.

Arrays, data frames and lists become one matrix. Doubles stay doubles: their rows sum to 1 up to rounding. `normalise`
makes them exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import ChannelError
from utmost.exact import Number, number, sign

Label: TypeAlias = str | int
Matrix: TypeAlias = npt.NDArray[Any]  # of objects (exact numbers) or of float64
ROW_SUM_TOLERANCE = 1e-9  # how far the row of a float channel may be from 1
MAX_LABEL_CHARS = 40  # of a label in a message
NORMALISE_HINT = "channel.normalise divides each row by its exact sum"


def rows_of(source: object) -> Matrix | Sequence[Any]:
    """The rows of a list of lists, an array, a data frame or a sparse matrix.

    >>> rows_of([[1, 0]]), rows_of(np.float32([[1, 0]])).dtype
    ([[1, 0]], dtype('float64'))
    """
    if isinstance(source, str | bytes | dict) or (not _is_array_like(source) and not isinstance(source, Iterable)):
        raise ChannelError(f"rows must be a list of rows or an array, got {type(source).__name__}", "rows")
    if callable(getattr(source, "toarray", None)):  # a sparse matrix of scipy
        source = source.toarray()  # type: ignore[attr-defined]
    array = np.asarray(source) if _is_array_like(source) else None
    if array is None:
        return [list(row) if isinstance(row, tuple | np.ndarray) else row for row in source]  # type: ignore[attr-defined]
    if np.ma.is_masked(source):
        raise ChannelError("entries must be numbers, got some that are masked", "rows", "fill them in")
    if array.ndim != 2:
        raise ChannelError(f"rows must be an array of 2 dimensions, got {array.ndim}", "rows")
    if array.dtype.kind not in "fiuOU":
        raise ChannelError(f"entries must be numbers, got an array of {array.dtype.name}", "rows")
    return array.astype(np.float64) if array.dtype.kind == "f" else array.astype(object)


def _is_array_like(source: object) -> bool:
    return hasattr(type(source), "__array__") or callable(getattr(source, "toarray", None))


def frame_labels(source: object) -> tuple[Iterable[Label] | None, Iterable[Label] | None]:
    """The labels of the rows and columns of a data frame of pandas; (None, None) of anything else."""
    if not hasattr(source, "to_numpy") or not hasattr(source, "iloc") or not hasattr(source, "columns"):
        return None, None
    return tuple(getattr(source, "index")), tuple(source.columns)  # noqa: B009


def entry_matrix(rows: Matrix | Sequence[Any], inputs: Sequence[Label]) -> Matrix:
    """A new matrix of the entries: float64 if they are floats, objects if they are exact."""
    if isinstance(rows, np.ndarray) and rows.dtype == np.float64:
        return rows.copy()
    if any(isinstance(value, float | np.floating) for row in rows for value in row):
        if not all(isinstance(value, float | np.floating) or value in (0, 1) for row in rows for value in row):
            raise ChannelError(
                "entries must be all exact or all floats: a float beside a fraction is an accident", "entries"
            )
        return np.array(rows, dtype=float)
    matrix = np.empty((len(rows), len(rows[0])), dtype=object)
    for x, row in enumerate(rows):
        matrix[x] = [number(_plain(value), f"entry of row {label_text(inputs[x])}") for value in row]
    return matrix


def _plain(value: object) -> object:
    """A number of numpy as one of Python."""
    return int(value) if isinstance(value, np.integer) else value


def row_width(rows: Matrix | Sequence[Any]) -> int:
    """How many entries each row has; rows of different lengths are refused."""
    if not all(isinstance(row, np.ndarray | Sequence) and not isinstance(row, str | bytes) for row in rows):
        raise ChannelError("rows must be lists of entries, one for each input, got something else", "rows")
    if not len(rows) or not len(rows[0]):
        raise ChannelError("a channel must have at least one input and one output")
    for x, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ChannelError(f"row {x} must have {len(rows[0])} entries as the first one, got {len(row)}")
    return len(rows[0])


def check_labels(labels: Iterable[Label] | None, count: int, kind: str) -> tuple[Label, ...]:
    """As many labels as there are rows or columns, all different: 0, 1, … where there are none.

    Numbers of numpy become Python's, labels that are neither text nor whole numbers become text.
    """
    if labels is None:
        return tuple(range(count))
    if isinstance(labels, bytes) or not isinstance(labels, Iterable):
        raise ChannelError(f"{kind} must be a list, got {type(labels).__name__}", kind)
    names = tuple(_label(label) for label in labels)
    distinct = len(set(names))
    if len(names) != count or distinct != count:
        twice = next((label for k, label in enumerate(names) if label in names[:k]), None)
        problem = f", {label_text(twice)!r} twice" if twice is not None else ""
        raise ChannelError(f"a channel of this shape must have {count} distinct {kind}, got {distinct}{problem}", kind)
    return names


def _label(label: Any) -> Label:
    if isinstance(label, np.integer) or (isinstance(label, int) and not isinstance(label, bool)):
        return int(label)
    return str(label)


def label_text(label: object) -> str:
    """A label in a message."""
    return str(label)[:MAX_LABEL_CHARS]


def check_rows(matrix: Matrix, inputs: Sequence[Label], outputs: Sequence[Label]) -> None:
    """Refuse an entry below 0, and a row that does not sum to 1: exactly, or within 1e-9 where entries are floats."""
    if matrix.dtype != object:
        _check_float_rows(matrix, inputs, outputs)
        return
    for x, row in enumerate(matrix):
        for y, value in enumerate(row):
            if sign(value) < 0:
                raise _entry_error(value, inputs[x], outputs[y])
        total = row.sum()
        if total != 1:
            raise ChannelError(f"row {label_text(inputs[x])} must sum to 1, got {total}", "rows")


def _check_float_rows(matrix: Matrix, inputs: Sequence[Label], outputs: Sequence[Label]) -> None:
    for x, y in np.argwhere(~((matrix >= 0) & np.isfinite(matrix)))[:1]:
        raise _entry_error(matrix[x, y], inputs[x], outputs[y])
    totals = matrix.sum(axis=1)
    for x in np.flatnonzero(~(np.abs(totals - 1) <= ROW_SUM_TOLERANCE))[:1]:
        raise ChannelError(
            f"row {label_text(inputs[x])} must sum to 1, got {float(totals[x])!r}", "rows", NORMALISE_HINT
        )


def _entry_error(value: object, x: Label, y: Label) -> ChannelError:
    place = f"entry ({label_text(x)}, {label_text(y)})"
    return ChannelError(f"{place} must be a probability, got {label_text(value)}", "rows")


def normal_rows(matrix: Matrix, inputs: Sequence[Label], outputs: Sequence[Label]) -> Matrix:
    """Each row divided by its sum, exact: a double is the fraction that it is."""
    rows = np.empty(matrix.shape, dtype=object)
    for x, row in enumerate(matrix.tolist()):
        weights: list[Number] = [_weight(value, inputs[x], outputs[y]) for y, value in enumerate(row)]
        total = sum(weights, Fraction(0))
        if not total:
            raise ChannelError(f"row {label_text(inputs[x])} must have an entry above 0, got zeros alone", "rows")
        rows[x] = [weight / total for weight in weights]
    return rows


def _weight(value: Any, x: Label, y: Label) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value) or value < 0:
            raise _weight_error(value, x, y)
        return Fraction(value)
    if sign(value) < 0:
        raise _weight_error(value, x, y)
    return value  # type: ignore[no-any-return]


def _weight_error(value: object, x: Label, y: Label) -> ChannelError:
    place = f"entry ({label_text(x)}, {label_text(y)})"
    return ChannelError(f"{place} must be a weight, a number >= 0, got {label_text(value)}", "rows")
