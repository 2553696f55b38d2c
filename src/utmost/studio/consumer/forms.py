"""The consumer's form: which answer, which prior, which loss. All of it is in the query of the address.

Every number is short text, read exactly; no text of the form reaches a function that could take it for a file.
What the library refuses is said beside the field it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Literal, TypeAlias
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from utmost.consumer import losses, priors
from utmost.consumer.losses import Loss
from utmost.errors import InputError
from utmost.exact import rational
from utmost.publish.reading import AxisRequest
from utmost.studio.form_errors import FieldError, errors_for_field

PriorKind: TypeAlias = Literal["uniform", "binomial", "poisson", "zipf", "steps", "weights", "file"]
LossKind: TypeAlias = Literal["absolute", "squared", "binary", "power", "asymmetric", "drawn"]
View: TypeAlias = Literal["near", "whole"]

NUMBER_PATTERN = re.compile(
    r"\s*[+-]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20}|\d{1,20}/\d{1,20})(e[+-]?\d{1,2})?\s*", re.IGNORECASE
)
PRIOR_FIELDS = {"binomial": "p", "poisson": "mean", "zipf": "s", "steps": "bars", "weights": "weights", "file": "kept"}
LOSS_FIELDS = {"power": ("power",), "asymmetric": ("under", "over"), "drawn": ("drawn",)}
FIELD_BY_FIRST_WORD = {
    **{name: name for name in ("prior", "loss", "cell", "grid", "coverage", "query")},
    "at-least": "at_least",
    "at-most": "at_most",
    "steps": "bars",
    "binomial": "p",
    "poisson": "mean",
    "zipf": "s",
}
MAX_LIST_NUMBERS = 2000  # numbers of a list in an address
MAX_SIDE_RATIO = 10**6  # one side of an asymmetric loss against the other
SHORT_CHARS, LONG_CHARS = 60, 20_000


def parse_number(field: str, text: str) -> Fraction:
    """An exact number as people type one: digits, a point, a fraction, a small power of ten."""
    if NUMBER_PATTERN.fullmatch(text) is None:
        raise FieldError(field, f'{field} must be a number such as 3, 0.5 or 1/3, got "{text[:20]}"')
    with errors_for_field(field):
        return rational(text.strip(), field)


def parse_numbers(field: str, text: str) -> list[Fraction]:
    """Numbers between commas."""
    numbers = text.split(",", MAX_LIST_NUMBERS)
    if len(numbers) > MAX_LIST_NUMBERS:
        raise FieldError(field, f"{field} must have at most {MAX_LIST_NUMBERS} numbers, got more: bring them in a file")
    return [parse_number(field, number) for number in numbers]


def _text_field(default: str, description: str, max_chars: int = SHORT_CHARS) -> Any:
    """A parameter: a text of at most so many characters."""
    return Field(default=default, max_length=max_chars, description=description)


class ReadingForm(BaseModel):
    """The query of an address, as typed. Only what belongs to the chosen prior and loss is looked at."""

    model_config = ConfigDict(frozen=True)

    query: str = _text_field("", "The answer that is read; by default the first", 500)
    cell: str = _text_field("", "A cell of a histogram; by default all of them", 500)
    prior: PriorKind = Field(default="uniform", description="The prior")
    p: str = _text_field("1/2", "binomial: the probability")
    mean: str = _text_field("", "poisson: the mean")
    s: str = _text_field("1", "zipf: the exponent")
    bars: str = _text_field("", "steps: the heights, between commas", LONG_CHARS)
    weights: str = _text_field("", "weights: one for each value, between commas, up to a factor", LONG_CHARS)
    kept: str = _text_field("", "file: the id of weights that were uploaded")
    loss: LossKind = Field(default="absolute", description="The loss: what an error costs")
    power: str = _text_field("3/2", "power: the exponent")
    under: str = _text_field("2", "asymmetric: the cost of a unit below the truth")
    over: str = _text_field("1", "asymmetric: the cost of a unit above the truth")
    drawn: str = _text_field("", "drawn: error:cost pairs, between commas", LONG_CHARS)
    coverage: str = _text_field("0.95", "Probability of the credible interval")
    at_least: str = _text_field("", "The least value held possible")
    at_most: str = _text_field("", "The largest value held possible")
    grid: str = _text_field("", "How many points carry the prior")
    view: View = Field(default="near", description="Draw what is near the answer, or the whole range")

    def prior_kind(self) -> str:
        """The kind of the prior with its parameters, as the command line writes it."""
        if self.prior == "uniform":
            return "uniform"
        field = PRIOR_FIELDS[self.prior]
        text = ",".join(str(number) for number in parse_numbers(field, getattr(self, field)))
        with errors_for_field(field):
            priors.parse(f"{self.prior}:{text}", priors.MAX_PRIOR_POINTS if self.prior != "steps" else 10**6)
        return f"{self.prior}:{text}"

    def parse_loss(self) -> Loss:
        """The loss that the form describes."""
        if self.loss == "power":
            with errors_for_field("power"):
                return losses.power(parse_number("power", self.power))
        if self.loss == "asymmetric":
            return self._parse_asymmetric()
        if self.loss == "drawn":
            return self._parse_drawn()
        return losses.parse(self.loss)

    def _parse_asymmetric(self) -> Loss:
        sides = [parse_number(field, getattr(self, field)) for field in LOSS_FIELDS["asymmetric"]]
        if all(sides) and not Fraction(1, MAX_SIDE_RATIO) <= abs(sides[0] / sides[1]) <= MAX_SIDE_RATIO:
            raise FieldError(
                "under", f"under and over must be within {MAX_SIDE_RATIO} times each other, or one of them 0"
            )
        with errors_for_field("under"):
            return losses.asymmetric(*sides)

    def _parse_drawn(self) -> Loss:
        pairs = [pair_text.split(":") for pair_text in self.drawn.split(",", 300)]
        if any(len(pair) != 2 for pair in pairs):
            raise FieldError("drawn", "drawn must be errors and costs such as -20:8,0:0,20:4, got another text")
        with errors_for_field("drawn"):
            return losses.drawn([(parse_number("drawn", error), parse_number("drawn", cost)) for error, cost in pairs])

    def axis_request(self) -> AxisRequest:
        """The range and the number of points that the form asks for."""
        at_least, at_most, grid = (
            parse_number(field, getattr(self, field)) if getattr(self, field).strip() else None
            for field in ("at_least", "at_most", "grid")
        )
        if grid is not None and grid.denominator != 1:
            raise FieldError("grid", "grid must be a whole number of points, got a fraction")
        low, high = (None if end is None else Fraction(end) for end in (at_least, at_most))
        with errors_for_field("at_most" if grid is None else "grid"):
            return AxisRequest(low, high, None if grid is None else int(grid))

    def parse_coverage(self) -> Fraction:
        """How much of the posterior an interval holds."""
        coverage = parse_number("coverage", self.coverage)
        if not Fraction(1, 10**6) <= coverage <= 1 - Fraction(1, 10**6):
            raise FieldError("coverage", "coverage must be between 0.000001 and 0.999999, got another: 0.95 is usual")
        return coverage

    def address(self, **changes: str) -> str:
        """The query of an address that says the same, without what does not matter."""
        unused = {"p", "mean", "s", "bars", "weights", "kept", "power", "under", "over", "drawn"}
        unused -= {PRIOR_FIELDS.get(self.prior, ""), *LOSS_FIELDS.get(self.loss, ())}
        defaults = ReadingForm().model_dump()
        fields = {name: value for name, value in self.model_dump().items() if name not in unused}
        return urlencode({name: value for name, value in fields.items() if value != defaults[name]} | changes)


@contextmanager
def errors_for_form() -> Iterator[None]:
    """Report errors raised inside beside the field that their first word names, in the terms of the form."""
    try:
        yield
    except FieldError:
        raise
    except InputError as error:
        message = str(error)
        field = FIELD_BY_FIRST_WORD.get(message.split(" ", 1)[0], "query")
        raise FieldError(field, _without_options(message)) from None


def _without_options(message: str) -> str:
    """The options of the command line as the form calls them.

    >>> _without_options("at-most must be given: say --at-most N, the largest you hold possible")
    'at most must be given: say at most N, the largest you hold possible'
    """
    for option in ("at-least", "at-most"):
        message = message.replace(f"--{option}", option.replace("-", " ")).replace(option, option.replace("-", " "))
    return message.replace("--grid", "the number of points")
