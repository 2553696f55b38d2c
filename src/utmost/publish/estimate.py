"""The consumer's side of a release: the best reading of an answer for a prior and a loss, and how good it is.

A count, a cell, a sum and a mean of a public number of rows are lattice numbers (`reading.lattice_reading`); a mean of
a secret number of rows is a ratio of two (`reading.ratio_reading`); a quantile has no posterior, and is read at face
value.
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
from utmost.exact import decimal, integer, rational
from utmost.publish.reading import lattice_reading, point_selection, prior_axis, ratio_reading
from utmost.publish.reading.estimates import Belief, Estimate, ExpectedLosses, Reading
from utmost.publish.reading.point_selection import PointChoice
from utmost.publish.reading.prior_axis import AxisRequest
from utmost.publish.reading.reader import Floats, Reader
from utmost.publish.reading.sound import check_answer
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

ANY = AxisRequest()
MOST_CELLS = 12  # that a message lists
BY_THEOREM = (
    "optimal: no mechanism with ε = {0} gives this reader a smaller expected loss, not even one made for her ({1})"
)
LEGAL = "GRS12 Thm 3.2"
TWO_SIDED = "GRS12 Thm 3.2, extended to losses with two different sides: docs/papers/grs12.md"
NOT_MONOTONE = "none claimed: GRS12 Thm 3.2 is about losses that do not fall away from the truth, and this one does"
OWN_POINTS = "none claimed for points of her own: GRS12 Thm 3.2 is about priors on all values that there are"
NO_POSTERIOR = (
    "A quantile is drawn by a law that depends on all rows, not on the true quantile alone, so there is no posterior "
    "for any prior: it is read at face value. With probability {0} % fewer than {1} rows lie on the wrong side of it."
)
NEARBY = "Only the values near the answer are written out; all others have less than 10^-15 of the posterior."
COARSE = "Her points are {0} apart and the noise is about {1}: for a finer reading raise --grid or narrow the range."
FLAT_ROWS = "Every number of rows is taken to be as likely; at most 10^-12 of the posterior is left out."


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

    `at_least` and `at_most` bound what she holds possible, in the value's unit; they are needed where the release has
    no public end. `grid` is how many points between them carry her prior; by default every value there is, up to 10⁷
    for a count and 10⁶ otherwise, else those that matter (`reading.point_selection`). `cell` picks one of a histogram.
    """
    wish = AxisRequest(
        _bound(at_least, "at-least"), _bound(at_most, "at-most"), None if grid is None else integer(grid, "grid")
    )
    return read_answer(answer, make_reader(answer, prior, loss, wish, coverage, cell), coverage, cell)


def make_reader(
    answer: Answer,
    prior: Prior | str,
    loss: Loss | str,
    wish: AxisRequest = ANY,
    coverage: object = 0.95,
    cell: str | None = None,
) -> Reader | None:
    """Who reads this answer: the points she believes in, her prior and her loss there; None for a quantile.

    Nothing is worked out that depends on the answer, so this is quick however many points there are.
    """
    fear = losses.parse(loss) if isinstance(loss, str) else loss
    share = _share(coverage)
    check_answer(answer)
    if isinstance(answer.mechanism, ChoiceMechanism):
        return None
    listed = prior_axis.listed_prior(prior)
    numbers, _ = _numbers(answer, cell)
    found = _points(answer, numbers, wish, None if listed is None else listed.size, prior == "uniform")
    step = found.axis.step
    on_points = fear.stretched(step) if isinstance(fear, PiecewiseLoss) and step != 1 else fear
    return Reader(found.axis, prior_axis.prior_on(found.axis, prior, listed), on_points, share, found.near)


def read_answer(
    answer: Answer,
    reader: Reader | None,
    coverage: object = 0.95,
    cell: str | None = None,
    effort: float = MAX_SEARCH_WORK,
) -> Estimate:
    """What this reader makes of the answer, or of one cell of it.

    Losses over all answers that need a search are left out where it takes more than `effort` multiplications.
    """
    law = answer.mechanism
    if reader is None:
        assert isinstance(law, ChoiceMechanism)
        return _face_value(answer, law, _share(coverage))
    if isinstance(law, RatioMechanism):
        return _of_ratio(answer, law, reader)
    assert isinstance(law, LatticeMechanism)
    numbers, names = _numbers(answer, cell)
    found = lattice_reading.read_lattice(reader, law, numbers, effort)
    both = unbiased_total(law, numbers) if names and cell is None else None
    before = None if reader.near else found.before
    remark = _remark(reader, max(law.unit, law.unit / law.epsilon))
    told = optimality_claim(answer, reader)
    return Estimate(answer, reader, found.readings, before, told, remark, names, both, every=found.every)


def _share(coverage: object) -> float:
    share = coverage if isinstance(coverage, float) else rational(coverage, "coverage")
    if not (0 < share < 1 and 0 < float(share) < 1):
        raise InputError(f"coverage must be strictly between 0 and 1, got {decimal(share)}: 0.95 is usual")
    return float(share)


def _bound(value: object, name: str) -> Fraction | None:
    return None if value is None else rational(value, name)


def _numbers(answer: Answer, cell: str | None) -> tuple[list[int], tuple[str, ...]]:
    """The lattice numbers that were released, and the cells they belong to."""
    law = answer.mechanism
    if not isinstance(answer.value, tuple):
        if cell is not None:
            raise InputError(f"cell must not be given for a {answer.kind}, which has no cells: leave it out")
        return [law.number(Fraction(answer.value))] if isinstance(law, LatticeMechanism) else [], ()
    assert isinstance(law, LatticeMechanism)
    names, numbers = cell_names(answer), [law.number(Fraction(value)) for value in answer.value]
    if cell is None:
        return numbers, names
    if cell not in names:
        shown = "; ".join(names[:MOST_CELLS]) + ("; …" if len(names) > MOST_CELLS else "")
        raise InputError(f'cell must be one of {shown}: got "{cell[:60]}"')
    return [numbers[names.index(cell)]], (cell,)


