"""PostgreSQL and Spark for the tests of queries. Tests whose engine is missing are skipped."""

from __future__ import annotations

from postgres import postgres_module_url
from spark import spark

__all__ = ["postgres_module_url", "spark"]
