"""Exact laws of small machines, enumerated: to compare guarantees with, and to show what each secret can give.

Exact laws to compare guarantees with: small generators enumerated, every law as fractions.

A generator with N values, a format and a rule make a finite law: each of the N values leads to one result. From it
the ε that the implementation really has is computed as a fraction, the distance W_∞ to the ideal noise as a bound
from quantiles.

The results that each of two secrets can give on a small machine, enumerated before and after rounding.

Every value of the generator leads to one result, so the two laws are known as fractions. A result in the support of
one law alone gives its secret away (GMP13 §1); rounding to a grid much coarser than the gaps closes them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from utmost.errors import InputError
from utmost.exact import Level, Number, exponential
from utmost.exact import epsilon as epsilon_level
from utmost.exact.working_precision import working_precision
from utmost.precision.guarantee import BALL_BITS, Implementation, printed_bound, rate, rational_ball, round_up
from utmost.precision.laplace import LaplaceSetting, certify_shift, laplace_setting, rounding_robustness
from utmost.precision.number_formats import NumberFormat, UniformGenerator

if TYPE_CHECKING:
    from flint import arb

MAX_GENERATOR_VALUES = 2**20  # values of a generator that is enumerated
INFINITY = "∞"
Result: TypeAlias = Fraction | str
Law: TypeAlias = Mapping[Result, Fraction]
Noise: TypeAlias = tuple[Fraction | float, ...]  # ±∞ are floats


@lru_cache(maxsize=16)
def noise_table(level: Level, sensitivity: Fraction, implementation: Implementation) -> Noise:
    """n′ at each of the generator's values, every operation rounded to the format; ±∞ where the logarithm is that of 0.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision.number_formats import fixed_point_format, uniform_generator
    >>> noise_table(epsilon(1), Fraction(1), Implementation(fixed_point_format(4), uniform_generator(4)))[1:]
    (Fraction(-11, 16), Fraction(0, 1), Fraction(11, 16))
    """
    if implementation.generator.count > MAX_GENERATOR_VALUES:
        raise InputError(
            f"generator must have at most {MAX_GENERATOR_VALUES} values to be enumerated, got more",
            "generator",
            "take a smaller one",
        )
    number_format = implementation.format
    scale = _rounded_scale(number_format, level, sensitivity)
    return tuple(
        _noise_at(number_format, scale, implementation.generator.value(z))
        for z in range(implementation.generator.count)
    )


def _rounded_scale(number_format: NumberFormat, level: Level, sensitivity: Fraction) -> Fraction:
    """Δ/ε, rounded to the format: exactly where ε is rational, and irrational elsewhere, so some precision decides."""
    if level.exponent is not None:
        return number_format.nearest(sensitivity / level.exponent)

    def quotient(bits: int) -> arb:
        with working_precision(bits):
            return rational_ball(sensitivity) / level.epsilon_ball(bits)

    return number_format.nearest_real(quotient)


def _noise_at(number_format: NumberFormat, scale: Fraction, value: Fraction) -> Fraction | float:
    half = Fraction(1, 2)
    u = number_format.nearest(value)
    tail = number_format.nearest(1 - number_format.nearest(2 * number_format.nearest(abs(u - half))))
    if tail <= 0:
        return math.inf if u > half else -math.inf
    if tail == 1:
        return Fraction(0)
    size = number_format.nearest(-scale * _logarithm(number_format, tail))
    return size if u > half else -size


@lru_cache(maxsize=2**16)
def _logarithm(number_format: NumberFormat, value: Fraction) -> Fraction:
    """ln(value), rounded to the format; irrational for a rational value ≠ 1, so some precision decides."""

    def logarithm(bits: int) -> arb:
        with working_precision(bits):
            return rational_ball(value).log()

    return number_format.nearest_real(logarithm)


def round_result(setting: LaplaceSetting, value: Fraction | float, clamp_to_ends: bool = False) -> Result:
    """The multiple of `rounding` nearest to the value; outside the range ∞, or the nearer end (Mechanism 3)."""
    if isinstance(value, float):
        return (setting.high if value > 0 else setting.low) if clamp_to_ends else INFINITY
    result = round(value / setting.rounding) * setting.rounding
    if setting.low <= result <= setting.high:
        return result
    return (setting.high if result > setting.high else setting.low) if clamp_to_ends else INFINITY


def result_law(
    setting: LaplaceSetting, implementation: Implementation, secret: Fraction, clamp_to_ends: bool = False
) -> Law:
    """The law of the result for one secret answer: each value of the generator, added, rounded, cut off."""
    if not setting.low <= secret <= setting.high or not implementation.format.holds(secret):
        raise InputError("secret must be a number of the format, within the range", "secret")
    table = noise_table(setting.level, setting.sensitivity, implementation)
    counts = Counter(
        round_result(setting, _add_noise(implementation.format, secret, noise), clamp_to_ends) for noise in table
    )
    return {result: Fraction(count, len(table)) for result, count in counts.items()}


def _add_noise(number_format: NumberFormat, secret: Fraction, noise: Fraction | float) -> Fraction | float:
    return noise if isinstance(noise, float) else number_format.nearest(secret + noise)


@dataclass(frozen=True, slots=True)
class WorstRatio:
    """The largest quotient of two laws: `result` is `ratio` times likelier under `high` than under `low` (None: ∞)."""

    ratio: Fraction | None
    result: Result
    high: Fraction
    low: Fraction

    @property
    def epsilon(self) -> float:
        """ln ratio, as a double."""
        return math.inf if self.ratio is None else math.log(self.ratio)

    def is_at_most(self, bound: Fraction) -> bool:
        """Is ln ratio ≤ bound: decided."""
        if self.ratio is None:
            return False
        with working_precision(BALL_BITS):
            return bool(rational_ball(self.ratio).log() <= rational_ball(bound))


def worst_ratio(laws: Mapping[Fraction, Law], sensitivity: Fraction) -> WorstRatio:
    """The exact ε of some laws: the largest quotient over all results and secrets at most `sensitivity` apart."""
    best: WorstRatio | None = None
    for high, first in laws.items():
        for low, second in laws.items():
            if high == low or abs(high - low) > sensitivity:
                continue
            for result, chance in first.items():
                other_chance = second.get(result)
                ratio = None if other_chance is None else chance / other_chance
                if ratio is None:
                    return WorstRatio(None, result, high, low)
                if best is None or best.ratio is None or ratio > best.ratio:
                    best = WorstRatio(ratio, result, high, low)
    if best is None:
        raise InputError("secrets must include two that are at most the sensitivity apart", "secrets")
    return best


def exact_epsilon(
    setting: LaplaceSetting, implementation: Implementation, secrets: Iterable[Fraction], clamp_to_ends: bool = False
) -> WorstRatio:
    """The exact ε of the implementation on these secrets, by enumeration."""
    return worst_ratio(
        {secret: result_law(setting, implementation, secret, clamp_to_ends) for secret in secrets}, setting.sensitivity
    )


def ideal_noise(level: Level, sensitivity: Fraction, u: Fraction) -> arb:
    """n(u), the ideal noise, for 0 < u < 1, as a ball."""
    with working_precision(BALL_BITS):
        tail = 1 - 2 * abs(u - Fraction(1, 2))
        size = -rational_ball(tail).log() / rate(level, sensitivity)
        return size if u > Fraction(1, 2) else -size


def wasserstein(setting: LaplaceSetting, implementation: Implementation) -> Fraction:
    """An upper bound, to 64 bits, of W_∞ between Laplace noise and the noise that runs, where the former is at most D.

    In one dimension the best coupling joins equal quantiles: the i-th smallest of N results goes with u in [i/N,
    (i+1)/N], and n is monotone, so the distance is largest at an end of that interval (or where |n(u)| = D).
    """
    table, edge = (
        sorted(noise_table(setting.level, setting.sensitivity, implementation)),
        tail_at(setting, setting.reach),
    )
    count, farthest = len(table), Fraction(0)
    for i, noise in enumerate(table):
        first, last = max(Fraction(i, count), edge), min(Fraction(i + 1, count), 1 - edge)
        if first > last:
            continue
        if isinstance(noise, float):
            raise InputError(
                "the generator has no value where the noise is still within the range", hint="take a larger one"
            )
        pair = (abs(ideal_noise(setting.level, setting.sensitivity, u) - rational_ball(noise)) for u in (first, last))
        farthest = max(farthest, *(round_up(gap) for gap in pair))
    return farthest


def tail_at(setting: LaplaceSetting, noise: Fraction) -> Fraction:
    """½e^{−β·noise}, rounded up: where the quantiles of the ideal noise reach −noise."""
    with working_precision(BALL_BITS):
        return round_up((-rate(setting.level, setting.sensitivity) * rational_ball(noise)).exp() / 2)


@dataclass(frozen=True, slots=True)
class BoundViolation:
    """An implementation that obeys GMP13's conditions and loses more than a bound: `actual` is the exact quotient."""

    actual: Number
    printed: Fraction
    certified: Fraction
    shift: Fraction

    @property
    def is_violated(self) -> bool:
        """Is ln actual above the printed bound: decided."""
        from utmost.exact import ball

        with working_precision(BALL_BITS):
            return bool(ball(self.actual, BALL_BITS).log() > rational_ball(self.printed))


