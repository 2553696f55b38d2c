"""Mechanisms in closed form, with exact laws and exact draws."""

from utmost.mechanisms.exponential import exponential
from utmost.mechanisms.geometric import (
    Geometric,
    Untruncated,
    folded,
    geometric,
    inverse,
    truncation,
    untruncated,
    weights,
)
from utmost.mechanisms.laplace import laplace
from utmost.mechanisms.planar import planar
from utmost.mechanisms.response import response, response_dual
from utmost.mechanisms.staircase import staircase

__all__ = [
    "Geometric",
    "Untruncated",
    "exponential",
    "folded",
    "geometric",
    "inverse",
    "laplace",
    "planar",
    "response",
    "response_dual",
    "staircase",
    "truncation",
    "untruncated",
    "weights",
]
