"""Mechanisms that answer on a continuum."""

from utmost.continuous.laplace_count import (
    LaplaceLoss,
    LaplacePrice,
    geometric_loss,
    laplace_factor,
    laplace_loss,
    laplace_price,
    rounded_laplace,
)

__all__ = [
    "LaplaceLoss",
    "LaplacePrice",
    "geometric_loss",
    "laplace_factor",
    "laplace_loss",
    "laplace_price",
    "rounded_laplace",
]
