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
from utmost.design.interior_point.memory import check_memory
from utmost.design.interior_point.orbits import Orbits, orbits, trivial_orbits
from utmost.exact import Level
from utmost.spaces import Space

if TYPE_CHECKING:
    from utmost.design.interior_point.model import Model
    from utmost.design.interior_point.orbits import Floats, Ints
    from utmost.design.interior_point.predictor_corrector import Iterate

Progress: TypeAlias = Callable[[float, float], None]  # the lower and the upper bound so far

RELATIVE_GAP = 5e-10  # of the loss: the gap at which the doubles are left
MAX_STEPS = 400
MAX_IDLE_STEPS = 12  # without a better bound, after which doubles carry no further
LAST_ITERATES = 4  # mechanisms of the last steps
SMALL_CELLS = 1 << 18  # readings times points squared, up to which one thread is enough
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
        """Mechanisms in fractions, those whose rows can be made to sum to 1 at the least loss first."""
        copies, ratios = self.model.copies, self.model.ratios
        first = self.model.start.T
        blends = ((1 - weight) * self.last_entries[-1] + weight * first for weight in BLEND_WEIGHTS)
        cheapest = int(self.costs.sum(axis=0).argmin())
        low, high = np.nonzero(ratios)

        def level(entries: Floats) -> Floats:
            return make_private(entries, low, high, ratios[low, high], cheapest)

        last = [self.orbits.symmetrise(columns / copies) for columns in reversed(self.last_entries)]
        last.sort(key=lambda entries: float((self.costs * level(entries)).sum()))
        for entries in chain(last, (self.orbits.symmetrise(columns / copies) for columns in blends)):
            yield from (exact_rows(_merge_rare_readings(rows, self.costs)) for rows in (entries, level(entries)))

    def proof(self, space: Space, level: Level, lower_costs: Matrix) -> tuple[tuple[Fraction, ...], Multipliers]:
        """Row multipliers u, Σ u a lower bound, and the multipliers of constraints that prove it."""
        cost_ratio = max(float(self.costs.max(initial=0.0)), 1.0) / self.upper if self.upper > 0 else 1.0
        bits = MULTIPLIER_BITS + max(0, math.ceil(math.log2(max(cost_ratio, 1.0))))
        return lower_bound(space, level, lower_costs, exact_multipliers(*self._multipliers(), bits))

    def _multipliers(self) -> tuple[Ints, Ints, Ints, Floats]:
        """(reading, low, high, y) of every constraint; those of a column are carried to its whole orbit."""
        pairs = [pairs for block in self.best.blocks for pairs in block.working_pairs()]
        counts = [len(pairs[w][0]) for w in self.orbits.sources]
        reading = np.repeat(np.arange(len(counts)), counts)
        images = list(zip(self.orbits.images, (pairs[w] for w in self.orbits.sources), strict=True))
        low = np.concatenate([image[pair[0]] for image, pair in images])
        high = np.concatenate([image[pair[1]] for image, pair in images])
        return reading, low, high, self.model.cost_unit * np.concatenate([pair[2] for _, pair in images])


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


def check_search_memory(space: Space, costs: Floats) -> None:
    """Refuse a problem that memory has no room for."""
    check_memory(space, costs.shape[1], len(orbits(space, costs).columns))


def interior_point_search(
    space: Space,
    level: Level,
    costs: Floats,
    progress: Progress | None = None,
    *,
    symmetric: bool = True,
    keep_best: bool = False,
    relative_gap: float = RELATIVE_GAP,
) -> Search:
    """The interior point, until its bounds are within this gap of the loss; with `keep_best`, Ctrl-C ends it early."""
    from utmost.design.interior_point.model import build_model
    from utmost.design.interior_point.predictor_corrector import iterate_path
    from utmost.design.interior_point.threads import workers

    symmetry = orbits(space, costs) if symmetric else trivial_orbits(*costs.shape)
    check_memory(space, costs.shape[1], len(symmetry.columns))
    model = build_model(space, level, costs, _nearest_points(costs), symmetry)
    report = progress or (lambda lower, upper: None)
    with workers(is_small=model.costs.size * len(space) <= SMALL_CELLS) as pool, np.errstate(all="ignore"):
        steps = iterate_path(model, pool)
        return _follow_path(model, symmetry, costs, report, steps, keep_best=keep_best, relative_gap=relative_gap)


def _follow_path(
    model: Model,
    symmetry: Orbits,
    costs: Floats,
    report: Progress,
    steps: Iterator[Iterate],
    *,
    keep_best: bool,
    relative_gap: float,
) -> Search:
    """The path to where its bounds are near enough, to where it ends, or to where it is interrupted."""
    best: Iterate | None = None
    last_entries: deque[Floats] = deque(maxlen=LAST_ITERATES)
    upper, interrupted, idle_steps = np.inf, False, 0
    try:
        for iterate in islice(steps, MAX_STEPS):
            is_better = best is None or iterate.lower > best.lower or iterate.upper < upper
            idle_steps = 0 if is_better else idle_steps + 1
            best = iterate if best is None or iterate.lower > best.lower else best
            if iterate.upper < best.lower * (1 - relative_gap):  # bounds that cross: doubles carry no further
                break
            if iterate.upper < upper:
                last_entries.append(iterate.entries)
                upper = iterate.upper
            report(model.cost_unit * best.lower, model.cost_unit * upper)
            if upper - best.lower <= relative_gap * upper or idle_steps == MAX_IDLE_STEPS:
                break
    except KeyboardInterrupt:
        if best is None or not keep_best:
            raise
        interrupted = True
    assert best is not None
    return Search(costs, symmetry, model, best, tuple(last_entries), model.cost_unit * upper, interrupted)


def _nearest_points(costs: Floats) -> Ints:
    """The point that each reading is most like: itself, or where the loss is least."""
    size, readings = costs.shape
    return np.arange(size) if size == readings else costs.argmin(axis=0)
