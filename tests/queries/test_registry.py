"""What is derived from the registry of kinds: documentation, plan keys and JSON schemas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from utmost.queries.registry import QUERY_KINDS, documented_keys

PLAN_PAGE = Path(__file__).parents[2] / "docs" / "plan.md"


def test_the_page_of_plans_lists_the_registered_kinds_and_their_keys() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PLAN_PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = {kind: keys for kind, keys in rows if "`where`" in keys}
    assert listed == {name: documented_keys(kind) for name, kind in QUERY_KINDS.items()}


@pytest.mark.parametrize("name", QUERY_KINDS)
def test_a_kind_is_registered_under_its_name(name: str) -> None:
    assert QUERY_KINDS[name].kind == name
