"""What a data frame has: its columns, their types, and the values of some of them. No library is imported to see.

A frame is recognised among the classes of libraries that are loaded already, or by Arrow's stream interface
(`__arrow_c_stream__`). Columns are asked for by their place: names mean different things to different libraries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.data.engines.frame_values import own_values
from utmost.data.engines.schema import ColumnKind
from utmost.errors import InputError

NO_KIND = None  # the type of a column of Python objects: its kind is declared or there is none


@dataclass(frozen=True, slots=True)
class ObjectColumn:
    """Python objects, one for each value; with `codes`, the values are those at these places, NULL at −1.

    `kind` is theirs where it is not declared.
    """

    values: Sequence[Any]
    kind: ColumnKind | None = None
    codes: Any = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FrameReader:
    """A frame that is being read: the names of its columns, their Arrow types, and a function that reads some of them.

    A type is NO_KIND where the values are Python objects. What is read is Arrow's chunked arrays, and objects. Where it
    `is_in_memory`, another thread can write to the values, and reading them again runs no code of somebody's.
    """

    names: tuple[object, ...]
    types: tuple[Any, ...]
    read: Callable[[Sequence[int]], list[Any]]
    is_in_memory: bool = False


@dataclass(frozen=True, slots=True)
class FrameKind:
    """A kind of frames: its name, the module and the classes that it is recognised by, and what opens one."""

    title: str
    module: str
    classes: tuple[str, ...]
    open: Callable[[Any], FrameReader]

    @property
    def words(self) -> str:
        """The title with its article."""
        return f"{'an' if self.title[0] in 'aeiouAEIOU' else 'a'} {self.title}"

    def recognises(self, data: object) -> bool:
        """Whether it is such a frame; never where its library is not loaded."""
        module = sys.modules.get(self.module)
        classes = tuple(getattr(module, name) for name in self.classes if hasattr(module, name))
        return isinstance(data, classes)


def _open_pandas(data: Any) -> FrameReader:
    """A pandas frame, as its base class has it; its index is no column."""
    import pandas as pd

    frame = pd.DataFrame(data, copy=False)
    if frame.columns.nlevels > 1:
        problem = "data must have one name for each column, got a frame with several levels of column names"
        raise InputError(problem, "data", "join them to texts")
    names = tuple(frame.columns)
    columns = [frame.iloc[:, place] for place in range(len(names))]
    return FrameReader(
        names,
        tuple(_pandas_type(column.dtype) for column in columns),
        lambda places: [_pandas_values(frame.iloc[:, place]) for place in places],
        is_in_memory=True,
    )


def _pandas_type(dtype: Any) -> Any:
    """The Arrow type of a pandas dtype."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, np.dtype):
        return NO_KIND if dtype.kind == "O" else _numpy_type(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _pandas_type(dtype.categories.dtype)
        return categories if categories is NO_KIND else pa.dictionary(pa.int32(), categories)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pa.timestamp(dtype.unit, "UTC")
    if isinstance(dtype, pd.StringDtype):
        return pa.large_string()
    if isinstance(dtype, pd.ArrowDtype):
        return dtype.pyarrow_dtype
    is_masked = isinstance(getattr(dtype, "numpy_dtype", None), np.dtype) and hasattr(pd, type(dtype).__name__)
    return _numpy_type(dtype.numpy_dtype) if is_masked else pa.binary()


def _numpy_type(dtype: Any) -> Any:
    """The Arrow type of a numpy dtype; binary for one that has no kind but `other`."""
    import pyarrow as pa

    if dtype.kind not in "biufM" or dtype.itemsize > np.dtype("float64").itemsize:
        return pa.binary()
    return pa.from_numpy_dtype(dtype.newbyteorder("="))


def _pandas_values(column: Any) -> Any:
    """The values of a pandas column."""
    import pandas as pd
    import pyarrow as pa

    dtype, arrow_type = column.dtype, _pandas_type(column.dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return _category_values(column)
    if arrow_type is NO_KIND:
        return ObjectColumn(column.to_numpy(dtype=object))
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "python":
        return ObjectColumn(column.to_numpy(dtype=object), ColumnKind.TEXT)
    if isinstance(dtype, pd.DatetimeTZDtype):
        times = pa.array(column.to_numpy(dtype=f"M8[{dtype.unit}]"))
        return pa.chunked_array([times.cast(pa.timestamp(dtype.unit)).view(arrow_type)])
    if pa.types.is_binary(arrow_type):
        return ObjectColumn([None if missing else 0 for missing in column.isna()], ColumnKind.OTHER)
    if isinstance(dtype, np.dtype):
        return pa.chunked_array([pa.array(np.asarray(column.to_numpy(), dtype.newbyteorder("=")), arrow_type)])
    values = column.array.__arrow_array__()
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def _category_values(column: Any) -> Any:
    """The values of a categorical column; its list of categories may hold values of no row."""
    import pandas as pd
    import pyarrow as pa

    codes = np.asarray(column.cat.codes)
    categories = _pandas_values(pd.Series(column.dtype.categories))
    if isinstance(categories, ObjectColumn):
        return ObjectColumn(categories.values, categories.kind, codes)
    dictionary = own_values(categories).combine_chunks()
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, dictionary)])


