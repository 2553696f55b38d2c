"""Mechanisms in closed form."""

from utmost.mechanisms.geometric import Geometric, folded, geometric, inverse, truncation, untruncated, weights

__all__ = ["Geometric", "folded", "geometric", "inverse", "truncation", "untruncated", "weights"]
