"""Read a release as a consumer: the best reading of an answer, how good it is, and its chart.

The mechanism says whether there is a posterior, and `reading.number_readings` how its answers are read; an answer
without one, such as a quantile, is read at face value. Numbers that no release can have, in a file that somebody else
wrote, are refused before anything is worked out.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from utmost.charts.curves import ReadingData
from utmost.consumer import losses
from utmost.consumer.counts.reading_search import MAX_SEARCH_WORK
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.exact import decimal, integer, rational
from utmost.publish.reading import number_readings, prior_points
from utmost.publish.reading.estimates import Belief, Estimate, ExpectedLosses, Floats, Reader, Reading
from utmost.publish.reading.number_readings import PriorShape, answer_reading, on_lattice
from utmost.publish.reading.prior_points import AxisRequest, PointChoice
from utmost.publish.release_model import Answer
from utmost.queries.answer_mechanisms.lattice import GeometricLattice

__all__ = [
    "Belief",
    "Estimate",
    "ExpectedLosses",
    "Reading",
    "belief_curves",
    "estimate",
    "make_reader",
    "read_answer",
    "remap_values",
]

DEFAULT_AXIS_REQUEST = AxisRequest()


def estimate(
    answer: Answer,
    prior: Prior | str = "uniform",
    loss: Loss | str = "absolute",
    *,
    coverage: object = 0.95,
    at_least: object = None,
    at_most: object = None,
    grid: object = None,
    cell: str | None = None,
) -> Estimate:
    """The best reading of an answer, its credible interval, and the expected losses of it and of face value.

    `at_least` and `at_most` bound the values that the reader holds possible, in the value's unit; they are needed where
    the release has no public end. `grid` is how many points between them carry the prior; by default every value there
    is, up to 10⁷ for a count and 10⁶ otherwise, else those that matter (`reading.prior_points`). `cell` picks one of
    several.
    """
    axis_request = AxisRequest(
        _parse_bound(at_least, "at_least"),
        _parse_bound(at_most, "at_most"),
        None if grid is None else integer(grid, "grid"),
    )
    return read_answer(answer, make_reader(answer, prior, loss, axis_request, coverage, cell), coverage, cell)


def make_reader(
    answer: Answer,
    prior: Prior | str,
    loss: Loss | str,
    axis_request: AxisRequest = DEFAULT_AXIS_REQUEST,
    coverage: object = 0.95,
    cell: str | None = None,
) -> Reader | None:
    """The reader of this answer: points, a prior and a loss there; None where there is no posterior.

    Nothing is worked out that depends on the answer, so this is quick however many points there are.
    """
    value_loss = losses.parse(loss) if isinstance(loss, str) else loss
    coverage_share = _parse_coverage(coverage)
    check_answer(answer)
    if not answer.mechanism.has_posterior:
        return None
    explicit_prior = prior_points.listed_prior(prior)
    weight_count = None if explicit_prior is None else explicit_prior.size
    shape = PriorShape(axis_request, weight_count, prior == "uniform")

    def reader_of(points: PointChoice) -> Reader:
        point_prior = prior_points.prior_on(points.axis, prior, explicit_prior)
        cells = tuple(reader_of(cell_points) for cell_points in points.cells)
        return Reader(
            points.axis, point_prior, value_loss.stretch(points.axis.step), coverage_share, points.is_partial, cells
        )

    return reader_of(answer_reading(answer).select_points(answer, cell, shape))


def read_answer(
    answer: Answer,
    reader: Reader | None,
    coverage: object = 0.95,
    cell: str | None = None,
    effort: float = MAX_SEARCH_WORK,
) -> Estimate:
    """The estimate of the answer, or of one cell of it, for this reader.

    Losses over all answers that need a search are left out where it takes more than `effort` multiplications.
    """
    if reader is None:
        return _read_at_face_value(answer, _parse_coverage(coverage), cell)
    return answer_reading(answer).read(answer, reader, cell, effort)


def _read_at_face_value(answer: Answer, coverage: float, cell: str | None = None) -> Estimate:
    """An answer whose law does not depend on the truth alone: its values, and what its kind says of them."""
    face_value = answer.query.face_value(answer.mechanism, coverage)
    named_values = list(enumerate(answer.named_values))
    if cell is not None and named_values:
        named_values = [named_values[number_readings.find_cell(cell, [name for name, _ in answer.named_values])]]
    if isinstance(answer.value, tuple):
        readings = [_face_reading(answer, value, place, coverage) for place, (_, value) in named_values]
    else:
        readings = [_face_reading(answer, answer.value, None, coverage)]
    names, claim = tuple(name for _, (name, _) in named_values), answer.optimal
    return Estimate(answer, None, tuple(readings), None, claim, face_value.remark, cells=names, rank=face_value.rank)


def _face_reading(answer: Answer, value: int | Fraction, place: int | None, coverage: float) -> Reading:
    """A value as it is, between the ends of its noise where they are known."""
    details = answer.details if place is None else answer.cell_details(place)
    ends = answer.query.value_range(answer.mechanism, Fraction(value), details, 1 - Fraction(str(coverage)))
    if ends is None or not isinstance(value, int):
        return Reading(value, value, ends)
    return Reading(value, value, (int(ends[0]), int(ends[1])))


def check_answer(answer: Answer) -> None:
    """Refuse an answer whose numbers would not fit into doubles; every plan's do."""
    if not answer.mechanism.holds_readable_numbers(answer.drawn):
        raise InputError(f"query {answer.name[:60]} must have numbers that a release can have: this file was altered")


