"""A source has the identity of an earlier one only if its rows are the same."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from utmost.data import source_identity
from utmost.data.source_identity import NO_EXACT_TIMES, NO_FINGERPRINT, check_unchanged, identify_source
from utmost.data.sources import Source
from utmost.errors import InputError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="times of the last change are those of Unix")
HERE = Path()


def digest(location: Path | str, fingerprint: str | None = None, **options: str) -> str | None:
    return identify_source(Source(str(location), **options), HERE, fingerprint).digest


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
    monkeypatch.setattr(source_identity, "_file_state", lambda name: (name, 1, 5, 10**18))
    assert digest(path) is None


def test_a_database_is_recognised_by_the_curators_word_alone():
    url = "postgresql://ann:secret@db.example/survey"
    assert identify_source(Source(url, table="people"), HERE, None).problem == NO_FINGERPRINT
    assert identify_source(Source(table="people", engine="spark"), HERE, None).problem == NO_FINGERPRINT
    first = digest(url, "2026-11")
    assert first == digest(url.replace("secret", "another"), "2026-11")  # no password is in it
    assert first == digest(f"{url}?password=another", "2026-11")
    others = [
        digest(url, "2026-12"),
        digest(url.replace("ann", "bob"), "2026-11"),
        digest(url.replace("survey", "panel"), "2026-11"),
        digest(f"{url}?options=-csearch_path%3Dother", "2026-11"),
        digest("", "2026-11", engine="spark"),
    ]
    assert len({first, *others}) == 6


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
    check_unchanged(identity, source, HERE, None)
    change_in_place(path)
    with pytest.raises(InputError, match="nothing was spent: run the plan again"):
        check_unchanged(identity, source, HERE, None)
    path.unlink()
    with pytest.raises(InputError, match="nothing was spent: run the plan again"):
        check_unchanged(identity, source, HERE, None)
