"""Samplers that leak: the textbook one on doubles and GMP13's two examples. For attacks only, never for a release."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.errors import InputError
from utmost.exact import Level, epsilon, rational
from utmost.exact.working_precision import working_precision
from utmost.noise import EntropySource, geometric_noise, system_source
from utmost.precision.closeness import rational_ball
from utmost.precision.enumeration import INFINITY, Law, counted_law, noise_table
from utmost.precision.guarantee import Implementation
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
