"""Charts of channels, beliefs, curves, simplices, spaces and maps, written as .svg, .png or .html without a browser."""

from utmost.charts.channel import channel_chart, location_maps
from utmost.charts.curves import BeliefPanel, ChartLine, belief_chart, line_chart
from utmost.charts.export import save_chart
from utmost.charts.network import RowGraphPanel, network_chart, point_positions, row_graph_panels
from utmost.charts.region import region_chart, tetrahedron_chart
from utmost.charts.simplex import Posterior, simplex_chart, uncertainty_chart

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
