"""A data frame is a source: what it may hold, what is refused, and what becomes of it."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import utmost as ut
from spark import quiet
from utmost.data.engines import frame_values
from utmost.data.engines.frame_changes import check_unchanged, own_references
from utmost.data.engines.frame_kinds import find_frame_kind
from utmost.data.engines.frame_readers import ObjectColumn
from utmost.data.engines.frame_values import SAMPLE_ROWS, own_values, repeats_texts, share_texts
from utmost.data.frames import frame_source
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.errors import DataError, InputError
from utmost.ledger import Budget, open_ledger

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

PLAN: dict[str, Any] = {
    "neighbours": "add-remove",
    "budget": "votes",
    "query": [{"name": "yes", "kind": "count", "where": "vote = 1", "epsilon": "30"}],
}
ROWS = {"vote": [0, 1, 1, None], "town": ["a", None, "b", "b"]}
FRAMES = {
    "pandas": lambda: pd.DataFrame({"vote": pd.array(ROWS["vote"], dtype="Int64"), "town": ROWS["town"]}),
    "polars": lambda: pl.DataFrame(ROWS),
    "lazy": lambda: pl.LazyFrame(ROWS),
    "arrow": lambda: pa.table(ROWS),
    "batch": lambda: pa.RecordBatch.from_pydict(ROWS),
    "dataset": lambda: __import__("pyarrow.dataset").dataset.dataset(pa.table(ROWS)),
    "stream": lambda: Stream(pa.table(ROWS)),
}


class Stream:
    """An object that only has Arrow's stream interface."""

    def __init__(self, *tables: Any) -> None:
        self.tables, self.asked = tables, 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.asked += 1
        return self.tables[(self.asked - 1) % len(self.tables)].__arrow_c_stream__(requested_schema)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(Budget("votes", 100, unit="row", neighbours="add-remove"))  # type: ignore[arg-type]
    return tmp_path


@pytest.mark.parametrize("kind", FRAMES)
def test_a_plan_is_released_from_a_frame(kind: str, folder: Path) -> None:
    record = ut.release(PLAN, data=FRAMES[kind]())
    assert abs(record.answers[0].value - 2) <= 1
    assert record.source.engine == "frame"


def test_a_plan_with_a_location_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"plan must leave location out where data is given, got 'people.csv'"):
        ut.release({**PLAN, "source": {"location": "people.csv"}}, data=FRAMES["polars"]())


def test_a_plan_without_a_location_needs_data(folder: Path) -> None:
    with pytest.raises(InputError, match=r"in Python give the frame: ut\.release\(plan, data=df\)"):
        ut.preview(PLAN)


def open_frame(data: object, columns: dict[str, str] | None = None, used: set[str] | None = None) -> Any:
    return open_table(frame_source(data, columns=columns), Path(), used)


def refusal(data: object, used: set[str] | None = None) -> str:
    with pytest.raises((InputError, DataError)) as caught, open_frame(data, used=used):
        pass
    assert caught.value.__cause__ is None
    assert "\n" not in str(caught.value)
    return str(caught.value)


def missing(data: object, columns: dict[str, str] | None = None) -> dict[str, tuple[str, int]]:
    """The kind of each column, and how many of its values are missing."""
    with open_frame(data, columns) as table:
        counts = table.count_missing(set(table.kinds))
        return {name: (str(kind), counts[name]) for name, kind in table.kinds.items()}


def test_kinds_come_from_the_types_of_pandas() -> None:
    day = pd.Timestamp("2020-01-31")
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], "Int64"),
            "float": [1.5, np.nan],
            "big-endian": np.array([1, 2], ">i4"),
            "truth": pd.array([True, None], "boolean"),
            "text": pd.array(["a", None], "string"),
            "python text": pd.array(["a", None], "string[python]"),
            "category": pd.Categorical(["x", None], categories=["never", "x"]),
            "number category": pd.Categorical([1, None]),
            "time": [day, pd.NaT],
            "zoned": pd.DatetimeIndex([day, pd.NaT]).tz_localize("Europe/Berlin"),
            "duration": [pd.Timedelta("1s"), pd.NaT],
            "complex": [1j, 2],
            "period": pd.PeriodIndex([day, None], freq="D"),
            "sparse": pd.arrays.SparseArray([0.0, np.nan]),
        },
        index=["a", "b"],
    )
    kinds = ["integer", "number", "integer", "truth", "text", "text", "text", "integer", "time", "time"]
    expected = [(kind, 0 if name == "big-endian" else 1) for kind, name in zip(kinds, frame.columns, strict=False)]
    assert list(missing(frame).values()) == [*expected, ("other", 1), ("other", 0), ("other", 1), ("other", 1)]


