"""The results that each of two secrets can give on a small machine, enumerated before and after rounding.

Every value of the generator leads to one result, so the two laws are known as fractions. A result in the support of
one law alone gives its secret away (GMP13 §1); rounding to a grid much coarser than the gaps closes them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from utmost.errors import InputError
from utmost.precision.enumeration import Law, noise_table, result_law
from utmost.precision.guarantee import Implementation
from utmost.precision.laplace import LaplaceSetting

MAX_GENERATOR_VALUES = 1 << 10  # values of a generator whose results are all looked at


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
    if implementation.generator.count > MAX_GENERATOR_VALUES:
        raise InputError(
            f"generator must have at most {MAX_GENERATOR_VALUES} values to be looked at whole, got more",
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
