"""Losses of the user's own: a function of the gap with what is declared of it, tried before it is believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from utmost.continuous.interval import Interval
from utmost.continuous.losses import ContinuousLoss, Floats, LipschitzViolation
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, decimal, number, rational, sign

TRIED = 64  # gaps on either side of 0


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
            raise InputError("loss must be >= 0 at every gap, got a negative value: add a constant to it")
        return value

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` at each double."""
        values = [float(self.of_gap(Fraction(gap))) for gap in gaps.ravel().tolist()]
        return np.array(values, dtype=np.float64).reshape(gaps.shape)

    def lipschitz(self, interval: Interval) -> Number | None:
        """The constant that was declared."""
        return self.kappa

    def steep(self, interval: Interval, kappa: object) -> LipschitzViolation | None:
        """A witness against this κ at the gaps tried; None if the κ declared is no larger; else it stays undecided."""
        bound = rational(kappa, "kappa")
        for reading, side in ((interval.low, -1), (interval.high, 1)):
            for near, far in pairwise(_gaps(interval, side)):
                if sign(self.of_gap(far) - self.of_gap(near) - bound * abs(far - near)) > 0:
                    return LipschitzViolation(reading, reading - near, reading - far)
        if self.kappa is None or self.kappa > bound:
            raise UndecidedError(
                "whether a declared loss is Lipschitz with that kappa is not decided by the gaps tried"
            )
        return None


def declared(
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
    >>> clipped = declared(lambda gap: min(abs(gap), Fraction(1, 4)), interval(0, 1), kappa=1)
    >>> clipped.lipschitz(interval(0, 1)), clipped.exact(Fraction(1), Fraction(0))
    (Fraction(1, 1), Fraction(1, 4))
    """
    loss = Declared(function, None if kappa is None else rational(kappa, "kappa"), legal, convex, name)
    for side in (-1, 1):
        _try(loss, _gaps(interval, side))
    odd = next((gap for gap in _gaps(interval, 1) if loss.of_gap(gap) != loss.of_gap(-gap)), None)
    if legal and odd is not None:
        raise _refused("be a function of |w - x| to be legal", odd)
    return loss


def _gaps(interval: Interval, side: int) -> list[Fraction]:
    return [side * interval.length * Fraction(k, TRIED) for k in range(TRIED + 1)]


def _try(loss: Declared, gaps: list[Fraction]) -> None:
    """Refuses a loss that falls, rises faster than declared, or bends down though declared convex."""
    step = abs(gaps[1])
    last: Number = Fraction(0)
    for near, far in pairwise(gaps):
        rise = loss.of_gap(far) - loss.of_gap(near)
        if sign(rise) < 0:
            raise _refused("not fall as the gap leaves 0", far)
        if loss.kappa is not None and sign(rise - loss.kappa * step) > 0:
            raise _refused(f"be Lipschitz with kappa {decimal(loss.kappa)}", far)
        if loss.convex and sign(rise - last) < 0:
            raise _refused("be convex", far)
        last = rise


def _refused(must: str, gap: Fraction) -> InputError:
    return InputError(f"loss must {must}, and fails at the gap {decimal(gap)}: correct it or what it declares")
