"""The linear programs of refinement, and the consumer who proves that there is none.

Over all R ≥ 0 with rows that sum to 1: how close A·R comes to B. Where it cannot be equal, the multipliers are a
consumer to whom B is worth more than A.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Channel, Matrix
from utmost.channel.channel import Label, matrix_product, read_only, trusted_channel
from utmost.exact import Number, enclosure
from utmost.lp import LinearProgram
from utmost.qif.leakage_measures import best_remap, posterior_uncertainty
from utmost.result_values import equal_fields, hash_of_kind, short_repr

Indices: TypeAlias = npt.NDArray[np.int64]

ZERO, ONE = Fraction(0), Fraction(1)


def distance_program(a: Matrix, b: Matrix) -> LinearProgram:
    """minimise Σ |A·R − B|: 0 exactly when there is an R with A·R = B.

    Variables: R row by row, then the positive and the negative part of B − A·R. Rows: the entries of B, then the rows
    of R. By duality the multipliers y of the entries are a gain with V_y[B] − V_y[A] ≥ the optimum, the prior being
    uniform and y multiplied by n.
    """
    entries, factor_size = b.size, a.shape[1] * b.shape[1]
    rows, columns, values = _coefficients(a, b.shape[1])
    entry, ones = np.arange(entries), np.full(entries, ONE)
    return _equality_program(
        [ZERO] * factor_size + [ONE] * (2 * entries),
        np.concatenate([rows, entry, entry]),
        np.concatenate([columns, factor_size + entry, factor_size + entries + entry]),
        np.concatenate([values, ones, -ones]),
        _right_sides(a, b),
    )


def cone_program(a: Matrix, column: Matrix) -> LinearProgram:
    """minimise Σ |A·r − column| over r ≥ 0: 0 exactly when the column is in the cone of A's.

    The multipliers k have k·A ≤ 0 and k·column = the optimum: a posterior that no mixture of A's posteriors gives.
    """
    size, inner = a.shape
    entry, ones = np.arange(size), np.full(size, ONE)
    x, j = (grid.ravel() for grid in np.meshgrid(entry, np.arange(inner), indexing="ij"))
    return _equality_program(
        [ZERO] * inner + [ONE] * (2 * size),
        np.concatenate([x, entry, entry]),
        np.concatenate([j, inner + entry, inner + size + entry]),
        np.concatenate([a[x, j], ones, -ones]),
        [*column],
    )


def slack_program(a: Matrix, b: Matrix) -> LinearProgram:
    """maximise s with A·R = B and R ≥ s on `free_entries(a, b)`. Variables: R less s there, row by row, then s."""
    factor_size = a.shape[1] * b.shape[1]
    rows, columns, values = _coefficients(a, b.shape[1])
    mask = free_entries(a, b).astype(int) * ONE
    shift = np.concatenate([matrix_product(a, mask).ravel(), mask.sum(axis=1)])
    return _equality_program(
        [ZERO] * factor_size + [-ONE],
        np.concatenate([rows, np.arange(len(shift))]),
        np.concatenate([columns, np.full(len(shift), factor_size)]),
        np.concatenate([values, shift]),
        _right_sides(a, b),
    )


def free_entries(a: Matrix, b: Matrix) -> npt.NDArray[np.bool_]:
    """Where R may be > 0: not at [j, w] where some A[x, j] > 0 and B[x, w] = 0."""
    return np.asarray((a != 0).T.astype(int) @ (b == 0).astype(int) == 0)


def _coefficients(a: Matrix, width: int) -> tuple[Indices, Indices, Matrix]:
    """The rows, columns and values of A·R and of the row sums of R, R row by row."""
    size, inner = a.shape
    x, j, w = (g.ravel() for g in np.meshgrid(np.arange(size), np.arange(inner), np.arange(width), indexing="ij"))
    entry = np.arange(inner * width)
    rows = np.concatenate([x * width + w, size * width + entry // width])
    return rows, np.concatenate([j * width + w, entry]), np.concatenate([a[x, j], np.full(len(entry), ONE)])


def _right_sides(a: Matrix, b: Matrix) -> list[Fraction]:
    return [*b.ravel(), *[ONE] * a.shape[1]]


def _equality_program(
    cost: list[Fraction], rows: Indices, columns: Indices, values: Matrix, rhs: list[Fraction]
) -> LinearProgram:
    nonzero = values != 0
    return LinearProgram(cost, rows[nonzero], columns[nonzero], values[nonzero], rhs, np.ones(len(rhs), dtype=bool))


GAIN_BITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # bits of a gain: the fewest that suffice are the easiest to read
COMPARISON_BITS = 192  # of the intervals that losses are compared with first


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A prior and a loss ℓ[x, w] in [0, 1]; `with_a` > `with_b` are the expected losses through either channel.

    Rows of the loss are the secrets `inputs`, in A's order; columns are actions. All is exact and was compared so.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

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
