"""Priors of a consumer: what is believed of a count before the answer is seen.

A prior over the counts 0..size−1 gives its weights twice: `exact()`, which sum to exactly 1, and `logs()`, normalised
logarithms as doubles, for sizes far beyond exact arithmetic and weights far below the smallest double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, repeat
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from utmost import exact
from utmost.consumer.files import read_weights
from utmost.consumer.histogram_prior import MAX_HISTOGRAM_BARS, histogram_prior
from utmost.errors import InputError
from utmost.exact import Number, Real, number, rational, sign

Floats: TypeAlias = npt.NDArray[np.float64]

MAX_PRIOR_POINTS = 10_000_001  # points; more would need gigabytes
MAX_EXACT_POINTS = 5000  # points of a binomial or zipf prior in exact arithmetic, or of Poisson proportions
MAX_EXACT_POISSON_POINTS = 2000  # points of a normalised Poisson prior in exact arithmetic: its sum has long factors
MAX_IRRATIONAL_POINTS = 500  # points of a zipf prior with irrational weights
SUM_TOLERANCE = 1e-9  # how far from 1 float weights may sum


@runtime_checkable
class Prior(Protocol):
    """Weights π_k ≥ 0 on the counts k = 0..size−1, with sum 1."""

    @property
    def name(self) -> str:
        """How it is called in a report."""

    @property
    def size(self) -> int:
        """The number of counts."""

    def proportions(self) -> tuple[Number, ...]:
        """Exact weights up to one positive factor: cheaper than `exact`, enough to compare."""

    def exact(self) -> tuple[Number, ...]:
        """The exact weights; their sum is exactly 1."""

    def logs(self) -> Floats:
        """Logarithms ln π_k, normalised; −∞ where π_k = 0."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """1/size each."""

    size: int
    name: str = field(default="uniform", init=False)

    def proportions(self) -> tuple[Number, ...]:
        """All 1."""
        return (Fraction(1),) * self.size

    def exact(self) -> tuple[Number, ...]:
        """All 1/size."""
        return (Fraction(1, self.size),) * self.size

    def logs(self) -> Floats:
        """All −ln size."""
        return np.full(self.size, -math.log(self.size))


@dataclass(frozen=True, slots=True)
class Explicit:
    """Exact weights, one by one."""

    weights: tuple[Number, ...]
    name: str = "explicit"

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.weights)

    def proportions(self) -> tuple[Number, ...]:
        """The weights."""
        return self.weights

    def exact(self) -> tuple[Number, ...]:
        """The weights."""
        return self.weights

    def logs(self) -> Floats:
        """The logarithm of each weight, right to a few units in the last place."""
        return np.array([_log(weight) for weight in self.weights])


@dataclass(frozen=True, slots=True)
class Floating:
    """Weights that were given as doubles; there is nothing exact about them."""

    weights: tuple[float, ...]
    name: str = field(default="explicit (floats)", init=False)

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.weights)

    def proportions(self) -> tuple[Number, ...]:
        """Refused."""
        raise InputError('prior must have exact weights here, got floats: write them as text, for instance "1/3"')

    def exact(self) -> tuple[Number, ...]:
        """Refused."""
        return self.proportions()

    def logs(self) -> Floats:
        """Logarithms of the weights, divided by their sum."""
        weights = np.array(self.weights)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(weights) - math.log(math.fsum(self.weights)))


@dataclass(frozen=True, slots=True)
class Binomial:
    """C(n, k) p^k (1−p)^(n−k) with n = size − 1."""

    size: int
    p: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"binomial:{self.p}"

    def proportions(self) -> tuple[Number, ...]:
        """C(n, k) a^k (b−a)^(n−k) for p = a/b."""
        n, numerator = _check_exact_size(self, MAX_EXACT_POINTS) - 1, self.p.numerator
        powers, complement_powers = _powers(numerator, n), _powers(self.p.denominator - numerator, n)
        choose = accumulate(range(n), lambda c, k: c * (n - k) // (k + 1), initial=1)
        return tuple(
            Fraction(c * power * complement_power)
            for c, power, complement_power in zip(choose, powers, reversed(complement_powers), strict=True)
        )

    def exact(self) -> tuple[Number, ...]:
        """The weights; refused above 5000 points."""
        total = self.p.denominator ** (_check_exact_size(self, MAX_EXACT_POINTS) - 1)
        return tuple(weight / total for weight in self.proportions())

    def logs(self) -> Floats:
        """Sums of ln(π_{k+1}/π_k) outward from the mode, where the rounding is least."""
        n, p, q = self.size - 1, float(self.p), float(1 - self.p)
        if p in (0, 1):
            return np.where(np.arange(self.size) == n * p, 0.0, -np.inf)
        counts = np.arange(n, dtype=np.float64)
        steps = np.log((n - counts) / (counts + 1) * (p / q))
        return _logs_from_mode(steps, min(math.floor((n + 1) * self.p), n))


@dataclass(frozen=True, slots=True)
class Poisson:
    """mean^k/k!, on 0..size−1 and renormalised (the factor e^−mean cancels)."""

    size: int
    mean: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"poisson:{self.mean}"

    def proportions(self) -> tuple[Number, ...]:
        """a^k b^(n−k) n!/k! for mean = a/b."""
        n, top, bottom = _check_exact_size(self, MAX_EXACT_POINTS) - 1, self.mean.numerator, self.mean.denominator
        falling = accumulate(range(n, 0, -1), lambda w, k: w * k * bottom, initial=1)
        return tuple(Fraction(w * u) for w, u in zip(reversed(list(falling)), _powers(top, n), strict=True))

    def exact(self) -> tuple[Number, ...]:
        """The weights; refused above 2000 points."""
        _check_exact_size(self, MAX_EXACT_POISSON_POINTS)
        return _normalise(self.proportions())

    def logs(self) -> Floats:
        """Sums of ln(π_{k+1}/π_k) outward from the mode, where the rounding is least."""
        steps = np.log(float(self.mean) / np.arange(1, self.size, dtype=np.float64))
        return _logs_from_mode(steps, min(math.floor(self.mean), self.size - 1))


@dataclass(frozen=True, slots=True)
class Zipf:
    """(k+1)^−s, renormalised."""

    size: int
    s: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"zipf:{self.s}"

    def proportions(self) -> tuple[Number, ...]:
        """(k+1)^−s; refused above 5000 points, and above 500 where s is not a whole number."""
        _check_exact_size(self, MAX_EXACT_POINTS if self.s.denominator == 1 else MAX_IRRATIONAL_POINTS)
        return tuple(exact.power(k + 1, -self.s) for k in range(self.size))

    def exact(self) -> tuple[Number, ...]:
        """The weights; refused where `proportions` is."""
        return _normalise(self.proportions())

    def logs(self) -> Floats:
        """−s·ln(k+1), normalised."""
        return _normalise_logs(-float(self.s) * np.log(np.arange(1, self.size + 1, dtype=np.float64)))


def uniform(size: int) -> Uniform:
    """Every count alike.

    >>> uniform(3).exact()
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """
    return Uniform(_check_size(size))


def explicit(weights: Iterable[object]) -> Explicit | Floating:
    """These weights: exact ones must sum to exactly 1; if one is a float, to 1 within 10⁻⁹.

    >>> explicit(["1/4", 0, "3/4"]).exact()
    (Fraction(1, 4), Fraction(0, 1), Fraction(3, 4))
    """
    values = list(weights)
    _check_size(len(values))
    if any(isinstance(value, float) for value in values):
        return _float_prior(values)
    exacts = tuple(number(int(v) if isinstance(v, np.integer) else v, "prior") for v in values)
    if any(sign(weight) < 0 for weight in exacts):
        raise InputError("prior must have weights >= 0, got a negative one: a weight is a probability")
    total = sum(exacts, Fraction(0))
    if total != 1:
        raise InputError(f"prior must sum to 1, got {_short_text(total)}: divide each weight by that")
    return Explicit(exacts)


def binomial(size: int, p: object) -> Binomial:
    """The number of heads among size − 1 coins of bias p.

    >>> binomial(3, "1/2").exact()
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    """
    chance = rational(p, "binomial")
    if not 0 <= chance <= 1:
        raise InputError(f"binomial must have a probability in [0, 1], got {chance}")
    return Binomial(_check_size(size), chance)


def poisson(size: int, mean: object) -> Poisson:
    """A Poisson count of this mean, given that it is below `size`.

    >>> poisson(3, 2).exact()
    (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))
    """
    rate = rational(mean, "poisson")
    if not 0 < rate <= 10**15:
        raise InputError(f"poisson must have a mean > 0 and at most 10^15, got {_short_text(rate)}")
    return Poisson(_check_size(size), rate)


def zipf(size: int, s: object) -> Zipf:
    """Weights proportional to (k+1)^−s.

    >>> zipf(3, 1).exact()
    (Fraction(6, 11), Fraction(3, 11), Fraction(2, 11))
    """
    exponent = rational(s, "zipf")
    if not 0 <= exponent <= 100:
        raise InputError(f"zipf must have an exponent in [0, 100], got {_short_text(exponent)}")
    return Zipf(_check_size(size), exponent)


def steps(size: int, heights: Sequence[object]) -> Prior:
    """A histogram: bars of equal width over the counts, these heights up to a factor, level within each.

    >>> steps(4, [1, 3]).exact()
    (Fraction(1, 8), Fraction(1, 8), Fraction(3, 8), Fraction(3, 8))
    """
    return histogram_prior(_check_size(size), heights)


def from_data(samples: Iterable[int], size: int, smoothing: object = 0) -> Explicit:
    """The share of each count among `samples`, after adding `smoothing` to each of the `size` tallies.

    >>> from_data([0, 2, 2], 3).exact(), from_data([0, 2, 2], 3, smoothing=1).exact()[1]
    ((Fraction(1, 3), Fraction(0, 1), Fraction(2, 3)), Fraction(1, 6))
    """
    pseudo_count = rational(smoothing, "smoothing")
    if pseudo_count < 0:
        raise InputError(f"smoothing must be >= 0, got {pseudo_count}")
    counts = np.asarray(list(samples) if not isinstance(samples, np.ndarray) else samples)
    if counts.size and (counts.dtype.kind not in "iu" or counts.ndim != 1):
        raise InputError("samples must be a flat list of whole numbers: count before, round nothing")
    if counts.size and not (counts.min() >= 0 and counts.max() < _check_size(size)):
        raise InputError(f"samples must be counts from 0 to {size - 1}, got one outside: raise size or drop it")
    total = counts.size + pseudo_count * _check_size(size)
    if not total:
        raise InputError("samples must not be empty without smoothing: add smoothing=1 for a uniform prior")
    tallies = np.bincount(counts.astype(np.int64), minlength=size).tolist()
    return Explicit(tuple((tally + pseudo_count) / total for tally in tallies), "data")


def parse(text: str, size: int) -> Prior:
    """The prior over 0..size−1 that the command line names.

    `uniform`, weights `1/4,0,3/4`, `binomial:0.3`, `poisson:12.5`, `zipf:1`, `steps:1,3,2`, or a file, read exactly.

    >>> parse("1/4,0,3/4", 3).exact()[2], parse("binomial:0.3", 5).name
    (Fraction(3, 4), 'binomial:3/10')
    """
    kind, _, arguments = text.strip().partition(":")
    families: dict[str, Callable[[int, str], Prior]] = {
        "binomial": binomial,
        "poisson": poisson,
        "zipf": zipf,
        "steps": lambda size, heights: steps(size, heights.split(",", MAX_HISTOGRAM_BARS)),
    }
    if text.strip() == "uniform":
        return uniform(size)
    if kind in families and arguments:
        return families[kind](size, arguments)
    prior = listed(text)
    if prior.size != size:
        raise InputError(f"prior must have {size} weights, one for each secret in order, got {prior.size}")
    return prior


def listed(text: str) -> Explicit | Floating:
    """The prior whose weights a text lists, which sum to 1, or a file holds, which are divided by their sum."""
    weights, from_file = read_weights(text.strip())
    return normalised(weights) if from_file else explicit(weights)


def normalised(weights: Iterable[object]) -> Explicit:
    """Weights of any sum > 0, each divided by it, exactly.

    >>> normalised([1, "0.5", "1/2"]).exact()
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """
    exacts = [number(value, "prior") for value in weights]
    if any(sign(weight) < 0 for weight in exacts) or not any(exacts):
        raise InputError("prior must have weights >= 0, and one above 0: a weight is a probability, up to a factor")
    return Explicit(_normalise(exacts))


def _check_size(size: int) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size <= MAX_PRIOR_POINTS:
        raise InputError(
            f"size must be a whole number from 1 to {MAX_PRIOR_POINTS} counts, got {size}: group the counts"
        )
    return int(size)


def _check_exact_size(prior: Binomial | Poisson | Zipf, limit: int) -> int:
    if prior.size > limit:
        raise InputError(
            f"prior {prior.name} is exact up to size {limit}, got {prior.size}: use logs() or a smaller size"
        )
    return prior.size


def _float_prior(values: Sequence[object]) -> Floating:
    weights = tuple(float(v) if isinstance(v, float | int) else float(number(v, "prior")) for v in values)
    if not all(0 <= weight <= 2 for weight in weights):
        raise InputError("prior must have finite weights in [0, 1], got one outside: a weight is a probability")
    total = math.fsum(weights)
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(f"prior must sum to 1 within {SUM_TOLERANCE}, got {total!r}: divide each weight by that")
    return Floating(weights)


def _short_text(value: Number) -> str:
    if isinstance(value, Real) or value.denominator.bit_length() + value.numerator.bit_length() > 128:
        return f"about {exact.decimal(value)}"
    return str(value)


def _normalise(weights: Sequence[Number]) -> tuple[Number, ...]:
    total = sum(weights, Fraction(0))
    return tuple(weight / total for weight in weights)


def _powers(base: int, n: int) -> list[int]:
    """base^0..base^n."""
    return list(accumulate(repeat(base, n), int.__mul__, initial=1))


def _log(weight: Number) -> float:
    """The logarithm of an exact weight, however small; −∞ of 0."""
    if isinstance(weight, Real):
        value = float(weight)
        return math.log(value) if value > 1e-300 else float(weight.ball(4096).log().mid())
    top, bottom = weight.numerator, weight.denominator
    if not top:
        return -math.inf
    shift = bottom.bit_length() - top.bit_length()
    ratio = (top << shift) / bottom if shift >= 0 else top / (bottom << -shift)
    return math.log(ratio) - shift * math.log(2)


def _logs_from_mode(steps: Floats, mode: int) -> Floats:
    """Normalised logs with these increments, summed away from the mode in both directions."""
    below = -np.cumsum(steps[:mode][::-1])[::-1]
    return _normalise_logs(np.concatenate([below, [0.0], np.cumsum(steps[mode:])]))


def _normalise_logs(logs: Floats) -> Floats:
    top = float(logs.max())
    return np.asarray(logs - (top + math.log(float(np.exp(logs - top).sum()))))
