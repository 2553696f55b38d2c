"""Priors over an interval: densities whose moments over cells are known from both sides."""

from utmost.continuous.densities.beta import Beta, beta
from utmost.continuous.densities.density import Density, UserDensity, callable_density
from utmost.continuous.densities.normal import Normal, normal
from utmost.continuous.densities.piecewise_linear import (
    PiecewiseLinear,
    from_data,
    histogram,
    linear_density,
    uniform_density,
)
from utmost.continuous.densities.registry import DENSITIES, parse_density

__all__ = [
    "DENSITIES",
    "Beta",
    "Density",
    "Normal",
    "PiecewiseLinear",
    "UserDensity",
    "beta",
    "callable_density",
    "from_data",
    "histogram",
    "linear_density",
    "normal",
    "parse_density",
    "uniform_density",
]
