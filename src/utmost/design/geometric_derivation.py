"""Is a mechanism for a count a remap of the geometric one: T·Y = X, so Y = T⁻¹·X, decided exactly (GRS12 §5.1, App. B).

GRS12 writes the quotient as X·T⁻¹. With a row for each input, as in its own figures and in Y∘X = Σ_r x_ir·y_rj, it is
T⁻¹·X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from utmost.channel import Channel, channel_entry
from utmost.channel.channel import Label, trusted_channel
from utmost.errors import InputError
from utmost.exact import Level, Number, sign
from utmost.mechanisms.geometric import column_weights, inverse_kernel_row


@dataclass(frozen=True, slots=True)
class Derivation:
    """Either the remap Y with T·Y = X, or the entry of T⁻¹·X that is most negative."""

    remap: Channel | None
    answer: Label | None = None
    reading: Label | None = None
    value: Number | None = None

    @property
    def derivable(self) -> bool:
        """Is the mechanism a remap of the geometric one."""
        return self.remap is not None


def derivation(mechanism: Channel, level: Level) -> Derivation:
    """Y = T⁻¹·X for the truncated geometric T at this level, 0 < α < 1.

    Y's rows sum to 1 since T and X are stochastic; it is a remap exactly when no entry is negative. An entry has the
    sign of (1+α²)·x_k − α·(x_{k−1} + x_{k+1}), at the ends of x_0 − α·x_1 and x_n − α·x_{n−1}: a column is a mixture of
    the geometric's when it is nowhere too convex.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> figure5 = [["1/3"] * 3, ["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]]
    >>> verdict = derivation(channel(figure5), alpha("1/2"))
    >>> verdict.derivable, verdict.answer, verdict.reading, str(verdict.value)
    (False, 1, 1, '-1/2')
    """
    if not level.is_inner:
        raise InputError("derivability from the geometric mechanism needs 0 < alpha < 1")
    mechanism = mechanism.in_order()
    size = len(mechanism.inputs) - 1
    quotient = np.empty((size + 1, len(mechanism.outputs)), dtype=object)
    for k, kappa in enumerate(column_weights(size, level)):
        row = inverse_kernel_row(k, size, level)
        for j in range(len(mechanism.outputs)):
            quotient[k, j] = sum(value * channel_entry(mechanism, x, j) for x, value in row) / kappa
    worst = _index_of_minimum(quotient)
    if sign(quotient[worst]) < 0:
        return Derivation(None, mechanism.inputs[worst[0]], mechanism.outputs[worst[1]], quotient[worst])
    return Derivation(trusted_channel(mechanism.inputs, mechanism.outputs, quotient))


def _index_of_minimum(matrix: np.ndarray[tuple[int, int], np.dtype[np.object_]]) -> tuple[int, int]:
    best = (0, 0)
    for index in np.ndindex(matrix.shape[0], matrix.shape[1]):
        if matrix[index] < matrix[best]:
            best = index
    return best
