"""Read a release as a consumer: the best reading of an answer for a prior and a loss, and how good it is.

A count, a cell, a sum and a mean of a public number of rows are lattice numbers (`reading.lattice_reading`); a mean of
a secret number of rows is a ratio of two (`reading.ratio_reading`); a quantile has no posterior, and is read at face
value. Numbers of a release written by somebody else that no release can have are refused before anything is worked out.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from utmost.consumer import losses
from utmost.consumer.counts.reading_search import MAX_SEARCH_WORK
from utmost.consumer.losses import Loss
from utmost.consumer.piecewise_losses import PiecewiseLoss
from utmost.consumer.priors import Prior
from utmost.data.queries import Grid
from utmost.errors import InputError
from utmost.exact import decimal, decimal_above, integer, rational
from utmost.publish.reading import lattice_reading, point_selection, prior_axis, ratio_reading
from utmost.publish.reading.estimates import Belief, Estimate, ExpectedLosses, Reading
from utmost.publish.reading.point_selection import PointChoice
from utmost.publish.reading.prior_axis import AxisRequest
from utmost.publish.reading.reader import Floats, Reader
from utmost.publish.reading.unbiased_estimates import unbiased_total
from utmost.publish.release_model import Answer, ChoiceMechanism, LatticeMechanism, RatioMechanism

__all__ = [
    "Belief",
    "Estimate",
    "ExpectedLosses",
    "Reading",
    "belief_curves",
    "cell_names",
    "estimate",
    "make_reader",
    "read_answer",
    "remap_values",
]

DEFAULT_AXIS_REQUEST = AxisRequest()
MAX_LISTED_CELLS = 12  # cells in a message
MIN_RATE, MAX_RATE = Fraction(1, 10**30), Fraction(1000)  # ε of a step
MIN_UNIT, MAX_UNIT = Fraction(1, 10**60), Fraction(10**60)  # of a lattice
MAX_LATTICE_NUMBER = 10**60
MAX_CANDIDATES = 10**6  # of a quantile
MAX_PROBABILITY_DENOMINATOR = 10**6  # of a quantile
OPTIMAL_CLAIM = (
    "optimal: no mechanism with ε = {0} gives this reader a smaller expected loss, not even one made for her ({1})"
)
LEGAL_LOSS_THEOREM = "GRS12 Thm 3.2"
TWO_SIDED_LOSS_THEOREM = "GRS12 Thm 3.2, extended to losses with two different sides: docs/papers/grs12.md"
NOT_MONOTONE_CLAIM = (
    "none claimed: GRS12 Thm 3.2 is about losses that do not fall away from the truth, and this one does"
)
OWN_POINTS_CLAIM = "none claimed for points of her own: GRS12 Thm 3.2 is about priors on all values that there are"
QUANTILE_REMARK = (
    "A quantile is drawn by a law that depends on all rows, not on the true quantile alone, so there is no posterior "
    "for any prior: it is read at face value. With probability {0} % fewer than {1} rows lie on the wrong side of it, "
    "with values clamped to its bounds and rounded to its steps."
)
NEAR_POINTS_REMARK = (
    "Only the values near the answer are written out; all others have less than 10^-15 of the posterior."
)
COARSE_POINTS_REMARK = (
    "Her points are {0} apart and the noise is about {1}: for a finer reading raise --grid or narrow the range."
)
FLAT_ROWS_REMARK = "Every number of rows is taken to be as likely; at most 10^-12 of the posterior is left out."


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
    is, up to 10⁷ for a count and 10⁶ otherwise, else those that matter (`reading.point_selection`). `cell` picks one of
    a histogram.
    """
    axis_request = AxisRequest(
        _parse_bound(at_least, "at-least"),
        _parse_bound(at_most, "at-most"),
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
    """The reader of this answer: points, a prior and a loss there; None for a quantile.

    Nothing is worked out that depends on the answer, so this is quick however many points there are.
    """
    value_loss = losses.parse(loss) if isinstance(loss, str) else loss
    coverage_share = _parse_coverage(coverage)
    check_answer(answer)
    if isinstance(answer.mechanism, ChoiceMechanism):
        return None
    explicit_prior = prior_axis.listed_prior(prior)
    numbers, _ = _released_numbers(answer, cell)
    points = _select_points(
        answer, numbers, axis_request, None if explicit_prior is None else explicit_prior.size, prior == "uniform"
    )
    step = points.axis.step
    point_loss = value_loss.stretched(step) if isinstance(value_loss, PiecewiseLoss) and step != 1 else value_loss
    return Reader(
        points.axis,
        prior_axis.prior_on(points.axis, prior, explicit_prior),
        point_loss,
        coverage_share,
        points.is_partial,
    )


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
    mechanism = answer.mechanism
    if reader is None:
        assert isinstance(mechanism, ChoiceMechanism)
        return _read_quantile(answer, mechanism, _parse_coverage(coverage))
    if isinstance(mechanism, RatioMechanism):
        return _read_ratio(answer, mechanism, reader)
    assert isinstance(mechanism, LatticeMechanism)
    numbers, names = _released_numbers(answer, cell)
    lattice = lattice_reading.read_lattice(reader, mechanism, numbers, effort)
    total = unbiased_total(mechanism, numbers) if names and cell is None else None
    before = None if reader.is_partial else lattice.before
    remark = _points_remark(reader, max(mechanism.unit, mechanism.unit / mechanism.epsilon))
    claim = optimality_claim(answer, reader)
    return Estimate(answer, reader, lattice.readings, before, claim, remark, names, total, every=lattice.every)


def check_answer(answer: Answer) -> None:
    """Refuse an answer whose numbers would not fit into doubles; every plan's do."""
    mechanism = answer.mechanism
    if isinstance(mechanism, LatticeMechanism):
        values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
        fits = _fits_lattice(mechanism) and all(
            abs(mechanism.number(Fraction(value))) <= MAX_LATTICE_NUMBER for value in values
        )
    elif isinstance(mechanism, RatioMechanism):
        parts = answer.parts or (MAX_LATTICE_NUMBER + 1,)
        fits = (
            _fits_lattice(mechanism.total)
            and _fits_lattice(mechanism.rows)
            and all(abs(part) <= MAX_LATTICE_NUMBER for part in parts)
        )
    else:
        fits = _fits_quantile(answer, mechanism)
    if not fits:
        raise InputError(f"query {answer.name[:60]} must have numbers that a release can have: this file was altered")


def _fits_lattice(mechanism: LatticeMechanism) -> bool:
    bounds = [bound for bound in (mechanism.low, mechanism.high) if bound is not None]
    fits = (
        MIN_RATE <= mechanism.epsilon <= MAX_RATE
        and MIN_UNIT <= mechanism.unit <= MAX_UNIT
        and abs(mechanism.origin) <= MAX_UNIT
    )
    return fits and all(abs(bound) <= MAX_LATTICE_NUMBER for bound in bounds)


def _fits_quantile(answer: Answer, mechanism: ChoiceMechanism) -> bool:
    probability = rational(answer.query_content["probability"], "probability")
    fits = MIN_RATE <= mechanism.rate <= MAX_RATE and 1 <= mechanism.candidates <= MAX_CANDIDATES
    return fits and 0 <= probability <= 1 and probability.denominator <= MAX_PROBABILITY_DENOMINATOR


def _parse_coverage(coverage: object) -> float:
    share = coverage if isinstance(coverage, float) else rational(coverage, "coverage")
    if not (0 < share < 1 and 0 < float(share) < 1):
        raise InputError(f"coverage must be strictly between 0 and 1, got {decimal(share)}: 0.95 is usual")
    return float(share)


def _parse_bound(value: object, name: str) -> Fraction | None:
    return None if value is None else rational(value, name)


def _released_numbers(answer: Answer, cell: str | None) -> tuple[list[int], tuple[str, ...]]:
    """The lattice numbers that were released, and the cells they belong to."""
    mechanism = answer.mechanism
    if not isinstance(answer.value, tuple):
        if cell is not None:
            raise InputError(f"cell must not be given for a {answer.kind}, which has no cells: leave it out")
        return [mechanism.number(Fraction(answer.value))] if isinstance(mechanism, LatticeMechanism) else [], ()
    assert isinstance(mechanism, LatticeMechanism)
    names, numbers = cell_names(answer), [mechanism.number(Fraction(value)) for value in answer.value]
    if cell is None:
        return numbers, names
    if cell not in names:
        listed_names = "; ".join(names[:MAX_LISTED_CELLS]) + ("; …" if len(names) > MAX_LISTED_CELLS else "")
        raise InputError(f'cell must be one of {listed_names}: got "{cell[:60]}"')
    return [numbers[names.index(cell)]], (cell,)


def _select_points(
    answer: Answer, numbers: list[int], axis_request: AxisRequest, weights: int | None, uniform: bool
) -> PointChoice:
    mechanism = answer.mechanism
    if isinstance(mechanism, LatticeMechanism):
        return point_selection.lattice_points(mechanism, answer.kind, numbers, axis_request, weights, uniform)
    assert isinstance(mechanism, RatioMechanism)
    grid = Grid(*(rational(answer.query_content[name], name) for name in ("low", "high", "step")))
    return point_selection.ratio_points(mechanism, grid, _ratio_parts(answer), axis_request, weights, uniform)


def _ratio_parts(answer: Answer) -> tuple[int, int]:
    assert answer.parts is not None
    return answer.parts


def _read_ratio(answer: Answer, mechanism: RatioMechanism, reader: Reader) -> Estimate:
    assert not isinstance(answer.value, tuple)
    parts = _ratio_parts(answer)
    reading = ratio_reading.read_ratio(reader, mechanism, parts, answer.value)
    remark = _points_remark(reader, mechanism.total.unit / mechanism.total.epsilon / max(parts[1], 1))
    return Estimate(answer, reader, (reading,), None, answer.optimal, f"{FLAT_ROWS_REMARK} {remark}".rstrip())


def _points_remark(reader: Reader, noise: Fraction) -> str:
    """What the points leave out: the far ones of a uniform prior, or what lies between them."""
    if reader.is_partial:
        return NEAR_POINTS_REMARK
    step = reader.axis.step
    return (
        COARSE_POINTS_REMARK.format(decimal(step, 3), decimal(noise, 3))
        if reader.axis.size > 1 and step > noise
        else ""
    )


def _key_text(key: object) -> str:
    """A key as plans write it."""
    if isinstance(key, bool):
        return str(key).lower()
    return str(key["date"]) if isinstance(key, dict) else str(key)


def cell_names(answer: Answer) -> tuple[str, ...]:
    """The names of a histogram's cells: their keys, with a comma between the keys of one cell."""
    return tuple(",".join(_key_text(key) for key in keys) for keys in answer.query_content.get("cells", []))


def _read_quantile(answer: Answer, mechanism: ChoiceMechanism, coverage: float) -> Estimate:
    """A quantile: its value, and the rank that Pr[loss ≥ t] ≤ candidates·e^(−rate·t) bounds (`mechanism_selection`)."""
    assert not isinstance(answer.value, tuple)
    loss_per_row = rational(answer.query_content["probability"], "probability").denominator
    rank = (math.log(mechanism.candidates) - math.log1p(-coverage)) / (float(mechanism.rate) * loss_per_row)
    remark = QUANTILE_REMARK.format(decimal(100 * coverage, 4), decimal_above(rank, 4))
    return Estimate(answer, None, (Reading(answer.value, answer.value),), None, answer.optimal, remark, rank=rank)


def optimality_claim(answer: Answer, reader: Reader) -> str:
    """In which sense no mechanism would serve this reader better: by GRS12 Thm 3.2 for a count that a unit moves by 1.

    The remapped loss is then the least of all mechanisms with this ε. For other answers the release says what is
    claimed; nothing is for a loss that falls away from the truth, or for a prior on the reader's own points.
    """
    mechanism = answer.mechanism
    if not isinstance(mechanism, LatticeMechanism) or answer.optimal.startswith("none"):
        return answer.optimal
    if not lattice_reading.on_lattice(reader.axis, mechanism):
        return OWN_POINTS_CLAIM
    if not reader.monotone:
        return NOT_MONOTONE_CLAIM
    if answer.kind != "count" or answer.sensitivity != 1 or mechanism.epsilon != answer.epsilon:
        return answer.optimal
    return OPTIMAL_CLAIM.format(
        answer.epsilon, LEGAL_LOSS_THEOREM if _has_legal_loss(reader) else TWO_SIDED_LOSS_THEOREM
    )


def _has_legal_loss(reader: Reader) -> bool:
    loss = reader.loss
    return loss.under == loss.over if isinstance(loss, losses.Linear) else losses.legality(loss, reader.axis.size).legal


def belief_curves(estimate: Estimate, cell_index: int = 0) -> Belief:
    """Prior, likelihood and posterior over the points of the axis, for the reading of the cell at this index."""
    if estimate.reader is None:
        raise InputError(f"a {estimate.answer.kind} has no posterior: its law depends on all the rows")
    mechanism, reader = estimate.answer.mechanism, estimate.reader
    if isinstance(mechanism, RatioMechanism):
        logs = ratio_reading.ratio_likelihood(reader, mechanism, _ratio_parts(estimate.answer))
    else:
        assert isinstance(mechanism, LatticeMechanism)
        logs = lattice_reading.lattice_likelihood(
            reader.axis, mechanism, mechanism.number(Fraction(estimate.readings[cell_index].value))
        )
    likelihood = np.exp(logs - logs.max())
    return Belief(reader.axis, np.exp(reader.prior.logs()), likelihood / likelihood.sum(), reader.after(logs))


def remap_values(estimate: Estimate, values: list[Fraction]) -> Floats:
    """w(y) of the answers that stand for these values: their readings."""
    mechanism, reader = estimate.answer.mechanism, estimate.reader
    if reader is None or not isinstance(mechanism, LatticeMechanism):
        raise InputError(f"only a lattice number has a reading for each answer, not a {estimate.answer.kind}")
    numbers = [mechanism.number(value) for value in values]
    if estimate.every is None:
        return np.array(
            [float(reading.estimate) for reading in lattice_reading.read_lattice(reader, mechanism, numbers).readings]
        )
    positions = estimate.every.remap[lattice_reading.axis_positions(reader.axis, mechanism, numbers)]
    return np.array([float(reader.value(position)) for position in positions.tolist()])