def test_kinds_come_from_the_types_of_polars() -> None:
    values: dict[str, Any] = {
        "int": pl.Series([1, None], dtype=pl.UInt64),
        "wide": pl.Series([1, 2**127 - 1], dtype=pl.Int128),
        "text": ["a", None],
        "category": pl.Series(["a", None], dtype=pl.Categorical),
        "enumeration": pl.Series(["a", None], dtype=pl.Enum(["never", "a"])),
        "decimal": pl.Series(["1.5", None]).cast(pl.Decimal(10, 2)),
        "list": [[1], None],
        "bytes": [b"a", None],
    }
    kinds = ["integer", "number", "text", "text", "text", "number", "other", "other"]
    assert missing(pl.DataFrame(values)) == {name: (kind, 1) for name, kind in zip(values, kinds, strict=True)}
    assert missing(pl.LazyFrame(values)) == missing(pl.DataFrame(values))


def test_times_that_no_engine_has_are_null() -> None:
    far = [2**63 - 1, -(2**63), 0]
    table = pa.table({unit: pa.array(far, pa.int64()).view(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")})
    assert [count for _, count in missing(table).values()] == [2, 2, 2, 0]


def test_dates_in_milliseconds_are_days_whatever_the_time_of_day() -> None:
    """One row with a time of day decides nothing: Arrow calls it invalid, and it is the day that it falls on."""
    milliseconds = pa.array([0, 1, -1, 86_400_001, 2**63 - 1, -(2**63), None], pa.int64())
    for days in (milliseconds.view(pa.date64()), pa.chunked_array([milliseconds.view(pa.date64())])):
        with open_frame(pa.table({"day": days})) as table:
            assert str(table.kinds["day"]) == "date"
            assert table.count_missing({"day"}) == {"day": 3}
            counts = [
                table.count(Selection(f"day = date '{day}'")) for day in ("1969-12-31", "1970-01-01", "1970-01-02")
            ]
            assert counts == [1, 2, 1]


class Hostile(str):
    """A text that fails when it is looked at."""

    def encode(self, *_: object) -> bytes:
        raise ValueError("secret")

    def __bool__(self) -> bool:
        raise ValueError("secret")

    __eq__ = __hash__ = __index__ = None  # type: ignore[assignment]


VALUES = [
    1,
    "a",
    1.0,
    True,
    None,
    pd.NA,
    pd.NaT,
    10**400,
    "\ud800",
    float("nan"),
    float("inf"),
    Hostile("b"),
    [1],
    "a\0b",
]


@pytest.mark.parametrize(
    ("kind", "values"), [("text", 3), ("integer", 2), ("number", 3), ("truth", 1), ("date", 0), ("time", 0)]
)
def test_objects_that_are_no_value_of_their_declared_kind_are_null(kind: str, values: int) -> None:
    frame = pd.DataFrame({"o": pd.Series(VALUES, dtype=object)})
    assert missing(frame, {"o": kind}) == {"o": (kind, len(VALUES) - values)}


def test_undeclared_objects_are_refused_where_they_are_used_alone() -> None:
    frame = pd.DataFrame({"o": pd.Series(VALUES, dtype=object), "x": range(len(VALUES))})
    assert "columns must be declared where they hold Python objects" in refusal(frame, {"o"})
    assert refusal(pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)}), {"o"}).count(": o: ") == 1
    assert "or nothing but NULL" in refusal(pa.table({"o": pa.nulls(3)}), {"o"})
    with open_frame(frame, used={"x"}) as table:
        assert table.count(Selection("x > 3")) == len(VALUES) - 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (lambda: pd.DataFrame(), "data must have columns"),
        (lambda: pd.DataFrame({1: [1]}), "got a name of type int"),
        (lambda: pd.DataFrame({("a", "b"): [1]}), "several levels"),
        (lambda: pd.DataFrame([[1, 2]], columns=["a", "A"]), "got a more than once"),
        (lambda: pd.DataFrame({"a\0b": [1]}), "without NUL"),
        (lambda: pd.DataFrame({"": [1]}), "an empty name"),
        (lambda: pa.table({"a": [1]}).to_reader(), "give its read_all"),
        (lambda: pl.LazyFrame({"a": ["secret"]}).select(pl.col("a").cast(int)), "got a polars LazyFrame that cannot"),
        (lambda: Stream(), "got an Arrow stream that cannot"),
        (lambda: 5, "got int"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(data: Any, words: str) -> None:
    message = refusal(data())
    assert words in message
    assert "secret" not in message


def test_a_frame_without_rows_is_a_table() -> None:
    for frame in (pd.DataFrame({"a": pd.Series([], dtype="int64")}), pl.DataFrame({"a": []}, schema={"a": pl.Int64})):
        with open_frame(frame) as table:
            assert table.count(Selection("a > 0")) == 0


def test_a_frame_is_read_once_when_it_is_opened() -> None:
    stream = Stream(pa.table({"a": [1, 2]}), pa.table({"a": [5, 6, 7]}))
    numbers = np.array([1, 2, 3])
    with open_frame(stream) as table:
        assert [table.count(Selection("a > 0")) for _ in range(3)] == [2, 2, 2]
        assert stream.asked == 1
    for frame in (pd.DataFrame({"a": numbers}, copy=False), pa.table({"a": pa.array(numbers)})):
        with open_frame(frame) as table:
            numbers[:] = 0
            assert table.count(Selection("a > 0")) == 3
        numbers[:] = (1, 2, 3)


def test_only_used_columns_are_read() -> None:
    def explode(_: Any) -> Any:
        raise AssertionError

    frame = pl.LazyFrame({"a": [1, 2], "b": [3, 4]}).with_columns(
        pl.col("b").map_batches(explode, return_dtype=pl.Int64)
    )
    with open_frame(frame, used={"a"}) as table:
        assert table.count(Selection("a > 1")) == 1


def test_no_copy_outlives_the_table() -> None:
    frame, before = pd.DataFrame({"a": np.arange(10**6)}), pa.total_allocated_bytes()
    with open_frame(frame) as table:
        assert table.count(Selection("a >= 10")) == 10**6 - 10
        assert pa.total_allocated_bytes() > before
        assert table._connection.fetch("SELECT current_setting('temp_directory')") == [("",)]
    del table
    gc.collect()
    assert pa.total_allocated_bytes() <= before


def test_a_class_made_of_a_frame_is_read_as_a_frame() -> None:
    class Loud(pd.DataFrame):  # type: ignore[misc]
        @property
        def iloc(self) -> Any:
            raise ValueError("secret")

    with open_frame(Loud({"a": [1, 2]})) as table:
        assert table.count(Selection("a > 1")) == 1


def test_columns_may_have_any_names() -> None:
    names = ["self", "row", 'a"b', "a.b", "^.*$", "*", "tab\t", "x" * 5000, "c0", "rowid", "sélection"]
    for make in (pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table):
        with open_frame(make({name: [k] for k, name in enumerate(names)})) as table:
            for k, name in enumerate(names):
                assert table.public_values(name, 2) == [k]


def test_parts_of_frames_add_up(folder: Path) -> None:
    plan = {**PLAN, "source": {"fingerprint": "one"}, "part": {"column": "vote", "equals": 1}}
    assert (
        ut.preview(plan, data=FRAMES["polars"]()).part_adds_up == "the rows of a frame in memory cannot be recognised"
    )


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # in ibis, with newer versions of DuckDB
def test_relations_and_ibis_tables_are_read_in_a_session_of_our_own() -> None:
    import duckdb
    import ibis

    with duckdb.connect() as session:
        session.execute(
            "CREATE TABLE x AS SELECT range AS a, 't' || range AS t, range::HUGEINT AS h, [1] AS l FROM range(5)"
        )
        for data in (session.table("x"), ibis.duckdb.from_connection(session).table("x")):
            session.execute("CREATE OR REPLACE MACRO sum(x) AS 7")
            kinds = {"a": "integer", "t": "text", "h": "number", "l": "other"}
            assert missing(data) == {name: (kind, 0) for name, kind in kinds.items()}
            with open_frame(data, used={"a"}) as table:
                assert table.count(Selection("a > 1")) == 3


def test_ibis_tables_on_other_backends_are_refused_by_name() -> None:
    import ibis

    covered = "data must be an ibis table on one of the backends duckdb, postgres, pyspark, got one on"
    assert f"{covered} none" in refusal(ibis.table({"a": "int64"}, name="t"))
    polars_table = ibis.polars.connect({"t": pl.DataFrame({"a": [1]})}).table("t")
    assert f"{covered} polars" in refusal(polars_table)
    sqlite = ibis.sqlite.connect()
    assert f"{covered} sqlite" in refusal(sqlite.create_table("t", schema=ibis.schema({"a": "int64"})))
    sqlite.disconnect()


def assert_read_once(data: Any, insert: Callable[[], object]) -> None:
    """Three rows: their kinds and values are those of the moment when the table was opened."""
    kinds = {"a": "integer", "t": "text", "x": "number", "day": "date", "moment": "time", "flag": "truth"}
    assert missing(data) == {name: (kind, 1) for name, kind in kinds.items()} | {"l": ("other", 1)}
    with open_frame(data, used={"a", "t", "day"}) as table:
        insert()
        assert table.count(Selection("a >= 1 or t = 'a'")) == 2
        assert table.count(Selection("day = date '2020-02-29'")) == 1
        assert table.engine == "frame"
    with open_frame(data, used={"a"}) as table:
        assert table.count(Selection("a >= 1")) == 3


@pytest.mark.slow
def test_an_ibis_table_on_a_connected_postgres_is_read_once(postgres_url: str) -> None:
    import ibis

    connection = ibis.connect(postgres_url)
    for statement in (
        "CREATE TABLE x (a bigint, t text, x numeric(18, 4), day date, moment timestamp, flag boolean, l bigint[])",
        "INSERT INTO x VALUES (1, 'a', 0.5, '2020-02-29', '2020-02-29 12:00', true, '{1}'), (2, 'b', 1, 'infinity',"
        " '-infinity', false, '{}'), (NULL, NULL, NULL, '9999-12-31', '9999-12-31 23:59:59', NULL, NULL)",
        "CREATE SCHEMA other; CREATE FUNCTION other.count(bigint) RETURNS int LANGUAGE sql AS 'SELECT 7'",
        "SET search_path = other, public",
    ):
        connection.raw_sql(statement).close()
    data = connection.table("x", database="public")
    assert_read_once(data, lambda: connection.raw_sql("INSERT INTO public.x (a) VALUES (3)").close())
    connection.disconnect()


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("utmost_connected", marks=quiet)])
def test_an_ibis_table_on_a_connected_spark_is_read_once(name: str, spark: Any) -> None:
    spark.raw_sql(
        f"CREATE TABLE {name} (a bigint, t string, x decimal(18, 4), day date, moment timestamp, flag boolean,"
        " l array<bigint>) USING parquet"
    )
    try:
        spark.raw_sql(
            f"INSERT INTO {name} VALUES (1, 'a', 0.5, DATE'2020-02-29', TIMESTAMP'2020-02-29 12:00', true, array(1L)),"
            " (9007199254740993, 'b', 1, NULL, NULL, false, array()),"
            " (NULL, NULL, NULL, DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59', NULL, NULL)"
        )
        with open_frame(spark.table(name), used={"a"}) as table:
            assert table.count(Selection("a = 9007199254740993")) == 1  # no double, although one is NULL
        rest = ", ".join(["NULL"] * 6)
        assert_read_once(spark.table(name), lambda: spark.raw_sql(f"INSERT INTO {name} VALUES (3, {rest})"))
    finally:
        spark.raw_sql(f"DROP TABLE {name}")


def test_columns_of_different_lengths_are_refused() -> None:
    class Growing(pd.arrays.ArrowExtensionArray):  # type: ignore[misc]
        """As if another thread had written to the frame between two of its columns."""

        def __arrow_array__(self, type: Any = None) -> Any:
            return pa.chunked_array([[1, 2, 3]])

    frame = pd.DataFrame({"a": [1, 2], "b": Growing(pa.array([1, 2]))})
    assert refusal(frame).endswith("got columns of different lengths; nothing was spent: run the plan again")


class Panic(BaseException):
    """What polars raises where it panics is no Exception."""


def test_what_a_library_raises_is_dropped_whatever_its_class() -> None:
    class Bad:
        def __init__(self, problem: BaseException) -> None:
            self.problem = problem

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise self.problem

    assert "got an Arrow stream that cannot" in refusal(Bad(Panic("secret")))
    with pytest.raises(KeyboardInterrupt), open_frame(Bad(KeyboardInterrupt())):
        pass


def test_an_object_that_fails_when_it_is_asked_what_it_is_is_refused() -> None:
    class Hidden:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError("secret")

    assert refusal(Hidden()) == "data must be a data frame, got Hidden that fails"


def writes_between_columns(frame: Any, write: Callable[[], object]) -> str:
    """What is said of a frame that somebody writes to after its columns were read, before they are read once more."""
    kind = find_frame_kind(frame)
    reader, times = kind.open(frame), 0

    def read(places: Any) -> Any:
        nonlocal times
        times += 1
        if times == 2:
            write()
        return reader.read(places)

    places = range(len(reader.names))
    columns = [own_references(column) for column in read(places)]
    copies = [column if isinstance(column, ObjectColumn) else own_values(column) for column in columns]
    try:
        check_unchanged(replace(reader, read=read), places, columns, copies)
    except InputError as problem:
        return str(problem)
    return ""


