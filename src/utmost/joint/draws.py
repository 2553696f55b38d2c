"""Draws of whole tables from the posterior, and sums of any cells by them.

A draw takes the top's count from its law, then splits each sum s into its terms: x_1 = x with weight m_1(x)·m_2(s−x).
That is the law of the terms given their sum, whatever tilt the m have. So draws are independent, exact for the
posterior as doubles hold it, whole, ≥ 0, and add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.errors import InputError
from utmost.joint.laws import Floats, Ints
from utmost.joint.posterior import Posterior
from utmost.noise.entropy import EntropySource, entropy_source

MAX_DRAWN_COUNTS = 10**8  # counts in all draws
WORD_BITS = 53  # of a word that make a double in [0, 1)


def max_draws(posterior: Posterior) -> int:
    """How many tables can be drawn at once."""
    return MAX_DRAWN_COUNTS // posterior.windows.sums.size


def draw_tables(posterior: Posterior, draw_count: int, source: EntropySource | None = None) -> Ints:
    """`draw_count` tables: a row for each cell, a column for each draw."""
    tree, sums, limit = posterior.tree, posterior.windows.sums, max_draws(posterior)
    if not 1 <= draw_count <= limit:
        raise InputError(f"draws must be from 1 to {limit} of {tree.size} cells, got {draw_count}", "draws")
    stream = entropy_source(source)
    counts = np.zeros((sums.size, draw_count), dtype=np.int64)
    counts[0] = posterior.windows.low[0] + _places(posterior.laws[0], _uniforms(draw_count, stream))
    for node in reversed(sums.order):
        terms = sums.terms[node]
        if len(terms) == 1:
            counts[terms[0]] = counts[node]
        elif terms:
            counts[terms[0]] = _draw_split(posterior, terms, counts[node], _uniforms(draw_count, stream))
            counts[terms[1]] = counts[node] - counts[terms[0]]
    return counts[: tree.size]


def _draw_split(posterior: Posterior, terms: tuple[int, ...], totals: Ints, uniforms: Floats) -> Ints:
    """The first term's counts given the sums."""
    (one, other), low, high = terms, posterior.windows.low, posterior.windows.high
    first, second = posterior.messages[one], posterior.messages[other]
    assert first is not None
    assert second is not None
    counts = np.empty_like(totals)
    for total in np.unique(totals).tolist():
        least, most = max(low[one], total - high[other]), min(high[one], total - low[other])
        weights = first[least - low[one] : most - low[one] + 1]
        weights = weights * second[total - most - low[other] : total - least - low[other] + 1][::-1]
        rows = totals == total
        counts[rows] = least + _places(weights, uniforms[rows])
    return counts


def _places(weights: Floats, uniforms: Floats) -> Ints:
    """Positions drawn with these weights."""
    cumulative = np.cumsum(weights)
    places = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return np.asarray(np.minimum(places, len(weights) - 1))


def _uniforms(count: int, stream: EntropySource) -> Floats:
    """Doubles in [0, 1) of 53 bits each."""
    words: Any = stream.words(count) >> np.uint64(64 - WORD_BITS)
    return np.asarray(words.astype(np.float64) / 2.0**WORD_BITS)


@dataclass(frozen=True, slots=True)
class CellSum:
    """The sum of some cells: its posterior mean, its interval from draws, and how many draws."""

    cells: tuple[int, ...]
    mean: float
    interval: tuple[int, int]
    draw_count: int


def cell_sum(posterior: Posterior, cells: Iterable[int], tables: Ints, coverage: float = 0.95) -> CellSum:
    """The sum of cells that do not overlap; the interval's ends are order statistics of the draws, rounded outward."""
    chosen = tuple(cells)
    _check_disjoint(posterior, chosen)
    sums = np.sort(tables[list(chosen)].sum(axis=0))
    tail = (1 - coverage) / 2 * len(sums)
    below, above = math.floor(tail), math.ceil(len(sums) - tail) - 1
    mean = float(posterior.means[list(chosen)].sum())
    return CellSum(chosen, mean, (int(sums[below]), int(sums[above])), len(sums))


def _check_disjoint(posterior: Posterior, cells: tuple[int, ...]) -> None:
    chosen = set(cells)
    if not cells or len(chosen) != len(cells):
        raise InputError("a sum must have cells, each once", "sum")
    for cell in cells:
        parent = posterior.tree.parents[cell]
        while parent >= 0:
            if parent in chosen:
                label = posterior.tree.label(cell)
                raise InputError(f"a sum must have cells that do not overlap, got {label} and its whole", "sum")
            parent = posterior.tree.parents[parent]
