"""The coarsest grid on which a release of a number is as good as any private mechanism, up to an accepted loss.

A number x of [a, b] moves by at most Δ between neighbours. *Private* are here the mechanisms that protect each distance
d with ε·d/Δ, as truncated Laplace does at the rate λ = ε/Δ; B is the least loss that one of them gives a reader, for
this reader's prior and loss. The *grid release* rounds x to the nearest of a, a + s, …, a + N·s ≥ b (ties upwards) and
adds truncated geometric noise of ε/k a step, k = ⌈Δ/s⌉; A is the least loss with it. It is ε-private: numbers no
further apart than Δ round to points no further apart than k steps.

**Theorem.** For every prior, and for every loss that is convex in the reading and 0 where that is right,

    A ≤ e^(ε/2k)·(B + 6κ·(k·s − Δ)/ε),    κ the loss's Lipschitz constant in x.

If Δ is a whole number of steps, the last term is 0 and no κ is needed; then it holds for a loss that is 0 for all gaps
up to s, too, such as `step:h` with h ≥ s.

*Proof, k·s = Δ.* x and its grid point are at most s/2 apart, so a private K loses at least e^(−λs/2) times what it does
when it is given the grid point instead (FMM21 Lemma 9); beyond b it is continued by K(b). So cells take the place of
numbers and the mean loss over a cell, ℓ̄, that of the loss. As a function of the reading ℓ̄ falls up to some point of
the cell and rises after it: it is convex, falls before the cell and rises behind it; or it is 0 on the cell. So ℓ̄ is
in order (`laplace_optimality`), and the geometric mechanism on the grid, read in the best way, loses no more than K
does on the grid. But it loses A: the rounding is in ℓ̄, on both sides. And λs/2 = ε/2k. ∎

*Proof, k·s > Δ.* The same at the rate λ′ = ε/(k·s) < λ gives A ≤ e^(ε/2k)·V(λ′), where V(t) is the loss of truncated
Laplace at rate t and V(λ) = B (FMM21 Thm 5). Let X be the number, n the noise at rate t, Y = X + n, w(Y) the best
reading. By the envelope theorem −V′(t) = E[ℓ(w(Y), X)·(|n| − 1/t)] ≤ E[ℓ(w(Y), X)·|n|]. Let m be the mean of |n| given
Y. Reading Y itself, cut to [a, b], costs at most κm on average, and w no more; so ℓ(w, Y) ≤ 2κm, ℓ(w, X) ≤ 2κm + κ|n|,
and −V′(t) ≤ κ·E[2m² + n²] ≤ 3κ·E[n²] = 6κ/t². Hence V(λ′) − B ≤ 6κ·(1/λ′ − 1/λ) = 6κ·(k·s − Δ)/ε. ∎

**What that costs.** Read at face value truncated Laplace loses on average at most M (`face_value`), and B is no more;
so A − B ≤ (e^(ε/2k) − 1)·M where k·s = Δ. And A, read at face value, is at most κ·(s/2 + s/sinh(ε/k)), whatever B is.

*The factor is right to first order.* Let x be near the outer end of one of two cells whose grid points are 2j − 1 steps
apart, with probability 1/2 each. Then A/B = 2/(1 + e^(−λs)) = 1 + λs/2 + … for the absolute loss, and with 2j·s = 2/λ
the difference is about 0.18·s where the bound is about 0.5·s. For all priors at once N cannot be under a third of this
one.

**Rows that are rounded one by one**, as plans have it. A mean of numbers, each rounded by at most r = s/2, is drawn on
the lattice of such means. Then x and what is drawn from are at most r apart, but cells overlap and ℓ̄ need not be in
order. There A ≤ e^(λr)·B + 2κr. *Proof.* Let x′ be the lattice number. K at x is at least e^(−λr) times K at x′, and
ℓ(w, x) ≥ ℓ(w, x′) − κr: so B ≥ e^(−λr)·(B′ − κr), where B′ is what K loses on x′. The geometric mechanism loses no more
than B′ on x′ (GRS12 Thm 3.2 and `laplace_optimality`), and at most κr more on x. ∎ By itself A ≤ κ·(r + 1/λ).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from utmost.continuous.interval import Interval
from utmost.continuous.losses import ContinuousLoss
from utmost.errors import InputError
from utmost.exact import Number, ball, ball_endpoints, decimal, decimal_above
from utmost.exact.working_precision import working_precision

if TYPE_CHECKING:
    from flint import arb

BALL_BITS = 128
MAX_STEPS = 10**12  # of a grid, as plans have it
CELLS_PER_SCALE = 16  # cells of `face_value`, at least, in one scale 1/λ of the noise
MAX_SCALES = 32  # scales beyond which the noise is taken to cost as much as can be
STRETCH_FACTOR = 6  # times κ·(1/λ′ − 1/λ): what a lower rate costs at most
MAX_EXPONENT = 40  # an exponent λr above which e^(λr) is of no use


@dataclass(frozen=True)
class GridQuestion:
    """A number of the interval that moves by at most `sensitivity`, to be released with ε, and a reader's loss."""

    interval: Interval
    sensitivity: Fraction
    epsilon: Fraction
    loss: ContinuousLoss

    def __post_init__(self) -> None:
        """Refuses what is no question."""
        length, moves = self.interval.length, self.sensitivity
        if not 0 < moves <= length:
            raise InputError(
                f"sensitivity must be > 0 and at most the interval's length {decimal(length)}, got "
                f"{decimal(moves)}: it is how far the number can move within the interval",
                "sensitivity",
            )
        if not self.epsilon > 0:
            raise InputError(f"epsilon must be > 0, got {decimal(self.epsilon)}: with 0 nothing can be told", "epsilon")
        if not self.loss.convex and self.loss.of_gap(moves / MAX_STEPS):
            raise InputError(
                f"loss must be convex, or 0 for small gaps, got {self.loss.name}",
                "loss",
                "take absolute, squared or step:h",
            )

    @property
    def rate(self) -> Fraction:
        """λ = ε/Δ, what each unit of distance is protected with."""
        return self.epsilon / self.sensitivity

    @cached_property
    def kappa(self) -> Fraction | None:
        """The loss's Lipschitz constant on the interval, rounded up where irrational; None where there is none."""
        return _rational_above(self.loss.lipschitz(self.interval))

    @cached_property
    def best(self) -> Fraction:
        """M: no prior makes the best private mechanism lose more than this."""
        return face_value(self.loss, self.interval, self.rate)


