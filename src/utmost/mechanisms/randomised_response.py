"""Randomised response over k values, and its dual (FMPD23 §VI-B): the two extreme mechanisms of the discrete metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, PrivacyLoss
from utmost.channel.channel import trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, integer
from utmost.mechanisms.mechanism_kind import (
    SIZE,
    BuiltMechanism,
    MechanismKind,
    check_integers,
    check_matrix_size,
    parse_position,
)
from utmost.mechanisms.space_channels import least_distance, level_at, on_points, private_on
from utmost.noise import check_level, draw_samples, row_sampler, sampling_table
from utmost.noise.entropy import EntropySource, entropy_source
from utmost.noise.table_sampling import SamplingTable
from utmost.spaces import Space

MAX_MATRIX_VALUES = 2000  # values whose matrix is written out
MAX_DRAW_VALUES = 10**5  # values that are drawn from


@dataclass(frozen=True, slots=True)
class RandomisedResponse:
    """Answers the value with weight `same` and each other one with weight `other`, out of k = `size` values.

    Weights 1 and α make randomised response, with Pr[truth] = e^ε/(e^ε + k − 1): of all mechanisms of its type it has
    the largest multiplicative capacity. Weights α and 1 make its dual R°, which favours values other than
    the truth, with Pr[truth] = 1/(1 + (k−1)e^ε) and the largest additive capacity (FMPD23 Cor. 22). Both are kernel
    mechanisms, and ε is attained by every pair of values.
    """

    size: int
    level: Level
    same: Number
    other: Number

    @property
    def truth(self) -> Number:
        """Pr[answer = value]."""
        return Fraction(1) if self.size == 1 else self.same / (self.same + (self.size - 1) * self.other)

    def channel(self) -> Channel:
        """The matrix, exact.

        >>> from utmost.exact import alpha
        >>> [[str(p) for p in make(3, alpha("1/2")).channel().row(1)] for make in (response, response_dual)]
        [['1/4', '1/2', '1/4'], ['2/5', '1/5', '2/5']]
        """
        if self.size > MAX_MATRIX_VALUES:
            raise InputError(
                f"size must be at most {MAX_MATRIX_VALUES} to write the matrix out, got {self.size}", "size"
            )
        rows = np.empty((self.size, self.size), dtype=object)
        rows[:] = self.other / (self.same + (self.size - 1) * self.other) if self.size > 1 else Fraction(1)
        np.fill_diagonal(rows, self.truth)
        values = tuple(range(self.size))
        return trusted_channel(values, values, rows)

    def on(self, space: Space) -> Channel:
        """Its channel between the points of a space, in their order; refused where its level does not hold there."""
        return private_on(space, self, self.level)

    def law(self, x: int) -> list[Number]:
        """The law of the answer when the value is x."""
        _check_values([x], self.size)
        other_probability = (1 - self.truth) / (self.size - 1) if self.size > 1 else Fraction(0)
        return [self.truth if y == x else other_probability for y in range(self.size)]

    def draw(self, inputs: npt.ArrayLike, source: EntropySource | None = None) -> npt.NDArray[np.int64]:
        """One exact draw for each input: a shift, 0 with probability `truth` and else uniform, is added mod k.

        The shift is drawn before the inputs are read, so words and time do not depend on them.
        """
        values, stream = _check_values(inputs, self.size), entropy_source(source)
        if self.size == 1:
            return values
        lies = draw_samples(_truth_table(self.truth), len(values), stream)
        shifts = 1 + draw_samples(_uniform_table(self.size - 1), len(values), stream)
        result: npt.NDArray[np.int64] = (values + lies * shifts) % self.size
        return result


def response(size: int, level: Level) -> RandomisedResponse:
    """k-ary randomised response: the truth with probability e^ε/(e^ε + k − 1), else any other value alike."""
    return RandomisedResponse(_check_size(size), check_level(level), Fraction(1), level.alpha)


def response_dual(size: int, level: Level) -> RandomisedResponse:
    """Its dual R°: the truth with probability 1/(1 + (k−1)e^ε), any other value e^ε times as likely (FMPD23 §VI-B)."""
    return RandomisedResponse(_check_size(size), check_level(level), level.alpha, Fraction(1))


def pairwise_privacy_loss(source: Channel) -> PrivacyLoss:
    """The least ε where any two inputs are neighbours (the discrete metric): the widest column, max/min.

    The same as `least_epsilon` on that metric, in inputs × outputs comparisons.
    """
    best: PrivacyLoss | None = None
    for y, output in enumerate(source.outputs):
        column = source.rows[:, y].tolist()
        high, low = (choose(range(len(column)), key=column.__getitem__) for choose in (max, min))
        if not column[high]:
            continue
        ratio = column[high] / column[low] if column[low] else None
        if best is None or (best.ratio is not None and (ratio is None or ratio > best.ratio)):
            best = PrivacyLoss(ratio, Fraction(1), output, source.inputs[high], source.inputs[low])
    if best is None:
        raise InputError("a channel must have an output that occurs")
    return best


def _check_size(size: int) -> int:
    count = integer(size, "size")
    if not 1 <= count <= MAX_DRAW_VALUES:
        raise InputError(f"size must be the number of values, from 1 to {MAX_DRAW_VALUES}", "size")
    return count


def _check_values(inputs: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    return check_integers(inputs, 0, size - 1, f"whole numbers from 0 to {size - 1}: values are numbered from 0")


@lru_cache(maxsize=64)
def _uniform_table(count: int) -> SamplingTable:
    return sampling_table(lambda y: Fraction(y + 1, count), count)


def _truth_table(truth: Number) -> SamplingTable:
    return row_sampler([truth, 1 - truth])


def _build_response(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    return _build(response(_parse_value_count(options["size"]), level), "Randomised response")


def _build_dual(options: Mapping[str, str], level: Level) -> BuiltMechanism:
    return _build(response_dual(_parse_value_count(options["size"]), level), "The dual of randomised response")


def _build(mechanism: RandomisedResponse, title: str) -> BuiltMechanism:
    def channel() -> Channel:
        check_matrix_size(mechanism.size, mechanism.level)
        return mechanism.channel()

    return BuiltMechanism(
        title,
        f"values 0 to {mechanism.size - 1}",
        channel,
        pairwise_privacy_loss,
        lambda text: parse_position(text, mechanism.size - 1),
        lambda x, count: mechanism.draw([x] * count).tolist(),
        mechanism.level,
    )


def _parse_value_count(text: str) -> int:
    size = integer(text, "--size")
    if not 1 <= size <= MAX_DRAW_VALUES:
        size_text = size if abs(size) < 10**15 else "more"
        raise InputError(f"--size must be the number of values, from 1 to {MAX_DRAW_VALUES}, got {size_text}", "--size")
    return size


def response_on(space: Space, level: Level) -> Channel:
    """Randomised response at the level of the nearest two points: further points may differ more, and do not."""
    return on_points(space, response(len(space), level_at(level, least_distance(space))).channel())


def response_dual_on(space: Space, level: Level) -> Channel:
    """The dual of randomised response, likewise."""
    return on_points(space, response_dual(len(space), level_at(level, least_distance(space))).channel())


RESPONSE = MechanismKind("response", (SIZE,), (), _build_response, response_on)
RESPONSE_DUAL = MechanismKind("response-dual", (SIZE,), (), _build_dual, response_dual_on)
