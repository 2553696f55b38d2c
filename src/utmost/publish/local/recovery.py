"""What a reader makes of an obfuscated table: how often each value is, and where the rows are.

With weights a (the truth) and b (each other value), S = a + (k−1)b, a value that a share f of the rows have is answered
by a share p = (b + (a − b)·f)/S of them on average. That is inverted in closed form, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Number, rational, sign
from utmost.mechanisms.randomised_response import RandomisedResponse
from utmost.publish.local.categories import CategoryMechanism
from utmost.publish.local.coordinates import Axis, cell_doubles, normalise_cells
from utmost.publish.local.locations import LocationMechanism
from utmost.publish.local.metadata import TableMetadata
from utmost.publish.local.remap import (
    MAX_KEPT_ENTRIES,
    DeconvolutionResult,
    Doubles,
    LocationPrior,
    deconvolve,
    gather_reports,
    rectangle_cells,
    remap_reports,
    weighted_grid,
)
from utmost.publish.local.table_files import open_table

INTERVAL_MARGIN = 1e-9  # by which floating-point interval ends are moved outward


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How often each value is, from n answers.

    `counts` are the answers; `estimate` is unbiased and exact, sums to 1 and can leave [0, 1]; `likeliest` is the
    exact maximum-likelihood law; `errors` are standard errors of the estimate; `intervals` hold all shares at once with
    probability at least `confidence`.
    """

    values: tuple[str, ...]
    counts: tuple[int, ...]
    estimate: tuple[Number, ...]
    likeliest: tuple[Number, ...]
    errors: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    confidence: Fraction


def recover_frequencies(metadata: TableMetadata, table: str | Path, confidence: object = "0.95") -> Frequencies:
    """The shares of the values among the rows of an obfuscated table, from its noisy column."""
    mechanism = metadata.mechanism
    if not isinstance(mechanism, CategoryMechanism):
        raise InputError("the table must be of randomised response to recover frequencies, got one of places")
    return estimate_frequencies(mechanism, count_answers(mechanism, Path(table), metadata.rows), confidence)


def count_answers(mechanism: CategoryMechanism, table: Path, rows: int) -> list[int]:
    """How often each value is answered in a table."""
    import numpy as np

    totals = np.zeros(len(mechanism.values), dtype=np.int64)
    with open_table(table, mechanism.columns, "OUT") as reader:
        for piece in reader.pieces:
            indices = mechanism.value_indices(piece.column(mechanism.column))
            if (indices < 0).any():
                raise InputError(
                    f"OUT must hold the values of its note alone in column {mechanism.column}: was it changed?", "out"
                )
            totals += np.bincount(indices, minlength=len(totals))
    if int(totals.sum()) != rows:
        raise InputError(f"OUT must have the {rows} rows of its note, got {int(totals.sum())}: was it changed?", "out")
    return [int(n) for n in totals]


def estimate_frequencies(
    mechanism: CategoryMechanism, counts: Sequence[int], confidence: object = "0.95"
) -> Frequencies:
    """The shares of the values from how often each was answered.

    >>> from utmost.exact import alpha
    >>> frequencies = estimate_frequencies(CategoryMechanism("vote", alpha("1/2"), ("no", "yes", "none")), [50, 30, 20])
    >>> [str(f) for f in frequencies.estimate], [str(f) for f in frequencies.likeliest]
    (['1', '1/5', '-1/5'], ['7/8', '1/8', '0'])
    """
    share = rational(confidence, "confidence")
    if not 0 < share < 1:
        raise InputError("confidence must be between 0 and 1: 0.95 for instance", "confidence")
    if len(counts) != len(mechanism.values) or min(counts) < 0 or not sum(counts):
        raise InputError(
            "counts must be one for each value, none below 0, and some above: the table has no rows", "counts"
        )
    response = mechanism.noise
    return Frequencies(
        mechanism.values,
        tuple(counts),
        tuple(unbiased_frequencies(response, counts)),
        tuple(likeliest_frequencies(response, counts)),
        tuple(standard_errors(response, counts)),
        tuple(frequency_intervals(response, counts, float(1 - share))),
        share,
    )


def unbiased_frequencies(mechanism: RandomisedResponse, counts: Sequence[int]) -> list[Number]:
    """f̂ = (S·c/n − b)/(a − b): the inverse of the channel applied to the shares c/n of the answers. Sums to 1."""
    total, (a, b) = sum(counts), (mechanism.same, mechanism.other)
    weight = a + (mechanism.size - 1) * b
    return [(weight * Fraction(c, total) - b) / (a - b) for c in counts]


