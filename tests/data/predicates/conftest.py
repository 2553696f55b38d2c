"""The three engines, each a module's own ibis backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from postgres import postgres_module_url
from spark import spark

__all__ = ["postgres_module_url", "spark"]


@pytest.fixture(scope="module")
def duckdb() -> Iterator[Any]:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    backend = ibis.duckdb.connect()
    yield backend
    backend.disconnect()


@pytest.fixture(scope="module")
def postgres(postgres_module_url: str) -> Iterator[Any]:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    backend = ibis.connect(postgres_module_url)
    yield backend
    backend.disconnect()


@pytest.fixture(scope="module", params=["duckdb", "postgres", "spark"])
def engine(request: pytest.FixtureRequest) -> Any:
    """Each engine in turn."""
    return request.getfixturevalue(request.param)
