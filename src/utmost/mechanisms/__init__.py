"""Mechanisms in closed form, with exact laws and exact draws."""

from utmost.mechanisms.exponential import exponential
from utmost.mechanisms.geometric import (
    Geometric,
    column_weights,
    folded_geometric,
    geometric,
    inverse_geometric,
    untruncated_law,
)
from utmost.mechanisms.laplace import laplace
from utmost.mechanisms.planar import planar
from utmost.mechanisms.planar_geometric import PlanarGeometric, planar_geometric
from utmost.mechanisms.randomised_response import response, response_dual
from utmost.mechanisms.registry import channel_on
from utmost.mechanisms.staircase import staircase, staircase_space

__all__ = [
    "Geometric",
    "PlanarGeometric",
    "channel_on",
    "column_weights",
    "exponential",
    "folded_geometric",
    "geometric",
    "inverse_geometric",
    "laplace",
    "planar",
    "planar_geometric",
    "response",
    "response_dual",
    "staircase",
    "staircase_space",
    "untruncated_law",
]
