"""Noise on whole numbers: what its kinds share, and two-sided geometric noise: law, draw, error and JSON.

**What runs after the charge cannot fail, and takes the same steps whatever the answer is.** `prepare_noise` builds the
tables and decides every question about real numbers before the charge. `PreparedNoise.add_noise` takes random words and
adds integers, which are never too large in Python. It contains no `raise` and no `assert`, and calls none of our
functions that does (tests/publish/test_outcomes.py traces it).
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError, UndecidedError
from utmost.exact import Level, Real, ball, ball_endpoints, decimal_above, plain_decimal
from utmost.exact import epsilon as level_of
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.geometric import tail_probability
from utmost.noise import EntropySource, geometric, system_source
from utmost.noise.geometric import draw_lattice_noise
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    MAX_RATE,
    MIN_RATE,
    MISS_PROBABILITY,
    NUMBER_ROOM,
    OPTIONAL_INTEGER_SCHEMA,
    AccuracyTarget,
    AnswerMechanism,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
    round_to_12_digits,
    schema_object,
)

if TYPE_CHECKING:
    from flint import arb

    from utmost.exact.input_text import Fields

MIN_UNIT, MAX_UNIT = Fraction(1, 10**60), Fraction(10**60)  # of a lattice that a reader computes with
MAX_LATTICE_NUMBER = 10**60
NEAR_NOISE_SCALES = 45  # 1/ε from an answer, beyond which a truth has less than 10^−15 of the likelihood
FIRST_BITS = 128  # of a ball; doubled until no whole number is in it, or it is narrow
NoiseDraw = Callable[[int, EntropySource], Any]  # so many independent whole numbers, as an array
TIE_WIDTH = Fraction(1, 2**40)  # of a ball around a whole number, which is then decided exactly


class LatticeMechanism(AnswerMechanism):
    """Noise on whole numbers y, which stand for origin + unit·y; an end that is given absorbs what lies beyond it,
    unless the kind says that it does not: it is an end of the true number in any case.

    A kind of noise is a subclass: a frozen dataclass with the parameter of its law, then these fields.
    """

    __slots__ = ()

    low: int | None
    high: int | None
    origin: Fraction
    unit: Fraction

    # What a kind of noise must supply

    @property
    @abstractmethod
    def noise_steps(self) -> Fraction:
        """About how large the noise is, in steps."""

    @property
    @abstractmethod
    def near_steps(self) -> Fraction:
        """How far from an answer the likelihood of a truth is below 10^−15 of all, in steps."""

    @abstractmethod
    def half_width(self, miss: Fraction = MISS_PROBABILITY) -> int:
        """The least t ≥ 0 that the noise is beyond with probability at most `miss`, in steps."""

    @abstractmethod
    def noise_spread(self) -> float:
        """The expected absolute noise in steps."""

    @abstractmethod
    def relative_likelihood(self, distance: float) -> float:
        """The likelihood of a truth at this distance from the answer, in the value's unit, relative to the nearest."""

    @abstractmethod
    def has_readable_rate(self) -> bool:
        """Does the parameter of the law fit into a double."""

    @abstractmethod
    def prepare_draws(self) -> NoiseDraw:
        """The draw of noise from tables that are built here; what is returned cannot fail."""

    @abstractmethod
    def confidence_law(self, target: AccuracyTarget, numbers: int = 1) -> ConfidenceLaw:
        """The probability that each of so many numbers meets the target, for this mechanism selected at price 1."""

    # What all have

    @property
    def absorbing_ends(self) -> tuple[int | None, int | None]:
        """The ends that an answer beyond is brought back to: those that are given, unless the kind says otherwise."""
        return self.low, self.high

    def value(self, number: int) -> Fraction:
        """What a number of the lattice stands for."""
        return self.origin + self.unit * number

    def number(self, value: Fraction) -> int:
        """The number of the lattice that stands for a value."""
        number = (value - self.origin) / self.unit
        if number.denominator != 1:
            raise InputError("a value of this release must be on its mechanism's lattice")
        return int(number)

    def lattice_content(self) -> dict[str, Any]:
        """Ends, origin and unit as a release file has them."""
        return {"low": self.low, "high": self.high, "origin": str(self.origin), "unit": str(self.unit)}

    @property
    def lattice(self) -> LatticeMechanism:
        """Itself."""
        return self

    @property
    def value_unit(self) -> Fraction:
        """A step of the lattice."""
        return self.unit

    @property
    def has_public_ends(self) -> bool:
        """Are both ends given."""
        return self.low is not None and self.high is not None

    def noise_scale(self, details: Mapping[str, Any]) -> Fraction:
        """About how large the noise is in the value's unit, at least a step."""
        return max(self.unit * self.noise_steps, self.unit)

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do rates, units and numbers fit into doubles."""
        values = drawn.value if isinstance(drawn.value, tuple) else (drawn.value,)
        return self.fits_doubles() and all(abs(self.number(Fraction(value))) <= MAX_LATTICE_NUMBER for value in values)

    def fits_doubles(self) -> bool:
        """Do the mechanism's own numbers fit into doubles."""
        ends = [end for end in (self.low, self.high) if end is not None]
        fits = self.has_readable_rate() and MIN_UNIT <= self.unit <= MAX_UNIT
        return fits and abs(self.origin) <= MAX_UNIT and all(abs(end) <= MAX_LATTICE_NUMBER for end in ends)

    def check_number(self, number: int) -> None:
        """Refuse a number beyond an end that absorbs."""
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise InputError("value must be within its mechanism's ends, got one beyond", "value")

    def room(self, numbers: int) -> int:
        """More bytes than so many noisy numbers take in a release file.

        A noisy number has the digits of the exact one, of the noise, and few more: noise beyond 10^10 times its size
        has probability below e^−10^10.
        """
        return numbers * (NUMBER_ROOM + 2 * sum(len(str(entry)) for entry in self.content().values()))

    def error_law(self) -> ErrorLaw:
        """The error of one noisy number: an end that absorbs only brings it nearer to a truth within the ends."""
        return _error_law(self)


