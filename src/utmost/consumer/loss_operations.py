"""Losses on fewer secrets, on more, added and scaled (FMPD23 §IV-C, eq. 13 and 14).

A loss here is its exact matrix: one row for each secret x, one column for each action w; there may be more or fewer
actions than secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.losses import Loss
from utmost.errors import InputError
from utmost.exact import Number, number, sign
from utmost.spaces import Label, Space

Exacts: TypeAlias = npt.NDArray[np.object_]
LossLike: TypeAlias = Loss | Exacts | Sequence[Sequence[object]]


def loss_rows(loss: LossLike, size: int) -> Exacts:
    """The exact matrix ℓ[x, w] of a loss over `size` secrets: a named loss, or its rows ("1/3", 2, Fraction).

    >>> from utmost.consumer import losses
    >>> [[str(v) for v in row] for row in loss_rows(losses.absolute, 2)], loss_rows([[0, "1/2", 1]], 1).shape
    ([['0', '1'], ['1', '0']], (1, 3))
    """
    rows = loss.matrix(size) if isinstance(loss, Loss) else loss
    width = len(rows[0]) if len(rows) else 0
    if len(rows) != size or not width or any(len(row) != width for row in rows):
        raise InputError(
            f"loss must have {size} rows, one for each secret, equally long, got {len(rows)} of them", "loss"
        )
    result = np.empty((size, width), dtype=object)
    for x, row in enumerate(rows):
        result[x] = [_exact_entry(value) for value in row]
    return result


def _exact_entry(value: object) -> Number:
    if isinstance(value, float):
        raise InputError(
            "loss must have exact entries here, got floats", "loss", 'write them as text, for instance "1/3"'
        )
    return number(int(value) if isinstance(value, np.integer) else value, "loss")


def restrict_loss(loss: LossLike, space: Space, labels: Iterable[Label]) -> Exacts:
    """ℓ↓X′: the rows of the secrets in X′ = `labels`, in the order given; every action stays.

    >>> from utmost.consumer import losses
    >>> from utmost.spaces import line
    >>> [[str(v) for v in row] for row in restrict_loss(losses.absolute, line(3), [0, 2])]
    [['0', '1', '2'], ['2', '1', '0']]
    """
    rows: Exacts = loss_rows(loss, len(space))[[space.position(label) for label in labels]]
    return rows


def lift_loss(loss: LossLike, labels: Sequence[Label], space: Space) -> Exacts:
    """ℓ↑X: the loss over the secrets `labels` on the whole space, 0 at every other secret whatever the action.

    >>> from utmost.consumer import losses
    >>> from utmost.spaces import line
    >>> [[str(v) for v in row] for row in lift_loss(losses.binary, [0, 2], line(3))]
    [['0', '1'], ['0', '0'], ['1', '0']]
    """
    if len(set(labels)) != len(labels):
        raise InputError("labels must name each secret once, got one twice", "labels")
    rows = loss_rows(loss, len(labels))
    result = np.full((len(space), rows.shape[1]), Fraction(0), dtype=object)
    result[[space.position(label) for label in labels]] = rows
    return result


def add_losses(first: LossLike, second: LossLike, size: int) -> Exacts:
    """ℓ₁ + ℓ₂ (eq. 13): an action is a pair (w₁, w₂), ordered by w₁ first, and costs ℓ₁(x, w₁) + ℓ₂(x, w₂).

    U_{ℓ₁+ℓ₂} = U_ℓ₁ + U_ℓ₂ for every prior and mechanism, since the two actions are chosen apart.
    """
    left, right = loss_rows(first, size), loss_rows(second, size)
    result: Exacts = (left[:, :, None] + right[:, None, :]).reshape(size, -1)
    return result


def scale_loss(loss: LossLike, factors: Sequence[object]) -> Exacts:
    """v × ℓ (eq. 14): the loss of secret x times factors[x] ≥ 0. It is ℓ under a prior proportional to v_x·π_x.

    >>> [[str(v) for v in row] for row in scale_loss([[0, 1], [1, 0]], ["1/2", 3])]
    [['0', '1/2'], ['3', '0']]
    """
    weights = np.array([number(value, "factor") for value in factors], dtype=object)
    if any(sign(value) < 0 for value in weights):
        raise InputError("factors must be >= 0, got one below", "factors", "a negative one turns a loss into a gain")
    result: Exacts = loss_rows(loss, len(weights)) * weights[:, None]
    return result
