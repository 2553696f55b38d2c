"""A data frame is a source: what it may hold, what is refused, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import utmost as ut
from utmost.errors import InputError
from utmost.ledger import Budget, open_ledger

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

PLAN: dict[str, Any] = {
    "neighbours": "add-remove",
    "budget": "votes",
    "query": [{"name": "yes", "kind": "count", "where": "vote = 1", "epsilon": "30"}],
}
ROWS = {"vote": [0, 1, 1, None], "town": ["a", None, "b", "b"]}
FRAMES = {
    "pandas": lambda: pd.DataFrame({"vote": pd.array(ROWS["vote"], dtype="Int64"), "town": ROWS["town"]}),
    "polars": lambda: pl.DataFrame(ROWS),
    "lazy": lambda: pl.LazyFrame(ROWS),
    "arrow": lambda: pa.table(ROWS),
    "batch": lambda: pa.RecordBatch.from_pydict(ROWS),
    "dataset": lambda: __import__("pyarrow.dataset").dataset.dataset(pa.table(ROWS)),
    "stream": lambda: Stream(pa.table(ROWS)),
}


class Stream:
    """An object that only has Arrow's stream interface."""

    def __init__(self, *tables: Any) -> None:
        self.tables, self.asked = tables, 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.asked += 1
        return self.tables[(self.asked - 1) % len(self.tables)].__arrow_c_stream__(requested_schema)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with open_ledger("ledger.sqlite", tmp_path) as ledger:
        ledger.open(Budget("votes", 100, unit="row", neighbours="add-remove"))  # type: ignore[arg-type]
    return tmp_path


@pytest.mark.parametrize("kind", FRAMES)
def test_a_plan_is_released_from_a_frame(kind: str, folder: Path) -> None:
    record = ut.release(PLAN, data=FRAMES[kind]())
    assert abs(record.answers[0].value - 2) <= 1
    assert record.source.engine == "frame"


def test_a_plan_with_a_location_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"plan must leave location out where data is given, got 'people.csv'"):
        ut.release({**PLAN, "source": {"location": "people.csv"}}, data=FRAMES["polars"]())


def test_a_plan_without_a_location_needs_data(folder: Path) -> None:
    with pytest.raises(InputError, match="in Python, where data is a data frame"):
        ut.preview(PLAN)
