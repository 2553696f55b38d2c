"""Read released numbers: of each mechanism with a posterior, its points, its readings, its likelihood.

A released lattice number: a count, a cell, a sum, a mean of a public number of rows.

The answer y has the law κ_y·e^(−ε|x − y|) between the ends and at them. A reader who holds x possible from a to b alone
has the same posterior for every y ≥ b, and for every y ≤ a: x enters only by α^(y − x) = α^(y − b)·α^(b − x). So y is
clamped to [a, b] first, which loses nothing; the losses over all answers are those of the mechanism cut at a and b,
whatever ends, or none, the release has beyond them.

A mean from a noisy total T and a noisy number of rows R, neither of which is public.

The reader believes in means m_k; the prior on the number of rows r is flat. Given r and m_k the total is the
lattice number nearest to r·μ_k, the even one of two, μ_k = (m_k − origin)/unit, so the two answers τ and ρ have the
likelihood

    Λ_k = Σ_r e^(−ε_R|r − ρ|)·e^(−ε_T|⌊r·μ_k⌉ − τ|)        r = 1, 2, … up to the public end, if there is one.

The ends of R absorb, which multiplies Λ by a constant. The sum runs over the r within w of ρ; beyond, each term is at
most e^(−ε_R|r − ρ|), so what is left out is at most 2e^(−ε_R(w+1))/(1 − e^(−ε_R)). w grows until that is below 10⁻¹² of
Σ_k π_k·Λ_k, the normalising constant of the posterior. Where the terms would be more than 5·10⁷, the prior is on every
q-th number of rows alone; q·ε_R is then about 10⁻⁶ times the number of points, and weights move by (q·ε_R)²/12 or so.

A lattice number is a count, a cell, a sum, or a mean of a public number of rows; a mean of a secret
number of rows is a ratio of two. Another mechanism is a class here, and a line in `READINGS`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from utmost.consumer import counts
from utmost.consumer.counts import Readings, reading_rules
from utmost.consumer.counts.posteriors import Ints, credible_intervals, posterior_sums
from utmost.consumer.counts.reading_rules import face_value_losses
from utmost.consumer.counts.reading_search import MAX_SEARCH_WORK
from utmost.errors import InputError
from utmost.exact import decimal_above, plain_decimal
from utmost.exact import epsilon as level_of
from utmost.publish.reading import canonical_readings, gaussian_readings, prior_points
from utmost.publish.reading.estimates import (
    Estimate,
    ExpectedLosses,
    Floats,
    Reader,
    Reading,
    Value,
    unbiased_estimate,
    unbiased_total,
)
from utmost.publish.reading.prior_points import Axis, AxisRequest, PointChoice
from utmost.publish.release_model import Answer
from utmost.queries.answer_mechanisms.canonical import CanonicalLattice
from utmost.queries.answer_mechanisms.gaussian import GaussianLattice
from utmost.queries.answer_mechanisms.lattice import GeometricLattice, LatticeMechanism
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism
from utmost.queries.answer_mechanisms.ratio import RatioMechanism, drawn_parts_of_cells
from utmost.queries.grouped import GroupedQuery
from utmost.queries.number_column import NumberQuery

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
    if isinstance(mechanism, GaussianLattice):
        return _read_gaussian(reader, mechanism, numbers)
    if isinstance(mechanism, CanonicalLattice):
        return _read_canonical(reader, mechanism, numbers)
    assert isinstance(mechanism, GeometricLattice)
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


def _read_gaussian(reader: Reader, mechanism: GaussianLattice, numbers: list[int]) -> LatticeReadings:
    """The reading of each number with Gaussian noise; equal numbers are read once."""
    positions = {number: gaussian_readings.gaussian_positions(reader, mechanism, number) for number in set(numbers)}
    return LatticeReadings(tuple(_build_reading(reader, mechanism, number, *positions[number]) for number in numbers))


def _read_canonical(reader: Reader, mechanism: CanonicalLattice, numbers: list[int]) -> LatticeReadings:
    """The reading of each number with canonical noise; equal numbers are read once."""
    positions = {number: canonical_readings.canonical_positions(reader, mechanism, number) for number in set(numbers)}
    return LatticeReadings(tuple(_build_reading(reader, mechanism, number, *positions[number]) for number in numbers))


def axis_positions(axis: Axis, mechanism: LatticeMechanism, numbers: list[int]) -> Ints:
    """Where numbers of the lattice fall among its points from the axis's first on, brought to its range."""
    start = mechanism.number(axis.first)
    return np.array([min(max(number - start, 0), axis.size - 1) for number in numbers], dtype=np.int64)


