"""A prior: weights on the counts 0..size−1. What families of priors share, and how a family is described.

A prior gives its weights twice: `exact()`, which sum to exactly 1, and `logs()`, normalised logarithms as doubles, for
sizes far beyond exact arithmetic and weights far below the smallest double.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost import exact
from utmost.consumer.family import ConsumerFamily
from utmost.errors import InputError
from utmost.exact import Number, Real

Floats: TypeAlias = npt.NDArray[np.float64]

MAX_PRIOR_POINTS = 10_000_001  # points; more would need gigabytes
MAX_EXACT_POINTS = 5000  # points of a prior in exact arithmetic, where its weights have long numerators


class Prior(ABC):
    """Weights π_k ≥ 0 on the counts k = 0..size−1, with sum 1. A family has `name`, `size`, `proportions`, `logs`."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields or properties of each family; a property here would be taken for a field's default

        @property
        def name(self) -> str:
            """How the command line writes it, or how a report calls it."""

        @property
        def size(self) -> int:
            """The number of counts."""

    @property
    def is_exact(self) -> bool:
        """Are its weights exact numbers; False where they were given as doubles."""
        return True

    @property
    def counts_points(self) -> bool:
        """Is it a law of the number k of a point: over the same range, other points make it another prior."""
        return False

    @abstractmethod
    def proportions(self) -> tuple[Number, ...]:
        """Exact weights up to one positive factor: cheaper than `exact`, enough to compare."""

    def exact(self) -> tuple[Number, ...]:
        """The exact weights; their sum is exactly 1."""
        return normalise(self.proportions())

    @abstractmethod
    def logs(self) -> Floats:
        """Logarithms ln π_k, normalised; −∞ where π_k = 0."""


@dataclass(frozen=True, kw_only=True)
class PriorFamily(ConsumerFamily):
    """A family of priors. `parse` makes a member of it from the number of counts and the text after the colon.

    Where `lists_weights` is True the text has no colon: it is the weights themselves, or the name of a file that has
    them, so that it says by itself how many counts there are. Every other family extends to any number of points.
    """

    parse: Callable[[int, str], Prior]
    lists_weights: bool = False


def check_size(size: int) -> int:
    """The number of counts as an int, once it is one that a prior can have."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size <= MAX_PRIOR_POINTS:
        raise InputError(
            f"size must be a whole number from 1 to {MAX_PRIOR_POINTS} counts, got {size}", "size", "group the counts"
        )
    return int(size)


def check_exact_size(prior: Prior, limit: int) -> int:
    """The prior's size, once it is small enough for exact arithmetic."""
    if prior.size > limit:
        raise InputError(
            f"prior {prior.name} is exact up to size {limit}, got {prior.size}", "prior", "use logs() or a smaller size"
        )
    return prior.size


def normalise(weights: Sequence[Number]) -> tuple[Number, ...]:
    """The weights divided by their sum."""
    total = sum(weights, Fraction(0))
    return tuple(weight / total for weight in weights)


def powers(base: int, n: int) -> list[int]:
    """base^0..base^n."""
    return list(accumulate(repeat(base, n), int.__mul__, initial=1))


def short_text(value: Number) -> str:
    """An exact number as text; about its value where that would be long."""
    if isinstance(value, Real) or value.denominator.bit_length() + value.numerator.bit_length() > 128:
        return f"about {exact.decimal(value)}"
    return str(value)


def logs_from_mode(steps: Floats, mode: int) -> Floats:
    """Normalised logs with these increments, summed away from the mode in both directions, where rounding is least."""
    below = -np.cumsum(steps[:mode][::-1])[::-1]
    return normalise_logs(np.concatenate([below, [0.0], np.cumsum(steps[mode:])]))


def normalise_logs(logs: Floats) -> Floats:
    """The logs minus the logarithm of the sum of their exponentials."""
    top = float(logs.max())
    return np.asarray(logs - (top + math.log(float(np.exp(logs - top).sum()))))
