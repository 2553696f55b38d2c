"""Confidence bounds on a probability from counts: exact ones to state, quick ones to rank events by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

RELATIVE_MARGIN = 1e-9  # the inverse of the beta function is right to about 1e-12


def lower_bound(count: int, draws: int, risk: float) -> float:
    """The Clopper–Pearson lower bound: Pr[bound > p] ≤ risk for every p, if count is Binomial(draws, p).

    It is the p at which `count` or more has probability `risk`; 0 if count is 0. Rounded down.

    >>> round(lower_bound(5, 10, 0.05), 6), lower_bound(0, 10, 0.05)
    (0.222441, 0.0)
    """
    from scipy.special import betaincinv

    if count == 0:
        return 0.0
    return float(betaincinv(count, draws - count + 1, risk)) * (1 - RELATIVE_MARGIN)


def upper_bound(count: int, draws: int, risk: float) -> float:
    """The Clopper–Pearson upper bound: Pr[bound < p] ≤ risk for every p. It is > 0 always, and rounded up.

    >>> round(upper_bound(5, 10, 0.05), 6), round(upper_bound(0, 10, 0.05), 6) == round(1 - 0.05**0.1, 6)
    (0.777559, True)
    """
    from scipy.special import betainccinv

    if count >= draws:
        return 1.0
    return min(1.0, float(betainccinv(count + 1, draws - count, risk)) * (1 + RELATIVE_MARGIN))


def log_ratio(high: int, low: int, draws: int, risk: float) -> float:
    """A number that exceeds ln(p/q) with probability at most `risk`: half of it for p, half for q; −∞ if high is 0."""
    p_bound = lower_bound(high, draws, risk / 2)
    return math.log(p_bound) - math.log(upper_bound(low, draws, risk / 2)) if p_bound > 0 else -math.inf


def wilson_score(high: npt.NDArray[Any], low: npt.NDArray[Any], draws: int, z: float) -> npt.NDArray[np.float64]:
    """ln of Wilson's lower bound for p over Wilson's upper bound for q, z standard errors out: a score, not a bound."""
    half_square = z * z / 2
    high_counts, low_counts = high.astype(float), low.astype(float)
    p = high_counts + half_square - z * np.sqrt(high_counts * (1 - high_counts / draws) + half_square / 2)
    q = low_counts + half_square + z * np.sqrt(low_counts * (1 - low_counts / draws) + half_square / 2)
    return np.asarray(np.log(np.maximum(p, 1e-9)) - np.log(q))