def likeliest_frequencies(mechanism: RandomisedResponse, counts: Sequence[int]) -> list[Number]:
    """The law f that makes the counts most likely: maximises Σ c·log p over the simplex, p = (b + (a − b)f)/S.

    Where f > 0, p is proportional to c; where f = 0, p = b/S (Karush–Kuhn–Tucker; the problem is concave). The values
    with f = 0 are those answered least often, or most often for the dual: they are set aside one at a time, and that
    never brings back one set aside before. If no other value was answered at all, the rest have equal shares.
    """
    a, b = mechanism.same, mechanism.other
    weight = a + (mechanism.size - 1) * b
    order = sorted(range(mechanism.size), key=lambda y: counts[y], reverse=not a > b)
    total, zero_count = sum(counts), 0

    def share(y: int) -> Number:
        """f of a value if `zero_count` values are set aside and the rest have f > 0."""
        answer_share = Fraction(counts[y], total) if total else Fraction(1, mechanism.size - zero_count)
        return ((weight - zero_count * b) * answer_share - b) / (a - b)

    while zero_count < mechanism.size - 1 and sign(share(order[zero_count])) <= 0:
        total -= counts[order[zero_count]]
        zero_count += 1
    frequencies: list[Number] = [Fraction(0)] * mechanism.size
    for y in order[zero_count:]:
        frequencies[y] = share(y)
    return frequencies


def standard_errors(mechanism: RandomisedResponse, counts: Sequence[int]) -> list[float]:
    """√(p(1−p)/n)·S/|a − b|, p the share of the answers: of f̂ if the rows are a sample; larger than for fixed rows."""
    n, scale = sum(counts), _error_scale(mechanism)
    return [math.sqrt(c / n * (1 - c / n) / n) * scale for c in counts]


def _error_scale(mechanism: RandomisedResponse) -> float:
    """S/|a − b|."""
    return abs(float((mechanism.same + (mechanism.size - 1) * mechanism.other) / (mechanism.same - mechanism.other)))


def frequency_intervals(mechanism: RandomisedResponse, counts: Sequence[int], miss: float) -> list[tuple[float, float]]:
    """Intervals that hold the shares of all values at once, but for a probability `miss`.

    Each end of p is Clopper and Pearson's for miss/2k, at least one count away from the count seen. The number of rows
    that answer y is a sum of independent draws; one count or more beyond its mean its tails are below those of the
    binomial law of the same mean (Hoeffding 1956, Thm 4), so the ends hold for the rows as they are, and for a
    population they are a sample of. Then f = (S·p − b)/(a − b), cut to [0, 1].
    """
    from scipy.special import betainccinv, betaincinv

    n, tail = sum(counts), miss / (2 * mechanism.size)
    bounds = []
    for c in counts:
        low = min(float(betaincinv(c, n - c + 1, tail)), (c - 1) / n) if c else 0.0
        high = max(float(betainccinv(c + 1, n - c, tail)), (c + 1) / n) if c < n else 1.0
        interval = sorted(_frequency(mechanism, p) for p in (low - INTERVAL_MARGIN, high + INTERVAL_MARGIN))
        bounds.append((min(max(interval[0], 0.0), 1.0), min(max(interval[1], 0.0), 1.0)))
    return bounds


def _frequency(mechanism: RandomisedResponse, p: float) -> float:
    a, b = float(mechanism.same), float(mechanism.other)
    return ((a + (mechanism.size - 1) * b) * p - b) / (a - b)


Numbers = npt.NDArray[np.int64]

DEFAULT_CELLS = 24  # along the longer side of a grid that nobody gave
TAIL_SHARE = 0.001  # of the reports beyond each side of such a grid where there is no box
MAX_UNGATHERED_ENTRIES = MAX_KEPT_ENTRIES  # reports times grid points; above, reports are put together for a prior
SQUARE_WIDTH_EPSILON = 0.2  # ε times the width of the squares they are put together in


@dataclass(frozen=True, slots=True, eq=False)
class LocationReading:
    """A reader's posteriors and guesses, in the coordinates of the table.

    `locations` and `weights` are the prior's grid; `estimated` says that its weights come from the reports, and then
    `gap` bounds what is missing to the largest log-likelihood a report. Where there are very many reports, those in a
    square of side 0.2/ε are taken together for that, which moves a log-likelihood by at most 0.2/√2.
    `guesses` has a row for each report; `loss` is what a guess costs on average, by the reader's own beliefs.
    """

    locations: Doubles
    weights: Doubles
    estimated: bool
    rounds: int
    gap: float
    guesses: Doubles
    loss: float


