"""Pictures: channels, beliefs, curves, simplices, spaces and maps as charts: .svg, .png or .html, without a browser."""

from utmost.pictures.beliefs import Belief, beliefs
from utmost.pictures.curves import Curve, curves
from utmost.pictures.heat import picture
from utmost.pictures.map import grid_map, rows_and_columns
from utmost.pictures.network import network
from utmost.pictures.region import region
from utmost.pictures.rowgraphs import Panel, places, row_graph_panels
from utmost.pictures.simplex import Posterior, entropy, simplex
from utmost.pictures.tetrahedron import tetrahedron
from utmost.pictures.write import write

__all__ = [
    "Belief",
    "Curve",
    "Panel",
    "Posterior",
    "beliefs",
    "curves",
    "entropy",
    "grid_map",
    "network",
    "picture",
    "places",
    "region",
    "row_graph_panels",
    "rows_and_columns",
    "simplex",
    "tetrahedron",
    "write",
]
