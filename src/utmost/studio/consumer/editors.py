"""The data of the drag editors: a prior as bars, a loss as points."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from pydantic import BaseModel, Field

from utmost.consumer.losses import PiecewiseLoss
from utmost.consumer.losses.drawn import SIDE_POINTS, number_text
from utmost.consumer.priors import HistogramPrior
from utmost.publish.reading import Reader
from utmost.publish.release_model import Answer
from utmost.reports.numbers import quantity
from utmost.studio.consumer.forms import ReadingForm, offered_families

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
        return ReadingForm(query=form.query, coverage=form.coverage)
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
