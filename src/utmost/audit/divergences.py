"""A lower bound on the ρ of a black box: Rényi divergences from draws, by a variational form.

A mechanism is ρ-zCDP (Bun and Steinke, arXiv:1605.02065) if D_a(P‖Q) ≤ a·ρ for the laws P, Q of neighbours, both ways,
and every order a > 1, where D_a(P‖Q) = ln E_Q[(dP/dQ)^a]/(a−1). With a → 1, also D_1(P‖Q) = E_P[ln dP/dQ] ≤ ρ.

**Claim.** For every function h > 0 of the result, a > 1, and X drawn from P, Y from Q,

    E[a·h(X)^(a−1) − (a−1)·h(Y)^a] ≤ e^((a−1)·D_a(P‖Q)) ≤ e^(a(a−1)ρ),        E[ln h(X) + 1 − h(Y)] ≤ D_1(P‖Q) ≤ ρ.

*Proof.* If P is not absolutely continuous with respect to Q the middle is ∞. Else let r = dP/dQ; the left side is
E_Q[a·r·h^(a−1) − (a−1)·h^a]. By Young's inequality r·h^(a−1) ≤ r^a/a + h^a·(a−1)/a, so it is at most E_Q[r^a]. For the
second, r·ln h + 1 − h ≤ r·ln r + 1 − r pointwise, since ln(h/r) ≤ h/r − 1; and E_Q[1 − r] = 0. ∎

Both are equalities at h = r. The left side is the mean of a variable of a pair of draws, so a lower bound on that mean
(`mean_bounds`) is one on ρ. h and a are chosen on the first half of the draws: h is constant on the cells of a
partition of the results, near the ratio of what came there. A poor choice costs power, never validity.

One event is a partition into two cells. Of Gaussian noise of small ρ it shows at most 2/π of ρ at orders near 1, and at
high orders it must be so rare that few draws are in it. Many cells see all but what their width hides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from utmost.audit.events import MIN_EXCLUSIVE_COUNT, CandidateEvent, Feature, Sample, make_features, thresholds
from utmost.audit.mean_bounds import choose_stake, mean_lower_bound

Numbers = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int64]
ORDERS = tuple(map(Fraction, ("1", "5/4", "3/2", "2", "3", "4", "6", "8", "12", "16", "24", "32", "64")))
PRIOR_COUNTS = (0.5, 3.0, 8.0)  # added to the counts of a cell under either secret before their ratio is taken
COARSE_CELLS = 16
MAX_CELL_VALUES = 63  # values that have a cell of their own
MAX_LOG_POWER = 300.0  # of h^a
ROUNDING = 1e-12  # relative; doubles compute a power to about 1e-14
MAX_TESTED_STATISTICS = 2  # each costs a share of the risk
LOG_RISK = 5.0  # about ln(1/risk), as the choice takes it


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A partition of the results into `size` cells: `cells` gives the cell of each value of a sample."""

    name: str
    size: int
    cells: Callable[[Sample], Cells]

    def counts(self, sample: Sample) -> Numbers:
        """How many values are in each cell."""
        return np.bincount(self.cells(sample), minlength=self.size).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """h and a: `log_ratios` is ln h on each cell; the larger mean is under the first secret if `forward`."""

    partition: Partition
    order: Fraction
    log_ratios: Numbers
    forward: bool

    @property
    def parts(self) -> tuple[Numbers, Numbers]:
        """What a draw from P adds in each cell, rounded down, and what one from Q takes away, rounded up."""
        if self.order == 1:
            gain, cost = self.log_ratios + 1, np.exp(self.log_ratios)
        else:
            a = float(self.order)
            gain, cost = a * np.exp((a - 1) * self.log_ratios), (a - 1) * np.exp(a * self.log_ratios)
        return gain - ROUNDING * (1 + np.abs(gain)), cost * (1 + ROUNDING)

    def rho(self, mean: float) -> float:
        """The least ρ that allows this mean, rounded down; 0 if every ρ does."""
        if self.order == 1:
            return max(mean - ROUNDING * (1 + abs(mean)), 0.0)
        a = float(self.order)
        return math.log(mean) / (a * (a - 1)) * (1 - ROUNDING) if mean > 1 else 0.0


@dataclass(frozen=True, slots=True)
class DivergenceBound:
    """ρ ≥ `rho`, by the order and the partition of a statistic; P is the first secret's law if `forward`."""

    rho: float
    order: Fraction
    partition: str
    cells: int
    forward: bool
    tested: int


def rho_lower_bound(
    first_half: tuple[Sample, Sample],
    second_half: tuple[Sample, Sample],
    events: Sequence[CandidateEvent],
    risk: float,
) -> DivergenceBound:
    """A number that exceeds ρ with probability at most `risk`, whatever the two laws are, if the draws are independent.

    The first half chooses `MAX_TESTED_STATISTICS` statistics and their stakes, the second half bounds their means at an
    equal share of the risk each (union bound), and the largest ρ is the answer. The i-th draws of the two secrets are a
    pair, and the pairs are independent.
    """
    statistics = choose_statistics(first_half, events)
    share = risk / max(len(statistics), 1)
    bounds = [(_test(statistic, first_half, second_half, share), statistic) for statistic in statistics]
    rho, best = max(bounds, key=lambda bound: bound[0])
    return DivergenceBound(rho, best.order, best.partition.name, best.partition.size, best.forward, len(bounds))


