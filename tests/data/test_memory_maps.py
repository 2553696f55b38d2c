"""A file that is changed through mapped memory, where a second change of a page is no call of the system."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from utmost.data import source_identity
from utmost.data.source_identity import NO_EXACT_TIMES, SourceIdentity, check_unchanged, identify_source
from utmost.data.sources import Source
from utmost.errors import InputError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="times of the last change are those of Unix")
SHARED_MEMORY = Path("/dev/shm")
MOUNTS = """22 27 0:21 / /proc rw,relatime - proc proc rw
25 24 0:23 / /dev/shm rw,relatime shared:4 - tmpfs tmpfs rw,size=24684100k
31 24 0:40 / /mnt/a\\040-\\040b rw - ramfs none rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
"""


@pytest.fixture(params=["disk", "memory"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "disk":
        yield tmp_path / "people.csv"
        return
    if not os.access(SHARED_MEMORY, os.W_OK):
        pytest.skip("no file system in memory here")
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        yield Path(folder) / "people.csv"


def test_a_file_changed_through_mapped_memory_has_another_identity_or_none(path):
    path.write_bytes(b"a" * 8192)
    source = Source(str(path))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:1] = b"b"  # the page is written to already
        before = identify_source(source, Path(), None)
        time.sleep(0.05)
        memory[1:2] = b"c"
        after = identify_source(source, Path(), None)
        if before.digest is None:
            assert before == after == SourceIdentity(None, NO_EXACT_TIMES)
            return
        assert after.digest not in (before.digest, None)
        with pytest.raises(InputError, match="must stay as it is"):
            check_unchanged(before, source, Path())


def test_file_systems_in_memory_are_found_in_the_list_of_mounts(tmp_path, monkeypatch):
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(source_identity, "MOUNTS", str(tmp_path / "mountinfo"))
    assert source_identity.memory_devices() == {os.makedev(0, 23), os.makedev(0, 40)}
    monkeypatch.setattr(source_identity, "MOUNTS", str(tmp_path / "absent"))
    assert source_identity.memory_devices() == frozenset()
