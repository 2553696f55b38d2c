"""Choices by secret losses, permute-and-flip and the exponential mechanism: law, error and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.exact import Number, ball, decimal_above, exponential, plain_decimal
from utmost.exact.exact_numbers import exact_sum
from utmost.exact.working_precision import working_precision
from utmost.noise.row_sampling import permute_and_flip_law
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    MAX_RATE,
    MIN_RATE,
    MISS_PROBABILITY,
    AccuracyTarget,
    AnswerMechanism,
    ConfidenceLaw,
    Drawn,
    ErrorLaw,
    bound_of_12_digits,
    schema_object,
)

if TYPE_CHECKING:
    from flint import arb

    from utmost.exact.input_text import Fields

BOUND_BITS = 128  # of balls around the bounds of an error
MAX_CANDIDATES = 10**6  # that a reader computes with
RANK_SUFFIX = " rows"
RANK_NOUN = "rows of rank"
RANK_NOTE = "rows: at most so many lie on the wrong side of the quantile."
TREE_NOTE = (
    "rows: at most so many lie on the wrong side of each quantile, besides half of the rows that share a value, for "
    "each level but the last. Where many rows share a value, ask for each quantile in a query of its own."
)
BOUND_REMARK = "what is shown is the bound that holds for every table, 1 - {0}·exp(-rate·t)"


@dataclass(frozen=True, slots=True)
class ChoiceMechanism(AnswerMechanism):
    """The exponential mechanism over `candidates` grid positions: Pr[j] ∝ e^(−rate·loss_j).

    Its law depends on all rows, not on the true value alone. Some candidate has loss 0, so
    Pr[loss ≥ t] ≤ c·e^(−rate·t) with c = candidates, and E[loss] = ∫ Pr[loss ≥ t] dt ≤ (1 + ln c)/rate. Below, the
    loss is `loss_per_row` times the number of rows on the wrong side. Quantiles were drawn by it until permute-and-flip
    took its place; files that name it are read.
    """

    name: ClassVar[str] = "exponential"
    has_posterior: ClassVar[bool] = False
    factor_text: ClassVar[str] = "candidates"

    rate: Fraction
    candidates: int

    @property
    def tail_factor(self) -> Fraction:
        """c, for Pr[loss ≥ t] ≤ c·e^(−rate·t)."""
        return Fraction(self.candidates)

    def law(self, losses: Sequence[int]) -> list[Number]:
        """The exact probability of each position, given the losses."""
        weights = choice_weights(losses, self.rate)
        total = exact_sum(weights)
        return [weight / total for weight in weights]

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return {"name": self.name, "rate": str(self.rate), "candidates": self.candidates}

    @classmethod
    def parse(cls, fields: Fields) -> ChoiceMechanism:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        mechanism = cls(fields.number("rate"), fields.integer("candidates"))
        fields.finish()
        return mechanism

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        return schema_object(name={"const": cls.name}, rate=EXACT_SCHEMA, candidates={"type": "integer", "minimum": 2})

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do the rate and the candidates fit into doubles."""
        return MIN_RATE <= self.rate <= MAX_RATE and 1 <= self.candidates <= MAX_CANDIDATES

    def rank_bound(self, loss_per_row: int, coverage: float) -> float:
        """Fewer rows than this lie on the wrong side, with probability `coverage` or more."""
        return (math.log(self.tail_factor) - math.log1p(-coverage)) / (float(self.rate) * loss_per_row)

    def error_law(self, loss_per_row: int, error_noun: str = RANK_NOUN, note: str = RANK_NOTE) -> ErrorLaw:
        """How many rows lie on the wrong side: bounds on the mean, and on 95 % of cases."""
        expected, half = _rank_bounds(self.tail_factor, 1 / (self.rate * loss_per_row))
        sentence = (
            f"noise: at most {plain_decimal(expected, 4, decimal_above)} {error_noun} on average, "
            f"within {plain_decimal(half, 4, decimal_above)} in 95 % of cases"
        )
        return ErrorLaw(expected, half, sentence, suffix=RANK_SUFFIX, note=note, is_bound=True)

    def confidence_law(self, target: AccuracyTarget, loss_per_row: int) -> ConfidenceLaw:
        """A lower bound on the probability that fewer than `target.error` rows lie on the wrong side; this is ε = 1."""
        loss = target.error * loss_per_row
        if not loss:
            raise InputError("error must be > 0 for a quantile: it is drawn, and may be a row off", "error")

        def confidence(epsilon: Fraction, bits: int) -> arb:
            return 1 - ball(self.tail_factor, bits) * ball(-epsilon * self.rate * loss, bits).exp()

        guess = (math.log(self.tail_factor) - math.log(float(1 - target.confidence))) / float(self.rate * loss)
        text = f"fewer than {plain_decimal(target.error, 6)} rows of rank off"
        return ConfidenceLaw(text, confidence, guess=guess, remark=BOUND_REMARK.format(self.factor_text))


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(ChoiceMechanism):
    """Permute-and-flip over `candidates` positions: the greatest −rate·loss_j + E_j, with E_j exponential.

    **Privacy.** Let D be the largest difference between how two of the losses move, max_j Δ_j − min_i Δ_i. Given the
    other E_i, j is chosen if E_j is above some h, and h moves by at most rate·D. Pr[E_j > h] = e^−max(h, 0) changes by
    at most e^(rate·D), so ε = rate·D: at most 2·rate·sensitivity, and rate·sensitivity where all losses move the same
    way.

    **Loss.** Let 0 be a position with loss 0. One with loss ≥ t is chosen only if E_j − E_0 > rate·t for such a j, and
    E_j − E_0 has the law of Laplace noise: Pr[loss ≥ t] ≤ c·e^(−rate·t) with c = (candidates − 1)/2, here
    at least 1, and E[loss] ≤ (1 + ln c)/rate. Every tail is at most that of the exponential mechanism at the same rate
    (McKenna and Sheldon 2020).
    """

    name: ClassVar[str] = "permute-and-flip"
    factor_text: ClassVar[str] = "(candidates - 1)/2"

    @property
    def tail_factor(self) -> Fraction:
        """c = (candidates − 1)/2, at least 1."""
        return max(Fraction(self.candidates - 1, 2), Fraction(1))

    def law(self, losses: Sequence[int]) -> list[Number]:
        """The exact probability of each position, given the losses."""
        return permute_and_flip_law(choice_weights(losses, self.rate))