def _test(
    statistic: Statistic, first_half: tuple[Sample, Sample], second_half: tuple[Sample, Sample], risk: float
) -> float:
    gain, cost = statistic.parts
    values = (gain[:, None] - cost[None, :]).ravel()
    stake = choose_stake(values, _pair_counts(statistic, first_half), risk)
    return statistic.rho(mean_lower_bound(values, _pair_counts(statistic, second_half), risk, stake))


def _pair_counts(statistic: Statistic, samples: tuple[Sample, Sample]) -> Numbers:
    """How many pairs of draws are in each pair of cells, the cell of P's draw first."""
    size = statistic.partition.size
    high, low = (statistic.partition.cells(sample) for sample in (samples if statistic.forward else samples[::-1]))
    return np.bincount(high * size + low, minlength=size * size).astype(np.float64)


def choose_statistics(samples: tuple[Sample, Sample], events: Sequence[CandidateEvent]) -> list[Statistic]:
    """The most promising statistics: learnt on half of these draws, ranked by the others, learnt again on all.

    The second is the best of another partition or another direction.
    """
    draws = len(samples[0].values)
    learning, judging = ([s.part(part) for s in samples] for part in (slice(draws // 2), slice(draws // 2, None)))
    ranked: list[tuple[float, Statistic, float]] = []
    for partition in make_partitions(samples, events):
        learnt, judged = ([partition.counts(sample) for sample in part] for part in (learning, judging))
        for order, prior_count, forward in product(ORDERS, PRIOR_COUNTS, (True, False)):
            statistic = _statistic(partition, order, learnt, prior_count, forward)
            ranked.append((_score(statistic, judged, draws), statistic, prior_count))
    ranked.sort(key=lambda entry: -entry[0])
    chosen: dict[tuple[int, bool], Statistic] = {}
    for _, best, prior_count in ranked:
        key = (id(best.partition), best.forward)
        if key not in chosen and len(chosen) < MAX_TESTED_STATISTICS:
            counts = [best.partition.counts(sample) / 2 for sample in samples]  # as many as it was learnt from before
            chosen[key] = _statistic(best.partition, best.order, counts, prior_count, best.forward)
    return list(chosen.values())


def _statistic(
    partition: Partition, order: Fraction, counts: Sequence[Numbers], prior_count: float, forward: bool
) -> Statistic:
    """The statistic of an order that these counts suggest; ln h is cut off where h^a would be no double."""
    high, low = counts if forward else counts[::-1]
    limit = MAX_LOG_POWER / float(order)
    ratios = np.clip(np.log((high + prior_count) / (low + prior_count)), -limit, limit)
    return Statistic(partition, order, ratios, forward)


def _score(statistic: Statistic, counts: Sequence[Numbers], draws: int) -> float:
    """About the bound on ρ that so many draws will show, if they fall as these counts do: no claim."""
    high, low = counts if statistic.forward else counts[::-1]
    gain, cost = statistic.parts
    judged = float(high.sum())
    mean = float(gain @ high - cost @ low) / judged
    squares = float(gain**2 @ high + cost**2 @ low) / judged
    variance = max(squares - (float(gain @ high) / judged) ** 2 - (float(cost @ low) / judged) ** 2, 0.0)
    spread = mean - float(gain.min() - cost.max())
    shown = mean - math.sqrt(2 * LOG_RISK * variance / draws) - LOG_RISK * spread / draws
    if statistic.order == 1:
        return shown
    a = float(statistic.order)
    return math.log(shown) / (a * (a - 1)) if shown > 0 else -math.inf


def make_partitions(samples: tuple[Sample, Sample], events: Sequence[CandidateEvent]) -> list[Partition]:
    """Cells of each feature, fine and coarse; single values; and each event beside its complement."""
    pooled = Sample([], {p: np.concatenate([s.columns[p] for s in samples]) for p in samples[0].columns})
    partitions = [part for feature in make_features(pooled) for part in _interval_partitions(feature, pooled)]
    partitions += _value_partitions([value for sample in samples for value in sample.values])
    return partitions + [_event_partition(candidate) for candidate in events]


def _interval_partitions(feature: Feature, pooled: Sample) -> Iterator[Partition]:
    numbers = feature.values_in(pooled)
    numbers = np.sort(numbers[~np.isnan(numbers)])
    if not len(numbers):
        return
    fine = thresholds(numbers)
    even = np.unique(numbers[np.linspace(0, len(numbers) - 1, COARSE_CELLS).astype(np.int64)])
    for edges in (fine, even) if len(even) < len(fine) else (fine,):
        name = f"{feature.name}{feature.suffix}"
        yield Partition(name, len(edges) + 2, partial(_interval_cells, feature, edges))


def _interval_cells(feature: Feature, edges: Numbers, sample: Sample) -> Cells:
    """How many edges are below the feature: cells (e, e′] that hold their upper edge; one more for what has none."""
    numbers = feature.values_in(sample)
    return np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, "left")).astype(np.int64)


def _value_partitions(values: Sequence[Hashable]) -> list[Partition]:
    """A cell for each of the commonest values, one for all others; none where no value comes often."""
    common = [value for value, count in Counter(values).most_common(MAX_CELL_VALUES) if count >= MIN_EXCLUSIVE_COUNT]
    positions = {value: k for k, value in enumerate(common)}
    other = len(common)

    def cells(sample: Sample) -> Cells:
        return np.fromiter((positions.get(value, other) for value in sample.values), np.int64, len(sample.values))

    return [Partition("value", other + 1, cells)] if common else []


def _event_partition(candidate: CandidateEvent) -> Partition:
    event: Any = candidate.event
    return Partition(str(event), 2, lambda sample: event.contains(sample).astype(np.int64))
