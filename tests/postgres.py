"""A private PostgreSQL for tests: one cluster for each pytest process, on loopback, in a directory of its own.

    from postgres import postgres_url          # a fixture: the URL of a fresh empty database, for each test
    from postgres import postgres_module_url   # the same for each module
    from postgres import database              # with database() as url: the same by hand

Fixtures are imported in a conftest.py, with `__all__ = ["postgres_url"]` for the linter; tests then take them as
arguments. The URL has a user and a password that the server does check. The cluster starts when it is first asked for
and is stopped when pytest ends; it does not write through to the disk, so it is quick and would not survive a power
cut. Where PostgreSQL or psycopg is missing the test is skipped with the reason.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

USER = "postgres"
MAX_CONNECTIONS = 150
START_ATTEMPTS = 5  # another process can take the free port before the server does
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": MAX_CONNECTIONS,
    "shared_buffers": "32MB",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A running cluster; `password` is that of the one user."""

    programs: Path
    folder: Path
    port: int
    password: str

    def url(self, name: str) -> str:
        """Where a database is, as drivers read it."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{name}"

    def stop(self) -> None:
        """Stop the cluster and remove its directory; a second time is nothing."""
        if self.folder.exists():
            _run([self.programs / "pg_ctl", "stop", "-D", self.folder / "data", "-m", "immediate"])
            shutil.rmtree(self.folder, ignore_errors=True)


@cache
def server() -> Server | str:
    """The cluster of this process, started once; or why there is none."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    programs = _find_programs()
    if programs is None:
        return "PostgreSQL is not installed: no initdb in PATH or in /usr/lib/postgresql/*/bin"
    if _is_root() and shutil.which("runuser") is None:
        return "PostgreSQL does not run as root, and there is no runuser to become the user postgres"
    cluster = _start_cluster(programs)
    atexit.register(cluster.stop)
    return cluster


@contextmanager
def database() -> Iterator[str]:
    """The URL of a fresh empty database, dropped at the end with whoever is still connected."""
    cluster = server()
    if isinstance(cluster, str):
        pytest.skip(cluster)
    name = f"test_{secrets.token_hex(6)}"
    _execute(cluster, f'CREATE DATABASE "{name}"')
    try:
        yield cluster.url(name)
    finally:
        _execute(cluster, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh empty database for a test."""
    yield from _database_url(request)


@pytest.fixture(scope="module")
def postgres_module_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh empty database for the tests of a module."""
    yield from _database_url(request)


def _database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    cluster = server()
    if isinstance(cluster, Server):
        request.config.add_cleanup(cluster.stop)
    with database() as url:
        yield url


def _execute(cluster: Server, statement: str) -> None:
    import psycopg

    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(statement.encode())


def _start_cluster(programs: Path) -> Server:
    """A new cluster that answers, on a port that was free."""
    folder = Path(tempfile.mkdtemp(prefix="utmost-postgres-"))
    password = secrets.token_hex(8)
    (folder / "password").write_text(password)
    if _is_root():
        for path in (folder, folder / "password"):
            shutil.chown(path, USER)
    users = ["-U", USER, "-A", "scram-sha-256", f"--pwfile={folder / 'password'}"]
    initialisation = _run([programs / "initdb", "-D", folder / "data", "-E", "UTF8", "--locale=C", "--no-sync", *users])
    if initialisation.returncode:
        raise RuntimeError(f"initdb failed: {initialisation.stdout}")
    for _ in range(START_ATTEMPTS):
        port = _free_port()
        settings = " ".join(f"-c {name}='{value}'" for name, value in {**SETTINGS, "port": port}.items())
        log = folder / "log"
        start = _run([programs / "pg_ctl", "start", "-w", "-D", folder / "data", "-l", log, "-o", settings])
        if start.returncode == 0:
            return Server(programs, folder, port, password)
    raise RuntimeError(f"PostgreSQL did not start: {start.stdout}\n{log.read_text() if log.exists() else ''}")


def _run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a program of PostgreSQL, as the user postgres where we are root: it refuses root."""
    become = ["runuser", "-u", USER, "--"] if _is_root() else []
    with tempfile.TemporaryFile("w+") as output:  # not a pipe: the server that pg_ctl leaves behind would keep it open
        process = subprocess.run([*become, *map(str, command)], stdout=output, stderr=output, cwd="/", timeout=120)
        output.seek(0)
        return subprocess.CompletedProcess(process.args, process.returncode, output.read(), "")


def _find_programs() -> Path | None:
    """The directory of initdb and pg_ctl: that of the newest version found."""
    initdb = shutil.which("initdb")
    if initdb is not None:
        return Path(initdb).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return versions[-1].parent if versions else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
