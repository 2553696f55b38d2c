"""Best readings for a loss without a closed form: every reading that could be best is tried, by recursion.

For a fixed reading w the sum F(y, w) = Σ_x π_x α^|x−y| ℓ(x, w) has a left and a right part that obey the recurrences of
`scan` along y. So one pass up and one pass down over δ = y − w gives F for all w at once, one vector operation a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from utmost.consumer.kernel.closed import Quantiles, linear_losses, linear_remap, squared_losses, squared_remap
from utmost.consumer.kernel.scan import Floats, Ints, Sums
from utmost.consumer.losses import Loss, Power, absolute
from utmost.errors import InputError

SMALL = 4096  # up to here no reading is left out
FEASIBLE = 5e10  # elementary operations
STORE = 1 << 24  # doubles kept at once
TAIL = 2.0**-40  # how much the neglected part of a posterior can change an expected loss

Visit: TypeAlias = Callable[[slice, Ints, Floats], None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Readings start..stop−1, tried for answers at most `reach` away, with the truths at most `span` away."""

    start: int
    stop: int
    reach: int
    span: int


class Search:
    """All the pairs of an answer y and a reading w that could be best for it, with their F(y, w)/Z_y.

    Up to 4096 counts all pairs are visited. Above, and for a `Power`, only the readings that `_wanted` cannot exclude,
    and of the truths those between the posterior quantiles τ and 1 − τ with τ = 2^−40/n^p: what is left out of an
    expected loss is below 2^−40.
    """

    def __init__(self, sums: Sums, loss: Loss) -> None:
        self.sums, self.loss, size = sums, loss, sums.size
        truths = _reach(sums, loss)
        wanted = np.minimum(_wanted(sums, loss, truths), truths)
        cost = float(6 * truths.sum() + 20 * wanted.sum())
        if cost > FEASIBLE:
            raise InputError(
                f"loss {loss.name} needs about {cost:.0e} operations for all {size} answers at this epsilon, "
                f"more than {FEASIBLE:.0e}: read one answer at a time, or use absolute, squared or binary"
            )
        self.chunks = _chunks(wanted, truths)
        pad = max((c.span for c in self.chunks), default=0) + 1
        self.pad = pad
        alpha, rise = math.exp(-sums.epsilon), np.diff(sums.exponent)
        self.weight, self.up, self.down = (np.zeros(size + 2 * pad) for _ in range(3))
        self.weight[pad : pad + size] = sums.weight
        self.up[pad + 1 : pad + size] = np.ldexp(alpha, -rise)
        self.down[pad : pad + size - 1] = np.ldexp(alpha, rise)
        self.gaps = loss.array(np.arange(2 * pad + 1), 0) if isinstance(loss, Power) else None

    def best(self) -> tuple[Ints, Floats, Floats]:
        """For each y: the smallest minimiser w of F(y, w) in doubles, its expected loss, and that of y itself."""
        remap, face = np.zeros(self.sums.size, dtype=np.int64), np.empty(self.sums.size)
        least = np.full(self.sums.size, np.inf)

        def keep(answers: slice, readings: Ints, values: Floats) -> None:
            better = values < least[answers]
            if better.any():
                np.copyto(least[answers], values, where=better)
                np.copyto(remap[answers], readings, where=better)
            if readings[0] == answers.start:
                face[answers] = values

        self.visit(keep)
        return remap, least / self.sums.total, face / self.sums.total

    def rivals(self, least: Floats, doubt: float) -> dict[int, list[int]]:
        """The readings within a relative 2·doubt of the least loss, for the answers that have more than one."""
        found: dict[int, list[int]] = {}
        bound = least * self.sums.total * (1 + 2 * doubt)

        def collect(answers: slice, readings: Ints, values: Floats) -> None:
            for k in np.flatnonzero(values <= bound[answers]).tolist():
                found.setdefault(answers.start + k, []).append(int(readings[k]))

        self.visit(collect)
        return {y: sorted(readings) for y, readings in found.items() if len(readings) > 1}

    def visit(self, visit: Visit) -> None:
        """Shows every chunk's F(y, w), smaller readings first for each answer."""
        for chunk in self.chunks:
            self._visit_chunk(chunk, visit)

    def _visit_chunk(self, chunk: Chunk, visit: Visit) -> None:
        left, counts = self._left_parts(chunk), np.arange(self.sums.size)
        value, step, size = np.zeros(chunk.stop - chunk.start), np.empty(chunk.stop - chunk.start), self.sums.size
        for delta in range(chunk.span, -chunk.reach - 1, -1):
            here, after = self._at(chunk, delta), self._at(chunk, delta + 1)
            np.multiply(self.weight[after], self._loss(chunk, delta + 1), out=step)
            value += step
            value *= self.down[here]
            if delta > chunk.reach:
                continue
            np.add(value, left[delta + chunk.reach], out=step)
            low, high = max(chunk.start + delta, 0), min(chunk.stop + delta, size)
            if low < high:
                readings = counts[low - delta : high - delta]
                visit(slice(low, high), readings, step[low - delta - chunk.start : high - delta - chunk.start])

    def _left_parts(self, chunk: Chunk) -> Floats:
        """Row δ + reach: Σ_{x≤y} π_x α^(y−x) ℓ(x, w) at y = w + δ, in units of 2^{e_y}, for the chunk's readings."""
        parts = np.empty((2 * chunk.reach + 1, chunk.stop - chunk.start))
        value, step = np.zeros(chunk.stop - chunk.start), np.empty(chunk.stop - chunk.start)
        for delta in range(-chunk.span, chunk.reach + 1):
            here = self._at(chunk, delta)
            np.multiply(self.weight[here], self._loss(chunk, delta), out=step)
            value *= self.up[here]
            value += step
            if delta >= -chunk.reach:
                parts[delta + chunk.reach] = value
        return parts

    def _at(self, chunk: Chunk, delta: int) -> slice:
        return slice(chunk.start + delta + self.pad, chunk.stop + delta + self.pad)

    def _loss(self, chunk: Chunk, delta: int) -> Floats | float:
        """ℓ(w + δ, w) over the chunk; outside the counts the weight is 0 and any value will do."""
        if self.gaps is not None:
            return float(self.gaps[abs(delta)])
        readings = np.arange(chunk.start, chunk.stop)
        return self.loss.array(np.clip(readings + delta, 0, self.sums.size - 1), readings)


