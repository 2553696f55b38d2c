"""Refinement: test whether one channel is a post-processing of another (FMPD23 §II-B, eq. 6, 7).

A ⊑ B, "B refines A", when B = A·R for some channel R. Then no consumer, whatever the prior and the loss, does
better with B than with A (the data-processing inequality); and if there is no such R, some consumer does better with B,
already with the uniform prior (Blackwell 1951; the "Coriaceous" theorem). So one of two proofs always exists: R, or
that consumer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_inputs
from utmost.channel.channel import Label, label_positions, trusted_channel
from utmost.errors import InputError, UndecidedError
from utmost.qif.factorization import factor_channel
from utmost.qif.hyper import ColumnBundle, bundle_columns
from utmost.qif.input_checks import exact_channel
from utmost.qif.refinement_programs import Witness, name_secrets


@dataclass(frozen=True, slots=True)
class Refinement:
    """Does B refine A, with the proof: R with A·R = B, or else a consumer who is better served by B."""

    refines: bool
    post_processing: Channel | None
    witness: Witness | None


def refinement(a: Channel | Mechanism, b: Channel | Mechanism) -> Refinement:
    """Whether B refines A (A ⊑ B: B = A·R for a channel R), decided exactly.

    Their inputs must be the same secrets, in any order. UndecidedError where irrational entries leave it open.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> fine, coarse = geometric(2, alpha("1/3")), geometric(2, alpha("1/2"))
    >>> print(refinement(fine, coarse).post_processing)
          0     1     2
    0   5/6  1/12  1/12
    1  5/24  7/12  5/24
    2  1/12  1/12   5/6
    >>> other = refinement(coarse, fine).witness
    >>> other.with_a > other.with_b
    True
    """
    first, second = exact_channel(a, "A"), _align_inputs(exact_channel(b, "B"), exact_channel(a, "A"))
    left, right = bundle_columns(first.rows), bundle_columns(second.rows)
    factor = factor_channel(_stack_columns(left), _stack_columns(right))
    if isinstance(factor, Witness):
        return Refinement(False, None, name_secrets(factor, first.inputs))
    rows = _expand_bundles(factor, left, right, (len(first.outputs), len(second.outputs)))
    return Refinement(True, trusted_channel(first.outputs, second.outputs, rows), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Does B refine A, and does A refine B; the second is None where it was not decided. `inputs` are those of A."""

    inputs: tuple[Label, ...]
    forward: Refinement
    reverse: Refinement | None

    @property
    def equivalent(self) -> bool | None:
        """Whether each refines the other; None where that was not decided."""
        if not self.forward.refines:
            return False
        return None if self.reverse is None else self.reverse.refines


def compare(a: Channel, b: Channel) -> Comparison:
    """Both directions; the first must be decided, the second may stay open."""
    forward = refinement(a, b)
    try:
        return Comparison(a.inputs, forward, refinement(b, a))
    except UndecidedError:
        return Comparison(a.inputs, forward, None)


def _align_inputs(second: Channel, first: Channel) -> Channel:
    """The second channel with its inputs in the order of the first one's."""
    if label_positions(second.inputs, first.inputs) is None:
        missing = [x for x in (*first.inputs, *second.inputs) if x not in first.inputs or x not in second.inputs]
        name = str(missing[0])[:40]
        raise InputError(
            f"A and B must have the same inputs, got '{name}' in one of them only", hint="rename the inputs"
        )
    return align_inputs(second, first.inputs)


def _stack_columns(groups: list[ColumnBundle]) -> Matrix:
    return np.stack([group.column for group in groups], axis=1)


def _expand_bundles(
    factor: Matrix, left: list[ColumnBundle], right: list[ColumnBundle], shape: tuple[int, int]
) -> Matrix:
    """R between the outputs themselves, from R between their bundles.

    Outputs of A in one bundle are treated alike; a bundle of B is dealt out by its members' shares. An output of A that
    never occurs is sent to the first output.
    """
    rows = np.full(shape, Fraction(0), dtype=object)
    rows[:, 0] = Fraction(1)
    for j, source in enumerate(left):
        line = np.full(shape[1], Fraction(0), dtype=object)
        for w, target in enumerate(right):
            line[list(target.members)] = [factor[j, w] * share for share in target.shares]
        rows[list(source.members)] = line
    return rows
