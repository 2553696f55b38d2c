"""Planar Laplace noise on the lattice ℤ², drawn exactly: Pr[(i, j)] ∝ e^(−θ√(i²+j²)).

By rejection. Two independent two-sided geometrics of a dyadic rate β ≤ θ/√2 propose (i, j) with Pr ∝ e^(−β(|i|+|j|)),
and the proposal is accepted with probability e^(−γ), γ = θ√(i²+j²) − β(|i|+|j|). Since |i|+|j| ≤ √2·√(i²+j²), γ ≥ 0;
the product of the two is the law above. About π/4 of the proposals are accepted when θ is small, more when it is not.

To accept with probability e^(−γ) is to accept when U < e^(−γ), U uniform in [0, 1) and revealed 64 bits at a time. For
whole arrays, integers a ≤ e^(−γ)·2³² ≤ b are computed with directed rounding; the top half u of the first word accepts
when u + 1 ≤ a and rejects when u ≥ b. What lies between, a few in 10⁹, is decided one by one: balls enclose e^(−γ) with
more bits than are revealed, and further words are taken until U is on one side. So the law is exact, and the only
floats are first guesses of integer square roots, which are accepted after r² ≤ n < (r+1)² holds in integers.

The secret is no argument: it is added after the noise is drawn, so neither time nor words depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError, UndecidedError
from utmost.exact import Level, ball, ball_endpoints, epsilon, integer, rational
from utmost.exact.reals import midpoint
from utmost.exact.working_precision import working_precision
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.geometric import check_level, geometric_noise

if TYPE_CHECKING:
    from flint import arb

Words = npt.NDArray[np.uint64]

ONE = np.uint64(1)
FRACTION_BITS = 32  # bits of the fixed-point numbers γ, a, b
EXPONENTIAL_ERROR_UNITS = 6  # how far `lower_exponential` can be below the truth, in units of 2^−32
MAX_ARRAY_COORDINATE = 1 << 30  # larger ones are decided one by one
PROPOSALS_PER_CHUNK = 1 << 16  # proposals at a time
RATE_BITS = 24  # of β: within 2^−23 of θ/√2
MIN_RATE, MAX_RATE = Fraction(1, 10**7), Fraction(1000)


@dataclass(frozen=True, slots=True)
class Rate:
    """θ = ε·step with low ≤ θ·2^shift ≤ high in whole numbers, and β = proposal/2^proposal_shift ≤ θ/√2."""

    level: Level
    step: Fraction
    low: int = 0
    high: int = 0
    shift: int = 0
    proposal: int = 0
    proposal_shift: int = 0

    @property
    def beta(self) -> Fraction:
        """The rate of the proposals."""
        return Fraction(self.proposal) / Fraction(2) ** self.proposal_shift

    def theta(self, bits: int) -> arb:
        """A ball that contains θ."""
        if self.level.exponent is not None:
            return ball(self.level.exponent * self.step, bits)
        with working_precision(bits):
            return self.level.epsilon_ball(bits) * ball(self.step, bits)

    def gamma(self, i: int, j: int, bits: int) -> arb:
        """A ball that contains γ = θ√(i²+j²) − β(|i|+|j|)."""
        from flint import arb

        with working_precision(bits):
            return self.theta(bits) * arb(i * i + j * j).sqrt() - ball(self.beta * (abs(i) + abs(j)), bits)


@lru_cache(maxsize=64)
def planar_rate(level: Level, step: Fraction) -> Rate:
    """The constants of a level and a step: θ to 32 bits and β to 24, rounded as they must be and proved so by balls."""
    from flint import arb

    if not level.is_inner:
        raise InputError("planar noise needs a level with 0 < alpha < 1, that is 0 < epsilon < infinity")
    unrounded = Rate(level, step)
    low, high = ball_endpoints(unrounded.theta(128))
    if high < MIN_RATE or low > MAX_RATE:
        raise InputError("epsilon times step must be from 1e-7 to 1000", hint="take a step nearer to 1/epsilon")
    with working_precision(128):
        diagonal, _ = ball_endpoints(unrounded.theta(128) / arb(2).sqrt())
    mantissa, shift = _mantissa_and_shift(low, FRACTION_BITS)
    proposal, proposal_shift = _mantissa_and_shift(diagonal, RATE_BITS)
    return Rate(level, step, mantissa, ceil(high * Fraction(2) ** shift), shift, proposal, proposal_shift)


def _mantissa_and_shift(value: Fraction, bits: int) -> tuple[int, int]:
    """(m, s) with m = ⌊value·2^s⌋ of at most `bits` bits, at least `bits` − 1."""
    shift = bits - 1 - (value.numerator.bit_length() - value.denominator.bit_length())
    mantissa = int(value * Fraction(2) ** shift // 1)
    return (mantissa, shift) if mantissa < 1 << bits else (mantissa >> 1, shift - 1)


def planar_noise(level: Level, step: object, count: int, source: EntropySource | None = None) -> npt.NDArray[Any]:
    """`count` lattice points (i, j), a row each, with Pr ∝ e^(−ε·step·√(i²+j²)): exact, independent of each other.

    int64, or Python integers in the event (below e^−76 a draw) that a coordinate needs them.
    """
    missing, stream = integer(count, "count"), entropy_source(source)
    if missing < 0:
        raise InputError(f"count must be >= 0, got {missing}", "count")
    rate = planar_rate(check_level(level), rational(step, "step"))
    proposal_level, batches = epsilon(rate.beta), []
    while missing:
        size = min(PROPOSALS_PER_CHUNK, missing + missing // 3 + 8)
        points = np.stack([geometric_noise(proposal_level, size, stream) for _ in range(2)], axis=1)
        accepted = points[accept(rate, points, stream)][:missing]
        batches.append(accepted)
        missing -= len(accepted)
    return np.concatenate(batches) if batches else np.zeros((0, 2), dtype=np.int64)


def accept(rate: Rate, points: npt.NDArray[Any], source: EntropySource) -> npt.NDArray[np.bool_]:
    """For each proposal, true with probability e^(−γ), exactly. One word each, more for the undecided few."""
    words = source.words(len(points))
    in_range = (np.abs(points) < MAX_ARRAY_COORDINATE).all(axis=1).astype(bool)
    low, high = acceptance_bounds(rate, np.where(in_range[:, None], points, 0).astype(np.int64))
    leading = words >> np.uint64(FRACTION_BITS)
    accepted: npt.NDArray[np.bool_] = leading < low
    for k in np.flatnonzero((~accepted & (leading < high)) | ~in_range):
        accepted[k] = decide_acceptance(rate, int(points[k, 0]), int(points[k, 1]), int(words[k]), source)
    return accepted


def acceptance_bounds(rate: Rate, points: npt.NDArray[np.int64]) -> tuple[Words, Words]:
    """Integers a ≤ e^(−γ)·2³² ≤ b for each point, |i|, |j| < 2³⁰; b − a is a few units and some 2^−30 of θ√(i²+j²)."""
    lower, upper = exponent_bounds(rate, points)
    low = lower_exponential(upper)
    return low, low + (upper - lower) + np.uint64(EXPONENTIAL_ERROR_UNITS)  # e^(−x) falls by at most what x grows


def exponent_bounds(rate: Rate, points: npt.NDArray[np.int64]) -> tuple[Words, Words]:
    """Integers x ≤ γ·2³² ≤ y for each point, x ≥ 0.

    With r = ⌊√(n·4^h)⌋ of 31 bits and θ·2^t between `low` and `high` of 32: low·r ≤ θ√n·2^(t+h) ≤ high·(r+1) < 2⁶⁴, to
    be shifted by t + h − 32. Where that is below 2 (θ√n ≥ 2²⁸) the bounds are trivial: x = 0 and y = 2⁶².
    """
    magnitudes = np.abs(points).astype(np.uint64)
    root, half = normalised_root(magnitudes[:, 0] * magnitudes[:, 0] + magnitudes[:, 1] * magnitudes[:, 1])
    shift = rate.shift - FRACTION_BITS + half
    too_large, clipped_shift = shift < 2, np.clip(shift, 0, 63).astype(np.uint64)
    proposal_exponents = _scaled_proposal_exponents(rate, magnitudes[:, 0] + magnitudes[:, 1])
    upper = (np.uint64(rate.high) * (root + ONE) >> clipped_shift) + ONE
    lower = np.uint64(rate.low) * root >> clipped_shift
    lower -= np.minimum(lower, proposal_exponents + ONE)
    upper -= np.minimum(upper, proposal_exponents)
    return np.where(too_large, np.uint64(0), lower), np.where(too_large, np.uint64(1 << 62), upper)


def _scaled_proposal_exponents(rate: Rate, lengths: Words) -> Words:
    """⌊β·length·2³²⌋, where that is below 2⁶² (it is at most ⌊θ√n·2³²⌋)."""
    product = np.uint64(rate.proposal) * lengths  # of 24 and 31 bits
    shift = rate.proposal_shift - FRACTION_BITS
    return product >> np.uint64(min(shift, 63)) if shift >= 0 else product << np.uint64(min(-shift, 63))


def normalised_root(squares: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """r and h with r = ⌊√(n·4^h)⌋ and n·4^h in [2⁶⁰, 2⁶²), for 0 < n < 2⁶²; 0 and 31 for n = 0. Proved in integers."""
    squares, half = squares.copy(), np.zeros(len(squares), dtype=np.int64)
    for jump in (32, 16, 8, 4, 2):
        small = squares < np.uint64(1 << (62 - jump))
        squares <<= small * np.uint64(jump)
        half += small * np.int64(jump // 2)
    root = np.minimum(np.sqrt(squares.astype(np.float64)), 2.0**31).astype(np.uint64)  # a guess
    root -= root * root > squares
    root += (root + ONE) * (root + ONE) <= squares
    wrong = (root * root > squares) | ((root + ONE) * (root + ONE) <= squares)
    for k in np.flatnonzero(wrong):
        root[k] = isqrt(int(squares[k]))
    return root, half


def lower_exponential(exponents: Words) -> Words:
    """a with e^(−x)·2³² − 6 ≤ a ≤ e^(−x)·2³², x = exponent/2³².

    x = h + m + z, z < 2^−20: two tables of exponentials rounded down (off by at most 1 each), their product rounded
    down (so by at most 3), and e^(−z) ≥ 1 − z (off by less than 2^−9). From x = 32 on the answer is 0, as it must be.
    """
    coarse, fine = exponential_tables()
    x = np.minimum(exponents, np.uint64((32 << FRACTION_BITS) - 1))
    value = coarse[x >> np.uint64(24)] * fine[(x >> np.uint64(12)) & np.uint64(4095)] >> np.uint64(FRACTION_BITS)
    correction = (value * (x & np.uint64(4095)) >> np.uint64(FRACTION_BITS)) + ONE
    result: Words = value - np.minimum(correction, value)
    return result


@lru_cache(maxsize=1)
def exponential_tables() -> tuple[Words, Words]:
    """min(⌊e^(−x)·2³²⌋, 2³² − 1) for x = k/2⁸, k < 2¹³, and for x = k/2²⁰, k < 2¹²."""
    return _exponential_table(1 << 8, 1 << 13), _exponential_table(1 << 20, 1 << 12)


def _exponential_table(denominator: int, count: int) -> Words:
    """min(⌊e^(−k/parts)·2³²⌋, 2³² − 1) for k < count, from balls that leave no other floor."""
    from flint import arb, fmpq

    with working_precision(96):
        floors = [(arb(fmpq(-k, denominator)).exp() * (1 << FRACTION_BITS)).floor() for k in range(count)]
    if not all(floor.is_exact() for floor in floors):
        raise UndecidedError("96 bits must tell the floors of a table of exponentials, and do not")
    return np.array([min(int(midpoint(floor)), (1 << FRACTION_BITS) - 1) for floor in floors], dtype=np.uint64)


def decide_acceptance(rate: Rate, i: int, j: int, word: int, source: EntropySource) -> bool:
    """Is U < e^(−γ), the first 64 bits of U being `word`: decided by balls, with more words where it must."""
    prefix, revealed_bits = word, 64
    while True:
        low, high = _acceptance_enclosure(rate, i, j, revealed_bits)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix, revealed_bits = prefix << 64 | int(source.words(1)[0]), revealed_bits + 64


def _acceptance_enclosure(rate: Rate, i: int, j: int, bits: int) -> tuple[Fraction, Fraction]:
    """Rational endpoints around e^(−γ)·2^bits, narrower than 2^−32; 0 and 1 where γ > bits, since e > 2."""
    precision = bits + 96 + (i * i + j * j).bit_length()
    gamma = rate.gamma(i, j, precision)
    if gamma > bits:
        return Fraction(0), Fraction(1)
    with working_precision(precision):
        low, high = ball_endpoints((-gamma).exp())
    return low * (1 << bits), high * (1 << bits)
