"""What each of the two databases does in its own way: durability, locks, refusals, and what is not said."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from utmost.errors import InputError, LedgerError, UtmostError
from utmost.ledger import Budget, QueryCost, ReleaseCost, chain, open_ledger
from utmost.ledger.stores import sqlite
from utmost.ledger.stores.postgres import PostgresStore, url_without_password
from utmost.ledger.stores.sqlite import SqliteStore

NOBODY = 65534


def release_cost():
    return ReleaseCost("survey", "row", "replace", (QueryCost("count", Fraction(1, 10)),))


@pytest.fixture
def path(tmp_path):
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def unwritable_ledger_path():
    """A directory, and the power to act as a user who is not root, for whom modes of files count."""
    folder = Path(tempfile.mkdtemp())
    with open_ledger("ledger.sqlite", folder) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
    (folder / "ledger.sqlite").chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    yield folder / "ledger.sqlite"
    if user == 0:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


# SQLite


def test_a_file_is_relative_to_the_folder_that_is_given(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    with open_ledger("x #?%.sqlite", tmp_path / "a") as ledger:
        ledger.open(Budget("survey", Fraction(1)))
    assert (tmp_path / "a" / "x #?%.sqlite").is_file()
    monkeypatch.chdir(tmp_path)
    with open_ledger(":memory:") as ledger:
        ledger.open(Budget("survey", Fraction(1)))
    assert (tmp_path / ":memory:").is_file()


def test_commits_reach_the_disk_with_the_directory_and_leave_one_file(path):
    with SqliteStore(path).writing() as session:
        assert session.rows("PRAGMA synchronous") == [(3,)]  # EXTRA
        assert session.rows("PRAGMA journal_mode") == [("delete",)]
    assert [file.name for file in path.parent.iterdir()] == ["ledger.sqlite"]


def test_a_charge_that_fails_half_way_is_not_there(path, monkeypatch):
    def fails(*_):
        raise KeyboardInterrupt

    with open_ledger(str(path)) as ledger:
        monkeypatch.setattr(sqlite.SqliteSession, "add_all", fails)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge(release_cost())
        monkeypatch.undo()
        assert ledger.state("survey").charges == 0
        assert ledger.charge(release_cost()).spent == Fraction(1, 10)


def test_who_waits_too_long_is_told_that_others_use_the_ledger(path, monkeypatch):
    monkeypatch.setattr(sqlite, "LOCK_SECONDS", 0.05)
    with SqliteStore(path).writing(), open_ledger(str(path)) as ledger:
        assert ledger.state("survey").charges == 0  # reading goes on
        with pytest.raises(LedgerError, match=r"^ledger ledger\.sqlite is in use by others for more than"):
            ledger.charge(release_cost())


def test_a_directory_is_no_ledger(tmp_path):
    with open_ledger(str(tmp_path)) as ledger:
        for method in (ledger.budgets, lambda: ledger.open(Budget("survey", Fraction(1)))):
            with pytest.raises(InputError, match="must be a file, got a directory"):
                method()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are those of Unix")
def test_a_new_ledger_is_for_its_owner_alone_whatever_the_umask_leaves(tmp_path):
    script = f"""
import os
from fractions import Fraction
from utmost.ledger import Budget, open_ledger
os.umask(0)
with open_ledger({str(tmp_path / "ledger.sqlite")!r}) as ledger:
    ledger.open(Budget("survey", Fraction(1)))
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert stat.S_IMODE((tmp_path / "ledger.sqlite").stat().st_mode) == 0o600


def test_a_file_with_two_names_is_refused_and_left_as_it_is(path):
    """SQLite finds a journal by the file's name: who comes by the other name would not see it."""
    os.link(path, path.with_name("second.sqlite"))
    content = path.read_bytes()
    for name in (path, path.with_name("second.sqlite")):
        with open_ledger(str(name)) as ledger:
            for method in (
                ledger.budgets,
                lambda: ledger.charge(release_cost()),
                lambda: ledger.open(Budget("b", Fraction(1))),
            ):
                with pytest.raises(InputError, match="must have one name, got a file with several hard links"):
                    method()
    assert path.read_bytes() == content