def read_locations(
    metadata: TableMetadata,
    table: str | Path,
    loss: str = "euclidean",
    prior: str | Path | None = None,
    cells: int = DEFAULT_CELLS,
) -> LocationReading:
    """The best guess for each row of an obfuscated table of locations.

    `prior` is a CSV file with columns x, y, weight in the table's coordinates. Without one the weights of a grid over
    the box (or over all but a thousandth of the reports on each side) are estimated from the reports themselves.
    """
    mechanism = metadata.mechanism
    if not isinstance(mechanism, LocationMechanism):
        raise InputError("the table must be of places to remap them, got one of randomised response")
    points, rate = read_reports(mechanism, Path(table), metadata.rows), mechanism.level.epsilon
    if prior is not None:
        numbers, weights = read_prior_file(mechanism, Path(prior))
        deconvolution = DeconvolutionResult(weights, 0, 0.0)
    else:
        numbers = nearest_lattice_points(mechanism, default_grid(mechanism, points, cells))
        width = SQUARE_WIDTH_EPSILON / rate if len(points) * len(numbers) > MAX_UNGATHERED_ENTRIES else 0.0
        gathered_points, counts = gather_reports(points, width) if width else (points, None)
        deconvolution = deconvolve(gathered_points, _lattice_to_plane(mechanism, numbers), rate, counts)
    remap = remap_reports(
        points, LocationPrior(_lattice_to_plane(mechanism, numbers), deconvolution.weights), loss, rate
    )
    coordinates = np.stack([axis.coordinates(numbers[:, k]) for k, axis in enumerate(mechanism.axes())], axis=1)
    mean = float(remap.losses.mean())
    return LocationReading(
        coordinates,
        deconvolution.weights,
        prior is None,
        deconvolution.rounds,
        deconvolution.gap,
        coordinates[remap.guesses],
        mean,
    )


def read_reports(mechanism: LocationMechanism, table: Path, rows: int) -> Doubles:
    """The locations of a table in the plane, in units of the level."""
    pieces = []
    with open_table(table, mechanism.columns, "OUT") as reader:
        for piece in reader.pieces:
            columns = [cell_doubles(normalise_cells(piece.column(name))) for name in mechanism.columns]
            pieces.append(to_plane(mechanism, np.stack(columns, axis=1)))
    points = np.concatenate(pieces) if pieces else np.zeros((0, 2))
    if len(points) != rows or not np.isfinite(points).all():
        raise InputError(
            f"OUT must have the {rows} rows of its note with two finite numbers in each: was it changed?", "out"
        )
    if not rows:
        raise InputError("OUT must have some rows to read, got none", "out")
    return points


def read_prior_file(mechanism: LocationMechanism, path: Path) -> tuple[Numbers, Doubles]:
    """A prior from a file with columns x, y, weight: lattice points, where a row's place is moved too, and weights."""
    names, pieces = ("x", "y", "weight"), []
    with open_table(path, names, "--prior") as reader:
        for piece in reader.pieces:
            pieces.append(np.stack([cell_doubles(normalise_cells(piece.column(name))) for name in names], axis=1))
    rows = np.concatenate(pieces) if pieces else np.zeros((0, 3))
    if not len(rows) or not np.isfinite(rows).all():
        raise InputError("--prior must have rows with three finite numbers x, y, weight each", "prior")
    grid = weighted_grid(rows[:, :2], rows[:, 2])
    return nearest_lattice_points(mechanism, to_plane(mechanism, grid.locations)), grid.weights


def default_grid(mechanism: LocationMechanism, points: Doubles, cells: int) -> Doubles:
    """A grid over the box, or over all but the tails of the reports, in the plane."""
    if mechanism.box is not None:
        left, bottom, right, top = map(float, mechanism.box)
        corners = to_plane(mechanism, np.array([[left, bottom], [right, top]]))
    else:
        corners = np.quantile(points, [TAIL_SHARE, 1 - TAIL_SHARE], axis=0)
    (left, bottom), (right, top) = corners.tolist()
    return rectangle_cells(left, bottom, right, top, cells)


def to_plane(mechanism: LocationMechanism, locations: Doubles) -> Doubles:
    """From the coordinates of the table to units in the plane of the lattice."""
    columns = [
        (locations[:, k] - float(axis.zero)) * _units_per_coordinate(mechanism, axis)
        for k, axis in enumerate(mechanism.axes())
    ]
    return np.stack(columns, axis=1)


def nearest_lattice_points(mechanism: LocationMechanism, points: Doubles) -> Numbers:
    """The lattice points of points of the plane, in the box: where a person there is when noise is added."""
    step = float(mechanism.step)
    columns = [np.clip(np.rint(points[:, k] / step), axis.low, axis.high) for k, axis in enumerate(mechanism.axes())]
    return np.stack(columns, axis=1).astype(np.int64)


def _lattice_to_plane(mechanism: LocationMechanism, numbers: Numbers) -> Doubles:
    """Lattice points as points of the plane."""
    return numbers.astype(np.float64) * float(mechanism.step)


def _units_per_coordinate(mechanism: LocationMechanism, axis: Axis) -> float:
    return float(mechanism.step / axis.size)
