"""Read a released number for a consumer: points, posterior, best reading and its expected loss."""

from utmost.publish.reading.estimates import Belief, Estimate, ExpectedLosses, Reading
from utmost.publish.reading.prior_axis import Axis, AxisRequest
from utmost.publish.reading.reader import Reader
from utmost.publish.reading.unbiased_estimates import unbiased_estimate, unbiased_total

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
