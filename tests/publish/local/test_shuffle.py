"""A uniformly random order, in memory and through files."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from noise.word_sources import ScriptedWords, fixed_stream
from utmost.noise.entropy import system_source
from utmost.publish.local import execute

SCHEMA = pa.schema([("row", pa.int64()), ("name", pa.string())])


def batches(rows: int, size: int = 7) -> list[pa.RecordBatch]:
    numbers = np.arange(rows)
    table = pa.table({"row": numbers, "name": [f"n{k}" for k in numbers]}, schema=SCHEMA)
    return table.to_batches(max_chunksize=size)


def rows_of(shuffled) -> list[int]:
    table = pa.Table.from_batches(list(shuffled), SCHEMA)
    assert table["name"].to_pylist() == [f"n{k}" for k in table["row"].to_pylist()]
    return table["row"].to_pylist()


def test_every_order_of_distinct_words_is_another_order_of_rows_and_equal_words_are_drawn_again() -> None:
    words = (5, 2**63, 2**64 - 1, 77)
    orders = {tuple(execute.permutation(4, ScriptedWords(p)).tolist()) for p in permutations(words)}
    assert len(orders) == factorial(4)
    repeated = ScriptedWords([9, 3, 9, 1, 2, 3])
    assert execute.permutation(3, repeated).tolist() == [0, 1, 2]
    assert repeated.remaining == []


@pytest.mark.parametrize("max_bytes", [10**9, 2000, 100, 0])
@pytest.mark.parametrize("rows", [0, 1, 63, 500])
def test_all_rows_come_out_once_and_no_file_is_left(rows: int, max_bytes: int, tmp_path: Path) -> None:
    order = rows_of(execute.shuffle_rows(batches(rows), SCHEMA, tmp_path, None, max_bytes))
    assert sorted(order) == list(range(rows))
    assert rows < 60 or order != sorted(order)
    assert list(tmp_path.iterdir()) == []


def test_files_are_used_only_beyond_what_is_held(tmp_path: Path) -> None:
    shuffled = execute.shuffle_rows(batches(500), SCHEMA, tmp_path, None, 2000)
    next(shuffled)
    assert (tmp_path / "parts").is_dir()
    shuffled.close()
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    next(execute.shuffle_rows(batches(500), SCHEMA, other_folder, None, 10**6))
    assert list(other_folder.iterdir()) == []


@pytest.mark.parametrize("max_bytes", [10**9, pytest.param(0, marks=pytest.mark.slow)], ids=["memory", "files"])
def test_all_orders_of_four_rows_are_alike(max_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files at a time. 24 orders, 600 runs, χ² with 23 degrees: false alarm 1e-6."""
    monkeypatch.setattr(execute, "BUCKET_BITS", 1)
    order_counts = Counter(
        tuple(rows_of(execute.shuffle_rows(batches(4), SCHEMA, tmp_path, system_source(), max_bytes)))
        for _ in range(600)
    )
    counts = [order_counts[p] for p in permutations(range(4))]
    assert stats.chisquare(counts).pvalue > 1e-6


def test_one_row_larger_than_what_is_held_is_no_trouble(tmp_path: Path) -> None:
    table = pa.table({"row": [0, 1], "name": ["n0", "n1"]}, schema=SCHEMA)
    assert sorted(rows_of(execute.shuffle_rows(table.to_batches(), SCHEMA, tmp_path, None, 1))) == [0, 1]


def test_the_same_words_make_the_same_order(tmp_path: Path) -> None:
    first, second = (
        rows_of(execute.shuffle_rows(batches(300), SCHEMA, tmp_path, fixed_stream(3), 1000)) for _ in range(2)
    )
    assert first == second
