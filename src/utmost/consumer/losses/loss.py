"""A loss: what it costs to read j when the truth is i; whether it is legal; how a family of losses is described.

A loss is *legal* when ℓ(i, j) depends only on i and |j − i| and does not decrease in |j − i| (GRS12 §2.2), *strictly
legal* when it increases strictly (GRS12 §5.3). The geometric mechanism is best for every consumer with a legal loss
(GRS12 Thm 3.2); for other losses that is not promised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.consumer.family import ConsumerFamily
from utmost.errors import InputError
from utmost.exact import Number

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Self

    from utmost.consumer.losses.binary import Binary
    from utmost.consumer.losses.linear import Linear
    from utmost.consumer.losses.squared import Squared
    from utmost.spaces import Label

Exacts: TypeAlias = npt.NDArray[np.object_]
Triple: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Legality:
    """Is a loss legal, and strictly so; where not, entries (i, j, j′) with |j−i| ≤ |j′−i| that break it.

    `witness`: ℓ(i, j) > ℓ(i, j′), or the distances are equal and the losses differ. `strict_witness`: the same, or the
    distances differ and the losses do not.
    """

    witness: Triple | None
    strict_witness: Triple | None

    @property
    def legal(self) -> bool:
        """No entry breaks it."""
        return self.witness is None

    @property
    def strict(self) -> bool:
        """No entry breaks it strictly."""
        return self.strict_witness is None


def legality_by_error(cost: Callable[[int], Number], gaps: Sequence[int], size: int) -> Legality:
    """The legality of ℓ(i, j) = cost(j − i) on 0..size−1, by costs at the distances in `gaps` and as far below 0.

    `gaps` ascend from 0 to size − 1; between two of them the cost is straight on either side. Then they are enough:
    where it falls or stays level between two of them it does so everywhere between, and sides that agree there agree
    everywhere. With both sides rising it is legal if and only if they agree up to (size − 1)/2, the largest distance
    that a count has on both.
    """
    last = size - 1
    asymmetric_gap = next((gap for gap in gaps if 2 * gap <= last and cost(gap) != cost(-gap)), None)
    falling_step = flat_step = None
    for side in (1, -1):
        for start, end in pairwise(gaps):
            before, after = cost(side * start), cost(side * end)
            if flat_step is None and after <= before:
                flat_step = (side, start, end)
            if falling_step is None and after < before:
                falling_step = (side, start, end)
    witness: Triple | None = None
    if asymmetric_gap:
        witness = (asymmetric_gap, 0, 2 * asymmetric_gap)
    elif falling_step is not None:
        witness = _fall_witness(*falling_step, last)
    return Legality(witness, witness or (None if flat_step is None else _fall_witness(*flat_step, last)))


def _fall_witness(side: int, start: int, end: int, last: int) -> Triple:
    """A fall from distance `start` to `end` as a truth and two readings."""
    return (0, start, end) if side > 0 else (last, last - start, last - end)


def check_legality(entries: Exacts) -> Legality:
    """Compares, for each truth, every entry with the ones one step nearer: enough, since ≤ is transitive."""
    strict_witness: Triple | None = None
    for i, row in enumerate(entries):
        for nearer, farther in _ordering_pairs(i, len(row)):
            equidistant = abs(nearer - i) == abs(farther - i)
            if row[nearer] > row[farther] or (equidistant and row[nearer] != row[farther]):
                return Legality((i, nearer, farther), (i, nearer, farther))
            if strict_witness is None and not equidistant and row[nearer] == row[farther]:
                strict_witness = (i, nearer, farther)
    return Legality(None, strict_witness)


def _ordering_pairs(i: int, size: int) -> list[tuple[int, int]]:
    """Pairs of readings at distances (d, d) and (d, d+1) from i that together order all the distances."""
    pairs = []
    for gap in range(max(i, size - 1 - i) + 1):
        at_gap = [j for j in {i - gap, i + gap} if 0 <= j < size]
        at_next_gap = [j for j in {i - gap - 1, i + gap + 1} if 0 <= j < size]
        if len(at_gap) == 2:
            pairs.append((min(at_gap), max(at_gap)))
        pairs.extend((min(at_gap), j) for j in sorted(at_next_gap))
    return pairs


Floats: TypeAlias = npt.NDArray[np.float64]


class Loss(ABC):
    """ℓ(i, j) ≥ 0: the loss when the truth is i and the reading is j. A family has `name`, `exact` and `array`.

    The rest has defaults that are right for every loss, and slow or cautious: a family says what it knows of itself.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # a field or a property of each family; a property here would be taken for a field's default

        @property
        def name(self) -> str:
            """How the command line writes it."""

    @abstractmethod
    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""

    @abstractmethod
    def array(self, truth: npt.ArrayLike, reading: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays of counts that broadcast together."""

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        entries = np.empty((size, size), dtype=object)
        for i in range(size):
            entries[i, :] = [self.exact(i, j) for j in range(size)]
        return entries

    @property
    def by_error(self) -> bool:
        """Is ℓ(i, j) a function of j − i alone."""
        return False

    @property
    def monotone(self) -> bool:
        """Is it known not to fall as the reading leaves the truth, to either side."""
        return False

    @property
    def closed_form(self) -> Linear | Squared | Binary | None:
        """The loss that this one equals and whose best reading is a quantile, a mean or a mode; None if none is."""
        return None

    @property
    def is_exact(self) -> bool:
        """Are its values exact numbers."""
        return True

    @property
    def ignores_distance(self) -> bool:
        """Is it the same loss on every space, whatever the distances between its points."""
        return False

    @property
    def ignores_order(self) -> bool:
        """Is it the same loss in whatever order the secrets stand."""
        return False

    @property
    def has_plateaus(self) -> bool:
        """May it be level over many readings, so that thousands of them tie."""
        return False

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The names of the secrets in the order of its rows; None where it is a loss of counts, or names none."""
        return None

    def check(self, size: int) -> None:
        """Refuse a number of counts that the loss is not made for, or readings that are not the secrets."""
        if self.action_count(size) != size:
            raise InputError(f"loss {self.name} must have a reading for each of {size} counts", "loss")

    def action_count(self, size: int) -> int:
        """How many readings there are for `size` secrets."""
        return size

    def at_distance(self, distance: Number) -> Number:
        """ℓ of two points this far apart, for a loss that depends on their distance alone."""
        kind = self.name.partition(":")[0]
        raise InputError(f"loss {kind} must be on a line, where below and above mean something", "loss", "use absolute")

    def stretch(self, unit: Fraction) -> Self:
        """The loss over positions, where one position counts for `unit`; itself where `scale` tells a step's cost."""
        return self

    def scale(self, step: float) -> float:
        """What an error of one position costs where positions are `step` apart, relative to 1 apart."""
        return 1.0

    def legality(self, size: int) -> Legality:
        """Is it legal on the counts 0..size−1, and strictly legal; decided exactly."""
        self.check(size)
        return check_legality(self.matrix(size))


class ErrorLoss(Loss):
    """A loss that is a function of the error j − i alone. A family has `name`, `at` and `array`."""

    __slots__ = ()

    @abstractmethod
    def at(self, error: int) -> Number:
        """The cost of an error, exact; a negative error is a reading below the truth."""

    def exact(self, i: int, j: int) -> Number:
        """ℓ(i, j), exact."""
        return self.at(j - i)

    @property
    def by_error(self) -> bool:
        """Always."""
        return True

    def matrix(self, size: int) -> Exacts:
        """ℓ on the counts 0..size−1: rows are truths, columns are readings."""
        return matrix_by_error([self.at(gap) for gap in range(size)], [self.at(-gap) for gap in range(size)])

    def legality(self, size: int) -> Legality:
        """Is it legal on the counts 0..size−1, and strictly legal; decided exactly, error by error."""
        return legality_by_error(self.at, range(size), size)


@dataclass(frozen=True, kw_only=True)
class LossFamily(ConsumerFamily):
    """A family of losses. `parse` makes a member from the text after the colon; `best_reading` names the optimum.

    In the documentation `meaning` is the formula of the example.
    """

    parse: Callable[[str], Loss]
    best_reading: str = "found by search"


def matrix_by_error(above: Sequence[Number], below: Sequence[Number]) -> Exacts:
    """The matrix whose entry (i, j) is above[j − i], or below[i − j] where j < i."""
    size = len(above)
    values = np.empty(2 * size - 1, dtype=object)
    values[size - 1 :] = above
    values[: size - 1] = list(below)[:0:-1]
    counts = np.arange(size)
    return np.asarray(values[counts[None, :] - counts[:, None] + size - 1])
