"""A reader: points, a prior over them, a loss, and the posterior given a likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.counts import single_answer
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError
from utmost.publish.reading.prior_axis import Axis

Floats: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class Reader:
    """A prior over the points of an axis, a loss, and how much of the posterior an interval must hold.

    `is_partial`: the points are those around the answer only, of a uniform prior over more.
    """

    axis: Axis
    prior: Prior
    loss: Loss
    coverage: float
    is_partial: bool = False

    def __post_init__(self) -> None:
        """Check the coverage and the size of a loss given entry by entry."""
        if not 0 < self.coverage < 1:
            raise InputError(f"coverage must be strictly between 0 and 1, got {self.coverage}", "coverage")
        self.loss.check(self.axis.size)

    @property
    def scale(self) -> float:
        """What a step between the points costs: losses of distances are in the value's unit, others have none."""
        return self.loss.scale(float(self.axis.step))

    def value(self, position: int) -> Value:
        """The value at a position among the reader's points: a whole number where all of them are."""
        number = self.axis.value(position)
        return int(number) if self.axis.step.denominator == self.axis.first.denominator == 1 else number

    def after(self, likelihood: Floats) -> Floats:
        """The posterior, from the logarithms of a likelihood known up to a factor."""
        scores = self.prior.logs() + likelihood
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())

    def best(self, posterior: Floats, face: int) -> tuple[tuple[int, int, int], tuple[float, float]]:
        """The positions of the best reading and of the interval's ends; the losses of that reading and of `face`."""
        position, loss = single_answer.best_reading(posterior, self.loss)
        face_loss = float(posterior @ self.loss.array(np.arange(len(posterior)), face))
        return (position, *single_answer.credible_interval(posterior, self.coverage)), (loss, face_loss)
