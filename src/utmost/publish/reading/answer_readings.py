"""How answers of each mechanism with a posterior are read: their points, their readings, their likelihood.

A lattice number is a count, a cell, a sum, or a mean of a public number of rows (`lattice_reading`); a mean of a secret
number of rows is a ratio of two (`ratio_reading`). Another mechanism is a class here, and a line in `READINGS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from utmost.errors import InputError
from utmost.exact import plain_decimal
from utmost.publish.reading import number_readings, prior_points
from utmost.publish.reading.estimates import Estimate, Floats, Reader, unbiased_total
from utmost.publish.reading.prior_points import AxisRequest, PointChoice
from utmost.publish.release_model import Answer
from utmost.queries.answer_mechanisms.lattice import LatticeMechanism
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism
from utmost.queries.answer_mechanisms.ratio import RatioMechanism, drawn_parts
from utmost.queries.number_column import NumberQuery

MAX_LISTED_CELLS = 12  # cells in a message
OPTIMAL_CLAIM = (
    "optimal: no mechanism with ε = {0} gives this reader a smaller expected loss, not even one made for this reader "
    "({1})"
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
        lattice = number_readings.read_lattice(reader, mechanism, numbers, effort)
        total = unbiased_total(mechanism, numbers) if names and cell is None else None
        before = None if reader.is_partial else lattice.before
        remark = _points_remark(reader, mechanism.noise_scale(answer.details))
        claim = optimality_claim(answer, reader)
        return Estimate(answer, reader, lattice.readings, before, claim, remark, names, total, every=lattice.every)

    def log_likelihood(self, estimate: Estimate, reader: Reader, cell_index: int) -> Floats:
        """That of the number of one cell."""
        mechanism = lattice_of(estimate.answer)
        number = mechanism.number(Fraction(estimate.readings[cell_index].value))
        return number_readings.lattice_likelihood(reader.axis, mechanism, number)


class RatioAnswers(AnswerReading):
    """Means from a noisy total and a noisy number of rows."""

    def select_points(self, answer: Answer, cell: str | None, shape: PriorShape) -> PointChoice:
        """Means within the grid, or those near the ratio."""
        _refuse_cell(answer, cell)
        assert isinstance(answer.query, NumberQuery)
        mechanism, parts = _ratio_of(answer), drawn_parts(answer.details)
        return prior_points.ratio_points(
            mechanism, answer.query.grid, parts, shape.axis_request, shape.weight_count, shape.is_uniform
        )

    def read(self, answer: Answer, reader: Reader, cell: str | None, effort: float) -> Estimate:
        """The reading of the mean, given both numbers."""
        assert not isinstance(answer.value, tuple)
        mechanism, parts = _ratio_of(answer), drawn_parts(answer.details)
        reading = number_readings.read_ratio(reader, mechanism, parts, answer.value)
        remark = _points_remark(reader, mechanism.total.unit / mechanism.total.epsilon / max(parts[1], 1))
        return Estimate(answer, reader, (reading,), None, answer.optimal, f"{FLAT_ROWS_REMARK} {remark}".rstrip())

    def log_likelihood(self, estimate: Estimate, reader: Reader, cell_index: int) -> Floats:
        """That of both numbers, summed over the numbers of rows."""
        parts = drawn_parts(estimate.answer.details)
        return number_readings.ratio_likelihood(reader, _ratio_of(estimate.answer), parts)


READINGS: dict[type[AnswerMechanism], AnswerReading] = {
    LatticeMechanism: LatticeAnswers(),
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
    mechanism = lattice_of(answer)
    if not isinstance(answer.value, tuple):
        _refuse_cell(answer, cell)
        return [mechanism.number(Fraction(answer.value))], ()
    names, numbers = answer.query.cell_names, [mechanism.number(Fraction(value)) for value in answer.value]
    if cell is None:
        return numbers, names
    if cell not in names:
        listed_names = "; ".join(names[:MAX_LISTED_CELLS]) + ("; …" if len(names) > MAX_LISTED_CELLS else "")
        raise InputError(f'cell must be one of {listed_names}: got "{cell[:60]}"', "cell")
    return [numbers[names.index(cell)]], (cell,)


def _refuse_cell(answer: Answer, cell: str | None) -> None:
    if cell is not None:
        raise InputError(f"cell must not be given for a {answer.kind}, which has no cells", "cell", "leave it out")


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

    The remapped loss is then the least of all mechanisms with this ε. For other answers the release says what is
    claimed; nothing is for a loss that falls away from the truth, or for a prior on the reader's own points.
    """
    if answer.optimal.startswith("none"):
        return answer.optimal
    if not number_readings.on_lattice(reader.axis, lattice_of(answer)):
        return OWN_POINTS_CLAIM
    if not reader.loss.monotone:
        return NOT_MONOTONE_CLAIM
    if not answer.optimal.startswith("universal"):
        return answer.optimal
    is_legal = reader.loss.legality(reader.axis.size).legal
    return OPTIMAL_CLAIM.format(answer.epsilon, LEGAL_LOSS_THEOREM if is_legal else TWO_SIDED_LOSS_THEOREM)
