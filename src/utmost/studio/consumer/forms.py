"""The consumer's form: which answer, prior and loss; and the data of the drag editors.

Every number is short text, read exactly; no text of the form reaches a function that could take it for a file.
What the library refuses is said beside the field it is about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlencode

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model

from utmost.consumer import losses, priors
from utmost.consumer.family import ConsumerFamily, Parameter
from utmost.consumer.losses import LOSSES, Linear, Loss, PiecewiseLoss
from utmost.consumer.losses.drawn import SIDE_POINTS, number_text
from utmost.consumer.priors import PRIORS, HistogramPrior
from utmost.errors import InputError
from utmost.exact import rational
from utmost.publish.reading import AxisRequest, Reader
from utmost.publish.release_model import Answer
from utmost.registry import Registry
from utmost.reports.numbers import quantity
from utmost.studio.forms import errors_for_field

View: TypeAlias = Literal["near", "whole"]

NUMBER_PATTERN = re.compile(
    r"\s*[+-]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20}|\d{1,20}/\d{1,20})(e[+-]?\d{1,2})?\s*", re.IGNORECASE
)
MAX_LIST_NUMBERS = 2000  # numbers of a list in an address
MAX_LIST_PAIRS = 300
MAX_SIDE_RATIO = 10**6  # one side of an asymmetric loss against the other
SHORT_CHARS, LONG_CHARS = 60, 20_000


def parse_number(field: str, text: str) -> Fraction:
    """An exact number as people type one: digits, a point, a fraction, a small power of ten."""
    if NUMBER_PATTERN.fullmatch(text) is None:
        raise InputError(f'{field} must be a number such as 3, 0.5 or 1/3, got "{text[:20]}"', field)
    with errors_for_field(field):
        return rational(text.strip(), field)


def parse_numbers(field: str, text: str) -> list[Fraction]:
    """Numbers between commas."""
    numbers = text.split(",", MAX_LIST_NUMBERS)
    if len(numbers) > MAX_LIST_NUMBERS:
        raise InputError(f"{field} must have at most {MAX_LIST_NUMBERS} numbers, got more: bring them in a file", field)
    return [parse_number(field, number) for number in numbers]


def _text_field(default: str, description: str, max_chars: int = SHORT_CHARS) -> Any:
    """A parameter: a text of at most so many characters."""
    return Field(default=default, max_length=max_chars, description=description)


def offered_families(*registries: Registry[Any]) -> list[ConsumerFamily]:
    """The families that the form offers: of these registries, by default priors and losses."""
    return [family for registry in registries or (PRIORS, LOSSES) for family in registry if family.choice]


def choices(families: Iterable[ConsumerFamily]) -> list[tuple[str, str]]:
    """Families as the choices of a select: the kind of each, and a line about it."""
    return [(family.kind, family.choice) for family in families]


def _parameter_text(parameter: Parameter, text: str) -> str:
    """A parameter's text, once it is made of numbers alone, each written exactly."""
    name = parameter.name
    if parameter.content == "number":
        return str(parse_number(name, text))
    if parameter.content == "numbers":
        return ",".join(map(str, parse_numbers(name, text)))
    pairs = [pair.split(":") for pair in text.split(",", MAX_LIST_PAIRS)]
    if any(len(pair) != 2 for pair in pairs):
        raise InputError(f"{name} must be pairs of numbers such as -20:8,0:0,20:4, got another text", name)
    return ",".join(":".join(str(parse_number(name, number)) for number in pair) for pair in pairs)


