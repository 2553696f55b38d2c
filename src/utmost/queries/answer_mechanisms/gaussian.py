"""Discrete Gaussian noise on whole numbers: what a unit's moves cost it in ρ, draw, error and JSON.

**Privacy.** Let a unit move the numbers of an answer by a vector of Euclidean length at most Δ, in steps. Each number
gets its own noise X with Pr[X = x] ∝ e^(−x²/(2σ²)), so the answer is Δ²/(2σ²)-zCDP (Canonne, Kamath and Steinke 2020,
Thm 4, for each number, and Rényi divergences of independent answers add up). Bringing an answer back to public ends is
done after it was drawn and costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.exact import ball, plain_decimal
from utmost.noise import gaussian
from utmost.noise.gaussian_law import MAX_VARIANCE, MIN_VARIANCE, check_variance, tail_ball
from utmost.queries.answer_mechanisms.lattice import LATTICE_SCHEMAS, LatticeMechanism, NoiseDraw, parse_lattice
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    MISS_PROBABILITY,
    AccuracyTarget,
    ConfidenceLaw,
    schema_object,
)

if TYPE_CHECKING:
    from flint import arb

    from utmost.exact.input_text import Fields

NEAR_DEVIATIONS = 12  # σ from an answer beyond which a truth has less than 10^−30 of the likelihood


@dataclass(frozen=True, slots=True)
class GaussianLattice(LatticeMechanism):
    """Discrete Gaussian noise: Pr[y | x] ∝ e^(−(x − y)²/(2·variance)).

    Its ends absorb, unless it is not `clamped`: then they are ends of the true number alone, and answers are unbiased.
    """

    name: ClassVar[str] = "gaussian"

    variance: Fraction
    low: int | None
    high: int | None
    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)
    clamped: bool = True

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        clamped = {} if self.clamped else {"clamped": False}
        return {"name": self.name, "sigma2": str(self.variance), **self.lattice_content(), **clamped}

    @classmethod
    def parse(cls, fields: Fields) -> GaussianLattice:
        """The mechanism in the fields of a release file."""
        clamped = fields.truth("clamped", True)
        mechanism = cls(*parse_lattice(fields, cls.name, "sigma2"), clamped)
        check_variance(mechanism.variance)
        return mechanism

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        schema = schema_object(name={"const": cls.name}, sigma2=EXACT_SCHEMA, **LATTICE_SCHEMAS)
        return {**schema, "properties": {**schema["properties"], "clamped": {"const": False}}}

    @property
    def absorbing_ends(self) -> tuple[int | None, int | None]:
        """The ends, or None where answers are released as they are drawn."""
        return (self.low, self.high) if self.clamped else (None, None)

    def check_number(self, number: int) -> None:
        """Refuse a number beyond an end that absorbs."""
        if self.clamped:
            LatticeMechanism.check_number(self, number)

    @property
    def noise_steps(self) -> Fraction:
        """About σ."""
        return Fraction(math.sqrt(self.variance))

    @property
    def near_steps(self) -> Fraction:
        """Twelve σ."""
        return NEAR_DEVIATIONS * self.noise_steps

    def half_width(self, miss: Fraction = MISS_PROBABILITY) -> int:
        """The least t ≥ 0 with Pr[|X| > t] ≤ miss, decided by balls."""
        return _half_width(self.variance, miss)

    def noise_spread(self) -> float:
        """E|X|."""
        return gaussian.noise_spread(self.variance)

    def relative_likelihood(self, distance: float) -> float:
        """e^(−d²/(2σ²)) at d steps."""
        return math.exp(-((distance / float(self.unit)) ** 2) / (2 * float(self.variance)))

    def has_readable_rate(self) -> bool:
        """Is σ² one that noise is drawn for."""
        return MIN_VARIANCE <= self.variance <= MAX_VARIANCE

    def prepare_draws(self) -> NoiseDraw:
        """The draw from the tables of σ²."""
        return partial(gaussian.draw_gaussian_noise, gaussian.gaussian_tables(self.variance))

    def confidence_law(self, target: AccuracyTarget, numbers: int = 1) -> ConfidenceLaw:
        """The probability that each of so many numbers meets the target at ρ, for this mechanism selected at ρ = 1.

        Pr[|X| > t] = 2·Pr[X ≥ t + 1] at variance σ²/ρ; independent for each number.
        """
        max_steps = math.floor(target.error / self.unit)

        def confidence(rho: Fraction, bits: int) -> arb:
            return (1 - 2 * tail_ball(self.variance / rho, max_steps + 1, bits)) ** ball(numbers, bits)

        together = f", all {numbers} of them at once," if numbers > 1 else ""
        return ConfidenceLaw(f"off by at most {plain_decimal(target.error, 6)}{together}", confidence)


@lru_cache(maxsize=4096)  # asked of each cell, and again and again while somebody thinks
def _half_width(variance: Fraction, miss: Fraction) -> int:
    return gaussian.half_width(variance, miss)