def test_a_symbolic_link_leads_to_the_one_ledger(path, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.sqlite"
    link.symlink_to(path)
    for name in (link, path):
        with open_ledger(str(name)) as ledger:
            ledger.charge(release_cost())
    with open_ledger(str(path)) as ledger:
        assert ledger.state("survey").charges == 2
    assert [file.name for file in link.parent.iterdir()] == ["link.sqlite"]


def test_a_file_that_is_not_there_is_not_made_by_looking(tmp_path):
    missing = r"ledger none\.sqlite must exist, got no such file: .* utmost budget open"
    with open_ledger("none.sqlite", tmp_path) as ledger, pytest.raises(InputError, match=missing):
        ledger.charge(release_cost())
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with (
        open_ledger("none/ledger.sqlite", tmp_path) as ledger,
        pytest.raises(InputError, match="directory that exists"),
    ):
        ledger.open(Budget("survey", Fraction(1)))


@pytest.mark.parametrize("content", [b"name,age\nann,3\n" * 50, b"\0" * 5000, b"SQLite format 3\0" + b"x" * 3000])
def test_a_file_of_another_kind_is_no_ledger_and_is_not_touched(tmp_path, content):
    file = tmp_path / "people.csv"
    file.write_bytes(content)
    with open_ledger(str(file)) as ledger:
        for method in (
            ledger.budgets,
            lambda: ledger.charge(release_cost()),
            lambda: ledger.open(Budget("survey", Fraction(1))),
        ):
            with pytest.raises(
                (InputError, LedgerError), match=r"^ledger people\.csv (must be a ledger|is damaged)"
            ) as error_info:
                method()
            assert "ann" not in str(error_info.value)
    assert file.read_bytes() == content


def test_an_sqlite_file_with_other_tables_is_no_ledger_and_is_not_touched(tmp_path):
    file = tmp_path / "people.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    content = file.read_bytes()
    with open_ledger(str(file)) as ledger:
        for method in (ledger.budgets, lambda: ledger.open(Budget("survey", Fraction(1)))):
            with pytest.raises(InputError, match="must be a ledger, got"):
                method()
    assert file.read_bytes() == content


def test_an_empty_file_becomes_a_ledger_when_a_budget_is_opened(tmp_path):
    (tmp_path / "ledger.sqlite").touch()
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        with pytest.raises(InputError, match="must be a ledger"):
            ledger.budgets()
        ledger.open(Budget("survey", Fraction(1)))
        assert len(ledger.budgets()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are those of Unix")
def test_a_file_that_cannot_be_written_can_be_read(unwritable_ledger_path):
    with open_ledger(str(unwritable_ledger_path)) as ledger:
        assert ledger.state("survey").left == 1
        with pytest.raises(
            LedgerError, match=r"ledger ledger\.sqlite cannot be written: make the file and its directory"
        ):
            ledger.charge(release_cost())
        with pytest.raises(LedgerError, match="cannot be written"):
            ledger.open(Budget("other", Fraction(1)))


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are those of Unix")
def test_a_file_that_cannot_be_read_says_so(unwritable_ledger_path):
    user = os.geteuid()
    if user == NOBODY:
        os.seteuid(0)
    unwritable_ledger_path.chmod(0)
    if user == NOBODY:
        os.seteuid(NOBODY)
    with (
        open_ledger(str(unwritable_ledger_path)) as ledger,
        pytest.raises(LedgerError, match="cannot be opened: make the file"),
    ):
        ledger.budgets()


def test_a_ledger_that_is_put_back_is_seen_at_the_next_charge(path, tmp_path):
    with open_ledger(str(path)) as ledger:
        shutil.copy(path, tmp_path / "copy")
        ledger.charge(release_cost())
        (tmp_path / "copy").replace(path)
        assert ledger.charge(release_cost()).spent == Fraction(1, 10)


@pytest.mark.parametrize(
    "location", ["", "  ", "mysql://ann:secret@db/ledger", "sqlite:///x", "http://x", "a\0b"], ids=repr
)
def test_an_invalid_location_is_refused_without_repeating_it(location):
    message = r"^ledger must be a file such as ledger\.sqlite or a URL"
    with pytest.raises(InputError, match=message) as refusal, open_ledger(location):
        pass
    assert "secret" not in str(refusal.value)


# PostgreSQL


@pytest.mark.parametrize(
    ("url", "displayed_url"),
    [
        ("postgresql://ann:secret@db.example:5433/ledger", "postgresql://db.example:5433/ledger"),
        ("postgres://ann@[::1]:5433/ledger?password=secret", "postgresql://[::1]:5433/ledger"),
        ("postgresql:///ledger?host=/run&password=secret", "postgresql:///ledger"),
        ("postgresql://ann:secr@et@db/ledger", "postgresql://…"),
        ("postgresql://ann:secr/et@db/ledger", "postgresql://…"),
        ("postgresql://ann:secr?et@db/ledger", "postgresql://…"),
        ("postgresql://ann:12?secret@db/ledger", "postgresql://…"),
        ("postgresql://ann:secret", "postgresql://…"),
        ("postgresql://ann:se#cret@db/ledger", "postgresql://db/ledger"),
        ("postgresql://ann:%73ecret@db/led%67er", "postgresql://…"),
    ],
)
def test_of_a_url_no_more_is_shown_than_cannot_be_a_password(url, displayed_url):
    assert url_without_password(url) == displayed_url
    assert PostgresStore(url).name == f"ledger {displayed_url}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def full_traceback_text(problem):
    """All that an error says, to whoever prints it with its causes."""
    import traceback

    return "".join(traceback.format_exception(problem)) + repr(problem)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret@127.0.0.1:{port}/ledger",
        "postgresql://ann:secret@127.0.0.1:secret/ledger",
        "postgresql://ann:secret@127.0.0.1:{port}/ledger?secret=1",
        "postgresql://ann:sec%ret@127.0.0.1:{port}/ledger",
        "postgresql://ann:secret%00@127.0.0.1:{port}/ledger",
        "postgresql://ann:secret@[::1/ledger",
        "postgresql://ann:secret@127.0.0.1:{port}/ledger\ud800",
    ],
    ids=ascii,
)
def test_an_unreachable_server_is_reported_without_the_drivers_message(url):
    pytest.importorskip("psycopg", reason="psycopg is not installed: make engines")
    with open_ledger(url.format(port=free_port())) as ledger:
        for method in (
            ledger.budgets,
            lambda: ledger.charge(release_cost()),
            lambda: ledger.open(Budget("survey", Fraction(1))),
        ):
            with pytest.raises(LedgerError, match="cannot be reached: check host, port") as error_info:
                method()
            assert "secret" not in str(error_info.value) + repr(ledger)
            assert error_info.value.__suppress_context__


