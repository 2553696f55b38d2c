"""Losses defined by a user: a function of the gap, with declared properties that are checked at sample gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.continuous.interval import Interval
from utmost.continuous.losses.loss import ContinuousLoss, Floats, LipschitzViolation
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, decimal, number, rational, sign

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
        value = number(self.function(gap), "loss")
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


def user_loss(
    function: Callable[[Fraction], object],
    interval: Interval,
    kappa: object = None,
    legal: bool = True,
    convex: bool = False,
    name: str = "declared",
) -> Declared:
    """The loss function(w − x), exact at every rational gap, with properties that are declared and not proved.

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
