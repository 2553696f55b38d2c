"""Values of a black box as numeric features, and events of them: chosen on some draws, counted on others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError

Numbers: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
VALUE_ITSELF = -1  # the position of a value that is itself a number
MAX_COORDINATES = 8  # of a tuple that are looked at one by one
MAX_VALUE_NESTING = 8  # tuples inside tuples
MAX_VALUE_PARTS = 1000  # numbers or texts inside one value
MODULI = (2, 3, 4, 5, 7, 8, 9, 10, 16, 32, 64, 128)
MAX_EXACT_INTEGER = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Values in the order drawn, and the float of each at each position (nan where there is no number)."""

    values: Sequence[Hashable]
    columns: dict[int, Numbers]

    def part(self, positions: slice) -> Sample:
        """The values at some positions."""
        return Sample(self.values[positions], {p: column[positions] for p, column in self.columns.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A number computed from a value: `name` in a condition, `suffix` after it.

    `compute` takes the column at `position`; `complexity` is 1 if it is not the number itself.
    """

    name: str
    suffix: str
    position: int
    compute: Callable[[Numbers], Numbers]
    complexity: int = 1

    def values_in(self, sample: Sample) -> Numbers:
        """The feature of each value; nan where it has none."""
        return self.compute(sample.columns[self.position])


def to_comparable(value: object, depth: int = 0) -> Hashable:
    """A value as a number, text or a tuple of such. Any map of results is sound: it can only lower ε.

    >>> to_comparable(np.float32(0.5)), to_comparable(float("nan")), to_comparable([1, None])
    (0.5, 'nan', (1, 'None'))
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _comparable_tuple(value, depth)
    if isinstance(value, complex):
        return (to_comparable(value.real), to_comparable(value.imag))
    if isinstance(value, Decimal):
        return _comparable_decimal(value)
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if value is None:
        return "None"
    plain_type: type[Any]
    for plain_type in (bool, int, float, Fraction, str, bytes):
        if isinstance(value, plain_type):
            # a subclass may define its own comparison
            result: Hashable = value if type(value) is plain_type else plain_type(value)
            return result
    kind = type(value).__name__[:40]
    raise InputError(
        f"an audited value must be a number, text or a tuple of such, got {kind}", hint="wrap the function"
    )


def _comparable_tuple(value: Sequence[object], depth: int) -> Hashable:
    if depth > MAX_VALUE_NESTING:
        raise InputError(f"an audited value must be nested at most {MAX_VALUE_NESTING} deep", hint="summarise it")
    if len(value) > MAX_VALUE_PARTS:
        raise InputError(
            f"an audited value must have at most {MAX_VALUE_PARTS} parts, got {len(value)}", hint="summarise it"
        )
    return tuple(to_comparable(part, depth + 1) for part in value)


def _comparable_decimal(value: Decimal) -> Hashable:
    if value.is_nan():
        return "nan"
    return float(value) if value.is_infinite() or abs(value.adjusted()) > MAX_VALUE_PARTS else Fraction(value)


def make_sample(values: Sequence[Hashable], positions: Iterable[int]) -> Sample:
    """The values with their columns."""
    return Sample(
        values, {position: np.array([_to_float(_coordinate(v, position)) for v in values]) for position in positions}
    )


def number_positions(values: Iterable[Hashable]) -> list[int]:
    """Positions of numbers: the value itself, the first coordinates of tuples."""
    positions = {VALUE_ITSELF}
    for value in values:
        if isinstance(value, tuple):
            positions.update(range(min(len(value), MAX_COORDINATES)))
    return sorted(positions)


def _coordinate(value: Hashable, position: int) -> Hashable:
    if isinstance(value, tuple):
        return value[position] if 0 <= position < len(value) else None
    return value if position == VALUE_ITSELF else None


def _to_float(value: Hashable) -> float:
    if isinstance(value, float):
        return value
    if not isinstance(value, int | Fraction):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def make_features(first: Sample) -> list[Feature]:
    """What is computed from the values, given the first draws: themselves, their low bits, their residues."""
    features = []
    for position in first.columns:
        column = first.columns[position]
        if np.all(np.isnan(column)):
            continue
        name = "value" if position == VALUE_ITSELF else f"coordinate {position + 1}"
        features += [
            Feature(name, "", position, lambda numbers: numbers, 0),
            *_bit_features(name, position),
            *_residue_features(name, position, column),
        ]
    return features


def _bit_features(name: str, position: int) -> list[Feature]:
    return [
        Feature("k", f", where 2^k is the lowest bit of {name}", position, lowest_bit),
        Feature("k", f", where k zeros end the 53 bits of {name}", position, trailing_zeros),
        Feature("s", f", where s is 1 if {name} is a zero with a minus sign", position, _is_minus_zero),
    ]


def _residue_features(name: str, position: int, column: Numbers) -> list[Feature]:
    step = grid_step(column)
    if step is None:
        return []
    label = name if step == 1 else f"({name}·{1 / step:g})"
    return [Feature(f"{label} mod {m}", "", position, lambda c, m=m: _residue(c, step, m)) for m in MODULI]  # type: ignore[misc]


def lowest_bit(numbers: Numbers) -> Numbers:
    """k for a double that is an odd multiple of 2^k; nan for 0 and what is not finite.

    >>> lowest_bit(np.array([1.0, 12.0, 0.75, 0.0])).tolist()
    [0.0, 2.0, -2.0, nan]
    """
    return np.asarray(np.frexp(_finite_nonzero(numbers))[1] - 53 + trailing_zeros(numbers))


def trailing_zeros(numbers: Numbers) -> Numbers:
    """How many zeros end the 53-bit significand of a double; nan for 0 and what is not finite."""
    usable = _finite_nonzero(numbers)
    bits = np.where(np.isnan(usable), 0.0, np.frexp(usable)[0] * MAX_EXACT_INTEGER).astype(np.int64)
    lowest = (bits & -bits).astype(float)
    return np.where(lowest > 0, np.log2(np.maximum(lowest, 1.0)), np.nan)


def _finite_nonzero(numbers: Numbers) -> Numbers:
    return np.where(np.isfinite(numbers) & (numbers != 0), numbers, np.nan)


def _is_minus_zero(numbers: Numbers) -> Numbers:
    return np.where(np.isnan(numbers), np.nan, (numbers == 0) & np.signbit(numbers))


def grid_step(numbers: Numbers) -> float | None:
    """The first of 1, 0.1 … 1e-6, 1/2, 1/4 … 2^-40 of which all finite numbers are multiples, if any is.

    >>> grid_step(np.array([3.0, 8.0])), grid_step(np.array([0.25, 0.1])), grid_step(np.array([0.1 + 0.2, 1 / 3]))
    (1.0, 0.01, None)
    """
    finite = numbers[np.isfinite(numbers)]
    steps = [10.0**-d for d in range(7)] + [2.0**-k for k in range(1, 41)]
    return next((step for step in steps if len(finite) and not np.any(np.isnan(_grid_index(finite, step)))), None)


def _grid_index(numbers: Numbers, step: float) -> Numbers:
    """n for the double nearest to n·step with |n| < 2^53; nan for the rest."""
    factor = round(1 / step)
    usable = np.where(np.abs(numbers) < MAX_EXACT_INTEGER / factor, numbers, np.nan)
    index = np.rint(usable * factor)
    return np.where(index / factor == usable, index, np.nan)


def _residue(numbers: Numbers, step: float, modulus: int) -> Numbers:
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    return np.asarray(np.mod(_grid_index(finite, step), modulus))


RELATIVE_MARGIN = 1e-9  # the inverse of the beta function is right to about 1e-12


def lower_bound(count: int, draws: int, risk: float) -> float:
    """The Clopper–Pearson lower bound: Pr[bound > p] ≤ risk for every p, if count is Binomial(draws, p).

    It is the p at which `count` or more has probability `risk`; 0 if count is 0. Rounded down.

    >>> round(lower_bound(5, 10, 0.05), 6), lower_bound(0, 10, 0.05)
    (0.222441, 0.0)
    """
    from scipy.special import betaincinv

    if count == 0:
        return 0.0
    return float(betaincinv(count, draws - count + 1, risk)) * (1 - RELATIVE_MARGIN)


def upper_bound(count: int, draws: int, risk: float) -> float:
    """The Clopper–Pearson upper bound: Pr[bound < p] ≤ risk for every p. It is > 0 always, and rounded up.

    >>> round(upper_bound(5, 10, 0.05), 6), round(upper_bound(0, 10, 0.05), 6) == round(1 - 0.05**0.1, 6)
    (0.777559, True)
    """
    from scipy.special import betainccinv

    if count >= draws:
        return 1.0
    return min(1.0, float(betainccinv(count + 1, draws - count, risk)) * (1 + RELATIVE_MARGIN))


def log_ratio(high: int, low: int, draws: int, risk: float, delta: float = 0.0) -> float:
    """A number that exceeds ln((p − δ)/q) with probability at most `risk`: half of it for p, half for q.

    −∞ where nothing shows that p > δ.
    """
    excess = lower_bound(high, draws, risk / 2) - delta
    return math.log(excess) - math.log(upper_bound(low, draws, risk / 2)) if excess > 0 else -math.inf


def wilson_score(
    high: npt.NDArray[Any], low: npt.NDArray[Any], draws: int, z: float, delta: float = 0.0
) -> npt.NDArray[np.float64]:
    """ln of Wilson's lower bound for p, less δ, over his upper bound for q, z standard errors out: a score."""
    half_square = z * z / 2
    high_counts, low_counts = high.astype(float), low.astype(float)
    p = high_counts + half_square - z * np.sqrt(high_counts * (1 - high_counts / draws) + half_square / 2)
    q = low_counts + half_square + z * np.sqrt(low_counts * (1 - low_counts / draws) + half_square / 2)
    return np.asarray(np.log(np.maximum(p - delta * (draws + z * z), 1e-9)) - np.log(q))


MAX_THRESHOLDS = 64  # of one feature
MAX_ATOMS = 8  # of them: values that come often
INTERVAL_STANDARD_ERRORS = 5.0  # by which one of many thousand intervals must stand out
SET_STANDARD_ERRORS = 3.0  # the same for a set that other draws have chosen
COMPLEXITY_PENALTY = 0.01  # of the score; what each step away from a half-line must gain
MIN_LOG_COUNT_RATIO = 0.01  # below it an event, almost sure under both secrets, is not worth counting
MIN_EXCLUSIVE_COUNT = 8  # what came less often, even under one secret only, shows nothing
MAX_NAMED_VALUES = 3  # members of a set that are named


class Event(Protocol):
    """A set of results: which of a sample are in it, and its name."""

    def contains(self, sample: Sample) -> Flags:
        """Whether each value is in it."""

    @property
    def complexity(self) -> int:
        """How hard it is to read: 0 for a half-line or a value."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Interval:
    """low ≤ feature ≤ high."""

    feature: Feature
    low: float
    high: float

    def contains(self, sample: Sample) -> Flags:
        """Whether each value has the feature in the interval."""
        numbers = self.feature.values_in(sample)
        return np.asarray((numbers >= self.low) & (numbers <= self.high))

    @property
    def complexity(self) -> int:
        """One step for a second end, one for a feature that is not the value itself."""
        return (
            int(math.isfinite(self.low) and math.isfinite(self.high) and self.low != self.high)
            + self.feature.complexity
        )

    def __str__(self) -> str:
        name, low, high = self.feature.name, _number_text(self.low), _number_text(self.high)
        if self.low == self.high:
            return f"{name} = {low}{self.feature.suffix}"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{name} is a number{self.feature.suffix}"
        lower_part = "" if math.isinf(self.low) else f"{low} ≤ "
        if lower_part and math.isinf(self.high):
            return f"{name} ≥ {low}{self.feature.suffix}"
        return f"{lower_part}{name} ≤ {high}{self.feature.suffix}"


@dataclass(frozen=True, slots=True)
class Members:
    """One of these values; the likeliest come first."""

    values: tuple[Hashable, ...]

    def contains(self, sample: Sample) -> Flags:
        """Whether each value is among them."""
        inside = frozenset(self.values)
        return np.fromiter((value in inside for value in sample.values), np.bool_, len(sample.values))

    @property
    def complexity(self) -> int:
        """0 for one value, 1 for a few that are all named, 2 for more."""
        return 0 if len(self.values) == 1 else 1 if len(self.values) <= MAX_NAMED_VALUES else 2

    def __str__(self) -> str:
        names = [repr(value)[:40] for value in self.values[:MAX_NAMED_VALUES]]
        if len(self.values) == 1:
            return f"value = {names[0]}"
        if len(self.values) <= MAX_NAMED_VALUES:
            return f"value is {', '.join(names[:-1])} or {names[-1]}"
        return f"value is one of {len(self.values)}, such as {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class CandidateEvent:
    """An event that may be likelier under one secret: under the first if `forward`, else under the second.

    `exclusive`: it came several times under that one, never under the other.
    """

    score: float
    event: Event
    forward: bool
    exclusive: bool


def _number_text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(float(number))


def choose_events(first: Sample, second: Sample, count: int, delta: float = 0.0) -> list[CandidateEvent]:
    """The `count` ≥ 2 most promising events for samples of this size: the best of each feature each way, ranked.

    One each way is reserved for an event that came under one secret only, and in more than a part δ of the draws: rare
    as it may be, it can show a large ε.
    """
    pooled = Sample([], {p: np.concatenate([first.columns[p], second.columns[p]]) for p in first.columns})
    candidates = [best for feature in make_features(pooled) for best in _best_intervals(feature, first, second, delta)]
    candidates += _value_sets(first.values, second.values, delta)
    distinct: dict[tuple[float, bool], CandidateEvent] = {}
    for candidate in candidates:  # one score, one event under several names: the plainest comes first
        if math.isfinite(candidate.score):
            distinct.setdefault((round(candidate.score, 9), candidate.forward), candidate)
    ranked = sorted(distinct.values(), key=lambda candidate: -candidate.score)
    exclusive_events = [
        next((c for c in ranked if c.exclusive and c.forward is forward), None) for forward in (True, False)
    ]
    reserved = [c for c in exclusive_events if c is not None][:count]
    rest = [c for c in ranked if not any(c is event for event in reserved)]
    best = sorted(reserved + rest[: count - len(reserved)], key=lambda candidate: -candidate.score)
    return best or candidates[:1]


def _event_scores(high: Numbers, low: Numbers, draws: int, z: float, delta: float) -> Numbers:
    """The score; −∞ where it is not positive and the counts are almost equal, as those of near-certain events are."""
    scores = wilson_score(high, low, draws, z, delta)
    is_slight = np.log((high + 1) / (low + 1)) < MIN_LOG_COUNT_RATIO
    return np.where((scores <= 0) & is_slight, -np.inf, scores)


def _best_intervals(feature: Feature, first: Sample, second: Sample, delta: float) -> Iterator[CandidateEvent]:
    """The best interval of a feature each way, and the best that came under one secret only; ends on thresholds."""
    columns = (feature.values_in(first), feature.values_in(second))
    sorted_numbers = [np.sort(numbers[~np.isnan(numbers)]) for numbers in columns]
    grid = thresholds(np.concatenate(sorted_numbers))
    if not len(grid):
        return
    lows, highs = np.concatenate([[-np.inf], grid]), np.concatenate([grid, [np.inf]])
    tables = [_interval_counts(numbers, lows, highs) for numbers in sorted_numbers]
    draws = len(first.values)
    least_exclusive = max(MIN_EXCLUSIVE_COUNT, delta * draws)
    for forward in (True, False):
        high, low = tables if forward else tables[::-1]
        scores = _event_scores(high, low, draws, INTERVAL_STANDARD_ERRORS, delta)
        scores = np.where(lows[:, None] <= highs[None, :], scores, -np.inf)
        # a half-line is easier to read
        scores[1:, :-1] -= np.where(lows[1:, None] == highs[None, :-1], 0, COMPLEXITY_PENALTY)
        exclusive = (low == 0) & (high >= least_exclusive)
        for table in (scores, np.where(exclusive, scores, -np.inf)):
            i, j = np.unravel_index(int(np.argmax(table)), table.shape)
            event = Interval(feature, float(lows[i]), float(highs[j]))
            score = float(table[i, j]) - COMPLEXITY_PENALTY * feature.complexity
            yield CandidateEvent(score, event, forward, bool(exclusive[i, j]))


def _interval_counts(ordered: Numbers, lows: Numbers, highs: Numbers) -> Numbers:
    """How many lie in [low, high], for each pair of ends."""
    count_up_to, count_below = np.searchsorted(ordered, highs, "right"), np.searchsorted(ordered, lows, "left")
    return np.asarray(np.maximum(count_up_to[None, :] - count_below[:, None], 0), dtype=np.float64)


def thresholds(numbers: Numbers) -> Numbers:
    """About `MAX_THRESHOLDS` of the values: all, if they are fewer; else quantiles, denser in the tails, and atoms."""
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) <= MAX_THRESHOLDS:
        return values
    size = len(numbers)
    tails = 2 ** np.arange(0, math.log2(size) - 2)
    even = np.linspace(0, size - 1, MAX_THRESHOLDS // 2)
    ranks = np.unique(np.concatenate([tails, size - 1 - tails, even]).astype(np.int64))
    commonest = np.argsort(counts)[-MAX_ATOMS:]
    atoms = values[commonest[counts[commonest] > max(2, size // 1000)]]
    return np.unique(np.concatenate([np.sort(numbers)[ranks], atoms]))


def _value_sets(first: Iterable[Hashable], second: Iterable[Hashable], delta: float) -> Iterator[CandidateEvent]:
    """Sets of values, made by one half of these draws and ranked by the other: single values, the likelier ones.

    Counts of a half are scaled to all draws, since so many will judge the set in the end.
    """
    ours, theirs = list(first), list(second)
    draws, half = len(ours), len(ours) // 2
    halves = [(Counter(s[:half]), Counter(s[half:])) for s in (ours, theirs)]
    scale = draws / (draws - half)
    for forward in (True, False):
        (high, high_judge), (low, low_judge) = halves if forward else halves[::-1]
        for members in _candidate_sets(high, low, draws / half, draws, delta):
            high_count, low_count = (scale * np.array([sum(j[v] for v in members)]) for j in (high_judge, low_judge))
            event = Members(members)
            scores = _event_scores(high_count, low_count, draws, SET_STANDARD_ERRORS, delta)
            is_frequent = bool(high_count[0] >= max(MIN_EXCLUSIVE_COUNT, delta * draws))
            exclusive = is_frequent and not low_count[0] and not any(low[v] for v in members)
            score = float(scores[0]) - COMPLEXITY_PENALTY * event.complexity
            yield CandidateEvent(score, event, forward, exclusive)


def _candidate_sets(
    high: Counter[Hashable], low: Counter[Hashable], scale: float, draws: int, delta: float
) -> Iterator[tuple[Hashable, ...]]:
    """The best single value, the values seen under one secret only, and the best run of values by likelihood ratio."""
    values = sorted(high, key=lambda v: (-(high[v] + 0.5) / (low[v] + 0.5), -high[v]))
    high_counts, low_counts = (scale * np.array([counts[v] for v in values]) for counts in (high, low))
    yield (values[int(np.argmax(_event_scores(high_counts, low_counts, draws, SET_STANDARD_ERRORS, delta)))],)
    exclusive_values = tuple(v for v in values if not low[v])
    if exclusive_values:
        yield exclusive_values
    runs = _event_scores(np.cumsum(high_counts), np.cumsum(low_counts), draws, SET_STANDARD_ERRORS, delta)
    yield tuple(values[: int(np.argmax(runs)) + 1])
