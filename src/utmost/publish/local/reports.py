"""Obfuscated places as a reader has them: from a table and its note to beliefs, guesses and a map of all the rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.publish.local.cells import doubles, readable
from utmost.publish.local.coordinates import Axis
from utmost.publish.local.files import opened
from utmost.publish.local.places import Places
from utmost.publish.local.record import Record
from utmost.publish.local.remap import (
    HELD,
    Deconvolved,
    Doubles,
    Grid,
    deconvolved,
    gathered,
    rectangle,
    remapped,
    weighted,
)

Numbers = npt.NDArray[np.int64]

CELLS = 24  # along the longer side of a grid that nobody gave
TAILS = 0.001  # of the reports beyond each side of such a grid where there is no box
MANY = HELD  # reports times grid points above which reports are put together to estimate a prior
NEARNESS = 0.2  # ε times the width of the squares they are put together in


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
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


def read_places(
    record: Record, table: str | Path, loss: str = "euclidean", prior: str | Path | None = None, cells: int = CELLS
) -> Reading:
    """The best guess for each row of an obfuscated table of places.

    `prior` is a CSV file with columns x, y, weight in the table's coordinates. Without one the weights of a grid over
    the box (or over all but a thousandth of the reports on each side) are estimated from the reports themselves.
    """
    law = record.mechanism
    if not isinstance(law, Places):
        raise InputError("the table must be of places to remap them, got one of randomised response")
    points, rate = reports(law, Path(table), record.rows), law.level.epsilon
    if prior is not None:
        numbers, weights = prior_file(law, Path(prior))
        found = Deconvolved(weights, 0, 0.0)
    else:
        numbers = snapped(law, default_places(law, points, cells))
        width = NEARNESS / rate if len(points) * len(numbers) > MANY else 0.0
        some, counts = gathered(points, width) if width else (points, None)
        found = deconvolved(some, _placed(law, numbers), rate, counts)
    best = remapped(points, Grid(_placed(law, numbers), found.weights), loss, rate)
    shown = np.stack([axis.coordinates(numbers[:, k]) for k, axis in enumerate(law.axes())], axis=1)
    mean = float(best.losses.mean())
    return Reading(shown, found.weights, prior is None, found.rounds, found.gap, shown[best.guesses], mean)


def reports(law: Places, table: Path, rows: int) -> Doubles:
    """The places of a table in the plane, in units of the level."""
    parts = []
    with opened(table, law.columns, "OUT") as reader:
        for piece in reader.pieces:
            columns = [doubles(readable(piece.column(name))) for name in law.columns]
            parts.append(plane(law, np.stack(columns, axis=1)))
    points = np.concatenate(parts) if parts else np.zeros((0, 2))
    if len(points) != rows or not np.isfinite(points).all():
        raise InputError(f"OUT must have the {rows} rows of its note with two finite numbers in each: was it changed?")
    if not rows:
        raise InputError("OUT must have some rows to read, got none")
    return points


def prior_file(law: Places, path: Path) -> tuple[Numbers, Doubles]:
    """A prior from a file with columns x, y, weight: lattice points, where a row's place is moved too, and weights."""
    names, parts = ("x", "y", "weight"), []
    with opened(path, names, "--prior") as reader:
        for piece in reader.pieces:
            parts.append(np.stack([doubles(readable(piece.column(name))) for name in names], axis=1))
    rows = np.concatenate(parts) if parts else np.zeros((0, 3))
    if not len(rows) or not np.isfinite(rows).all():
        raise InputError("--prior must have rows with three finite numbers x, y, weight each")
    grid = weighted(rows[:, :2], rows[:, 2])
    return snapped(law, plane(law, grid.places)), grid.weights


def default_places(law: Places, points: Doubles, cells: int) -> Doubles:
    """A grid over the box, or over all but the tails of the reports, in the plane."""
    if law.box is not None:
        left, bottom, right, top = map(float, law.box)
        ends = plane(law, np.array([[left, bottom], [right, top]]))
    else:
        ends = np.quantile(points, [TAILS, 1 - TAILS], axis=0)
    (left, bottom), (right, top) = ends.tolist()
    return rectangle(left, bottom, right, top, cells)


def plane(law: Places, places: Doubles) -> Doubles:
    """From the coordinates of the table to units in the plane of the lattice."""
    columns = [(places[:, k] - float(axis.zero)) * _scale(law, axis) for k, axis in enumerate(law.axes())]
    return np.stack(columns, axis=1)


def snapped(law: Places, points: Doubles) -> Numbers:
    """The lattice points of points of the plane, in the box: where a person there is when noise is added."""
    step = float(law.step)
    columns = [np.clip(np.rint(points[:, k] / step), axis.low, axis.high) for k, axis in enumerate(law.axes())]
    return np.stack(columns, axis=1).astype(np.int64)


def _placed(law: Places, numbers: Numbers) -> Doubles:
    """Lattice points as points of the plane."""
    return numbers.astype(np.float64) * float(law.step)


def _scale(law: Places, axis: Axis) -> float:
    return float(law.step / axis.size)
