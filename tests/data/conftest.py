"""PostgreSQL and Spark for the tests of data. Tests whose engine is missing are skipped."""

from __future__ import annotations

from postgres import postgres_module_url, postgres_url
from spark import spark

__all__ = ["postgres_module_url", "postgres_url", "spark"]
