"""Laws of noise on one count: the likelihood of a count given its answer, and how far the noise goes.

For each law, N the noise and y the answer:

| law | Pr[y given x] as x varies | exponential moments of a side |
| --- | --- | --- |
| geometric | ∝ α^|x−y|; at an end Pr[y = low] = α^(x−low)/(1+α) | (1−α)²/((1−αe^θ)(1−αe^−θ)), θ < ε |
| discrete Gaussian | ∝ e^(−(x−y)²/(2σ²)); at an end that absorbs, a tail | ≤ e^(θ²σ²/2) |
| canonical | ∝ α^|x−y| for |x−y| ≤ R | at most the geometric's: E cosh θN grows with R |
| found key | Pr[N = x+τ−y], or over π(x) given that the cell was told | none; its range is used (`noise.selection`) |
| key not found | 1 − π(x) | none; its range is used |

An answer that is brought back to an end moves towards the truth, so on that side only the positive part of the noise
counts: E e^(θN⁺) = Pr[N ≤ 0] + Σ_{n>0} Pr[N = n]·e^(θn).

The Gaussian's: E e^(θN) = e^(θ²σ²/2)·Σ e^(−(n−θσ²)²/(2σ²))/Σ e^(−n²/(2σ²)), and the sum over a shifted lattice is
largest without the shift, since its Fourier coefficients are positive. So its variance is at most σ², too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.exact import Level, Real, ball, ball_endpoints
from utmost.exact.working_precision import working_precision
from utmost.noise.selection import SelectionLaw
from utmost.noise.tight_canonical import TightLaw

if TYPE_CHECKING:
    from flint import arb

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

BITS = 192  # of balls
VARIANCE_BITS = 64  # to which an irrational variance is rounded up
MAX_TAIL_STEPS = 40  # σ beyond which a Gaussian tail is not summed up any more


class NoiseLaw(ABC):
    """The law of the noise on one count. Laws are values: equal parameters, equal laws."""

    __slots__ = ()

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The ends between which the count is known to lie, or None; they absorb answers beyond."""
        return None, None

    @abstractmethod
    def log_likelihood(self, value: int, counts: Ints) -> Floats:
        """ln Pr[value given x] for these counts within the ends, up to a constant; −∞ where it is impossible."""

    @abstractmethod
    def range(self, value: int, miss: Fraction) -> tuple[int, int]:
        """Counts [low, high] outside of which x lies with probability at most `miss`, whatever x is."""

    @property
    def variance(self) -> Fraction | None:
        """An upper bound on the noise's variance; None where the answer has no unbiased value."""
        return None

    @property
    def has_value(self) -> bool:
        """Is an answer a number."""
        return True

    def unbiased(self, value: int) -> Fraction:
        """A number whose expectation is the count."""
        return Fraction(value)

    def log_moment(self, rate: float, below: bool) -> arb | None:
        """A ball whose upper end is at least ln E e^(θD), D = y − x if `below`, else x − y; None where it is not known.

        `rate` is θ > 0, below `largest_rate`.
        """
        return None

    @property
    def largest_rate(self) -> float:
        """The moments are finite for θ below this."""
        return 0.0


