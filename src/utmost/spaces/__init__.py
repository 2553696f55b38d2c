"""Spaces: secrets with a metric."""

from utmost.spaces.combined import product, scaled, subspace
from utmost.spaces.graphs import graph
from utmost.spaces.matrices import space
from utmost.spaces.shapes import cycle, databases, discrete, grid, hamming, line
from utmost.spaces.space import Label, Space
from utmost.spaces.symmetry import Symmetries, symmetries
from utmost.spaces.words import parse

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
    "parse",
    "product",
    "scaled",
    "space",
    "subspace",
    "symmetries",
]