class FormBase(BaseModel):
    """What every form has. The parameters of the families are fields too: see `form_model`."""

    model_config = ConfigDict(frozen=True)

    query: str = _text_field("", "The answer that is read; by default the first", 500)
    cell: str = _text_field("", "A cell of a histogram; by default all of them", 500)
    prior: str = "uniform"
    loss: str = "absolute"
    coverage: str = _text_field("0.95", "Probability of the credible interval")
    at_least: str = _text_field("", "The least value held possible")
    at_most: str = _text_field("", "The largest value held possible")
    grid: str = _text_field("", "How many points carry the prior")
    view: View = Field(default="near", description="Draw what is near the answer, or the whole range")

    def value(self, field: str) -> str:
        """What was typed into a field."""
        text: str = getattr(self, field)
        return text

    def prior_kind(self) -> str:
        """The kind of the prior with its parameters, as the command line writes it."""
        text, field = self._family_text(PRIORS, self.prior)
        with errors_for_field(field):
            priors.parse(text, priors.MAX_PRIOR_POINTS)
        return text

    def parse_loss(self) -> Loss:
        """The loss that the form describes."""
        text, field = self._family_text(LOSSES, self.loss)
        with errors_for_field(field):
            loss = losses.parse(text)
        if isinstance(loss, Linear):
            _check_sides(loss)
        return loss

    def _family_text(self, registry: Registry[Any], kind: str) -> tuple[str, str]:
        """A family with its parameters, as the command line writes it, and the field that its errors belong to."""
        family: ConsumerFamily | None = registry.find(kind)
        if family is None or not family.parameters:
            return kind, registry.noun
        texts = [_parameter_text(parameter, self.value(parameter.name)) for parameter in family.parameters]
        return f"{kind}:{','.join(texts)}", family.parameters[0].name

    def axis_request(self) -> AxisRequest:
        """The range and the number of points that the form asks for."""
        at_least, at_most, grid = (
            parse_number(field, getattr(self, field)) if getattr(self, field).strip() else None
            for field in ("at_least", "at_most", "grid")
        )
        if grid is not None and grid.denominator != 1:
            raise InputError("grid must be a whole number of points, got a fraction", "grid")
        low, high = (None if end is None else Fraction(end) for end in (at_least, at_most))
        with errors_for_field("at_most" if grid is None else "grid"):
            return AxisRequest(low, high, None if grid is None else int(grid))

    def parse_coverage(self) -> Fraction:
        """How much of the posterior an interval holds."""
        coverage = parse_number("coverage", self.coverage)
        if not Fraction(1, 10**6) <= coverage <= 1 - Fraction(1, 10**6):
            raise InputError("coverage must be between 0.000001 and 0.999999, got another: 0.95 is usual", "coverage")
        return coverage

    def address(self, **changes: str) -> str:
        """The query of an address that says the same, without what does not matter."""
        families = offered_families()
        used = {p.name for family in families if family.kind in (self.prior, self.loss) for p in family.parameters}
        unused = {parameter.name for family in families for parameter in family.parameters} - used
        defaults = type(self)().model_dump()
        fields = {name: value for name, value in self.model_dump().items() if name not in unused}
        return urlencode({name: value for name, value in fields.items() if value != defaults[name]} | changes)


def form_model() -> type[FormBase]:
    """The form with a choice for each family that is registered now, and a field for each of their parameters."""
    fields: dict[str, Any] = {
        "prior": _kind_field(PRIORS, "uniform", "The prior"),
        "loss": _kind_field(LOSSES, "absolute", "The loss: what an error costs"),
    }
    for family in offered_families():
        for parameter in family.parameters:
            max_chars = LONG_CHARS if parameter.content in ("numbers", "pairs") else SHORT_CHARS
            description = f"{family.kind}: {parameter.description}"
            fields[parameter.name] = (str, _text_field(parameter.default, description, max_chars))
    model: type[FormBase] = create_model("ReadingForm", __base__=FormBase, __module__=__name__, **fields)
    return model


def _kind_field(registry: Registry[Any], default: str, description: str) -> tuple[Any, Any]:
    """A field that takes the kinds of a registry."""
    kinds = tuple(family.kind for family in offered_families(registry))
    return Literal[kinds], Field(default=default, description=description)


if TYPE_CHECKING:
    ReadingForm = FormBase
else:
    ReadingForm = form_model()


def _check_sides(loss: Linear) -> None:
    """Refuse sides so far apart that doubles lose one of them."""
    sides = (loss.under, loss.over)
    if all(sides) and not Fraction(1, MAX_SIDE_RATIO) <= sides[0] / sides[1] <= MAX_SIDE_RATIO:
        raise InputError(f"under and over must be within {MAX_SIDE_RATIO} times each other, or one of them 0", "under")


@contextmanager
def errors_for_form() -> Iterator[None]:
    """Report errors raised inside beside a field of the form, the query where they are about none of them.

    The hint for an end of the range names an option of the command line; the form has a hint of its own there.
    """
    try:
        yield
    except InputError as error:
        field = error.field if error.field in ReadingForm.model_fields else "query"
        hint = None if field in ("at_least", "at_most") else error.hint
        raise InputError(error.message, field, hint, context=error.context) from None


DEFAULT_BARS = 24
MAX_BAR_HEIGHT = 100  # of a bar
MIN_TOP_COST = 10  # the least top of a drawing
MAX_ERROR_STEP = 10**20  # a step between the errors of a drawing, or one over it