@dataclass(frozen=True, slots=True)
class GeometricNoise(NoiseLaw):
    """Two-sided geometric noise, Pr[n] ∝ α^|n|, and ends that absorb.

    >>> from utmost.exact import alpha
    >>> law = GeometricNoise(alpha("1/2"), 0, None)
    >>> law.variance, law.unbiased(0), law.range(7, Fraction(1, 100))
    (Fraction(4, 1), Fraction(-1, 1), (0, 14))
    """

    level: Level
    low: int | None = 0
    high: int | None = None

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """As given."""
        return self.low, self.high

    def log_likelihood(self, value: int, counts: Ints) -> Floats:
        """−ε·|x − y|."""
        return np.asarray(-_epsilon(self.level) * np.abs(counts - value))

    def range(self, value: int, miss: Fraction) -> tuple[int, int]:
        """y ± K, Pr[N > K] = α^(K+1)/(1+α) ≤ miss/2."""
        reach = _geometric_reach(self.level, miss)
        return _cut(value - reach, value + reach, self.ends)

    @property
    def variance(self) -> Fraction:
        """2α/(1−α)². At an end it is less."""
        return _geometric_variance(self.level)

    def unbiased(self, value: int) -> Fraction:
        """y; at an end low − α/(1−α), high + α/(1−α): what the noise is there on average, as it has no memory."""
        if self.low is not None and self.low == self.high:
            return Fraction(value)
        below, above = value == self.low, value == self.high
        return value + (int(above) - int(below)) * _geometric_excess(self.level) if below or above else Fraction(value)

    def log_moment(self, rate: float, below: bool) -> arb:
        """The formulas of this module's head."""
        absorbs = (self.low if below else self.high) is not None
        return _geometric_log_moment(self.level, rate, absorbs)

    @property
    def largest_rate(self) -> float:
        """ε."""
        return self.level.epsilon


@dataclass(frozen=True, slots=True)
class GaussianNoise(NoiseLaw):
    """Discrete Gaussian noise, Pr[n] ∝ e^(−n²/(2·variance)); ends, where given, absorb."""

    parameter: Fraction
    low: int | None = None
    high: int | None = None

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """As given."""
        return self.low, self.high

    def log_likelihood(self, value: int, counts: Ints) -> Floats:
        """−(x−y)²/(2σ²); at an end ln Pr[N ≤ low − x], ln Pr[N ≥ high − x]."""
        gaps = np.asarray(counts - value, dtype=np.float64)
        if self.low is not None and self.low == self.high:
            return np.zeros(len(gaps))
        if value in (self.low, self.high):
            return _log_gaussian_tails(gaps if value == self.low else -gaps, float(self.parameter))
        return np.asarray(-(gaps**2) / (2 * float(self.parameter)))

    def range(self, value: int, miss: Fraction) -> tuple[int, int]:
        """y ± K, Pr[N ≥ K + 1] ≤ e^(−(K+1)²/(2σ²)) ≤ miss/2."""
        reach = _gaussian_reach(self.parameter, miss)
        return _cut(value - reach, value + reach, self.ends)

    @property
    def variance(self) -> Fraction | None:
        """σ², which the discrete law's is at most; None where an end absorbs: no value is unbiased."""
        return self.parameter if self.ends == (None, None) else None

    def log_moment(self, rate: float, below: bool) -> arb:
        """θ²σ²/2; where the end absorbs at most ln(1 + e^(θ²σ²/2))."""
        from flint import arb

        with working_precision(BITS):
            exponent = arb(rate) ** 2 * ball(self.parameter, BITS) / 2
            absorbs = (self.low if below else self.high) is not None
            return (1 + exponent.exp()).log() if absorbs else exponent

    @property
    def largest_rate(self) -> float:
        """40/σ: no larger θ is of use."""
        return 40 / math.sqrt(self.parameter)


@dataclass(frozen=True, slots=True)
class CanonicalNoise(NoiseLaw):
    """Two-sided geometric noise kept within R; answers are told as drawn, `low` and `high` bound the count."""

    law: TightLaw
    low: int | None = 0
    high: int | None = None

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """As given: of the count, not of its answers."""
        return self.low, self.high

    def log_likelihood(self, value: int, counts: Ints) -> Floats:
        """−ε·|x − y| within R, −∞ beyond."""
        distances = np.abs(counts - value)
        return np.where(distances <= self.law.reach, -_epsilon(self.law.level) * distances, -np.inf)

    def range(self, value: int, miss: Fraction) -> tuple[int, int]:
        """y ± the least K with Pr[|N| > K] ≤ miss, at most R."""
        reach = self.law.half_width(miss)
        return _cut(value - reach, value + reach, self.ends)

    @property
    def variance(self) -> Fraction:
        """Σ n²·Pr[n], rounded up."""
        return _canonical_variance(self.law)

    def log_moment(self, rate: float, below: bool) -> arb:
        """That of the geometric law, which is at least as large: E cosh θN grows with R."""
        return _geometric_log_moment(self.law.level, rate, False)

    @property
    def largest_rate(self) -> float:
        """ε."""
        return self.law.level.epsilon


