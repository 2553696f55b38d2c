"""Data: sources, engines, predicates and exact answers. `sample_data` is the table of the demonstration."""

from utmost.data.engines.schema import ColumnKind
from utmost.data.grid import Grid, GridColumn
from utmost.data.predicates import check_types, parse_predicate
from utmost.data.sample_data import SampleTable, anes96, count_rows
from utmost.data.selection import NeighbourRelation, Partition, PrivacyUnit, Selection
from utmost.data.sources import Source, open_table

__all__ = [
    "ColumnKind",
    "Grid",
    "GridColumn",
    "NeighbourRelation",
    "Partition",
    "PrivacyUnit",
    "SampleTable",
    "Selection",
    "Source",
    "anes96",
    "check_types",
    "count_rows",
    "open_table",
    "parse_predicate",
]
