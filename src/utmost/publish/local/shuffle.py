"""A uniformly random order of rows, of any number, in bounded memory.

Few rows are put in a random order in memory. More are thrown into files first, each row into one of 64 by a fair
draw, and each file is ordered so, by the same rule; one file after the other is a uniformly random order of all rows
(Rao 1961, Sandelius 1962). What the files hold is already obfuscated, but for columns that are kept as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.noise.entropy import EntropySource, entropy_source
from utmost.publish.local.table_files import ROWS_PER_PIECE, hide_engine_errors

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES_IN_MEMORY = 1 << 24  # bytes put in order in memory
BUCKET_BITS = 6  # bits: 64 files at a time


def shuffle_rows(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path,
    source: EntropySource | None = None,
    max_bytes: int = MAX_BYTES_IN_MEMORY,
) -> Iterator[pa.RecordBatch]:
    """The same rows in a uniformly random order; `folder` is for files, which are removed as they are read."""
    entropy, stream, first_batches = entropy_source(source), iter(batches), []
    size = rows = 0
    for batch in stream:
        first_batches.append(batch)
        size, rows = size + batch.nbytes, rows + batch.num_rows
        if size > max_bytes and rows > 1 << BUCKET_BITS:
            break
    else:
        yield from _permute_batches(first_batches, schema, entropy)
        return
    parts_folder = folder / "parts"
    for path in _scatter_rows(chain(first_batches, stream), schema, parts_folder, entropy):
        yield from shuffle_rows(_read_batches(path), schema, parts_folder, entropy, max_bytes)
        path.unlink()
    parts_folder.rmdir()


def permutation(count: int, source: EntropySource) -> npt.NDArray[np.intp]:
    """A uniformly random order of 0 … count−1: that of random words, drawn again where two are equal."""
    while True:
        keys = source.words(count)
        order = np.argsort(keys)
        if not (keys[order[1:]] == keys[order[:-1]]).any():
            return order


def _permute_batches(batches: list[Any], schema: pa.Schema, source: EntropySource) -> Iterator[Any]:
    import pyarrow as pa

    if not batches:
        return
    table = pa.Table.from_batches(batches, schema).combine_chunks()
    batches.clear()
    order = permutation(table.num_rows, source)
    for start in range(0, len(order), ROWS_PER_PIECE):
        yield from table.take(pa.array(order[start : start + ROWS_PER_PIECE])).to_batches()


def _scatter_rows(batches: Iterable[Any], schema: pa.Schema, folder: Path, source: EntropySource) -> list[Path]:
    """Each row in one of 64 new files, chosen by 6 random bits of its own."""
    import pyarrow as pa

    paths = [folder / f"{k}.arrow" for k in range(1 << BUCKET_BITS)]
    with hide_engine_errors("OUT must be in a folder with room for the rows in between"), ExitStack() as stack:
        folder.mkdir()
        sinks = [stack.enter_context(pa.OSFile(str(path), "wb")) for path in paths]
        files = [stack.enter_context(pa.ipc.new_file(sink, schema)) for sink in sinks]
        for batch in batches:
            for file, part in zip(files, split_by_bucket(batch, source), strict=True):
                file.write_batch(part)
    return paths


def split_by_bucket(batch: Any, source: EntropySource) -> list[Any]:
    """The rows of a batch in 64 parts."""
    import pyarrow as pa

    bucket = source.words(batch.num_rows) >> np.uint64(64 - BUCKET_BITS)
    by_bucket = batch.take(pa.array(np.argsort(bucket, kind="stable")))
    counts = np.bincount(bucket.astype(np.intp), minlength=1 << BUCKET_BITS)
    bucket_ends = np.cumsum(counts)
    return [by_bucket.slice(int(end - count), int(count)) for end, count in zip(bucket_ends, counts, strict=True)]


def _read_batches(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with pa.ipc.open_file(path) as file:
        for k in range(file.num_record_batches):
            yield file.get_batch(k)
