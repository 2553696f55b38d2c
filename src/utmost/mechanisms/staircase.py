"""The staircase mechanism on whole numbers (Geng and Viswanath, "The optimal mechanism in differential privacy").

For a query of whole sensitivity Δ, noise whose law goes down in steps: Pr[0 ≤ i < r] = a, Pr[r ≤ i < Δ] = a·α, every
further block of Δ is α times the one before, and it is symmetric. a = (1−α)/(2(r + α(Δ−r)) − (1−α)).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, integer
from utmost.mechanisms.geometric import count_end
from utmost.mechanisms.mechanism_kind import (
    MAX_SLOW_COUNT,
    SENSITIVITY,
    SIZE,
    BuiltMechanism,
    MechanismKind,
    check_integers,
    check_matrix_size,
    parse_position,
    parse_upper_end,
    require_inner_level,
)
from utmost.mechanisms.space_channels import check_inner, least_distance, level_at, on_points, private_on, refuse_space
from utmost.noise import check_level, draw_samples, geometric_noise, row_sampler
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.geometric import MAX_INT64_NOISE
from utmost.noise.table_sampling import SamplingTable
from utmost.spaces import Space
from utmost.spaces.space import integer_distances

MAX_SENSITIVITY = 1000
MAX_MATRIX_COUNT = 500  # upper end of a count whose matrix is written out
MAX_INPUT = 1 << 53


@dataclass(frozen=True, slots=True)
class Staircase:
    """x + noise, the noise with the law above; `width` is r, from 1 to `sensitivity`.

    Inputs at distance ≤ Δ give every answer within a factor e^ε, attained. With r chosen for the least expected
    |noise|, no ε-private noise that is the same for every input has less (Geng and Viswanath); at Δ = 1 it is the
    geometric.
    """

    sensitivity: int
    level: Level
    width: int

    @property
    def top(self) -> Number:
        """a = Pr[noise = 0]."""
        complement = 1 - self.level.alpha
        return complement / (2 * self._block_weight - complement)

    @property
    def _block_weight(self) -> Number:
        """The sum of the first block's weights, 1 for a high step and α for a low one."""
        return self.width + self.level.alpha * (self.sensitivity - self.width)

    def probability(self, noise: int) -> Number:
        """Pr[noise], exact.

        >>> from utmost.exact import alpha
        >>> [str(Staircase(3, alpha("1/2"), 1).probability(i)) for i in (0, 1, 2, 3, -3, 4)]
        ['1/7', '1/14', '1/14', '1/14', '1/14', '1/28']
        """
        blocks, offset = divmod(abs(noise), self.sensitivity)
        return self.top * self.level.power(blocks + (offset >= self.width))

    def tail(self, noise: int) -> Number:
        """Pr[N ≥ noise] for noise ≥ 1: the rest of its block, then α + α² + … of whole blocks."""
        blocks, offset = divmod(noise, self.sensitivity)
        high, low = max(self.width - offset, 0), self.sensitivity - max(self.width, offset)
        rest = high + self.level.alpha * low + self._block_weight * self.level.alpha / (1 - self.level.alpha)
        return self.top * self.level.power(blocks) * rest

    def law(self, x: int, outputs: Iterable[int]) -> list[Number]:
        """Pr[x + N = y] for each output y; the support is all whole numbers."""
        return [self.probability(y - x) for y in outputs]

    def expected_error(self) -> Number:
        """E|N| = 2a·(Δ·α/(1−α)²·(r + α(Δ−r)) + (r(r−1)/2 + α(Δ(Δ−1) − r(r−1))/2)/(1−α))."""
        alpha, r, span = self.level.alpha, self.width, self.sensitivity
        below = Fraction(r * (r - 1), 2)
        inside = below + alpha * (Fraction(span * (span - 1), 2) - below)
        return 2 * self.top * (span * alpha * self._block_weight / (1 - alpha) + inside) / (1 - alpha)

    def noise(self, count: int, source: EntropySource | None = None) -> npt.NDArray[Any]:
        """`count` exact draws of N = ±(Δ·G + J): G geometric, J the offset in a block, a fair sign, and −0 drawn again.

        With D two-sided geometric, G = D where D ≥ 0 and −1 − D where not has Pr[G = g] = (1−α)α^g. Of the pairs (sign,
        i) each i ≥ 1 stands for two values and 0 is kept with one of its signs: Pr[±i] ∝ α^⌊i/Δ⌋·step, as it must be.
        """
        stream, batches, missing_count = entropy_source(source), [], integer(count, "count")
        if missing_count < 0:
            raise InputError(f"count must be >= 0, got {missing_count}", "count")
        while missing_count > 0:
            size = missing_count + missing_count // 8 + 8
            values = self._signed_draws(size, stream)[:missing_count]
            batches.append(values)
            missing_count -= len(values)
        return np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)

    def _signed_draws(self, count: int, source: EntropySource) -> npt.NDArray[Any]:
        """Those of `count` draws that are not −0."""
        two_sided = geometric_noise(self.level, count, source)
        blocks = np.where(two_sided >= 0, two_sided, -1 - two_sided)
        if blocks.max(initial=0) >= MAX_INT64_NOISE // self.sensitivity - 1:
            blocks = blocks.astype(object)  # 64 bits would not hold the product
        sizes = blocks * self.sensitivity + draw_samples(_offset_table(self), count, source)
        negative = draw_samples(_sign_table(), count, source) == 1
        signed = np.where(negative, -sizes, sizes)
        draws: npt.NDArray[Any] = signed[~(negative & (sizes == 0).astype(bool))]
        return draws

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[Any]:
        """x + N for each input, whole array; the noise is drawn before the inputs are added."""
        values = check_integers(inputs, -MAX_INPUT, MAX_INPUT, "whole numbers between -2^53 and 2^53")
        return self.noise(len(values), source) + values

    def truncate(self, size: int | Space) -> TruncatedStaircase:
        """The same for counts 0 … size, or the points of a line; answers outside are replaced by the nearer end."""
        max_count = count_end(size)
        if not 0 <= max_count <= MAX_INPUT:
            raise InputError("size must be the count's upper end, from 0 to 2^53", "size")
        return TruncatedStaircase(self, max_count)