LATTICE_SCHEMAS = {
    "low": OPTIONAL_INTEGER_SCHEMA,
    "high": OPTIONAL_INTEGER_SCHEMA,
    "origin": EXACT_SCHEMA,
    "unit": EXACT_SCHEMA,
}


def parse_lattice(
    fields: Fields, name: str, parameter: str
) -> tuple[Fraction, int | None, int | None, Fraction, Fraction]:
    """The parameter of a kind of noise, the ends, the origin and the unit in the fields of a release file."""
    if fields.text("name") != name:
        raise InputError(f"mechanism must be {name} here, got another", "mechanism", context="release")
    ends = fields.integer("low", None), fields.integer("high", None)
    entries = (fields.number(parameter), *ends, fields.number("origin"), fields.number("unit"))
    fields.finish()
    return entries


@dataclass(frozen=True, slots=True)
class GeometricLattice(LatticeMechanism):
    """Two-sided geometric noise: Pr[y | x] ∝ e^(−epsilon·|x − y|) (GRS12 Ex. 2.1, 2.2)."""

    name: ClassVar[str] = "geometric"

    epsilon: Fraction
    low: int | None
    high: int | None
    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return {"name": self.name, "epsilon": str(self.epsilon), **self.lattice_content()}

    @classmethod
    def parse(cls, fields: Fields) -> GeometricLattice:
        """The mechanism in the fields of a release file."""
        return cls(*parse_lattice(fields, cls.name, "epsilon"))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        return schema_object(name={"const": cls.name}, epsilon=EXACT_SCHEMA, **LATTICE_SCHEMAS)

    @property
    def noise_steps(self) -> Fraction:
        """1/ε."""
        return 1 / self.epsilon

    @property
    def near_steps(self) -> Fraction:
        """45/ε."""
        return NEAR_NOISE_SCALES / self.epsilon

    def half_width(self, miss: Fraction = MISS_PROBABILITY) -> int:
        """The least t ≥ 0 with Pr[|Δ| > t] ≤ miss, decided exactly."""
        return half_width(level_of(self.epsilon), miss)

    def noise_spread(self) -> float:
        """E|Δ|."""
        return noise_spread(level_of(self.epsilon))

    def relative_likelihood(self, distance: float) -> float:
        """α^d at d steps."""
        return math.exp(-float(self.epsilon) * distance / float(self.unit))

    def has_readable_rate(self) -> bool:
        """Does ε of a step fit into a double."""
        return MIN_RATE <= self.epsilon <= MAX_RATE

    def prepare_draws(self) -> NoiseDraw:
        """The draw from the tables of ε."""
        return partial(draw_lattice_noise, geometric.lattice(level_of(self.epsilon)))

    def step_epsilon(self) -> Fraction:
        """ε of one step, recomputed from the entries of the law that is drawn: the largest ratio of neighbouring rows.

        Pr[y | x] comes from the tails Pr[Δ ≥ d] = α^d/(1+α) that the draw compares its words with: an absorbing end has
        a tail, a number between the ends a difference of two. The ratio of rows x and x+1 depends on y only by which of
        these it is and on which side it lies, so the entries at distances 0, 1 and 2 show every ratio there is.
        """
        level = level_of(self.epsilon)
        tails = [tail_probability(distance, level) for distance in range(3)]
        inner = [1 - 2 * tails[1], *(tails[d] - tail_probability(d + 1, level) for d in (1, 2))]
        ratios = [nearer / farther for entries in (tails, inner) for nearer, farther in itertools.pairwise(entries)]
        epsilon = ratios[0].logarithm() if isinstance(ratios[0], Real) else None
        if epsilon is None or any(ratio != ratios[0] for ratio in ratios):
            raise UndecidedError(
                "the geometric law must tell e^epsilon at every step, and does not: this is a bug in utmost"
            )
        return epsilon

    def confidence_law(self, target: AccuracyTarget, numbers: int = 1) -> ConfidenceLaw:
        """The probability that each of so many numbers meets the target, for this mechanism at ε = 1.

        Pr[|Δ| > t] = 2α^(t+1)/(1+α) with α = e^(−ε·rate), rate = 1/sensitivity; independent for each number. An end
        that absorbs only brings an answer nearer to a truth within the ends.
        """
        max_steps = math.floor(target.error / self.unit)

        def confidence(epsilon: Fraction, bits: int) -> arb:
            alpha, tail = (ball(-epsilon * self.epsilon * steps, bits).exp() for steps in (1, max_steps + 1))
            return (1 - 2 * tail / (1 + alpha)) ** numbers

        hit = float(target.confidence)
        miss = -math.expm1(math.log(hit) / numbers) if numbers > 1 else float(1 - target.confidence)
        guess = _rate_for_miss(max_steps, miss) / float(self.epsilon)
        together = f", all {numbers} of them at once," if numbers > 1 else ""
        return ConfidenceLaw(f"off by at most {plain_decimal(target.error, 6)}{together}", confidence, guess=guess)


