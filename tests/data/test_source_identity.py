"""A source has the identity of an earlier one only if its rows are the same."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from utmost.data import source_identity
from utmost.data.engines.postgres import NO_DATABASE_NAME, NO_FINGERPRINT
from utmost.data.engines.spark import NO_CATALOGUE_NAME
from utmost.data.source_identity import NO_EXACT_TIMES, check_unchanged, identify_source
from utmost.data.sources import Source, open_table
from utmost.errors import InputError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="times of the last change are those of Unix")
HERE = Path()


def digest(location: Path | str, fingerprint: str | None = None, **options: str) -> str | None:
    return identify_source(Source(str(location), **options), HERE, fingerprint).digest


@pytest.fixture(autouse=True)
def take_memory_for_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory of the tests may be in memory, where no file has an identity."""
    monkeypatch.setattr(source_identity, "memory_devices", frozenset)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory of Parquet files, by their names: nobody reads them here."""
    parts = tmp_path / "people.parquet"
    parts.mkdir()
    for name in ("a.parquet", "b.parquet"):
        (parts / name).write_bytes(b"rows")
    return parts


def change_in_place(path: Path) -> None:
    status = path.stat()
    path.write_bytes(b"sowr")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: change_in_place(folder / "b.parquet"),
        lambda folder: (folder / "c.parquet").write_bytes(b"rows"),
        lambda folder: (folder / "b.parquet").unlink(),
        lambda folder: (folder / "b.parquet").rename(folder / "c.parquet"),
        lambda folder: (folder / "a.parquet").replace(folder / "b.parquet"),
        lambda folder: (folder / "b.parquet").write_bytes(b"rows"),
    ],
    ids=["in place", "added", "removed", "renamed", "replaced", "the same again"],
)
def test_any_change_in_a_directory_makes_it_another_source(folder, change):
    before = digest(folder)
    assert before is not None
    assert digest(folder) == before
    change(folder)
    assert digest(folder) not in (before, None)


def test_a_change_right_after_an_identity_was_taken_is_seen(tmp_path):
    """The clock of a file system ticks every few milliseconds: two changes within a tick would have one time."""
    path, seen = tmp_path / "people.csv", set()
    for k in range(40):
        path.write_bytes(b"%09d" % k)
        seen.add(digest(path))
    assert len(seen) == 40


def test_the_log_beside_a_duckdb_file_belongs_to_it(tmp_path):
    path = tmp_path / "people.duckdb"
    path.write_bytes(b"rows")
    before = digest(path, table="people")
    (tmp_path / "people.duckdb.wal").write_bytes(b"more rows")
    assert digest(path, table="people") not in (before, None)


def test_what_cannot_be_recognised_has_no_identity(folder, tmp_path, monkeypatch):
    (folder / "linked").symlink_to(tmp_path)
    assert identify_source(Source(str(folder)), HERE, None) == source_identity.SourceIdentity(None, NO_EXACT_TIMES)
    assert digest(tmp_path / "absent.csv") is None
    (tmp_path / "people.csv").write_bytes(b"rows")
    assert digest(tmp_path / "people.csv") is not None
    monkeypatch.setattr(time, "time_ns", lambda: 10**9)  # the file is from the future
    assert digest(tmp_path / "people.csv") is None


def test_times_in_whole_seconds_are_not_trusted(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_bytes(b"rows")
    monkeypatch.setattr(source_identity, "_file_state", lambda name, _: source_identity.FileState(name, 1, 5, 10**18))
    assert digest(path) is None


def test_a_database_without_the_curators_word_has_no_identity():
    source = Source("postgresql://ann:secret@db.example/survey", table="people")
    assert identify_source(source, HERE, None, "the database").problem == NO_FINGERPRINT
    assert identify_source(source, HERE, "2026-11").problem == NO_DATABASE_NAME
    known = [identify_source(source, HERE, *word).digest for word in (("11", "a"), ("12", "a"), ("11", "b"))]
    assert len({*known, None}) == 4
    catalogue = Source(table="people", engine="spark")
    assert identify_source(catalogue, HERE, "2026-11", "any").problem == NO_CATALOGUE_NAME


def make_people(url: str, name: str) -> str:
    """The URL of a new database of this name on the same server, with a table of people."""
    import psycopg

    other = url.rpartition("/")[0] + f"/{name}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    with psycopg.connect(other) as connection:
        connection.execute("CREATE TABLE people (place text)")
    return other


def opened_digest(url: str, fingerprint: str = "2026-11") -> str | None:
    source = Source(url, table="people")
    with open_table(source, HERE) as table:
        return identify_source(source, HERE, fingerprint, table.database).digest


@pytest.mark.parametrize("form", ["plain", "many hosts", "number sign", "environment", "option", "drop and create"])
def test_two_databases_have_two_identities_however_their_urls_are_written(postgres_url, monkeypatch, form):
    """What a URL means is the driver's affair: the open connection is asked."""
    seen = []
    for name in ("d#2023", "d#2024") if form == "number sign" else ("d2023", "d2024"):
        url = make_people(postgres_url, "d2023" if form == "drop and create" else name)
        start, _, host = url.rpartition("/")[0].rpartition("@")
        if form == "many hosts":
            url = f"{start}@{host},{host}/{name}"
        if form == "environment":
            monkeypatch.setenv("PGDATABASE", name)
            url = f"{start}@{host}"
        if form == "option":
            url = f"{start}@{host}?dbname={name}"
        seen.append(opened_digest(url))
        assert opened_digest(url) == seen[-1]
    assert len({*seen, None}) == 3


