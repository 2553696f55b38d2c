"""Samplers that leak, never for a release, and Mironov's attack: results that only one of two secrets can give.

Mironov's attack: results of a floating-point sampler that one secret can give and another cannot.

Three support tests, each *sound* for samplers of its kind: it calls a result impossible only if it is.

- `sums`: knows only that the result is fl(secret + x) for some double x. Near 0 doubles are finer than near 1, so a
  result close to one secret has low digits that no sum with the other secret has. Holds for any sampler that adds
  doubles.
- `quantiles`: knows also that x = ±b·ln(v) with v a multiple of 2^−52, as 1 − 2|u − ½| is. These x have holes between
  them; a result is possible if some v leads to it. All v near exp(−|result − secret|/b) are tried, with the machine's
  own log.
- `fine quantiles`: the same with v a multiple of 2^−53. numpy takes 2 − u − u for u ≥ ½, where the first difference
  is rounded.

A test that calls a result impossible under the very secret that gave it does not fit the sampler, and is not used.
That none of the draws contradicts a test says something only if an arbitrary sampler would have contradicted it.
So a test is believed from `MIN_DRAWS` draws of each secret on, and if, of the doubles next to the results, it calls so
many impossible that an arbitrary sampler with as many different results would contradict it `EXPECTED_CONTRADICTIONS`
times on average (no contradiction at all has then a chance of about e^−20; with 100 draws of each secret this is a
tenth of the doubles). Far from 0 the quantiles are so dense that they fit nearly everything, and are not believed. A
verdict still rests on the test's `assumption`. A fourth test, `lattice`, is asked for by name and is no guess: utmost's
draws are multiples of 2^−10, each possible under every secret.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost import user_functions
from utmost.errors import InputError
from utmost.exact import Level, epsilon, rational
from utmost.exact.working_precision import working_precision
from utmost.noise import EntropySource, geometric_noise, system_source
from utmost.precision.enumeration import INFINITY, Law, counted_law, noise_table
from utmost.precision.guarantee import Implementation, rational_ball
from utmost.precision.number_formats import UniformGenerator, fixed_point_format, uniform_generator

if TYPE_CHECKING:
    from flint import arb

EXTRA_DIGITS = 12  # digits more than the machine of Ex. 1.1 keeps, inside its primitive
LATTICE_BITS = 10  # results of `lattice_laplace` are multiples of 2^−10


def uniform_doubles(count: int, source: EntropySource | None = None) -> npt.NDArray[np.float64]:
    """Doubles z·2^−53, z uniform in 0 … 2^53 − 1: what nearly every library calls random()."""
    words = (source or system_source()).words(count)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def textbook_laplace(
    secret: float, scale: float, count: int, source: EntropySource | None = None
) -> npt.NDArray[np.float64]:
    """secret + noise, noise = −b·sgn(u − ½)·ln(1 − 2|u − ½|) in doubles: UNSAFE, as Mironov showed in 2012."""
    return np.array([secret + _inverse_laplace(u, scale) for u in uniform_doubles(count, source).tolist()])


def _inverse_laplace(u: float, scale: float) -> float:
    tail = 1.0 - 2.0 * abs(u - 0.5)
    size = -scale * math.log(tail) if tail else math.inf
    return size if u > 0.5 else -size


def polar_laplace(rate: float, count: int, source: EntropySource | None = None) -> npt.NDArray[np.float64]:
    """Planar Laplace noise in doubles, a row (x, y) each: radius C⁻¹(u), rounded once, and an angle 2π(v − ½).

    C⁻¹(u) = −(W₋₁((u − 1)/e) + 1)/rate, Lambert's function in balls: the plain double formula loses half of its
    digits near 0.
    """
    values = uniform_doubles(2 * count, source).tolist()
    points = [_polar_point(u, v, rate) for u, v in zip(values[::2], values[1::2], strict=True)]
    return np.array(points).reshape(count, 2)


def _polar_point(u: float, v: float, rate: float) -> tuple[float, float]:
    from flint import arb

    with working_precision(192):
        radius = 0.0 if u == 0 else float((-((arb(u) - 1) / arb(1).exp()).lambertw(-1) - 1) / arb(rate))
    angle = 2.0 * math.pi * (v - 0.5)
    return radius * math.cos(angle), radius * math.sin(angle)


def lattice_laplace(
    secret: float, scale: float, count: int, source: EntropySource | None = None
) -> npt.NDArray[np.float64]:
    """What utmost draws instead: the secret rounded to 2^−10, two-sided geometric noise on the same grid, exact.

    Every multiple of 2^−10 has a positive probability for every secret, so no result identifies one for sure.
    """
    steps_per_unit = 2**LATTICE_BITS
    level = epsilon(1 / (Fraction(scale) * steps_per_unit))
    centre = round(Fraction(secret) * steps_per_unit)
    noise = geometric_noise(level, count, source)
    return np.array([float(Fraction(centre + int(k), steps_per_unit)) for k in noise])


def scaled_noise(digits: int, doublings: int, generator: UniformGenerator | None = None) -> list[Fraction]:
    """The noise of GMP13 Ex. 1.1 for each value of the generator: 2^doublings·X, X Laplace of scale 1 in fixed point.

    Every value is a multiple of 2^(doublings − digits): the last `doublings` digits of a sum are the secret's.
    """
    source = generator or uniform_generator(2 ** (digits + 4), "centred")
    table = noise_table(epsilon(1), Fraction(1), Implementation(fixed_point_format(digits + EXTRA_DIGITS), source))
    if any(isinstance(noise, float) for noise in table):
        raise InputError("the generator's values must be > 0 and < 1", hint="take a centred one")
    return [2**doublings * fixed_point_format(digits).nearest(Fraction(noise)) for noise in table]


def scaled_law(secret: object, digits: int, doublings: int, generator: UniformGenerator | None = None) -> Law:
    """The exact law of secret + noise for the noise of `scaled_noise`, enumerated.

    >>> first, second = (scaled_law(r, 6, 2) for r in ("0", "7/32"))
    >>> set(first) & set(second), sum(first.values())
    (set(), Fraction(1, 1))
    """
    table = scaled_noise(digits, doublings, generator)
    law: dict[Fraction | str, Fraction] = {}
    for noise in table:
        result = rational(secret, "secret") + noise
        law[result] = law.get(result, Fraction(0)) + Fraction(1, len(table))
    return law


def last_digits(result: Fraction, digits: int, doublings: int) -> int:
    """The last `doublings` binary digits of a fixed-point number: what Ex. 1.1 never hides.

    >>> last_digits(Fraction(7, 32), 6, 2)
    2
    """
    digit_value: int = int(result * 2**digits) % (1 << doublings)
    return digit_value


def rounded_quantile_law(level: Level, generator: UniformGenerator, secret: int, reach: int) -> Law:
    """GMP13 Ex. 4.1: exact Laplace quantiles of a generator with few values, the sum rounded to a whole number.

    The law of the results −reach … reach for a whole-number secret, and ∞ beyond: k/N, where k values lead to the
    result. Only the generator is discrete here; the logarithm is exact.

    >>> from utmost.exact import alpha
    >>> law = rounded_quantile_law(alpha("3/4"), uniform_generator(32, "centred"), 0, 8)
    >>> law[0], law[8]
    (Fraction(1, 8), Fraction(1, 32))
    """
    edges = [_distribution_function(level, Fraction(2 * k - 1, 2) - secret) for k in range(-reach, reach + 2)]
    law: dict[Fraction | str, Fraction] = {}
    below, *masses, above = counted_law(generator, edges)
    law.update(zip((Fraction(k) for k in range(-reach, reach + 1)), masses, strict=True))
    return {**law, INFINITY: below + above}


def _distribution_function(level: Level, point: Fraction) -> Callable[[int], arb]:
    """Pr[X ≤ point] of Laplace noise of rate ε, as balls."""

    def probability(bits: int) -> arb:
        with working_precision(bits):
            tail = (-level.epsilon_ball(bits) * rational_ball(abs(point))).exp() / 2
            return tail if point < 0 else 1 - tail

    return probability


def ideal_cell_mass(level: Level, secret: int, result: int) -> arb:
    """Pr[result] with a perfect generator: the Laplace mass of [result − ½, result + ½)."""
    low, high = (_distribution_function(level, Fraction(2 * result + sign, 2) - secret)(96) for sign in (-1, 1))
    return high - low


def largest_ratio(first: Law, second: Law) -> tuple[Fraction, list[Fraction | str]]:
    """The largest finite quotient of two laws either way, and the results that only one of them can give."""
    results: Sequence[Fraction | str] = list({**first, **second})
    pairs = [(first.get(r, Fraction(0)), second.get(r, Fraction(0))) for r in results]
    finite = [max(a / b, b / a) for a, b in pairs if a and b]
    single_support = [r for r, (a, b) in zip(results, pairs, strict=True) if bool(a) != bool(b)]
    return max(finite, default=Fraction(1)), single_support


Sampler: TypeAlias = Callable[[float, float, int], Sequence[float]]  # secret, scale, how many
SupportTest: TypeAlias = Callable[[float, float, float], bool]  # result, secret, scale: is it possible
MAX_TRIED_VALUES = 4096  # values of v that are tried for one result; with more it counts as possible
MIN_SCALE, MAX_SCALE = 1e-5, 1e6  # scale of the noise
EXTRA_VALUES = 8  # values of v more on each side, for the rounding of exp
MIN_DRAWS = 100  # of each secret, before a support test is believed
EXPECTED_CONTRADICTIONS = 20  # that an arbitrary sampler would have met, on average
ASSUMPTIONS = {
    "quantiles": "noise ±b·ln v with v a multiple of 2^-52",
    "fine quantiles": "noise ±b·ln v with v a multiple of 2^-53",
    "sums": "results that are sums of two doubles, the secret and the noise",
}


@dataclass(frozen=True, slots=True)
class Example:
    """One result and which of the two secrets can give it."""

    result: float
    secret: float
    possible: tuple[bool, bool]

    @property
    def identifies_secret(self) -> bool:
        """Is the result possible for one secret only."""
        return not all(self.possible)


@dataclass(frozen=True, slots=True)
class Attack:
    """The outcome of a support attack on single results of two secrets, `draws` of each.

    `certain_counts[i]` counts the results of secret i that the other secret cannot give, if the `assumption` holds.
    `support_test` is the name of the test used, None if none fits the sampler or had enough draws to be believed; then
    nothing was found. `examples` are all the results, those of the first secret first.
    """

    secrets: tuple[float, float]
    scale: float
    draws: int
    support_test: str | None
    certain_counts: tuple[int, int]
    examples: tuple[Example, ...]

    @property
    def assumption(self) -> str | None:
        """What the test assumes of the sampler and no draw contradicts; None if it is known, or there is no test."""
        return ASSUMPTIONS.get(self.support_test or "")

    @property
    def identifies_a_secret(self) -> bool:
        """Did some result identify its secret: then, if the assumption holds, the sampler has no finite ε."""
        return any(self.certain_counts)

    def identified_share(self, low: float, high: float) -> float:
        """Of the results in [low, high), the share that identify their secret; 0 if there are none."""
        in_range = [example.identifies_secret for example in self.examples if low <= example.result < high]
        return sum(in_range) / len(in_range) if in_range else 0.0

    @property
    def success_probability(self) -> Fraction:
        """How often the attacker names the secret, at even odds: sure when one is impossible, else by a coin toss."""
        return Fraction(1, 2) + Fraction(sum(self.certain_counts), 4 * self.draws)


def is_sum(result: float, secret: float, scale: float) -> bool:
    """Is there a double x with fl(secret + x) = result.

    If there is one, the double nearest to result − secret, or one next to it, is one: rounding is monotone, and what
    rounds to `result` is an interval around it.

    >>> is_sum(0.1, 0.0, 1.0), is_sum(0.1, 1.0, 1.0)
    (True, False)
    """
    nearest = float(Fraction(result) - Fraction(secret))
    around = (nearest, math.nextafter(nearest, -math.inf), math.nextafter(nearest, math.inf))
    return any(secret + x == result for x in around)


def is_quantile(result: float, secret: float, scale: float, spacing: float = 2.0**-52) -> bool:
    """Is there a v = j·spacing, 0 < v ≤ 1, with fl(secret ± scale·ln v) = result."""
    if not is_sum(result, secret, scale):
        return False
    return any(_is_signed_quantile(result, secret, scale, sign, spacing) for sign in (1.0, -1.0))


def _is_signed_quantile(result: float, secret: float, scale: float, sign: float, spacing: float) -> bool:
    """The same for noise of one sign; what rounds to `result` is within a unit in the last place of it."""
    centre, unit = Fraction(result) - Fraction(secret), Fraction(math.ulp(result))
    low, high = sorted(sign * float(end) for end in (centre - unit, centre + unit))
    if high < 0:
        return False
    first = math.floor(math.exp(-high / scale) / spacing) - EXTRA_VALUES
    last = math.ceil(math.exp(-max(low, 0.0) / scale) / spacing) + EXTRA_VALUES
    if last - first > MAX_TRIED_VALUES:
        return True
    indices = range(max(first, 1), min(last, int(1 / spacing)) + 1)
    return any(secret + sign * (-scale * math.log(j * spacing)) == result for j in indices)


def is_fine_quantile(result: float, secret: float, scale: float) -> bool:
    """The same with multiples of 2^−53, as numpy's Generator.laplace has them."""
    return is_quantile(result, secret, scale, 2.0**-53)


