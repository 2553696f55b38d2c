"""Lower bounds on the mean of a bounded variable from independent draws, by betting.

**Claim.** Let Z₁, …, Z_n be independent draws of a variable Z ≥ c with mean μ, and λ > 0. If m ≤ c + 1/λ is such that
∏(1 + λ(Z_i − m)) ≥ 1/r, then m ≤ μ but with probability r.

*Proof.* If μ ≤ c + 1/λ, each factor 1 + λ(Z_i − μ) is ≥ 0 and has mean 1. So the product at μ is ≥ 0 with mean 1, and
is ≥ 1/r with probability at most r (Markov). The product decreases in m as long as its factors are ≥ 0, so an m > μ can
reach 1/r only if μ does. If μ > c + 1/λ, no such m is above μ. ∎

This holds for every λ that the draws themselves did not choose, for every n and every law: nothing is assumed to be
normal. With λ about √(2·ln(1/r)/(n·Var Z)) the bound is about √(2·ln(1/r)·Var Z/n) below the sample's mean
(Waudby-Smith and Ramdas, arXiv:2010.09686). Clopper–Pearson bounds are for variables with two values only.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
MAX_STAKE = 0.9  # of λ(m − c) in a factor: it stays ≥ 1 − 0.9, where its logarithm is a good double
STAKE_STEPS = 9  # stakes tried, each half of the one before
BISECTION_STEPS = 100
RELATIVE_MARGIN = 1e-9  # doubles sum a thousand logarithms to about 1e-13


def mean_lower_bound(values: Numbers, counts: Numbers, risk: float, stake: float) -> float:
    """A number above the mean with probability at most `risk`: `counts` say how often each value was drawn.

    `values` must be all that can be drawn, drawn or not, and `stake` (λ) chosen without these draws. Rounded down.

    >>> values, counts = np.array([0.0, 1.0]), np.array([500.0, 500.0])
    >>> round(mean_lower_bound(values, counts, 0.01, 0.2), 3)
    0.452
    """
    least = float(values.min())
    wanted = math.log(1 / risk) * (1 + RELATIVE_MARGIN)

    def is_shown(mean: float) -> bool:
        logs = counts * np.log1p(stake * (values - mean))
        return float(logs.sum()) >= wanted + RELATIVE_MARGIN * float(np.abs(logs).sum())

    low, high = least, least + MAX_STAKE / stake
    if not is_shown(low):
        return least
    if is_shown(high):
        return high
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_shown(middle) else (low, middle)
    return low


def choose_stake(values: Numbers, counts: Numbers, risk: float) -> float:
    """The λ that gives about the best bound for draws like these; of other draws it bounds just as surely."""
    least, draws = float(values.min()), float(counts.sum())
    mean = float(counts @ values) / draws
    largest = 1 / max(mean - least, 1e-300)
    stakes = [MAX_STAKE * largest * 0.5**k for k in range(STAKE_STEPS)]
    variance = max(float(counts @ (values - mean) ** 2) / draws, 1e-300)
    stakes.append(min(math.sqrt(2 * math.log(1 / risk) / (draws * variance)), stakes[0]))
    return max(stakes, key=lambda stake: mean_lower_bound(values, counts, risk, stake))
