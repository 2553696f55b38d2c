"""A released number read by a consumer: her points, her posterior, her best reading and what it is worth."""

from utmost.publish.reading.axis import Axis, Wish
from utmost.publish.reading.reader import Reader
from utmost.publish.reading.result import Belief, Estimate, Losses, Reading
from utmost.publish.reading.unbiased import total, unbiased

__all__ = ["Axis", "Belief", "Estimate", "Losses", "Reader", "Reading", "Wish", "total", "unbiased"]
