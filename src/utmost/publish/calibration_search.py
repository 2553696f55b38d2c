"""The search behind calibration: the least ε that meets a target, and certified bounds on a loss.

Certified bounds on the expected loss of a reader of a count with geometric noise.

It does not rise with ε: noise of a larger α is noise of a smaller one and further independent noise. With
g_α(z) = (1−α)²/((1−αz)(1−α/z)), the generating function of two-sided geometric noise, and α ≤ β,

    g_β(z)/g_α(z) = ((1−β)/(1−α))²·(α/β + (1−αβ)(1−α/β)/((1−βz)(1−β/z))),

which has coefficients ≥ 0: a mixture of no noise and noise of β. And cutting at 0 and n loses nothing for counts in
between (`reading.number_readings`). So the answer of β is a post-processing of that of α, whatever the loss. ∎
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from utmost.consumer import Consumer, counts, priors
from utmost.consumer.counts import reading_rules
from utmost.consumer.counts.posteriors import posterior_sums
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.errors import InputError, UndecidedError
from utmost.exact import Number, ball, ball_endpoints, decimal, exponential
from utmost.exact.privacy_levels import MAX_EPSILON
from utmost.exact.working_precision import working_precision
from utmost.notebook import report_html

if TYPE_CHECKING:
    from flint import arb, arb_mat

BALL_PRECISIONS = (64, 128, 256, 512, 1024, 4096)  # bits
MAX_DIGITS = 12
MAX_GUESS_STEPS = 1000  # units in the last digit that a first guess may be off

Verdict = Callable[[Fraction], bool | None]


@dataclass(frozen=True, slots=True, repr=False)
class Calibration:
    """The least ε of `digits` digits that meets a target: it does, and one unit in its last digit less does not.

    `achieved` is what ε comes to (a confidence, or an expected loss), `below` the ε one unit less and `achieved_below`
    what that comes to; both are None where ε is 0. `decided_by` says which arithmetic decided both, `remark` what else
    the number rests on. With Gaussian noise `measure` is ρ, which stands in the place of ε, and `told_epsilon` is what
    it converts to at `told_delta`, if that was asked for. With canonical noise `told_delta` is the δ beside ε.
    """

    what: str
    target: Fraction
    epsilon: Fraction
    achieved: float
    below: Fraction | None
    achieved_below: float | None
    digits: int
    decided_by: str
    remark: str = ""
    measure: str = "ε"
    told_epsilon: Fraction | None = None
    told_delta: Fraction | None = None

    @property
    def text(self) -> str:
        """ε as a decimal, exact."""
        return exact_decimal(self.epsilon)

    def __repr__(self) -> str:
        """The least ε, and what it comes to beside the target."""
        target = f"{decimal(self.achieved)} where {decimal(self.target)} is asked"
        return f"<Calibration: {self.measure} {self.text}, {self.what}: {target}>"

    def _repr_html_(self) -> str:
        return report_html(self, "calibration", "describe_result")


def exact_decimal(value: Fraction) -> str:
    """A finite decimal, exact.

    >>> exact_decimal(Fraction(532043, 10**6)), exact_decimal(Fraction(3)), exact_decimal(Fraction(1, 10**7))
    ('0.532043', '3', '0.0000001')
    """
    decimals = 0
    while value.denominator > 1 and (10**decimals) % value.denominator:
        decimals += 1
    return format(Decimal(int(value * 10**decimals)).scaleb(-decimals), "f")


def least_epsilon_digits(verdict: Verdict, guess: float, digits: int) -> tuple[Fraction, Fraction, int]:
    """(ε, ε − u, d): the multiple ε of u = one unit in the d-th digit with verdict True, and False one unit less.

    `verdict` is True from some ε on; None where the arithmetic at hand cannot tell, and then fewer digits are tried.
    `guess` is about where it turns.
    """
    if not 1 <= digits <= MAX_DIGITS:
        raise InputError(f"digits must be from 1 to {MAX_DIGITS}, got {digits}", "digits")
    if not 0 < guess <= MAX_EPSILON:
        raise InputError(f"the target must be met by an epsilon up to {MAX_EPSILON}, and is not", hint="ask for less")
    for digit_count in range(digits, 0, -1):
        unit = Fraction(10) ** (math.floor(math.log10(guess)) - digit_count + 1)
        multiple = _find_turn(verdict, math.ceil(Fraction(guess) / unit), unit)
        if multiple is not None:
            return multiple * unit, (multiple - 1) * unit, digit_count
    raise UndecidedError("no digit of epsilon could be certified at this size: take a smaller one")


def _find_turn(verdict: Verdict, start: int, unit: Fraction) -> int | None:
    """The k near `start` with verdict(k·unit) True and verdict((k−1)·unit) False; at 0 nothing is asked: it fails."""
    k, last = max(start, 1), max(start, 1) + MAX_GUESS_STEPS
    while (meets_target := verdict(k * unit)) is False and k < last:
        k += 1
    while meets_target and k > 1:
        meets_target = verdict((k - 1) * unit)
        if meets_target is False:
            return k
        k -= 1
    return k if meets_target else None


def decide_sign(value: Callable[[int], arb]) -> int:
    """The sign of a number ≠ 0 whose balls can be had at any number of bits.

    A polynomial in e^q with rational coefficients is 0 at no rational q ≠ 0 unless it is 0 everywhere (Lindemann), so
    some precision decides.
    """
    for bits in BALL_PRECISIONS:
        with working_precision(bits):
            ball = value(bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
    raise UndecidedError(f"a target is too close to what is reached for {BALL_PRECISIONS[-1]} bits to decide")


MAX_BALL_COUNTS = 300  # counts up to which balls are used
LOSS_PRECISIONS = (128, 256, 512)  # bits
SEARCH_RELATIVE_GAP = 2.0**-40  # of itself that a searched loss may leave out
MAX_LOG_DEPTH = 690.0  # logarithms below the largest weight that doubles still hold
MASS_ERROR_FACTOR = 8  # relative errors of a mass that an expected loss may have
BY_INTERVAL_ARITHMETIC = "certain: decided in interval arithmetic"
BY_DOUBLES = "decided in doubles, with a bound on their rounding"


@dataclass(frozen=True, slots=True)
class LossProblem:
    """A reader's prior and loss; `costs[w][x]` = π_x·ℓ(x, w) where they are exact and few, else None.

    `left_out` is what the counts may have cost, at most, that the prior was cut by.
    """

    prior: Prior
    loss: Loss
    costs: tuple[tuple[Number, ...], ...] | None
    left_out: float = 0.0

    @property
    def decided_by(self) -> str:
        """The arithmetic that decides."""
        return BY_DOUBLES if self.costs is None else BY_INTERVAL_ARITHMETIC

    def loss_without_answer(self) -> Fraction | float:
        """The least expected loss without any answer: min_w Σ_x π_x·ℓ(x, w)."""
        if self.costs is not None:
            return min(_sum_bound(row) for row in self.costs)
        return reading_rules.best_reading(np.exp(self.prior.logs()), self.loss)[1]

    def loss_with_truth(self) -> Fraction | float:
        """The least expected loss where the count itself is known: Σ_x π_x·min_w ℓ(x, w)."""
        if self.costs is not None:
            return _sum_bound([min(column) for column in zip(*self.costs, strict=True)])
        if self.loss.by_error:
            return 0.0
        counts = np.arange(self.prior.size)
        return float(np.exp(self.prior.logs()) @ self.loss.array(counts[:, None], counts[None, :]).min(axis=1))

    def meets(self, rate: Fraction, target: Fraction) -> bool | None:
        """Is the expected loss at α = e^−rate at most the target; None where the arithmetic cannot tell."""
        if self.costs is None:
            low, high = bound_loss_by_doubles(self.prior, self.loss, float(rate))
            return _compare_bounds(low - self.left_out, high + self.left_out, target)
        verdicts = (_compare_bounds(*bound_loss_by_balls(self.costs, rate, bits), target) for bits in LOSS_PRECISIONS)
        return next((verdict for verdict in verdicts if verdict is not None), None)

    def value(self, rate: float) -> float:
        """The expected loss as a double."""
        return counts.readings(self.prior, rate, self.loss).expected_loss


def loss_problem(prior: Prior, loss: Loss) -> LossProblem:
    """The expected loss of this reader, by balls up to 300 counts where prior and loss are exact."""
    loss.check(prior.size)
    try:
        costs = Consumer(prior, loss).costs().T if prior.size <= MAX_BALL_COUNTS else None
    except InputError:  # a prior that is not exact at this size
        costs = None
    if costs is None or costs.dtype != object:
        return _trim_prior(prior, loss)
    return LossProblem(prior, loss, tuple(tuple(row) for row in costs))


def _trim_prior(prior: Prior, loss: Loss) -> LossProblem:
    """Without the far tails of the prior, which cost next to nothing but rounding: the reader's range is narrower.

    What is left out has a mass of e^−60 over the largest loss and the number of counts, or less; it is counted twice,
    once for itself and once for the weights that the others gain.
    """
    if not loss.by_error:
        return LossProblem(prior, loss, None)
    logs, last = prior.logs(), prior.size - 1
    max_loss = max(float(loss.array(0, last)), float(loss.array(last, 0)), 1.0)
    kept_counts = np.flatnonzero(logs >= float(logs.max()) - min(60 + math.log(max_loss * prior.size), MAX_LOG_DEPTH))
    first, end = int(kept_counts[0]), int(kept_counts[-1]) + 1
    left_out_mass = float(np.exp(logs[:first]).sum() + np.exp(logs[end:]).sum())
    trimmed_prior = priors.Floating(tuple(np.exp(logs[first:end]).tolist()))
    return LossProblem(trimmed_prior, loss, None, 2 * left_out_mass * max_loss)


def _sum_bound(terms: Sequence[Number]) -> Fraction:
    """Their sum, exact; of irrational ones the upper end of a ball of 512 bits."""
    rational = [term for term in terms if isinstance(term, Fraction)]
    if len(rational) == len(terms):
        return sum(rational, Fraction(0))
    from flint import arb

    with working_precision(LOSS_PRECISIONS[-1]):
        return ball_endpoints(sum((ball(term, LOSS_PRECISIONS[-1]) for term in terms), arb(0)))[1]


def _compare_bounds(low: Fraction | float, high: Fraction | float, target: Fraction) -> bool | None:
    return True if high <= target else False if low > target else None


def bound_loss_by_balls(costs: Sequence[Sequence[Number]], rate: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Σ_y κ_y·min_w Σ_x c[w][x]·α^|x−y| at α = e^−rate: all terms are ≥ 0, so the balls stay narrow."""
    from flint import arb_mat

    size = len(costs)
    with working_precision(bits):
        alpha = ball(exponential(-rate), bits)
        scores = arb_mat([[ball(cost, bits) for cost in row] for row in costs]) * _power_matrix(alpha, size)
        minima = [_ball_minimum([scores[w, y] for w in range(size)]) for y in range(size)]
        inner = sum(minima[1:-1], alpha * 0) * (1 - alpha)
        return ball_endpoints((inner + minima[0] + minima[-1]) / (1 + alpha) if size > 1 else minima[0])