@dataclass(frozen=True, slots=True)
class PreparedNoise:
    """A lattice mechanism with the draw of its noise, whose tables are built."""

    mechanism: LatticeMechanism
    draw: NoiseDraw

    def add_noise(self, numbers: Sequence[int], source: EntropySource | None = None) -> list[int]:
        """Each number with its own noise, brought back to an end that it passed.

        The noise is drawn before the numbers are read, and added in Python's integers: nothing wraps around.
        """
        noises = self.draw(len(numbers), source or system_source()).tolist()
        low, high = self.mechanism.absorbing_ends
        return [_clip(number + int(error), low, high) for number, error in zip(numbers, noises, strict=True)]


def prepare_noise(mechanism: LatticeMechanism) -> PreparedNoise:
    """The mechanism with its tables."""
    return PreparedNoise(mechanism, mechanism.prepare_draws())


def _clip(answer: int, low: int | None, high: int | None) -> int:
    answer = answer if low is None else max(answer, low)
    return answer if high is None else min(answer, high)


@lru_cache(maxsize=4096)  # pages ask again and again while somebody thinks
def _error_law(mechanism: LatticeMechanism) -> ErrorLaw:
    expected = round_to_12_digits(float(mechanism.unit) * mechanism.noise_spread())
    half = mechanism.unit * mechanism.half_width()
    half_text = plain_decimal(half, 4, decimal_above)
    return ErrorLaw(
        expected, half, f"noise: {plain_decimal(expected, 4)} on average, within ±{half_text} in 95 % of cases"
    )


def noise_spread(level: Level) -> float:
    """E|Δ| = 2α/(1 − α²) of two-sided geometric noise, as the nearest double.

    >>> noise_spread(level_of("0.1"))
    9.98335275729611
    """
    return float(2 * level.alpha / (1 - level.alpha * level.alpha))


@lru_cache(maxsize=4096)  # asked of each cell
def half_width(level: Level, miss: Fraction = MISS_PROBABILITY) -> int:
    """The least t ≥ 0 with Pr[|Δ| > t] = 2α^(t+1)/(1+α) ≤ miss: decided exactly.

    >>> half_width(level_of("0.1"))
    30
    """
    bits = FIRST_BITS
    while True:
        ends = _half_width_ends(level, miss, bits)
        low, high = (max(math.ceil(end), 0) for end in ends)
        if low == high:
            return low
        if ends[1] - ends[0] < TIE_WIDTH:
            return low if 2 * tail_probability(low + 1, level) <= miss else high
        bits *= 2


def _half_width_ends(level: Level, miss: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Ends around the real t with 2α^(t+1)/(1+α) = miss, which is ln(2/(miss·(1 + α)))/ε − 1."""
    with working_precision(bits):
        log_ratio = (ball(2 / miss, bits) / (1 + ball(level.alpha, bits))).log()
        return ball_endpoints(log_ratio / level.epsilon_ball(bits) - 1)


def _rate_for_miss(max_steps: int, miss_probability: float) -> float:
    """The rate with 2α^(t+1)/(1+α) = miss, α = e^−rate: bisected on the logarithms, which fall as the rate grows."""
    low, high = 0.0, (math.log(2) - math.log(miss_probability)) / (max_steps + 1)
    for _ in range(200):
        middle = (low + high) / 2
        above = math.log(2) - middle * (max_steps + 1) - math.log1p(math.exp(-middle)) > math.log(miss_probability)
        low, high = (middle, high) if above else (low, middle)
    return high
