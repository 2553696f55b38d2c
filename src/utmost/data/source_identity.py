"""Recognise the rows of a source: the same identity only where two plans read the same rows.

A file is recognised by its place, its inode and the times of its last change, which the operating system keeps; a
directory by those of everything in it. Its content is not looked at, for two reasons: a hash of it could be held
against guesses of one row by whoever reads the ledger, and what a plan costs would depend on what is in the rows. A
file that was written to is another source even if the same was written. The rows of a database cannot be recognised:
there the curator's `fingerprint` says that they are the same, and the open connection which database it is
(`Engine.identify_database`). Its URL does not: what a URL leaves out comes from the environment.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from utmost.data.engines.engine import SourceIdentity, hashed_identity
from utmost.data.sources import Source, source_path
from utmost.errors import InputError

CLOCK_TICK_NS = 20_000_000  # two changes of a file that are further apart have different times
WHOLE_SECOND_NS = 10**9
MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")  # no time of a change through mapped memory is kept
SYNC_THREADS = 32  # a disk writes many files at once
MOUNTS = "/proc/self/mountinfo"
MAX_SOURCE_FILES = 10_000  # of a directory
NO_EXACT_TIMES = "no exact times of the last change are kept where the file lies"
CHANGED_MESSAGE = (
    "source must stay as it is while it is read, got one that was written to; nothing was spent: run the plan again"
)


class FileState(NamedTuple):
    """A file or folder as the operating system knows it: its inode, and the times of its last change in nanoseconds."""

    name: str
    inode: int
    modified: int
    changed: int


def identify_source(
    source: Source, folder: Path, fingerprint: str | None, database: str | None = None
) -> SourceIdentity:
    """The identity of a source's rows, from what is known about them without reading any.

    `database` is what the open connection to a database says (`Table.database`).
    """
    if not source.kind.is_file:
        return source.reader.identify_database(fingerprint, database)
    with source_path(source, folder) as path:
        return _file_identity(source, path)


def check_unchanged(identity: SourceIdentity, source: Source, folder: Path) -> None:
    """Refuse a source that was written to since it had this identity: the ledger would take other rows for its.

    A database is read in one transaction, which sees one state.
    """
    if source.kind.is_file and identity.digest is not None and identify_source(source, folder, None) != identity:
        raise InputError(CHANGED_MESSAGE)


def _file_identity(source: Source, path: Path) -> SourceIdentity:
    try:
        state = _settled_state(path, source.kind.log_suffixes) if os.name == "posix" else None
    except OSError:
        state = None
    if state is None:
        return SourceIdentity(None, NO_EXACT_TIMES)
    return hashed_identity(source.reader.name, str(path), state)


def _settled_state(path: Path, log_suffixes: tuple[str, ...]) -> list[FileState] | None:
    """The state of a file once any later change of it must show; None where times are too coarse for that."""
    state = list(_file_states(path, log_suffixes))
    newest = max(file.changed for file in state)
    age = time.time_ns() - newest
    is_exact = all(file.changed % WHOLE_SECOND_NS for file in state)
    if not is_exact or age < 0 or len(state) > MAX_SOURCE_FILES:
        return None
    if age < CLOCK_TICK_NS:
        time.sleep((CLOCK_TICK_NS - age) / WHOLE_SECOND_NS)
        return state if list(_file_states(path, log_suffixes)) == state else None
    return state


def _file_states(path: Path, log_suffixes: tuple[str, ...]) -> Iterator[FileState]:
    """The file and its logs beside it; or the directory and all that is in it."""
    logs = [f"{path}{suffix}" for suffix in log_suffixes]
    names = [str(path), *(log for log in logs if os.path.exists(log))]
    for folder, folders, file_names in os.walk(path, onerror=_raise) if path.is_dir() else ():
        if any(os.path.islink(os.path.join(folder, name)) for name in folders):
            raise OSError("what a link in a directory leads to is not walked through")
        names += [os.path.join(folder, name) for name in sorted([*folders, *file_names])]
        if len(names) > MAX_SOURCE_FILES:
            raise OSError("too many files to recognise")
    with ThreadPoolExecutor(SYNC_THREADS) as pool:
        yield from pool.map(_file_state, names, repeat(memory_devices()))


def _file_state(name: str, devices: frozenset[int]) -> FileState:
    """Opened, not only looked at, so that a network file system asks its server; and written to the disk.

    A page of mapped memory that was written to can be written to again without a new time. Once it is on the disk, the
    next change of it has one.
    """
    handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a named pipe is not waited for
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode):
            os.fsync(handle)
            status = os.fstat(handle)
    finally:
        os.close(handle)
    if status.st_dev in devices:
        raise OSError("a file system in memory keeps no times of changes through mapped memory")
    return FileState(name, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def memory_devices() -> frozenset[int]:
    """The devices of Linux's file systems in memory, as files have them; none where no list of mounts is."""
    try:
        with open(MOUNTS, encoding="utf-8", errors="replace") as mounts:
            fields = [line.split() for line in mounts]
    except OSError:
        return frozenset()
    devices = (field[2].split(":") for field in fields if field[field.index("-") + 1] in MEMORY_FILE_SYSTEMS)
    return frozenset(os.makedev(int(major), int(minor)) for major, minor in devices)


def _raise(problem: OSError) -> None:
    raise problem
