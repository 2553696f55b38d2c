"""A mean from a noisy total T and a noisy number of rows R, neither of which is public.

The reader believes in means m_k; of the number of rows r she believes nothing (flat). Given r and m_k the total is the
lattice number nearest to r·μ_k, μ_k = (m_k − origin)/unit, so the two answers τ and ρ have the likelihood

    Λ_k = Σ_r e^(−ε_R|r − ρ|)·e^(−ε_T|⌊r·μ_k⌉ − τ|)        r = 1, 2, … up to the public end, if there is one.

The ends of R absorb, which multiplies Λ by a constant. The sum runs over the r within w of ρ; beyond, each term is at
most e^(−ε_R|r − ρ|), so what is left out is at most 2e^(−ε_R(w+1))/(1 − e^(−ε_R)). w grows until that is below 10⁻¹² of
Σ_k π_k·Λ_k, the whole that the posterior is a part of. Where the terms would be more than 5·10⁷, she believes in every
q-th number of rows alone; q·ε_R is then about 10⁻⁶ times the number of points, and weights move by (q·ε_R)²/12 or so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import InputError
from utmost.publish.reading.estimates import ExpectedLosses, Reading
from utmost.publish.reading.prior_axis import Axis
from utmost.publish.reading.reader import Floats, Reader, Value
from utmost.publish.release_model import RatioMechanism

LEFT_OUT = math.log(1e-12)  # of the posterior's mass, at most
MAX_RATIO_TERMS = 5e7  # terms; where there are more, r takes every q-th value only
TOGETHER = 1 << 21  # terms at a time
MAX_ROW_DISTANCE = 1e15  # rows from the released number: beyond, the two answers contradict each other


@dataclass(frozen=True, slots=True)
class Window:
    """The numbers of rows that are summed over, `stride` apart; `whole` if there are no others."""

    rows: Floats
    stride: int
    whole: bool


def read_ratio(reader: Reader, law: RatioMechanism, parts: tuple[int, int], value: Value) -> Reading:
    """The best reading of a mean, its interval, and the losses given the two answers."""
    chances = reader.after(ratio_likelihood(reader, law, parts))
    (best, low, high), losses = reader.best(chances, reader.axis.nearest(Fraction(value)))
    interval = reader.value(low), reader.value(high)
    return Reading(value, reader.value(best), interval, ExpectedLosses.of(reader.scale, *losses))


def ratio_likelihood(reader: Reader, law: RatioMechanism, parts: tuple[int, int]) -> Floats:
    """ln Λ_k up to a constant, summed over enough numbers of rows for all but 10⁻¹² of her posterior."""
    logs, rate = reader.prior.logs(), float(law.rows.epsilon)
    reach = (math.log(2) - LEFT_OUT - math.log(-math.expm1(-rate))) / rate + 1
    while reach < MAX_ROW_DISTANCE:
        window = _window(law, parts[1], reach, reader.axis.size)
        found = summed(reader.axis, law, parts, window)
        top = float((logs + found).max())
        mass = top + math.log(float(np.exp(logs + found - top).sum()))
        outside = math.log(2) - rate * (reach + 1) - math.log(-math.expm1(-rate * window.stride))
        if window.whole or outside <= LEFT_OUT + mass:
            return found
        reach *= 2
    raise InputError("the total and the rows of this mean contradict each other too much to be read: check the release")


def _window(law: RatioMechanism, centre: int, reach: float, points: int) -> Window:
    first, last = max(1, math.floor(centre - reach)), centre + math.ceil(reach)
    last = last if law.rows.high is None else min(last, law.rows.high)
    if first > last:
        raise InputError("a mean must have rows to be read, and this release says that there are none")
    stride = max(1, math.ceil((last - first + 1) * points / MAX_RATIO_TERMS))
    return Window(np.arange(first, last + 1, stride, dtype=np.float64), stride, (first, last) == (1, law.rows.high))


def summed(axis: Axis, law: RatioMechanism, parts: tuple[int, int], window: Window) -> Floats:
    """ln Σ_r of the terms of Λ_k over these numbers of rows, for every point of the axis."""
    total, rows = parts
    start, step = float((axis.first - law.total.origin) / law.total.unit), float(axis.step / law.total.unit)
    means = start + step * np.arange(axis.size)
    apart = -float(law.rows.epsilon) * np.abs(window.rows - rows)
    found = np.empty(axis.size)
    chunk = max(TOGETHER // len(window.rows), 1)
    for begin in range(0, axis.size, chunk):
        totals = np.rint(means[begin : begin + chunk, None] * window.rows[None, :])
        terms = apart - float(law.total.epsilon) * np.abs(totals - total)
        top = terms.max(axis=1)
        found[begin : begin + chunk] = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
    return found
