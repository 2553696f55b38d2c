"""How far off an answer will be, said before anything is spent; nothing here depends on the data."""

from __future__ import annotations

import math
from fractions import Fraction

from utmost.data.asked import Mean, Quantile, Query
from utmost.exact import Level, decimal
from utmost.exact import epsilon as level_of
from utmost.mechanisms.geometric import tail
from utmost.publish.record import Choice, Error, Lattice, Mechanism, Ratio

MISS = Fraction(1, 20)  # how often an answer may lie outside the 95 % interval


def spread(level: Level) -> float:
    """E|Δ| = 2α/(1 − α²) of two-sided geometric noise, as the nearest double.

    >>> spread(level_of("0.1"))
    9.98335275729611
    """
    return float(2 * level.alpha / (1 - level.alpha * level.alpha))


def half_width(level: Level, miss: Fraction = MISS) -> int:
    """The least t ≥ 0 with Pr[|Δ| > t] = 2α^(t+1)/(1+α) ≤ miss: decided exactly.

    >>> half_width(level_of("0.1"))
    30
    """
    guess = math.log(2 / float(miss) / (1 + float(level.alpha))) / float(level.epsilon)
    reach = max(math.ceil(guess) - 1, 0)
    while reach > 0 and 2 * tail(reach, level) <= miss:
        reach -= 1
    while 2 * tail(reach + 1, level) > miss:
        reach += 1
    return reach


def rounded(value: float) -> float:
    """A double of 12 digits, as documents have them."""
    return float(f"{value:.12g}")


def error(mechanism: Mechanism, query: Query) -> Error:
    """The error law of the mechanism that answers a query."""
    if isinstance(mechanism, Lattice):
        return _lattice(mechanism)
    if isinstance(mechanism, Choice) and isinstance(query, Quantile):
        return _choice(mechanism, query.probability.denominator)
    assert isinstance(mechanism, Ratio)
    assert isinstance(query, Mean)
    return _ratio(mechanism, query.grid.size)


def _lattice(law: Lattice) -> Error:
    """Geometric noise: an end that absorbs only brings an answer nearer to a truth within the ends."""
    level = level_of(law.epsilon)
    expected, half = rounded(float(law.unit) * spread(level)), law.unit * half_width(level)
    return Error(
        expected, half, f"off by {decimal(expected, 4)} on average, within ±{decimal(half, 4)} in 95 % of cases"
    )


def _choice(law: Choice, whole: int) -> Error:
    """Pr[loss ≥ t] ≤ candidates·e^(−rate·t), since a candidate of loss 0 exists; so E[loss] ≤ (1 + ln candidates)/rate.

    The loss is `whole` times the number of rows on the wrong side.
    """
    rate, crowd = float(law.rate) * whole, math.log(law.candidates)
    expected, half = rounded((1 + crowd) / rate), rounded((crowd + math.log(float(1 / MISS))) / rate)
    words = f"at most {decimal(expected, 4)} rows of rank off on average, within {decimal(half, 4)} in 95 % of cases"
    return Error(expected, half, words)


def _ratio(law: Ratio, steps: int) -> Error:
    """|m̂ − m| ≤ unit·(|Δ_T| + N·|Δ_R|)/(rows + Δ_R) for the noises Δ_T, Δ_R: given as what is divided by the rows."""
    total, rows = level_of(law.total.epsilon), level_of(law.rows.epsilon)
    unit = law.total.unit
    expected = rounded(float(unit) * (spread(total) + steps * spread(rows)))
    half = unit * (half_width(total, MISS / 2) + steps * half_width(rows, MISS / 2))
    words = f"off by about {decimal(expected, 4)}/rows on average, within ±{decimal(half, 4)}/rows in 95 % of cases"
    return Error(expected, half, words, over_rows=True)
