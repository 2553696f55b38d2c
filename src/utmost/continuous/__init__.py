"""Mechanisms, priors and losses over an interval, with certified expected losses."""

from utmost.continuous import densities, losses, mechanisms
from utmost.continuous.bounds.loss_bounds import LossBounds, bound_expected_loss
from utmost.continuous.grid_selection import GridAdvice, GridPromise, GridQuestion, coarsest_grid, grid_promise
from utmost.continuous.interval import Interval, interval, parse_interval
from utmost.continuous.interval_loss import Convergence, IntervalLoss
from utmost.continuous.laplace_count import (
    LaplaceLoss,
    LaplacePrice,
    geometric_loss,
    laplace_factor,
    laplace_loss,
    laplace_price,
    rounded_laplace,
)
from utmost.continuous.laplace_optimality import Band, best_readings, margin, post_processing
from utmost.continuous.pixelation import TruncatedLaplace, cell_laplace, grid_geometric, pixel_grid
from utmost.continuous.user_kernels import kernel

__all__ = [
    "Band",
    "Convergence",
    "GridAdvice",
    "GridPromise",
    "GridQuestion",
    "Interval",
    "IntervalLoss",
    "LaplaceLoss",
    "LaplacePrice",
    "LossBounds",
    "TruncatedLaplace",
    "best_readings",
    "bound_expected_loss",
    "cell_laplace",
    "coarsest_grid",
    "densities",
    "geometric_loss",
    "grid_geometric",
    "grid_promise",
    "interval",
    "kernel",
    "laplace_factor",
    "laplace_loss",
    "laplace_price",
    "losses",
    "margin",
    "mechanisms",
    "parse_interval",
    "pixel_grid",
    "post_processing",
    "rounded_laplace",
]
