"""The table of noise that a machine adds: its scale is rounded once, whatever the level."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.exact import alpha, ball, ball_endpoints, epsilon
from utmost.exact.working_precision import working_precision
from utmost.precision.enumeration import noise_table
from utmost.precision.guarantee import Implementation
from utmost.precision.number_formats import BINARY16, BINARY64, fixed_point_format, uniform_generator

LEVELS = [epsilon("1/3"), epsilon("2048/2049"), epsilon("1/10"), alpha("1/2"), alpha("9/10")]
LN2 = ball_endpoints(alpha("1/2").epsilon_ball(300))[0]


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("number_format", [fixed_point_format(10), BINARY16, BINARY64], ids=lambda value: value.name)
def test_the_scale_is_the_nearest_number_also_at_ties_and_exact_quotients(level, number_format):
    """1/ε = 3 is a number of each format and 2049/2048 is midway between two of fixed:10, decided without balls."""
    with working_precision(300):
        scale = (
            ball_endpoints(ball(1, 300) / level.epsilon_ball(300))[0] if level.exponent is None else 1 / level.exponent
        )
    noise = noise_table(level, Fraction(1), Implementation(number_format, uniform_generator(4)))
    assert noise[3] == number_format.nearest(
        number_format.nearest(scale) * number_format.nearest(LN2)
    )  # at u = 3/4 it is scale · ln 2
