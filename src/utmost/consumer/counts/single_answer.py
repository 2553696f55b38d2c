"""The best reading of one answer from its posterior, for any number of counts."""

from __future__ import annotations

import numpy as np

from utmost.consumer.counts.recurrences import Floats, Ints
from utmost.consumer.losses import Binary, ByError, Linear, Loss, Squared
from utmost.errors import InputError

DIRECT = 1 << 14  # counts up to which a convolution is summed term by term
NEGLIGIBLE = 2.0**-80  # of a posterior's largest weight, times the number of counts
RIVALS = 256  # readings compared again term by term after a fast convolution
MAX_CONVOLUTION_COUNTS = 30_000  # counts of a posterior for a loss that is not of distances


def credible_interval(chances: Floats, coverage: float) -> tuple[int, int]:
    """Counts low ≤ high with at most (1 − coverage)/2 of the posterior below and above."""
    tail = (1 - coverage) / 2
    return _quantile(chances, tail), len(chances) - 1 - _quantile(chances[::-1], tail)


def _quantile(chances: Floats, theta: float) -> int:
    """The smallest count with P(x ≤ w) > θ."""
    return min(int(np.searchsorted(np.cumsum(chances), theta, side="right")), len(chances) - 1)


def best_reading(chances: Floats, loss: Loss) -> tuple[int, float]:
    """The smallest minimiser of Σ_x P(x) ℓ(x, w), and the minimum, in doubles."""
    reading = _minimiser(chances, loss)
    return reading, float(chances @ loss.array(np.arange(len(chances)), reading))


def _minimiser(chances: Floats, loss: Loss) -> int:
    counts = np.arange(len(chances))
    if isinstance(loss, Linear):
        return _linear(chances, loss)
    if isinstance(loss, Squared):
        centre = int(chances.argmax())
        return centre + int(np.ceil(float(chances @ (counts - centre)) - 0.5))
    if isinstance(loss, Binary):
        return int(chances.argmax())
    return _searched(chances, loss)


def _linear(chances: Floats, loss: Linear) -> int:
    """The smallest w with over·P(x ≤ w) ≥ under·P(x > w)."""
    support = np.flatnonzero(chances)
    if not loss.under:
        return 0
    above = np.append(np.cumsum(chances[support][::-1])[::-1][1:], 0.0)
    reached = float(loss.over) * np.cumsum(chances[support]) >= float(loss.under) * above
    return int(support[np.argmax(reached)])


def _searched(chances: Floats, loss: Loss) -> int:
    """The best reading in the hull of the posterior's weights that matter: a legal loss gains nothing beyond.

    For a loss of the error that falls somewhere away from the truth the hull is that of all counts.
    """
    matter = np.flatnonzero(chances > NEGLIGIBLE / len(chances) * chances.max())
    low, high = int(matter[0]), int(matter[-1])
    inside = chances[low : high + 1]
    if isinstance(loss, ByError):
        return low + _by_convolution(inside, loss) if loss.monotone else _by_convolution(chances, loss)
    if len(inside) > MAX_CONVOLUTION_COUNTS:
        raise InputError(
            f"loss {loss.name} must be one of distances for a posterior of {len(inside)} counts: use power"
        )
    truths = np.arange(low, high + 1)
    return low + int(np.argmin([inside @ loss.array(truths, reading) for reading in range(low, high + 1)]))


def near_ties(chances: Floats, loss: ByError, doubt: float) -> list[int]:
    """All readings within a relative 2·doubt of the least expected loss, ascending."""
    values = _expected(chances, loss)
    return np.flatnonzero(values <= values.min() * (1 + 2 * doubt)).tolist()


def _expected(chances: Floats, loss: ByError) -> Floats:
    """Σ_x P(x) ℓ(x, w) for every reading w, term by term."""
    size = len(chances)
    return np.convolve(chances, loss.array(0, np.arange(-size + 1, size)))[size - 1 : 2 * size - 1]


def _by_convolution(chances: Floats, loss: ByError) -> int:
    size = len(chances)
    if size <= DIRECT:
        return int(np.argmin(_expected(chances, loss)))
    kernel = loss.array(0, np.arange(-size + 1, size))
    from scipy.signal import fftconvolve

    values = fftconvolve(chances, kernel)[size - 1 : 2 * size - 1]
    rivals: Ints = np.sort(np.argpartition(values, RIVALS)[:RIVALS])
    back = chances[::-1]
    return int(rivals[np.argmin([back @ kernel[reading : reading + size] for reading in rivals.tolist()])])
