"""Estimate locations from obfuscated reports: posteriors over a grid by Bayes' rule, and the best guess for a loss.

A person at the grid's point g is reported at y with probability ∝ e^(−ε·d(y, g)), so after the report the belief in g
is ∝ π_g·e^(−ε·d(y, g)), π the prior. The guess is the grid's point w with the least Σ_g belief_g·ℓ(w, g). A prior that
nobody knows is estimated from all the reports together: the weights that make them most likely, by EM.

Floats, in log space, in chunks: memory does not grow with the number of reports times the number of grid points.
Beliefs are single floats, so that losses are good to about six digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

CHUNK_ENTRIES = 1 << 20  # of a matrix of reports by grid points that is made at a time
MAX_KEPT_ENTRIES = 1 << 25  # entries that are kept from one round of EM to the next rather than made again
LOSSES = ("euclidean", "squared", "binary")
MAX_GRID_POINTS = 20_000  # of a grid
MAX_EM_ROUNDS, EM_GAP = 200, 1e-3
MIN_LIKELIHOOD = 1e-300  # in place of a likelihood that underflows


@dataclass(frozen=True, slots=True, eq=False)
class LocationPrior:
    """Locations as rows (x, y), in the unit that ε is for, and their weights, which sum to 1."""

    locations: Doubles
    weights: Doubles

    def __post_init__(self) -> None:
        """Check the shape and the weights."""
        count = len(self.weights)
        if not 1 <= count <= MAX_GRID_POINTS or self.locations.shape != (count, 2) or self.weights.ndim != 1:
            raise InputError(f"a grid must have from 1 to {MAX_GRID_POINTS} places x, y with a weight each")
        if not np.isfinite(self.locations).all() or not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise InputError("a grid must have finite places and weights >= 0")
        if not np.isclose(self.weights.sum(), 1.0):
            raise InputError("the weights of a grid must sum to 1")


@dataclass(frozen=True, slots=True, eq=False)
class RemapResult:
    """For each report the number of the grid's point to guess, and what that guess costs on average."""

    guesses: npt.NDArray[np.intp]
    losses: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class DeconvolutionResult:
    """Estimated weights, the rounds it took, and a bound on what is missing to the largest log-likelihood a report."""

    weights: Doubles
    rounds: int
    gap: float


def weighted_grid(locations: npt.ArrayLike, weights: npt.ArrayLike) -> LocationPrior:
    """A grid with these weights, scaled to sum to 1.

    >>> weighted_grid([[0, 0], [1, 0]], [1, 3]).weights.tolist()
    [0.25, 0.75]
    """
    mass = np.asarray(weights, dtype=np.float64)
    total = float(mass.sum()) if mass.size and np.isfinite(mass).all() else 0.0
    if not total > 0 or not np.isfinite(total):
        raise InputError("the weights of a grid must be finite, none below 0, and some above")
    return LocationPrior(np.asarray(locations, dtype=np.float64), mass / total)


def rectangle_cells(left: float, bottom: float, right: float, top: float, cells: int) -> Doubles:
    """The middles of equal cells on a rectangle, `cells` of them along its longer side, rows from the bottom."""
    width, height = right - left, top - bottom
    size = max(width, height) / cells if max(width, height) > 0 else 1.0
    column_count, row_count = (max(1, round(length / size)) for length in (width, height))
    xs = left + width * (np.arange(column_count) + 0.5) / column_count
    ys = bottom + height * (np.arange(row_count) + 0.5) / row_count
    return np.stack([np.tile(xs, row_count), np.repeat(ys, column_count)], axis=1)


def distances(points: Doubles, locations: Doubles) -> Doubles:
    """The Euclidean distance of each point from each location, by √(dx² + dy²): coordinates are far from overflow."""
    squares: Doubles = points[:, :1] - locations[:, 0]
    y_squares: Doubles = points[:, 1:] - locations[:, 1]
    squares *= squares
    y_squares *= y_squares
    squares += y_squares
    return np.sqrt(squares, out=squares)


def likelihoods(points: Doubles, locations: Doubles, epsilon: float) -> Doubles:
    """e^(−ε·d) of each report from each location, over the largest of its row: that factor cancels in a posterior."""
    logs = distances(points, locations)
    logs -= logs.min(axis=1, keepdims=True)
    logs *= -epsilon
    ratios: Doubles = np.exp(logs, out=logs)
    return ratios


def remap_reports(points: npt.ArrayLike, prior: LocationPrior, loss: str, epsilon: float) -> RemapResult:
    """The best guess for each report under a loss: `euclidean` (distance), `squared` (its square), `binary` (a miss).

    >>> grid = weighted_grid([[0, 0], [1, 0]], [1, 3])
    >>> remap_reports([[0.2, 0.0], [-3.0, 0.0]], grid, "binary", 1.0).guesses.tolist()
    [1, 1]
    """
    if loss not in LOSSES:
        raise InputError(f'loss must be one of {", ".join(LOSSES)}, got "{loss[:40]}"', "loss")
    reports = check_points(points)
    costs = _costs(prior.locations, loss).astype(np.float32)
    guesses, losses = np.zeros(len(reports), dtype=np.intp), np.zeros(len(reports))
    for rows in chunks(len(reports), len(prior.weights)):
        expected = beliefs(reports[rows], prior, epsilon) @ costs
        guesses[rows] = expected.argmin(axis=1)
        losses[rows] = expected.min(axis=1)
    return RemapResult(guesses, losses)