def _reach(sums: Sums, loss: Loss) -> Ints:
    """For each answer how far away a truth may lie that matters."""
    answers = np.arange(sums.size)
    if sums.size <= SMALL or not isinstance(loss, Power):
        return np.maximum(answers, sums.size - 1 - answers)
    tail = math.log(TAIL) - float(loss.p) * math.log(sums.size)
    quantiles = Quantiles(sums)
    low, high = quantiles.at(tail, math.log1p(-math.exp(tail))), quantiles.at(math.log1p(-math.exp(tail)), tail)
    return np.asarray(np.maximum(np.abs(answers - low), np.abs(high - answers)))


def _wanted(sums: Sums, loss: Loss, truths: Ints) -> Ints:
    """For each answer how far away a reading may lie that is best.

    For 1 ≤ p ≤ 2, |w − mean| ≤ ‖x − w‖_p ≤ ‖x − v‖_p ≤ ‖x − v‖_2 for the best w and the rounded mean v (Jensen). For
    p < 1, |·|^p is a metric, so |w − v|^p ≤ 2·E|x − v|^p ≤ 2·(E|x − v|)^p for the best w and the median v.
    """
    answers = np.arange(sums.size)
    if sums.size <= SMALL or not isinstance(loss, Power) or loss.p > 2:
        return truths
    if loss.p >= 1:
        centre = squared_remap(sums)
        radius = np.sqrt(squared_losses(sums, centre))
    else:
        centre = linear_remap(sums, absolute)
        radius = 2 ** float(1 / loss.p) * linear_losses(sums, absolute, centre)
    return np.asarray(np.abs(centre - answers) + np.ceil(radius * (1 + 1e-6)).astype(np.int64) + 1)


def _chunks(wanted: Ints, truths: Ints) -> list[Chunk]:
    """Chunks of readings, each with the largest reach among the answers that could want one of its readings.

    An answer within that reach of a reading has a reach no larger, so that no pair is seen without all its truths.
    """
    size, answers, chunks, start = len(wanted), np.arange(len(wanted)), [], 0
    first, last = answers - wanted, answers + wanted
    while start < size:
        length = 1 << 14
        while True:
            stop = min(start + length, size)
            reach = int(wanted[(first < stop) & (last >= start)].max(initial=0))
            if length <= 256 or (2 * reach + 1) * length <= STORE:
                break
            length //= 2
        span = reach + int(truths[max(start - reach, 0) : stop + reach].max())
        chunks.append(Chunk(start, stop, min(reach, size - 1), min(span, size - 1)))
        start = stop
    return chunks
