"""The linear program of the least loss over all private mechanisms, with a prior or without (GRS12 (3)–(7), §4).

The costs c[x,w] = π_x·ℓ(x,w) are exact, or lie between rational bounds where they are irrational.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.consumer import Consumer
from utmost.design.interior_point.memory import largest_size
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, enclosure, rational
from utmost.lp import LinearProgram
from utmost.spaces import Space
from utmost.spaces.space import MAX_TABLE_POINTS, point_count_text


class Rate(Protocol):
    """A level, or one rounded to rationals distance by distance."""

    @property
    def alpha(self) -> Number:
        """The ratio allowed at distance 1."""

    def power(self, distance: Number | int) -> Number:
        """The ratio allowed at a distance."""


def privacy_program(space: Space, level: Rate, costs: Matrix) -> LinearProgram:
    """minimise Σ c[x,w]·C[x,w] over channels C from the space to readings w that are private at a rational level.

    Variables: C row by row. Rows: for each generating pair (x, x′) and each w first C[x,w] − α^d·C[x′,w] ≥ 0, then
    C[x′,w] − α^d·C[x,w] ≥ 0; then Σ_w C[x,w] = 1 for each x. 0 ≤ α < 1.
    """
    points, readings = costs.shape
    rational_costs = np.array([rational(c, "cost") for c in costs.ravel()], dtype=object).reshape(costs.shape)
    constraints = privacy_rows(space, level, readings)
    rows, columns, values = constraints
    count = 2 * len(space.edges) * readings
    cells = np.arange(points * readings)
    return LinearProgram(
        rational_costs.ravel().tolist(),
        np.concatenate([rows, count + cells // readings]),
        np.concatenate([columns, cells]),
        np.concatenate([values, np.full(len(cells), Fraction(1), dtype=object)]),
        [Fraction(0)] * count + [Fraction(1)] * points,
        np.arange(count + points) >= count,
        scale=_scale(space, level, rational_costs),
        upper=[Fraction(1)] * len(cells),
        interior=[Fraction(1, readings)] * len(cells),
    )


def privacy_rows(
    space: Space, level: Rate, readings: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.object_]]:
    """(row, column, value) of the privacy constraints, two for each generating pair and reading."""
    if not 0 <= level.alpha < 1:
        raise InputError("a privacy program needs alpha in [0, 1)")
    pairs = np.array(space.edges, dtype=np.int64).reshape(-1, 2)
    factors = np.array(
        [rational(level.power(space.distance(x, z)), "alpha^distance") for x, z in space.edges], dtype=object
    )
    w = np.tile(np.arange(readings), len(pairs))
    first, second = (np.repeat(pairs[:, side], readings) * readings + w for side in (0, 1))
    forward, backward = np.arange(len(w)), len(w) + np.arange(len(w))
    ones, slopes = np.full(len(w), Fraction(1), dtype=object), -np.repeat(factors, readings)
    rows = np.concatenate([forward, forward, backward, backward])
    columns = np.concatenate([first, second, second, first])
    return rows, columns, np.concatenate([ones, slopes, ones, slopes])


def _scale(space: Space, level: Rate, costs: Matrix) -> list[Fraction] | None:
    """The natural size of each entry when privacy is weak: C[x,w] ≈ α^d, d the distance from x to where w belongs.

    A reading belongs to the points at which it costs least above their own best reading: for a loss that is least at
    the truth to the point itself, for one that is largest there (`nib`) to all the others.
    """
    if level.alpha == 0:
        return None
    powers = np.array([rational(level.power(d), "alpha^distance") for d in space.values], dtype=object)
    regrets = costs - costs.min(axis=1, keepdims=True)
    homes = [np.flatnonzero(column == column.min()) for column in regrets.T]
    codes = np.array([space.codes[:, home].min(axis=1) for home in homes])  # codes rank the distances
    return list(powers[codes.T.ravel()])


def check_problem(space: Space, level: Level, consumer: Consumer) -> None:
    """Refuse what an optimal mechanism cannot be made for."""
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}', "level")
    if consumer.prior.size != len(space):
        raise InputError(
            f"the prior must have {len(space)} weights, one for each point of {space.name}, got {consumer.prior.size}"
        )
    if len(space) > MAX_TABLE_POINTS:
        raise InputError(
            f"{space.name} has {point_count_text(len(space))} points, and an optimal mechanism is written out for at "
            f"most {MAX_TABLE_POINTS}",
            "space",
            f"on a line so many fit; elsewhere about {largest_size()}, or more if prior and loss have its symmetries",
        )
    floats = not consumer.prior.is_exact or not consumer.loss.is_exact
    if floats or any(isinstance(weight, float) for weight in consumer.prior.exact()):
        raise InputError(
            "an optimal mechanism needs an exact prior and loss",
            hint='write numbers as text, "1/3", or say Consumer(weights, loss, space=…), which reads doubles exactly',
        )


def has_irrational_costs(space: Space, level: Level, consumer: Consumer) -> bool:
    """Is a weight, a loss, or the ratio allowed at the distance of a generating pair, not rational."""
    numbers = (*consumer.prior.exact(), *consumer.loss.matrix(len(space)).flat)
    return has_irrational_powers(space, level) or any(isinstance(value, Real) for value in numbers)


def has_irrational_powers(space: Space, level: Level) -> bool:
    """Is the ratio allowed at the distance of a generating pair not rational."""
    lengths = [space.values[code] for code in np.unique(space.codes[space.edge_array[:, 0], space.edge_array[:, 1]])]
    return any(_is_irrational(level, d) for d in lengths)


def _is_irrational(level: Level, distance: Number) -> bool:
    """Is α^distance irrational: (1/4)^(3/2) = 1/8 is not."""
    try:
        return isinstance(level.power(distance), Real)
    except InputError:  # a power that cannot be written
        return True


def cost_bounds(consumer: Consumer, bits: int) -> tuple[Matrix, Matrix]:
    """Rational matrices below and above the costs, equal where these are rational, else 2^−bits apart, relatively."""
    losses = consumer.loss.matrix(consumer.prior.size)
    loss_bounds = [round_costs(losses, bits, side) for side in (0, 1)]
    weight_bounds = [round_costs(np.array(consumer.prior.exact(), dtype=object), bits, side) for side in (0, 1)]
    lower_costs, upper_costs = (weight[:, None] * loss for weight, loss in zip(weight_bounds, loss_bounds, strict=True))
    return lower_costs, upper_costs


def round_costs(values: Matrix, bits: int, side: int) -> npt.NDArray[np.object_]:
    """Numbers ≥ 0 rounded to rationals, all down (`side` 0) or all up (1); each distinct object once."""
    value_of_id: dict[int, Number] = {id(value): value for value in values.flat}
    bounds = {key: enclosure(value, bits)[side] for key, value in value_of_id.items()}
    result = np.empty(values.shape, dtype=object)
    result.ravel()[:] = [bounds[id(value)] for value in values.flat]
    return result


def minimax_program(space: Space, level: Rate, losses: Matrix) -> LinearProgram:
    """The privacy program with one more variable t, minimised, and t − Σ_w ℓ(x,w)·C[x,w] ≥ 0 for each x."""
    size, readings = losses.shape
    base = privacy_program(space, level, losses)
    count, cells = base.shape
    x = np.repeat(np.arange(size), readings)
    return LinearProgram(
        [Fraction(0)] * cells + [Fraction(1)],
        np.concatenate([base.rows, count + x, count + np.arange(size)]),
        np.concatenate([base.columns, np.arange(cells), np.full(size, cells)]),
        np.concatenate([base.values, [-rational(v, "loss") for v in losses.ravel()], [Fraction(1)] * size]),
        [*base.rhs, *[Fraction(0)] * size],
        np.concatenate([base.equality, np.zeros(size, dtype=bool)]),
        scale=None if base.scale is None else [*base.scale, _natural_loss(base, readings)],
    )


def _natural_loss(base: LinearProgram, readings: int) -> Fraction:
    """max_x Σ_w ℓ(x,w)·C[x,w] with the natural sizes of C, the size of t; 1 where that is 0."""
    assert base.scale is not None
    terms = [loss * unit for loss, unit in zip(base.cost, base.scale, strict=True)]
    return max(sum(terms[k : k + readings], Fraction(0)) for k in range(0, len(terms), readings)) or Fraction(1)
