"""Noise, drawn exactly."""

from utmost.noise.bits import Bits, system
from utmost.noise.rows import draw, draw_row

__all__ = ["Bits", "draw", "draw_row", "system"]