def beliefs(points: Doubles, prior: LocationPrior, epsilon: float) -> Singles:
    """Bayes' rule: the posterior over the grid's points given each report."""
    logs = distances(points, prior.locations)
    logs *= -epsilon
    with np.errstate(divide="ignore"):
        logs += np.log(prior.weights)
    logs -= logs.max(axis=1, keepdims=True)
    mass: Singles = np.exp(logs.astype(np.float32))
    mass /= mass.sum(axis=1, keepdims=True)
    return mass


def _costs(locations: Doubles, loss: str) -> Doubles:
    """ℓ(w, g), a row for each g."""
    if loss == "binary":
        return 1.0 - np.eye(len(locations))
    costs = distances(locations, locations)
    return costs if loss == "euclidean" else costs**2


def deconvolve(
    points: npt.ArrayLike,
    locations: Doubles,
    epsilon: float,
    counts: npt.ArrayLike | None = None,
    rounds: int = MAX_EM_ROUNDS,
    gap: float = EM_GAP,
) -> DeconvolutionResult:
    """The weights π on locations under which the reports are most likely, from equal weights on, by EM.

    A round multiplies π_g by r_g = mean over the reports of K_g/Σ_h π_h·K_h, K = e^(−ε·d). The log-likelihood never
    falls, and for any other weights it is larger by at most log max_g r_g a report (Jensen; the problem is concave):
    rounds end when that is below `gap`. `counts` says how many reports each point stands for.
    """
    reports = check_points(points)
    mass = np.ones(len(reports)) if counts is None else np.asarray(counts, dtype=np.float64)
    if not len(reports) or not mass.sum() > 0:
        raise InputError("weights can be estimated from some reports, got none")
    mass = mass / mass.sum()
    weights, remaining_gap, round_count = np.full(len(locations), 1.0 / len(locations)), np.inf, 0
    chunked_likelihoods = _Likelihoods(reports, locations, epsilon)
    while round_count < rounds and remaining_gap > gap:
        ratios = np.zeros(len(locations))
        for rows, likelihood in chunked_likelihoods:
            ratios += (mass[rows] / np.maximum(likelihood @ weights, MIN_LIKELIHOOD)) @ likelihood
        remaining_gap, round_count = float(np.log(ratios.max())), round_count + 1
        if remaining_gap > gap:
            weights = weights * ratios
            weights /= weights.sum()
    return DeconvolutionResult(weights, round_count, max(remaining_gap, 0.0))


@dataclass(slots=True)
class _Likelihoods:
    """The matrix K in chunks: kept where it is small enough, made again each round where it is not."""

    points: Doubles
    locations: Doubles
    epsilon: float
    cached: list[Doubles] | None = None

    def __iter__(self) -> Iterator[tuple[slice, Doubles]]:
        slices = chunks(len(self.points), len(self.locations))
        if self.cached is None and len(self.points) * len(self.locations) <= MAX_KEPT_ENTRIES:
            self.cached = [likelihoods(self.points[rows], self.locations, self.epsilon) for rows in slices]
        for k, rows in enumerate(slices):
            chunk = self.cached[k] if self.cached else likelihoods(self.points[rows], self.locations, self.epsilon)
            yield rows, chunk


def gather_reports(points: npt.ArrayLike, width: float) -> tuple[Doubles, npt.NDArray[np.int64]]:
    """Reports put together: the middles of the squares of this width that hold some, and how many each holds.

    A report moves by at most width/√2, so each log-likelihood by at most ε·width/√2.
    """
    squares = np.floor(check_points(points) / width)
    low = squares.min(axis=0)
    column_count = squares[:, 0].max() - low[0] + 1
    if not column_count * (squares[:, 1].max() - low[1] + 1) < 2.0**53:
        raise InputError("reports must lie within 2^26 widths of each other to be put together", "reports")
    square_ids, counts = np.unique(((squares - low) @ [1.0, column_count]).astype(np.int64), return_counts=True)
    corners = np.stack([square_ids % int(column_count), square_ids // int(column_count)], axis=1)
    return (corners + low + 0.5) * width, counts.astype(np.int64)


def check_points(points: npt.ArrayLike) -> Doubles:
    """Reports as rows (x, y) of finite doubles."""
    reports = np.asarray(points, dtype=np.float64)
    if reports.ndim != 2 or reports.shape[1] != 2 or not np.isfinite(reports).all():
        raise InputError("points must be rows of two finite numbers", "points")
    return reports


def chunks(rows: int, columns: int) -> list[slice]:
    """Slices of rows so that a chunk has a bounded number of entries."""
    step = max(1, CHUNK_ENTRIES // max(columns, 1))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]