@dataclass(frozen=True, slots=True)
class RepeatedChoice(PermuteAndFlip):
    """Permute-and-flip `picks` times, each time among the candidates that are left.

    Each pick has the privacy of `PermuteAndFlip`, whatever was picked before, so ε adds up to picks times as much. A
    pick is worse than the best of those left by t or more with probability at most c·e^(−rate·t), so any of them is
    with at most picks·c·e^(−rate·t).
    """

    name: ClassVar[str] = "repeated-permute-and-flip"
    factor_text: ClassVar[str] = "picks·(candidates - 1)/2"

    picks: int

    @property
    def tail_factor(self) -> Fraction:
        """picks·c."""
        return self.picks * PermuteAndFlip(self.rate, self.candidates).tail_factor

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return PermuteAndFlip.content(self) | {"picks": self.picks}

    @classmethod
    def parse(cls, fields: Fields) -> RepeatedChoice:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        mechanism = cls(fields.number("rate"), fields.integer("candidates"), fields.integer("picks"))
        fields.finish()
        return mechanism

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        whole = {"type": "integer", "minimum": 1}
        return schema_object(name={"const": cls.name}, rate=EXACT_SCHEMA, candidates=whole, picks=whole)


@dataclass(frozen=True, slots=True)
class QuantileTree(AnswerMechanism):
    """Several quantiles, each chosen by permute-and-flip on a part of the grid (`queries.quantiles` has the proofs).

    `rates` has one for each probability; losses are counted in rows. A choice among n positions is T rows off its own
    target or more with probability at most (n − 1)/2·e^(−rate·T) (`PermuteAndFlip`; with one position it is never off).
    The choices of a level are made on parts of the grid that share their ends alone, so their n − 1 add up to at most
    candidates − 1, and some of them is T rows off or more with probability at most c·e^(−rate·T), c as for all
    `candidates` and the least rate of the level. So with L levels every answer is fewer than Σ_levels ln(L·c/β)/rate
    rows off with probability 1 − β, and on average at most Σ_levels (1 + ln(L·c))/rate.
    """

    name: ClassVar[str] = "permute-and-flip-tree"
    has_posterior: ClassVar[bool] = False

    rates: tuple[Fraction, ...]
    candidates: int

    def tail_factor(self, level_rates: Sequence[Fraction]) -> Fraction:
        """L·c."""
        return len(level_rates) * PermuteAndFlip(self.rates[0], self.candidates).tail_factor

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return {"name": self.name, "rates": [str(rate) for rate in self.rates], "candidates": self.candidates}

    @classmethod
    def parse(cls, fields: Fields) -> QuantileTree:
        """The mechanism in the fields of a release file."""
        fields.text("name")
        mechanism = cls(tuple(fields.numbers("rates")), fields.integer("candidates"))
        fields.finish()
        return mechanism

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        rates = {"type": "array", "items": EXACT_SCHEMA}
        return schema_object(name={"const": cls.name}, rates=rates, candidates={"type": "integer", "minimum": 2})

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do the rates and the candidates fit into doubles."""
        return all(MIN_RATE <= rate <= MAX_RATE for rate in self.rates) and 1 <= self.candidates <= MAX_CANDIDATES

    def rank_bound(self, level_rates: Sequence[Fraction], coverage: float) -> float:
        """Fewer rows than this lie on the wrong side of each answer, with probability `coverage` or more."""
        log_factor = math.log(self.tail_factor(level_rates))
        return (log_factor - math.log1p(-coverage)) * _sum_of_inverses(level_rates)

    def error_law(self, level_rates: Sequence[Fraction]) -> ErrorLaw:
        """How many rows lie on the wrong side of the worst answer: bounds on the mean, and on 95 % of cases."""
        scale = sum((1 / rate for rate in level_rates), Fraction(0))
        expected, half = _rank_bounds(self.tail_factor(level_rates), scale)
        sentence = (
            f"noise: at most {plain_decimal(expected, 4, decimal_above)} rows of rank on average for the worst of "
            f"{len(self.rates)}, within {plain_decimal(half, 4, decimal_above)} in 95 % of cases"
        )
        is_of_values = len(level_rates) == 1  # else it is besides rows that share a value
        return ErrorLaw(
            expected, half, sentence, suffix=RANK_SUFFIX, note=TREE_NOTE, is_bound=True, is_of_values=is_of_values
        )

    def confidence_law(self, target: AccuracyTarget, level_rates: Sequence[Fraction]) -> ConfidenceLaw:
        """A lower bound on the probability that fewer than `target.error` rows lie on any wrong side; this is ε = 1."""
        if not target.error:
            raise InputError("error must be > 0 for a quantile: it is drawn, and may be a row off", "error")
        rate, factor = 1 / sum((1 / rate for rate in level_rates), Fraction(0)), self.tail_factor(level_rates)

        def confidence(epsilon: Fraction, bits: int) -> arb:
            return 1 - ball(factor, bits) * ball(-epsilon * rate * target.error, bits).exp()

        guess = (math.log(factor) - math.log(float(1 - target.confidence))) / float(rate * target.error)
        text = f"fewer than {plain_decimal(target.error, 6)} rows of rank off"
        remark = BOUND_REMARK.format("levels·(candidates - 1)/2")
        return ConfidenceLaw(text, confidence, guess=guess, remark=remark)


def _rank_bounds(factor: Fraction, scale: Fraction) -> tuple[float, float]:
    """(1 + ln c)·scale and (ln c + ln 20)·scale, rounded up: what Pr[loss ≥ t] ≤ c·e^(−t/scale) says of t."""
    with working_precision(BOUND_BITS):
        log_factor, size = ball(factor, BOUND_BITS).log(), ball(scale, BOUND_BITS)
        half = log_factor - ball(MISS_PROBABILITY, BOUND_BITS).log()
        return bound_of_12_digits((1 + log_factor) * size), bound_of_12_digits(half * size)


def _sum_of_inverses(rates: Sequence[Fraction]) -> float:
    return math.fsum(1 / float(rate) for rate in rates)


def choice_weights(losses: Sequence[int], rate: Fraction) -> list[Number]:
    """e^(−rate·(loss − least loss)) for each loss."""
    least = min(losses)
    return [exponential(-rate * (loss - least)) for loss in losses]