def is_lattice_point(result: float, secret: float, scale: float) -> bool:
    """Is it a multiple of 2^−10: what `lattice_laplace` gives, each with a positive chance for every
    secret.
    """
    return (Fraction(result) * 2**10).denominator == 1


SUPPORT_TESTS: dict[str, SupportTest] = {"quantiles": is_quantile, "fine quantiles": is_fine_quantile, "sums": is_sum}


def run_attack(
    sampler: Sampler,
    secrets: tuple[float, float] = (0.0, 1.0),
    scale: float = 1.0,
    draws: int = 1000,
    support_tests: Mapping[str, SupportTest] = SUPPORT_TESTS,
) -> Attack:
    """Draw from both secrets; the first support test that fits says which results only one of them can give."""
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise InputError(f"scale must be from {MIN_SCALE:g} to {MAX_SCALE:g}, got {scale:g}", "scale")
    if not all(map(math.isfinite, secrets)) or secrets[0] == secrets[1]:
        raise InputError("secrets must be two different finite numbers", "secrets")
    if not 1 <= draws <= 10**6:
        raise InputError(f"draws must be from 1 to {10**6}", "draws")
    results = [_draw_results(sampler, secret, scale, draws) for secret in secrets]
    for name, support_test in support_tests.items():
        fits = all(
            support_test(y, secret, scale) for secret, outcomes in zip(secrets, results, strict=True) for y in outcomes
        )
        if fits and (name not in ASSUMPTIONS or is_informative(support_test, secrets, scale, results)):
            return _summarize_attack(name, support_test, secrets, scale, results)
    return Attack(secrets, scale, draws, None, (0, 0), ())


