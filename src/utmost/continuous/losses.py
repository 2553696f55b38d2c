"""Losses over an interval: what it costs to read w when the truth is x.

All are functions of the gap w − x that do not fall as the gap grows in either direction; none is negative. A loss is
*legal* when it depends on |w − x| and x only and does not decrease in |w − x| (GRS12 §2.2, FMM21 §II-E), and
*Lipschitz with constant κ* when |ℓ(w, x) − ℓ(w, x′)| ≤ κ·|x − x′| for all w, x, x′ of the interval. Both are what
FMM21 Thm 5 asks for. Both are decided here, in closed form, with a witness where they fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost import exact
from utmost.continuous.interval import Interval
from utmost.errors import InputError
from utmost.exact import Number, decimal, rational, sign

Floats: TypeAlias = npt.NDArray[np.float64]

MAX_POWER = 32
LOSS_FORMS = "absolute, squared, huber:0.1, power:1.5, asymmetric:2,1 (under, over) or step:0.1"


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


class ContinuousLoss:
    """ℓ(w, x) ≥ 0, a function of the gap w − x: the loss when the reading is w and the truth is x.

    A family says what it is of the gap, its least Lipschitz constant and where that is approached; the rest follows.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """How the command line writes it."""
        raise NotImplementedError

    @property
    def legal(self) -> bool:
        """Is it a function of |w − x| that does not decrease."""
        return True

    @property
    def convex(self) -> bool:
        """Is it convex in w, for every x."""
        return True

    def of_gap(self, gap: Fraction) -> Number:
        """ℓ(x + gap, x), exact; it does not fall as the gap leaves 0 in either direction."""
        raise NotImplementedError

    def array(self, w: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
        """ℓ as doubles, over arrays that broadcast together."""
        return self.of_gaps(np.subtract(w, x, dtype=np.float64))

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        raise NotImplementedError

    def lipschitz(self, interval: Interval) -> Number | None:
        """The least κ with |ℓ(w, x) − ℓ(w, x′)| ≤ κ·|x − x′| on the interval, or None where there is none."""
        raise NotImplementedError

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """(g, s): the slopes between the gaps g and g + s·t tend to their supremum as t falls to 0."""
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

        >>> unit = Interval(Fraction(0), Fraction(1))
        >>> str(squared.lipschitz(unit)), squared.lipschitz_violation(unit, 2)
        ('2', None)
        >>> step("1/4").lipschitz_violation(unit, 3)
        LipschitzViolation(reading=Fraction(1, 1), x=Fraction(3, 4), other=Fraction(9, 16))
        """
        bound, constant = rational(kappa, "kappa"), self.lipschitz(interval)
        if bound < 0:
            raise InputError(f"kappa must be >= 0, got {decimal(bound)}: it is a Lipschitz constant")
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


@dataclass(frozen=True, slots=True)
class Linear(ContinuousLoss):
    """`under` for each unit that the reading is below the truth, `over` for each unit above; legal if they are equal.

    >>> Linear(Fraction(2), Fraction(1)).exact(Fraction(0), Fraction(1, 2))
    Fraction(1, 1)
    """

    under: Fraction
    over: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "absolute" if self.under == self.over == 1 else f"asymmetric:{self.under},{self.over}"

    @property
    def legal(self) -> bool:
        """Is it a function of |w − x|."""
        return self.under == self.over

    def of_gap(self, gap: Fraction) -> Number:
        """under·|gap| below 0, over·gap above."""
        return -self.under * gap if gap < 0 else self.over * gap

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        return np.asarray(np.where(gaps < 0, -float(self.under) * gaps, float(self.over) * gaps))

    def lipschitz(self, interval: Interval) -> Number:
        """max(under, over)."""
        return max(self.under, self.over)

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """At 0, on the dearer side."""
        return Fraction(0), 1 if self.over >= self.under else -1


@dataclass(frozen=True, slots=True)
class Power(ContinuousLoss):
    """|w − x|^p for a rational p > 0; convex and Lipschitz for p ≥ 1 only.

    >>> str(Power(Fraction(3, 2)).exact(Fraction(2), Fraction(0))), Power(Fraction(1, 2)).convex
    ('2*2^(1/2)', False)
    """

    p: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return "squared" if self.p == 2 else f"power:{self.p}"

    @property
    def convex(self) -> bool:
        """p ≥ 1."""
        return self.p >= 1

    def of_gap(self, gap: Fraction) -> Number:
        """|gap|^p, as a `Real` where it is irrational."""
        return exact.power(abs(gap), self.p)

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        return np.asarray(np.abs(gaps) ** float(self.p))

    def lipschitz(self, interval: Interval) -> Number | None:
        """p·length^(p−1) for p ≥ 1; none below, where the slope at 0 is infinite."""
        return self.p * exact.power(interval.length, self.p - 1) if self.p >= 1 else None

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """At the largest gap for p ≥ 1, at 0 below."""
        return (interval.length, -1) if self.p >= 1 else (Fraction(0), 1)


@dataclass(frozen=True, slots=True)
class Huber(ContinuousLoss):
    """gap²/2 up to k, k·(|gap| − k/2) beyond: squared for small gaps, absolute for large ones.

    >>> Huber(Fraction(1)).exact(Fraction(3), Fraction(0)), Huber(Fraction(1)).exact(Fraction(1, 2), Fraction(0))
    (Fraction(5, 2), Fraction(1, 8))
    """

    k: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"huber:{self.k}"

    def of_gap(self, gap: Fraction) -> Number:
        """gap²/2 or k·(|gap| − k/2)."""
        size = abs(gap)
        return size * size / 2 if size <= self.k else self.k * (size - self.k / 2)

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        size, k = np.abs(gaps), float(self.k)
        return np.asarray(np.where(size <= k, size * size / 2, k * (size - k / 2)))

    def lipschitz(self, interval: Interval) -> Number:
        """min(k, length)."""
        return min(self.k, interval.length)

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """Towards the gap where the slope stops growing, from below."""
        return min(self.k, interval.length), -1


@dataclass(frozen=True, slots=True)
class Step(ContinuousLoss):
    """0 if |w − x| ≤ h, else 1: legal, but neither convex nor Lipschitz on an interval longer than h.

    >>> Step(Fraction(1, 10)).exact(Fraction(1, 10), Fraction(0)), Step(Fraction(1, 10)).exact(Fraction(1), Fraction(0))
    (Fraction(0, 1), Fraction(1, 1))
    """

    h: Fraction

    @property
    def name(self) -> str:
        """How the command line writes it."""
        return f"step:{self.h}"

    @property
    def convex(self) -> bool:
        """Never on the whole line."""
        return False

    def of_gap(self, gap: Fraction) -> Number:
        """1 if |gap| > h, else 0."""
        return Fraction(abs(gap) > self.h)

    def of_gaps(self, gaps: Floats) -> Floats:
        """`of_gap` as doubles."""
        return np.asarray((np.abs(gaps) > float(self.h)).astype(np.float64))

    def lipschitz(self, interval: Interval) -> Number | None:
        """0 where no gap is larger than h; else none, since the loss jumps."""
        return Fraction(0) if self.h >= interval.length else None

    def corner(self, interval: Interval) -> tuple[Fraction, int]:
        """At the jump."""
        return self.h, 1


absolute = Linear(Fraction(1), Fraction(1))
squared = Power(Fraction(2))


def power(p: object) -> Power:
    """|w − x|^p.

    >>> power("1.5").name, power(2) == squared
    ('power:3/2', True)
    """
    exponent = rational(p, "power")
    if not 0 < exponent <= MAX_POWER:
        raise InputError(
            f"power must be > 0 and at most {MAX_POWER}, got {decimal(exponent)}: a loss is bounded below by 0"
        )
    return Power(exponent)


def huber(k: object) -> Huber:
    """Squared up to k, absolute beyond.

    >>> huber("0.1").name
    'huber:1/10'
    """
    knee = rational(k, "huber k")
    if knee <= 0:
        raise InputError(f"huber k must be > 0, got {decimal(knee)}: it is where squared turns into absolute")
    return Huber(knee)


def asymmetric(under: object, over: object) -> Linear:
    """`under` a unit for readings below the truth, `over` a unit above; not both zero.

    >>> asymmetric(2, 1).legality_violation(Interval(Fraction(0), Fraction(1)))
    LegalityViolation(truth=Fraction(1, 2), nearer=Fraction(0, 1), farther=Fraction(1, 1))
    """
    low, high = rational(under, "under"), rational(over, "over")
    if low < 0 or high < 0 or not (low or high):
        raise InputError(
            f"under and over must be >= 0 and not both 0, got {decimal(low)} and {decimal(high)}: "
            "a loss is bounded below by 0"
        )
    return Linear(low, high)


def step(h: object) -> Step:
    """0 within h, 1 beyond.

    >>> step("0.1").lipschitz(Interval(Fraction(0), Fraction(1))) is None
    True
    """
    width = rational(h, "step h")
    if width < 0:
        raise InputError(f"step h must be >= 0, got {decimal(width)}: it is the largest gap that costs nothing")
    return Step(width)


def parse_continuous_loss(text: str) -> ContinuousLoss:
    """The loss that the command line names.

    >>> (
    ...     parse_continuous_loss("huber:0.1") == huber("1/10"),
    ...     parse_continuous_loss("asymmetric:2,1") == asymmetric(2, 1),
    ...     parse_continuous_loss("power:1").name,
    ... )
    (True, True, 'power:1')
    """
    kind, _, parameters = text.strip().partition(":")
    constant_losses = {"absolute": absolute, "squared": squared}
    if kind in constant_losses and not parameters:
        return constant_losses[kind]
    one_parameter_losses = {"huber": huber, "power": power, "step": step}
    if kind in one_parameter_losses and parameters:
        return one_parameter_losses[kind](parameters)
    if kind == "asymmetric" and parameters.count(",") == 1:
        return asymmetric(*parameters.split(","))
    raise InputError(f"loss must be {LOSS_FORMS}, got {text[:60]!r}")