def printed_bound_violation(epsilon: object, cells: int = 8) -> BoundViolation:
    """Laplace noise rounded to a grid, Δ = L = 1: its exact privacy loss beside GMP13 Thm 4.5 as printed and as proved.

    The noise is rounded to multiples of g, so δ_t = g/2 (k = 0, n′ monotone and odd: Conditions 1–3 hold). The cell
    of the result 2 is [3/2, 5/2). The secret r₁ puts its near edge a hair below a multiple of g, r₂ = r₁ − Δ a hair
    above one: one more multiple is counted for r₁. The quotient is about e^{ε(1 + g)}, and ε·g = 2εδ_t/Δ outgrows the
    printed ln(1 + R·e^{(L+δ_t)/Δ}).

    >>> printed_bound_violation(12).is_violated, printed_bound_violation(1).is_violated
    (True, False)
    """
    level, offset = epsilon_level(epsilon), Fraction(1, 64)
    grid = (1 - 2 * offset) / cells
    edge = grid * -(-Fraction(1, 2) // grid) - offset  # S − r₁ begins here, S − r₂ one further, a hair above a multiple
    actual = _mass_in_cell(level, grid, edge) / _mass_in_cell(level, grid, edge + 1)
    setting = laplace_setting(level, 1, 0, 2, 1)
    ratio = rounding_robustness(Fraction(1), grid / 2) or Fraction(0)
    printed = round_up(printed_bound(level, Fraction(1), ratio, Fraction(1), grid / 2))
    certified = certify_shift(setting, grid / 2).theorem or Fraction(0)
    return BoundViolation(actual, printed, certified, grid / 2)


def _mass_in_cell(level: Level, grid: Fraction, start: Fraction) -> Number:
    """The mass of noise rounded to multiples of `grid` in [start, start + 1), up to a factor sinh(βg/2)."""
    first, last = -(-start // grid), -(-(start + 1) // grid)
    total: Number = Fraction(0)
    for j in range(int(first), int(last)):
        total = total + exponential(-(level.exponent or Fraction(0)) * j * grid)
    return total


def counted_law(generator: UniformGenerator, edges: Sequence[Callable[[int], arb]]) -> list[Fraction]:
    """How often a generator's value u falls below the first edge, between edges, above the last: counted exactly.

    The edges are increasing irrational numbers in (0, 1), given by balls; a count is ⌈(edge − first)/step⌉ clipped to
    the values.
    """
    below = [0, *(_count_below(generator, edge) for edge in edges), generator.count]
    return [Fraction(b - a, generator.count) for a, b in pairwise(below)]


def _count_below(generator: UniformGenerator, edge: Callable[[int], arb]) -> int:
    from utmost.exact import ball_endpoints

    bits = 64
    while True:
        low, high = (-((generator.first - end) // generator.step) for end in ball_endpoints(edge(bits)))
        if low == high:
            return int(min(max(low, 0), generator.count))
        bits *= 2


MAX_SUPPORT_GENERATOR_VALUES = 1 << 10  # values of a generator whose results are all looked at


@dataclass(frozen=True, slots=True)
class Supports:
    """The laws of the results of two secrets: as the machine adds them (`raw`), and after rounding (`rounded`)."""

    secrets: tuple[Fraction, Fraction]
    raw: tuple[Law, Law]
    rounded: tuple[Law, Law]


def disclosure_probability(laws: tuple[Law, Law]) -> Fraction:
    """The chance that a result tells its secret for sure, each secret drawn half of the time.

    >>> half = Fraction(1, 2)
    >>> disclosure_probability(({Fraction(0): half, Fraction(1): half}, {Fraction(1): Fraction(1)}))
    Fraction(1, 4)
    """
    first, second = laws
    disclosing = [p for r, p in first.items() if r not in second] + [p for r, p in second.items() if r not in first]
    return sum(disclosing, Fraction(0)) / 2


def enumerate_supports(
    setting: LaplaceSetting, implementation: Implementation, secrets: tuple[Fraction, Fraction]
) -> Supports:
    """Both supports of Laplace noise added to either secret on this machine, enumerated.

    >>> from utmost.exact import epsilon
    >>> from utmost.precision import BINARY16, laplace, uniform_generator
    >>> machine = Implementation(BINARY16, uniform_generator(256))
    >>> setting = laplace.laplace_setting(epsilon(1), 1, 0, 8, 1)
    >>> supports = enumerate_supports(setting, machine, (Fraction(1), Fraction(2)))
    >>> disclosure_probability(supports.raw) > Fraction(1, 2), disclosure_probability(supports.rounded)
    (True, Fraction(1, 512))
    """
    if implementation.generator.count > MAX_SUPPORT_GENERATOR_VALUES:
        raise InputError(
            f"generator must have at most {MAX_SUPPORT_GENERATOR_VALUES} values to be looked at whole, got more",
            "generator",
            "take a smaller one",
        )
    rounded = (result_law(setting, implementation, secrets[0]), result_law(setting, implementation, secrets[1]))
    return Supports(
        secrets,
        (_unrounded_law(setting, implementation, secrets[0]), _unrounded_law(setting, implementation, secrets[1])),
        rounded,
    )


def _unrounded_law(setting: LaplaceSetting, implementation: Implementation, secret: Fraction) -> Law:
    """The law of secret + noise in the format; infinite noise is distinguished by its sign, as a machine does."""
    table = noise_table(setting.level, setting.sensitivity, implementation)
    sums = (
        str(noise) if isinstance(noise, float) else implementation.format.nearest(secret + noise) for noise in table
    )
    return {result: Fraction(count, len(table)) for result, count in Counter(sums).items()}
