"""The curator's form offers every kind of query that is registered, with its fields."""

from __future__ import annotations

from typing import Any

import pytest

from queries.between_kind import PLAN, TABLE, Between
from utmost.queries import registry
from utmost.studio.curator.forms import query_model


def test_the_studio_offers_a_new_kind_and_its_fields(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.QUERY_KINDS, Between.kind, Between)
    (studio.settings.folder / "people.csv").write_text(TABLE)
    page = studio.get("/curator/plan", params={"location": "people.csv"}).text
    assert '<option value="between">between</option>' in page
    assert 'data-kinds="sum mean quantile min max variance between"' in page
    assert query_model()(kind="between", low="3").text("low") == "3"


def test_the_studio_previews_a_plan_with_a_new_kind(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.QUERY_KINDS, Between.kind, Between)
    (studio.settings.folder / "people.csv").write_text(TABLE)
    answer = studio.post("/api/curator/preview", json={"plan": PLAN.replace('output = "out.json"', "")})
    assert answer.json()["queries"][0]["kind"] == "between"
