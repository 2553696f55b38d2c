"""Data: sources, engines, predicates and exact answers. `sample_data` is the table of the demonstration."""

from utmost.data.sample_data import SampleTable, anes96, count_rows

__all__ = ["SampleTable", "anes96", "count_rows"]
