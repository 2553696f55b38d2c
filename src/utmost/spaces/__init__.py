"""Spaces: secrets with a metric."""

from utmost.spaces.compound_spaces import product_space, scale_space, sub_space
from utmost.spaces.distance_tables import space
from utmost.spaces.graphs import graph
from utmost.spaces.parser import parse_space
from utmost.spaces.space import Label, Space
from utmost.spaces.standard_spaces import cycle, databases, discrete, grid, hamming, line
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
    "product_space",
    "scale_space",
    "space",
    "sub_space",
    "symmetries",
]
