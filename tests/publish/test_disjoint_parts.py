"""Parts compose in parallel only where no row can be in both: every other pair of plans adds up."""

from __future__ import annotations

import os
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost
from utmost import ledger
from utmost.data import source_identity
from utmost.errors import BudgetError, InputError, UtmostError
from utmost.publish import execute

ROWS = "answer,code,day,place\n" + "yes,000001,2020-01-02,north\nno,2,2020-01-03,south\n" * 5
KINDS = {"answer": "text", "code": "text", "day": "text", "place": "text"}
HALF = Fraction(1, 2)


@pytest.fixture(autouse=True)
def take_memory_for_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory of the tests may be in memory, where no file has an identity."""
    monkeypatch.setattr(source_identity, "memory_devices", frozenset)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(ROWS)
    with ledger.open_ledger("ledger.sqlite", tmp_path) as budget_ledger:
        budget_ledger.open(ledger.Budget("survey", Fraction(1), neighbours="add-remove"))
    return tmp_path


def plan(folder: Path, column: str, value: Any, location: str = "people.csv", **changes: Any) -> dict[str, Any]:
    """A count of a part that costs half of the budget."""
    source = {"location": location, "columns": {**KINDS, **changes.pop("kinds", {})}}
    path = folder / "plan.toml"
    path.touch()
    return {
        "ledger": str(folder / "ledger.sqlite"),
        "budget": "survey",
        "neighbours": "add-remove",
        "source": {**source, "location": str(folder / location)},
        "part": {"column": column, "equals": value},
        "query": [{"name": "count", "kind": "count", "epsilon": "1/2"}],
        **changes,
    }


def spent(folder: Path) -> Fraction:
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        return budget_ledger.state("survey").spent


def test_two_values_of_one_column_of_one_file_compose_in_parallel(folder):
    for value in ("north", "south", "west"):
        utmost.release(plan(folder, "place", value))
    assert spent(folder) == HALF
    assert execute.preview(plan(folder, "place", "north")).part_adds_up is None


@pytest.mark.parametrize(
    ("column", "text", "kind", "value"),
    [
        ("answer", "yes", "truth", True),
        ("day", "2020-01-02", "date", "2020-01-02"),
        ("code", "000001", "integer", 1),
        ("code", "0" * 60 + "1", "integer", 1),
    ],
)
def test_a_value_read_as_another_kind_may_be_the_same_rows_and_adds_up(folder, column, text, kind, value):
    from datetime import date

    other = plan(folder, column, date(2020, 1, 2) if kind == "date" else value, kinds={column: kind})
    for k, asked in enumerate((plan(folder, column, text), other), 1):
        utmost.release(asked)
        assert spent(folder) == k * HALF
    with pytest.raises(BudgetError):
        utmost.release(other)


def test_parts_of_two_files_may_be_the_same_people_and_add_up(folder):
    shutil.copy(folder / "people.csv", folder / "copy.csv")
    utmost.release(plan(folder, "place", "north"))
    utmost.release(plan(folder, "place", "south", "copy.csv"))
    assert spent(folder) == 1


def test_a_file_that_was_written_to_is_another_source_though_size_and_time_are_the_same(folder):
    path = folder / "people.csv"
    utmost.release(plan(folder, "place", "north"))
    before = path.stat()
    path.write_text(ROWS.replace("north", "south"))  # in place: everybody moved
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    utmost.release(plan(folder, "place", "south"))
    assert spent(folder) == 1


def test_parts_of_a_database_compose_and_those_of_another_that_its_url_hides_add_up(folder, postgres_url, monkeypatch):
    import psycopg

    server, _, name = postgres_url.rpartition("/")
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'north' AS place")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}_next" TEMPLATE "{name}"'.encode())
    source = {"location": server, "table": "people", "fingerprint": "2026"}
    monkeypatch.setenv("PGDATABASE", name)
    for value in ("north", "south"):
        utmost.release(plan(folder, "place", value, source=source))
        assert spent(folder) == HALF
    monkeypatch.setenv("PGDATABASE", f"{name}_next")
    utmost.release(plan(folder, "place", "west", source=source))
    assert spent(folder) == 1


def test_a_symbolic_link_to_a_file_is_that_file(folder):
    (folder / "link.csv").symlink_to(folder / "people.csv")
    utmost.release(plan(folder, "place", "north"))
    utmost.release(plan(folder, "place", "south", "link.csv"))
    assert spent(folder) == HALF


@pytest.mark.parametrize("moment", ["opened", "answered"])
def test_a_file_that_is_written_to_while_it_is_read_is_refused_before_the_charge(folder, monkeypatch, moment):
    path = folder / "people.csv"

    def write(*_: object) -> None:
        path.write_text(ROWS.replace("north", "south"))

    with execute.prepare_release(plan(folder, "place", "north")) as prepared_release:
        if moment == "opened":
            write()
        progress = write if moment == "answered" else lambda *_: None
        with pytest.raises(InputError, match="source must stay as it is while it is read"):
            prepared_release.spend(progress)
    assert spent(folder) == 0


def test_the_ledger_holds_no_name_of_a_file_and_nothing_of_its_rows(folder):
    utmost.release(plan(folder, "place", "north"))
    content = (folder / "ledger.sqlite").read_bytes()
    assert b"people.csv" not in content
    path = folder / "people.csv"
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        first = budget_ledger.history("survey")[0].part
    path.write_text(ROWS)  # the same rows: the identity is that of another state, so it is none of the rows
    utmost.release(plan(folder, "place", "north"))
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        second = budget_ledger.history("survey")[1].part
    assert first is not None
    assert second is not None
    assert first.source != second.source


def test_a_dry_run_says_why_a_part_adds_up(folder, capsys):
    from utmost.cli.output import print_report
    from utmost.reports.preview import describe

    persons = plan(folder, "place", "north", unit={"column": "code", "rows": 1}, budget="persons")
    preview = execute.preview(persons)
    assert preview.part_adds_up == "a person may have rows in every part"
    print_report(describe(preview))
    assert "The part adds up with other charges to its budget: a person may" in capsys.readouterr().out
    assert execute.preview({**plan(folder, "place", "north"), "budget": "none"}).part_adds_up is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: (folder / "people.csv").chmod(0o600), "from another source, or from this one before"),
        (lambda folder: (folder / "people.csv").write_text(ROWS), "from another source, or from this one before"),
        (lambda folder: {"kinds": {"code": "integer"}}, "read as another kind"),
        (lambda folder: {"location": "copy.csv"}, "from another source"),
    ],
    ids=["chmod", "the same again", "kind", "copy"],
)
def test_a_dry_run_says_why_a_part_adds_up_with_an_earlier_one(folder, change, reason):
    """Whatever takes more than the part's share of its column has a reason that is shown."""
    shutil.copy(folder / "people.csv", folder / "copy.csv")
    utmost.release(plan(folder, "code", "000001"))
    together = execute.preview(plan(folder, "code", "2"))
    assert (together.left - together.after, together.part_adds_up) == (0, None)
    changes = change(folder)
    changes = changes if isinstance(changes, dict) else {}
    added = execute.preview(plan(folder, "code", 2 if "kinds" in changes else "2", **changes))
    assert added.left - added.after == HALF
    assert reason in added.part_adds_up


