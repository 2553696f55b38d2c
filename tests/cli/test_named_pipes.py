"""A named pipe in the place of a file is refused at once: opening it would wait for a writer that may never come."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from utmost.channel.files import read_channel
from utmost.consumer.family import read_text
from utmost.data.source_identity import identify_source
from utmost.data.sources import Source, open_table
from utmost.errors import InputError
from utmost.publish.local import table_files
from utmost.publish.local.metadata import metadata_path, read_metadata
from utmost.publish.plans import read_plan
from utmost.publish.release_file import read_release
from utmost.spaces.files import read_distances, read_graph

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    """Ten seconds of waiting are a failure."""

    def stop(*_: Any) -> None:
        pytest.fail("it waits for a writer", pytrace=False)

    earlier = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, earlier)


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "plan": ("p.toml", read_plan),
    "release": ("r.json", read_release),
    "channel": ("c.csv", read_channel),
    "prior, loss or definition": ("w.csv", lambda path: read_text(path, "prior")),
    "matrix": ("m.csv", read_distances),
    "graph": ("g.csv", read_graph),
    "table to obfuscate": ("t.csv", lambda path: table_files.open_table(path, ["a"], "IN").__enter__()),
}


@pytest.mark.parametrize(("file_name", "read"), READERS.values(), ids=READERS)
def test_a_named_pipe_is_refused_by_every_reader_of_files(tmp_path: Path, file_name: str, read: Any) -> None:
    os.mkfifo(tmp_path / file_name)
    with pytest.raises(InputError, match=r"must be a file, got .*, which is a named pipe: write it to a file"):
        read(tmp_path / file_name)


def test_a_named_pipe_is_no_note_beside_a_table(tmp_path: Path) -> None:
    os.mkfifo(metadata_path(tmp_path / "t.csv"))
    with pytest.raises(InputError, match="named pipe"):
        read_metadata(tmp_path / "t.csv")


def test_a_pipe_that_a_shell_opened_is_read_to_its_end() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"1/2,1/2")
    os.close(writer)
    assert read_text(Path(f"/dev/fd/{reader}"), "prior") == "1/2,1/2"
    os.close(reader)


@pytest.mark.parametrize("location", ["x.csv", "x.parquet", "x.duckdb"])
def test_a_source_must_be_a_regular_file(tmp_path: Path, location: str) -> None:
    os.mkfifo(tmp_path / location)
    identify_source(Source(location), tmp_path, None)
    with pytest.raises(InputError, match="location must be a file"), open_table(Source(location), tmp_path):
        pytest.fail("it was opened")


def test_a_folder_of_parquet_files_must_hold_files_alone(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").mkdir()
    os.mkfifo(tmp_path / "x.parquet" / "part.parquet")
    with pytest.raises(InputError, match="folder of files"), open_table(Source("x.parquet"), tmp_path):
        pytest.fail("it was opened")