def _intervals_and_face_losses(reader: Reader, mechanism: GeometricLattice, answers: Ints) -> tuple[Ints, Ints, Floats]:
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
            *reading_rules.credible_interval(posterior, reader.coverage),
            posterior @ reader.loss.array(points, y),
        )
    low, high = summaries[inverse, :2].T.astype(np.int64)
    return low, high, summaries[inverse, 2]


def _read_on_lattice(reader: Reader, mechanism: GeometricLattice, number: int) -> Reading:
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


def _read_by_posterior(reader: Reader, mechanism: GeometricLattice, number: int) -> Reading:
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

    The distance is taken from the point below y, exactly, so that it keeps its digits however large y is. Of Gaussian
    noise as `gaussian_readings` has it, of canonical noise as `canonical_readings` has it.
    """
    if isinstance(mechanism, GaussianLattice):
        return gaussian_readings.gaussian_likelihood(axis, mechanism, number)
    assert isinstance(mechanism, GeometricLattice)
    first, step = (axis.first - mechanism.origin) / mechanism.unit, axis.step / mechanism.unit
    answer = min(max(Fraction(number), first), first + step * (axis.size - 1))
    below = math.floor((answer - first) / step)
    rest = float(answer - first - below * step)
    return np.asarray(-float(mechanism.epsilon) * np.abs((np.arange(axis.size) - below) * float(step) - rest))


MAX_LEFT_OUT_LOG = math.log(1e-12)  # of the posterior's mass, at most
MAX_RATIO_TERMS = 5e7  # terms; where there are more, r takes every q-th value only
TERMS_PER_CHUNK = 1 << 21  # terms at a time
MAX_ROW_DISTANCE = 1e15  # rows from the released number: beyond, the two answers contradict each other


@dataclass(frozen=True, slots=True)
class Window:
    """The numbers of rows that are summed over, `stride` apart; `is_complete` if there are no others."""

    rows: Floats
    stride: int
    is_complete: bool


def read_ratio(reader: Reader, mechanism: RatioMechanism, parts: tuple[int, int], value: Value) -> Reading:
    """The best reading of a mean, its interval, and the losses given the two answers."""
    posterior = reader.after(ratio_likelihood(reader, mechanism, parts))
    nearest = reader.axis.nearest(Fraction(value))
    (best, low, high), losses = reader.best(posterior, nearest)
    interval = reader.value(low), reader.value(high)
    expected_losses = ExpectedLosses.of(reader.scale, *losses)
    if reader.axis.value(nearest) != value and reader.loss.by_error:
        expected_losses = ExpectedLosses(reader.scale * losses[0], reader.scale * _loss_at(reader, posterior, value))
    return Reading(value, reader.value(best), interval, expected_losses)


def _loss_at(reader: Reader, posterior: Floats, value: Value) -> float:
    """The expected loss, in steps, of reading a value that is none of the reader's points."""
    position = float((Fraction(value) - reader.axis.first) / reader.axis.step)
    return float(posterior @ reader.loss.array(np.arange(len(posterior)), position))


