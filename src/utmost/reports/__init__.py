"""Describe each result once; print it, write it as JSON, or show it as HTML.

A module of this package describes one kind of result: `describe(result, …)` returns a `Report`. Its blocks are what a
person reads, in order; its document is what a program reads. The command line prints the blocks (`cli.output`) or the
document, the studio and notebooks show the same blocks (`blocks`). Numbers are formatted in `numbers` alone, and bounds
are rounded outward there.
"""

from utmost.reports.blocks import Block, Cell, Facts, Matrix, Paragraph, Report, SideBySide, Table, Verbatim
from utmost.reports.numbers import Quantity, Rounding, amount, at_least, at_most, quantity, short

__all__ = [
    "Block",
    "Cell",
    "Facts",
    "Matrix",
    "Paragraph",
    "Quantity",
    "Report",
    "Rounding",
    "SideBySide",
    "Table",
    "Verbatim",
    "amount",
    "at_least",
    "at_most",
    "quantity",
    "short",
]
