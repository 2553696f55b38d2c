"""The expected loss of reading every answer as itself: over all answers, and for each of them."""

from __future__ import annotations

import math

import numpy as np

from utmost.consumer.counts.posterior_mass import MAX_FULL_COUNTS
from utmost.consumer.counts.reading_rules import reading_rule
from utmost.consumer.counts.recurrences import Floats, Ints, PosteriorSums
from utmost.consumer.losses import Loss

BLOCK_TRUTHS = 1 << 13  # truths summed at a time
RELATIVE_REMAINDER = 2.0**-50  # relative size of what may be left out


def face_value_loss(logs: Floats, epsilon: float, loss: Loss) -> float:
    """Σ_x π_x Σ_y κ_y α^|x−y| ℓ(x, y), summed over the truth x outside and the answer y inside.

    For a loss of the error the inner sum is two prefix sums and two ends, O(n) in all. For others the distances are
    summed from 1 on, until what is left is below 2^−50 of the sum (for a loss that is largest at the ends).
    """
    if len(logs) == 1:
        return float(loss.array(0, 0))
    truths = np.flatnonzero(np.isfinite(logs))
    weights = np.exp(logs[truths])
    if loss.by_error:
        return float(weights @ _losses_by_error(truths, len(logs), epsilon, loss))
    blocks = [slice(start, start + BLOCK_TRUTHS) for start in range(0, len(truths), BLOCK_TRUTHS)]
    return math.fsum(_loss_of_block(weights[block], truths[block], len(logs), epsilon, loss) for block in blocks)


def _losses_by_error(truths: Ints, size: int, epsilon: float, loss: Loss) -> Floats:
    """E[ℓ(x, y) | x]: all distances to either side as if between the ends, what the ends have more, 0 counted once."""
    gaps, inner = np.arange(size), math.tanh(epsilon / 2)
    losses = np.full(len(truths), -float(loss.array(0, 0)) * inner)
    for costs, max_gaps in ((loss.array(gaps, 0), truths), (loss.array(0, gaps), size - 1 - truths)):
        terms = costs * np.exp(-epsilon * gaps)
        losses += np.cumsum(terms)[max_gaps] * inner + terms[max_gaps] * (_end_weight(epsilon) - inner)
    return losses


def _loss_of_block(weights: Floats, truths: Ints, size: int, epsilon: float, loss: Loss) -> float:
    """The sum over a few neighbouring truths, nearest answers first."""
    kappa = np.full(size, math.tanh(epsilon / 2))
    kappa[0] = kappa[-1] = _end_weight(epsilon)
    max_loss = max(float(loss.array(truths, 0).max()), float(loss.array(truths, size - 1).max())) * float(weights.sum())
    value = float(weights @ (kappa[truths] * loss.array(truths, truths)))
    for gap in range(1, size):
        factor = math.exp(-epsilon * gap)
        if size > MAX_FULL_COUNTS and 2 * factor * max_loss <= RELATIVE_REMAINDER * value:
            break
        first, last = np.searchsorted(truths, [gap, size - gap]).tolist()
        for selection, step in ((slice(first, None), -gap), (slice(0, last), gap)):
            selected_truths = truths[selection]
            answers = selected_truths + step
            value += factor * float(weights[selection] @ (kappa[answers] * loss.array(selected_truths, answers)))
    return value


def _end_weight(epsilon: float) -> float:
    """κ at the two ends, 1/(1 + α)."""
    return 1 / (1 + math.exp(-epsilon))


def face_value_losses(sums: PosteriorSums, loss: Loss, answers: Ints) -> Floats:
    """E[ℓ(x, y) | y], the loss of reading y as itself, for these answers.

    In closed form where the loss has one; for another loss one posterior is summed for each answer.
    """
    counts = np.arange(sums.size)
    rule = reading_rule(loss)
    if rule is not None:
        return rule.losses(sums, counts)[answers]
    distinct, positions = np.unique(answers, return_inverse=True)
    total = sums.log(sums.total)
    losses = np.empty(len(distinct))
    for k, y in enumerate(distinct.tolist()):
        chances = np.exp(sums.logs - sums.epsilon * np.abs(counts - y) - total[y])
        losses[k] = chances @ loss.array(counts, y)
    return losses[positions]
