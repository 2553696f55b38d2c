"""A schema is checked like its table, and answers nothing."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.data.derive import parse_derivations
from utmost.data.engines.schema import ColumnKind
from utmost.data.grid import Grid, GridColumn
from utmost.data.lookup import Lookup, read_lookup
from utmost.data.selection import PrivacyUnit, Selection
from utmost.data.sources import Source, TableSchema, declared_types, list_tables, open_table, source_columns
from utmost.data.table import Table
from utmost.errors import InputError, UtmostError
from utmost.queries import Count, Histogram, Mean, Query

KINDS = {
    "person": ColumnKind.INTEGER,
    "pay": ColumnKind.NUMBER,
    "city": ColumnKind.TEXT,
    "is_adult": ColumnKind.TRUTH,
    "born": ColumnKind.DATE,
    "seen": ColumnKind.TIME,
}
QUERIES = st.one_of(
    st.sampled_from(["person > 1", "city = 'Oslo'", "pay > 1.5 and is_adult", "born > 3", "nobody = 1", "city >"]).map(
        Count
    ),
    st.tuples(st.sampled_from([*KINDS, "nobody"]), st.sampled_from([1, "Oslo", True])).map(
        lambda pair: Histogram({pair[0]: (pair[1],)})
    ),
    st.tuples(st.sampled_from([*KINDS, "nobody"]), st.sampled_from([Fraction(1), Fraction(1, 10**9)])).map(
        lambda pair: Mean(pair[0], Grid(Fraction(0), Fraction(10), pair[1]), None)
    ),
)
UNITS = st.sampled_from(
    [
        PrivacyUnit(),
        PrivacyUnit("person", rows=2),
        PrivacyUnit("city", groups=2),
        PrivacyUnit("pay", rows=1),
        PrivacyUnit("x", rows=1),
    ]
)


def write_csv(folder: Path) -> Source:
    """A CSV file with a column of every kind."""
    row = "1,2.5,Oslo,true,2001-02-03,2001-02-03 04:05"
    (folder / "all.csv").write_text(f"{','.join(KINDS)}\n{row}\n")
    return Source("all.csv", columns={name: str(kind) for name, kind in KINDS.items()})


def make_schema() -> TableSchema:
    """Of the same columns, declared as they are for the file."""
    return TableSchema(declared_types(KINDS), lambda unit: 7)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """The file, open."""
    folder = tmp_path_factory.mktemp("sketch")
    with open_table(write_csv(folder), folder) as opened_table:
        yield opened_table


def test_declared_kinds_have_the_types_of_the_opened_file(table: Table) -> None:
    assert dict(make_schema().types.items()) == dict(table.types.items())
    assert make_schema().kinds == table.kinds == KINDS


@given(QUERIES, UNITS)
def test_a_schema_refuses_what_the_table_refuses_with_the_same_message(
    table: Table, query: Query, unit: PrivacyUnit
) -> None:
    assert _error_message(make_schema(), query, unit) == _error_message(table, query, unit)


def _error_message(table: Table, query: Query, unit: PrivacyUnit) -> str:
    try:
        query.check(table, unit, None)
    except UtmostError as problem:
        return str(problem)
    return ""


def test_a_schema_tells_its_units_and_no_answer() -> None:
    assert make_schema().units(PrivacyUnit()) == 7
    with pytest.raises(UtmostError):
        make_schema().count(Selection("person = 1"))
    with pytest.raises(UtmostError):
        make_schema().position_counts(Selection(), GridColumn("pay", Grid(Fraction(0), Fraction(1), Fraction(1))))
    with pytest.raises(InputError, match="unit"):
        make_schema().units(PrivacyUnit("pay", rows=1))


def test_the_tables_of_a_file_are_those_that_can_be_opened(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as connection:
        connection.execute("CREATE SCHEMA old; CREATE TABLE people (x INT); CREATE TABLE old.people (y INT)")
    source = Source("a.duckdb")
    assert list_tables(source, tmp_path) == ["old.people", "people"]
    for name in list_tables(source, tmp_path):
        with open_table(Source("a.duckdb", name), tmp_path) as table:
            assert len(table.kinds) == 1
    assert list_tables(Source("bundled:anes96"), tmp_path) == []


NEW_COLUMNS = {"decade": "bin(year(born), 10)", "rich": "pay > 100 and tax is not null", "when": "hour(seen)"}
PUBLIC_TABLE = "name,tax,since\nOslo,0.5,1048-01-01\n"


def write_lookup(folder: Path) -> Lookup:
    """A public table by city."""
    (folder / "cities.csv").write_text(PUBLIC_TABLE)
    return Lookup("cities.csv", {"city": "name"}, {"tax": "tax", "since": "founded"})


def test_new_columns_of_a_schema_have_the_types_of_those_of_the_table(tmp_path: Path) -> None:
    lookup = write_lookup(tmp_path)
    source = replace(write_csv(tmp_path), derive=NEW_COLUMNS, lookups=(lookup,))
    public_types = read_lookup(lookup, tmp_path).without_rows()
    derivations = parse_derivations(NEW_COLUMNS)
    schema = TableSchema(declared_types(KINDS), lambda unit: 7, frozenset(), derivations, [(lookup, public_types)])
    with open_table(source, tmp_path) as table:
        assert dict(schema.types.items()) == dict(table.types.items())
        for where in ("decade > 1990 and rich", "founded > seen", "nobody = 1", "rich > 1"):
            assert _error_message(schema, Count(where), PrivacyUnit()) == _error_message(
                table, Count(where), PrivacyUnit()
            )
    with pytest.raises(InputError, match="which the plan makes"):
        schema.units(PrivacyUnit("decade", rows=1))


def test_the_columns_of_a_source_are_those_that_used_and_new_ones_are_made_of(tmp_path: Path) -> None:
    source = replace(write_csv(tmp_path), derive=NEW_COLUMNS, lookups=(write_lookup(tmp_path),))
    assert source_columns(source, {"person", "decade"}) == {"person", "born", "pay", "seen", "city"}
