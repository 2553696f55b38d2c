"""Where to draw the points of a space: at their coordinates, or so that their distances are about kept.

Points of a road network or of a table of distances have no coordinates. Classical multidimensional scaling gives them
some: with J = I − 1/n and B = −½·J·D²·J, the two greatest eigenvalues of B and their eigenvectors are the plane in
which squared distances are kept best (Torgerson 1952).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from utmost.charts.places import PlaceMap
from utmost.exact.input_text import escape_control

if TYPE_CHECKING:
    from utmost.channel import Channel
    from utmost.spaces import Space

Positions: TypeAlias = tuple[tuple[float, float], ...]

SCALED_NOTE = "Places stand about as far apart as they are."
MAX_MAP_NAME_CHARS = 40
MAX_FULL_MAPS = 6  # places up to which each has its map


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions, x to the right and y upwards, and what to say of them."""

    positions: Positions
    note: str = ""


def place_layout(space: Space) -> Layout | None:
    """Where the points stand; None for spaces whose points are no places, such as counts."""
    from utmost.spaces.shape import TableShape

    positions = space.map_positions
    if positions is not None:
        return Layout(positions)
    return Layout(scaled_positions(space), SCALED_NOTE) if isinstance(space.shape, TableShape) else None


def scaled_positions(space: Space) -> Positions:
    """Points of the plane whose distances are about those of the space."""
    size = len(space)
    squares = np.array([float(d) for d in space.values])[space.codes] ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    axes = np.zeros((2, size))
    for k, value, vector in zip(range(min(2, size)), values[::-1], vectors.T[::-1], strict=False):
        side = 1.0 if vector[np.abs(vector).argmax()] > 0 else -1.0  # so that it is the same on every machine
        axes[k] = side * vector * np.sqrt(max(value, 0.0))
    return tuple((float(x), float(y)) for x, y in axes.T)


def reports_places(channel: Channel, space: Space) -> bool:
    """Are all answers of a channel points of the space."""
    return {str(label) for label in channel.outputs} <= {str(label) for label in space.labels}


def answer_chances(channel: Channel, space: Space, truth: int) -> tuple[float, ...]:
    """Pr[reported | true place] for each point; 0 where it is never reported."""
    chances = dict(zip(map(str, channel.outputs), map(float, channel.rows[truth]), strict=True))
    return tuple(chances.get(str(label), 0.0) for label in space.labels)


def map_for(channel: Channel, space: Space, truth: int) -> PlaceMap:
    """The map of what a channel reports from one place, under the name of that place."""
    name = escape_control(str(space.labels[truth])[:MAX_MAP_NAME_CHARS], frozenset())
    return PlaceMap(name, answer_chances(channel, space, truth), truth)


def shown_places(space: Space) -> list[int]:
    """Places to draw a map for: each of a few; else the most central, the one farthest from it, and far from both."""
    size = len(space)
    if size <= MAX_FULL_MAPS:
        return list(range(size))
    distances = np.array([float(d) for d in space.values])[space.codes]
    centre = int(distances.sum(axis=1).argmin())
    far = int(distances[centre].argmax())
    other = int(np.minimum(distances[centre], distances[far]).argmax())
    return [centre, far, other]
