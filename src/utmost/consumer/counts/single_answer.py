"""The best reading of one answer from its posterior, for any number of counts."""

from __future__ import annotations

import numpy as np

from utmost.consumer.counts.reading_rules import reading_rule
from utmost.consumer.counts.recurrences import Floats, Ints
from utmost.consumer.losses import Loss
from utmost.errors import InputError

MAX_DIRECT_COUNTS = 1 << 14  # counts up to which a convolution is summed term by term
NEGLIGIBLE_SHARE = 2.0**-80  # of a posterior's largest weight, times the number of counts
RIVAL_READINGS = 256  # readings compared again term by term after a fast convolution
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
    rule = reading_rule(loss)
    return _search_minimiser(chances, loss) if rule is None else rule.minimiser(chances)


def _search_minimiser(chances: Floats, loss: Loss) -> int:
    """The best reading in the hull of the posterior's weights that matter: a legal loss gains nothing beyond.

    For a loss of the error that falls somewhere away from the truth the hull is that of all counts.
    """
    relevant = np.flatnonzero(chances > NEGLIGIBLE_SHARE / len(chances) * chances.max())
    low, high = int(relevant[0]), int(relevant[-1])
    window = chances[low : high + 1]
    if loss.by_error:
        return low + _convolution_minimiser(window, loss) if loss.monotone else _convolution_minimiser(chances, loss)
    if len(window) > MAX_CONVOLUTION_COUNTS:
        raise InputError(
            f"loss {loss.name} must be one of distances for a posterior of {len(window)} counts", "loss", "use power"
        )
    truths = np.arange(low, high + 1)
    return low + int(np.argmin([window @ loss.array(truths, reading) for reading in range(low, high + 1)]))


def near_ties(chances: Floats, loss: Loss, relative_error: float) -> list[int]:
    """All readings within a relative 2·doubt of the least expected loss, ascending."""
    values = _expected_losses(chances, loss)
    return np.flatnonzero(values <= values.min() * (1 + 2 * relative_error)).tolist()


def _expected_losses(chances: Floats, loss: Loss) -> Floats:
    """Σ_x P(x) ℓ(x, w) for every reading w, term by term."""
    size = len(chances)
    return np.convolve(chances, loss.array(0, np.arange(-size + 1, size)))[size - 1 : 2 * size - 1]


def _convolution_minimiser(chances: Floats, loss: Loss) -> int:
    size = len(chances)
    if size <= MAX_DIRECT_COUNTS:
        return int(np.argmin(_expected_losses(chances, loss)))
    kernel = loss.array(0, np.arange(-size + 1, size))
    from scipy.signal import fftconvolve

    values = fftconvolve(chances, kernel)[size - 1 : 2 * size - 1]
    rivals: Ints = np.sort(np.argpartition(values, RIVAL_READINGS)[:RIVAL_READINGS])
    reversed_chances = chances[::-1]
    return int(rivals[np.argmin([reversed_chances @ kernel[reading : reading + size] for reading in rivals.tolist()])])
