"""The data of the drag editors: a prior as bars, a loss as points."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from pydantic import BaseModel, Field

from utmost.consumer.histogram_prior import HistogramPrior
from utmost.consumer.piecewise_losses import PiecewiseLoss
from utmost.publish.reading import Reader
from utmost.publish.release_model import Answer, ChoiceMechanism, LatticeMechanism, RatioMechanism
from utmost.studio.consumer.forms import ReadingForm
from utmost.studio.number_format import format_rounded

DEFAULT_BARS = 24
MAX_BAR_HEIGHT = 100  # of a bar
SIDE_POINTS = 4  # points of a drawing on each side of the truth
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
    if isinstance(answer.mechanism, ChoiceMechanism):
        return ReadingForm(query=form.query, coverage=form.coverage)
    if not isinstance(value, tuple):
        form = form.model_copy(update={"cell": ""})
    defaults = {"mean": str(max(value, 1)) if isinstance(value, int) else "10", "bars": "1"}
    steps = [(error_step(answer) * count, abs(count)) for count in range(-SIDE_POINTS, SIDE_POINTS + 1)]
    defaults["drawn"] = ",".join(f"{_number_text(error)}:{cost}" for error, cost in steps)
    return form.model_copy(update={name: text for name, text in defaults.items() if not getattr(form, name).strip()})


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
    values = [[format_rounded(reader.axis.value(index)) for index in (a, b - 1)] for a, b in pairwise(edges)]
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
    text = ",".join(f"{_number_text(error)}:{_number_text(cost)}" for error, cost in points)
    errors, costs = [_number_text(error) for error, _ in points], [float(cost) for _, cost in points]
    return LossPoints(errors=errors, costs=costs, labels=labels, top=top, text=text)


def error_step(answer: Answer) -> Fraction:
    """A round step between the errors of a drawing: about half of the noise, 1, 2 or 5 times a power of ten."""
    mechanism = answer.mechanism
    lattice = (
        mechanism
        if isinstance(mechanism, LatticeMechanism)
        else mechanism.total
        if isinstance(mechanism, RatioMechanism)
        else None
    )
    if lattice is None:
        return Fraction(1)
    noise = lattice.unit / lattice.epsilon
    if isinstance(mechanism, RatioMechanism) and answer.parts is not None:
        noise /= max(answer.parts[1], 1)
    min_step = lattice.unit if isinstance(mechanism, LatticeMechanism) else Fraction(1, 10**6)
    return round_number(min(max(noise, min_step, Fraction(1, MAX_ERROR_STEP)), Fraction(MAX_ERROR_STEP)))


def round_number(value: Fraction) -> Fraction:
    """1, 2 or 5 times a power of ten, at most the value.

    >>> round_number(Fraction(37)), round_number(Fraction(1, 15))
    (Fraction(20, 1), Fraction(1, 20))
    """
    power = Fraction(10) ** math.floor(math.log10(value))
    return next(digit * power for digit in (5, 2, 1, Fraction(1, 2)) if digit * power <= value)


def _number_text(value: Fraction) -> str:
    """A decimal where it is a short one, else a fraction."""
    text = f"{float(value):.12g}"
    return text if Fraction(text) == value and "e" not in text else str(value)


def _error_label(error: Fraction) -> str:
    if not error:
        return "no error"
    return f"{format_rounded(abs(error))} {'below' if error < 0 else 'above'} the truth"