def ratio_likelihood(reader: Reader, mechanism: RatioMechanism, parts: tuple[int, int]) -> Floats:
    """ln Λ_k up to a constant, summed over enough numbers of rows for all but 10⁻¹² of the posterior."""
    logs, rate = reader.prior.logs(), float(mechanism.rows.epsilon)
    reach = (math.log(2) - MAX_LEFT_OUT_LOG - math.log(-math.expm1(-rate))) / rate + 1
    while reach < MAX_ROW_DISTANCE:
        window = _window(mechanism, parts[1], reach, reader.axis.size)
        log_likelihood = sum_likelihood(reader.axis, mechanism, parts, window)
        peak = float((logs + log_likelihood).max())
        log_mass = peak + math.log(float(np.exp(logs + log_likelihood - peak).sum()))
        log_outside = math.log(2) - rate * (reach + 1) - math.log(-math.expm1(-rate * window.stride))
        if window.is_complete or log_outside <= MAX_LEFT_OUT_LOG + log_mass:
            return log_likelihood
        reach *= 2
    raise InputError(
        "the total and the rows of this mean contradict each other too much to be read", hint="check the release"
    )


def _window(mechanism: RatioMechanism, centre: int, reach: float, points: int) -> Window:
    first, last = max(1, math.floor(centre - reach)), centre + math.ceil(reach)
    last = last if mechanism.rows.high is None else min(last, mechanism.rows.high)
    if first > last:
        raise InputError("a mean must have rows to be read, and this release says that there are none")
    stride = max(1, math.ceil((last - first + 1) * points / MAX_RATIO_TERMS))
    return Window(
        np.arange(first, last + 1, stride, dtype=np.float64), stride, (first, last) == (1, mechanism.rows.high)
    )