@dataclass(frozen=True, slots=True)
class GridPromise:
    """What one grid guarantees: `extra`, the least of what is known; None where nothing is.

    `rounding` is what rounding costs at most, `stretch` what noise for k·s instead of Δ does; `alone` is what the
    release loses at most, whatever the best mechanism loses. All are rounded up. `factor` is e^(ε/2k), for rows e^(λr).
    """

    step: Fraction
    size: int
    moves: int
    factor: Fraction | None
    rounding: Fraction | None
    stretch: Fraction | None
    alone: Fraction | None

    @property
    def extra(self) -> Fraction | None:
        """A − B is at most this, for every prior."""
        sum_bound = None if self.rounding is None or self.stretch is None else self.rounding + self.stretch
        return min((bound for bound in (sum_bound, self.alone) if bound is not None), default=None)

    def meets(self, extra: Fraction) -> bool:
        """Is no more than this lost in addition."""
        return self.extra is not None and self.extra <= extra


@dataclass(frozen=True, slots=True)
class GridAdvice:
    """The coarsest grid of its kind that meets the limit, and the next coarser one, which does not; None if none is."""

    promise: GridPromise
    coarser: GridPromise | None


def grid_promise(question: GridQuestion, step: Fraction) -> GridPromise:
    """What a grid of this step guarantees; the step need not divide the sensitivity.

    >>> from utmost.continuous.losses import absolute
    >>> question = GridQuestion(Interval(Fraction(0), Fraction(100)), Fraction(1, 10), Fraction(1), absolute)
    >>> promise = grid_promise(question, Fraction(1, 100))
    >>> promise.size, promise.moves, round(float(promise.extra), 6)
    (10000, 10, 0.005127)
    """
    size, moves = _steps(question, step), math.ceil(question.sensitivity / step)
    factor = _exp_above(question.epsilon / (2 * moves))
    in_order = question.loss.convex or not question.loss.of_gap(step)
    rounding = (factor - 1) * question.best if in_order else None
    return GridPromise(
        step,
        size,
        moves,
        factor,
        rounding,
        _stretch(question, step, factor),
        _release_loss_bound(question, step, moves),
    )


