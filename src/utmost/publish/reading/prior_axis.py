"""The points of a reader's prior: evenly spaced values, one weight of the prior for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from utmost.consumer import priors
from utmost.consumer.priors import MAX_PRIOR_POINTS, Prior
from utmost.errors import InputError

MAX_BOUND = 10**30  # that a bound may be from 0


@dataclass(frozen=True, slots=True)
class Axis:
    """The values first, first + step, …: `size` of them.

    >>> axis = Axis(Fraction(0), Fraction(1, 2), 5)
    >>> axis.last, axis.nearest(Fraction(3, 5)), axis.nearest(Fraction(9))
    (Fraction(2, 1), 1, 4)
    """

    first: Fraction
    step: Fraction
    size: int

    @property
    def last(self) -> Fraction:
        """The largest value."""
        return self.value(self.size - 1)

    def value(self, position: int) -> Fraction:
        """The value at a position 0 … size − 1."""
        return self.first + position * self.step

    def nearest(self, value: Fraction) -> int:
        """The position of the value nearest to this one, the smaller of two."""
        return min(max(math.ceil((value - self.first) / self.step - Fraction(1, 2)), 0), self.size - 1)


@dataclass(frozen=True, slots=True)
class AxisRequest:
    """The points that a reader asks for: the least and the largest value held possible, and how many."""

    at_least: Fraction | None = None
    at_most: Fraction | None = None
    grid: int | None = None

    def __post_init__(self) -> None:
        """Check that they are points."""
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise InputError(
                f"at-least must not be above at-most, got {self.at_least} and {self.at_most}", "at_least", "swap them"
            )
        if any(abs(end) > MAX_BOUND for end in (self.at_least, self.at_most) if end is not None):
            raise InputError("at-least and at-most must be within ±10^30, got more", "at_least")
        if self.grid is not None and not 2 <= self.grid <= MAX_PRIOR_POINTS:
            raise InputError(f"grid must be from 2 to {MAX_PRIOR_POINTS} points, got {self.grid}", "grid")


def listed_prior(prior: Prior | str) -> Prior | None:
    """The prior that brings its own number of points: an object, listed weights or a file. None for a named family."""
    if not isinstance(prior, str):
        return prior
    return None if priors.named_family(prior) is not None else priors.listed(prior)


def prior_on(axis: Axis, prior: Prior | str, explicit_prior: Prior | None) -> Prior:
    """The prior over these points, position by position."""
    if explicit_prior is None:
        return priors.parse(str(prior), axis.size)
    if explicit_prior.size != axis.size:
        raise InputError(f"prior must have {axis.size} weights, one for each point, got {explicit_prior.size}", "prior")
    return explicit_prior
