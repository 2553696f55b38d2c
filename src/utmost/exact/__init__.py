"""Exact numbers: fractions where they are fractions, reals with decided comparisons where they are not."""

from utmost.exact.balls import ball, enclosure, ends
from utmost.exact.levels import Level, alpha, epsilon
from utmost.exact.reals import Number, Real, exponential, nearest, power, refined, sign
from utmost.exact.text import decimal, is_exact, number, plain, rational, whole

__all__ = [
    "Level",
    "Number",
    "Real",
    "alpha",
    "ball",
    "decimal",
    "enclosure",
    "ends",
    "epsilon",
    "exponential",
    "is_exact",
    "nearest",
    "number",
    "plain",
    "power",
    "rational",
    "refined",
    "sign",
    "whole",
]