def _steps(question: GridQuestion, step: Fraction) -> int:
    """N, the steps that cover the interval."""
    length = question.interval.length
    if not 0 < step <= length:
        raise InputError(
            f"step must be > 0 and at most the interval's length {decimal(length)}, got {decimal(step)}", "step"
        )
    if length / step > MAX_STEPS:
        raise InputError(
            f"step must leave at most 10^12 steps in the interval, got {decimal(step)}", "step", "take a larger one"
        )
    return math.ceil(length / step)


def _stretch(question: GridQuestion, step: Fraction, factor: Fraction) -> Fraction | None:
    """e^(ε/2k)·6κ·(k·s − Δ)/ε."""
    excess = math.ceil(question.sensitivity / step) * step - question.sensitivity
    if not excess:
        return Fraction(0)
    return None if question.kappa is None else factor * STRETCH_FACTOR * question.kappa * excess / question.epsilon


def _release_loss_bound(question: GridQuestion, step: Fraction, sensitivity_steps: int) -> Fraction | None:
    """κ·(s/2 + s/sinh(ε/k)): half a step and the mean of the noise, 2α/(1 − α²) steps."""
    if question.kappa is None:
        return None
    with working_precision(BALL_BITS):
        noise = ball_endpoints(1 / ball(question.epsilon / sensitivity_steps, BALL_BITS).sinh())[1]
    return question.kappa * step * (Fraction(1, 2) + noise)


def rows_promise(question: GridQuestion, step: Fraction) -> GridPromise:
    """What a step that each row is rounded to guarantees for their mean: rows move it by `sensitivity` at most.

    >>> from utmost.continuous.losses import absolute
    >>> question = GridQuestion(Interval(Fraction(0), Fraction(100)), Fraction(1, 10), Fraction(1), absolute)
    >>> round(float(rows_promise(question, Fraction(1, 100)).extra), 6)
    0.015127
    """
    size, kappa, rounding_radius = _steps(question, step), question.kappa, step / 2
    if kappa is None:
        raise InputError(
            f"loss must be Lipschitz where rows are rounded, got {question.loss.name}", "loss", "take absolute"
        )
    factor = _exp_above(question.rate * rounding_radius) if question.rate * rounding_radius <= MAX_EXPONENT else None
    rounding = None if factor is None else (factor - 1) * question.best + 2 * kappa * rounding_radius
    return GridPromise(step, size, size, factor, rounding, Fraction(0), kappa * (rounding_radius + 1 / question.rate))


def coarsest_grid(question: GridQuestion, extra: Fraction) -> GridAdvice:
    """The coarsest grid with the sensitivity a whole number of steps that loses at most `extra` more than the best.

    Its step is Δ/m for the least m that does: what a grid loses falls with m. A step between Δ/(m+1) and Δ/m has
    noise for m + 1 of them, as the finer one has, which is further than the number moves.

    >>> from utmost.continuous.losses import absolute
    >>> question = GridQuestion(Interval(Fraction(0), Fraction(100)), Fraction(1, 10), Fraction(1), absolute)
    >>> coarsest_grid(question, Fraction(1, 100)).promise.size
    6000
    """
    return _coarsest_step(question, question.sensitivity, grid_promise, extra)


def coarsest_row_rounding(question: GridQuestion, extra: Fraction) -> GridAdvice:
    """The coarsest step to round rows to, both ends of the interval whole numbers of steps as in a plan."""
    return coarsest_mean_rounding(question, common_step(question.interval.low, question.interval.high), extra)


def coarsest_mean_rounding(question: GridQuestion, largest_step: Fraction, extra: Fraction) -> GridAdvice:
    """The largest s of L, L/2, L/3, … (L the largest step) with which rows that move the number by s/2 suffice."""
    return _coarsest_step(question, largest_step, rows_promise, extra)


def common_step(low: Fraction, high: Fraction) -> Fraction:
    """The largest step of which both are whole multiples.

    >>> common_step(Fraction(18), Fraction(93, 2)), common_step(Fraction(0), Fraction(5))
    (Fraction(3, 2), Fraction(5, 1))
    """
    denominator = low.denominator * high.denominator
    return Fraction(math.gcd(int(low * denominator), int(high * denominator)), denominator)


