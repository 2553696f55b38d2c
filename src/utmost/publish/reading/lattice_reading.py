"""A released lattice number: a count, a cell, a sum, a mean of a public number of rows.

The answer y has the law κ_y·e^(−ε|x − y|) between the ends and at them. A reader who holds x possible from a to b alone
has the same posterior for every y ≥ b, and for every y ≤ a: x enters only by α^(y − x) = α^(y − b)·α^(b − x). So y is
brought to her range first, which loses nothing; her losses over all answers are those of the mechanism cut at a and b,
whatever ends, or none, the release has beyond them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.consumer import counts as kernel
from utmost.consumer.counts import Readings, single_answer
from utmost.consumer.counts.closed_form import credible_intervals
from utmost.consumer.counts.face_value_reading import face_value_losses
from utmost.consumer.counts.reading_search import MAX_SEARCH_WORK
from utmost.consumer.counts.recurrences import Ints, posterior_sums
from utmost.consumer.losses import ByError
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.publish.reading.estimates import ExpectedLosses, Reading
from utmost.publish.reading.prior_axis import Axis
from utmost.publish.reading.reader import Floats, Reader
from utmost.publish.reading.unbiased_estimates import unbiased_estimate
from utmost.publish.release_model import LatticeMechanism

SINGLE = 4  # distinct answers up to which each has a posterior of its own


def on_lattice(axis: Axis, law: LatticeMechanism) -> bool:
    """Are the points consecutive numbers of the lattice."""
    return axis.step == law.unit


@dataclass(frozen=True, slots=True)
class Read:
    """The reading of each number; how all answers are read, and the losses before one is known, where they were had."""

    readings: tuple[Reading, ...]
    every: Readings | None = None
    before: ExpectedLosses | None = None


def read_lattice(reader: Reader, law: LatticeMechanism, numbers: list[int], effort: float = MAX_SEARCH_WORK) -> Read:
    """The reading of each number; the losses over all answers if they take no search, or one within this effort."""
    if not on_lattice(reader.axis, law):
        return Read(tuple(_alone(reader, law, number) for number in numbers))
    answers = axis_positions(reader.axis, law, numbers)
    asked = answers.tolist() if len(set(answers.tolist())) <= SINGLE else None
    try:
        every = kernel.readings(reader.prior, level_of(law.epsilon), reader.loss, asked, effort)
    except InputError:  # a loss that is too much work for all answers at once
        one = _settled if isinstance(reader.loss, ByError) else _alone
        return Read(tuple(one(reader, law, number) for number in numbers))
    low, high, faced = _rest(reader, law, answers)
    columns = (every.remap[answers], low, high, every.losses[answers], faced)
    found = tuple(
        _reading(reader, law, number, (best, first, last), (loss, face))
        for number, best, first, last, loss, face in zip(numbers, *(c.tolist() for c in columns), strict=True)
    )
    return Read(found, every, ExpectedLosses.of(reader.scale, every.expected_loss, every.face_value_loss))


def axis_positions(axis: Axis, law: LatticeMechanism, numbers: list[int]) -> Ints:
    """Where numbers of the lattice fall among its points from the axis's first on, brought to its range."""
    start = law.number(axis.first)
    return np.array([min(max(number - start, 0), axis.size - 1) for number in numbers], dtype=np.int64)


def _rest(reader: Reader, law: LatticeMechanism, answers: Ints) -> tuple[Ints, Ints, Floats]:
    """The intervals of these answers, and the losses of their face value: of few one by one, of many all at once."""
    distinct, where = np.unique(answers, return_inverse=True)
    if len(distinct) > SINGLE:
        table = posterior_sums(reader.prior.logs(), float(law.epsilon))
        low, high = credible_intervals(table, reader.coverage)
        return low[answers], high[answers], face_value_losses(table, reader.loss, answers)
    counts, found = np.arange(reader.axis.size), np.empty((len(distinct), 3))
    for k, y in enumerate(distinct.tolist()):
        chances = kernel.posterior(reader.prior, level_of(law.epsilon), y)
        found[k] = *single_answer.credible_interval(chances, reader.coverage), chances @ reader.loss.array(counts, y)
    low, high = found[where, :2].T.astype(np.int64)
    return low, high, found[where, 2]


def _settled(reader: Reader, law: LatticeMechanism, number: int) -> Reading:
    """One number of the lattice that her points are on, ties settled where all answers' would be."""
    (place,) = axis_positions(reader.axis, law, [number]).tolist()
    level = level_of(law.epsilon)
    found = kernel.read(reader.prior, level, reader.loss, place, reader.coverage)
    face = kernel.posterior(reader.prior, level, place) @ reader.loss.array(np.arange(reader.axis.size), place)
    return _reading(reader, law, number, (found.estimate, *found.interval), (found.loss, float(face)))


def _alone(reader: Reader, law: LatticeMechanism, number: int) -> Reading:
    """One number by its posterior alone."""
    chances = reader.after(lattice_likelihood(reader.axis, law, number))
    return _reading(reader, law, number, *reader.best(chances, reader.axis.nearest(law.value(number))))


def _reading(
    reader: Reader, law: LatticeMechanism, number: int, chosen: tuple[int, int, int], losses: tuple[float, float]
) -> Reading:
    best, low, high = (reader.value(place) for place in chosen)
    value = law.value(number)
    whole = law.unit.denominator == law.origin.denominator == 1
    shown = int(value) if whole else value
    return Reading(shown, best, (low, high), ExpectedLosses.of(reader.scale, *losses), unbiased_estimate(law, number))


def lattice_likelihood(axis: Axis, law: LatticeMechanism, number: int) -> Floats:
    """−ε|x_k − y| for every point x_k: the logarithm of its likelihood, up to a constant; y is brought to the range.

    The distance is taken from the point below y, exactly, so that it keeps its digits however large y is.
    """
    first, step = (axis.first - law.origin) / law.unit, axis.step / law.unit
    answer = min(max(Fraction(number), first), first + step * (axis.size - 1))
    below = math.floor((answer - first) / step)
    rest = float(answer - first - below * step)
    return np.asarray(-float(law.epsilon) * np.abs((np.arange(axis.size) - below) * float(step) - rest))
