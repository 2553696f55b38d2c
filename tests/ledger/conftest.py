"""Both stores: `location` is an SQLite file, then a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import postgres_url
from utmost.ledger import Ledger, open_ledger

__all__ = ["postgres_url"]


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else str(tmp_path / "ledger.sqlite")


@pytest.fixture
def ledger(location: str) -> Iterator[Ledger]:
    with open_ledger(location) as ledger:
        yield ledger
