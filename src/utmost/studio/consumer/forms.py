"""What a reader says: which answer, what she believes, what she fears. All of it is in the query of the address.

Every number is short text, read exactly; no word of hers reaches a function that could take it for a file.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Literal, TypeAlias
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from utmost.consumer import losses, priors
from utmost.consumer.losses import Loss
from utmost.exact import rational
from utmost.publish.reading import AxisRequest
from utmost.studio.form_errors import FieldError, errors_for_field

PriorKind: TypeAlias = Literal["uniform", "binomial", "poisson", "zipf", "steps", "weights", "file"]
LossKind: TypeAlias = Literal["absolute", "squared", "binary", "power", "asymmetric", "drawn"]
View: TypeAlias = Literal["near", "whole"]

NUMBER = re.compile(r"\s*[+-]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20}|\d{1,20}/\d{1,20})(e[+-]?\d{1,2})?\s*", re.IGNORECASE)
PARAMETER = {"binomial": "p", "poisson": "mean", "zipf": "s", "steps": "bars", "weights": "weights", "file": "kept"}
FEARED = {"power": ("power",), "asymmetric": ("under", "over"), "drawn": ("drawn",)}
MOST_LISTED = 2000  # numbers of a list in an address
STEEPEST = 10**6  # one side of an asymmetric loss against the other
SHORT, LONG = 60, 20_000


def parse_number(field: str, text: str) -> Fraction:
    """An exact number as people type one: digits, a point, a fraction, a small power of ten."""
    if NUMBER.fullmatch(text) is None:
        raise FieldError(field, f'{field} must be a number such as 3, 0.5 or 1/3, got "{text[:20]}"')
    with errors_for_field(field):
        return rational(text.strip(), field)


def parse_numbers(field: str, text: str) -> list[Fraction]:
    """Numbers between commas."""
    parts = text.split(",", MOST_LISTED)
    if len(parts) > MOST_LISTED:
        raise FieldError(field, f"{field} must have at most {MOST_LISTED} numbers, got more: bring them in a file")
    return [parse_number(field, part) for part in parts]


def said(default: str, words: str, longest: int = SHORT) -> Any:
    """A parameter: a text of at most so many characters."""
    return Field(default=default, max_length=longest, description=words)


class ReadingForm(BaseModel):
    """The query of an address, as typed. Only what belongs to the chosen prior and loss is looked at."""

    model_config = ConfigDict(frozen=True)

    query: str = said("", "The answer that is read; by default the first", 500)
    cell: str = said("", "A cell of a histogram; by default all of them", 500)
    prior: PriorKind = Field(default="uniform", description="What she believed before")
    p: str = said("1/2", "binomial: the probability")
    mean: str = said("", "poisson: the mean")
    s: str = said("1", "zipf: the exponent")
    bars: str = said("", "steps: the heights, between commas", LONG)
    weights: str = said("", "weights: one for each value, between commas, up to a factor", LONG)
    kept: str = said("", "file: the id of weights that were uploaded")
    loss: LossKind = Field(default="absolute", description="What an error costs her")
    power: str = said("3/2", "power: the exponent")
    under: str = said("2", "asymmetric: the cost of a unit below the truth")
    over: str = said("1", "asymmetric: the cost of a unit above the truth")
    drawn: str = said("", "drawn: error:cost pairs, between commas", LONG)
    coverage: str = said("0.95", "How much of her belief an interval holds")
    at_least: str = said("", "The least value held possible")
    at_most: str = said("", "The largest value held possible")
    grid: str = said("", "How many points carry the prior")
    view: View = Field(default="near", description="Draw what is near the answer, or the whole range")

    def family(self) -> str:
        """A prior with a name, as the command line writes it."""
        if self.prior == "uniform":
            return "uniform"
        field = PARAMETER[self.prior]
        text = ",".join(str(one) for one in parse_numbers(field, getattr(self, field)))
        with errors_for_field(field):
            priors.parse(f"{self.prior}:{text}", priors.MAX_PRIOR_POINTS if self.prior != "steps" else 10**6)
        return f"{self.prior}:{text}"

    def fear(self) -> Loss:
        """Her loss."""
        if self.loss == "power":
            with errors_for_field("power"):
                return losses.power(parse_number("power", self.power))
        if self.loss == "asymmetric":
            return self._sides()
        if self.loss == "drawn":
            return self._drawing()
        return losses.parse(self.loss)

    def _sides(self) -> Loss:
        sides = [parse_number(field, getattr(self, field)) for field in FEARED["asymmetric"]]
        if all(sides) and not Fraction(1, STEEPEST) <= abs(sides[0] / sides[1]) <= STEEPEST:
            raise FieldError("under", f"under and over must be within {STEEPEST} times each other, or one of them 0")
        with errors_for_field("under"):
            return losses.asymmetric(*sides)

    def _drawing(self) -> Loss:
        pairs = [part.split(":") for part in self.drawn.split(",", 300)]
        if any(len(pair) != 2 for pair in pairs):
            raise FieldError("drawn", "drawn must be errors and costs such as -20:8,0:0,20:4, got another text")
        with errors_for_field("drawn"):
            return losses.drawn([(parse_number("drawn", error), parse_number("drawn", cost)) for error, cost in pairs])

    def wish(self) -> AxisRequest:
        """What she says of her points."""
        at_least, at_most, grid = (
            parse_number(field, getattr(self, field)) if getattr(self, field).strip() else None
            for field in ("at_least", "at_most", "grid")
        )
        if grid is not None and grid.denominator != 1:
            raise FieldError("grid", "grid must be a whole number of points, got a fraction")
        low, high = (None if end is None else Fraction(end) for end in (at_least, at_most))
        with errors_for_field("at_most" if grid is None else "grid"):
            return AxisRequest(low, high, None if grid is None else int(grid))

    def share(self) -> Fraction:
        """How much of her belief an interval holds."""
        found = parse_number("coverage", self.coverage)
        if not Fraction(1, 10**6) <= found <= 1 - Fraction(1, 10**6):
            raise FieldError("coverage", "coverage must be between 0.000001 and 0.999999, got another: 0.95 is usual")
        return found

    def address(self, **changed: str) -> str:
        """The query of an address that says the same, without what does not matter."""
        mine = {"p", "mean", "s", "bars", "weights", "kept", "power", "under", "over", "drawn"}
        mine -= {PARAMETER.get(self.prior, ""), *FEARED.get(self.loss, ())}
        blank = ReadingForm().model_dump()
        words = {name: value for name, value in self.model_dump().items() if name not in mine}
        return urlencode({name: value for name, value in words.items() if value != blank[name]} | changed)
