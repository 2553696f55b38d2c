"""A consumer who is better served by the second of two channels: why it is no refinement of the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, Matrix
from utmost.channel.channel import Label, read_only, trusted_channel
from utmost.exact import Number, enclosure
from utmost.qif.vulnerability import best_remap, posterior_uncertainty

GAIN_BITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # bits of a gain: the fewest that suffice are the easiest to read
COMPARISON_BITS = 192  # of the intervals that losses are compared with first


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A prior and a loss ℓ[x, w] in [0, 1]; `with_a` > `with_b` are the expected losses through either channel.

    Rows of the loss are the secrets `inputs`, in A's order; columns are actions. All is exact and was compared so.
    """

    inputs: tuple[Label, ...]
    prior: tuple[Number, ...]
    loss: Matrix
    with_a: Number
    with_b: Number

    def holds(self, a: Channel, b: Channel) -> bool:
        """Whether these are the expected losses through the two channels, and B's is smaller: computed again."""
        values = tuple(posterior_uncertainty(self.prior, self.loss, c.restrict(self.inputs)) for c in (a, b))
        return values == (self.with_a, self.with_b) and self.with_b < self.with_a


def witness(gain: Matrix, a: Matrix, b: Matrix) -> Witness | None:
    """A witness from a gain table near to which there is one, in as few digits as possible; None if none is found.

    The prior is uniform. Actions that are no use with B are left out: that can only make A worse.
    """
    prior = (Fraction(1, len(a)),) * len(a)
    first, second = (trusted_channel(range(len(m)), range(m.shape[1]), m.copy()) for m in (a, b))
    for table in _rounded_gains(gain):
        if not _is_promising(table, first.floats(), second.floats()):
            continue
        loss = _loss_of_gain(table)
        used = sorted(set(best_remap(prior, loss, second)))
        loss = _loss_of_gain(-loss[:, used])
        if not np.any(loss):
            continue
        values = [posterior_uncertainty(prior, loss, channel) for channel in (first, second)]
        if _is_less(values[1], values[0]):
            return Witness(first.inputs, prior, read_only(loss), *values)
    return None


def name_secrets(witness: Witness, inputs: tuple[Label, ...]) -> Witness:
    """The same with the secrets' names."""
    return replace(witness, inputs=inputs)


def _rounded_gains(gain: Matrix) -> Iterator[Matrix]:
    """The gain divided by its largest entry, in ever more binary digits, then as it is."""
    largest = max((abs(value) for value in gain.flat), default=Fraction(0))
    if not largest:
        return
    for bits in GAIN_BITS:
        yield np.array([[Fraction(round(v / largest * 2**bits), 2**bits) for v in row] for row in gain], dtype=object)
    yield gain / largest


def _is_promising(gain: Matrix, a: Matrix, b: Matrix) -> bool:
    """Whether doubles do not rule it out: a filter, not a proof."""
    gains = gain.astype(float)
    with_a, with_b = ((gains.T @ rows).max(axis=0).sum() for rows in (a, b))
    return bool(with_b > with_a - 1e-9 * len(a))


def _is_less(left: Number, right: Number) -> bool:
    """left < right, decided: by narrow intervals where they are apart."""
    (left_low, left_high), (right_low, right_high) = (enclosure(value, COMPARISON_BITS) for value in (left, right))
    return left_high < right_low or (left_low < right_high and left < right)


def _loss_of_gain(gain: Matrix) -> Matrix:
    """The loss that orders actions as the gain does: 0 for the best action of each secret, 1 at most."""
    regret: Matrix = gain.max(axis=1)[:, None] - gain
    largest = max(regret.flat)
    return regret / largest if largest else regret