def is_informative(
    support_test: SupportTest, secrets: tuple[float, float], scale: float, results: Sequence[Sequence[float]]
) -> bool:
    """Would these draws have contradicted the test, had they come from an arbitrary sampler: see above.

    Each different result counts once, by the share of its two neighbours that the test calls impossible.
    """
    if min(map(len, results)) < MIN_DRAWS:
        return False
    impossible_count = 0
    for secret, outcomes in zip(secrets, results, strict=True):
        for y in dict.fromkeys(outcomes):
            impossible_count += sum(
                not support_test(math.nextafter(y, end), secret, scale) for end in (-math.inf, math.inf)
            )
            if impossible_count >= 2 * EXPECTED_CONTRADICTIONS:
                return True
    return False


def _draw_results(sampler: Sampler, secret: float, scale: float, draws: int) -> list[float]:
    outcomes = [float(y) for y in sampler(secret, scale, draws)]
    if len(outcomes) != draws or not all(map(math.isfinite, outcomes)):
        raise InputError(
            "sampler must return as many finite numbers as asked for: sampler(secret, scale, count)", "sampler"
        )
    return outcomes


def _summarize_attack(
    name: str, support_test: SupportTest, secrets: tuple[float, float], scale: float, results: Sequence[Sequence[float]]
) -> Attack:
    certain_counts, examples = [], []
    for i, (secret, outcomes) in enumerate(zip(secrets, results, strict=True)):
        verdicts = [support_test(y, secrets[1 - i], scale) for y in outcomes]
        certain_counts.append(verdicts.count(False))
        for y, is_possible in zip(outcomes, verdicts, strict=True):
            examples.append(Example(y, secret, (True, is_possible) if i == 0 else (is_possible, True)))
    return Attack(secrets, scale, len(results[0]), name, (certain_counts[0], certain_counts[1]), tuple(examples))


def load_sampler(path: str) -> Sampler:
    """The sampler `module:function`, called as function(secret, scale, count): `numpy.random:laplace`."""
    return _guard_sampler(user_functions.load_function(path, "sampler"))


def _guard_sampler(function: Callable[..., Any]) -> Sampler:
    """The same; what it raises becomes one line, without its message, which could hold data."""

    def sampler(secret: float, scale: float, count: int) -> Sequence[float]:
        try:
            return [float(y) for y in islice(function(secret, scale, count), count + 1)]
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # sys.exit included
            kind = type(problem).__name__
            raise InputError(
                f"sampler must answer sampler(secret, scale, count), but it raised {kind}", "sampler"
            ) from None

    return sampler
