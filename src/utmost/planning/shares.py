"""Shares of the levels in a price that make a workload's variance small.

With precisions τ_l = (s_l/Δ_l)² for shares of ε, s_l/m_l for shares of ρ, the variance F is a function of the shares.
At a least one the derivatives −∂F/∂s_l are equal wherever s_l > 0, so the step s_l ← s_l·(−∂F/∂s_l)^γ, scaled to add up
to 1, stays there. With γ = 1/2 it is monotone for ρ, where F is convex (Yu 2010); for ε, γ = 1/3, it is started from
several points. What is found is near a least value; what holds of it is computed from the rounded shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.planning.regular import RegularModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPSILON, RHO = "ε", "ρ"
SHARE_UNIT = 10**4  # shares are multiples of 1/10000
LEAST_SHARE = 10  # of these: a thousandth, for a level that the workload does not need
TRIAL_STEPS, FEW_STEPS = 8, 100
MAX_STARTS = 8
TOLERANCE = 1e-7  # of the variance, in a step


def planned_shares(model: Any, moves: Sequence[int], measure: str) -> tuple[Fraction, ...]:
    """The shares of the levels, rounded; `moves` says how far a unit moves each level, squared for ρ."""
    if len(moves) == 1:
        return (Fraction(1),)
    power = 2 if measure == EPSILON else 1
    scales = np.array([1 / move**power for move in moves])
    starts = _starts(len(moves)) if measure == EPSILON else _starts(len(moves))[:1]
    most = model.max_steps
    starts = starts[:3] if most < FEW_STEPS else starts
    steps = TRIAL_STEPS if len(starts) > 1 and not isinstance(model, RegularModel) else most
    trials = [_descend(model, scales, power, start, steps) for start in starts]
    value, shares = min(trials, key=lambda trial: trial[0])
    if not np.isfinite(value):
        return (Fraction(1, len(moves)),) * len(moves)
    return round_shares(_descend(model, scales, power, shares, most)[1])


def _starts(count: int) -> list[NDArray[np.float64]]:
    """Equal shares, then most for one level, and for every second or third."""
    equal, numbers = np.full(count, 1 / count), np.arange(count)
    places = np.unique(np.linspace(0, count - 1, min(count, MAX_STARTS)).round().astype(int))
    chosen = [numbers == place for place in places]
    chosen += [(count - 1 - numbers) % stride == 0 for stride in (2, 3) if stride < count]
    return [equal, *(0.1 * equal + 0.9 * some / some.sum() for some in chosen)]


def _descend(
    model: Any, scales: NDArray[np.float64], power: int, shares: NDArray[np.float64], steps: int
) -> tuple[float, NDArray[np.float64]]:
    """The least variance that was met, and its shares."""
    least, best = float("inf"), shares
    previous = float("inf")
    for _ in range(steps):
        value, slopes = model.objective(scales * shares**power)
        if not np.isfinite(value):
            break
        if value < least:
            least, best = value, shares
        if abs(previous - value) <= TOLERANCE * value:
            break
        previous = value
        gains = np.maximum(-slopes * scales * power * shares ** (power - 1), 1e-300)
        moved = shares * (gains / gains.max()) ** (1 / (1 + power))
        shares = np.maximum(moved / moved.sum(), 1e-9)
        shares = shares / shares.sum()
    return least, best


def round_shares(shares: NDArray[np.float64]) -> tuple[Fraction, ...]:
    """Multiples of 1/10000 that add up to 1, none below a thousandth.

    >>> [str(share) for share in round_shares(np.array([0.5, 0.49996, 0.00004]))]
    ['499/1000', '1/2', '1/1000']
    """
    units = np.maximum(np.rint(shares * SHARE_UNIT).astype(int), LEAST_SHARE)
    while units.sum() != SHARE_UNIT:
        excess = int(units.sum()) - SHARE_UNIT
        place = int(np.argmax(units))
        units[place] -= max(min(excess, int(units[place]) // 2), -SHARE_UNIT)
    return tuple(Fraction(int(unit), SHARE_UNIT) for unit in units)
