"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from utmost.channel import channel
from utmost.channel.files import write_channel
from utmost.charts import channel_chart, save_chart
from utmost.errors import InputError
from utmost.exact.files import replace_file, write_file

SMALL = channel([["2/3", "1/3"], ["1/3", "2/3"]])
WRITERS: dict[str, Callable[[Path], None]] = {
    **dict.fromkeys((".csv", ".json"), lambda path: write_channel(SMALL, path)),
    **dict.fromkeys((".svg", ".png", ".html"), lambda path: save_chart(channel_chart(SMALL, "t"), path)),
}


def test_an_error_while_writing_leaves_the_earlier_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"earlier")
    with suppress(InputError), replace_file(path) as stream:
        stream.write(b"half")
        raise InputError("refused")
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [f"a{ending}" for ending in WRITERS])
def test_a_full_disk_leaves_the_earlier_file_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / name
    path.write_bytes(b"earlier")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(InputError, match=f"cannot write {name}: No space"):
        WRITERS[path.suffix](path)
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_bytes(b"earlier")
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(InputError, match="output must be a file"):
            write_file(tmp_path / name, b"")
    with pytest.raises(InputError, match="cannot write a: No such file"):
        write_file(tmp_path / "missing" / "a", b"")


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_file(tmp_path / "a", b"x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode
