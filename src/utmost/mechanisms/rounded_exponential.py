"""The exponential mechanism with irrational scores, such as distances in the plane, as a channel of fractions.

Its probabilities are quotients of as many irrational numbers as there are answers. They are put into fractions so that
privacy is not lost: the law is taken at a level that is stricter by 2^−40 of ε, and entries are rounded by less than
that (`space_channels`). What is drawn is the law of the fractions, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, Real, ball
from utmost.exact.working_precision import working_precision
from utmost.mechanisms.mechanism_kind import check_integers
from utmost.mechanisms.space_channels import MIN_ENTRY_BITS, check_inner, private_on, rounded_rows, strict_epsilon
from utmost.noise.entropy import EntropySource
from utmost.noise.row_sampling import ChannelSampler, channel_sampler, draw_channel
from utmost.result_values import short_repr
from utmost.spaces import Space

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class RoundedExponential:
    """Input x answers y with probability ∝ e^(ε·scores[x][y]/(factor·Δ)), as near as fractions that keep the level."""

    __repr__ = short_repr

    scores: tuple[tuple[Number, ...], ...]
    sensitivity: Fraction
    level: Level
    factor: int

    def channel(self) -> Channel:
        """The matrix of fractions, one row for each input's scores.

        >>> from utmost.exact import epsilon, number
        >>> from utmost.mechanisms import exponential
        >>> row = exponential([0, number("sqrt(2)")], epsilon(1)).channel().row(0)
        >>> sum(row), round(float(row[1]), 6)
        (Fraction(1, 1), 0.669762)
        """
        return self._channel

    def law(self, x: int) -> list[Number]:
        """The law of the answer for input x."""
        if not 0 <= x < len(self.scores):
            raise InputError(
                f"input must be from 0 to {len(self.scores) - 1}: inputs are the rows of the scores", "input"
            )
        law: list[Number] = self._channel.rows[x].tolist()
        return law

    def on(self, space: Space) -> Channel:
        """Its channel between the points of a space, in their order; refused where its level does not hold there."""
        return private_on(space, self, self.level)

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[np.int64]:
        """One exact draw for each input: the position of the answer. All rows are set up, whichever inputs follow."""
        last = len(self.scores) - 1
        values = check_integers(inputs, 0, last, f"whole numbers from 0 to {last}: they number the rows of the scores")
        return draw_channel(self._sampler, values, source)

    @cached_property
    def _sampler(self) -> ChannelSampler:
        return channel_sampler(self._channel)

    @cached_property
    def _channel(self) -> Channel:
        check_inner("exponential with irrational scores", self.level)
        epsilon = self.level.epsilon
        bits = MIN_ENTRY_BITS + (ceil(-log2(epsilon)) if epsilon < 1 else 0)
        rows = rounded_rows(self._shares(2 * bits), bits)
        return trusted_channel(range(rows.shape[0]), range(rows.shape[1]), rows)

    def _shares(self, precision: int) -> list[list[arb]]:
        """e^(ε·score/(factor·Δ)) over its sum, a hair stricter; one ball for each distinct score of a row."""
        with working_precision(precision):
            rate = strict_epsilon(self.level, precision) / ball(self.factor * self.sensitivity, precision)
            balls: dict[object, arb] = {}
            return [_shares_of_row(row, rate, balls, precision) for row in self.scores]


def _shares_of_row(row: Sequence[Number], rate: arb, balls: dict[object, arb], precision: int) -> list[arb]:
    keys = [_key(score) for score in row]
    for key, score in zip(keys, row, strict=True):
        if key not in balls:
            balls[key] = (rate * ball(score, precision)).exp()
    total = sum((balls[key] for key in keys), 0 * rate)
    shares = {key: balls[key] / total for key in set(keys)}
    return [shares[key] for key in keys]


def _key(score: Number) -> object:
    """Numbers written alike have one key; irrational ones have no hash of their own."""
    return tuple(frozenset(part.items()) for part in score.terms()) if isinstance(score, Real) else score