def _power_matrix(alpha: arb, size: int) -> arb_mat:
    """α^|x−y|."""
    from flint import arb_mat

    powers = [alpha**k for k in range(size)]
    return arb_mat([[powers[abs(x - y)] for y in range(size)] for x in range(size)])


def _ball_minimum(values: list[arb]) -> arb:
    minimum = values[0]
    for value in values[1:]:
        minimum = minimum.min(value)
    return minimum


def bound_loss_by_doubles(prior: Prior, loss: Loss, rate: float) -> tuple[float, float]:
    """The expected loss that the kernel finds, less and plus 8 of its `relative_error_bound`s of a mass.

    A loss given y is a sum of terms ≥ 0, or a difference of such sums that are at most the loss itself and the loss of
    the distance between y and its reading; both count for the error. A searched loss leaves out 2^−40 of itself more.
    """
    readings = counts.readings(prior, rate, loss)
    answers = np.arange(prior.size)
    magnitude = readings.losses + loss.array(answers, readings.remap) + loss.array(readings.remap, answers)
    error = (
        MASS_ERROR_FACTOR
        * posterior_sums(prior.logs(), rate).relative_error_bound
        * float(np.exp(readings.evidence) @ magnitude)
    )
    if loss.closed_form is None:
        error += SEARCH_RELATIVE_GAP * readings.expected_loss
    return readings.expected_loss - error, readings.expected_loss + error
