"""PostgreSQL for the tests of releases. They are skipped where it is missing."""

from __future__ import annotations

from postgres import postgres_url

__all__ = ["postgres_url"]
