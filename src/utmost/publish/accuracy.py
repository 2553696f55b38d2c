"""How far off an answer will be, said before anything is spent; nothing here depends on the data.

It is the noise alone: the distance from the number that is asked of the rows kept of each person, with values clamped
to their bounds. What bounding and clamping change is not in it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from utmost.data.queries import Mean, Quantile, Query
from utmost.exact import Level, decimal
from utmost.exact import epsilon as level_of
from utmost.mechanisms.geometric import tail_probability
from utmost.publish.release_model import ChoiceMechanism, ErrorLaw, LatticeMechanism, Mechanism, RatioMechanism

SMALL = 0.02  # an ε of the rows below which their noise is taken for Laplace's
TWICE = 4.11301  # u with e^(−u)·(1 + u/2) = 1/20: the sum of two Laplace noises of scale 1 is beyond ±u so often
MISS = Fraction(1, 20)  # how often an answer may lie outside the 95 % interval


def noise_spread(level: Level) -> float:
    """E|Δ| = 2α/(1 − α²) of two-sided geometric noise, as the nearest double.

    >>> noise_spread(level_of("0.1"))
    9.98335275729611
    """
    return float(2 * level.alpha / (1 - level.alpha * level.alpha))


def half_width(level: Level, miss: Fraction = MISS) -> int:
    """The least t ≥ 0 with Pr[|Δ| > t] = 2α^(t+1)/(1+α) ≤ miss: decided exactly.

    >>> half_width(level_of("0.1"))
    30
    """
    low, high = 0, max(math.ceil(Fraction(math.log(2 / miss)) / Fraction(level.epsilon)), 1)
    while 2 * tail_probability(high + 1, level) > miss:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if 2 * tail_probability(middle + 1, level) > miss else (low, middle)
    return low


def rounded(value: float) -> float:
    """A double of 12 digits, as documents have them."""
    return float(f"{value:.12g}")


def error_law(mechanism: Mechanism, query: Query) -> ErrorLaw:
    """The error law of the mechanism that answers a query."""
    if isinstance(mechanism, LatticeMechanism):
        return _lattice(mechanism)
    if isinstance(mechanism, ChoiceMechanism) and isinstance(query, Quantile):
        return _choice(mechanism, query.probability.denominator)
    assert isinstance(mechanism, RatioMechanism)
    assert isinstance(query, Mean)
    return _ratio(mechanism, query.grid.size)


@lru_cache(maxsize=4096)  # pages ask again and again while somebody thinks
def _lattice(law: LatticeMechanism) -> ErrorLaw:
    """Geometric noise: an end that absorbs only brings an answer nearer to a truth within the ends."""
    level = level_of(law.epsilon)
    expected, half = rounded(float(law.unit) * noise_spread(level)), law.unit * half_width(level)
    return ErrorLaw(
        expected, half, f"noise: {decimal(expected, 4)} on average, within ±{decimal(half, 4)} in 95 % of cases"
    )


def _choice(law: ChoiceMechanism, whole: int) -> ErrorLaw:
    """Pr[loss ≥ t] ≤ candidates·e^(−rate·t), since a candidate of loss 0 exists; so E[loss] ≤ (1 + ln candidates)/rate.

    The loss is `whole` times the number of rows on the wrong side.
    """
    rate, crowd = float(law.rate) * whole, math.log(law.candidates)
    expected, half = rounded((1 + crowd) / rate), rounded((crowd + math.log(float(1 / MISS))) / rate)
    words = f"noise: at most {decimal(expected, 4)} rows of rank on average, within {decimal(half, 4)} in 95 % of cases"
    return ErrorLaw(expected, half, words)


def _ratio(law: RatioMechanism, steps: int) -> ErrorLaw:
    """How far off the mean of r rows is, times r, at its worst: for a mean at an end of the grid. In doubles.

    m̂ − m = unit·(Δ_T − t·Δ_R)/(r + Δ_R) for the noises Δ_T, Δ_R of total and rows, t = T/r between −N and N; so r
    times it is about unit·(Δ_T − N·Δ_R) at worst. Its law is that of Δ_T moved by N·j, over the j of Δ_R.
    """
    total, rows = level_of(law.total.epsilon), level_of(law.rows.epsilon)
    if rows.epsilon < SMALL:  # both noises are Laplace's of the same scale, as good as
        expected, half = 1.5 / total.epsilon, math.ceil(TWICE / total.epsilon)
    else:
        expected, half = _mixed(total, steps, rows)
    expected, wide = rounded(float(law.total.unit) * expected), law.total.unit * half
    words = f"noise: at most {decimal(expected, 4)}/rows on average, within ±{decimal(wide, 4)}/rows in 95 % of cases"
    return ErrorLaw(expected, wide, words, over_rows=True)


def _mixed(total: Level, steps: int, rows: Level) -> tuple[float, int]:
    """E|Δ_T + N·Δ_R|, and the least t with Pr[|Δ_T + N·Δ_R| > t] ≤ 1/20.

    E|Δ + c| = |c| + 2α^(|c|+1)/(1 − α²), and Pr[Δ > t] is α^(t+1)/(1+α), or 1 − α^(−t)/(1+α) for t < 0.
    """
    import numpy as np

    most = math.ceil(30 / rows.epsilon) + 1
    jumps = np.arange(-most, most + 1)
    chances = math.tanh(rows.epsilon / 2) * np.exp(-rows.epsilon * np.abs(jumps))
    away, rate = steps * jumps, total.epsilon
    expected = float(chances @ (np.abs(away) + np.exp(-rate * np.abs(away)) * noise_spread(total)))
    share = 1 / (1 + float(total.alpha))

    def outside(reach: int) -> float:
        """By symmetry twice what lies above."""
        gap = reach - away
        tails = np.where(gap >= 0, np.exp(-rate * (np.abs(gap) + 1)) * share, 1 - np.exp(-rate * np.abs(gap)) * share)
        return 2 * float(chances @ tails)

    low, high = 0, math.ceil(2 * expected) + 1
    while outside(high) > MISS:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if outside(middle) > MISS else (low, middle)
    return expected, low