def test_a_wrong_password_is_not_repeated(postgres_url):
    wrong = postgres_url.replace(":", ":wrong-secret", 2).replace("wrong-secret//", "//", 1)
    assert wrong.startswith("postgresql://postgres:wrong-secret")
    with open_ledger(wrong) as ledger, pytest.raises(LedgerError, match="user and password") as error_info:
        ledger.budgets()
    assert "wrong-secret" not in full_traceback_text(error_info.value)


def test_without_psycopg_the_way_to_install_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    install_command = r"pip install 'utmost\[postgres\]'"
    with (
        open_ledger("postgresql://ann:secret@db/ledger") as ledger,
        pytest.raises(LedgerError, match=install_command) as error_info,
    ):
        ledger.budgets()
    assert "secret" not in str(error_info.value)


@pytest.fixture
def store(postgres_url):
    with open_ledger(postgres_url) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
    store = PostgresStore(postgres_url)
    yield store
    store.close()


def set_database_defaults(url, **values):
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in values.items():
            connection.execute(f"ALTER DATABASE \"{connection.info.dbname}\" SET {name} TO '{value}'")


def test_commits_wait_for_the_disk_and_statements_see_what_others_committed_whatever_the_defaults(store, postgres_url):
    set_database_defaults(
        postgres_url,
        synchronous_commit="off",
        default_transaction_isolation="serializable",
        default_transaction_read_only="on",
    )
    with store.writing() as session:
        assert session.rows("SHOW synchronous_commit") == [("on",)]
        assert session.rows("SHOW transaction_isolation") == [("read committed",)]
        assert session.rows("SHOW transaction_read_only") == [("off",)]
    with store.reading() as session:
        assert session.rows("SHOW transaction_isolation") == [("repeatable read",)]
        assert session.rows("SHOW transaction_read_only") == [("on",)]


def test_a_charge_waits_for_the_one_before_it_and_sees_it(store, postgres_url):
    entries = []

    def second():
        with open_ledger(postgres_url) as ledger:
            entries.append(ledger.charge(release_cost()))

    waiting = threading.Thread(target=second)
    with store.writing() as session:
        session.rows("SELECT id FROM utmost_budgets WHERE name = ? FOR UPDATE", "survey")
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()
        ((opening_hash,),) = session.rows("SELECT opening_hash FROM utmost_budgets")
        entry_hash = chain.charge_hash(opening_hash, ["", "first", *[None] * 10], [["q", "1/2", "any", 1, None]])
        insert = "INSERT INTO utmost_charges (budget, charged, plan, entry_hash) VALUES (1, '', ?, ?)"
        number = session.add(insert, "first", entry_hash)
        costs = (
            "INSERT INTO utmost_costs (charge, place, query, epsilon, law, steps) VALUES (?, 0, 'q', '1/2', 'any', 1)"
        )
        session.add_all(costs, [(number,)])
        session.run("UPDATE utmost_budgets SET head_hash = ?", entry_hash)
    waiting.join(30)
    assert [entry.spent for entry in entries] == [Fraction(6, 10)]


def set_search_path(url, *schemas):
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{connection.info.dbname}" SET search_path TO {", ".join(schemas)}')


