"""Exact numbers: fractions, and real numbers whose comparisons are decided."""

from utmost.exact.exact_numbers import (
    ball,
    ball_endpoints,
    decimal,
    decimal_above,
    decimal_below,
    enclosure,
    integer,
    is_exact,
    json_above,
    json_below,
    json_number,
    number,
    plain_decimal,
    rational,
)
from utmost.exact.privacy_levels import Level, alpha, epsilon
from utmost.exact.reals import Number, Real, exponential, nearest_double, power, refine_double, sign

__all__ = [
    "Level",
    "Number",
    "Real",
    "alpha",
    "ball",
    "ball_endpoints",
    "decimal",
    "decimal_above",
    "decimal_below",
    "enclosure",
    "epsilon",
    "exponential",
    "integer",
    "is_exact",
    "json_above",
    "json_below",
    "json_number",
    "nearest_double",
    "number",
    "plain_decimal",
    "power",
    "rational",
    "refine_double",
    "sign",
]
