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
    "min": GRID,
    "max": GRID,
    "quartiles": {**GRID, "kind": "quantile", "probabilities": ["1/4", "3/4"]},
}
NAMES = {"quartiles": ["n,1/4", "n,3/4", "s,1/4", "s,3/4", "other,1/4", "other,3/4"]}


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
        "query": [{"name": name, "kind": name, **keys, **cells} for name, keys in KINDS.items()],
    }
    utmost.release(plan_from_mapping(plan, folder))
    return studio


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_in_cells_is_read_on_a_page(cell_studio: Any, name: str) -> None:
    form = {"query": name, "at_least": "0", "at_most": "100000"}
    answer = cell_studio.get("/api/consumer/releases/cells.release.json/reading", params=form)
    assert answer.status_code == 200, answer.text
    assert [reading["cell"] for reading in answer.json()["readings"]] == NAMES.get(name, ["n", "s", "other"])
    page = cell_studio.get("/consumer/releases/cells.release.json", params=form)
    assert page.status_code == 200
    assert "other" in page.text


def test_one_of_several_quantiles_in_a_cell_is_read_on_a_page(cell_studio: Any) -> None:
    form = {"query": "quartiles", "cell": "s,3/4"}
    answer = cell_studio.get("/api/consumer/releases/cells.release.json/reading", params=form)
    assert [reading["cell"] for reading in answer.json()["readings"]] == ["s,3/4"]
    assert "6 values" in cell_studio.get("/curator/releases/cells.release.json").text


def test_a_release_in_cells_has_a_picture_where_its_numbers_have_intervals(cell_studio: Any) -> None:
    views = release_view(cell_studio.settings, "cells.release.json", None).answers
    for view in views:
        assert [cell.keys for cell in view.cells] == NAMES.get(view.name, ["n", "s", "other"])
    with_intervals = [view.kind for view in views if all(cell.low is not None for cell in view.cells)]
    assert [view.kind for view in views if view.picture is not None] == with_intervals
    assert with_intervals == ["count", "sum", "mean", "variance", "distinct"]


@pytest.fixture
def found_studio(studio: Any) -> Any:
    """A studio with a release of a query of each kind over found cells, and one that told no cell."""
    folder = studio.settings.folder
    (folder / "people.csv").write_text("age,region\n" + "".join(f"{20 + k % 30},{'nsw'[k % 3]}\n" for k in range(900)))
    with ledger.open_ledger("cells.sqlite", folder) as new_ledger:
        new_ledger.open(ledger.Budget("b", Fraction(1000), Fraction(1, 10), neighbours="add-remove"))
    found = {"by": ["region"], "epsilon": 5, "delta": "1e-6"}
    for file, where in (("found", {}), ("none", {"where": "age < 0"})):
        plan = {
            "neighbours": "add-remove",
            "budget": "b",
            "ledger": "cells.sqlite",
            "output": f"{file}.release.json",
            "source": {"location": "people.csv", "columns": {"age": "integer", "region": "text"}},
            "query": [{"name": name, "kind": name, **keys, **found, **where} for name, keys in KINDS.items()],
        }
        utmost.release(plan_from_mapping(plan, folder))
    return studio


@pytest.mark.parametrize("file", ["found.release.json", "none.release.json"])
def test_every_kind_over_found_cells_is_read_on_a_page_whether_cells_are_told_or_not(
    found_studio: Any, file: str
) -> None:
    for name in KINDS:
        cells = [f"{cell},{p}" for cell in "nsw" for p in ("1/4", "3/4")] if name == "quartiles" else list("nsw")
        form = {"query": name}
        answer = found_studio.get(f"/api/consumer/releases/{file}/reading", params=form)
        assert answer.status_code == 200, answer.text
        readings = [reading["cell"] for reading in answer.json()["readings"]]
        assert sorted(readings) == (sorted(cells) if file.startswith("found") else [])
        assert found_studio.get(f"/consumer/releases/{file}", params=form).status_code == 200, name
    assert found_studio.get(f"/api/consumer/releases/{file}").status_code == 200
    assert found_studio.get(f"/curator/releases/{file}").status_code == 200
    assert found_studio.get(f"/api/curator/releases/{file}").status_code == 200