class PriorBars(BaseModel):
    """A histogram over the reader's values: heights from 0 to 100, and the values under each bar."""

    heights: list[int]
    labels: list[str]
    text: str = Field(description="The heights as the parameter `bars` takes them")


class LossPoints(BaseModel):
    """A loss as points: errors from below to above the truth, and what each costs."""

    errors: list[str]
    costs: list[float]
    labels: list[str]
    top: float
    text: str = Field(description="The points as the parameter `drawn` takes them")


def complete_form(form: ReadingForm, answer: Answer) -> ReadingForm:
    """The form for an answer: without what its kind has no use for, with a default where a parameter is blank."""
    value = answer.value
    if not answer.mechanism.has_posterior:
        cell = form.cell if isinstance(value, tuple) else ""
        return ReadingForm(query=form.query, coverage=form.coverage, cell=cell)
    if not isinstance(value, tuple):
        form = form.model_copy(update={"cell": ""})
    whole_value, step = value if isinstance(value, int) else None, error_step(answer)
    suggestions = {
        parameter.name: parameter.suggest(whole_value, step)
        for family in offered_families()
        for parameter in family.parameters
        if parameter.suggest is not None and not form.value(parameter.name).strip()
    }
    return form.model_copy(update=suggestions)


def prior_bars(reader: Reader) -> PriorBars:
    """The prior in bars: its own heights if it is a histogram, else the mean weight of each bar, the highest 100."""
    size, prior = reader.axis.size, reader.prior
    is_editable = isinstance(prior, HistogramPrior) and len(prior.heights) <= 2 * DEFAULT_BARS
    count = len(prior.heights) if isinstance(prior, HistogramPrior) and is_editable else min(DEFAULT_BARS, size)
    edges = [bar * size // count for bar in range(count + 1)]
    if isinstance(prior, HistogramPrior) and is_editable:
        means = np.array([float(height) for height in prior.heights])
        top = MAX_BAR_HEIGHT if means.max() <= MAX_BAR_HEIGHT else means.max()
    else:
        means = np.add.reduceat(np.exp(prior.logs()), edges[:-1]) / np.diff(edges)
        top = means.max()
    heights = [round(MAX_BAR_HEIGHT * float(mean) / float(top)) for mean in means]
    values = [[quantity(reader.axis.value(index)).typeset for index in (a, b - 1)] for a, b in pairwise(edges)]
    labels = [low if low == high else f"{low} to {high}" for low, high in values]
    return PriorBars(heights=heights, labels=labels, text=",".join(map(str, heights)))


def loss_points(answer: Answer, form: ReadingForm) -> LossPoints:
    """The points of a drawn loss; of another loss its shape at nine errors that the noise makes likely."""
    loss = form.parse_loss()
    if isinstance(loss, PiecewiseLoss):
        points = list(loss.points)
    else:
        step, counts = error_step(answer), range(-SIDE_POINTS, SIDE_POINTS + 1)
        points = [(step * count, Fraction(round(2 * float(loss.array(0, count))), 2)) for count in counts]
    top = max(MIN_TOP_COST, math.ceil(max(float(cost) for _, cost in points)))
    labels = [_error_label(error) for error, _ in points]
    text = ",".join(f"{number_text(error)}:{number_text(cost)}" for error, cost in points)
    errors, costs = [number_text(error) for error, _ in points], [float(cost) for _, cost in points]
    return LossPoints(errors=errors, costs=costs, labels=labels, top=top, text=text)


def error_step(answer: Answer) -> Fraction:
    """A round step between the errors of a drawing: about half of the noise, 1, 2 or 5 times a power of ten."""
    noise = answer.mechanism.noise_scale(answer.details)
    if noise is None:
        return Fraction(1)
    return round_number(min(max(noise, Fraction(1, MAX_ERROR_STEP)), Fraction(MAX_ERROR_STEP)))


def round_number(value: Fraction) -> Fraction:
    """1, 2 or 5 times a power of ten, at most the value.

    >>> round_number(Fraction(37)), round_number(Fraction(1, 15))
    (Fraction(20, 1), Fraction(1, 20))
    """
    power = Fraction(10) ** math.floor(math.log10(value))
    return next(digit * power for digit in (5, 2, 1, Fraction(1, 2)) if digit * power <= value)


def _error_label(error: Fraction) -> str:
    if not error:
        return "no error"
    return f"{quantity(abs(error)).typeset} {'below' if error < 0 else 'above'} the truth"
