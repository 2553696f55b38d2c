"""Data: where the exact answers come from. `bundled` is the table the demonstration counts."""

from utmost.data.bundled import Bundled, anes96, count

__all__ = ["Bundled", "anes96", "count"]
