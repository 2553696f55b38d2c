"""Mechanisms that answer on a continuum."""

from utmost.continuous.laplace_count import (
    LaplaceLoss,
    Price,
    geometric_loss,
    laplace_factor,
    laplace_loss,
    price,
    rounded_laplace,
)

__all__ = ["LaplaceLoss", "Price", "geometric_loss", "laplace_factor", "laplace_loss", "price", "rounded_laplace"]
