"""Spaces: secrets with a metric."""

from utmost.spaces.compound_spaces import product_space, scale_space, sub_space
from utmost.spaces.cycle import cycle
from utmost.spaces.databases import databases
from utmost.spaces.discrete import discrete
from utmost.spaces.distance_tables import graph, space
from utmost.spaces.grid import grid
from utmost.spaces.hamming import hamming
from utmost.spaces.line import line
from utmost.spaces.points import points
from utmost.spaces.registry import parse_space
from utmost.spaces.space import Label, Space
from utmost.spaces.symmetry import Symmetries, symmetries

__all__ = [
    "Label",
    "Space",
    "Symmetries",
    "cycle",
    "databases",
    "discrete",
    "graph",
    "grid",
    "hamming",
    "line",
    "parse_space",
    "points",
    "product_space",
    "scale_space",
    "space",
    "sub_space",
    "symmetries",
]