def _open_polars(data: Any) -> FrameReader:
    """A polars frame as it is now; a lazy one is collected once, and only the columns that are read."""
    import polars as pl

    data, is_lazy = data.clone(), isinstance(data, pl.LazyFrame)  # columns that others add change no place
    schema = data.collect_schema()
    dtypes = tuple(schema.values())

    def read(places: Sequence[int]) -> list[Any]:
        frame = data.select(pl.nth(*places)).collect() if is_lazy else data
        columns = [frame.to_series(k if is_lazy else place) for k, place in enumerate(places)]
        if [column.dtype for column in columns] != [dtypes[place] for place in places]:
            raise TypeError("other types than the schema says")
        return [_polars_values(column) for column in columns]

    return FrameReader(tuple(schema), tuple(map(_polars_type, dtypes)), read, is_in_memory=not is_lazy)


def _polars_type(dtype: Any) -> Any:
    import polars as pl

    return NO_KIND if dtype == pl.Object else _polars_arrow(pl.Series("c", [], dtype=dtype)).type


def _polars_values(column: Any) -> Any:
    import polars as pl

    return ObjectColumn(column.to_list()) if column.dtype == pl.Object else _polars_arrow(column)


def _polars_arrow(column: Any) -> Any:
    """A series as a chunked array; integers of 128 bits as decimals, NULL beyond 38 digits."""
    import polars as pl
    import pyarrow as pa

    if str(column.dtype) in ("Int128", "UInt128"):
        column = column.cast(pl.Decimal(38, 0), strict=False)
    return pa.chunked_array(column)


def _open_arrow(data: Any) -> FrameReader:
    """A table or a batch of Arrow's."""
    return FrameReader(
        tuple(data.schema.names),
        tuple(data.schema.types),
        lambda places: [_as_chunked(data.column(place)) for place in places],
        is_in_memory=True,
    )


def _as_chunked(column: Any) -> Any:
    import pyarrow as pa

    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _open_dataset(data: Any) -> FrameReader:
    """A dataset of Arrow's, of which only the columns that are read are scanned."""
    import pyarrow.compute as pc

    names = data.schema.names

    def read(places: Sequence[int]) -> list[Any]:
        columns = {f"c{place}": pc.field(names[place]) for place in places}
        return list(data.scanner(columns=columns).to_table().columns)

    return FrameReader(tuple(names), tuple(data.schema.types), read)


def _open_stream(data: Any) -> FrameReader:
    """A stream of Arrow's, which is asked for once: its schema and its rows are of one stream."""
    import pyarrow as pa

    stream = pa.RecordBatchReader.from_stream(data)
    schema = stream.schema

    def read(places: Sequence[int]) -> list[Any]:
        chunks: list[list[Any]] = [[] for _ in places]
        for batch in stream:
            for column_chunks, place in zip(chunks, places, strict=True):
                column_chunks.append(batch.column(place))
        types = [schema.types[place] for place in places]
        return [pa.chunked_array(columns, dtype) for columns, dtype in zip(chunks, types, strict=True)]

    return FrameReader(tuple(schema.names), tuple(schema.types), read)


LIBRARY_FRAMES = (
    FrameKind("pandas DataFrame", "pandas", ("DataFrame",), _open_pandas),
    FrameKind("polars DataFrame", "polars", ("DataFrame",), _open_polars),
    FrameKind("polars LazyFrame", "polars", ("LazyFrame",), _open_polars),
    FrameKind("pyarrow Table", "pyarrow", ("Table", "RecordBatch"), _open_arrow),
    FrameKind("pyarrow Dataset", "pyarrow.dataset", ("Dataset",), _open_dataset),
)
COLUMN_KINDS = (  # which have Arrow's stream interface, and are no frames
    FrameKind("pandas Series", "pandas", ("Series", "Index"), _open_stream),
    FrameKind("polars Series", "polars", ("Series",), _open_stream),
    FrameKind("pyarrow array", "pyarrow", ("Array", "ChunkedArray"), _open_stream),
)
ARROW_READERS = FrameKind("pyarrow RecordBatchReader", "pyarrow", ("RecordBatchReader",), _open_stream)
ARROW_STREAM = FrameKind("Arrow stream", "", (), _open_stream)
