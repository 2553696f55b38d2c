"""Obfuscated places as a reader has them: from a table and its note to beliefs, guesses and a map of all the rows."""

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
TAILS = 0.001  # of the reports beyond each side of such a grid where there is no box
MANY = MAX_KEPT_ENTRIES  # reports times grid points above which reports are put together to estimate a prior
NEARNESS = 0.2  # ε times the width of the squares they are put together in


@dataclass(frozen=True, slots=True, eq=False)
class LocationReading:
    """A reader's beliefs and guesses, in the coordinates of the table.

    `places` and `weights` are the prior's grid; `estimated` says that its weights come from the reports, and then `gap`
    bounds what is missing to the largest log-likelihood a report. Where there are very many reports, those in a square
    of side 0.2/ε are taken together for that, which moves a log-likelihood by at most 0.2/√2.
    `guesses` has a row for each report; `loss` is what a guess costs on average, by the reader's own beliefs.
    """

    places: Doubles
    weights: Doubles
    estimated: bool
    rounds: int
    gap: float
    guesses: Doubles
    loss: float


def read_locations(
    record: TableMetadata,
    table: str | Path,
    loss: str = "euclidean",
    prior: str | Path | None = None,
    cells: int = DEFAULT_CELLS,
) -> LocationReading:
    """The best guess for each row of an obfuscated table of places.

    `prior` is a CSV file with columns x, y, weight in the table's coordinates. Without one the weights of a grid over
    the box (or over all but a thousandth of the reports on each side) are estimated from the reports themselves.
    """
    law = record.mechanism
    if not isinstance(law, LocationMechanism):
        raise InputError("the table must be of places to remap them, got one of randomised response")
    points, rate = reports(law, Path(table), record.rows), law.level.epsilon
    if prior is not None:
        numbers, weights = prior_file(law, Path(prior))
        found = DeconvolutionResult(weights, 0, 0.0)
    else:
        numbers = snapped(law, default_places(law, points, cells))
        width = NEARNESS / rate if len(points) * len(numbers) > MANY else 0.0
        some, counts = gather_reports(points, width) if width else (points, None)
        found = deconvolve(some, _placed(law, numbers), rate, counts)
    best = remap_reports(points, LocationPrior(_placed(law, numbers), found.weights), loss, rate)
    shown = np.stack([axis.coordinates(numbers[:, k]) for k, axis in enumerate(law.axes())], axis=1)
    mean = float(best.losses.mean())
    return LocationReading(shown, found.weights, prior is None, found.rounds, found.gap, shown[best.guesses], mean)


def reports(law: LocationMechanism, table: Path, rows: int) -> Doubles:
    """The places of a table in the plane, in units of the level."""
    parts = []
    with open_table(table, law.columns, "OUT") as reader:
        for piece in reader.pieces:
            columns = [cell_doubles(normalise_cells(piece.column(name))) for name in law.columns]
            parts.append(plane(law, np.stack(columns, axis=1)))
    points = np.concatenate(parts) if parts else np.zeros((0, 2))
    if len(points) != rows or not np.isfinite(points).all():
        raise InputError(f"OUT must have the {rows} rows of its note with two finite numbers in each: was it changed?")
    if not rows:
        raise InputError("OUT must have some rows to read, got none")
    return points


def prior_file(law: LocationMechanism, path: Path) -> tuple[Numbers, Doubles]:
    """A prior from a file with columns x, y, weight: lattice points, where a row's place is moved too, and weights."""
    names, parts = ("x", "y", "weight"), []
    with open_table(path, names, "--prior") as reader:
        for piece in reader.pieces:
            parts.append(np.stack([cell_doubles(normalise_cells(piece.column(name))) for name in names], axis=1))
    rows = np.concatenate(parts) if parts else np.zeros((0, 3))
    if not len(rows) or not np.isfinite(rows).all():
        raise InputError("--prior must have rows with three finite numbers x, y, weight each")
    grid = weighted_grid(rows[:, :2], rows[:, 2])
    return snapped(law, plane(law, grid.places)), grid.weights


def default_places(law: LocationMechanism, points: Doubles, cells: int) -> Doubles:
    """A grid over the box, or over all but the tails of the reports, in the plane."""
    if law.box is not None:
        left, bottom, right, top = map(float, law.box)
        ends = plane(law, np.array([[left, bottom], [right, top]]))
    else:
        ends = np.quantile(points, [TAILS, 1 - TAILS], axis=0)
    (left, bottom), (right, top) = ends.tolist()
    return rectangle_cells(left, bottom, right, top, cells)


def plane(law: LocationMechanism, places: Doubles) -> Doubles:
    """From the coordinates of the table to units in the plane of the lattice."""
    columns = [(places[:, k] - float(axis.zero)) * _scale(law, axis) for k, axis in enumerate(law.axes())]
    return np.stack(columns, axis=1)


def snapped(law: LocationMechanism, points: Doubles) -> Numbers:
    """The lattice points of points of the plane, in the box: where a person there is when noise is added."""
    step = float(law.step)
    columns = [np.clip(np.rint(points[:, k] / step), axis.low, axis.high) for k, axis in enumerate(law.axes())]
    return np.stack(columns, axis=1).astype(np.int64)


def _placed(law: LocationMechanism, numbers: Numbers) -> Doubles:
    """Lattice points as points of the plane."""
    return numbers.astype(np.float64) * float(law.step)


def _scale(law: LocationMechanism, axis: Axis) -> float:
    return float(law.step / axis.size)
