"""Read a released number for a consumer: points, posterior, best reading and its expected loss."""

from utmost.publish.reading.estimates import (
    Belief,
    Estimate,
    ExpectedLosses,
    Reader,
    Reading,
    unbiased_estimate,
    unbiased_total,
)
from utmost.publish.reading.prior_points import Axis, AxisRequest

__all__ = [
    "Axis",
    "AxisRequest",
    "Belief",
    "Estimate",
    "ExpectedLosses",
    "Reader",
    "Reading",
    "unbiased_estimate",
    "unbiased_total",
]
