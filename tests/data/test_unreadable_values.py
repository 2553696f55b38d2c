"""Values that do not fit their declared kind are counted for the curator, and nowhere else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from spark import quiet
from utmost.cli import run
from utmost.data.engines import csv_types
from utmost.data.engines.engine import Connection
from utmost.data.grid import Grid
from utmost.data.selection import Partition, PrivacyUnit, Selection
from utmost.data.sources import Source, open_table
from utmost.errors import InputError
from utmost.publish import execute, unreadable_values
from utmost.publish.plans import parse_plan
from utmost.queries import Count, Histogram, Query, Sum
from utmost.reports.preview import describe

pytestmark = quiet

CONTENT = "age,when,share,name\n1,2013-01-01T10:00:00Z,nan,x\nold,soon,1,2\n,later, ,\nyoung,2013-01-01,0.5x,3\n"
GRID = Grid(Fraction(0), Fraction(9), Fraction(1))
KINDS = {"age": "integer", "when": "time", "share": "number", "name": "text"}
PLAN = """
neighbours = "replace"
budget = "b"
[source]
location = "t.csv"
columns = { age = "integer", when = "time", share = "number", name = "text" }
[[query]]
name = "many"
kind = "count"
where = "age > 0 and name = 'x'"
epsilon = 1
"""


@pytest.mark.parametrize("engine", [None, "spark"])
def test_values_that_do_not_fit_are_counted_in_used_columns(
    engine: str | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Empty and blank values are missing, and so is `nan` among numbers: they fit."""
    if engine == "spark":
        request.getfixturevalue("spark")
    (tmp_path / "t.csv").write_text(CONTENT)
    with open_table(Source("t.csv", engine=engine, columns=KINDS), tmp_path) as table:
        query = Count("age > 0 or when is null or share > 0 or name = 'x'")
        assert table.unreadable(query.used_columns(PrivacyUnit(), None)) == {"age": 2, "when": 2, "share": 1}
        columns = Count("name = 'x'").used_columns(PrivacyUnit("age", rows=1), None)
        assert table.unreadable(columns) == {"age": 2}
        assert table.count(Selection("when >= time '2013-01-01 00:00'")) == 2


