"""Reading a geometric answer without a matrix: posteriors, best readings and expected losses up to 10⁷ counts.

The truncated geometric mechanism answers y with probability κ_y α^|x−y|, κ = 1/(1+α) at the two ends and (1−α)/(1+α)
between (GRS12 Ex. 2.2), so the posterior of y is proportional to π_x α^|x−y| and needs no κ. Everything here is in
doubles, for 0 < α < 1. The ends are the caller's: at α = 0 the answer is the truth (read it as it is), at α = 1 it says
nothing (read the prior).

The best reading is the *smallest* minimiser of the expected loss, as on the exact path. Where doubles cannot tell two
readings apart, an exact level and an exact prior settle it exactly, up to 4096 counts. Above, or with a float ε or a
float prior, the reading found in doubles stands: a competitor can be better by the rounding of the sums only, at most
8n(1 + max|ln π| + ε)·2⁻⁵² of the loss (`PosteriorSums.relative_error_bound`), and for a searched loss by 2⁻⁴⁰ more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from utmost.consumer.counts import reading_rules
from utmost.consumer.counts.posteriors import (
    MAX_FULL_COUNTS,
    Floats,
    Ints,
    PosteriorSums,
    posterior_sums,
    rounding_error,
)
from utmost.consumer.counts.reading_rules import ExactRate, ReadingRule, TieBreaker, face_value_loss, reading_rule
from utmost.consumer.counts.reading_search import MAX_SEARCH_WORK, ReadingSearch
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.result_values import short_repr

ReadingRequest: TypeAlias = frozenset[int] | None

__all__ = ["ExactRate", "Reading", "Readings", "posterior", "read", "readings"]


@dataclass(frozen=True, slots=True)
class Readings:
    """What every answer y means to a consumer.

    `remap[y]` is its best reading, `losses[y]` the expected loss of that given y, `evidence[y]` the logarithm of the
    probability of y. `expected_loss` is the mean of `losses`, `face_value_loss` that of reading each y as itself.
    """

    __repr__ = short_repr

    remap: Ints
    losses: Floats
    evidence: Floats
    expected_loss: float
    face_value_loss: float


@dataclass(frozen=True, slots=True)
class Reading:
    """The best reading of one answer, its expected loss given the answer, and an equal-tailed credible interval."""

    estimate: int
    loss: float
    interval: tuple[int, int]


def readings(
    prior: Prior,
    level: ExactRate | float,
    loss: Loss,
    asked: Sequence[int] | None = None,
    effort: float = MAX_SEARCH_WORK,
) -> Readings:
    """Optimal remap of the truncated geometric mechanism and what it achieves, for all answers at once.

    w(y) is the smallest minimiser of Σ_x π_x α^|x−y| ℓ(x, w) (GRS12 §2.3; non-decreasing in y for legal ℓ). O(n) for
    `Linear`, `Squared` and `Binary`; for other losses about the widths of the posteriors of the answers that no other
    answer stands for (`posteriors`), refused where it takes more than `effort` multiplications. Above 4096 counts
    such a loss is taken, unchecked, not to decrease away from the truth on either side. Ties are settled for the
    answers in `asked`, by default for all.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> readings(priors.explicit(["1/2", 0, 0, "1/2"]), alpha("1/2"), losses.binary).remap.tolist()
    [0, 0, 3, 3]
    """
    epsilon = _epsilon(level)
    loss.check(prior.size)
    _refuse_falling(loss, prior.size)
    sums, rule = posterior_sums(prior.logs(), epsilon), reading_rule(loss)
    requested, tie_breaker = None if asked is None else frozenset(asked), _tie_breaker(prior, level, loss)
    if rule is None:
        remap, losses = _search_remap(ReadingSearch(sums, loss, effort), tie_breaker, requested)
    else:
        remap = rule.remap(sums, tie_breaker, requested)
        losses = rule.sharp_losses(sums, remap)
    evidence = sums.log(sums.total) + _log_kappa(prior.size, epsilon)
    chances = np.exp(evidence)
    return Readings(remap, losses, evidence, float(chances @ losses), _face_value_loss(sums, loss, rule, chances))


def read(prior: Prior, level: ExactRate | float, loss: Loss, answer: int, coverage: float = 0.95) -> Reading:
    """The best reading of one answer, the same as `readings` gives it, in O(n log n) for any loss of distances.

    The interval holds the truth with probability at least `coverage` given the answer, with at most half of the rest
    on each side.

    >>> from utmost.consumer import losses, priors
    >>> read(priors.uniform(11), 1.0, losses.absolute, 7).estimate
    7
    """
    if not 0 < coverage < 1:
        raise InputError(f"coverage must be strictly between 0 and 1, got {coverage}", "coverage")
    chances = posterior(prior, level, answer)
    interval = reading_rules.credible_interval(chances, coverage)
    if loss.by_error and loss.closed_form is None:
        return Reading(*_reading_by_error(prior, level, loss, answer, chances), interval)
    if prior.size <= MAX_FULL_COUNTS:
        all_readings = readings(prior, level, loss, [answer])
        return Reading(int(all_readings.remap[answer]), float(all_readings.losses[answer]), interval)
    loss.check(prior.size)
    return Reading(*reading_rules.best_reading(chances, loss), interval)


def _reading_by_error(
    prior: Prior, level: ExactRate | float, loss: Loss, answer: int, chances: Floats
) -> tuple[int, float]:
    """The best reading of a posterior for a loss of the error, ties settled where that can be, and its loss."""
    reading, tie_breaker = reading_rules.best_reading(chances, loss)[0], _tie_breaker(prior, level, loss)
    if tie_breaker is not None:
        finite_logs = prior.logs()[np.isfinite(prior.logs())]
        rivals = reading_rules.near_ties(chances, loss, rounding_error(finite_logs, prior.size, _epsilon(level)))
        reading = tie_breaker.best(answer, rivals, reading) if len(rivals) > 1 else reading
    return reading, float(chances @ loss.array(np.arange(prior.size), reading))


def posterior(prior: Prior, level: ExactRate | float, answer: int) -> Floats:
    """P(x | answer) for every count x, proportional to π_x α^|x − answer|.

    >>> from utmost.consumer import priors
    >>> posterior(priors.uniform(3), 1.0, 1).round(3).tolist()
    [0.212, 0.576, 0.212]
    """
    if not isinstance(answer, int | np.integer):
        raise InputError(f"answer must be a count from 0 to {prior.size - 1}, got {type(answer).__name__}", "answer")
    if not 0 <= answer < prior.size:
        raise InputError(
            f"answer must be a count from 0 to {prior.size - 1}, got {answer}", "answer", "clamp it to that range"
        )
    scores = prior.logs() - _epsilon(level) * np.abs(np.arange(prior.size) - answer)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def _search_remap(
    search: ReadingSearch, tie_breaker: TieBreaker | None, requested: ReadingRequest
) -> tuple[Ints, Floats]:
    """The remap by search, ties settled by the tie breaker if there is one, and the expected loss given each answer."""
    remap, losses = search.best()
    if tie_breaker is not None:
        rivals = search.rivals(losses, search.sums.relative_error_bound, requested)
        tie_breaker.settle(remap, rivals, requested)
    return remap, losses


def _face_value_loss(sums: PosteriorSums, loss: Loss, rule: ReadingRule | None, chances: Floats) -> float:
    """The expected loss of reading each answer as itself."""
    if rule is None:
        return face_value_loss(sums.logs, sums.epsilon, loss)
    return float(chances @ rule.losses(sums, np.arange(sums.size)))


def _tie_breaker(prior: Prior, level: ExactRate | float, loss: Loss) -> TieBreaker | None:
    """What settles ties exactly, where prior, level and loss are exact and small enough."""
    inexact = not (prior.is_exact and loss.is_exact)
    if isinstance(level, float | int) or prior.size > MAX_FULL_COUNTS or inexact:
        return None
    return TieBreaker(prior, level.alpha, loss)


def _log_kappa(size: int, epsilon: float) -> Floats:
    """ln κ_y; a single count is always answered with itself."""
    if size == 1:
        return np.zeros(1)
    end_log = -math.log1p(math.exp(-epsilon))
    result = np.full(size, end_log + math.log(-math.expm1(-epsilon)))
    result[0] = result[-1] = end_log
    return result


def _epsilon(level: ExactRate | float) -> float:
    if not isinstance(level, float | int | ExactRate):
        raise InputError(f'level must be alpha("1/2"), epsilon("0.1") or a float, got {type(level).__name__}', "level")
    epsilon = float(level if isinstance(level, float | int) else level.epsilon)
    if not 0 < epsilon < math.inf:
        raise InputError(
            f"epsilon must be > 0 and finite to read an answer, got {epsilon}",
            "epsilon",
            "at 0 read the prior, at inf the answer",
        )
    return epsilon


def _refuse_falling(loss: Loss, size: int) -> None:
    """A loss that falls away from the truth is searched over all readings: too much work above 4096 counts."""
    if loss.by_error and size > MAX_FULL_COUNTS and not loss.monotone:
        kind = loss.name.partition(":")[0]
        raise InputError(
            f"loss {kind} must not fall away from the truth to read all of {size} answers",
            "loss",
            "read them one by one",
        )
