"""The geometric mechanism and its truncation to the counts 0 … n (GRS12 Ex. 2.1, 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, integer
from utmost.mechanisms.mechanism_kind import (
    SIZE,
    BuiltMechanism,
    MechanismKind,
    check_matrix_size,
    parse_position,
    parse_upper_end,
)
from utmost.mechanisms.space_channels import level_at, line_step, on_points, private_on, refuse_space
from utmost.noise import EntropySource, check_level, geometric_noise
from utmost.noise.geometric import MAX_INT64_NOISE
from utmost.spaces import Space, line
from utmost.spaces.shape import MAX_TABLE_POINTS

MAX_LAW_COUNT = 10**6  # upper end of a count whose laws are written out
MAX_MATRIX_COUNT = 2000  # upper end of a count whose matrix is written out


@dataclass(frozen=True, slots=True)
class Geometric:
    """The α-geometric mechanism truncated to 0 … size: noise with Pr[Δ = δ] ∝ α^|δ|, ends absorbing.

    T[x,y] = κ_y·α^|x−y| with κ_y = (1−α)/(1+α) inside and 1/(1+α) at y = 0 and y = size. Its ε is −ln α, attained by
    every pair of neighbours. α = 0 answers the count itself, α = 1 always answers 0. It is optimal for every consumer
    of a count with a legal loss, whatever the prior (GRS12 Thm 3.2).
    """

    size: int
    level: Level

    def channel(self) -> Channel:
        """The matrix, exact.

        >>> from utmost.exact import alpha
        >>> [str(p) for p in Geometric(5, alpha("1/2")).channel().row(1)]
        ['1/3', '1/3', '1/6', '1/12', '1/24', '1/24']
        """
        if self.size > MAX_MATRIX_COUNT:
            raise InputError(
                f"size must be at most {MAX_MATRIX_COUNT} to write the matrix out, got {self.size}: draws "
                "and readings of larger counts need no matrix",
                "size",
            )
        counts = tuple(range(self.size + 1))
        powers = [self.level.power(k) for k in counts]
        kappa = column_weights(self.size, self.level)
        rows = np.array([[powers[abs(x - y)] * kappa[y] for y in counts] for x in counts], dtype=object)
        return trusted_channel(counts, counts, rows)

    def on(self, space: Space) -> Channel:
        """Its channel between the points of a space, in their order; refused where its level does not hold there."""
        return private_on(space, self, self.level)

    def law(self, x: int) -> list[Number]:
        """The law of the answer when the count is x."""
        count = self._check_count(x)
        return [self.level.power(abs(count - y)) * k for y, k in enumerate(column_weights(self.size, self.level))]

    def cumulative(self, x: int, y: int) -> Number:
        """Pr[answer ≤ y | count x]: α^(x−y)/(1+α) for y < x, 1 − α^(y+1−x)/(1+α) for x ≤ y < size, 1 at the end."""
        count = self._check_count(x)
        if y >= self.size or self.level.alpha == 1:
            return Fraction(1)
        return tail_probability(count - y, self.level) if y < count else 1 - tail_probability(y + 1 - count, self.level)

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[np.int64]:
        """One exact draw for each input, min(max(x + Δ, 0), size): the law drawn is `law`, to the last bit.

        Δ is drawn before the inputs are read, so the words it takes do not depend on them. For 0 ≤ x ≤ size noise
        beyond ±size has the effect of ±size, so sums of 64-bit integers suffice.
        """
        input_array = np.asarray(inputs)
        counts = input_array if input_array.dtype == np.int64 and input_array.ndim == 1 else _integer_array(input_array)
        if counts.dtype == object or (counts.size and int(counts.view(np.uint64).max()) > self.size):
            raise InputError("inputs must be counts from 0 to size", "inputs")
        if not self.level.is_inner:
            return counts.copy() if self.level.alpha == 0 else np.zeros_like(counts)
        answers = geometric_noise(self.level, len(counts), source)
        if answers.dtype == object:
            answers = np.clip(answers, -self.size, self.size).astype(np.int64)
        answers += counts
        return np.clip(answers, 0, self.size, out=answers)

    def _check_count(self, x: int) -> int:
        """The input as an integer; an error does not repeat it, since it is the secret."""
        if not isinstance(x, int | np.integer) or isinstance(x, bool) or not 0 <= x <= self.size <= MAX_LAW_COUNT:
            raise InputError(f"input must be a whole count from 0 to size, and size at most {MAX_LAW_COUNT}", "input")
        return int(x)


def _integer_array(inputs: npt.ArrayLike) -> npt.NDArray[Any]:
    """A sequence of integers of any type as an array: int64 within ±2^62, else Python's own."""
    input_array = np.asarray(inputs)
    if input_array.ndim != 1 or (input_array.size and input_array.dtype.kind not in "iuO"):
        raise InputError("inputs must be a sequence of whole numbers", "inputs")
    if input_array.dtype == object and not all(
        isinstance(x, Integral) and not isinstance(x, bool) for x in input_array
    ):
        raise InputError("inputs must be a sequence of whole numbers", "inputs")
    if not input_array.size or -MAX_INT64_NOISE <= int(input_array.min()) <= int(input_array.max()) <= MAX_INT64_NOISE:
        return input_array.astype(np.int64, copy=False)
    return np.array([int(x) for x in input_array], dtype=object)


