"""Pages show releases whose queries are in cells, of every kind that takes keys."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import utmost
from utmost import ledger
from utmost.publish.plans import plan_from_mapping
from utmost.studio.curator.release_view import release_view

GRID = {"column": "age", "low": 0, "high": 60, "step": "1/2", "nulls": "drop"}
KINDS: dict[str, dict[str, Any]] = {
    "count": {},
    "sum": GRID,
    "mean": GRID,
    "variance": GRID,
    "quantile": {**GRID, "probability": "1/2"},
    "distinct": {"column": "age"},
}


@pytest.fixture
def cell_studio(studio: Any) -> Any:
    """A studio with a release of a query of each kind in three cells."""
    folder = studio.settings.folder
    (folder / "people.csv").write_text("age,region\n" + "".join(f"{20 + k % 30},{'nsw'[k % 3]}\n" for k in range(300)))
    with ledger.open_ledger("cells.sqlite", folder) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1000), neighbours="add-remove"))
    cells = {"keys": {"region": ["n", "s"]}, "other": True, "epsilon": 5}
    plan = {
        "neighbours": "add-remove",
        "budget": "b",
        "ledger": "cells.sqlite",
        "output": "cells.release.json",
        "source": {"location": "people.csv", "columns": {"age": "integer", "region": "text"}},
        "query": [{"name": kind, "kind": kind, **keys, **cells} for kind, keys in KINDS.items()],
    }
    utmost.release(plan_from_mapping(plan, folder))
    return studio


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_cells_is_read_on_a_page(cell_studio: Any, kind: str) -> None:
    form = {"query": kind, "at_least": "0", "at_most": "100000"}
    answer = cell_studio.get("/api/consumer/releases/cells.release.json/reading", params=form)
    assert answer.status_code == 200, answer.text
    assert [reading["cell"] for reading in answer.json()["readings"]] == ["n", "s", "other"]
    page = cell_studio.get("/consumer/releases/cells.release.json", params=form)
    assert page.status_code == 200
    assert "other" in page.text


def test_a_release_in_cells_has_a_picture_where_its_numbers_have_intervals(cell_studio: Any) -> None:
    views = release_view(cell_studio.settings, "cells.release.json", None).answers
    assert all([cell.keys for cell in view.cells] == ["n", "s", "other"] for view in views)
    with_intervals = [view.kind for view in views if all(cell.low is not None for cell in view.cells)]
    assert [view.kind for view in views if view.picture is not None] == with_intervals
    assert with_intervals == ["count", "sum", "mean", "distinct"]