def test_a_database_has_one_identity_whatever_the_password_and_another_for_other_settings(postgres_url):
    import psycopg

    url = make_people(postgres_url, "d2023")
    seen = [opened_digest(url), opened_digest(url, "2026-12"), opened_digest(f"{url}?options=-cmy.tenant%3D7")]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS ann")
        connection.execute("CREATE ROLE ann LOGIN PASSWORD 'first'")
        connection.execute("GRANT SELECT ON people TO ann")
        host = url.rpartition("@")[2]
        seen.append(opened_digest(f"postgresql://ann:first@{host}"))
        connection.execute("ALTER ROLE ann PASSWORD 'second'")
        assert opened_digest(f"postgresql://ann:second@{host}") == seen[-1]
        assert opened_digest(f"postgresql://ann@{host}?password=second") == seen[-1]
        connection.execute("DROP OWNED BY ann")
        connection.execute("DROP ROLE ann")
    assert len({*seen, None}) == 5


def test_a_server_that_does_not_say_which_it_is_has_no_identity(postgres_url):
    """The same address can be that of another server the next day, as with a tunnel."""
    import psycopg

    url = make_people(postgres_url, "d2023")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("REVOKE EXECUTE ON FUNCTION pg_catalog.pg_control_system() FROM PUBLIC")
        connection.execute("DROP ROLE IF EXISTS bob")
        connection.execute("CREATE ROLE bob LOGIN PASSWORD 'first'")
        connection.execute("GRANT SELECT ON people TO bob")
        assert opened_digest(f"postgresql://bob:first@{url.rpartition('@')[2]}") is None
        connection.execute("DROP OWNED BY bob")
        connection.execute("DROP ROLE bob")


def test_an_engine_may_read_a_file_in_its_own_way_and_is_part_of_the_identity(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"rows")
    assert digest(path) == digest(path, engine="duckdb") != digest(path, engine="spark")


def test_the_sample_has_an_identity():
    assert digest("bundled:anes96") == digest("bundled:anes96") is not None


def test_a_source_that_was_written_to_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"rows")
    source = Source(str(path))
    identity = identify_source(source, HERE, None)
    check_unchanged(identity, source, HERE)
    change_in_place(path)
    with pytest.raises(InputError, match="nothing was spent: run the plan again"):
        check_unchanged(identity, source, HERE)
    path.unlink()
    with pytest.raises(InputError, match="nothing was spent: run the plan again"):
        check_unchanged(identity, source, HERE)
