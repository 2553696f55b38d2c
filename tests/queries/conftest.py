"""Servers for the tests that ask every engine."""

from postgres import postgres_module_url
from spark import spark

__all__ = ["postgres_module_url", "spark"]