def _coarsest_step(
    question: GridQuestion,
    unit: Fraction,
    promise_for: Callable[[GridQuestion, Fraction], GridPromise],
    extra: Fraction,
) -> GridAdvice:
    """The least m with which the step unit/m meets the limit: doubled until it does, then halved."""
    if not extra > 0:
        raise InputError(f"extra loss must be > 0, got {decimal(extra)}: no grid is as good as the continuum for all")
    last = max(1, int(MAX_STEPS * unit / question.interval.length))
    low, high = 0, 1
    while high < last and not promise_for(question, unit / high).meets(extra):
        low, high = high, min(2 * high, last)
    promise = promise_for(question, unit / high)
    if not promise.meets(extra):
        attainable = "unknown" if promise.extra is None else decimal_above(promise.extra)
        raise InputError(
            f"extra loss must be one that 10^12 steps can guarantee, got {decimal(extra)}: with them it is {attainable}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if promise_for(question, unit / middle).meets(extra) else (middle, high)
    return GridAdvice(promise_for(question, unit / high), promise_for(question, unit / low) if low else None)


def face_value(loss: ContinuousLoss, interval: Interval, rate: Fraction) -> Fraction:
    """M: truncated Laplace read as it stands loses at most this on average, whatever the number; rounded up.

    The least of two bounds. κ times the mean distance, (1 − (e^(−λ(x−a)) + e^(−λ(b−x)))/2)/λ, which is largest in the
    middle: κ·(1 − e^(−λD/2))/λ, D = b − a. And the mean of the loss over |n| cut at D, cell by cell: by the chord of a
    convex loss, on which the noise has its mean at 1/h − 1/(e^h − 1) of a cell of width h/λ; else by the cell's end.
    For a loss that is linear on both sides that is a closed form.
    """
    length, kappa = interval.length, _rational_above(loss.lipschitz(interval))
    with working_precision(BALL_BITS):
        mass_bounds = [
            min(ball_endpoints(-ball(-rate * distance, BALL_BITS).expm1())[1], Fraction(1))
            for distance in (length / 2, length)
        ]
    half_mean, full_mean = (mass / rate for mass in mass_bounds)
    if loss.slopes is not None:
        under, over = loss.slopes
        return min(kappa * half_mean, (under + over) / 2 * full_mean) if kappa else Fraction(0)
    by_cells = _mean_by_cells(loss, length, rate)
    return by_cells if kappa is None else min(by_cells, kappa * half_mean)


def _mean_by_cells(loss: ContinuousLoss, length: Fraction, rate: Fraction) -> Fraction:
    """Σ over cells of Pr[|n| in it] times what the loss is there at most, and the tail at the largest loss.

    Cells are as wide as a power of 2, so that their ends are short numbers.
    """
    from flint import arb

    finest = Fraction(2) ** math.floor(-math.log2(CELLS_PER_SCALE * rate))
    with working_precision(BALL_BITS):
        total, start, tail_left, loss_left = arb(0), Fraction(0), arb(1), _symmetric_loss(loss, Fraction(0))
        while start < length and start * rate < MAX_SCALES:
            width = min(finest, length - start)
            exponent = ball(rate * width, BALL_BITS)
            share = 1 / exponent - 1 / exponent.expm1() if loss.convex else arb(1)
            loss_right, tail_right = _symmetric_loss(loss, start + width), tail_left * (-exponent).exp()
            total += (tail_left - tail_right) * (loss_left + share * (loss_right - loss_left))
            start, tail_left, loss_left = start + width, tail_right, loss_right
        return ball_endpoints(total + tail_left * _symmetric_loss(loss, length))[1]


def _symmetric_loss(loss: ContinuousLoss, gap: Fraction) -> arb:
    return (ball(loss.of_gap(gap), BALL_BITS) + ball(loss.of_gap(-gap), BALL_BITS)) / 2


def _exp_above(exponent: Fraction) -> Fraction:
    """e^exponent, rounded up."""
    with working_precision(BALL_BITS):
        return ball_endpoints(ball(exponent, BALL_BITS).exp())[1]


def _rational_above(value: Number | None) -> Fraction | None:
    """The number, rounded up where it is irrational."""
    return (
        None
        if value is None
        else ball_endpoints(ball(value, BALL_BITS))[1]
        if not isinstance(value, Fraction)
        else value
    )
