"""A released lattice number: a count, a cell, a sum, a mean of a public number of rows.

The answer y has the law κ_y·e^(−ε|x − y|) between the ends and at them. A reader who holds x possible from a to b alone
has the same posterior for every y ≥ b, and for every y ≤ a: x enters only by α^(y − x) = α^(y − b)·α^(b − x). So y is
clamped to [a, b] first, which loses nothing; the losses over all answers are those of the mechanism cut at a and b,
whatever ends, or none, the release has beyond them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.consumer import counts
from utmost.consumer.counts import Readings, single_answer
from utmost.consumer.counts.closed_form import credible_intervals
from utmost.consumer.counts.face_value_reading import face_value_losses
from utmost.consumer.counts.reading_search import MAX_SEARCH_WORK
from utmost.consumer.counts.recurrences import Ints, posterior_sums
from utmost.errors import InputError
from utmost.exact import epsilon as level_of
from utmost.publish.reading.estimates import ExpectedLosses, Reading
from utmost.publish.reading.prior_axis import Axis
from utmost.publish.reading.reader import Floats, Reader
from utmost.publish.reading.unbiased_estimates import unbiased_estimate
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism

MAX_SINGLE_ANSWERS = 4  # distinct answers up to which each has a posterior of its own


def on_lattice(axis: Axis, mechanism: LatticeMechanism) -> bool:
    """Are the points consecutive numbers of the lattice."""
    return axis.step == mechanism.unit


@dataclass(frozen=True, slots=True)
class LatticeReadings:
    """The reading of each number; how all answers are read, and the losses before one is known, where they were had."""

    readings: tuple[Reading, ...]
    every: Readings | None = None
    before: ExpectedLosses | None = None


def read_lattice(
    reader: Reader, mechanism: LatticeMechanism, numbers: list[int], effort: float = MAX_SEARCH_WORK
) -> LatticeReadings:
    """The reading of each number; the losses over all answers if they take no search, or one within this effort."""
    if not on_lattice(reader.axis, mechanism):
        return LatticeReadings(tuple(_read_by_posterior(reader, mechanism, number) for number in numbers))
    answers = axis_positions(reader.axis, mechanism, numbers)
    single_answers = answers.tolist() if len(set(answers.tolist())) <= MAX_SINGLE_ANSWERS else None
    try:
        every = counts.readings(reader.prior, level_of(mechanism.epsilon), reader.loss, single_answers, effort)
    except InputError:  # a loss that is too much work for all answers at once
        read_one = _read_on_lattice if reader.loss.by_error else _read_by_posterior
        return LatticeReadings(tuple(read_one(reader, mechanism, number) for number in numbers))
    low, high, face_losses = _intervals_and_face_losses(reader, mechanism, answers)
    columns = (every.remap[answers], low, high, every.losses[answers], face_losses)
    readings = tuple(
        _build_reading(reader, mechanism, number, (best, first, last), (loss, face))
        for number, best, first, last, loss, face in zip(numbers, *(c.tolist() for c in columns), strict=True)
    )
    return LatticeReadings(readings, every, ExpectedLosses.of(reader.scale, every.expected_loss, every.face_value_loss))


def axis_positions(axis: Axis, mechanism: LatticeMechanism, numbers: list[int]) -> Ints:
    """Where numbers of the lattice fall among its points from the axis's first on, brought to its range."""
    start = mechanism.number(axis.first)
    return np.array([min(max(number - start, 0), axis.size - 1) for number in numbers], dtype=np.int64)


def _intervals_and_face_losses(reader: Reader, mechanism: LatticeMechanism, answers: Ints) -> tuple[Ints, Ints, Floats]:
    """The intervals of these answers, and the losses of their face value: of few one by one, of many all at once."""
    distinct, inverse = np.unique(answers, return_inverse=True)
    if len(distinct) > MAX_SINGLE_ANSWERS:
        table = posterior_sums(reader.prior.logs(), float(mechanism.epsilon))
        low, high = credible_intervals(table, reader.coverage)
        return low[answers], high[answers], face_value_losses(table, reader.loss, answers)
    points, summaries = np.arange(reader.axis.size), np.empty((len(distinct), 3))
    for k, y in enumerate(distinct.tolist()):
        posterior = counts.posterior(reader.prior, level_of(mechanism.epsilon), y)
        summaries[k] = (
            *single_answer.credible_interval(posterior, reader.coverage),
            posterior @ reader.loss.array(points, y),
        )
    low, high = summaries[inverse, :2].T.astype(np.int64)
    return low, high, summaries[inverse, 2]


def _read_on_lattice(reader: Reader, mechanism: LatticeMechanism, number: int) -> Reading:
    """One number of the lattice that the points are on, ties settled where all answers' would be."""
    (position,) = axis_positions(reader.axis, mechanism, [number]).tolist()
    level = level_of(mechanism.epsilon)
    reading = counts.read(reader.prior, level, reader.loss, position, reader.coverage)
    face_loss = counts.posterior(reader.prior, level, position) @ reader.loss.array(
        np.arange(reader.axis.size), position
    )
    return _build_reading(
        reader, mechanism, number, (reading.estimate, *reading.interval), (reading.loss, float(face_loss))
    )


def _read_by_posterior(reader: Reader, mechanism: LatticeMechanism, number: int) -> Reading:
    """One number by its posterior alone."""
    posterior = reader.after(lattice_likelihood(reader.axis, mechanism, number))
    return _build_reading(
        reader, mechanism, number, *reader.best(posterior, reader.axis.nearest(mechanism.value(number)))
    )


def _build_reading(
    reader: Reader,
    mechanism: LatticeMechanism,
    number: int,
    positions: tuple[int, int, int],
    losses: tuple[float, float],
) -> Reading:
    best, low, high = (reader.value(position) for position in positions)
    value = mechanism.value(number)
    is_integer = mechanism.unit.denominator == mechanism.origin.denominator == 1
    released_value = int(value) if is_integer else value
    return Reading(
        released_value,
        best,
        (low, high),
        ExpectedLosses.of(reader.scale, *losses),
        unbiased_estimate(mechanism, number),
    )


def lattice_likelihood(axis: Axis, mechanism: LatticeMechanism, number: int) -> Floats:
    """−ε|x_k − y| for every point x_k: the logarithm of its likelihood, up to a constant; y is brought to the range.

    The distance is taken from the point below y, exactly, so that it keeps its digits however large y is.
    """
    first, step = (axis.first - mechanism.origin) / mechanism.unit, axis.step / mechanism.unit
    answer = min(max(Fraction(number), first), first + step * (axis.size - 1))
    below = math.floor((answer - first) / step)
    rest = float(answer - first - below * step)
    return np.asarray(-float(mechanism.epsilon) * np.abs((np.arange(axis.size) - below) * float(step) - rest))
