"""Noise, drawn exactly."""

from utmost.noise.bits import Source, system
from utmost.noise.lattice import checked_level, geometric_noise
from utmost.noise.rows import ChannelTable, channel_table, draw_channel, draw_row, row_table
from utmost.noise.tables import Table, draw, table

__all__ = [
    "ChannelTable",
    "Source",
    "Table",
    "channel_table",
    "checked_level",
    "draw",
    "draw_channel",
    "draw_row",
    "geometric_noise",
    "row_table",
    "system",
    "table",
]
