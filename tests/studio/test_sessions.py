"""The key that signs sessions: whole, secret, and the same for all who start at once."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from utmost.errors import InputError
from utmost.studio import visitors
from utmost.studio.visitors import Sessions

SOURCE_FOLDER = Path(visitors.__file__).parents[1]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 31, b"x" * 33], ids=len)
def test_a_key_that_is_not_whole_is_refused(tmp_path, content):
    """With an empty key anybody could sign a cookie."""
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(InputError, match=f"key of the studio must have 32 bytes, got {len(content)}: remove"):
        Sessions(tmp_path)
    assert (tmp_path / "key").read_bytes() == content


def test_a_key_is_never_seen_before_it_is_whole(tmp_path, monkeypatch):
    """Whoever looks while a key is made finds no file, or all of it; a key that came first is not replaced."""
    looks = []

    def look(count):
        looks.append((tmp_path / "key").exists())
        (tmp_path / "key").write_bytes(b"k" * 32)  # another studio was quicker
        return b"o" * count

    monkeypatch.setattr(visitors, "random_bytes", look)
    assert Sessions(tmp_path)._key == b"k" * 32
    assert looks == [False]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ended", "key"]


def test_all_who_start_at_once_have_one_key_for_its_owner_alone(tmp_path):
    with ThreadPoolExecutor(16) as threads:
        keys = {started._key for started in threads.map(lambda _: Sessions(tmp_path / "state"), range(64))}
    assert len(keys) == 1
    assert len(keys.pop()) == 32
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "state" / "key").stat().st_mode) == 0o600


def test_no_module_changes_the_umask_of_the_process():
    """It belongs to all threads: while one sets it to 0 to read it, another makes a file that anybody can write."""
    users = [path.name for path in SOURCE_FOLDER.rglob("*.py") if "os.umask(" in path.read_text(encoding="utf-8")]
    assert users == []
