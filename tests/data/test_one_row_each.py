"""One row in is one row out: no lookup multiplies or drops rows, whatever its keys look like, on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from data.storages import STORAGE_CASES, Column, open_stored_table
from spark import quiet
from utmost.data.lookup import Lookup
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.data.table import Table
from utmost.errors import InputError

pytestmark = quiet

TEXTS = (  # each is another key: no engine may take two of them for one
    *("a", "A", "a ", " a", "a  ", "\u00e9", "e\u0301", "\u00c9", "ss", "\u00df", "SS", "1", "1.0", "01", "1e0", " 1"),
    *("true", "t", "TRUE", "i", "I", "\u0131", "\u0130", "\ufb01", "fi", "\uff41", "\u00e5", "a\u030a", "\u212b", "-0"),
    *(
        "a\u200b",
        "NULL",
        "NaN",
        "\\N",
        "a%",
        "a_",
        "\u03c3",
        "\u03c2",
        "0x1",
        "a\u00a0",
        "\U0001f600",
        "${a}",
        "'",
        '"',
    ),
)
UNMATCHED = ("b", "aa", "E\u0301", "2", "\u017f", "A ")
INTEGERS = (0, 1, -1, 127, -128)  # of a column of 8 bits
PUBLIC_INTEGERS = (*INTEGERS[:3], 255, 256, 2**31, 2**63 - 1, -(2**63))
DAYS = (date(2020, 2, 29), date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10), date(1900, 2, 28))
COLUMNS = {
    "text": Column("string", "text", "text"),
    "short": Column("string", "varchar(20)", "text"),
    "integer": Column("int8", "smallint", "integer"),
    "big": Column("int64", "bigint", "integer"),
    "truth": Column("bool", "boolean", "truth"),
    "day": Column("date32", "date", "date"),
}
KEYS: dict[str, tuple[str, Sequence[Any]]] = {
    "text": ("string", TEXTS),
    "short": ("string", TEXTS),
    "integer": ("int64", PUBLIC_INTEGERS),
    "big": ("int32", PUBLIC_INTEGERS[:5]),
    "truth": ("bool", (True,)),
    "day": ("date32", DAYS[:3]),
}


def rows() -> list[dict[str, Any]]:
    """Every key once or twice, keys that match nothing, and NULL."""
    values: dict[str, list[Any]] = {
        "text": [*TEXTS, *UNMATCHED, *TEXTS[:3], None, None],
        "short": [*reversed(TEXTS), None, *UNMATCHED],
        "integer": [*INTEGERS, *INTEGERS, None],
        "big": [*PUBLIC_INTEGERS, *PUBLIC_INTEGERS, None],
        "truth": [True, False, None, True],
        "day": [*DAYS, *DAYS, None],
    }
    size = max(map(len, values.values()))
    return [{name: (column + [None] * size)[k] for name, column in values.items()} for k in range(size)]


def write_public(folder: Path, column: str) -> Lookup:
    """A public table that numbers the keys of a column from 0."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind, keys = KEYS[column]
    arrow = {"bool": pa.bool_()}.get(kind) or pa.type_for_alias(kind)
    numbered = {"key": pa.array([*keys, None], arrow), "number": pa.array([*range(len(keys)), 10**6], pa.int64())}
    pq.write_table(pa.table(numbered), folder / f"{column}.parquet")
    return Lookup(f"{column}.parquet", {column: "key"}, {"number": f"{column} number"})


@pytest.fixture(scope="module", params=STORAGE_CASES)
def storage(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name.startswith("spark"):
        request.getfixturevalue("spark")
    return name


def assert_one_row_each(table: Table, column: str, values: Sequence[Any]) -> None:
    """Each key has its own number on as many rows as have the key; all others have none."""
    numbers, keys = f"{column} number", list(KEYS[column][1])
    expected = [sum(value == key and value is not None for value in values) for key in keys]
    assert table.cell_counts(Selection(), {numbers: (*range(len(keys)), 10**6)}) == [*expected, 0]
    assert table.count(Selection(f'"{numbers}" is null')) == len(values) - sum(expected)


def test_every_row_stays_one_row_and_every_key_is_another(
    storage: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue("postgres_module_url") if storage == "postgres" else None
    table_rows, lookups = rows(), [write_public(tmp_path, column) for column in KEYS]
    with open_stored_table(storage, table_rows, tmp_path, url, COLUMNS, {}, lookups) as table:
        assert table.count(Selection()) == table.units(PrivacyUnit()) == len(table_rows)
        for column in KEYS:
            assert_one_row_each(table, column, [row[column] for row in table_rows])


def test_postgresql_keys_that_a_collation_or_padding_makes_equal_stay_apart(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        connection.execute("CREATE TABLE people (text TEXT COLLATE loose, padded CHAR(4))")
        cursor = connection.cursor()
        cursor.executemany("INSERT INTO people VALUES (%s, %s)", [(text, text[:4]) for text in TEXTS])
    padded = Lookup("text.parquet", {"padded": "key"}, {"number": "padded number"})
    source = Source(postgres_url, "people", lookups=(write_public(tmp_path, "text"), padded))
    with open_table(source, tmp_path) as table:
        assert table.count(Selection()) == len(TEXTS)
        assert_one_row_each(table, "text", TEXTS)
        stripped = [text[:4].rstrip(" ") for text in TEXTS]  # what such a column holds
        expected = [stripped.count(text) for text in TEXTS]
        assert table.cell_counts(Selection(), {"padded number": tuple(range(len(TEXTS)))}) == expected


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("integer", "1\n01\n"),
        ("integer", "1\n1.0\n"),
        ("integer", "0\n-0\n"),
        ("integer", " 1\n1\n"),
        ("truth", "true\nyes\n"),
        ("date", "2020-01-31\n 2020-01-31\n"),
        ("text", "a\nb\na\n"),
    ],
)
def test_keys_that_are_written_apart_and_mean_the_same_are_refused(tmp_path: Path, kind: str, keys: str) -> None:
    (tmp_path / "table.csv").write_text("k\n1\n")
    (tmp_path / "public.csv").write_text("key,number\n" + "".join(f"{key},7\n" for key in keys.splitlines()))
    lookup = Lookup("public.csv", {"k": "key"}, {"number": "number"}, {"key": kind, "number": "integer"})
    source = Source("table.csv", columns={"k": kind}, lookups=(lookup,))
    with pytest.raises(InputError, match="on must be a unique key of the table"), open_table(source, tmp_path):
        pass


@pytest.mark.parametrize("kind", ["number", "time"])
def test_numbers_with_a_point_and_times_are_no_keys(tmp_path: Path, kind: str) -> None:
    """-0.0 equals 0.0 and NaN, in some engines, itself; times have as many digits as an engine keeps."""
    (tmp_path / "table.csv").write_text("k\n1\n")
    (tmp_path / "public.csv").write_text("key,number\n")
    lookup = Lookup("public.csv", {"k": "key"}, {"number": "number"}, {"key": kind, "number": "integer"})
    source = Source("table.csv", columns={"k": kind}, lookups=(lookup,))
    with (
        pytest.raises(InputError, match="on must match integers, texts, truths or dates"),
        open_table(source, tmp_path),
    ):
        pass
