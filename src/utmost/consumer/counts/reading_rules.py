"""Losses whose best reading is a quantile, the mean or the mode of the posterior: how all answers are read, in O(n)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from utmost.consumer.counts import closed_form, tie_breaking
from utmost.consumer.counts.posterior_mass import MAX_FULL_COUNTS
from utmost.consumer.counts.recurrences import Floats, Ints, PosteriorSums
from utmost.consumer.counts.tie_breaking import TieBreaker
from utmost.consumer.losses import Binary, Linear, Loss, Squared


class ReadingRule(ABC):
    """How a loss with a closed form is read."""

    __slots__ = ()

    @abstractmethod
    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The best reading of each answer; ties are settled by the tie breaker, if there is one."""

    @abstractmethod
    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The expected loss of reading y as remap[y], given each answer y."""

    def sharp_losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The same to full relative accuracy, where the exact path could run."""
        return self.losses(sums, remap)

    @abstractmethod
    def minimiser(self, chances: Floats) -> int:
        """The best reading of one posterior."""


@dataclass(frozen=True, slots=True)
class QuantileRule(ReadingRule):
    """Linear on each side: the best reading is the quantile at under/(under + over)."""

    loss: Linear

    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The smallest such quantile."""
        remap = closed_form.linear_remap(sums, self.loss)
        if tie_breaker is not None:
            tie_breaker.settle(remap, tie_breaking.linear_rivals(sums, self.loss, remap), requested)
        return remap

    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """From the moments of the posterior."""
        return closed_form.linear_losses(sums, self.loss, remap)

    def sharp_losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """Those that came out of a subtraction are summed anew."""
        return _sharpen(sums, self.loss, remap, self.losses(sums, remap))

    def minimiser(self, chances: Floats) -> int:
        """The smallest w with over·P(x ≤ w) ≥ under·P(x > w)."""
        support = np.flatnonzero(chances)
        if not self.loss.under:
            return 0
        above = np.append(np.cumsum(chances[support][::-1])[::-1][1:], 0.0)
        reaches = float(self.loss.over) * np.cumsum(chances[support]) >= float(self.loss.under) * above
        return int(support[np.argmax(reaches)])


@dataclass(frozen=True, slots=True)
class MeanRule(ReadingRule):
    """Squared: the best reading is the mean, rounded to the nearest count, a half downwards."""

    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The rounded means."""
        remap = closed_form.squared_remap(sums)
        if tie_breaker is not None:
            tie_breaker.settle(remap, tie_breaking.squared_rivals(sums), requested)
        return remap

    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The variance and the square of the distance to the mean."""
        return closed_form.squared_losses(sums, remap)

    def minimiser(self, chances: Floats) -> int:
        """The mean, measured from the mode so that rounding is least."""
        centre = int(chances.argmax())
        return centre + int(np.ceil(float(chances @ (np.arange(len(chances)) - centre)) - 0.5))


@dataclass(frozen=True, slots=True)
class ModeRule(ReadingRule):
    """Binary: the best reading is the mode."""

    loss: Binary

    def remap(self, sums: PosteriorSums, tie_breaker: TieBreaker | None, requested: frozenset[int] | None) -> Ints:
        """The smallest modes."""
        return sums.mode if tie_breaker is None else tie_breaking.exact_modes(sums, tie_breaker)

    def losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """The chance that the reading is wrong."""
        return closed_form.binary_losses(sums, remap)

    def sharp_losses(self, sums: PosteriorSums, remap: Ints) -> Floats:
        """Those that came out of a subtraction are summed anew."""
        return _sharpen(sums, self.loss, remap, self.losses(sums, remap))

    def minimiser(self, chances: Floats) -> int:
        """The first of the largest chances."""
        return int(chances.argmax())


def reading_rule(loss: Loss) -> ReadingRule | None:
    """The rule of a loss with a closed form; None for a loss whose best reading is searched for."""
    match loss.closed_form:
        case Linear() as linear:
            return QuantileRule(linear)
        case Squared():
            return MeanRule()
        case Binary() as binary:
            return ModeRule(binary)
    return None


def _sharpen(sums: PosteriorSums, loss: Loss, remap: Ints, losses: Floats) -> Floats:
    """Losses to full relative accuracy where the exact path could run; above, to that of a double near the distance."""
    return closed_form.sharpen_losses(sums, loss, remap, losses) if sums.size <= MAX_FULL_COUNTS else losses
