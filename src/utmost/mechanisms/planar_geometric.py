"""The planar geometric mechanism: planar Laplace noise between the places of a grid, as a mechanism of its own.

The answer is the place nearest to the true one plus planar Laplace noise on the lattice (`planar_grid`). The matrix is
in fractions, private at its level, and answers are drawn from just these fractions: what is recomputed from the matrix
is what runs. libqif has it under the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from utmost.channel import Channel, least_epsilon
from utmost.channel.channel import Label
from utmost.errors import InputError
from utmost.exact import Level, integer, rational, sign
from utmost.mechanisms.mechanism_kind import BuiltMechanism, MechanismKind, Option, require_inner_level
from utmost.mechanisms.planar_grid import planar_on
from utmost.noise import check_level
from utmost.noise.entropy import EntropySource
from utmost.noise.row_sampling import ChannelSampler, channel_sampler, draw_channel
from utmost.spaces import Space, grid, scale_space

MAX_PLACES = 1024  # of a grid whose matrix is written out


@dataclass(frozen=True, eq=False)
class PlanarGeometric:
    """Planar Laplace noise between places that fill a grid, each answer the nearest place."""

    space: Space
    level: Level

    def channel(self) -> Channel:
        """Its matrix, in fractions; ε·d-private, d the distance of places."""
        return self._channel

    def draw(self, inputs: Sequence[Label], source: EntropySource | None = None) -> list[Label]:
        """One exact draw for each true place: the label of the place that is reported."""
        positions = {str(label): k for k, label in enumerate(self.space.labels)}
        if not all(str(label) in positions for label in inputs):
            raise InputError("input must be places of the grid, got something else", "input")
        places = [positions[str(label)] for label in inputs]
        return [self.space.labels[y] for y in draw_channel(self._sampler, places, source).tolist()]

    @cached_property
    def _channel(self) -> Channel:
        return planar_on(self.space, self.level)

    @cached_property
    def _sampler(self) -> ChannelSampler:
        return channel_sampler(self._channel)


def planar_geometric(space: Space, level: Level) -> PlanarGeometric:
    """The planar geometric mechanism between places that fill a grid at Euclidean distances.

    >>> from utmost.exact import epsilon
    >>> from utmost.spaces import grid
    >>> mechanism = planar_geometric(grid(3, 3), epsilon(1))
    >>> f"{float(mechanism.channel().rows[0, 0]):.6f}"
    '0.454691'
    >>> set(mechanism.draw(["1,1"] * 20)) <= set(grid(3, 3).labels)
    True
    """
    if not isinstance(space, Space):
        raise InputError(f"space must be a space such as grid(3, 3), got {type(space).__name__}", "space")
    if len(space) > MAX_PLACES:
        raise InputError(
            f"space must have at most {MAX_PLACES} places to write the matrix out, got {len(space)}",
            "space",
            "planar draws on a lattice without a matrix",
        )
    mechanism = PlanarGeometric(space, check_level(level))
    mechanism.channel()  # refuses what is no grid, and levels that cannot be written out
    return mechanism


def _build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    require_inner_level(level)
    rows, columns = _parse_grid(options["grid"])
    step = rational(options.get("step", "1"), "--step")
    if sign(step) <= 0:
        raise InputError("--step must be > 0: it is the distance of neighbouring places", "--step")
    places = grid(rows, columns) if step == 1 else scale_space(grid(rows, columns), step)
    make = cache(lambda: planar_geometric(places, level))
    labels = set(map(str, places.labels))

    def parse_input(text: str) -> Label:
        label = ",".join(part.strip() for part in text.split(","))
        if label not in labels:
            raise InputError(
                "--input must be a place of the grid: its row and column from 0 on, such as 0,2", "--input"
            )
        return label

    return BuiltMechanism(
        "The planar geometric mechanism",
        f"places of a grid of {rows} × {columns}, row and column",
        lambda: make().channel(),
        lambda channel: least_epsilon(channel, places),
        parse_input,
        lambda x, count: make().draw([x] * count),
        level,
        {"grid": f"{rows}x{columns}", "step": str(step)},
        space=places.name,
    )


def _parse_grid(text: str) -> tuple[int, int]:
    """Rows and columns of 3x4."""
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2:
        raise InputError("--grid must be rows and columns such as 5x5, got something else", "--grid")
    rows, columns = (integer(part, "--grid") for part in parts)
    if min(rows, columns) < 1 or rows * columns > MAX_PLACES:
        raise InputError(f"--grid must be of 1 to {MAX_PLACES} places", "--grid")
    return rows, columns


PLANAR_GEOMETRIC = MechanismKind(
    "planar-geometric",
    (Option("grid", "RxC", "Rows and columns of places."),),
    (Option("step", "S", "Step of the lattice in the plane."),),
    _build,
)
