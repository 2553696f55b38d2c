"""Planar Laplace noise between the places of a grid: noise on the lattice, and then the nearest place.

A lattice point outside the grid is moved to the nearest place of its edge: both coordinates are clamped, which is
post-processing. So the probability of a place within is a term of the lattice's law, that of a place on a side a sum
over half a line, that of a corner a sum over a quadrant. libqif calls this channel the planar geometric mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, hypot, log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from utmost.channel import Channel, identity
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, ball
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.space_channels import (
    check_inner,
    entry_bits,
    refuse_space,
    rounded_rows,
    strict_epsilon,
)
from utmost.spaces import Label, Space

if TYPE_CHECKING:
    from flint import arb

MAX_SUM_TERMS = 4 * 10**6  # of the lattice, that are added up

Part: TypeAlias = int  # of a lattice line, by number: see `_parts`


@dataclass(frozen=True, slots=True)
class PlaceGrid:
    """Places that fill a rectangle of so many rows and columns; `positions` are row and column of each place."""

    rows: int
    columns: int
    positions: tuple[tuple[int, int], ...]


def planar_on(space: Space, level: Level) -> Channel:
    """The channel of planar Laplace noise on places that fill a grid, at Euclidean distances, in fractions."""
    places = place_grid(space)
    if places is None:
        raise refuse_space("planar", "places that fill a grid with equal steps, at Euclidean distances", space)
    grid, step = places
    return planar_channel(space.labels, grid, step, level, entry_bits(space, level))


def planar_channel(labels: Sequence[Label], grid: PlaceGrid, step: Number, level: Level, bits: int) -> Channel:
    """The channel between the places of a grid whose step is a distance of `step`."""
    if level.alpha == 0 or len(labels) == 1:
        return identity(labels)
    check_inner("planar", level)
    precision = 2 * bits
    with working_precision(precision):
        theta = strict_epsilon(level, precision) * ball(step, precision)
        shares = _shares(theta, grid, bits, precision)
        size_parts = [[_parts(size, x) for x in range(size)] for size in (grid.rows, grid.columns)]
        rows = []
        for row, column in grid.positions:
            vertical, horizontal = size_parts[0][row], size_parts[1][column]
            rows.append([shares[vertical[i]][horizontal[j]] for i, j in grid.positions])
    return trusted_channel(labels, labels, rounded_rows(rows, bits))


def _parts(size: int, x: int) -> list[Part]:
    """The part of the line, seen from x, that each of `size` places stands for.

    Part k < size is the offset k alone, part size + k all offsets from k on, and part 2·size the whole line. By
    symmetry an offset −k is as good as k.
    """
    if size == 1:
        return [2 * size]
    inner = [abs(y - x) for y in range(1, size - 1)]
    return [size + x, *inner, size + size - 1 - x]


def _shares(theta: arb, grid: PlaceGrid, bits: int, precision: int) -> list[list[arb]]:
    """Pr[row offset in a part, column offset in a part], for all pairs of parts.

    Offsets beyond `reach` are left out: all together they are less than 2^−bits of the smallest share.
    """
    from flint import arb

    reach = _reach(float(theta), hypot(grid.rows, grid.columns), bits)
    if reach * reach > MAX_SUM_TERMS:
        raise InputError("epsilon times the step of the grid must be larger to write the channel out", "epsilon")
    width = 2 * grid.columns + 1
    points: list[list[arb]] = []
    tails: list[list[arb]] = []
    tail = [arb(0)] * width
    for i in range(reach, -1, -1):
        line = _line_sums([(-theta * arb(i * i + j * j).sqrt()).exp() for j in range(reach + 1)], grid.columns)
        tail = [total + part for total, part in zip(tail, line, strict=True)]
        if i < grid.rows:
            points.insert(0, line)
            tails.insert(0, tail)
    whole = [2 * total - part for total, part in zip(tails[0], points[0], strict=True)]
    return [[part / whole[-1] for part in line] for line in (*points, *tails, whole)]


def _line_sums(weights: Sequence[arb], size: int) -> list[arb]:
    """The weights of all parts of a line from those of the offsets 0, 1, …"""
    total = sum(weights[size:], 0 * weights[0])
    tails = []
    for weight in reversed(weights[:size]):
        total += weight
        tails.append(total)
    tails.reverse()
    return [*weights[:size], *tails, 2 * tails[0] - weights[0]]


def _reach(theta: float, diameter: float, bits: int) -> int:
    """R with 8q^(R+1)·((R+1)/(1−q) + q/(1−q)²) ≤ 2^−bits·q^diameter, q = e^(−θ): the bound of `planar.normaliser`."""
    reach = ceil(diameter)
    room = -log(-np.expm1(-theta))  # of 1/(1 − q)
    while theta * (reach + 1 - diameter) < log(16 * (reach + 2)) + 2 * room + (bits + 1) * log(2):
        reach += max(1, ceil(1 / theta))
        if reach > MAX_SUM_TERMS:
            break
    return max(reach, 2 * ceil(diameter))


def place_grid(space: Space) -> tuple[PlaceGrid, Number] | None:
    """The grid that a space's points fill, with its step, if their distances are those of the plane; else None."""
    coordinates = space.coordinates
    if coordinates is None or not all(isinstance(c, Fraction | int) for place in coordinates for c in place):
        return None
    axes = [sorted({Fraction(place[axis]) for place in coordinates}) for axis in (0, 1)]  # type: ignore[arg-type]
    steps = {v - u for axis in axes for u, v in pairwise(axis)}
    if len(steps) > 1 or len(axes[0]) * len(axes[1]) != len(space) or len(set(coordinates)) < len(space):
        return None
    step = steps.pop() if steps else Fraction(1)
    ranks = [{value: k for k, value in enumerate(axis)} for axis in axes]
    positions = tuple((ranks[0][Fraction(a)], ranks[1][Fraction(b)]) for a, b in coordinates)  # type: ignore[arg-type]
    if not _is_euclidean(space, np.array(positions), step):
        return None
    return PlaceGrid(len(axes[0]), len(axes[1]), positions), step


def _is_euclidean(space: Space, positions: np.ndarray[tuple[int, int], np.dtype[np.int64]], step: Fraction) -> bool:
    """Are all distances those of the plane."""
    offsets = positions[:, None, :] - positions[None, :, :]
    squares = (offsets * offsets).sum(axis=2)
    pairs = np.unique(np.stack([space.codes.ravel(), squares.ravel()]), axis=1).T
    return all(space.values[code] * space.values[code] == step * step * int(square) for code, square in pairs)
