"""What is dragged: a prior as bars, a loss as points."""

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

BARS = 24
MAX_BAR_HEIGHT = 100  # of a bar
STEPS = 4  # points of a drawing on each side of the truth
FLOOR = 10  # the least top of a drawing
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


def complete_form(said: ReadingForm, answer: Answer) -> ReadingForm:
    """What is said of an answer: without what its kind has no use for, with a start where a parameter is blank."""
    value = answer.value
    if isinstance(answer.mechanism, ChoiceMechanism):
        return ReadingForm(query=said.query, coverage=said.coverage)
    if not isinstance(value, tuple):
        said = said.model_copy(update={"cell": ""})
    first = {"mean": str(max(value, 1)) if isinstance(value, int) else "10", "bars": "1"}
    steps = [(unit(answer) * count, abs(count)) for count in range(-STEPS, STEPS + 1)]
    first["drawn"] = ",".join(f"{_written(error)}:{cost}" for error, cost in steps)
    return said.model_copy(update={name: text for name, text in first.items() if not getattr(said, name).strip()})


def prior_bars(reader: Reader) -> PriorBars:
    """Her prior in bars: her own heights if they are a histogram, else the mean weight of each bar, the highest 100."""
    size, prior = reader.axis.size, reader.prior
    own = isinstance(prior, HistogramPrior) and len(prior.heights) <= 2 * BARS
    count = len(prior.heights) if isinstance(prior, HistogramPrior) and own else min(BARS, size)
    edges = [bar * size // count for bar in range(count + 1)]
    if isinstance(prior, HistogramPrior) and own:
        means = np.array([float(height) for height in prior.heights])
        top = MAX_BAR_HEIGHT if means.max() <= MAX_BAR_HEIGHT else means.max()
    else:
        means = np.add.reduceat(np.exp(prior.logs()), edges[:-1]) / np.diff(edges)
        top = means.max()
    heights = [round(MAX_BAR_HEIGHT * float(mean) / float(top)) for mean in means]
    values = [[format_rounded(reader.axis.value(place)) for place in (a, b - 1)] for a, b in pairwise(edges)]
    labels = [low if low == high else f"{low} to {high}" for low, high in values]
    return PriorBars(heights=heights, labels=labels, text=",".join(map(str, heights)))


def loss_points(answer: Answer, said: ReadingForm) -> LossPoints:
    """The points of her drawing; of another loss its shape at nine errors that the noise makes likely."""
    loss = said.fear()
    if isinstance(loss, PiecewiseLoss):
        points = list(loss.points)
    else:
        step, counts = unit(answer), range(-STEPS, STEPS + 1)
        points = [(step * count, Fraction(round(2 * float(loss.array(0, count))), 2)) for count in counts]
    top = max(FLOOR, math.ceil(max(float(cost) for _, cost in points)))
    labels = [_label(error) for error, _ in points]
    text = ",".join(f"{_written(error)}:{_written(cost)}" for error, cost in points)
    errors, costs = [_written(error) for error, _ in points], [float(cost) for _, cost in points]
    return LossPoints(errors=errors, costs=costs, labels=labels, top=top, text=text)


def unit(answer: Answer) -> Fraction:
    """A round step between the errors of a drawing: about half of the noise, 1, 2 or 5 times a power of ten."""
    law = answer.mechanism
    lattice = law if isinstance(law, LatticeMechanism) else law.total if isinstance(law, RatioMechanism) else None
    if lattice is None:
        return Fraction(1)
    noise = lattice.unit / lattice.epsilon
    if isinstance(law, RatioMechanism) and answer.parts is not None:
        noise /= max(answer.parts[1], 1)
    least = lattice.unit if isinstance(law, LatticeMechanism) else Fraction(1, 10**6)
    return round_number(min(max(noise, least, Fraction(1, MAX_ERROR_STEP)), Fraction(MAX_ERROR_STEP)))


def round_number(value: Fraction) -> Fraction:
    """1, 2 or 5 times a power of ten, at most the value.

    >>> round_number(Fraction(37)), round_number(Fraction(1, 15))
    (Fraction(20, 1), Fraction(1, 20))
    """
    power = Fraction(10) ** math.floor(math.log10(value))
    return next(digit * power for digit in (5, 2, 1, Fraction(1, 2)) if digit * power <= value)


def _written(value: Fraction) -> str:
    """A decimal where it is a short one, else a fraction."""
    text = f"{float(value):.12g}"
    return text if Fraction(text) == value and "e" not in text else str(value)


def _label(error: Fraction) -> str:
    if not error:
        return "no error"
    return f"{format_rounded(abs(error))} {'below' if error < 0 else 'above'} the truth"
