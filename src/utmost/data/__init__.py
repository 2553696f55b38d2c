"""Data: where the exact answers come from. `sample_data` is the table the demonstration counts."""

from utmost.data.sample_data import SampleTable, anes96, count_rows

__all__ = ["SampleTable", "anes96", "count_rows"]
