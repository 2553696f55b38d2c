"""The optimal selection of found cells, with their noisy counts: law, draw, error and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from utmost.errors import InputError
from utmost.exact import decimal_above, plain_decimal
from utmost.exact import epsilon as level_of
from utmost.noise import EntropySource, system_source
from utmost.noise.selection import SelectionLaw, draw_selection, selection_law, selection_table
from utmost.noise.table_sampling import SamplingTable
from utmost.queries.answer_mechanisms.mechanism import (
    EXACT_SCHEMA,
    MAX_RATE,
    MIN_RATE,
    MISS_PROBABILITY,
    AnswerMechanism,
    Drawn,
    ErrorLaw,
    round_to_12_digits,
    schema_object,
)

if TYPE_CHECKING:
    from utmost.exact.input_text import Fields

MAX_NUMBER = 10**60  # that a reader computes with
ALL_CELLS_NOTE = (
    "The ± over cells found is that of all cells, told or not: the small ones that are told are off by more. The "
    "interval of each cell in a release holds given that the cell is told."
)


@dataclass(frozen=True, slots=True)
class SelectionMechanism(AnswerMechanism):
    """A cell of n units is told with probability π(n), with y = n + threshold − N ≥ threshold (`noise.selection`).

    `epsilon` and `delta` are those of one unit of one cell. The threshold follows from them; it is public.
    """

    name: ClassVar[str] = "selection"
    has_posterior: ClassVar[bool] = False

    epsilon: Fraction
    delta: Fraction
    threshold: int

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> SelectionMechanism:
        """The mechanism at (ε, δ) of one unit of one cell."""
        return cls(epsilon, delta, selection_law(level_of(epsilon), delta).threshold)

    @property
    def law(self) -> SelectionLaw:
        """The law that is drawn."""
        return selection_law(level_of(self.epsilon), self.delta)

    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it."""
        return {
            "name": self.name,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "threshold": self.threshold,
        }

    @classmethod
    def parse(cls, fields: Fields) -> SelectionMechanism:
        """The mechanism in the fields of a release file."""
        if fields.text("name") != cls.name:
            raise InputError(f"mechanism must be {cls.name} here, got another", "mechanism", context="release")
        mechanism = cls(fields.number("epsilon"), fields.number("delta"), fields.integer("threshold"))
        fields.finish()
        return mechanism

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`."""
        return schema_object(
            name={"const": cls.name},
            epsilon=EXACT_SCHEMA,
            delta=EXACT_SCHEMA,
            threshold={"type": "integer", "minimum": 1},
        )

    def noise_scale(self, details: Mapping[str, Any]) -> Fraction:
        """About 1/ε, at least one unit."""
        return max(1 / self.epsilon, Fraction(1))

    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do rate and numbers fit into doubles."""
        values = drawn.value if isinstance(drawn.value, tuple) else (drawn.value,)
        return MIN_RATE <= self.epsilon <= MAX_RATE and all(abs(Fraction(value)) <= MAX_NUMBER for value in values)

    def check_number(self, number: int) -> None:
        """Refuse a number below the threshold: no such cell is told."""
        if number < self.threshold:
            raise InputError(f"value must be at least the threshold {self.threshold}, got less", "value")

    def told_range(self, number: int, miss: Fraction) -> tuple[int, int]:
        """The counts that a cell told with this number has, with probability 1 − miss given that it is told."""
        return self.law.told_range(number - self.threshold, miss)

    def error_law(self) -> ErrorLaw:
        """The error of the noisy count of a cell, told or not."""
        law = self.law
        expected, half = round_to_12_digits(law.expected_error()), law.half_width(MISS_PROBABILITY)
        half_text = plain_decimal(half, 4, decimal_above)
        words = (
            f"noise: {plain_decimal(expected, 4)} on average, within ±{half_text} in 95 % of cases, told or not; "
            f"cells are told from a noisy count of {self.threshold} on, at least half of those that have "
            f"{self.threshold}"
        )
        return ErrorLaw(expected, Fraction(half), words, note=ALL_CELLS_NOTE)


@dataclass(frozen=True, slots=True)
class PreparedSelection:
    """A selection with the table that N is drawn from."""

    threshold: int
    table: SamplingTable

    def noisy_counts(self, counts: Sequence[int], source: EntropySource | None = None) -> list[int]:
        """Each count with its own noise τ − N, drawn before the counts are read. Those from τ on are told."""
        draws = draw_selection(self.table, len(counts), source or system_source()).tolist()
        return [count + self.threshold - int(draw) for count, draw in zip(counts, draws, strict=True)]


def prepare_selection(mechanism: SelectionMechanism) -> PreparedSelection:
    """The tables of the mechanism's law."""
    return PreparedSelection(mechanism.threshold, selection_table(mechanism.law))