def test_a_dry_run_says_that_earlier_parts_have_no_known_source(folder):
    half = ledger.QueryCost("n", HALF, "geometric", 1)
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        part = ledger.Part("place", "north", "text")
        budget_ledger.charge(ledger.ReleaseCost("survey", "row", "add-remove", (half,), part, "digest"))
    assert "whose source is not known" in execute.preview(plan(folder, "place", "south")).part_adds_up


def make_other_database(path: Path) -> None:
    import sqlite3

    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (note TEXT)")
    connection.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: os.link(path, path.with_name("second.sqlite")),
        lambda path: path.write_text("these are notes, and no ledger at all " * 50),
        make_other_database,
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
    ],
    ids=["hard link", "text", "another database", "directory", "cut off"],
)
def test_a_dry_run_refuses_every_ledger_that_the_release_refuses(folder, spoil):
    spoil(folder / "ledger.sqlite")
    with pytest.raises(UtmostError) as refusal:
        utmost.release(plan(folder, "place", "north"))
    with pytest.raises(type(refusal.value)) as dry_refusal:
        execute.preview(plan(folder, "place", "north"))
    assert str(dry_refusal.value) == str(refusal.value)


@pytest.mark.parametrize("content", [None, b""], ids=["no file", "empty file"])
def test_a_dry_run_needs_no_ledger_yet(folder, content):
    path = folder / "ledger.sqlite"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert execute.preview(plan(folder, "place", "north")).left is None


def test_a_unit_column_of_another_kind_is_refused(folder):
    """As texts 01 and 1 are two persons, as integers one."""
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        budget_ledger.open(ledger.Budget("persons", Fraction(1), unit="code", neighbours="add-remove"))
    unit = {"column": "code", "rows": 1}
    persons = {"budget": "persons", "unit": unit, "query": [{"name": "n", "kind": "count", "epsilon": "1/10"}]}
    utmost.release(plan(folder, "place", "north", **persons))
    with pytest.raises(InputError, match="column code must be of kind text, as in the first charge to budget 'per"):
        utmost.release(plan(folder, "place", "north", kinds={"code": "integer"}, **persons))
    utmost.release(plan(folder, "place", "south", **persons))
    with ledger.open_ledger("ledger.sqlite", folder) as budget_ledger:
        assert budget_ledger.state("persons").spent == Fraction(2, 10)
