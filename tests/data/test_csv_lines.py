"""One line of a CSV file is one row: what stands in a line changes no other, or the file is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from spark import quiet
from utmost.data.engines.csv_scan import CHUNK_BYTES, MAX_LINE_BYTES, count_rows
from utmost.data.selection import PrivacyUnit
from utmost.data.sources import Source, open_table
from utmost.errors import InputError

pytestmark = quiet


@pytest.fixture(params=[None, "spark"], ids=["duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> str | None:
    if request.param == "spark":
        request.getfixturevalue("spark")
    name: str | None = request.param
    return name


def read_rows(content: bytes, folder: Path, engine: str | None) -> list[tuple[Any, ...]] | None:
    """The rows of the file, in some order, and None where it is refused."""
    (folder / "t.csv").write_bytes(content)
    try:
        with open_table(Source("t.csv", engine=engine, columns={"a": "text", "b": "text"}), folder) as table:
            rows = sorted(table._connection.rows(table._rows), key=repr)
            assert table.units(PrivacyUnit()) == len(rows)
            return rows
    except InputError:
        return None


BROKEN_FILES = {
    "unmatched quote": (b'a,b\n1,"x\n' + b"2,y\n" * 100 + b'3,"z\n', "quotes only around a value"),
    "quotes in pairs that open no value": (b'a,b\n1,x"y,"z\n2,y"\n', "quotes only around a value"),
    "text after a quote": (b'a,b\n1,"x"y\n', "quotes only around a value"),
    "blank before a quote": (b'a,b\n1, "x"\n', "quotes only around a value"),
    "line break in quotes": (b'a,b\n1,"x\ny"\n', "convert it to Parquet"),
    "line break in the header": (b'a,"b\nc"\n1,x\n', "quotes only around a value"),
    "no UTF-8": (b"a,b\n1,\xe9\n2,y\n", "text in UTF-8"),
    "cut at the end": ("a,b\n1,é".encode()[:-1], "text in UTF-8"),
    "surrogate": (b"a,b\n1,\xed\xa0\x80\n", "text in UTF-8"),
    "NUL": (b"a,b\n1,x\0y\n", "without NUL"),
    "lone CR": (b"a,b\n1,x\r2,y\n", "no other CR"),
    "CR CR LF": (b"a,b\n1,x\r\r\n", "no other CR"),
    "CR in quotes": (b'a,b\n1,"x\ry"\n', "no other CR"),
    "CR at the end": (b"a,b\n1,x\r", "no other CR"),
    "blank line": (b"a,b\n1,x\n\n2,y\n", "no blank line"),
    "blank line at the end": (b"a,b\n1,x\n\n", "no blank line"),
    "blank line of spaces": (b"a,b\n1,x\n \t\r\n2,y\n", "no blank line"),
    "blank after the end": (b"a,b\n1,x\n ", "no blank line"),
    "long line": (b"a,b\n1," + b"x" * MAX_LINE_BYTES + b"\n2,y\n", "lines of at most 2000000 bytes"),
    "long last line": (b"a,b\n1," + b"x" * 2 * MAX_LINE_BYTES, "lines of at most 2000000 bytes"),
}


@pytest.mark.parametrize("fault", BROKEN_FILES)
def test_a_file_in_which_a_line_is_not_a_row_is_refused_whole_without_a_number(fault: str, tmp_path: Path) -> None:
    content, message = BROKEN_FILES[fault]
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=message) as error_info, open_table(Source("t.csv"), tmp_path):
        pytest.fail("it was opened")
    words = str(error_info.value).replace(str(MAX_LINE_BYTES), "").replace("UTF-8", "")
    assert not any(character.isdigit() for character in words)
    assert "\n" not in words


def test_the_longest_line_is_read(engine: str | None, tmp_path: Path) -> None:
    text = b"x" * (MAX_LINE_BYTES - len(b"1,\n"))
    rows = read_rows(b"a,b\n1," + text + b"\n2,y\n", tmp_path, engine)
    assert rows == [("1", text.decode()), ("2", "y")]


def test_lines_are_counted_across_chunks(tmp_path: Path) -> None:
    for line in (b'1,"x, ""y"""\r\n', "2,žluťoučký\n".encode(), b"3,z\n"):
        lines = 2 * CHUNK_BYTES // len(line) + 3
        for mark in (b"", b"\xef\xbb\xbf"):
            (tmp_path / "t.csv").write_bytes(mark + b"a,b\n" + line * lines + line.rstrip())
            assert count_rows(tmp_path / "t.csv") == lines + 1


WORDS = st.sampled_from(
    [b"", b"1", b"x", b" ", b'"', b'""', b",", b"\r", b"\t", b"\0", b"\xe9", "é".encode(), b"\\", b"#"]
)
ODD_LINES = st.lists(WORDS, max_size=8).map(b"".join) | st.binary(max_size=12).map(
    lambda line: line.replace(b"\n", b"")
)
VALUES = st.sampled_from([b"", b"1", b"x y", b'""', b'"x, y"', b'"say ""x"""', "é".encode(), b" 2 ", b"\\"])
LINES = st.tuples(VALUES, VALUES).map(b",".join)
ENDS = st.sampled_from([b"\n", b"\r\n"])


def test_a_line_replaced_by_any_other_changes_no_other_row(
    engine: str | None, tmp_path: Path, max_examples: Callable[[int], int]
) -> None:
    """Whenever both files are accepted, they have as many rows as lines, and the rows of the other lines are equal."""

    @settings(max_examples=max_examples(150) if engine is None else 12, suppress_health_check=list(HealthCheck))
    @given(st.lists(LINES | ODD_LINES, min_size=1, max_size=5), st.data())
    def check(lines: list[bytes], data: st.DataObject) -> None:
        place, line = data.draw(st.integers(0, len(lines) - 1)), data.draw(LINES | ODD_LINES)
        files = [lines, [*lines[:place], line, *lines[place + 1 :]]]
        end, last_end = data.draw(ENDS), data.draw(ENDS | st.just(b""))
        assume(last_end or all(file[-1] for file in files))  # an empty last line without an end is no line
        tables = [read_rows(b"a,b" + end + end.join(file) + last_end, tmp_path, engine) for file in files]
        for file, rows in zip(files, tables, strict=True):
            assert rows is None or len(rows) == len(file)
        if tables[0] is not None and tables[1] is not None:
            kept_rows = [_without_row_of(file[place], rows, tmp_path) for file, rows in zip(files, tables, strict=True)]
            assert kept_rows[0] == kept_rows[1]

    check()


def _without_row_of(line: bytes, rows: list[tuple[Any, ...]], folder: Path) -> list[tuple[Any, ...]]:
    """The rows without that of one line, which is read alone."""
    alone = read_rows(b"a,b\n" + line, folder, None)
    assert alone is not None
    rest = list(rows)
    rest.remove(alone[0])
    return rest


def test_both_engines_accept_the_same_files(spark: Any, tmp_path: Path) -> None:
    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(st.lists(LINES, max_size=6), ENDS)
    def check(lines: list[bytes], end: bytes) -> None:
        content = b"a,b" + end + b"".join(line + end for line in lines)
        assert read_rows(content, tmp_path, None) == read_rows(content, tmp_path, "spark")

    check()