CHANGED = "data must stay as it is while it is read, got a frame that was written to; nothing was spent"


def test_a_frame_that_is_written_to_while_it_is_read_is_refused() -> None:
    def numbers(dtype: str) -> Any:
        return np.array([1, 2, 3]).astype(dtype)

    for dtype in ("int64", "uint8", "float64", "float32", "M8[us]", "M8[ns]", "bool"):
        array = numbers(dtype)
        frame = pd.DataFrame({"a": array}, copy=False)
        assert writes_between_columns(frame, lambda: None) == ""
        other = ~array[:1] if dtype == "bool" else array[2:]
        assert writes_between_columns(frame, lambda array=array, other=other: array.put(0, other)).startswith(CHANGED)
    array = numbers("int64")
    table = pa.table({"a": pa.array(array)})
    for frame in (table, pl.DataFrame(table)):
        array[0] += 1
        assert writes_between_columns(frame, lambda: array.__setitem__(0, array[0] + 1)).startswith(CHANGED)
    objects = np.array(["a", None, 1], dtype=object)
    frame = pd.DataFrame({"a": pd.Series(objects, copy=False)}, copy=False)
    assert writes_between_columns(frame, lambda: objects.__setitem__(0, "b")).startswith(CHANGED)


def test_values_that_no_engine_has_are_no_change() -> None:
    """Each column of every type, with what is not kept as it stands: it is still what was read."""
    days = pa.array([1, 2**62, None], pa.int64())
    table = pa.table(
        {
            "nan": pa.array([float("nan"), 1.0, None]),
            "half": pa.array(np.array([1, np.nan, 2], "float16")),
            "ms": days.view(pa.timestamp("ms")),
            "us": days.view(pa.timestamp("us")),
            "day": days.view(pa.date64()),
            "text": ["a", None, "b"],
            "view": pa.array(["a", None, "b"], pa.string_view()),
            "category": pa.DictionaryArray.from_arrays([0, 1, None], ["x", None]),
            "decimal": pa.array([1, None, 2]).cast(pa.decimal128(30, 2)),
            "list": [[1], None, []],
            "null": pa.nulls(3),
            "truth": [True, None, False],
        }
    )
    for frame in (
        table,
        pl.DataFrame(table),
        table.drop_columns(["category"]).to_pandas(date_as_object=False),
        table.slice(1),
    ):
        for columns in ({}, {"null": "text"} if isinstance(frame, pa.Table) else {}):
            with open_frame(frame, columns) as opened:
                assert opened.count(Selection()) == len(frame)