@dataclass(frozen=True, slots=True)
class FoundNoise(NoiseLaw):
    """A cell found in the data, told with y = x + τ − N because N ≤ x.

    Of one cell that is looked at because it was told, the likelihood is given that it was. Where cells were known
    before, that a cell was told is part of the answer (not `given_told`), and others have `UntoldNoise`.
    """

    law: SelectionLaw
    given_told: bool = True

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """No cell without a unit is told."""
        return 1, None

    def log_likelihood(self, value: int, counts: Ints) -> Floats:
        """ln Pr[N = x + τ − y] − ln π(x), from closed forms in doubles."""
        places = np.asarray(counts + self.law.threshold - value, dtype=np.int64)
        masses, told = _selection_logs(self.law)
        inner = (places >= 1) & (places <= self.law.last) & (counts >= 1)
        logs = np.full(len(counts), -np.inf)
        logs[inner] = masses[places[inner] - 1]
        if self.given_told:
            logs[inner] -= told[np.minimum(counts[inner], self.law.last) - 1]
        return logs

    def range(self, value: int, miss: Fraction) -> tuple[int, int]:
        """Given that the cell is told its count is outside with probability at most `miss` (`SelectionLaw`)."""
        return self.law.told_range(value - self.law.threshold, miss)


@dataclass(frozen=True, slots=True)
class UntoldNoise(NoiseLaw):
    """A cell that was known before and not found: that it was not told is all there is, and it has no number."""

    law: SelectionLaw

    @property
    def has_value(self) -> bool:
        """No."""
        return False

    def log_likelihood(self, value: int, counts: Ints) -> Floats:
        """ln(1 − π(x)): a cell of L units is always told."""
        untold = _untold_logs(self.law)
        return np.asarray(untold[np.clip(counts, 0, self.law.last)])

    def range(self, value: int, miss: Fraction) -> tuple[int, int]:
        """0 and the greatest count that is not told with a probability above `miss`."""
        counts = range(self.law.last + 1)
        return 0, bisect_left(counts, True, key=lambda n: self.law.is_likelier(n, 1 - miss, self.law.last)) - 1


def _cut(low: int, high: int, ends: tuple[int | None, int | None]) -> tuple[int, int]:
    """The range within the ends; one of its own ends if they do not meet."""
    if ends[0] is not None:
        low, high = max(low, ends[0]), max(high, ends[0])
    if ends[1] is not None:
        low, high = min(low, ends[1]), min(high, ends[1])
    return low, high


@lru_cache(maxsize=4096)
def _geometric_reach(level: Level, miss: Fraction) -> int:
    """The least K that a ball shows to have α^(K+1)/(1+α) ≤ miss/2."""
    with working_precision(BITS):
        epsilon = level.epsilon_ball(BITS)
        steps = -(ball(miss, BITS) * (1 + (-epsilon).exp()) / 2).log() / epsilon
        return max(math.ceil(ball_endpoints(steps)[1]) - 1, 0)


@lru_cache(maxsize=4096)
def _gaussian_reach(variance: Fraction, miss: Fraction) -> int:
    with working_precision(BITS):
        square = -2 * ball(variance, BITS) * (ball(miss, BITS) / 2).log()
        return max(math.ceil(ball_endpoints(square.sqrt())[1]) - 1, 0)


