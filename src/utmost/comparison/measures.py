"""What one mechanism is worth to a consumer, and what it tells: each number between two fractions, made when asked for.

With C its rows, π the prior and ℓ the loss, all Σ over the answers y:

- loss: Σ_y min_w Σ_x π_x·ℓ(x,w)·C[x,y], with the best remap (GRS12 eq. 2); at face value w is y itself.
- guess: Σ_y max_x π_x·C[x,y], the chance of guessing the secret (Bayes vulnerability, FMPD23 eq. 3).
- leakage: that chance over the one without any answer, max_x π_x.
- capacity: Σ_y max_x C[x,y], the largest factor for any consumer (FMPD23 Thm 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from utmost.channel import Channel, Matrix, PrivacyLoss, least_epsilon
from utmost.consumer import Consumer
from utmost.consumer.loss_bounds import greatest_total, loss_bounds, product_total
from utmost.design import Design
from utmost.design.certified_design import reading_names
from utmost.exact import Level
from utmost.lp import Bounds
from utmost.spaces import Space


@dataclass(frozen=True, eq=False)
class Question:
    """Points, a level and a consumer; `costs` are π_x·ℓ(x,w) with the points as rows."""

    space: Space
    level: Level
    consumer: Consumer

    @cached_property
    def costs(self) -> Matrix:
        """Made once for all mechanisms."""
        return self.consumer.costs()

    @cached_property
    def weights(self) -> Matrix:
        """The prior."""
        return self.consumer.prior.exact()  # type: ignore[return-value]


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredMechanism:
    """A mechanism on the points of a space, by name; `design` is that of the certified optimum."""

    name: str
    channel: Channel
    question: Question
    design: Design | None = None

    def __repr__(self) -> str:
        return f"<MeasuredMechanism {self.name}: expected loss {float(self.loss.upper):.6g}, {self.privacy_loss.text}>"

    @cached_property
    def loss(self) -> Bounds:
        """The expected loss with the best remap."""
        return loss_bounds(self.question.costs, self.channel.rows)

    @cached_property
    def face_value_loss(self) -> Bounds | None:
        """The expected loss of reading every answer as it stands; None where answers are no readings."""
        costs = self.question.costs
        readings = {str(label): w for w, label in enumerate(reading_names(self.question.space, costs.shape[1]))}
        if any(str(label) not in readings for label in self.channel.outputs):
            return None
        return product_total(costs[:, [readings[str(label)] for label in self.channel.outputs]], self.channel.rows)

    @cached_property
    def privacy_loss(self) -> PrivacyLoss:
        """The ε, recomputed from the entries."""
        return least_epsilon(self.channel, self.question.space)

    @cached_property
    def epsilon(self) -> Fraction | float:
        """An upper bound of the ε: exact where it is rational, else the next double."""
        exact = self.privacy_loss.exponent
        return math.nextafter(self.privacy_loss.epsilon, math.inf) if exact is None else exact

    @property
    def private(self) -> bool:
        """Is it private at the level of the comparison."""
        return self.privacy_loss.within(self.question.level)

    @cached_property
    def guess(self) -> Bounds:
        """The chance of guessing the secret after the answer."""
        return greatest_total(self.question.weights, self.channel.rows)

    @cached_property
    def leakage(self) -> Bounds:
        """How many times likelier a guess becomes."""
        before = greatest_total(self.question.weights, silence(self.question.space))
        return Bounds(self.guess.lower / before.upper, self.guess.upper / before.lower)

    @cached_property
    def capacity(self) -> Bounds:
        """How many times likelier a guess becomes at most, whatever prior and gain."""
        return greatest_total([Fraction(1)] * len(self.question.space), self.channel.rows)


def silence(space: Space) -> Matrix:
    """The rows of a mechanism with one answer."""
    import numpy as np

    return np.full((len(space), 1), Fraction(1), dtype=object)