def test_names_are_those_of_the_ledgers_schema_and_of_the_built_in_functions(postgres_url):
    """Functions and tables of the same names that come first on the search path are not used."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA books")
        connection.execute("CREATE SCHEMA trap")
    set_search_path(postgres_url, "books")
    with open_ledger(postgres_url) as ledger:
        ledger.open(Budget("survey", Fraction(1)))
        ledger.charge(release_cost())
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            tables = connection.execute("SELECT schemaname FROM pg_tables WHERE tablename LIKE 'utmost%'").fetchall()
            assert tables == [("books",)] * 5
            connection.execute("CREATE FUNCTION trap.count(bigint) RETURNS bigint LANGUAGE SQL AS 'SELECT 0::bigint'")
            for name in ("budgets", "charges", "costs", "releases"):
                connection.execute(f"CREATE TABLE trap.utmost_{name} (LIKE books.utmost_{name} INCLUDING ALL)")
        set_search_path(postgres_url, "trap", "books", "pg_catalog")
    with open_ledger(postgres_url) as ledger:
        assert ledger.charge(release_cost()).spent == Fraction(2, 10)
        assert ledger._store._connection is not None
        with ledger._store.reading() as session:
            assert session.rows("SHOW search_path") == [("pg_catalog",)]


def test_a_ledger_in_two_schemas_of_the_search_path_is_refused(store, postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.utmost_ledger (LIKE public.utmost_ledger)")
    set_search_path(postgres_url, "other", "public")
    with open_ledger(postgres_url) as ledger, pytest.raises(LedgerError, match="must be in one schema"):
        ledger.charge(release_cost())


def test_who_waits_too_long_for_a_row_is_told_that_others_use_it(store, postgres_url, monkeypatch):
    monkeypatch.setattr("utmost.ledger.stores.postgres.LOCK_SECONDS", 0.2)
    with store.writing() as session, open_ledger(postgres_url) as ledger:
        session.rows("SELECT id FROM utmost_budgets FOR UPDATE")
        assert ledger.state("survey").charges == 0  # reading goes on
        with pytest.raises(LedgerError, match="is in use by others for more than"):
            ledger.charge(release_cost())


def test_a_connection_that_is_lost_is_told_and_then_made_anew(store, postgres_url):
    import psycopg

    with open_ledger(postgres_url) as ledger:
        assert ledger.charge(release_cost()).spent == Fraction(1, 10)
        with psycopg.connect(postgres_url, autocommit=True) as other_connection:
            other_connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            )
        with pytest.raises(LedgerError, match="lost its connection"):
            ledger.charge(release_cost())
        assert ledger.charge(release_cost()).spent == Fraction(2, 10)


def test_a_user_who_may_not_write_is_told_so_and_needs_no_more_than_is_said(store, postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        port, database = connection.info.port, connection.info.dbname
        name = f"reader_{database}"
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'reader'")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
        try:
            with open_ledger(f"postgresql://{name}:reader@127.0.0.1:{port}/{database}") as ledger:
                assert ledger.state("survey").left == 1
                with pytest.raises(LedgerError, match="may not be used by this user: let it"):
                    ledger.charge(release_cost())
                connection.execute(f"GRANT INSERT ON ALL TABLES IN SCHEMA public TO {name}")
                connection.execute(f"GRANT UPDATE ON utmost_budgets TO {name}")
                assert ledger.charge(release_cost()).spent == Fraction(1, 10)
                ledger.open(Budget("other", Fraction(1)))
        finally:
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")


def test_a_ledger_lies_in_a_database_beside_other_tables(postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        with open_ledger(postgres_url) as ledger:
            ledger.open(Budget("survey", Fraction(1)))
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert {name for (name,) in tables} > {"people", "utmost_budgets"}
    assert all(name == "people" or name.startswith("utmost_") for (name,) in tables)


def test_a_failure_of_the_server_is_reported_without_its_message(store, postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE utmost_costs ADD CONSTRAINT secret_rule CHECK (query <> 'count')")
    with (
        open_ledger(postgres_url) as ledger,
        pytest.raises(LedgerError, match=r"failed \(SQLSTATE 23514\)") as error_info,
    ):
        ledger.charge(release_cost())
    assert "secret_rule" not in full_traceback_text(error_info.value)
    assert isinstance(error_info.value, UtmostError)


def test_two_that_make_the_same_ledger_at_once_both_open_their_budget(postgres_url):
    gate, problems = threading.Barrier(8), []

    def make(k):
        try:
            with open_ledger(postgres_url) as ledger:
                gate.wait()
                ledger.open(Budget(f"b{k}", Fraction(1)))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=make, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    with open_ledger(postgres_url) as ledger:
        assert {budget.name for budget in ledger.budgets()} == {f"b{k}" for k in range(8)}