@dataclass(frozen=True, slots=True)
class TruncatedStaircase:
    """A staircase on the counts 0 … size with absorbing ends."""

    untruncated: Staircase
    size: int

    @property
    def level(self) -> Level:
        """The guarantee, for inputs at most the sensitivity apart."""
        return self.untruncated.level

    def law(self, x: int) -> list[Number]:
        """The law of the answer when the count is x."""
        if not 0 <= x <= self.size:
            raise InputError(f"input must be a count from 0 to {self.size}", "input")
        if self.size == 0:
            return [Fraction(1)]
        inner = self.untruncated.law(x, range(1, self.size))
        return [self._upper_tail(x), *inner, self._upper_tail(self.size - x)]

    def _upper_tail(self, distance: int) -> Number:
        """Pr[N ≥ distance], also for 0."""
        return self.untruncated.tail(distance) if distance else (1 + self.untruncated.top) / 2

    def channel(self) -> Channel:
        """The matrix, exact."""
        if self.size > MAX_MATRIX_COUNT:
            raise InputError(
                f"size must be at most {MAX_MATRIX_COUNT} to write the matrix out, got {self.size}", "size"
            )
        counts = tuple(range(self.size + 1))
        rows = np.empty((len(counts), len(counts)), dtype=object)
        for x in counts:
            rows[x] = self.law(x)
        return trusted_channel(counts, counts, rows)

    def on(self, space: Space) -> Channel:
        """Its channel between the points of a space, in their order; refused where its level does not hold there."""
        return private_on(space, self, self.level)

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[np.int64]:
        """One exact draw for each input, clamped to 0 … size."""
        values = check_integers(inputs, 0, self.size, f"counts from 0 to {self.size}")
        answers: npt.NDArray[np.int64] = np.clip(self.untruncated.draw(values, source), 0, self.size).astype(np.int64)
        return answers


