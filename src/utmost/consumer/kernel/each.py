"""Credible intervals and face-value losses of many answers at once: what a table of released cells needs."""

from __future__ import annotations

import math

import numpy as np

from utmost.consumer.kernel import closed
from utmost.consumer.kernel.closed import Quantiles
from utmost.consumer.kernel.scan import Floats, Ints, Sums
from utmost.consumer.losses import Binary, Linear, Loss, Squared


def spans(table: Sums, coverage: float) -> tuple[Ints, Ints]:
    """For every answer the counts low ≤ high with at most (1 − coverage)/2 of its posterior below and above. O(n).

    low is the smallest count with P(x ≤ low | y) ≥ (1 − coverage)/2 and high the smallest with
    P(x ≤ high | y) ≥ (1 + coverage)/2.
    """
    tail = (1 - coverage) / 2
    quantiles = Quantiles(table)
    return quantiles.at(math.log(tail), math.log1p(-tail)), quantiles.at(math.log1p(-tail), math.log(tail))


def faced(table: Sums, loss: Loss, answers: Ints) -> Floats:
    """E[ℓ(x, y) | y], the loss of reading y as itself, for these answers.

    In closed form for `Linear`, `Squared` and `Binary`; for another loss one posterior is summed for each answer.
    """
    counts = np.arange(table.size)
    if isinstance(loss, Linear):
        return closed.linear_losses(table, loss, counts)[answers]
    if isinstance(loss, Squared):
        return closed.squared_losses(table, counts)[answers]
    if isinstance(loss, Binary):
        return closed.binary_losses(table, counts)[answers]
    distinct, places = np.unique(answers, return_inverse=True)
    total = table.log(table.total)
    found = np.empty(len(distinct))
    for k, y in enumerate(distinct.tolist()):
        chances = np.exp(table.logs - table.epsilon * np.abs(counts - y) - total[y])
        found[k] = chances @ loss.array(counts, y)
    return found[places]
