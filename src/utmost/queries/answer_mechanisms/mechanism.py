"""What every mechanism of a release has: its JSON, what a reader may ask of it, and how its errors are described."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from utmost.exact import decimal_above

if TYPE_CHECKING:
    from flint import arb

    from utmost.exact.input_text import Fields
    from utmost.queries.answer_mechanisms.lattice import LatticeMechanism

AnswerValue = int | Fraction | tuple[Any, ...]  # a number, or several: numbers, tuples of them in each cell, or cells
NUMBER_ROOM = 80  # bytes for a number of rows or steps, its line and its name
MIN_RATE, MAX_RATE = Fraction(1, 10**30), Fraction(1000)  # ε of a step that a reader computes with
MISS_PROBABILITY = Fraction(1, 20)  # how often an answer may lie outside the 95 % interval


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn for one query: its value, and what else a release says of the draw, as its JSON has it."""

    value: AnswerValue
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ErrorLaw:
    """How far off an answer will be, known before anything is drawn.

    `expected` absolute error and the `half_width` of a 95 % interval, in the value's unit unless `suffix` says another:
    it stands behind both numbers, and `note` explains it. For a ratio both are to be divided by the number of rows
    (`over_rows`), which is not public. `target` is what it is the distance from, in words: with contributions bounded
    or values clamped not the number in the table. With `is_bound` the expected error is at most `expected`. Without
    `is_of_values` the half width is not of each value by itself: a table of values leaves it out.
    """

    expected: float
    half_width: Fraction | float
    words: str
    over_rows: bool = False
    suffix: str = ""
    note: str = ""
    target: str = "the true number"
    is_bound: bool = False
    is_of_values: bool = True


@dataclass(frozen=True, slots=True)
class AccuracyTarget:
    """An error that an answer may have with a probability of at least `confidence`.

    `together` asks it of all cells of an answer at once. `rows` is about how many rows there will be, where that is
    secret and matters.
    """

    error: Fraction
    confidence: Fraction
    together: bool = False
    rows: object = None


@dataclass(frozen=True, slots=True)
class ConfidenceLaw:
    """The probability that an answer meets a target, as a function of ε that rises from 0 to 1.

    `by_balls` encloses it at an ε and a number of bits; where there is none, `by_doubles` gives it in doubles. `guess`
    is about the ε at which it reaches the target's confidence, None where that must be searched for.
    """

    target_text: str
    by_balls: Callable[[Fraction, int], arb] | None = None
    by_doubles: Callable[[float], float] | None = None
    guess: float | None = None
    remark: str = ""


class AnswerMechanism(ABC):
    """A mechanism of a release: a frozen dataclass whose entries are exact, and are what the release file has."""

    __slots__ = ()

    name: ClassVar[str]  # in a release file
    has_posterior: ClassVar[bool] = True  # its law depends on the true number alone, so a reader has a posterior

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """The mechanism as a release file has it, its name first."""

    @classmethod
    @abstractmethod
    def parse(cls, fields: Fields) -> Self:
        """The mechanism in the fields of a release file."""

    @classmethod
    @abstractmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of `content`; "$defs" of the release's schema may be referred to."""

    @property
    def lattice(self) -> LatticeMechanism | None:
        """The lattice that each released number is on; None where its law is another."""
        return None

    @property
    def value_unit(self) -> Fraction:
        """The unit that errors are counted in."""
        return Fraction(1)

    @property
    def has_public_ends(self) -> bool:
        """Does a reader need to say no least and no largest value: the release has them, or they do not matter."""
        return True

    def noise_scale(self, details: Mapping[str, Any]) -> Fraction | None:
        """About how large the noise of a value is; None where that is not said in the value's unit."""
        return None

    @abstractmethod
    def holds_readable_numbers(self, drawn: Drawn) -> bool:
        """Do the numbers of the mechanism and of what was drawn fit into doubles; those of every plan do."""


def schema_object(**properties: Any) -> dict[str, Any]:
    """The JSON schema of a table with exactly these entries."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


EXACT_SCHEMA = {"$ref": "#/$defs/exact"}
OPTIONAL_INTEGER_SCHEMA = {"type": ["integer", "null"]}


def round_to_12_digits(value: float) -> float:
    """A double of 12 digits, as documents have them."""
    return float(f"{value:.12g}")


def bound_of_12_digits(value: arb | float) -> float:
    """A double of 12 digits that is not below a number, as documents have bounds."""
    return float(decimal_above(value, 12))
