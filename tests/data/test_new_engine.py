"""A new engine is one class and one line of registration: a toy one is registered here, and a plan runs on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import utmost as ut
from utmost.data.engines import Connection, Engine, OpenedTable, registry
from utmost.data.engines.duckdb import DUCKDB
from utmost.data.engines.engine import Location, LocationKind, SourceIdentity
from utmost.data.selection import Selection
from utmost.data.sources import Source, list_tables, open_table
from utmost.errors import InputError
from utmost.ledger import Budget, open_ledger

PEOPLE = [(1, "north", 10), (1, "south", 20), (2, "north", 30), (3, "west", None)]
PLAN = """
neighbours = "replace"
budget = "survey"
output = "toy.release.json"

[source]
location = "toy:memory"
table = "people"

[unit]
column = "person"
rows = 1

[[query]]
name = "people"
kind = "count"
where = "region = 'north'"
epsilon = "1/2"

[[query]]
name = "pounds"
kind = "sum"
column = "pounds"
low = 0
high = 100
step = 1
nulls = "drop"
epsilon = "1/2"
"""


class ToyEngine(Engine):
    """A DuckDB in memory that always holds the same four rows, under locations that start with toy:."""

    name, title = "toy", "Toy"
    kinds = (LocationKind("toy", "a toy", prefixes=("toy:",)),)
    quotient_function = DUCKDB.quotient_function
    adds_product_digits = DUCKDB.adds_product_digits

    @contextmanager
    def open(self, location: Location) -> Iterator[OpenedTable]:
        import duckdb
        import ibis
        from ibis.backends.duckdb import Backend

        with duckdb.connect(":memory:") as session:
            session.execute("CREATE TABLE people (person INTEGER, region VARCHAR, pounds INTEGER)")
            session.executemany("INSERT INTO people VALUES (?, ?, ?)", PEOPLE)
            backend = Backend.from_connection(session)
            connection = Connection(self, backend, lambda statement: session.execute(statement).fetchall())
            columns = {"person": ibis.dtype("int32"), "region": ibis.dtype("string"), "pounds": ibis.dtype("int32")}
            yield OpenedTable(connection, connection.table(columns, "people", "main", "memory"))

    def list_tables(self, location: Location) -> list[str]:
        return ["people"]

    def hash_values(self, values: Sequence[Any]) -> Any:
        return DUCKDB.hash_values(values)

    def strip_collation(self, text: Any) -> Any:
        return DUCKDB.strip_collation(text)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENGINES", (*registry.ENGINES, ToyEngine()))


def test_a_plan_is_released_from_a_new_engine(tmp_path: Path) -> None:
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(Budget("survey", 1, unit="person"))  # type: ignore[arg-type]
    (tmp_path / "toy.toml").write_text(PLAN)
    release = ut.release(tmp_path / "toy.toml")
    assert (release.source.engine, release.source.name) == ("toy", "toy:memory")
    assert [answer.name for answer in release] == ["people", "pounds"]


def test_its_answers_are_exact(tmp_path: Path) -> None:

    with open_table(Source("toy:memory", "people"), tmp_path) as table:
        assert table.engine == "toy"
        assert table.count(Selection("region = 'north' and pounds > 5")) == 2


def test_errors_know_the_new_engine(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"postgresql://…, toy:… or bundled:anes96, got 't.txt'"):
        Source("t.txt").kind  # noqa: B018
    with pytest.raises(InputError, match=r"engine must be toy for 'toy:memory', got 'spark'"):
        Source("toy:memory", engine="spark").reader  # noqa: B018
    assert list_tables(Source("toy:memory"), tmp_path) == ["people"]


def test_rows_of_an_engine_that_does_not_identify_them_are_never_the_same() -> None:
    identity = ToyEngine().identify_database("2026-11", None)
    assert identity == SourceIdentity(None, "Toy does not say which database it reads")


def test_the_page_on_sources_names_every_engine_and_kind_of_location() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
    for engine in registry.ENGINES[:-1]:
        assert engine.title in page
        assert all(word in page for kind in engine.kinds for word in (*kind.suffixes, *kind.prefixes[:1]))
