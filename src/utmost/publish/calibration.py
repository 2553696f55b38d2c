"""Find the least ε that meets a target for the error or the expected loss, before anything is spent.

Everything depends on the query, the unit and the relation between tables, as in `mechanism_selection`; nothing on the
data. A result is the least ε of its digits: it meets the target, and one unit in the last digit less does not; both are
checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from utmost.consumer import losses, priors
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.data.queries import Histogram, Mean, NeighbourRelation, PrivacyUnit, Quantile, Query
from utmost.errors import InputError
from utmost.exact import ball, decimal, integer, rational
from utmost.exact.levels import MAX_EPSILON
from utmost.exact.working_precision import working_precision
from utmost.publish import certified_loss, mechanism_selection
from utmost.publish.epsilon_search import Calibration, decide_sign, least_epsilon_digits
from utmost.publish.reading.reader import Floats
from utmost.publish.release_model import ChoiceMechanism, LatticeMechanism, Mechanism, RatioMechanism

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Calibration", "calibrate_error", "calibrate_loss", "privacy_setting"]

DEFAULT_DIGITS = 6
LOSS_TARGET = "expected loss"
DECIDED_BY_BALLS = "certain: decided in interval arithmetic"
DECIDED_BY_DOUBLES = "decided in doubles, with a margin of 10^-11 for their rounding"
WORST_MEAN_REMARK = (
    "asked of a mean at an end of the grid, where the error is largest, with noise on the number of rows too"
)
QUANTILE_BOUND_REMARK = "what is shown is the bound that holds for every table, 1 - candidates·exp(-rate·t)"
MIN_CONFIDENCE, MIN_MISS_PROBABILITY = Fraction(1, 10**6), Fraction(1, 10**15)
MAX_ERROR_STEPS = 10**18  # steps
PROBABILITY_MARGIN = 1e-11  # for sums of probabilities in doubles
MAX_NOISE_SCALES = 45.0  # 1/ε of noise beyond which nothing is summed: e^-45 is 3e-20
MAX_SUM_TERMS = 2 * 10**6
MIN_EPSILON = 1e-12  # an epsilon that nobody can use
MAX_COUNT = priors.MAX_PRIOR_POINTS - 1


def privacy_setting(
    neighbours: object = "replace", kept: object = 1, units: int | None = None
) -> mechanism_selection.PrivacySetting:
    """A release about rows, or about persons with `kept` rows each; `units` is how many there are, if public."""
    try:
        relation = NeighbourRelation(str(neighbours))
    except ValueError:
        raise InputError(f'neighbours must be replace or add-remove, got "{str(neighbours)[:40]}"') from None
    row_bound = integer(kept, "kept")
    unit = PrivacyUnit() if row_bound == 1 else PrivacyUnit("person", rows=row_bound)
    return mechanism_selection.PrivacySetting(
        relation, unit, None, units if relation is NeighbourRelation.REPLACE else None
    )


def calibrate_error(
    query: Query,
    setting: mechanism_selection.PrivacySetting,
    error: object,
    confidence: object = "0.95",
    *,
    digits: int = DEFAULT_DIGITS,
    together: bool = False,
    rows: object = None,
) -> Calibration:
    """The least ε with which an answer is off by at most `error` with probability at least `confidence`.

    In the value's unit; a quantile's error is fewer than `error` rows on its wrong side. `together` asks it of all
    cells of a histogram at once. A mean of a secret number of rows takes `rows` for granted.
    """
    max_error, min_confidence = rational(error, "error"), rational(confidence, "confidence")
    if max_error < 0:
        raise InputError(f"error must be >= 0, got {decimal(max_error)}")
    if not MIN_CONFIDENCE <= min_confidence <= 1 - MIN_MISS_PROBABILITY:
        raise InputError(f"confidence must be from 10^-6 to 1 - 10^-15, got {decimal(min_confidence)}: 0.95 is usual")
    if isinstance(query, Mean) and max_error >= query.grid.high - query.grid.low:
        raise InputError(
            f"error must be below {query.grid.high - query.grid.low}, how far apart the bounds are, got {max_error}"
        )
    mechanism = mechanism_selection.select_mechanism(query, Fraction(1), setting).mechanism
    if max_error > MAX_ERROR_STEPS * _value_unit(mechanism):
        raise InputError("error must be at most 10^18 steps of the lattice, got more: ask for less")
    if isinstance(mechanism, LatticeMechanism):
        return _calibrate_lattice(
            mechanism,
            max_error,
            min_confidence,
            len(query.cells) if together and isinstance(query, Histogram) else 1,
            digits,
        )
    if isinstance(mechanism, ChoiceMechanism):
        assert isinstance(query, Quantile)
        return _calibrate_quantile(mechanism, max_error, query.probability.denominator, min_confidence, digits)
    assert isinstance(query, Mean)
    return _calibrate_ratio(
        NoisyMean(mechanism, query.grid.size, _parse_rows(rows), max_error / mechanism.total.unit),
        min_confidence,
        digits,
    )


def _value_unit(mechanism: Mechanism) -> Fraction:
    return (
        mechanism.unit
        if isinstance(mechanism, LatticeMechanism)
        else mechanism.total.unit
        if isinstance(mechanism, RatioMechanism)
        else Fraction(1)
    )


def _parse_rows(rows: object) -> int:
    if rows is None:
        raise InputError("rows must be given for a mean of a secret number of rows: say about how many there will be")
    row_count = integer(rows, "rows")
    if not 1 <= row_count <= 10**12:
        raise InputError(f"rows must be from 1 to 10^12, got {decimal(Fraction(row_count))}")
    return row_count


def _calibrate_lattice(
    mechanism: LatticeMechanism, error: Fraction, min_confidence: Fraction, cells: int, digits: int
) -> Calibration:
    """Pr[|Δ| > t] = 2α^(t+1)/(1+α) with α = e^(−ε·rate), rate = 1/sensitivity; independent for each of the cells.

    An end that absorbs only brings an answer nearer to a truth within the ends.
    """
    max_steps = math.floor(error / mechanism.unit)

    def confidence(epsilon: Fraction, bits: int) -> arb:
        alpha, tail = (ball(-epsilon * mechanism.epsilon * steps, bits).exp() for steps in (1, max_steps + 1))
        return (1 - 2 * tail / (1 + alpha)) ** cells

    miss_probability = -math.expm1(math.log(float(min_confidence)) / cells) if cells > 1 else float(1 - min_confidence)
    guess = _rate_for_miss(max_steps, miss_probability) / float(mechanism.epsilon)
    target_text = f"off by at most {decimal(error)}" + (f", all {cells} of them at once," if cells > 1 else "")
    return _calibrate_by_balls(confidence, target_text, min_confidence, guess, digits)


def _rate_for_miss(max_steps: int, miss_probability: float) -> float:
    """The rate with 2α^(t+1)/(1+α) = miss, α = e^−rate: bisected on the logarithms, which fall as the rate grows."""
    low, high = 0.0, (math.log(2) - math.log(miss_probability)) / (max_steps + 1)
    for _ in range(200):
        middle = (low + high) / 2
        above = math.log(2) - middle * (max_steps + 1) - math.log1p(math.exp(-middle)) > math.log(miss_probability)
        low, high = (middle, high) if above else (low, middle)
    return high


def _calibrate_by_balls(
    confidence: Callable[[Fraction, int], arb],
    target_text: str,
    min_confidence: Fraction,
    guess: float,
    digits: int,
    remark: str = "",
) -> Calibration:
    def meets_target(epsilon: Fraction) -> bool:
        return decide_sign(lambda bits: confidence(epsilon, bits) - ball(min_confidence, bits)) > 0

    def confidence_double(epsilon: Fraction) -> float:
        with working_precision(128):
            return float(confidence(epsilon, 128).mid())

    least_epsilon, below, digit_count = least_epsilon_digits(meets_target, guess, digits)
    return Calibration(
        target_text,
        min_confidence,
        least_epsilon,
        confidence_double(least_epsilon),
        below,
        confidence_double(below),
        digit_count,
        DECIDED_BY_BALLS,
        remark,
    )


def _calibrate_quantile(
    mechanism: ChoiceMechanism, rows: Fraction, loss_per_row: int, min_confidence: Fraction, digits: int
) -> Calibration:
    """Pr[loss ≥ t] ≤ candidates·e^(−rate·t), since some candidate has loss 0: the least ε for which this is enough."""
    loss = rows * loss_per_row
    if not loss:
        raise InputError("error must be > 0 for a quantile: it is drawn, and may be a row off")

    def confidence(epsilon: Fraction, bits: int) -> arb:
        return 1 - mechanism.candidates * ball(-epsilon * mechanism.rate * loss, bits).exp()

    guess = (math.log(mechanism.candidates) - math.log(float(1 - min_confidence))) / float(mechanism.rate * loss)
    return _calibrate_by_balls(
        confidence, f"fewer than {decimal(rows)} rows of rank off", min_confidence, guess, digits, QUANTILE_BOUND_REMARK
    )


@dataclass(frozen=True, slots=True)
class NoisyMean:
    """A mean of `rows` rows from a noisy total and a noisy number of rows, on a grid of `steps`; rates are for ε = 1.

    The ratio is off by at most `error` (in units of the total a row) exactly when |Δ_T − μΔ_R| ≤ error·(rows + Δ_R),
    μ the true mean. For each Δ_R that is the likelier the smaller |μ| is, since Δ_T is symmetric and falls away from 0;
    so it is asked of a mean at an end of the grid, |μ| = N. That the mean is brought back to the grid is left out: it
    only helps. A release without rows counts as a miss.
    """

    law: RatioMechanism
    steps: int
    rows: int
    error: Fraction

    def confidence(self, epsilon: float) -> float:
        """Σ_d Pr[Δ_R = d]·Pr[|Δ_T − N·d| ≤ error·(rows + d)] over the d that matter."""
        rows_rate, total_rate = epsilon * float(self.law.rows.epsilon), epsilon * float(self.law.total.epsilon)
        max_row_noise = math.ceil(MAX_NOISE_SCALES / rows_rate)
        if max_row_noise > MAX_SUM_TERMS:
            raise InputError("error must be so small that it needs an epsilon above 0.0001, and is not: ask for less")
        row_noise = np.arange(max(-max_row_noise, 1 - self.rows), max_row_noise + 1, dtype=np.float64)
        centre, half = self.steps * row_noise, float(self.error) * (self.rows + row_noise)
        inside = _noise_distribution(np.floor(centre + half), total_rate) - _noise_distribution(
            np.ceil(centre - half) - 1, total_rate
        )
        weights = math.tanh(rows_rate / 2) * np.exp(-rows_rate * np.abs(row_noise))
        return float(weights @ np.maximum(inside, 0))


def _noise_distribution(value: Floats, rate: float) -> Floats:
    """Pr[Δ ≤ value]: α^(−value)/(1+α) below 0, 1 − α^(value+1)/(1+α) from 0 on."""
    tail = np.exp(-rate * np.where(value < 0, -value, value + 1)) / (1 + math.exp(-rate))
    return np.asarray(np.where(value < 0, tail, 1 - tail))


def _calibrate_ratio(noisy_mean: NoisyMean, min_confidence: Fraction, digits: int) -> Calibration:
    if not noisy_mean.error:
        raise InputError("error must be > 0 for a mean of a secret number of rows")
    target = float(min_confidence)

    def meets_target(epsilon: Fraction) -> bool | None:
        achieved = noisy_mean.confidence(float(epsilon))
        return (
            True
            if achieved - PROBABILITY_MARGIN >= target
            else False
            if achieved + PROBABILITY_MARGIN < target
            else None
        )

    guess = _find_crossing(lambda epsilon: target - noisy_mean.confidence(epsilon))
    least_epsilon, below, digit_count = least_epsilon_digits(meets_target, guess, digits)
    achieved, achieved_below = (noisy_mean.confidence(float(epsilon)) for epsilon in (least_epsilon, below))
    target_text = f"off by at most {decimal(noisy_mean.error * noisy_mean.law.total.unit)}"
    return Calibration(
        target_text,
        min_confidence,
        least_epsilon,
        achieved,
        below,
        achieved_below,
        digit_count,
        DECIDED_BY_DOUBLES,
        WORST_MEAN_REMARK,
    )


def _find_crossing(excess: Callable[[float], float]) -> float:
    """Where a function that falls from > 0 to ≤ 0 crosses 0: bracketed by doubling from 1, then refined."""
    from scipy.optimize import brentq

    low = high = 1.0
    while excess(high) > 0:
        low, high = high, 2 * high
        if low > MAX_EPSILON:
            raise InputError(f"the target must be met by an epsilon up to {MAX_EPSILON}, and is not: ask for less")
    while excess(low) <= 0:
        low, high = low / 2, low
        if high < MIN_EPSILON:
            raise InputError("the target must be further from what no answer at all gives: ask for more")
    return math.exp(brentq(lambda log: excess(math.exp(log)), math.log(low), math.log(high), xtol=1e-15, rtol=1e-14))


def calibrate_loss(
    size: object,
    target: object,
    prior: Prior | str = "uniform",
    loss: Loss | str = "absolute",
    *,
    sensitivity: object = 1,
    digits: int = DEFAULT_DIGITS,
) -> Calibration:
    """The least ε with which a reader of a count from 0 to `size` has at most this expected loss, under the best remap.

    The loss does not rise with ε (`certified_loss`). At ε = 0 the reader has the prior alone; a target which that meets
    needs 0. Up to 300 counts with an exact prior both verdicts are certain; above, they are in doubles with a bound on
    their rounding, and where that hides the last digits fewer are given.
    """
    points, max_loss, count_sensitivity = (
        integer(size, "size") + 1,
        rational(target, "expected-loss"),
        integer(sensitivity, "sensitivity"),
    )
    if not 1 <= points <= priors.MAX_PRIOR_POINTS:
        raise InputError(f"size must be from 0 to {MAX_COUNT}, got {decimal(Fraction(points - 1))}")
    if count_sensitivity < 1:
        raise InputError(f"sensitivity must be at least 1, got {count_sensitivity}")
    count_prior = priors.parse(prior, points) if isinstance(prior, str) else prior
    count_loss = losses.parse(loss) if isinstance(loss, str) else loss
    if count_prior.size != points:
        raise InputError(
            f"prior must have {points} weights, one for each count from 0 to {points - 1}, got {count_prior.size}"
        )
    return _calibrate_expected_loss(
        certified_loss.loss_problem(count_prior, count_loss), max_loss, count_sensitivity, digits
    )


def _calibrate_expected_loss(
    problem: certified_loss.LossProblem, target: Fraction, sensitivity: int, digits: int
) -> Calibration:
    target_text, prior_loss, truth_loss = LOSS_TARGET, problem.loss_without_answer(), problem.loss_with_truth()
    if target >= prior_loss:
        return Calibration(target_text, target, Fraction(0), float(prior_loss), None, None, digits, problem.decided_by)
    if target <= truth_loss:
        requirement = f"expected-loss must be above {decimal(truth_loss)}, which only the true count itself gives"
        raise InputError(f"{requirement}, got {decimal(target)}: ask for more")
    guess = _find_crossing(lambda rate: problem.value(rate) - float(target)) * sensitivity
    least_epsilon, below, digit_count = least_epsilon_digits(
        lambda epsilon: problem.meets(epsilon / sensitivity, target), guess, digits
    )
    achieved, achieved_below = (
        problem.value(float(least_epsilon / sensitivity)),
        _loss_at_rate(problem, below / sensitivity),
    )
    return Calibration(
        target_text, target, least_epsilon, achieved, below, achieved_below, digit_count, problem.decided_by
    )


def _loss_at_rate(problem: certified_loss.LossProblem, rate: Fraction) -> float:
    return problem.value(float(rate)) if rate else float(problem.loss_without_answer())
