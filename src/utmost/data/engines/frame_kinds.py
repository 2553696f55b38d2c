"""All kinds of data frames. A new kind is a `FrameKind` and its place in `FRAME_KINDS`."""

from __future__ import annotations

from utmost.data.engines.engine import run_guarded
from utmost.data.engines.frame_queries import IBIS_TABLE, RELATION
from utmost.data.engines.frame_readers import ARROW_READERS, ARROW_STREAM, COLUMN_KINDS, LIBRARY_FRAMES, FrameKind
from utmost.errors import InputError

FRAME_KINDS: tuple[FrameKind, ...] = (*LIBRARY_FRAMES, RELATION, IBIS_TABLE)
COLUMN_HINT = "give a frame that has it: its to_frame(), or a table with a name for it"


def find_frame_kind(data: object) -> FrameKind:
    """The kind of a frame; what is none is refused, also where it fails when it is asked what it is."""
    return run_guarded(lambda: _frame_kind(data), f"data must be a data frame, got {type(data).__name__} that fails")


def _frame_kind(data: object) -> FrameKind:
    kind = next((kind for kind in FRAME_KINDS if kind.recognises(data)), None)
    if kind is not None:
        return kind
    if ARROW_READERS.recognises(data):
        problem = "data must be a frame that can be read more than once, got a RecordBatchReader"
        raise InputError(problem, "data", "give its read_all()")
    column = next((kind for kind in COLUMN_KINDS if kind.recognises(data)), None)
    if column is not None:
        problem = f"data must be a frame with named columns, got {column.words}, which is a column by itself"
        raise InputError(problem, "data", COLUMN_HINT)
    if not isinstance(data, type) and callable(getattr(data, "__arrow_c_stream__", None)):
        return ARROW_STREAM
    titles = ", ".join(kind.title for kind in FRAME_KINDS)
    problem = f"data must be a data frame ({titles}, or an object with __arrow_c_stream__), got {type(data).__name__}"
    raise InputError(problem, "data", "convert it to one of those")