def record_queries(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The queries for numbers that an engine gets from now on."""
    queries: list[Any] = []
    fetch_numbers = Connection.numbers

    def numbers(connection: Connection, query: Any) -> tuple[int, ...]:
        queries.append(query)
        return fetch_numbers(connection, query)

    monkeypatch.setattr(Connection, "numbers", numbers)
    return queries


def test_the_file_is_read_once_for_all_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text(CONTENT)
    second_query = "[[query]]\nname = 'more'\nkind = 'count'\nwhere = 'when is null and age > 1'\nepsilon = 1\n"
    plan = parse_plan(PLAN + second_query, tmp_path)
    with open_table(Source("t.csv", columns=KINDS), tmp_path) as table:
        queries = record_queries(monkeypatch)
        assert unreadable_values.count_unreadable(plan, table) == {"age": 2, "when": 2}
        assert len(queries) == 1


def test_the_kinds_of_a_wide_file_are_found_in_batches_of_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of one aggregate over all columns grew with the square of their number."""
    values = {f"c{index}": ("1", "0.5", "true", "x")[index % 4] for index in range(2 * csv_types.TESTS_PER_SCAN + 1)}
    (tmp_path / "t.csv").write_text(f"{','.join(values)}\n{','.join(values.values())}\n")
    queries = record_queries(monkeypatch)
    with open_table(Source("t.csv"), tmp_path) as table:
        kinds = {"1": "integer", "0.5": "number", "true": "truth", "x": "text"}
        assert table.kinds == {name: kinds[value] for name, value in values.items()}
    assert max(len(query.columns) for query in queries) <= csv_types.TESTS_PER_SCAN


def test_the_dry_run_warns_and_a_release_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(CONTENT)
    Path("plan.toml").write_text(PLAN)
    assert run(["budget", "open", "b", "--epsilon", "9", "--neighbours", "replace"]) == 0
    capsys.readouterr()
    assert run(["release", "plan.toml", "--dry-run"]) == 0
    warning = "For the curator only, not for publication: 2 values of column age do not fit its kind"
    assert warning in " ".join(capsys.readouterr().out.split())
    assert run(["release", "plan.toml", "--dry-run", "--json"]) == 0
    assert '"unreadable": {"age": 2}' in " ".join(capsys.readouterr().out.split()).replace("{ ", "{").replace(" }", "}")
    assert run(["release", "plan.toml", "--output", "out.json"]) == 0
    output = capsys.readouterr()
    assert "unreadable" not in Path("out.json").read_text()
    assert "curator only" not in output.out + output.err
    assert "unreadable" not in describe(execute.preview(Path("plan.toml"))).json  # which the studio shows


@pytest.mark.parametrize(
    ("query", "unit", "part", "column"),
    [
        (Count("when >= time '2013-01-01 00:00'"), PrivacyUnit(), None, "when"),
        (Count("age > 3"), PrivacyUnit(), None, "age"),
        (Sum("age", GRID, None), PrivacyUnit(), None, "age"),
        (Histogram({"age": (1, 2)}), PrivacyUnit(), None, "age"),
        (Count(), PrivacyUnit(), Partition("age", 1), "age"),
        (Count(), PrivacyUnit("number", rows=1), None, "number"),
    ],
    ids=str,
)
def test_a_kind_that_does_not_fit_is_said_to_be_found_in_the_file_where_it_is_not_declared(
    query: Query, unit: PrivacyUnit, part: Partition | None, column: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("age,when,number\n1,2013-01-01T10:00:00Z,0.5\nold,soon,1\n")
    remark = f"; the kind of {column} was found in the file, because the plan does not declare it: declare it in"
    with open_table(Source("t.csv"), tmp_path) as table, pytest.raises(InputError, match=remark):
        query.check(table, unit, part)
    kind = "number" if column == "number" else "text"
    with open_table(Source("t.csv", columns={column: kind}), tmp_path) as table:
        with pytest.raises(InputError) as refused:
            query.check(table, unit, part)
        assert "found in the file" not in str(refused.value)


def test_an_unknown_column_is_not_said_to_have_a_kind(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\nold\n")
    with open_table(Source("t.csv"), tmp_path) as table, pytest.raises(InputError) as refused:
        Count("age = 'old' and size = 1").check(table, PrivacyUnit(), None)
    assert "found in the file" not in str(refused.value)


@pytest.mark.parametrize(("sign", "name"), [(";", ";"), ("\t", "a tab")])
def test_a_file_with_other_separators_is_said_to_need_commas(sign: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"id{sign}region\n1{sign}north\n")
    advice = f"the values of a CSV file must be separated by commas, and its one column has {name} in its name"
    with pytest.raises(InputError, match=advice), open_table(Source("t.csv", columns={"id": "integer"}), tmp_path):
        pass
    with open_table(Source("t.csv"), tmp_path) as table, pytest.raises(InputError, match=advice):
        Count("id = 1").check(table, PrivacyUnit(), None)


def test_an_unknown_declared_column_is_answered_with_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",".join(["a\x1bb", *(f"c{k}" for k in range(30))]) + "\n")
    with pytest.raises(InputError) as refused, open_table(Source("t.csv", columns={"zzz": "text"}), tmp_path):
        pass
    assert r"got 'zzz': name one of those; the columns are 'a\x1bb', c0, c1" in str(refused.value)
    assert str(refused.value).endswith("c18 and 11 more")


@pytest.mark.parametrize("engine", [None, pytest.param("spark", marks=pytest.mark.slow)])
def test_only_used_columns_are_read_where_the_file_has_them_all(
    engine: str | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    (tmp_path / "t.csv").write_text(CONTENT)
    source = Source("t.csv", engine=engine, columns=KINDS)
    for used, names in [
        ({"age"}, {"age"}),
        (set(), {"age"}),
        ({"age", "born"}, set(KINDS)),
        (None, set(KINDS)),
    ]:
        with open_table(source, tmp_path, used) as table:
            assert set(table.kinds) == names
            assert table.count(Selection("age > 0")) == 1
            assert table.units(PrivacyUnit()) == 4


USUAL_AND_UNUSUAL_FORMS = {
    "integer": ["12", "-3", " 12", "+12", "012", "12.0", "1e2", "1_000", "", "9223372036854775808", "0x10", "-0"],
    "number": ["1.5", " 1.5 ", "1e2", ".5", "5.", "inf", "1_0", "nan", "0x1p3", "-0.0", "1d", "1.5f"],
    "truth": ["true", "TRUE", " t", "1", "0", "No", "10", "on"],
    "date": ["2020-01-31", " 2020-01-31", "2020-1-31", "2020-02-30", "2020-01-31 (BC)", "epoch"],
    "time": ["2020-01-31", "2020-01-31 12:00", " 2020-01-31T12:00:00Z", "2020-01-31T12:00+02", "now", "24:00"],
}


@pytest.mark.parametrize("kind", USUAL_AND_UNUSUAL_FORMS)
@pytest.mark.parametrize("engine", [None, pytest.param("spark", marks=pytest.mark.slow)])
def test_a_value_in_its_usual_form_is_read_as_it_is_among_blanks(
    kind: str, engine: str | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The short way to a value and the long one, which a blank in front enforces, lead to the same."""
    if engine == "spark":
        request.getfixturevalue("spark")
    texts = USUAL_AND_UNUSUAL_FORMS[kind]
    (tmp_path / "t.csv").write_text("n,a,b\n" + "".join(f'{n},"{text}"," {text}"\n' for n, text in enumerate(texts)))
    source = Source("t.csv", engine=engine, columns={"n": "integer", "a": kind, "b": kind})
    with open_table(source, tmp_path) as table:
        rows = table._connection.rows(table._rows)
    assert [repr(row[1]) for row in rows] == [repr(row[2]) for row in rows]
    assert {row[1] is None for row in rows} == {True, False}
