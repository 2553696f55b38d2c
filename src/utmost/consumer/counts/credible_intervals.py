"""Credible intervals and face-value losses of many answers at once: what a table of released cells needs."""

from __future__ import annotations

import math

import numpy as np

from utmost.consumer.counts import closed_form
from utmost.consumer.counts.closed_form import Quantiles
from utmost.consumer.counts.recurrences import Floats, Ints, PosteriorSums
from utmost.consumer.losses import Binary, Linear, Loss, Squared


def credible_intervals(table: PosteriorSums, coverage: float) -> tuple[Ints, Ints]:
    """For every answer the counts low ≤ high with at most (1 − coverage)/2 of its posterior below and above. O(n).

    low is the smallest count with P(x ≤ low | y) ≥ (1 − coverage)/2 and high the smallest with
    P(x ≤ high | y) ≥ (1 + coverage)/2.
    """
    tail = (1 - coverage) / 2
    quantiles = Quantiles(table)
    return quantiles.at(math.log(tail), math.log1p(-tail)), quantiles.at(math.log1p(-tail), math.log(tail))


def face_value_losses(table: PosteriorSums, loss: Loss, answers: Ints) -> Floats:
    """E[ℓ(x, y) | y], the loss of reading y as itself, for these answers.

    In closed form for `Linear`, `Squared` and `Binary`; for another loss one posterior is summed for each answer.
    """
    counts = np.arange(table.size)
    if isinstance(loss, Linear):
        return closed_form.linear_losses(table, loss, counts)[answers]
    if isinstance(loss, Squared):
        return closed_form.squared_losses(table, counts)[answers]
    if isinstance(loss, Binary):
        return closed_form.binary_losses(table, counts)[answers]
    distinct, places = np.unique(answers, return_inverse=True)
    total = table.log(table.total)
    found = np.empty(len(distinct))
    for k, y in enumerate(distinct.tolist()):
        chances = np.exp(table.logs - table.epsilon * np.abs(counts - y) - total[y])
        found[k] = chances @ loss.array(counts, y)
    return found[places]
