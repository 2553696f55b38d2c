"""Large optimal mechanisms: an interior point method in doubles, reading by reading, then certified in integers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from utmost.channel import Matrix
from utmost.design.interior_point.exact_bounds import (
    MULTIPLIER_BITS,
    Multipliers,
    exact_multipliers,
    exact_rows,
    lower_bound,
    make_private,
)
from utmost.design.interior_point.model import Orbits, orbits, trivial_orbits
from utmost.design.interior_point.predictor_corrector import one_thread
from utmost.errors import InputError
from utmost.exact import Level
from utmost.spaces import Space

if TYPE_CHECKING:
    from utmost.design.interior_point.model import Floats, Ints, Model
    from utmost.design.interior_point.predictor_corrector import Iterate

Progress: TypeAlias = Callable[[float, float], None]  # the lower and the upper bound so far

RELATIVE_GAP = 5e-10  # of the loss: the gap at which the doubles are left
MAX_STEPS = 400
LAST_ITERATES = 4  # mechanisms of the last steps
MAX_BYTES = 4 << 30  # bytes
MIN_USED_CHANCE = 1e-6  # a reading that is never likelier than this is left out if another one serves as well
BLEND_WEIGHTS = tuple(2.0**-k for k in (44, 40, 36, 32, 24, 16, 8, 0))  # of the first mechanism, which has slack


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What the interior point found, in doubles: its best multipliers and its last mechanisms; was it interrupted."""

    costs: Floats
    orbits: Orbits
    model: Model
    best: Iterate
    last_entries: tuple[Floats, ...]
    upper: float
    interrupted: bool

    def mechanisms(self) -> Iterator[Matrix]:
        """Mechanisms in fractions, the best first, then those with more slack."""
        first = self.model.unit * self.model.start
        blends = ((1 - weight) * self.last_entries[-1] + weight * first for weight in BLEND_WEIGHTS)
        cheapest = int(self.costs.sum(axis=0).argmin())
        for entries in map(self.orbits.symmetrise, chain(reversed(self.last_entries), blends)):
            level = make_private(entries, self.model.low, self.model.high, self.model.ratio, cheapest)
            yield from (exact_rows(_merge_rare_readings(rows, self.costs)) for rows in (entries, level))

    def proof(self, space: Space, level: Level, lower_costs: Matrix) -> tuple[tuple[Fraction, ...], Multipliers]:
        """Row multipliers u, Σ u a lower bound, and the multipliers of constraints that prove it."""
        cost_ratio = max(float(self.costs.max(initial=0.0)), 1.0) / self.upper if self.upper > 0 else 1.0
        bits = MULTIPLIER_BITS + max(0, math.ceil(math.log2(max(cost_ratio, 1.0))))
        return lower_bound(space, level, lower_costs, exact_multipliers(*self._multipliers(), bits))

    def _multipliers(self) -> tuple[Ints, Ints, Ints, Floats]:
        """(reading, low, high, y) of every constraint; those of a column are carried to its whole orbit."""
        shares = self.model.unit * self.model.copies
        values = self.best.v / shares[self.model.low]
        sources, images = self.orbits.sources, self.orbits.images
        reading = np.repeat(np.arange(len(sources)), len(values))
        low, high = (images[:, endpoints].ravel() for endpoints in (self.model.low, self.model.high))
        return reading, low, high, values.T[sources].ravel()


def _merge_rare_readings(entries: Floats, costs: Floats) -> Floats:
    """The mechanism with its traces of readings given to others that cost no more: a post-processing, so as private."""
    transfer_costs = costs.T @ entries
    is_used = entries.max(axis=0) >= MIN_USED_CHANCE
    result = entries.copy()
    for w in np.flatnonzero(~is_used) if is_used.any() else []:
        target = int(np.where(is_used, transfer_costs[:, w], np.inf).argmin())
        if transfer_costs[target, w] <= transfer_costs[w, w]:
            result[:, target] += result[:, w]
            result[:, w] = 0.0
    return result


def interior_point_search(
    space: Space,
    level: Level,
    costs: Floats,
    progress: Progress | None = None,
    *,
    symmetric: bool = True,
    keep_best: bool = False,
) -> Search:
    """The interior point, until its bounds are within `RELATIVE_GAP`; with `keep_best`, Ctrl-C ends it early."""
    from utmost.design.interior_point.model import build_model
    from utmost.design.interior_point.predictor_corrector import iterate_path

    symmetry = orbits(space, costs) if symmetric else trivial_orbits(*costs.shape)
    _check_memory(space, costs.shape[1], len(symmetry.columns))
    model = build_model(space, level, costs, _nearest_points(costs), symmetry.columns, symmetry.orbit)
    report = progress or (lambda lower, upper: None)
    return _follow_path(model, symmetry, costs, report, iterate_path(model), keep_best)


def _follow_path(
    model: Model, symmetry: Orbits, costs: Floats, report: Progress, steps: Iterator[Iterate], keep_best: bool
) -> Search:
    """The path to where its bounds are near enough, to where it ends, or to where it is interrupted."""
    best: Iterate | None = None
    last_entries: deque[Floats] = deque(maxlen=LAST_ITERATES)
    upper, interrupted = np.inf, False
    with one_thread(), np.errstate(all="ignore"):
        try:
            for iterate in islice(steps, MAX_STEPS):
                best = iterate if best is None or iterate.lower > best.lower else best
                if iterate.upper < best.lower * (1 - RELATIVE_GAP):  # bounds that cross: doubles carry no further
                    break
                if iterate.upper < upper:
                    last_entries.append(iterate.entries)
                    upper = iterate.upper
                report(best.lower, upper)
                if upper - best.lower <= RELATIVE_GAP * upper:
                    break
        except KeyboardInterrupt:
            if best is None or not keep_best:
                raise
            interrupted = True
    assert best is not None
    return Search(costs, symmetry, model, best, tuple(last_entries), upper, interrupted)


def _nearest_points(costs: Floats) -> Ints:
    """The point that each reading is most like: itself, or where the loss is least."""
    size, readings = costs.shape
    return np.arange(size) if size == readings else costs.argmin(axis=0)


def _check_memory(space: Space, readings: int, columns: int) -> None:
    """Refuse what memory has no room for, and say what there is room for."""
    size, pairs = len(space), 2 * len(space.edge_array)
    required_bytes = 8 * columns * (14 * pairs + 7 * size * size) + 48 * readings * pairs
    if required_bytes > MAX_BYTES:
        fitting_points = int(size * (MAX_BYTES / required_bytes) ** (1 / 3))
        raise InputError(
            f"an optimal mechanism on {space.name} for {readings} readings needs about "
            f"{required_bytes / 2**30:.0f} GB, and at most {MAX_BYTES >> 30} are taken",
            hint=f"take about {fitting_points} points, or a prior and a loss with its symmetries",
        )
