"""The three engines, each a module's own ibis backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from postgres import postgres_module_url
from utmost.data.engines.spark import new_session

__all__ = ["postgres_module_url"]


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


@pytest.fixture(scope="module")
def spark(spark: Any) -> Iterator[Any]:
    """Spark in a session as the engine opens it. Afterwards the session that all tests share is active again."""
    import ibis

    yield ibis.pyspark.connect(new_session(spark._session))
    spark._session.createDataFrame([(0,)], "x int")


@pytest.fixture(scope="module", params=["duckdb", "postgres", "spark"])
def engine(request: pytest.FixtureRequest) -> Any:
    """Each engine in turn."""
    return request.getfixturevalue(request.param)
