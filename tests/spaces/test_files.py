"""Spaces in files: what is read, and that what is refused is refused without quoting it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from strategies import small_spaces
from utmost.errors import InputError, MetricError
from utmost.exact import number
from utmost.spaces import Space, files, parse_space

SECRET = "TOPSECRET"


def write_file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(small_spaces())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_table_is_read_back_in_each_form(tmp_path: Path, original: Space) -> None:
    names = [f"p{k}" for k in range(len(original))]
    rows = [[str(d) for d in row] for row in original.distances]
    bare = "\n".join(",".join(row) for row in rows)
    beside = "\n".join(",".join([n, *row]) for n, row in zip(names, rows, strict=True))
    forms = {
        "bare.csv": bare,
        "header.csv": ",".join(names) + "\n" + bare,
        "column.csv": beside,
        "both.csv": "\ufeff" + ",".join(["", *names]) + "\r\n\r\n" + beside.replace("\n", "\r\n") + "\r\n",
        "rows.json": json.dumps(rows),
        "labelled.JSON": json.dumps({"labels": names, "distances": rows}),
    }
    for name, content in forms.items():
        parsed = parse_space(f"matrix:{write_file(tmp_path, name, content)}")
        assert parsed.name == f"matrix:{name}"
        assert parsed.labels == (tuple(range(len(original))) if name in ("bare.csv", "rows.json") else tuple(names))
        assert (parsed.distances == original.distances).all()


def test_numbers_are_exact_as_written(tmp_path: Path) -> None:
    from_json = files.read_distances(
        write_file(tmp_path, "m.json", '[[0, 0.1, "1/2"], [0.1, 0, "sqrt(1/6)"], [0.5, "6^(-1/2)", 0]]')
    )
    assert from_json.distances.tolist()[0] == [0, Fraction(1, 10), Fraction(1, 2)]
    assert from_json.distance(1, 2) == number("sqrt(6)/6")
    assert files.read_distances(write_file(tmp_path, "m.csv", "0,0.1\n1e-1,0\n")).distance(0, 1) == Fraction(1, 10)


def test_whole_numbers_are_labels_as_numbers(tmp_path: Path) -> None:
    labelled = files.read_distances(write_file(tmp_path, "m.csv", "x,7,a b\n7,0,1\na b,1,0\n"))
    assert labelled.labels == (7, "a b")


def test_a_graph_is_read_with_and_without_weights_and_header(tmp_path: Path) -> None:
    weighted = files.read_graph(write_file(tmp_path, "g.csv", "from,to,weight\nA, B,1/2\n\nB,C\nC,A,sqrt(2)\n"))
    assert weighted.name == "graph:g.csv"
    assert weighted.labels == ("A", "B", "C")
    assert weighted.distance(0, 2) == number("sqrt(2)")
    assert files.read_graph(write_file(tmp_path, "h.csv", "1,2\n2,3\n")).distance(0, 2) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("m.csv", "", "1 to 4096 rows of distances, got 0"),
        ("m.csv", "0,1\n1", "line 2 must have 2 cells as the first line, got 1"),
        ("m.csv", "0,1\n1,0\n2,0\n3,0", "must be square, got 4 lines of 2 cells"),
        ("m.csv", f"0,{SECRET}\n1,0", "line 1, column 2 must be a number"),
        ("m.csv", f"x,a,b\na,0,1\n\nb,{SECRET},0", "line 4, column 2 must be a number"),
        ("m.csv", "x,a,b\na,0,1\nc,1,0", "same labels in its header and its first column"),
        ("m.csv", "x,a,a\na,0,1\na,1,0", "2 distinct labels, got 1"),
        ("m.csv", "x,a,\na,0,1\n,1,0", "labels must be 1 to 200 printable characters"),
        ("m.csv", f"x,a,{SECRET * 30}\na,0,1\n{SECRET * 30},1,0", "labels must be 1 to 200 printable characters"),
        ("m.csv", "x,a,b\x07\na,0,1\nb\x07,1,0", "labels must be 1 to 200 printable characters"),
        ("m.csv", "x,a,b\na,0,1\nb,2,0", "matrix:m.csv is not a metric: d(a, b) = 1 but d(b, a) = 2"),
        ("m.csv", b"\xff\xfe0,1", "must be UTF-8 text"),
        ("m.csv", '"' + "0" * 200_000, "could not be read as CSV"),
        ("m.csv", ",".join(["0"] * 100_000), "got 100000: a table has n² distances and at most 4096 points"),
        ("m.csv", "0\n" * 100_000, "got 100000: a table has n² distances and at most 4096 points"),
        ("m.json", "[[0, 1], [1, 0]", "must be JSON"),
        ("m.json", "[" * 100_000, "must be JSON"),
        ("m.json", f'{{"rows": "{SECRET}"}}', "must hold a list of rows"),
        ("m.json", "[]", "must hold a list of rows"),
        ("m.json", "[[0, null], [1, 0]]", "row 1, column 2 must be a number"),
        ("m.json", "[[0, NaN], [1, 0]]", "row 1, column 2 must be a number"),
        ("m.json", "[[0, true], [1, 0]]", "row 1, column 2 must be a number"),
        ("m.json", f'[[0, 1], [1, "{SECRET}"]]', "row 2, column 2 must be a number"),
        ("m.json", '{"distances": [[0]], "labels": [null]}', "labels that are a list of short names"),
        ("m.json", '{"distances": [[0]], "labels": ["a", "b"]}', "1 distinct labels"),
        ("m.json", json.dumps([[0]] * 5000), "got 5000: a table has n² distances"),
        ("g.csv", "", "at least one line a,b or a,b,weight"),
        ("g.csv", "from,to\n", "at least one line"),
        ("g.csv", f"a,b\n{SECRET}", "line 2 must be a,b or a,b,weight, got 1 cells"),
        ("g.csv", f"a,b,{SECRET}", "line 1, column 3 must be a number"),
        ("g.csv", "a,b,0", "weights of graph:g.csv must be > 0, got 0 between a and b"),
        ("g.csv", "a,b\nc,d", "graph:g.csv must be connected, got no path from a to c"),
        ("g.csv", "".join(f"{k},{k + 1}\n" for k in range(100_000)), "got 100001: a table has n² distances"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_quotes_nothing(
    tmp_path: Path, name: str, content: str | bytes, reason: str
) -> None:
    path = write_file(tmp_path, name, content)
    with pytest.raises(InputError) as caught:
        parse_space(f"{'graph' if name == 'g.csv' else 'matrix'}:{path}")
    message = str(caught.value)
    assert reason in message
    assert SECRET not in message
    assert str(tmp_path) not in message
    assert "\n" not in message
    assert len(message) < 300


def test_a_file_that_is_not_there_is_named_without_its_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path):
        with pytest.raises(InputError, match=f"^cannot read matrix:{path.name}: ") as caught:
            files.read_distances(path)
        assert str(tmp_path.parent) not in str(caught.value)


@pytest.mark.parametrize("name", ["x" * 300, "nul\0byte.csv", "two\nlines.csv"])
def test_a_name_that_no_file_has_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(InputError, match=r"^cannot read matrix:") as caught:
        parse_space(f"matrix:{name}")
    assert str(caught.value).isprintable()


def test_a_table_too_large_to_read_says_how_many_points_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1 << 18)
    for columns, reason in ((100_000, "got 100000 columns"), (200_000, "got at least 131073 columns")):
        path = write_file(tmp_path, "wide.csv", (",".join(["0"] * columns) + "\n") * 2)
        with pytest.raises(InputError, match=f"{reason}: a table has n² distances"):
            files.read_distances(path)
    path = write_file(tmp_path, "wide.json", "[[" + "0," * 200_000)
    with pytest.raises(InputError, match="at most 0 MiB: a table"):
        files.read_distances(path)


def test_a_first_line_that_is_no_header_is_an_edge(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1, column 3"):
        files.read_graph(write_file(tmp_path, "g.csv", "a,b,1.5x\nb,c,1\n"))


def test_an_axiom_that_fails_in_a_file_is_a_metric_error(tmp_path: Path) -> None:
    content = "town,A,B,C\nA,0,1,3\nB,1,0,1\nC,3,1,0\n"
    with pytest.raises(MetricError, match=r"d\(A, C\) = 3 > d\(A, B\) \+ d\(B, C\) = 2"):
        files.read_distances(write_file(tmp_path, "m.csv", content))
