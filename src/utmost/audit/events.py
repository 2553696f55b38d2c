"""Events: sets of results, chosen on some draws and counted on others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from utmost.audit.confidence_bounds import wilson_score
from utmost.audit.features import Feature, Numbers, Sample, make_features

GRID = 64  # thresholds of one feature
ATOMS = 8  # of them: values that come often
CAREFUL = 5.0  # standard errors by which one of many thousand intervals must stand out
PLAIN = 3.0  # the same for a set that other draws have chosen
FANCY = 0.01  # of the score; what each step away from a half-line must gain
SLIGHT = 0.01  # a logarithm of counts so small that the event, almost sure under both secrets, is not worth counting
FEW = 8  # times; what came less often, even under one secret only, shows nothing
SHOWN = 3  # members of a set that are named


class Event(Protocol):
    """A set of results: how many of a sample are in it, and its name."""

    def count(self, sample: Sample) -> int:
        """How many values are in it."""

    @property
    def fancy(self) -> int:
        """How hard it is to read: 0 for a half-line or a value."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Interval:
    """low ≤ feature ≤ high."""

    feature: Feature
    low: float
    high: float

    def count(self, sample: Sample) -> int:
        """How many values have the feature within the ends."""
        numbers = self.feature.of(sample)
        return int(np.count_nonzero((numbers >= self.low) & (numbers <= self.high)))

    @property
    def fancy(self) -> int:
        """One step for a second end, one for a feature that is not the value itself."""
        return int(math.isfinite(self.low) and math.isfinite(self.high) and self.low != self.high) + self.feature.fancy

    def __str__(self) -> str:
        name, low, high = self.feature.name, _shown(self.low), _shown(self.high)
        if self.low == self.high:
            return f"{name} = {low}{self.feature.note}"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{name} is a number{self.feature.note}"
        left = "" if math.isinf(self.low) else f"{low} ≤ "
        if left and math.isinf(self.high):
            return f"{name} ≥ {low}{self.feature.note}"
        return f"{left}{name} ≤ {high}{self.feature.note}"


@dataclass(frozen=True, slots=True)
class Members:
    """One of these values; the likeliest come first."""

    values: tuple[Hashable, ...]

    def count(self, sample: Sample) -> int:
        """How many values are among them."""
        inside = frozenset(self.values)
        return sum(value in inside for value in sample.values)

    @property
    def fancy(self) -> int:
        """0 for one value, 1 for a few that are all named, 2 for more."""
        return 0 if len(self.values) == 1 else 1 if len(self.values) <= SHOWN else 2

    def __str__(self) -> str:
        named = [repr(value)[:40] for value in self.values[:SHOWN]]
        if len(self.values) == 1:
            return f"value = {named[0]}"
        if len(self.values) <= SHOWN:
            return f"value is {', '.join(named[:-1])} or {named[-1]}"
        return f"value is one of {len(self.values)}, such as {', '.join(named)}"


@dataclass(frozen=True, slots=True)
class CandidateEvent:
    """An event that may be likelier under one secret: under the first if `forward`, else under the second.

    `alone`: it came several times under that one, never under the other.
    """

    score: float
    event: Event
    forward: bool
    alone: bool


