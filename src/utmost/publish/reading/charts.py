"""The numbers of a reading's chart: the part of the axis with the posterior, and the remap beside it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from utmost.charts.reading import ReadingData
from utmost.publish.reading.estimates import Belief, Estimate
from utmost.publish.reading.lattice_reading import on_lattice

TAIL_MASS = 1e-3  # of the posterior that may lie outside the picture on each side
MARGIN_SHARE = 0.4  # of the width, added on each side
MIN_MARGIN_POINTS = 8  # points
REMAP_ANSWERS = 240  # that the remap is drawn from


def chart_data(estimate: Estimate, *, full_range: bool = False, with_remap: bool = True) -> ReadingData:
    """The numbers of the picture of one reading: around it, or over all points.

    How other answers would be read is left out where it would take a search; where it is not to be `with_remap`, unless
    it was worked out already.
    """
    from utmost.publish.estimate import belief_curves

    (reading,) = estimate.readings
    assert reading.interval is not None
    belief = belief_curves(estimate)
    low, high = chart_window(belief, Fraction(reading.value), Fraction(reading.estimate))
    low, high = (0, belief.axis.size - 1) if full_range else (low, high)
    shown_points = slice(low, high + 1)
    answers = _remap_answers(estimate, belief, low, high) if with_remap or estimate.every is not None else []
    return ReadingData(
        tuple((float(belief.axis.first) + float(belief.axis.step) * np.arange(low, high + 1)).tolist()),
        tuple(belief.prior[shown_points].tolist()),
        tuple(belief.likelihood[shown_points].tolist()),
        tuple(belief.posterior[shown_points].tolist()),
        float(reading.value),
        float(reading.estimate),
        (float(reading.interval[0]), float(reading.interval[1])),
        tuple(float(value) for value in answers),
        _remap_readings(estimate, answers),
    )


def chart_window(belief: Belief, *marks: Fraction) -> tuple[int, int]:
    """The first and the last point to show: nearly all of the posterior and the marks, with a margin."""
    mass = np.cumsum(belief.posterior)
    positions = [belief.axis.nearest(mark) for mark in marks]
    low = min(int(np.searchsorted(mass, TAIL_MASS)), *positions)
    high = max(int(np.searchsorted(mass, 1 - TAIL_MASS)), *positions)
    margin = max(round(MARGIN_SHARE * (high - low)), MIN_MARGIN_POINTS)
    return max(low - margin, 0), min(high + margin, belief.axis.size - 1)


def _remap_answers(estimate: Estimate, belief: Belief, low: int, high: int) -> list[Fraction]:
    """Answers evenly over the window, numbers of the lattice; none where an answer is two numbers, or too much work."""
    mechanism, reader = estimate.answer.mechanism.lattice, estimate.reader
    if mechanism is None or reader is None:
        return []
    if estimate.before is None and on_lattice(belief.axis, mechanism) and not reader.is_partial:
        return []
    value = Fraction(estimate.readings[0].value)
    bounds = min(belief.axis.value(low), value), max(belief.axis.value(high), value)
    first, last = (int((end - mechanism.origin) / mechanism.unit) for end in bounds)
    numbers = sorted({first + round(k * (last - first) / REMAP_ANSWERS) for k in range(REMAP_ANSWERS + 1)})
    return [mechanism.value(number) for number in numbers] if len(numbers) > 1 else []


def _remap_readings(estimate: Estimate, answers: list[Fraction]) -> tuple[float, ...]:
    from utmost.publish.estimate import remap_values

    return tuple(remap_values(estimate, answers).tolist()) if answers else ()