def test_a_column_that_is_added_meanwhile_moves_no_other() -> None:
    for frame in (pl.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1], "b": [2]})):
        reader = find_frame_kind(frame).open(frame)
        if isinstance(frame, pl.DataFrame):
            frame.insert_column(0, pl.Series("c", [3]))
        else:
            frame.insert(0, "c", [3])
        assert [column.to_pylist() for column in reader.read([0, 1])] == [[1], [2]]


def test_a_pickle_never_holds_a_frame() -> None:
    source = frame_source(pd.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match=r"data must stay in this process, .*: keep plan\.to_toml\(\)"):
        pickle.dumps(source)
    assert copy.deepcopy([source])[0].data is source.data
    file_source = Source("people.csv", columns={"a": "integer"}, derive={"b": "a + 1"})
    assert pickle.loads(pickle.dumps(file_source)) == file_source


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("is_late", [False, True], ids=["from the start", "later"])
def test_texts_that_repeat_and_texts_that_do_not_are_read_alike(kind: str, is_late: bool) -> None:
    """A dictionary is made of a long column by its first values: those that follow are texts too, and so is NULL."""
    repeated, others = ["", "b", None, "ß"] * (SAMPLE_ROWS // 4), [f"text {k}" for k in range(SAMPLE_ROWS)]
    texts = repeated + others if is_late else others + repeated
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind]
    column = pa.chunked_array([texts[:77], texts[77:]])
    assert repeats_texts(column) == is_late
    with ThreadPoolExecutor() as pool:
        shared = share_texts(column, pool)
    assert len(shared.chunk(0).dictionary) == SAMPLE_ROWS + 3
    assert shared.cast(pa.string()).equals(column)
    with open_frame(make({"t": texts}), None if kind != "pandas" else {"t": "text"}) as table:
        assert str(table.kinds["t"]) == "text"
        assert table.count_missing({"t"}) == {"t": SAMPLE_ROWS // 4}
        wheres = ("t = ''", "t = 'ß'", "t = 'text 77'", f"t = 'text {SAMPLE_ROWS - 1}'", "t = 'x'")
        assert [table.count(Selection(where)) for where in wheres] == [SAMPLE_ROWS // 4] * 2 + [1, 1, 0]


def test_texts_that_are_kept_once_are_in_memory_of_their_own() -> None:
    """Also where values are missing, and where a library reads the column anew each time that it is asked."""
    column = pa.chunked_array([["a", None, "b"] * SAMPLE_ROWS])
    with ThreadPoolExecutor() as pool:
        shared = share_texts(column, pool)
    ours = {part.address for chunk in shared.chunks for part in chunk.indices.buffers() if part}
    assert not ours & {part.address for part in column.chunk(0).buffers() if part}
    reader = find_frame_kind(pa.table({"t": column})).open(pa.table({"t": column}))
    again = pa.chunked_array([column.to_pylist()])
    changed = pa.chunked_array([[*column.to_pylist()[:-1], "c"]])
    check_unchanged(replace(reader, read=lambda places: [again]), [0], [column], [shared])
    with pytest.raises(InputError, match="got a frame that was written to"):
        check_unchanged(replace(reader, read=lambda places: [changed]), [0], [column], [shared])


@pytest.mark.parametrize("kind", ["polars", "lazy", "large_string", "string", "string_view"])
def test_cells_and_persons_of_texts_that_are_kept_once_are_counted_as_others(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In many pieces, of which some have texts and missing values that the first has not."""
    for name, size in {"SAMPLE_ROWS": 64, "PIECE_ROWS": 100, "MIN_REPEATS": 4}.items():
        monkeypatch.setattr(frame_values, name, size)
    persons = [None if k == 7 else f"p{k % 13}" for k in range(2_000)]
    towns = [("a", "ß", "", None)[k % (2 if k < 900 else 4)] for k in range(2_000)]
    columns = {"person": persons, "town": towns}
    if kind in ("polars", "lazy"):
        data = pl.DataFrame(columns)
        data = data.lazy() if kind == "lazy" else data
    else:
        data = pa.table({name: pa.array(values, getattr(pa, kind)()) for name, values in columns.items()})
    rows = list(zip(persons, towns, strict=True))
    assert all(repeats_texts(pa.chunked_array([values])) for values in columns.values())
    with open_frame(data) as table:
        cells = {"town": ("a", "ß", "", "x")}
        assert table.cell_counts(Selection(), cells) == [towns.count(town) for town in ("a", "ß", "", "x")]
        kept = Selection(unit=PrivacyUnit("person", rows=20))
        most = [min(20, sum(row in ((f"p{k}", "a"), (f"p{k}", "ß")) for row in rows)) for k in range(13)]
        assert sum(table.cell_counts(kept, {"town": ("a", "ß")})) == sum(most)
        assert table.count_missing({"person", "town"}) == {"person": 1, "town": towns.count(None)}