@lru_cache(maxsize=4096)
def _geometric_log_moment(level: Level, rate: float, absorbs: bool) -> arb:
    from flint import arb

    with working_precision(BITS):
        alpha, growth = (-level.epsilon_ball(BITS)).exp(), arb(rate).exp()
        if absorbs:  # Pr[N ≤ 0] = 1/(1+α), and Pr[N = n] = (1−α)/(1+α)·α^n beyond
            return ((1 + (1 - alpha) * alpha * growth / (1 - alpha * growth)) / (1 + alpha)).log()
        return ((1 - alpha) ** 2 / ((1 - alpha * growth) * (1 - alpha / growth))).log()


@lru_cache(maxsize=4096)
def _epsilon(level: Level) -> float:
    return level.epsilon


@lru_cache(maxsize=4096)
def _geometric_variance(level: Level) -> Fraction:
    """2α/(1−α)², exact or rounded up."""
    if isinstance(level.alpha, Fraction):
        return 2 * level.alpha / (1 - level.alpha) ** 2
    with working_precision(BITS):
        alpha = (-level.epsilon_ball(BITS)).exp()
        return _round_up(2 * alpha / (1 - alpha) ** 2)


@lru_cache(maxsize=4096)
def _geometric_excess(level: Level) -> Fraction:
    """α/(1−α), by how much the noise is beyond an end on average."""
    return _nearest(level.alpha / (1 - level.alpha))


@lru_cache(maxsize=4096)
def _canonical_variance(law: TightLaw) -> Fraction:
    """Of α^|n| on −R … R: Σ n²α^n over 1 … R is α·(1+α − α^R·((R+1)² − (2R²+2R−1)α + R²α²))/(1−α)³."""
    with working_precision(4 * BITS):
        alpha = (-law.level.epsilon_ball(4 * BITS)).exp()
        reach, end = law.reach, (-law.level.epsilon_ball(4 * BITS) * law.reach).exp()
        rest = (reach + 1) ** 2 - (2 * reach**2 + 2 * reach - 1) * alpha + reach**2 * alpha**2
        side = alpha * (1 + alpha - end * rest) / (1 - alpha) ** 3
        weight = 1 + 2 * alpha * (1 - end) / (1 - alpha)
        return _round_up(2 * side / weight)


def _round_up(value: Fraction | arb) -> Fraction:
    """A fraction as it is, a ball's upper end to `VARIANCE_BITS` bits above it."""
    if isinstance(value, Fraction):
        return value
    high = ball_endpoints(value)[1]
    shift = VARIANCE_BITS - math.frexp(float(high))[1]
    scale = Fraction(2) ** shift
    return math.ceil(high * scale) / scale


def _nearest(value: Fraction | Real) -> Fraction:
    """A fraction as it is, another number to 2^−64 of it."""
    if isinstance(value, Fraction):
        return value
    with working_precision(BITS):
        return _round_up(ball(value, BITS))


def _log_gaussian_tails(gaps: Floats, variance: float) -> Floats:
    """ln Σ e^(−m²/(2σ²)) over m ≥ each gap, up to a constant, from the smallest term on."""
    deviation = math.sqrt(variance)
    last = max(float(gaps.max()), 0.0) + math.ceil(MAX_TAIL_STEPS * deviation) + 1
    first = float(gaps.min())
    logs = -((first + np.arange(int(last - first) + 1)) ** 2) / (2 * variance)
    sums = np.logaddexp.accumulate(logs[::-1])[::-1]
    return np.asarray(sums[(gaps - first).astype(np.int64)])


@lru_cache(maxsize=64)
def _selection_logs(law: SelectionLaw) -> tuple[Floats, Floats]:
    """ln Pr[N = n] and ln π(n) for n from 1 to L."""
    masses = law.error_masses()[1]
    with np.errstate(divide="ignore"):
        return np.log(masses), np.log(np.cumsum(masses))


@lru_cache(maxsize=64)
def _untold_logs(law: SelectionLaw) -> Floats:
    """ln(1 − π(n)) for n from 0 to L, summed from the end, where the masses are small."""
    masses = law.error_masses()[1]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.minimum(np.append(np.cumsum(masses[::-1])[::-1], 0.0), 1.0)))
