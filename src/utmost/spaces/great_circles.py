"""Lower bounds of great-circle distances, by the haversine formula in balls.

The distance of two places on a sphere of radius R is 2R·asin √h with h = sin²(Δφ/2) + cos φ·cos φ′·sin²(Δλ/2), φ the
latitudes and λ the longitudes. It is no exact number, so a space has a whole number of millimetres that is not above
it. A mechanism that is private for smaller distances is private for the true ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import ball, ball_endpoints
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

EARTH_RADIUS = Fraction("6371.0088")  # km, the mean radius of the WGS 84 ellipsoid (2a + b)/3
UNITS_PER_KILOMETRE = 10**6  # millimetres
BITS = 96


def check_places(places: Sequence[tuple[Fraction, ...]]) -> None:
    """Refuse what is no latitude and longitude in degrees."""
    for latitude, longitude in places:
        if abs(latitude) > 90:
            raise InputError(
                f"latitudes must be from -90 to 90 degrees, got {float(latitude):g}", "points", "latitude comes first"
            )
        if abs(longitude) > 360:
            raise InputError(f"longitudes must be from -360 to 360 degrees, got {float(longitude):g}", "points")


def millimetres_below(places: Sequence[tuple[Fraction, ...]]) -> npt.NDArray[np.object_]:
    """⌊distance⌋ in millimetres for all pairs, or one less where the ball does not decide.

    >>> int(millimetres_below([(Fraction(0), Fraction(0)), (Fraction(0), Fraction(180))])[0, 1])
    20015114442
    """
    table = np.zeros((len(places), len(places)), dtype=object)
    with working_precision(BITS):
        cosines = [_half_turns(latitude / 180).cos_pi() for latitude, _ in places]
        diameter = ball(2 * EARTH_RADIUS * UNITS_PER_KILOMETRE, BITS)
        for x, (latitude, longitude) in enumerate(places):
            for y in range(x):
                height = _half_turns((latitude - places[y][0]) / 360).sin_pi()
                width = _half_turns((longitude - places[y][1]) / 360).sin_pi()
                haversine = height * height + cosines[x] * cosines[y] * width * width
                table[x, y] = table[y, x] = _arc_below(haversine, diameter)
    return table


def _half_turns(value: Fraction) -> arb:
    return ball(value, BITS)


def _arc_below(haversine: arb, diameter: arb) -> int:
    """⌊diameter·asin √h⌋ for the lower end of the ball, which is put between 0 and 1; asin √ is increasing."""
    low = min(max(ball_endpoints(haversine)[0], Fraction(0)), Fraction(1))
    arc = diameter * _half_turns(low).sqrt().asin()
    return max(0, int(ball_endpoints(arc)[0] // 1))