def staircase(sensitivity: int, level: Level, width: int | None = None) -> Staircase:
    """The staircase mechanism; the width left out is the one with the least expected |noise|, decided exactly."""
    exact_sensitivity = integer(sensitivity, "sensitivity")
    if not 1 <= exact_sensitivity <= MAX_SENSITIVITY:
        raise InputError(f"sensitivity must be a whole number from 1 to {MAX_SENSITIVITY}", "sensitivity")
    if not check_level(level).is_inner:
        raise InputError("the staircase mechanism needs a level with 0 < alpha < 1, that is 0 < epsilon < infinity")
    if width is None:
        return min(
            (Staircase(exact_sensitivity, level, r) for r in range(1, exact_sensitivity + 1)),
            key=Staircase.expected_error,
        )
    exact_width = integer(width, "width")
    if not 1 <= exact_width <= exact_sensitivity:
        raise InputError(f"width must be from 1 to the sensitivity {exact_sensitivity}", "width")
    return Staircase(exact_sensitivity, level, exact_width)


def staircase_space(size: int, sensitivity: int) -> Space:
    """The counts 0 … size at distance ⌈|x−x′|/Δ⌉: 1 is what one change can do, and paths of 1s make every distance.

    >>> [str(d) for d in staircase_space(4, 2).distances[0]]
    ['0', '1', '1', '2', '2']
    """
    counts = np.arange(size + 1)
    distances = -(-np.abs(counts[:, None] - counts[None, :]) // sensitivity)
    edges = tuple((int(x), int(y)) for x, y in np.argwhere(np.triu(distances == 1)))
    return Space(f"line:{size + 1}/{sensitivity}", tuple(range(size + 1)), integer_distances(distances), edges)


@lru_cache(maxsize=64)
def _offset_table(mechanism: Staircase) -> SamplingTable:
    """The law of the offset in a block: 1 for a high step, α for a low one, divided by their sum."""
    steps = [1 if k < mechanism.width else mechanism.level.alpha for k in range(mechanism.sensitivity)]
    return row_sampler([step / mechanism._block_weight for step in steps])


@lru_cache(maxsize=1)
def _sign_table() -> SamplingTable:
    return row_sampler([Fraction(1, 2), Fraction(1, 2)])


def _build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    require_inner_level(level)
    mechanism = staircase(integer(options.get("sensitivity", "1"), "sensitivity"), level)
    size = parse_upper_end(options["size"]) if "size" in options else None
    sampler = mechanism if size is None else mechanism.truncate(size)

    def channel() -> Channel:
        if size is None:
            raise InputError(
                "--size must be given to write the matrix of a staircase out, got none", "--size", "or say --sample"
            )
        check_matrix_size(size, level, max_count=MAX_SLOW_COUNT)
        return mechanism.truncate(size).channel()

    return BuiltMechanism(
        f"The staircase mechanism for a sensitivity of {mechanism.sensitivity}, of width {mechanism.width}",
        f"counts 0 to {size}",
        channel,
        lambda channel: least_epsilon(channel, staircase_space(len(channel.inputs) - 1, mechanism.sensitivity)),
        lambda text: parse_position(text, size),
        lambda x, count: sampler.draw([x] * count).tolist(),
        level,
        {"width": mechanism.width},
    )


def staircase_on(space: Space, level: Level) -> Channel:
    """The staircase on counts at distance ⌈|x − x′|/Δ⌉, times a step; Δ is how many counts are nearest to the first."""
    sensitivity = int((space.codes[0] == 1).sum()) or 1
    codes = staircase_space(len(space) - 1, sensitivity).codes
    step = least_distance(space)
    is_even = all(value == k * step for k, value in enumerate(space.values))
    if not is_even or not np.array_equal(space.codes, codes):
        raise refuse_space("staircase", "counts at distance ceil(|x - x'|/D), such as a line", space)
    check_inner("staircase", level)
    return on_points(space, staircase(sensitivity, level_at(level, step)).truncate(len(space) - 1).channel())


STAIRCASE = MechanismKind("staircase", (), (SENSITIVITY, SIZE), _build, staircase_on)
