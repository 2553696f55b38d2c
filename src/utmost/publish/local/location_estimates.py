"""Read a table of obfuscated locations: posteriors, guesses and a map of all the rows, from the table and its note."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.publish.local.coordinates import Axis
from utmost.publish.local.lattice_rounding import cell_doubles, normalise_cells
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
