"""Capacities of large irregular spaces by the interior point: a capacity is the optimum of one consumer.

Under the uniform prior a consumer who loses 1 by a wrong guess expects 1 − T/n, T = Σ_y C[y,y], and one who loses 1 by
a right guess expects T/n. So the greatest T is n − n·(the optimum for the binary loss), and the least T is n·(the
optimum for `nib`). The certificate of that optimum bounds T, and its mechanism attains what it attains.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.consumer import Consumer, losses, priors
from utmost.design.capacities.capacity_bounds import SumBounds
from utmost.design.capacities.capacity_programs import AlphaPowers
from utmost.design.optimal import wide_design
from utmost.errors import SolverError
from utmost.exact import Level
from utmost.spaces import Space, Symmetries

TotalReport: TypeAlias = Callable[[float, float], None]  # the bounds of T so far

MIN_RELATIONS = 2000  # privacy constraints up to symmetry, about, from which the interior point is faster
RELATIVE_GAP = 1e-12  # of the loss: where the doubles are left
METHOD = "a linear program over pairs of points, by an interior point"


def suits_interior_point(space: Space, group: Symmetries, bounds: AlphaPowers) -> bool:
    """Is the program over pairs large, with powers that are irrational: exact bounds could not meet in any case."""
    cells_per_point = (int(group.pairs.max()) + 1) / len(space)
    return not bounds.exact and len(space.edge_array) * cells_per_point > MIN_RELATIONS


def interior_point_bounds(space: Space, level: Level, minimise: bool, report: TotalReport) -> SumBounds:
    """Bounds of T and a channel that attains one, with a gap that doubles reach; rational numbers throughout."""
    size = len(space)
    consumer = Consumer(priors.uniform(size), losses.nib if minimise else losses.binary)

    def progress(lower: float, upper: float) -> None:
        ends = (size * lower, size * upper) if minimise else (size - size * upper, size - size * lower)
        report(*ends)

    design = wide_design(space, level, consumer, progress, relative_gap=RELATIVE_GAP)
    if not design.private:
        raise SolverError(f"the channel found for the capacity of {space.name} did not stay private")
    least_loss = Fraction(design.certificate.lower)  # type: ignore[arg-type]
    nonempty = np.flatnonzero((design.channel.rows != 0).any(axis=0))
    rows = design.channel.rows[:, nonempty]
    columns = tuple(nonempty.tolist())
    attained: Fraction = (rows.min(axis=0) if minimise else rows.max(axis=0)).sum()
    lower, upper = (size * least_loss, attained) if minimise else (attained, size - size * least_loss)
    return SumBounds(lower, upper, METHOD, False, columns, rows)
