"""Bounds on a probability from counts: exact ones to state, quick ones to choose by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

SLACK = 1e-9  # relative; the inverse of the beta function is right to about 1e-12


def lower_bound(count: int, draws: int, risk: float) -> float:
    """The Clopper–Pearson lower bound: Pr[least > p] ≤ risk for every p, if count is Binomial(draws, p).

    It is the p at which `count` or more has probability `risk`; 0 if count is 0. Rounded down.

    >>> round(lower_bound(5, 10, 0.05), 6), lower_bound(0, 10, 0.05)
    (0.222441, 0.0)
    """
    from scipy.special import betaincinv

    if count == 0:
        return 0.0
    return float(betaincinv(count, draws - count + 1, risk)) * (1 - SLACK)


def upper_bound(count: int, draws: int, risk: float) -> float:
    """The Clopper–Pearson upper bound: Pr[most < p] ≤ risk for every p. It is > 0 always, and rounded up.

    >>> round(upper_bound(5, 10, 0.05), 6), round(upper_bound(0, 10, 0.05), 6) == round(1 - 0.05**0.1, 6)
    (0.777559, True)
    """
    from scipy.special import betainccinv

    if count >= draws:
        return 1.0
    return min(1.0, float(betainccinv(count + 1, draws - count, risk)) * (1 + SLACK))


def log_ratio(high: int, low: int, draws: int, risk: float) -> float:
    """A number that exceeds ln(p/q) with probability at most `risk`: half of it for p, half for q; −∞ if high is 0."""
    above = lower_bound(high, draws, risk / 2)
    return math.log(above) - math.log(upper_bound(low, draws, risk / 2)) if above > 0 else -math.inf


def wilson_score(high: npt.NDArray[Any], low: npt.NDArray[Any], draws: int, z: float) -> npt.NDArray[np.float64]:
    """ln of Wilson's lower bound for p over Wilson's upper bound for q, z standard errors out: no claim, an order."""
    square = z * z / 2
    above, below = high.astype(float), low.astype(float)
    p = above + square - z * np.sqrt(above * (1 - above / draws) + square / 2)
    q = below + square + z * np.sqrt(below * (1 - below / draws) + square / 2)
    return np.asarray(np.log(np.maximum(p, 1e-9)) - np.log(q))
