"""The error of an answer, computed before anything is spent; nothing here depends on the data.

It is the noise alone: the distance from the number that is asked of the rows kept of each person, with values clamped
to their bounds and rounded to their steps. What bounding, clamping and rounding change is not in it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from utmost.data.queries import Mean, Quantile, Query, Sum
from utmost.errors import InputError
from utmost.exact import Level, decimal, decimal_above
from utmost.exact import epsilon as level_of
from utmost.exact.balls import ball, ball_endpoints
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.geometric import tail_probability
from utmost.publish.release_model import ChoiceMechanism, ErrorLaw, LatticeMechanism, Mechanism, RatioMechanism

MIN_STEP, MAX_STEP = Fraction(1, 10**60), Fraction(10**60)  # of a grid
LAPLACE_LIMIT_EPSILON = 0.02  # an ε of the rows below which their noise is taken for Laplace's
TWO_LAPLACE_HALF_WIDTH = (
    4.11301  # u with e^(−u)·(1 + u/2) = 1/20: two Laplace noises of scale 1 add up to more than ±u so often
)
FIRST_BITS = 128  # of a ball; doubled until no whole number is in it, or it is narrow
TIE_WIDTH = Fraction(1, 2**40)  # of a ball around a whole number, which is then decided exactly
MISS_PROBABILITY = Fraction(1, 20)  # how often an answer may lie outside the 95 % interval


def noise_spread(level: Level) -> float:
    """E|Δ| = 2α/(1 − α²) of two-sided geometric noise, as the nearest double.

    >>> noise_spread(level_of("0.1"))
    9.98335275729611
    """
    return float(2 * level.alpha / (1 - level.alpha * level.alpha))


def half_width(level: Level, miss: Fraction = MISS_PROBABILITY) -> int:
    """The least t ≥ 0 with Pr[|Δ| > t] = 2α^(t+1)/(1+α) ≤ miss: decided exactly.

    >>> half_width(level_of("0.1"))
    30
    """
    bits = FIRST_BITS
    while True:
        ends = _half_width_ends(level, miss, bits)
        low, high = (max(math.ceil(end), 0) for end in ends)
        if low == high:
            return low
        if ends[1] - ends[0] < TIE_WIDTH:
            return low if 2 * tail_probability(low + 1, level) <= miss else high
        bits *= 2


def _half_width_ends(level: Level, miss: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Ends around the real t with 2α^(t+1)/(1+α) = miss, which is ln(2/(miss·(1 + α)))/ε − 1."""
    with working_precision(bits):
        log_ratio = (ball(2 / miss, bits) / (1 + ball(level.alpha, bits))).log()
        return ball_endpoints(log_ratio / level.epsilon_ball(bits) - 1)


def round_to_12_digits(value: float) -> float:
    """A double of 12 digits, as documents have them."""
    return float(f"{value:.12g}")


def error_law(mechanism: Mechanism, query: Query) -> ErrorLaw:
    """The error law of the mechanism that answers a query; refused where a double could not hold it."""
    if isinstance(query, Sum | Mean | Quantile) and not MIN_STEP <= query.grid.step <= MAX_STEP:
        raise InputError("step must be from 10^-60 to 10^60, got one beyond: measure the values in another unit")
    if isinstance(mechanism, LatticeMechanism):
        return _lattice_error(mechanism)
    if isinstance(mechanism, ChoiceMechanism) and isinstance(query, Quantile):
        return _quantile_error(mechanism, query.probability.denominator)
    assert isinstance(mechanism, RatioMechanism)
    assert isinstance(query, Mean)
    return _ratio_error(mechanism, query.grid.size)


@lru_cache(maxsize=4096)  # pages ask again and again while somebody thinks
def _lattice_error(mechanism: LatticeMechanism) -> ErrorLaw:
    """Geometric noise: an end that absorbs only brings an answer nearer to a truth within the ends."""
    level = level_of(mechanism.epsilon)
    expected, half = round_to_12_digits(float(mechanism.unit) * noise_spread(level)), mechanism.unit * half_width(level)
    return ErrorLaw(
        expected, half, f"noise: {decimal(expected, 4)} on average, within ±{decimal_above(half, 4)} in 95 % of cases"
    )


