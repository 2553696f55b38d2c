"""The exponential mechanism over the positions of a grid: law, draw, error and JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.exact import ball, decimal_above, plain_decimal
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
    round_to_12_digits,
    schema_object,
)

if TYPE_CHECKING:
    from flint import arb

    from utmost.exact.input_text import Fields

MAX_CANDIDATES = 10**6  # that a reader computes with
RANK_SUFFIX = " rows"
RANK_NOTE = "rows: at most so many lie on the wrong side of the quantile."
BOUND_REMARK = "what is shown is the bound that holds for every table, 1 - candidates·exp(-rate·t)"


@dataclass(frozen=True, slots=True)
class ChoiceMechanism(AnswerMechanism):
    """The exponential mechanism over `candidates` grid positions: Pr[j] ∝ e^(−rate·loss_j).

    Its law depends on all rows, not on the true value alone. Some candidate has loss 0, so
    Pr[loss ≥ t] ≤ candidates·e^(−rate·t), and E[loss] ≤ (1 + ln candidates)/rate. Below, the loss is `loss_per_row`
    times the number of rows on the wrong side.
    """

    name: ClassVar[str] = "exponential"
    has_posterior: ClassVar[bool] = False

    rate: Fraction
    candidates: int

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
        return (math.log(self.candidates) - math.log1p(-coverage)) / (float(self.rate) * loss_per_row)

    def error_law(self, loss_per_row: int) -> ErrorLaw:
        """How many rows lie on the wrong side: bounds on the mean, and on 95 % of cases."""
        rate, log_candidates = float(self.rate) * loss_per_row, math.log(self.candidates)
        expected, half = (
            round_to_12_digits((1 + log_candidates) / rate),
            round_to_12_digits((log_candidates + math.log(float(1 / MISS_PROBABILITY))) / rate),
        )
        sentence = (
            f"noise: at most {plain_decimal(expected, 4, decimal_above)} rows of rank on average, "
            f"within {plain_decimal(half, 4, decimal_above)} in 95 % of cases"
        )
        return ErrorLaw(expected, half, sentence, suffix=RANK_SUFFIX, note=RANK_NOTE)

    def confidence_law(self, target: AccuracyTarget, loss_per_row: int) -> ConfidenceLaw:
        """A lower bound on the probability that fewer than `target.error` rows lie on the wrong side; this is ε = 1."""
        loss = target.error * loss_per_row
        if not loss:
            raise InputError("error must be > 0 for a quantile: it is drawn, and may be a row off", "error")

        def confidence(epsilon: Fraction, bits: int) -> arb:
            return 1 - self.candidates * ball(-epsilon * self.rate * loss, bits).exp()

        guess = (math.log(self.candidates) - math.log(float(1 - target.confidence))) / float(self.rate * loss)
        text = f"fewer than {plain_decimal(target.error, 6)} rows of rank off"
        return ConfidenceLaw(text, confidence, guess=guess, remark=BOUND_REMARK)
