"""A reading as a picture: the part of the axis where something happens, and the remap beside it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from utmost.charts import reading as pictures
from utmost.errors import InputError
from utmost.exact import decimal
from utmost.publish.reading.estimates import Belief, Estimate
from utmost.publish.reading.lattice_reading import on_lattice
from utmost.publish.release_model import LatticeMechanism

if TYPE_CHECKING:
    import altair as alt

EDGE = 1e-3  # of the posterior that may lie outside the picture on each side
MARGIN = 0.4  # of the width, added on each side
LEAST_MARGIN = 8  # points
ANSWERS = 240  # that the remap is drawn from
MOST_CELLS = 100


def estimate_chart(found: Estimate) -> alt.TopLevelMixin:
    """Prior, likelihood, posterior and remap of one number; of several cells one line each."""
    if len(found.readings) > 1:
        return _cells(found)
    if found.reader is None:
        raise InputError(
            f"--plot must be of an answer with a posterior, and a {found.answer.kind} has none: leave it out"
        )
    (reading,) = found.readings
    name = f"{found.answer.name}, cell {found.cells[0]}" if found.cells else found.answer.name
    value, best = (pictures.axis_number(float(number)) for number in (reading.value, reading.estimate))
    title = f"{name}: released {value}, best read as {best}"
    return pictures.reading_chart(chart_data(found), title, _words(found), x=found.answer.kind)


def _words(found: Estimate) -> str:
    assert found.reader is not None
    share = decimal(100 * found.reader.coverage, 4)
    return (
        f"Prior {found.reader.prior.name[:40]}, loss {found.reader.loss.name[:40]}, ε = {found.answer.epsilon}. "
        f"The bar at the foot holds {share} % of the posterior."
    )


def chart_data(found: Estimate, *, whole: bool = False, remapped: bool = True) -> pictures.ReadingData:
    """The numbers of the picture of one reading: around it, or over the whole of her points.

    How other answers would be read is left out where it would take a search; where it is not to be `remapped`, unless
    it was worked out already.
    """
    from utmost.publish.estimate import belief_curves

    (reading,) = found.readings
    assert reading.interval is not None
    held = belief_curves(found)
    low, high = window(held, Fraction(reading.value), Fraction(reading.estimate))
    low, high = (0, held.axis.size - 1) if whole else (low, high)
    part = slice(low, high + 1)
    answers = _answers(found, held, low, high) if remapped or found.every is not None else []
    return pictures.ReadingData(
        tuple((float(held.axis.first) + float(held.axis.step) * np.arange(low, high + 1)).tolist()),
        tuple(held.prior[part].tolist()),
        tuple(held.likelihood[part].tolist()),
        tuple(held.posterior[part].tolist()),
        float(reading.value),
        float(reading.estimate),
        (float(reading.interval[0]), float(reading.interval[1])),
        tuple(float(value) for value in answers),
        _readings(found, answers),
    )


def window(held: Belief, *marks: Fraction) -> tuple[int, int]:
    """The first and the last point to show: nearly all of the posterior and the marks, with a margin."""
    mass = np.cumsum(held.posterior)
    places = [held.axis.nearest(mark) for mark in marks]
    low = min(int(np.searchsorted(mass, EDGE)), *places)
    high = max(int(np.searchsorted(mass, 1 - EDGE)), *places)
    margin = max(round(MARGIN * (high - low)), LEAST_MARGIN)
    return max(low - margin, 0), min(high + margin, held.axis.size - 1)


def _answers(found: Estimate, held: Belief, low: int, high: int) -> list[Fraction]:
    """Answers evenly over the window, numbers of the lattice; none where an answer is two numbers, or too much work."""
    law, reader = found.answer.mechanism, found.reader
    if not isinstance(law, LatticeMechanism) or reader is None:
        return []
    if found.before is None and on_lattice(held.axis, law) and not reader.near:
        return []
    value = Fraction(found.readings[0].value)
    ends = min(held.axis.value(low), value), max(held.axis.value(high), value)
    first, last = (int((end - law.origin) / law.unit) for end in ends)
    numbers = sorted({first + round(k * (last - first) / ANSWERS) for k in range(ANSWERS + 1)})
    return [law.value(number) for number in numbers] if len(numbers) > 1 else []


def _readings(found: Estimate, answers: list[Fraction]) -> tuple[float, ...]:
    from utmost.publish.estimate import remap_values

    return tuple(remap_values(found, answers).tolist()) if answers else ()


def _cells(found: Estimate) -> alt.TopLevelMixin:
    if len(found.cells) > MOST_CELLS:
        raise InputError(f"--plot must be of at most {MOST_CELLS} cells, got {len(found.cells)}: pick one with --cell")
    rows = [
        pictures.CellData(name, float(r.value), float(r.estimate), (float(r.interval[0]), float(r.interval[1])))
        for name, r in zip(found.cells, found.readings, strict=True)
        if r.interval is not None
    ]
    words = "Stroke: released. Dot: best reading. " + _words(found).replace("The bar at the foot holds", "A bar holds")
    return pictures.cell_chart(
        rows, f"{found.answer.name}: what was released and how it is best read", words, x="count"
    )
