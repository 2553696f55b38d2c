"""Events: sets of results, chosen on some draws and counted on others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from utmost.audit.bounds import score
from utmost.audit.values import Feature, Numbers, Sample, features

GRID = 64  # thresholds of one feature
ATOMS = 8  # of them: values that come often
CAREFUL = 5.0  # standard errors by which one of many thousand intervals must stand out
PLAIN = 3.0  # the same for a set that other draws have chosen
FANCY = 0.01  # of the score; what an interval must be better than a half-line
SHOWN = 3  # members of a set that are named


class Event(Protocol):
    """A set of results: how many of a sample are in it, and its name."""

    def count(self, sample: Sample) -> int:
        """How many values are in it."""

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

    def __str__(self) -> str:
        named = ", ".join(repr(value)[:40] for value in self.values[:SHOWN])
        if len(self.values) == 1:
            return f"value = {named}"
        return f"value is one of {len(self.values)}, such as {named}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event that may be likelier under one secret: under the first if `forward`, else under the second."""

    score: float
    event: Event
    forward: bool


def _shown(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(float(number))


def chosen(first: Sample, second: Sample, count: int) -> list[Candidate]:
    """The `count` most promising events for these samples of equal size: the best of each feature each way, ranked."""
    pooled = Sample([], {p: np.concatenate([first.columns[p], second.columns[p]]) for p in first.columns})
    found = [best for feature in features(pooled) for best in _intervals(feature, first, second)]
    found += _sets(first.values, second.values)
    distinct: dict[tuple[float, bool], Candidate] = {}
    for candidate in found:  # one score, one event under several names: the plainest comes first
        distinct.setdefault((round(candidate.score, 9), candidate.forward), candidate)
    return sorted(distinct.values(), key=lambda candidate: -candidate.score)[:count]


def _intervals(feature: Feature, first: Sample, second: Sample) -> Iterator[Candidate]:
    """The best interval of a feature each way, ends on a grid of thresholds."""
    sides = [np.sort(numbers[~np.isnan(numbers)]) for numbers in (feature.of(first), feature.of(second))]
    grid = thresholds(np.concatenate(sides))
    if not len(grid):
        return
    lows, highs = np.concatenate([[-np.inf], grid]), np.concatenate([grid, [np.inf]])
    tables = [_counts(side, lows, highs) for side in sides]
    for forward in (True, False):
        high, low = tables if forward else tables[::-1]
        merit = np.where(lows[:, None] <= highs[None, :], score(high, low, len(first.values), CAREFUL), -np.inf)
        merit[1:, :-1] -= FANCY  # a half-line is easier to read
        i, j = np.unravel_index(int(np.argmax(merit)), merit.shape)
        yield Candidate(float(merit[i, j]), Interval(feature, float(lows[i]), float(highs[j])), forward)


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


def _sets(first: Iterable[Hashable], second: Iterable[Hashable]) -> Iterator[Candidate]:
    """Sets of values, made by one half of these draws and ranked by the other: single values, the likelier ones."""
    ours, theirs = list(first), list(second)
    half = len(ours) // 2
    makers, judges = [(Counter(s[:half]), Counter(s[half:])) for s in (ours, theirs)], len(ours) - half
    for forward in (True, False):
        (high, high_judge), (low, low_judge) = makers if forward else makers[::-1]
        for members in _made(high, low, half):
            up, down = (np.array([sum(judge[v] for v in members)]) for judge in (high_judge, low_judge))
            yield Candidate(float(score(up, down, judges, PLAIN)[0]), Members(members), forward)


def _made(high: Counter[Hashable], low: Counter[Hashable], draws: int) -> Iterator[tuple[Hashable, ...]]:
    """The best single value, the values seen under one secret only, and the best run of values by likelihood ratio."""
    values = sorted(high, key=lambda v: (-(high[v] + 0.5) / (low[v] + 0.5), -high[v]))
    ups, downs = (np.array([side[v] for v in values]) for side in (high, low))
    yield (values[int(np.argmax(score(ups, downs, draws, PLAIN)))],)
    only = tuple(v for v in values if not low[v])
    if only:
        yield only
    runs = score(np.cumsum(ups), np.cumsum(downs), draws, PLAIN)
    yield tuple(values[: int(np.argmax(runs)) + 1])
