"""The engines that hold tables, one module each; `registry` lists them.

An `Engine` opens a location; what comes out is a table, and a `Connection` that answers questions about it.
"""

from utmost.data.engines.engine import Connection, Engine, OpenedTable, SourceIdentity, run_guarded

__all__ = ["Connection", "Engine", "OpenedTable", "SourceIdentity", "run_guarded"]
