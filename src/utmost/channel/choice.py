"""External (visible) choice between channels: which one ran is told with its answer (FMPD23 §IV-C)."""

from __future__ import annotations

import numpy as np

from utmost.channel.channel import Channel, trusted_channel
from utmost.errors import ChannelError, InputError
from utmost.exact import rational


def choice(first: Channel, second: Channel, weight: object) -> Channel:
    """M ⊕_p M′: with probability p = `weight` the first channel, else the second, and the output says which.

    The columns of M times p beside those of M′ times 1 − p, labelled 1:y and 2:y. Each keeps its ratios, so the choice
    between two channels of a privacy type is of that type; and U_ℓ(π, M ⊕_p M′) = p·U_ℓ(π, M) + (1−p)·U_ℓ(π, M′).
    `mix` is the choice that is not told.

    >>> from utmost.channel import channel
    >>> print(choice(channel([["2/3", "1/3"], ["1/3", "2/3"]]), channel([[1], [1]]), "1/2"))
       1:0  1:1  2:0
    0  1/3  1/6  1/2
    1  1/6  1/3  1/2
    """
    if first.inputs != second.inputs:
        raise ChannelError("channels that are chosen between must have the same inputs, in the same order")
    share = rational(weight, "weight")
    if not 0 <= share <= 1:
        raise InputError(f"weight must be in [0, 1], got {share}: it is the probability of the first channel")
    outputs = [f"{k}:{y}" for k, part in enumerate((first, second), 1) for y in part.outputs]
    if first.exact and second.exact:
        return trusted_channel(first.inputs, outputs, np.hstack([first.rows * share, second.rows * (1 - share)]))
    floats = first.floats() * float(share), second.floats() * float(1 - share)
    return trusted_channel(first.inputs, outputs, np.hstack(floats))