def _parse_coverage(coverage: object) -> float:
    share = coverage if isinstance(coverage, float) else rational(coverage, "coverage")
    if not (0 < share < 1 and 0 < float(share) < 1):
        raise InputError(f"coverage must be strictly between 0 and 1, got {decimal(share)}: 0.95 is usual", "coverage")
    return float(share)


def _parse_bound(value: object, name: str) -> Fraction | None:
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return None if value is None else rational(int(value) if is_whole else value, name)  # type: ignore[call-overload]


def belief_curves(estimate: Estimate, cell_index: int = 0) -> Belief:
    """Prior, likelihood and posterior over the points of the axis, for the reading of the cell at this index."""
    if estimate.reader is None:
        raise InputError(f"a {estimate.answer.kind} has no posterior: its law depends on all the rows")
    reader = estimate.reader.of_cell(cell_index)
    logs = answer_reading(estimate.answer).log_likelihood(estimate, reader, cell_index)
    likelihood = np.exp(logs - logs.max())
    return Belief(reader.axis, np.exp(reader.prior.logs()), likelihood / likelihood.sum(), reader.after(logs))


def remap_values(estimate: Estimate, values: list[Fraction]) -> Floats:
    """w(y) of the answers that stand for these values: their readings."""
    mechanism, reader = estimate.answer.mechanism.lattice, estimate.reader
    if reader is None or mechanism is None:
        raise InputError(f"only a lattice number has a reading for each answer, not a {estimate.answer.kind}")
    numbers = [mechanism.number(value) for value in values]
    if estimate.every is None:
        return np.array(
            [float(reading.estimate) for reading in number_readings.read_lattice(reader, mechanism, numbers).readings]
        )
    positions = estimate.every.remap[number_readings.axis_positions(reader.axis, mechanism, numbers)]
    return np.array([float(reader.value(position)) for position in positions.tolist()])


TAIL_MASS = 1e-3  # of the posterior that may lie outside the picture on each side
MARGIN_SHARE = 0.4  # of the width, added on each side
MIN_MARGIN_POINTS = 8  # points
REMAP_ANSWERS = 240  # that the remap is drawn from


def chart_data(estimate: Estimate, *, full_range: bool = False, with_remap: bool = True) -> ReadingData:
    """The numbers of the picture of one reading: around it, or over all points.

    How other answers would be read is left out where it would take a search; where it is not to be `with_remap`, unless
    it was worked out already.
    """
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
    reads_all = on_lattice(belief.axis, mechanism) and isinstance(mechanism, GeometricLattice)
    reads_one = reader.is_partial or not reads_all
    if estimate.before is None and not reads_one:
        return []
    value = Fraction(estimate.readings[0].value)
    bounds = min(belief.axis.value(low), value), max(belief.axis.value(high), value)
    first, last = (int((end - mechanism.origin) / mechanism.unit) for end in bounds)
    numbers = sorted({first + round(k * (last - first) / REMAP_ANSWERS) for k in range(REMAP_ANSWERS + 1)})
    return [mechanism.value(number) for number in numbers] if len(numbers) > 1 else []


def _remap_readings(estimate: Estimate, answers: list[Fraction]) -> tuple[float, ...]:

    return tuple(remap_values(estimate, answers).tolist()) if answers else ()