def count_end(size: object, name: str = "size") -> int:
    """The upper end of a count: as given, or that of a line of counts, which has one point more.

    >>> count_end(5), count_end(line(6))
    (5, 5)
    """
    if not isinstance(size, Space):
        return integer(size, name)
    step = size.shape.line_step() if len(size) > MAX_TABLE_POINTS else line_step(size)
    if step != 1 or size.shape.label(0) != 0:
        raise refuse_space("a mechanism of counts", "the line of counts such as line(6)", size)
    return len(size) - 1


def geometric(size: int | Space, level: Level) -> Geometric:
    """The truncated geometric mechanism for counts from 0 to `size`, or for the points of a line: line(6) is 0 to 5.

    >>> from utmost.exact import alpha
    >>> geometric(line(6), alpha("1/2")) == geometric(5, alpha("1/2"))
    True
    """
    max_count = count_end(size)
    if max_count < 0 or max_count > 10**12:
        raise InputError(
            f"size must be the count's upper end, from 0 to 10^12, got {max_count if max_count < 10**30 else 'more'}",
            "size",
        )
    return Geometric(max_count, check_level(level))


def column_weights(size: int, level: Level) -> Sequence[Number]:
    """κ_y for y = 0 … size: the factor of column y of the truncated mechanism.

    At α = 1 the mechanism always answers 0, so κ is 1 at 0 and 0 elsewhere.
    """
    if level.alpha == 1 or size == 0:
        return [Fraction(y == 0) for y in range(size + 1)]
    inner = (1 - level.alpha) / (1 + level.alpha)
    outer = 1 / (1 + level.alpha)
    return [outer] + [inner] * (size - 1) + [outer]


def untruncated_law(x: int, outputs: Sequence[int], level: Level) -> Sequence[Number]:
    """Pr[x + Δ = r] for each output r of the geometric mechanism with range ℤ (GRS12 Ex. 2.1).

    >>> from utmost.exact import alpha
    >>> [str(p) for p in untruncated_law(0, range(-1, 3), alpha("1/2"))]
    ['1/6', '1/3', '1/6', '1/12']
    """
    if level.alpha == 1:
        return [Fraction(r == 0) for r in outputs]  # always 0, as the paper has it
    centre = (1 - level.alpha) / (1 + level.alpha)
    return [centre * level.power(abs(r - x)) for r in outputs]


def tail_probability(distance: int, level: Level) -> Number:
    """Pr[Δ ≥ distance] = α^distance/(1+α) for distance ≥ 1, and 1/(1+α) for 0 (α < 1)."""
    return level.power(distance) / (1 + level.alpha)


def folded_geometric(size: int, reach: int, level: Level) -> Channel:
    """The geometric mechanism on −reach … size+reach (reach ≥ 1), each tail beyond that put on its last output."""
    if reach < 1:
        raise InputError(f"reach must be at least 1, got {reach}", "reach")
    outputs = tuple(range(-reach, size + reach + 1))
    rows = np.empty((size + 1, len(outputs)), dtype=object)
    for x in range(size + 1):
        rows[x] = untruncated_law(x, outputs, level)
        rows[x, 0] = tail_probability(x + reach, level)
        rows[x, -1] = tail_probability(size + reach - x, level)
    return trusted_channel(range(size + 1), outputs, rows)


def inverse_geometric(size: int, level: Level) -> npt.NDArray[np.object_]:
    """T⁻¹ of the truncated geometric mechanism, in closed form; tridiagonal (0 < α < 1).

    The matrix K = (α^|x−y|) has K⁻¹ = 1/(1−α²) times: 1 at the two corners, 1+α² on the rest of the diagonal, −α
    beside it. T = K·diag(κ), so T⁻¹ = diag(1/κ)·K⁻¹.
    """
    if not level.is_inner:
        raise InputError("the inverse of the geometric mechanism needs 0 < alpha < 1")
    result = np.full((size + 1, size + 1), Fraction(0), dtype=object)
    for y, kappa in enumerate(column_weights(size, level)):
        for x, value in inverse_kernel_row(y, size, level):
            result[y, x] = value / kappa
    return result


def inverse_kernel_row(y: int, size: int, level: Level) -> list[tuple[int, Number]]:
    """The non-zero entries (x, value) of row y of K⁻¹, K = (α^|x−y|)."""
    if size == 0:
        return [(0, Fraction(1))]
    square = level.alpha * level.alpha
    scale = 1 / (1 - square)
    diagonal = scale if y in (0, size) else (1 + square) * scale
    beside = -level.alpha * scale
    return [(x, diagonal if x == y else beside) for x in (y - 1, y, y + 1) if 0 <= x <= size]


def _build(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    mechanism = geometric(parse_upper_end(options["size"]), level)

    def channel() -> Channel:
        check_matrix_size(mechanism.size, level)
        return mechanism.channel()

    return BuiltMechanism(
        "The truncated geometric mechanism",
        f"counts 0 to {mechanism.size}",
        channel,
        lambda channel: least_epsilon(channel, line(len(channel.inputs))),
        lambda text: parse_position(text, mechanism.size),
        lambda x, count: mechanism.draw([x] * count).tolist(),
        level,
    )


def geometric_on(space: Space, level: Level) -> Channel:
    """The truncated geometric mechanism on a line: ε of its steps is that of the level at their distance."""
    step = line_step(space)
    if step is None:
        raise refuse_space("geometric", "a line with equal steps", space)
    return on_points(space, geometric(len(space) - 1, level_at(level, step)).channel())


GEOMETRIC = MechanismKind("geometric", (SIZE,), (), _build, geometric_on)
