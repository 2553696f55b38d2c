"""Locations in the local model: each row's place gets planar Laplace noise on a lattice of its own.

A place is moved to the nearest point of the lattice, then to the nearest point of the public box, and then noise is
added with Pr[(i, j)] ∝ e^(−ε·s·√(i²+j²)), s the step. Two places at distance d are at most d + s√2 apart on the
lattice, and moving both into a box brings them no farther apart, so any answer is at most e^(ε·(d + s√2)) times as
likely under one as under the other. The answer itself is not clamped to the box: it is more informative as it is,
and its law is the one above.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level, Number, decimal_above, power
from utmost.mechanisms.planar import PlanarLaplace, planar
from utmost.noise.entropy import EntropySource
from utmost.publish.local.coordinates import (
    Axis,
    CoordinateSystem,
    Corners,
    DegreeCoordinates,
    Pair,
    PlaneCoordinates,
    check_box,
    check_unit,
    lattice_axes,
    lattice_positions,
)

if TYPE_CHECKING:
    import pyarrow as pa

REFUSE, DROP = "refuse", "drop"


@dataclass(frozen=True, slots=True)
class LocationMechanism:
    """Columns x and y of places, private at `level` for each `unit` of distance, on a lattice of `step` units.

    `box` is left, bottom, right, top in the coordinates of the columns. `missing` says what a row without a place is:
    refused with the whole file, dropped, or taken to be at a public place.
    """

    x: str
    y: str
    level: Level
    unit: str
    step: Fraction
    frame: CoordinateSystem
    box: Corners | None = None
    missing: str | Pair = REFUSE

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn, before anything is read."""
        check_unit(self.unit, "--unit")
        if isinstance(self.frame, PlaneCoordinates):
            check_unit(self.frame.unit, "--coordinates")
        elif self.box is None:
            raise InputError(
                "--box must be given with --degrees, got none: it bounds what the projection distorts", "box"
            )
        if self.box is not None:
            check_box(self.box, isinstance(self.frame, DegreeCoordinates))
        if self.x == self.y:
            raise InputError("--x and --y must be two columns, got the same one twice", "x")
        if isinstance(self.missing, str) and self.missing not in (REFUSE, DROP):
            raise InputError("--missing must be refuse, drop or the coordinates X,Y of a public place", "missing")
        planar(self.step, self.level)
        self.axes()

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read and written."""
        return self.x, self.y

    @property
    def noise(self) -> PlanarLaplace:
        """The mechanism that runs, on lattice numbers."""
        return planar(self.step, self.level)

    @property
    def spent(self) -> str:
        """The privacy loss of a row for the person it is about."""
        return f"{self.level} per {self.unit}"

    @property
    def rounding(self) -> Number:
        """s√2: how much farther apart, in units, the lattice can put two places."""
        return self.step * power(2, Fraction(1, 2))

    def axes(self) -> tuple[Axis, Axis]:
        """The lattice over the two columns."""
        return lattice_axes(self.frame, self.step, self.unit, self.box)

    def kinds(self, file_types: dict[str, pa.DataType], as_text: bool) -> dict[str, pa.DataType]:
        """The types of the columns that are written: doubles."""
        import pyarrow as pa

        return {name: pa.float64() for name in self.columns}

    def answer(
        self, cells: list[pa.Array], kinds: list[pa.DataType], source: EntropySource | None
    ) -> tuple[list[pa.Array], npt.NDArray[np.bool_] | None]:
        """The noisy columns of some rows, and which rows stay where some are dropped.

        The noise of a row is drawn before its place is added. Lattice numbers become doubles afterwards.
        """
        import pyarrow as pa

        points, kept_rows = self.points(cells)
        noisy_points: npt.NDArray[Any] = self.noise.draw(points, source)
        coordinates = [axis.coordinates(noisy_points[:, k]) for k, axis in enumerate(self.axes())]
        return [pa.array(column, type=kind) for column, kind in zip(coordinates, kinds, strict=True)], kept_rows

    def points(self, cells: list[pa.Array]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_] | None]:
        """The lattice points of the rows that stay, as (i, j) each; the mask of those rows where some do not."""
        columns = [lattice_positions(column, axis) for column, axis in zip(cells, self.axes(), strict=True)]
        points, is_missing = np.stack([numbers for numbers, _ in columns], axis=1), columns[0][1] | columns[1][1]
        if not is_missing.any():
            return points, None
        if self.missing == REFUSE:
            raise InputError(
                f"{self.x} and {self.y} must be finite numbers in every row, got a row where one is not",
                hint="say --missing drop, or --missing X,Y for a public place that stands in",
            )
        if self.missing == DROP:
            return points[~is_missing], ~is_missing
        points[is_missing] = self.stand_in
        return points, None

    @property
    def stand_in(self) -> tuple[int, ...]:
        """The lattice point of the public place that stands in for a missing one."""
        if isinstance(self.missing, str):
            raise InputError("no public place stands in for a missing one")
        return tuple(axis.position(c) for axis, c in zip(self.axes(), self.missing, strict=True))

    def guarantee(self) -> dict[str, Any]:
        """The guarantee for each row, in words and exact numbers."""
        facts: dict[str, Any] = {"per": self.unit, "rounding": str(self.rounding)}
        if isinstance(self.frame, DegreeCoordinates) and self.box is not None:
            facts |= {"stretch": str(self.frame.stretch(self.box)), "shrink": str(self.frame.shrink(self.box))}
        return facts | {"words": " ".join([*self._promise_text(), *self._projection_text(), self._missing_text()])}

    def _promise_text(self) -> list[str]:
        bound = decimal_above(self.rounding)
        level = self.spent
        plane = "in the projected plane, " if isinstance(self.frame, DegreeCoordinates) else ""
        return [
            f"Two places {plane}d {self.unit} apart give any answer with probabilities within a factor e^(ε·(d + r)) "
            f"of each other, {level}, r = {self.rounding} {self.unit} (at most {bound}), for each row by itself, "
            "whatever is known of the other rows and of whose row it is.",
            f"r is what moving places to the nearest point of the lattice of step {self.step} {self.unit} costs.",
        ]

    def _projection_text(self) -> list[str]:
        if not isinstance(self.frame, DegreeCoordinates) or self.box is None:
            return []
        stretch, shrink = self.frame.stretch(self.box), self.frame.shrink(self.box)
        return [
            "For two places inside the box at great-circle distance D on a sphere, d <= "
            f"{decimal_above(stretch)}·D, and "
            f"D <= {decimal_above(shrink)}·d; places outside it are moved to its edge in the projected plane."
        ]

    def _missing_text(self) -> str:
        if self.missing == DROP:
            return "Rows without a place were dropped: that a row had none is not hidden."
        if self.missing == REFUSE:
            return "The file exists because every row had a place: that is not hidden."
        return "A row without a place counts as one at a public place, and has the same promise."
