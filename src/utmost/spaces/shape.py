"""Shapes of spaces: what is known of points and distances without a table, and distances given as a table."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import Number
from utmost.spaces.distance_order import IntArray, code_distances

if TYPE_CHECKING:
    from utmost.spaces.space import Space

Label: TypeAlias = str | int
Pair: TypeAlias = tuple[int, int]
Profile: TypeAlias = tuple[tuple[Number, int], ...]
Coordinates: TypeAlias = tuple[tuple[Number, Number], ...]
MapPositions: TypeAlias = tuple[tuple[float, float], ...]
MAX_TABLE_POINTS = 4096  # points of a space whose distances are written out
TABLE_LIMIT_TEXT = (
    f"a table has n² distances and at most {MAX_TABLE_POINTS} points; named spaces such as cycle:100000 may be larger"
)
MAX_PROFILE_POINTS = 1 << 20  # distinct distances of a profile


@dataclass(frozen=True, slots=True, eq=False)
class SymmetryGenerators:
    """Some symmetries that generate a group, as permutations of the positions, and the group's order if it is known."""

    permutations: tuple[IntArray, ...]
    order: int | None


class Shape(ABC):
    """Points 0 … size−1 and what is known of them without a table.

    Two pairs with the same `keys` are equally far apart, at the distance `value(key)`; two keys may mean one distance.
    """

    size_advice = "take fewer points"  # what to do when the table would be too large

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of points."""

    @abstractmethod
    def label(self, position: int) -> Label:
        """The name of a point."""

    @abstractmethod
    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """A whole number ≥ 0 for each pair; `x` and `other` are positions and broadcast."""

    @abstractmethod
    def value(self, key: int) -> Number:
        """The distance that a key means."""

    def distance(self, x: int, other: int) -> Number:
        """d(x, other)."""
        return self.value(int(self.keys(np.int64(x), np.int64(other))))  # type: ignore[arg-type]

    def edges(self) -> IntArray | None:
        """The pairs x < x′ without a point between them, where a table is not needed for that, else None."""
        return None

    def profile(self) -> Profile | None:
        """The number of points at each distance, where it is the same from every point, else None."""
        return None

    def symmetries(self) -> SymmetryGenerators | None:
        """Symmetries in closed form, else None."""
        return None

    def axes(self) -> list[Space]:
        """Spaces whose product it is, where distances add; positions count through the last first. Else none."""
        return []

    def line_step(self) -> Number | None:
        """The distance of neighbours on a line of equal steps, else None."""
        return None

    @property
    def grid_size(self) -> tuple[int, int] | None:
        """The rows and columns of a grid of places, else None."""
        return None

    def coordinates(self) -> Coordinates | None:
        """Where each point stands in the plane, else None."""
        return None

    def map_positions(self) -> MapPositions | None:
        """Where to draw each point, x to the right and y upwards; None where its points are no places."""
        places = self.coordinates()
        return None if places is None else tuple((float(x), float(y)) for x, y in places)

    @property
    def is_on_globe(self) -> bool:
        """Are the coordinates latitudes and longitudes, in degrees."""
        return False

    @property
    def remark(self) -> str:
        """What to know about how the distances were read; empty where they are as given."""
        return ""


@dataclass(frozen=True, eq=False)
class TableShape(Shape):
    """Distances given as a table; `pairs` are its edges. `note` is its remark, `places` where its points stand."""

    names: tuple[Label, ...]
    matrix: npt.NDArray[np.object_]
    pairs: IntArray
    note: str = ""
    places: Coordinates | None = None
    on_globe: bool = False

    @classmethod
    def from_codes(
        cls,
        names: tuple[Label, ...],
        values: tuple[Number, ...],
        codes: IntArray,
        pairs: IntArray,
        *,
        note: str = "",
        places: Coordinates | None = None,
        on_globe: bool = False,
    ) -> TableShape:
        """From the distinct distances, increasing, and which of them each entry is."""
        shape = cls(names, freeze_array(object_array(values)[codes]), pairs, note, places, on_globe)
        codes.flags.writeable = False
        shape.__dict__["values_and_codes"] = values, codes
        return shape

    @property
    def size(self) -> int:
        """The number of labels."""
        return len(self.names)

    def label(self, position: int) -> Label:
        """As given."""
        return self.names[position]

    @cached_property
    def values_and_codes(self) -> tuple[tuple[Number, ...], IntArray]:
        """The distinct distances, and which of them each entry is."""
        return code_distances(self.matrix)

    def keys(self, x: IntArray, other: IntArray) -> IntArray:
        """Which of the distinct distances."""
        codes: IntArray = self.values_and_codes[1][x, other]
        return codes

    def value(self, key: int) -> Number:
        """The distinct distances in increasing order."""
        return self.values_and_codes[0][key]

    def distance(self, x: int, other: int) -> Number:
        """An entry."""
        entry: Number = self.matrix[x, other]
        return entry

    def edges(self) -> IntArray:
        """As given."""
        return self.pairs

    def coordinates(self) -> Coordinates | None:
        """As given."""
        return self.places

    def map_positions(self) -> MapPositions | None:
        """As given; on the globe north is up, and longitudes are shortened by the cosine of the middle latitude."""
        if self.places is None or not self.on_globe:
            return super().map_positions()
        degrees = [(float(latitude), float(longitude)) for latitude, longitude in self.places]
        latitudes = [latitude for latitude, _ in degrees]
        shortening = math.cos(math.radians((min(latitudes) + max(latitudes)) / 2))
        return tuple((longitude * shortening, latitude) for latitude, longitude in degrees)

    @property
    def is_on_globe(self) -> bool:
        """As given."""
        return self.on_globe

    @property
    def remark(self) -> str:
        """As given."""
        return self.note


def freeze_array(matrix: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """The same array, closed for writing."""
    matrix.flags.writeable = False
    return matrix


def object_array(values: Iterable[Number]) -> npt.NDArray[np.object_]:
    """Exact numbers as an array of objects."""
    items = list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def point_count_text(size: int) -> str:
    """A number of points, in words that stay short."""
    return str(size) if size < 10**15 else f"about 10^{math.floor(math.log10(size))}"


def label_text(label: object) -> str:
    """A label, in words that stay short."""
    text = str(label)
    return text if len(text) <= 40 else text[:37] + "..."