def _shown(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(float(number))


def choose_events(first: Sample, second: Sample, count: int) -> list[CandidateEvent]:
    """The `count` ≥ 2 most promising events for samples of this size: the best of each feature each way, ranked.

    One place each way is kept for an event that came under one secret only: rare as it may be, it can show a large ε.
    """
    pooled = Sample([], {p: np.concatenate([first.columns[p], second.columns[p]]) for p in first.columns})
    found = [best for feature in make_features(pooled) for best in _intervals(feature, first, second)]
    found += _sets(first.values, second.values)
    distinct: dict[tuple[float, bool], CandidateEvent] = {}
    for candidate in found:  # one score, one event under several names: the plainest comes first
        if math.isfinite(candidate.score):
            distinct.setdefault((round(candidate.score, 9), candidate.forward), candidate)
    ranked = sorted(distinct.values(), key=lambda candidate: -candidate.score)
    kept = [next((c for c in ranked if c.alone and c.forward is way), None) for way in (True, False)]
    first_places = [c for c in kept if c is not None][:count]
    rest = [c for c in ranked if not any(c is one for one in first_places)]
    best = sorted(first_places + rest[: count - len(first_places)], key=lambda candidate: -candidate.score)
    return best or found[:1]


def _merit(high: Numbers, low: Numbers, draws: int, z: float) -> Numbers:
    """The score; −∞ where it is not positive and the counts are almost equal, as those of near-certain events are."""
    merit = wilson_score(high, low, draws, z)
    slight = np.log((high + 1) / (low + 1)) < SLIGHT
    return np.where((merit <= 0) & slight, -np.inf, merit)


def _intervals(feature: Feature, first: Sample, second: Sample) -> Iterator[CandidateEvent]:
    """The best interval of a feature each way, and the best that came under one secret only; ends on thresholds."""
    sides = [np.sort(numbers[~np.isnan(numbers)]) for numbers in (feature.of(first), feature.of(second))]
    grid = thresholds(np.concatenate(sides))
    if not len(grid):
        return
    lows, highs = np.concatenate([[-np.inf], grid]), np.concatenate([grid, [np.inf]])
    tables = [_counts(side, lows, highs) for side in sides]
    for forward in (True, False):
        high, low = tables if forward else tables[::-1]
        merit = np.where(lows[:, None] <= highs[None, :], _merit(high, low, len(first.values), CAREFUL), -np.inf)
        merit[1:, :-1] -= np.where(lows[1:, None] == highs[None, :-1], 0, FANCY)  # a half-line is easier to read
        alone = (low == 0) & (high >= FEW)
        for table in (merit, np.where(alone, merit, -np.inf)):
            i, j = np.unravel_index(int(np.argmax(table)), table.shape)
            event = Interval(feature, float(lows[i]), float(highs[j]))
            yield CandidateEvent(float(table[i, j]) - FANCY * feature.fancy, event, forward, bool(alone[i, j]))


def _counts(ordered: Numbers, lows: Numbers, highs: Numbers) -> Numbers:
    """How many lie in [low, high], for each pair of ends."""
    upto, before = np.searchsorted(ordered, highs, "right"), np.searchsorted(ordered, lows, "left")
    return np.asarray(np.maximum(upto[None, :] - before[:, None], 0), dtype=np.float64)


def thresholds(numbers: Numbers) -> Numbers:
    """At most about `GRID` of the values: all, if they are few; else quantiles, denser in the tails, and atoms."""
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) <= GRID:
        return values
    size = len(numbers)
    tails = 2 ** np.arange(0, math.log2(size) - 2)
    even = np.linspace(0, size - 1, GRID // 2)
    ranks = np.unique(np.concatenate([tails, size - 1 - tails, even]).astype(np.int64))
    often = np.argsort(counts)[-ATOMS:]
    atoms = values[often[counts[often] > max(2, size // 1000)]]
    return np.unique(np.concatenate([np.sort(numbers)[ranks], atoms]))


def _sets(first: Iterable[Hashable], second: Iterable[Hashable]) -> Iterator[CandidateEvent]:
    """Sets of values, made by one half of these draws and ranked by the other: single values, the likelier ones.

    Counts of a half are scaled to all draws, since so many will judge the set in the end.
    """
    ours, theirs = list(first), list(second)
    draws, half = len(ours), len(ours) // 2
    makers = [(Counter(s[:half]), Counter(s[half:])) for s in (ours, theirs)]
    judged = draws / (draws - half)
    for forward in (True, False):
        (high, high_judge), (low, low_judge) = makers if forward else makers[::-1]
        for members in _made(high, low, draws / half, draws):
            up, down = (judged * np.array([sum(j[v] for v in members)]) for j in (high_judge, low_judge))
            event = Members(members)
            merit = float(_merit(up, down, draws, PLAIN)[0]) - FANCY * event.fancy
            alone = bool(up[0] >= FEW) and not down[0] and not any(low[v] for v in members)
            yield CandidateEvent(merit, event, forward, alone)


def _made(high: Counter[Hashable], low: Counter[Hashable], scale: float, draws: int) -> Iterator[tuple[Hashable, ...]]:
    """The best single value, the values seen under one secret only, and the best run of values by likelihood ratio."""
    values = sorted(high, key=lambda v: (-(high[v] + 0.5) / (low[v] + 0.5), -high[v]))
    ups, downs = (scale * np.array([side[v] for v in values]) for side in (high, low))
    yield (values[int(np.argmax(_merit(ups, downs, draws, PLAIN)))],)
    only = tuple(v for v in values if not low[v])
    if only:
        yield only
    runs = _merit(np.cumsum(ups), np.cumsum(downs), draws, PLAIN)
    yield tuple(values[: int(np.argmax(runs)) + 1])