def _points(answer: Answer, numbers: list[int], wish: AxisRequest, weights: int | None, uniform: bool) -> PointChoice:
    law = answer.mechanism
    if isinstance(law, LatticeMechanism):
        return point_selection.lattice_points(law, answer.kind, numbers, wish, weights, uniform)
    assert isinstance(law, RatioMechanism)
    grid = Grid(*(rational(answer.asked[name], name) for name in ("low", "high", "step")))
    return point_selection.ratio_points(law, grid, _parts(answer), wish, weights, uniform)


def _parts(answer: Answer) -> tuple[int, int]:
    assert answer.parts is not None
    return answer.parts


def _of_ratio(answer: Answer, law: RatioMechanism, reader: Reader) -> Estimate:
    assert not isinstance(answer.value, tuple)
    parts = _parts(answer)
    reading = ratio_reading.read_ratio(reader, law, parts, answer.value)
    remark = _remark(reader, law.total.unit / law.total.epsilon / max(parts[1], 1))
    return Estimate(answer, reader, (reading,), None, answer.optimal, f"{FLAT_ROWS} {remark}".rstrip())


def _remark(reader: Reader, noise: Fraction) -> str:
    """What her points leave out: the far ones of a uniform prior, or what lies between them."""
    if reader.near:
        return NEARBY
    step = reader.axis.step
    return COARSE.format(decimal(step, 3), decimal(noise, 3)) if reader.axis.size > 1 and step > noise else ""


def _spelt(key: object) -> str:
    """A key as plans write it."""
    if isinstance(key, bool):
        return str(key).lower()
    return str(key["date"]) if isinstance(key, dict) else str(key)


def cell_names(answer: Answer) -> tuple[str, ...]:
    """The names of a histogram's cells: their keys, with a comma between the keys of one cell."""
    return tuple(",".join(_spelt(key) for key in keys) for keys in answer.asked.get("cells", []))


def _face_value(answer: Answer, law: ChoiceMechanism, coverage: float) -> Estimate:
    """A quantile: its value, and the rank that Pr[loss ≥ t] ≤ candidates·e^(−rate·t) bounds (`mechanism_selection`)."""
    assert not isinstance(answer.value, tuple)
    row = rational(answer.asked["probability"], "probability").denominator
    rank = (math.log(law.candidates) - math.log1p(-coverage)) / (float(law.rate) * row)
    words = NO_POSTERIOR.format(decimal(100 * coverage, 4), decimal(rank, 4))
    return Estimate(answer, None, (Reading(answer.value, answer.value),), None, answer.optimal, words, rank=rank)


def optimality_claim(answer: Answer, reader: Reader) -> str:
    """In which sense no mechanism would serve this reader better: by GRS12 Thm 3.2 for a count that a unit moves by 1.

    Her remapped loss is then the least of all mechanisms with this ε. For other answers the release says what is
    claimed; nothing is for a loss that falls away from the truth, or for a prior on points of her own.
    """
    law = answer.mechanism
    if not isinstance(law, LatticeMechanism) or answer.optimal.startswith("none"):
        return answer.optimal
    if not lattice_reading.on_lattice(reader.axis, law):
        return OWN_POINTS
    if not reader.monotone:
        return NOT_MONOTONE
    if answer.kind != "count" or answer.sensitivity != 1 or law.epsilon != answer.epsilon:
        return answer.optimal
    return BY_THEOREM.format(answer.epsilon, LEGAL if _legal(reader) else TWO_SIDED)


def _legal(reader: Reader) -> bool:
    fear = reader.loss
    return fear.under == fear.over if isinstance(fear, losses.Linear) else losses.legality(fear, reader.axis.size).legal


def belief_curves(found: Estimate, place: int = 0) -> Belief:
    """Prior, likelihood and posterior over the points of her axis, for the reading at this place among the cells."""
    if found.reader is None:
        raise InputError(f"a {found.answer.kind} has no posterior: its law depends on all the rows")
    law, reader = found.answer.mechanism, found.reader
    if isinstance(law, RatioMechanism):
        logs = ratio_reading.ratio_likelihood(reader, law, _parts(found.answer))
    else:
        assert isinstance(law, LatticeMechanism)
        logs = lattice_reading.lattice_likelihood(reader.axis, law, law.number(Fraction(found.readings[place].value)))
    alone = np.exp(logs - logs.max())
    return Belief(reader.axis, np.exp(reader.prior.logs()), alone / alone.sum(), reader.after(logs))


def remap_values(found: Estimate, values: list[Fraction]) -> Floats:
    """w(y) of the answers that stand for these values: how she would have read them."""
    law, reader = found.answer.mechanism, found.reader
    if reader is None or not isinstance(law, LatticeMechanism):
        raise InputError(f"only a lattice number has a reading for each answer, not a {found.answer.kind}")
    numbers = [law.number(value) for value in values]
    if found.every is None:
        return np.array(
            [float(reading.estimate) for reading in lattice_reading.read_lattice(reader, law, numbers).readings]
        )
    best = found.every.remap[lattice_reading.axis_positions(reader.axis, law, numbers)]
    return np.array([float(reader.value(place)) for place in best.tolist()])