def _quantile_error(mechanism: ChoiceMechanism, loss_per_row: int) -> ErrorLaw:
    """Pr[loss ≥ t] ≤ candidates·e^(−rate·t), since a candidate of loss 0 exists; so E[loss] ≤ (1 + ln candidates)/rate.

    The loss is `loss_per_row` times the number of rows on the wrong side.
    """
    rate, log_candidates = float(mechanism.rate) * loss_per_row, math.log(mechanism.candidates)
    expected, half = (
        round_to_12_digits((1 + log_candidates) / rate),
        round_to_12_digits((log_candidates + math.log(float(1 / MISS_PROBABILITY))) / rate),
    )
    sentence = (
        f"noise: at most {decimal_above(expected, 4)} rows of rank on average, "
        f"within {decimal_above(half, 4)} in 95 % of cases"
    )
    return ErrorLaw(expected, half, sentence)


def _ratio_error(mechanism: RatioMechanism, steps: int) -> ErrorLaw:
    """How far off the mean of r rows is, times r, at its worst: for a mean at an end of the grid. In doubles.

    m̂ − m = unit·(Δ_T − t·Δ_R)/(r + Δ_R) for the noises Δ_T, Δ_R of total and rows, t = T/r between −N and N; so r
    times it is about unit·(Δ_T − N·Δ_R) at worst. Its law is that of Δ_T moved by N·j, over the j of Δ_R.
    """
    total, rows = level_of(mechanism.total.epsilon), level_of(mechanism.rows.epsilon)
    if rows.epsilon < LAPLACE_LIMIT_EPSILON:  # both noises are Laplace's of the same scale, as good as
        expected, half = 1.5 / total.epsilon, math.ceil(TWO_LAPLACE_HALF_WIDTH / total.epsilon)
    else:
        expected, half = _combined_noise_error(total, steps, rows)
    expected, width = round_to_12_digits(float(mechanism.total.unit) * expected), mechanism.total.unit * half
    sentence = (
        f"noise: at worst about {decimal_above(expected, 4)}/rows on average, "
        f"about ±{decimal_above(width, 4)}/rows in 95 % of cases"
    )
    return ErrorLaw(expected, width, sentence, over_rows=True)


def _combined_noise_error(total: Level, steps: int, rows: Level) -> tuple[float, int]:
    """E|Δ_T + N·Δ_R|, and the least t with Pr[|Δ_T + N·Δ_R| > t] ≤ 1/20.

    E|Δ + c| = |c| + 2α^(|c|+1)/(1 − α²), and Pr[Δ > t] is α^(t+1)/(1+α), or 1 − α^(−t)/(1+α) for t < 0.
    """
    import numpy as np

    max_row_noise = math.ceil(30 / rows.epsilon) + 1
    row_noises = np.arange(-max_row_noise, max_row_noise + 1)
    probabilities = math.tanh(rows.epsilon / 2) * np.exp(-rows.epsilon * np.abs(row_noises))
    shifts, rate = steps * row_noises, total.epsilon
    expected = float(probabilities @ (np.abs(shifts) + np.exp(-rate * np.abs(shifts)) * noise_spread(total)))
    tail_factor = 1 / (1 + float(total.alpha))

    def probability_outside(reach: int) -> float:
        """By symmetry twice what lies above."""
        distances = reach - shifts
        tails = np.where(
            distances >= 0,
            np.exp(-rate * (np.abs(distances) + 1)) * tail_factor,
            1 - np.exp(-rate * np.abs(distances)) * tail_factor,
        )
        return 2 * float(probabilities @ tails)

    low, high = 0, math.ceil(2 * expected) + 1
    while probability_outside(high) > MISS_PROBABILITY:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if probability_outside(middle) > MISS_PROBABILITY else (low, middle)
    return expected, low