def sum_likelihood(axis: Axis, mechanism: RatioMechanism, parts: tuple[int, int], window: Window) -> Floats:
    """ln Σ_r of the terms of Λ_k over these numbers of rows, for every point of the axis."""
    total, rows = parts
    row_logs = -float(mechanism.rows.epsilon) * np.abs(window.rows - rows)
    logs = np.empty(axis.size)
    chunk = max(TERMS_PER_CHUNK // len(window.rows), 1)
    for begin in range(0, axis.size, chunk):
        totals = _nearest_totals(axis, mechanism, range(begin, min(begin + chunk, axis.size)), window.rows)
        terms = row_logs - float(mechanism.total.epsilon) * np.abs(totals - total)
        peak = terms.max(axis=1)
        logs[begin : begin + chunk] = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
    return logs


def _nearest_totals(axis: Axis, mechanism: RatioMechanism, points: range, rows: Floats) -> Floats:
    """The whole numbers nearest to r·μ_k, the even one of two, for some points k and numbers of rows r.

    μ_k = (a + b·k)/q in whole numbers, so ties are ties; in doubles where those are beyond 64 bits.
    """
    start = (axis.first - mechanism.total.origin) / mechanism.total.unit
    step = axis.step / mechanism.total.unit
    q = math.lcm(start.denominator, step.denominator)
    a, b = int(start * q), int(step * q)
    if 2 * (abs(a) + abs(b) * axis.size) * int(rows[-1]) + q < 1 << 62:
        numerators = (a + b * np.arange(points.start, points.stop))[:, None] * rows.astype(np.int64)[None, :]
        totals, remainders = np.divmod(2 * numerators + q, 2 * q)
        return np.asarray(totals - ((remainders == 0) & (totals % 2 == 1)), dtype=np.float64)
    means = float(start) + float(step) * np.arange(points.start, points.stop)
    return np.asarray(np.rint(means[:, None] * rows[None, :]))


MAX_LISTED_CELLS = 12  # cells in a message
MAX_RATIO_CELLS = 200  # means that are read at once
OPTIMAL_CLAIM = (
    "optimal: no mechanism with ε = {0} gives this reader a smaller expected loss, not even one made for this reader "
    "({1})"
)
CANONICAL_OPTIMAL_CLAIM = (
    "optimal: no mechanism with ε = {0} and the δ of this noise, {1} rounded up, gives this reader a smaller expected "
    "loss, not even one made for this reader (docs/canonical.md)"
)
LEGAL_LOSS_THEOREM = "GRS12 Thm 3.2"
TWO_SIDED_LOSS_THEOREM = "GRS12 Thm 3.2, extended to losses with two different sides: docs/papers/grs12.md"
NOT_MONOTONE_CLAIM = (
    "none claimed: GRS12 Thm 3.2 is about losses that do not fall away from the truth, and this one does"
)
OWN_POINTS_CLAIM = (
    "none claimed for points of the reader's own: GRS12 Thm 3.2 is about priors on all values that there are"
)
NEAR_POINTS_REMARK = (
    "Only the values near the answer are written out; all others have less than 10^-15 of the posterior."
)
COARSE_POINTS_REMARK = (
    "The points are {0} apart and the noise is about {1}: for a finer reading take more points or narrow the range."
)
COUNTED_POINTS_REMARK = (
    "{0} is a prior of counts: here it counts the {1} steps of {2} between the points, and other points make it "
    "another prior. steps:… hardly depends on them."
)
UNLIKELY_REMARK = (
    "This answer is very unlikely under your prior: one as {0} or {1} had a probability of less than 1 in {2}."
)
UNLIKELY_CELLS_REMARK = (
    "{0} of the {1} numbers are very unlikely under your prior: one as far out had a probability of less than 1 in {2}."
)
FLAT_ROWS_REMARK = "Every number of rows is taken to be as likely; at most 10^-12 of the posterior is left out."


@dataclass(frozen=True, slots=True)
class PriorShape:
    """What points follow from: those that a reader asks for, how many weights the prior brings, and if it is flat.

    `weight_count` is None for a family of priors, which fits any number of points.
    """

    axis_request: AxisRequest
    weight_count: int | None
    is_uniform: bool


class AnswerReading(ABC):
    """How answers of one mechanism are read."""

    @abstractmethod
    def select_points(self, answer: Answer, cell: str | None, shape: PriorShape) -> PointChoice:
        """The points of a reader's prior."""

    @abstractmethod
    def read(self, answer: Answer, reader: Reader, cell: str | None, effort: float) -> Estimate:
        """The estimate of the answer, or of one cell of it."""

    @abstractmethod
    def log_likelihood(self, estimate: Estimate, reader: Reader, cell_index: int) -> Floats:
        """The logarithm of the likelihood of each point, up to a constant."""


class LatticeAnswers(AnswerReading):
    """Answers with one noisy lattice number, or one for each cell."""

    def select_points(self, answer: Answer, cell: str | None, shape: PriorShape) -> PointChoice:
        """Every lattice number there is, or some of them."""
        numbers, _ = released_numbers(answer, cell)
        return prior_points.lattice_points(
            lattice_of(answer), answer.query, numbers, shape.axis_request, shape.weight_count, shape.is_uniform
        )

    def read(self, answer: Answer, reader: Reader, cell: str | None, effort: float) -> Estimate:
        """A reading for each number; the unbiased total of all cells."""
        mechanism = lattice_of(answer)
        numbers, names = released_numbers(answer, cell)
        lattice = read_lattice(reader, mechanism, numbers, effort)
        total = unbiased_total(mechanism, numbers) if names and cell is None else None
        before = None if reader.is_partial else lattice.before
        if isinstance(mechanism, GaussianLattice) and len(numbers) == 1:
            before = gaussian_readings.losses_before(reader, mechanism)
        if isinstance(mechanism, CanonicalLattice) and len(numbers) == 1:
            before = canonical_readings.losses_before(reader, mechanism)
        remark = _join(
            _counted_points_remark(answer, reader),
            _points_remark(reader, mechanism.noise_scale(answer.details)),
            _unlikely_remark(reader, mechanism, numbers),
        )
        claim = optimality_claim(answer, reader)
        return Estimate(answer, reader, lattice.readings, before, claim, remark, names, total, every=lattice.every)

    def log_likelihood(self, estimate: Estimate, reader: Reader, cell_index: int) -> Floats:
        """That of the number of one cell."""
        mechanism = lattice_of(estimate.answer)
        number = mechanism.number(Fraction(estimate.readings[cell_index].value))
        if isinstance(mechanism, CanonicalLattice):
            return canonical_readings.canonical_likelihood(reader.axis, mechanism, number, reader.prior.logs())
        return lattice_likelihood(reader.axis, mechanism, number)


class RatioAnswers(AnswerReading):
    """Means from a noisy total and a noisy number of rows."""

    def select_points(self, answer: Answer, cell: str | None, shape: PriorShape) -> PointChoice:
        """Means within the grid, or those near the ratio; of several cells with a flat prior, each its own."""
        parts = _selected_parts(answer, cell)
        if len(parts) > MAX_RATIO_CELLS:
            raise InputError(
                f"cell must be given for a mean in more than {MAX_RATIO_CELLS} cells, got {len(parts)} at once", "cell"
            )
        if len(parts) == 1:
            return _ratio_points(answer, parts[0], shape)
        if shape.is_uniform and shape.axis_request.grid is None:
            cells = tuple(_ratio_points(answer, cell_parts, shape) for cell_parts in parts)
            return replace(cells[0], cells=cells)
        return _ratio_points(answer, max(parts, key=lambda cell_parts: cell_parts[1]), shape)

    def read(self, answer: Answer, reader: Reader, cell: str | None, effort: float) -> Estimate:
        """The reading of the mean, given both numbers; one for each cell."""
        mechanism, (indexes, names) = _ratio_of(answer), selected_cells(answer, cell)
        values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
        parts = _selected_parts(answer, cell)
        readings = tuple(
            read_ratio(reader.of_cell(number), mechanism, parts[number], values[index])
            for number, index in enumerate(indexes)
        )
        most_rows = max(1, *(rows for _, rows in parts))
        points_remark = _points_remark(reader, mechanism.total.unit / mechanism.total.epsilon / most_rows)
        remark = _join(FLAT_ROWS_REMARK, _counted_points_remark(answer, reader), points_remark)
        return Estimate(answer, reader, readings, None, answer.optimal, remark, names)

    def log_likelihood(self, estimate: Estimate, reader: Reader, cell_index: int) -> Floats:
        """That of both numbers, summed over the numbers of rows."""
        cell = estimate.cells[cell_index] if estimate.cells else None
        (parts,) = _selected_parts(estimate.answer, cell)
        return ratio_likelihood(reader, _ratio_of(estimate.answer), parts)


def _selected_parts(answer: Answer, cell: str | None) -> list[tuple[int, int]]:
    """The noisy total and number of rows of each cell that is read."""
    parts, (indexes, _) = drawn_parts_of_cells(answer.details), selected_cells(answer, cell)
    return [parts[index] for index in indexes]


def _ratio_points(answer: Answer, parts: tuple[int, int], shape: PriorShape) -> PointChoice:
    query = answer.query.inner if isinstance(answer.query, GroupedQuery) else answer.query
    assert isinstance(query, NumberQuery)
    return prior_points.ratio_points(
        _ratio_of(answer), query.grid, parts, shape.axis_request, shape.weight_count, shape.is_uniform
    )


READINGS: dict[type[AnswerMechanism], AnswerReading] = {
    GeometricLattice: LatticeAnswers(),
    GaussianLattice: LatticeAnswers(),
    CanonicalLattice: LatticeAnswers(),
    RatioMechanism: RatioAnswers(),
}


def answer_reading(answer: Answer) -> AnswerReading:
    """How this answer is read."""
    reading = READINGS.get(type(answer.mechanism))
    if reading is None:
        raise InputError(f"a {answer.kind} cannot be read for a prior and a loss: take it at face value", "query")
    return reading


def lattice_of(answer: Answer) -> LatticeMechanism:
    """The lattice of an answer whose numbers are on one."""
    assert isinstance(answer.mechanism, LatticeMechanism)
    return answer.mechanism


def _ratio_of(answer: Answer) -> RatioMechanism:
    assert isinstance(answer.mechanism, RatioMechanism)
    return answer.mechanism


def released_numbers(answer: Answer, cell: str | None) -> tuple[list[int], tuple[str, ...]]:
    """The lattice numbers that were released, and the cells they belong to."""
    mechanism, (indexes, names) = lattice_of(answer), selected_cells(answer, cell)
    values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
    return [mechanism.number(Fraction(values[index])) for index in indexes], names


def unknown_cell(cell: str, names: Sequence[str]) -> InputError:
    """The error for a cell that an answer has not."""
    listed_names = "; ".join(names[:MAX_LISTED_CELLS]) + ("; …" if len(names) > MAX_LISTED_CELLS else "")
    return InputError(f'cell must be one of {listed_names}: got "{cell[:60]}"', "cell")


def selected_cells(answer: Answer, cell: str | None) -> tuple[list[int], tuple[str, ...]]:
    """The places of the values that are read, and the names of their cells: one, or all."""
    if not isinstance(answer.value, tuple):
        _refuse_cell(answer, cell)
        return [0], ()
    names = answer.cell_names
    if cell is None:
        return list(range(len(names))), names
    return [find_cell(cell, names)], (cell,)


def find_cell(cell: str, names: Sequence[str]) -> int:
    """The place of the cell of this name; refused where there is none, or where keys with commas make two."""
    if cell not in names:
        raise unknown_cell(cell, names)
    if names.count(cell) > 1:
        problem = f'cell must be the name of one cell, got "{cell[:60]}", which {names.count(cell)} have'
        raise InputError(problem, "cell", "leave it out, or see utmost table")
    return names.index(cell)


def _refuse_cell(answer: Answer, cell: str | None) -> None:
    if cell is not None:
        raise InputError(f"cell must not be given for a {answer.kind}, which has no cells", "cell", "leave it out")


def _join(*remarks: str) -> str:
    return " ".join(remark for remark in remarks if remark)


def _counted_points_remark(answer: Answer, reader: Reader) -> str:
    """What a prior of counts counts, where its points are not the values of a count."""
    lattice = answer.mechanism.lattice
    is_count = answer.query.counts_rows and lattice is not None and on_lattice(reader.axis, lattice)
    if is_count or not reader.prior.counts_points:
        return ""
    return COUNTED_POINTS_REMARK.format(reader.prior.name, reader.axis.size - 1, plain_decimal(reader.axis.step, 3))


MAX_UNLIKELY_PROBABILITY = 1e-3  # of an answer as far out, below which it is remarked upon
MAX_TAIL_WORK = 2e7  # points times answers; where there are more, nothing is remarked
MAX_TAIL_STEPS = 10**12  # lattice steps that an answer lies outside the points
ROUNDING_MARGIN = 1e-6  # relative, far above the rounding of a sum of 10⁷ doubles


def _unlikely_remark(reader: Reader, mechanism: LatticeMechanism, numbers: list[int]) -> str:
    """That answers are very unlikely under the prior; among m of them, each of probability below 10⁻³/m."""
    answers = sorted(set(numbers))
    if reader.is_partial or len(answers) * reader.axis.size > MAX_TAIL_WORK:
        return ""
    odds = round(len(numbers) / MAX_UNLIKELY_PROBABILITY)
    tails = {number: answer_tails(reader, mechanism, number) for number in answers}
    unlikely = [number for number in numbers if min(tails[number]) * (1 + ROUNDING_MARGIN) < 1 / odds]
    if not unlikely:
        return ""
    if len(numbers) > 1:
        return UNLIKELY_CELLS_REMARK.format(len(unlikely), len(numbers), odds)
    below, above = tails[unlikely[0]]
    return UNLIKELY_REMARK.format(*(("small", "smaller") if below < above else ("large", "larger")), odds)


def answer_tails(reader: Reader, mechanism: LatticeMechanism, number: int) -> tuple[float, float]:
    """Upper bounds on the prior probabilities of an answer ≤ y, and of one ≥ y.

    P(Δ ≤ −d) = α^d/(1+α) and P(Δ ≤ d) = 1 − α^(d+1)/(1+α) for d ≥ 0, and an end of the range that absorbs moves no
    answer past a y within. On the lattice both are equalities, but for y at an end, where one of the two is at least
    1/2 and stands for 1. Where points lie between numbers of the lattice, d is rounded up and one step is added. An
    answer far outside the points is moved nearer, which only adds probability.
    """
    if isinstance(mechanism, GaussianLattice):
        return gaussian_readings.gaussian_tails(reader, mechanism, number)
    if isinstance(mechanism, CanonicalLattice):
        return canonical_readings.canonical_tails(reader, mechanism, number)
    assert isinstance(mechanism, GeometricLattice)
    first, step = (reader.axis.first - mechanism.origin) / mechanism.unit, reader.axis.step / mechanism.unit
    last = first + step * (reader.axis.size - 1)
    answer = min(max(Fraction(number), first - MAX_TAIL_STEPS), last + MAX_TAIL_STEPS)
    nearest = math.floor((answer - first) / step)
    gaps = float(answer - first - nearest * step) - (np.arange(reader.axis.size) - nearest) * float(step)
    extra = 0 if on_lattice(reader.axis, mechanism) else 1
    weights = np.exp(reader.prior.logs())
    below, above = (_noise_tail(np.ceil(side) + extra, float(mechanism.epsilon)) for side in (gaps, -gaps))
    return float(weights @ below), float(weights @ above)


def _noise_tail(gaps: Floats, rate: float) -> Floats:
    """P(Δ ≤ d) of two-sided geometric noise, for whole numbers d."""
    near_tail = np.exp(-rate * np.where(gaps < 0, -gaps, gaps + 1)) / (1 + math.exp(-rate))
    return np.where(gaps < 0, near_tail, 1 - near_tail)


def _points_remark(reader: Reader, noise: Fraction) -> str:
    """What the points leave out: the far ones of a uniform prior, or what lies between them."""
    if reader.is_partial:
        return NEAR_POINTS_REMARK
    step = reader.axis.step
    return (
        COARSE_POINTS_REMARK.format(plain_decimal(step, 3), plain_decimal(noise, 3))
        if reader.axis.size > 1 and step > noise
        else ""
    )


def optimality_claim(answer: Answer, reader: Reader) -> str:
    """In which sense no mechanism would serve this reader better: by GRS12 Thm 3.2 for a count that a unit moves by 1.

    The remapped loss is then the least of all mechanisms with this ε, or this (ε, δ) of canonical noise. For other
    answers the release says what is claimed; nothing is for a loss that falls away from the truth, or for a prior on
    the reader's own points.
    """
    if answer.optimal.startswith("none"):
        return answer.optimal
    if not on_lattice(reader.axis, lattice_of(answer)):
        return OWN_POINTS_CLAIM
    if not reader.loss.monotone:
        return NOT_MONOTONE_CLAIM
    if not answer.optimal.startswith("universal"):
        return answer.optimal
    if isinstance(answer.mechanism, CanonicalLattice):
        return CANONICAL_OPTIMAL_CLAIM.format(answer.epsilon, decimal_above(answer.noise_delta))
    is_legal = reader.loss.legality(reader.axis.size).legal
    return OPTIMAL_CLAIM.format(answer.epsilon, LEGAL_LOSS_THEOREM if is_legal else TWO_SIDED_LOSS_THEOREM)
