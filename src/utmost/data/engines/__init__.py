"""The engines that hold tables: DuckDB, PostgreSQL and Spark. Each is opened by a module of its own.

What comes out of one is an `Engine`, which answers a question written in ibis, and a table to ask it of.
"""

from utmost.data.engines.engine import Engine, OpenedTable, run_guarded

__all__ = ["Engine", "OpenedTable", "run_guarded"]
