"""Charts of channels, beliefs, curves, simplices, spaces and maps, written as .svg, .png or .html without a browser."""

from utmost.charts.curves import ChartLine, line_chart
from utmost.charts.export import save_chart
from utmost.charts.heat_map import channel_chart
from utmost.charts.location_map import location_maps
from utmost.charts.network import RowGraphPanel, network_chart, point_positions, row_graph_panels
from utmost.charts.reading import BeliefPanel, belief_chart
from utmost.charts.region import region_chart
from utmost.charts.simplex import Posterior, simplex_chart, uncertainty_chart
from utmost.charts.tetrahedron import tetrahedron_chart

__all__ = [
    "BeliefPanel",
    "ChartLine",
    "Posterior",
    "RowGraphPanel",
    "belief_chart",
    "channel_chart",
    "line_chart",
    "location_maps",
    "network_chart",
    "point_positions",
    "region_chart",
    "row_graph_panels",
    "save_chart",
    "simplex_chart",
    "tetrahedron_chart",
    "uncertainty_chart",
]
