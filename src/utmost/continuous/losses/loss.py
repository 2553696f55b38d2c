"""Losses over an interval: what they have in common, and losses that a user defines by a function of the gap.

Losses over an interval: what it costs to read w when the truth is x.

All are functions of the gap w − x that do not fall as the gap grows in either direction; none is negative. A loss is
*legal* when it depends on |w − x| and x only and does not decrease in |w − x| (GRS12 §2.2, FMM21 §II-E), and
*Lipschitz with constant κ* when |ℓ(w, x) − ℓ(w, x′)| ≤ κ·|x − x′| for all w, x, x′ of the interval. Both are what
FMM21 Thm 5 asks for. Both are decided here, in closed form, with a witness where they fail.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.continuous.interval import Interval
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, ball_endpoints, decimal, rational, sign
from utmost.exact.doubles import exact_value, kind_text
from utmost.registry import Family

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LegalityViolation:
    """|nearer − truth| ≤ |farther − truth| but ℓ(nearer, truth) > ℓ(farther, truth): a loss that is not legal."""

    truth: Fraction
    nearer: Fraction
    farther: Fraction


@dataclass(frozen=True, slots=True)
class LipschitzViolation:
    """|ℓ(reading, x) − ℓ(reading, other)| > κ·|x − other|: a loss that is not Lipschitz with that κ."""

    reading: Fraction
    x: Fraction
    other: Fraction


class ContinuousLoss(ABC):
    """ℓ(w, x) ≥ 0, a function of the gap w − x: the loss when the reading is w and the truth is x.

    A family says what it is of the gap, its least Lipschitz constant and where that is approached; the rest follows.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """How the command line writes it."""

    @property
    def legal(self) -> bool:
        """Is it a function of |w − x| that does not decrease."""
        return True

    @property
    def convex(self) -> bool:
        """Is it convex in w, for every x."""
        return True

    @property
    def slopes(self) -> tuple[Fraction, Fraction] | None:
        """(under, over) where it is linear on each side of 0 with these slopes, else None."""
        return None

    @property
    def jump(self) -> Fraction | None:
        """h where it is 0 up to |w − x| = h and 1 beyond, else None."""
        return None

    @abstractmethod
    def of_gap(self, gap: Fraction) -> Number:
        """ℓ(x + gap, x), exact; it does not fall as the gap leaves 0 in either direction."""

    def array(self, w: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays that broadcast together."""
        return self.of_gaps(np.subtract(w, x, dtype=np.float64))

    @abstractmethod
    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""

    @abstractmethod
    def lipschitz(self, interval: Interval) -> Number | None:
        """The least κ with |ℓ(w, x) − ℓ(w, x′)| ≤ κ·|x − x′| on the interval, or None where there is none."""

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """(g, s): the slopes between the gaps g and g + s·t tend to their supremum as t falls to 0.

        A loss that does not know it gives `lipschitz_violation` itself.
        """
        raise NotImplementedError

    def exact(self, w: Fraction, x: Fraction) -> Number:
        """ℓ(w, x), exact."""
        return self.of_gap(w - x)

    def legality_violation(self, interval: Interval) -> LegalityViolation | None:
        """A witness within the interval that it is not legal, or None where it is."""
        readings, middle = (interval.low, interval.high), (interval.low + interval.high) / 2
        nearer, farther = (
            readings if self.exact(readings[0], middle) > self.exact(readings[1], middle) else readings[::-1]
        )
        return None if self.legal else LegalityViolation(middle, nearer, farther)

    def lipschitz_violation(self, interval: Interval, kappa: object) -> LipschitzViolation | None:
        """A witness within the interval that it is not Lipschitz with this κ, or None where it is. Decided.

        >>> from utmost.continuous.losses import squared, step
        >>> unit = Interval(Fraction(0), Fraction(1))
        >>> str(squared.lipschitz(unit)), squared.lipschitz_violation(unit, 2)
        ('2', None)
        >>> step("1/4").lipschitz_violation(unit, 3)
        LipschitzViolation(reading=Fraction(1, 1), x=Fraction(3, 4), other=Fraction(9, 16))
        """
        bound, constant = rational(kappa, "kappa"), self.lipschitz(interval)
        if bound < 0:
            raise InputError(f"kappa must be >= 0, got {decimal(bound)}: it is a Lipschitz constant", "kappa")
        if constant is not None and constant <= bound:
            return None
        gap, side = self.corner(interval)
        step = interval.length - abs(gap) if side * gap >= 0 else abs(gap)
        while _distance(self.of_gap(gap), self.of_gap(gap + side * step)) <= bound * step:
            step /= 2
        reading = interval.low if gap < 0 or (not gap and side < 0) else interval.high
        return LipschitzViolation(reading, reading - gap, reading - gap - side * step)


def _distance(a: Number, b: Number) -> Number:
    return a - b if sign(a - b) > 0 else b - a


@dataclass(frozen=True, kw_only=True)
class ContinuousLossFamily(Family):
    """A family of losses over an interval. `parse` makes a member from the text after the colon.

    In the documentation `written` is the general form and `meaning` its formula.
    """

    parse: Callable[[str], ContinuousLoss]
    written: str = ""


GAPS_PER_SIDE = 64  # gaps on either side of 0


@dataclass(frozen=True, slots=True)
class Declared(ContinuousLoss):
    """A function of the gap that is declared to be legal, convex or Lipschitz; `declared` makes it."""

    function: Callable[[Fraction], object]
    kappa: Fraction | None
    legal: bool
    convex: bool
    name: str

    def of_gap(self, gap: Fraction) -> Number:
        """The function's value; refused below 0."""
        value = loss_value(self.function(gap))
        if sign(value) < 0:
            raise InputError("loss must be >= 0 at every gap, got a negative value", "loss", "add a constant to it")
        return value

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` at each double."""
        values = [float(self.of_gap(Fraction(gap))) for gap in gaps.ravel().tolist()]
        return np.array(values, dtype=np.float64).reshape(gaps.shape)

    def lipschitz(self, interval: Interval) -> Number | None:
        """The constant that was declared."""
        return self.kappa

    def lipschitz_violation(self, interval: Interval, kappa: object) -> LipschitzViolation | None:
        """A witness against this κ at the gaps tried; None if the κ declared is no larger; else it stays undecided."""
        bound = rational(kappa, "kappa")
        for reading, side in ((interval.low, -1), (interval.high, 1)):
            for smaller_gap, larger_gap in pairwise(_sample_gaps(interval, side)):
                if sign(self.of_gap(larger_gap) - self.of_gap(smaller_gap) - bound * abs(larger_gap - smaller_gap)) > 0:
                    return LipschitzViolation(reading, reading - smaller_gap, reading - larger_gap)
        if self.kappa is None or self.kappa > bound:
            raise UndecidedError(
                "whether a declared loss is Lipschitz with that kappa is not decided by the gaps tried"
            )
        return None


MIN_LOSS_BITS = 45  # of a ball that stands for a loss


def loss_value(value: Any) -> Number:
    """What a function of a user returned: an exact number, a double as the fraction that it is, or a ball's middle.

    >>> loss_value(0.25)
    Fraction(1, 4)
    """
    if hasattr(value, "rel_accuracy_bits"):
        low, high = ball_endpoints(value) if value.is_finite() else (Fraction(0), Fraction(1))
        if high - low > abs(high) / 2**MIN_LOSS_BITS:
            raise InputError(f"loss must be known to {MIN_LOSS_BITS} bits, got a wider ball", "loss")
        return (low + high) / 2
    if value is None:
        raise InputError(f"loss must be a function that returns a number, got {kind_text(value)}", "loss")
    return exact_value(value, "loss")


def user_loss(
    function: Callable[[Fraction], Any],
    interval: Interval,
    kappa: object = None,
    legal: bool = True,
    convex: bool = False,
    name: str = "declared",
) -> Declared:
    """The loss function(w − x), exact at every rational gap, with properties that are declared and not proved.

    A double that it returns is the fraction that it is; of a ball of python-flint the middle is taken.

    They are tried at 64 gaps on either side of 0; what fails there is refused, naming the gap. In any case the loss is
    not negative and does not fall as the gap leaves 0 in either direction: bounds on losses rest on that.

    >>> from utmost.continuous.interval import interval
    >>> clipped = user_loss(lambda gap: min(abs(gap), Fraction(1, 4)), interval(0, 1), kappa=1)
    >>> clipped.lipschitz(interval(0, 1)), clipped.exact(Fraction(1), Fraction(0))
    (Fraction(1, 1), Fraction(1, 4))
    """
    loss = Declared(function, None if kappa is None else rational(kappa, "kappa"), legal, convex, name)
    for side in (-1, 1):
        _check_declarations(loss, _sample_gaps(interval, side))
    asymmetric_gap = next((gap for gap in _sample_gaps(interval, 1) if loss.of_gap(gap) != loss.of_gap(-gap)), None)
    if legal and asymmetric_gap is not None:
        raise _refusal("be a function of |w - x| to be legal", asymmetric_gap)
    return loss


def _sample_gaps(interval: Interval, side: int) -> list[Fraction]:
    return [side * interval.length * Fraction(k, GAPS_PER_SIDE) for k in range(GAPS_PER_SIDE + 1)]


def _check_declarations(loss: Declared, gaps: list[Fraction]) -> None:
    """Refuses a loss that falls, rises faster than declared, or bends down though declared convex."""
    step = abs(gaps[1])
    previous_rise: Number = Fraction(0)
    for smaller_gap, larger_gap in pairwise(gaps):
        rise = loss.of_gap(larger_gap) - loss.of_gap(smaller_gap)
        if sign(rise) < 0:
            raise _refusal("not fall as the gap leaves 0", larger_gap)
        if loss.kappa is not None and sign(rise - loss.kappa * step) > 0:
            raise _refusal(f"be Lipschitz with kappa {decimal(loss.kappa)}", larger_gap)
        if loss.convex and sign(rise - previous_rise) < 0:
            raise _refusal("be convex", larger_gap)
        previous_rise = rise


def _refusal(must: str, gap: Fraction) -> InputError:
    return InputError(
        f"loss must {must}, and fails at the gap {decimal(gap)}", "loss", "correct it or what it declares"
    )
