"""Canonical noise on whole numbers: what a unit's moves cost in ε and δ, draw, error and JSON.

**Privacy.** Let a unit move the numbers of an answer by at most Δ steps in all. Each number gets its own noise X with
Pr[X = x] ∝ e^(−ε·|x|) for |x| ≤ R, so the answer is (Δ·ε, T(Δ))-private (theorem of `noise.tight_canonical`). The file
states ε of a step and R; what the answer is private with follows from them and from Δ.

**Ends do not absorb.** `low` and `high` are ends of the true number. With geometric noise an answer beyond an end tells
no more than the end does; with canonical noise it does, since only some truths can lead to it. So answers are released
as they are drawn, up to R beyond the ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError, UndecidedError
from utmost.exact import Real, ball, plain_decimal
from utmost.exact import epsilon as level_of
from utmost.noise import tight_canonical
from utmost.noise.tight_canonical import MAX_REACH, TightLaw
from utmost.queries.answer_mechanisms.lattice import LATTICE_SCHEMAS, LatticeMechanism, NoiseDraw
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    MAX_RATE,
    MIN_RATE,
    MISS_PROBABILITY,
    AccuracyTarget,
    ConfidenceLaw,
    schema_object,
)

if TYPE_CHECKING:
    from flint import arb

    from utmost.exact.input_text import Fields


@dataclass(frozen=True, slots=True)
class CanonicalLattice(LatticeMechanism):
    """Two-sided geometric noise kept within R = `reach`: Pr[y | x] ∝ e^(−epsilon·|x − y|) where |x − y| ≤ R."""

    name: ClassVar[str] = "canonical"

    epsilon: Fraction
    reach: int
    low: int | None
    high: int | None
    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return {"name": self.name, "epsilon": str(self.epsilon), "reach": self.reach, **self.lattice_content()}

    @classmethod
    def parse(cls, fields: Fields) -> CanonicalLattice:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        entries = fields.number("epsilon"), fields.integer("reach")
        ends = fields.integer("low", None), fields.integer("high", None)
        mechanism = cls(*entries, *ends, fields.number("origin"), fields.number("unit"))
        fields.finish()
        if mechanism.epsilon <= 0 or not 1 <= mechanism.reach <= MAX_REACH:
            problem = "mechanism must have epsilon > 0 and a reach from 1 to 2^60, got others"
            raise InputError(problem, "mechanism", context="release")
        return mechanism

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        reach = {"type": "integer", "minimum": 1}
        return schema_object(name={"const": cls.name}, epsilon=EXACT_SCHEMA, reach=reach, **LATTICE_SCHEMAS)

    @property
    def law(self) -> TightLaw:
        """The law of the noise in steps."""
        return TightLaw(level_of(self.epsilon), self.reach)

    @property
    def largest_error(self) -> Fraction:
        """The most that an answer can be off, in the value's unit."""
        return self.unit * self.reach

    @property
    def absorbing_ends(self) -> tuple[None, None]:
        """None: answers are released as they are drawn."""
        return None, None

    @property
    def noise_steps(self) -> Fraction:
        """1/ε, or R if that is less."""
        return min(1 / self.epsilon, Fraction(self.reach))

    @property
    def near_steps(self) -> Fraction:
        """R: the truth is within it."""
        return Fraction(self.reach)

    def half_width(self, miss: Fraction = MISS_PROBABILITY) -> int:
        """The least t ≥ 0 with Pr[|X| > t] ≤ miss, decided exactly."""
        return self.law.half_width(miss)

    def noise_spread(self) -> float:
        """E|X|."""
        return self.law.expected_error()

    def relative_likelihood(self, distance: float) -> float:
        """α^d at d ≤ R steps, 0 beyond."""
        steps = distance / float(self.unit)
        return math.exp(-float(self.epsilon) * steps) if steps <= self.reach else 0.0

    def has_readable_rate(self) -> bool:
        """Does ε of a step fit into a double."""
        return MIN_RATE <= self.epsilon <= MAX_RATE

    def check_number(self, number: int) -> None:
        """Refuse a number that no truth within the ends leads to."""
        below = self.low is not None and number < self.low - self.reach
        if below or (self.high is not None and number > self.high + self.reach):
            raise InputError("value must be within its mechanism's reach of its ends, got one beyond", "value")

    def prepare_draws(self) -> NoiseDraw:
        """The draw from the tables of the law."""
        return partial(tight_canonical.draw_tight_noise, tight_canonical.tight_tables(self.law))

    def step_epsilon(self) -> Fraction:
        """ε of one step, recomputed from the law that is drawn: the largest ratio of neighbouring probabilities.

        It is the same everywhere within the reach; the probabilities of 0, 1, R − 1 and R show it.
        """
        law = self.law
        pairs = ((0, 1), (self.reach - 1, self.reach))
        ratios = [law.mass(nearer) / law.mass(farther) for nearer, farther in pairs]
        epsilon = ratios[0].logarithm() if isinstance(ratios[0], Real) else None
        if epsilon is None or any(ratio != ratios[0] for ratio in ratios):
            raise UndecidedError("canonical noise must tell e^epsilon at every step, and does not: a bug in utmost")
        return epsilon

    def told_delta(self, sensitivity: int) -> Fraction:
        """The δ where a unit moves the numbers by so many steps in all, rounded up; refused where R is less."""
        if sensitivity > self.reach:
            raise InputError("reach must be at least the sensitivity for canonical noise, got less", "mechanism")
        return self.law.told_delta(sensitivity)

    def confidence_law(self, target: AccuracyTarget, numbers: int = 1) -> ConfidenceLaw:
        """The probability that each of so many numbers meets the target at ε, for this mechanism selected at ε = 1.

        At the δ that it tells for the 1/ε steps that it was selected for.
        """
        return self.confidence_law_at(self.told_delta(int(1 / self.epsilon)), target, numbers)

    def confidence_law_at(self, delta: Fraction, target: AccuracyTarget, numbers: int = 1) -> ConfidenceLaw:
        """The same at another δ: Pr[|X| ≤ t] = 1 − 2·Pr[X > t] of each number, independent."""
        max_steps, steps = math.floor(target.error / self.unit), int(1 / self.epsilon)

        def confidence(epsilon: Fraction, bits: int) -> arb:
            law = tight_canonical.tight_law(level_of(epsilon / steps), steps, delta)
            return (1 - 2 * law.tail_ball(max_steps, bits)) ** ball(numbers, bits)

        together = f", all {numbers} of them at once," if numbers > 1 else ""
        return ConfidenceLaw(f"off by at most {plain_decimal(target.error, 6)}{together}", confidence)


def canonical_lattice(
    epsilon: Fraction, delta: Fraction, sensitivity: int, lattice: LatticeMechanism
) -> CanonicalLattice:
    """Canonical noise with this ε and at most this δ, in the place of other noise on a lattice."""
    law = tight_canonical.tight_law(level_of(epsilon / sensitivity), sensitivity, delta)
    ends = (lattice.low, lattice.high, lattice.origin, lattice.unit)
    return CanonicalLattice(epsilon / sensitivity, law.reach, *ends)
