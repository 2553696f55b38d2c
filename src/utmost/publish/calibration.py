"""Find the least ε that meets a target for the error or the expected loss, before anything is spent.

Everything depends on the query, the unit and the relation between tables, as in `queries`; nothing on the
data. A result is the least ε of its digits: it meets the target, and one unit in the last digit less does not; both are
checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.consumer import losses, priors
from utmost.consumer.losses import Loss
from utmost.consumer.priors import Prior
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.errors import InputError
from utmost.exact import ball, decimal, integer, rational
from utmost.exact.privacy_levels import MAX_EPSILON
from utmost.exact.working_precision import working_precision
from utmost.noise.concentrated import check_conversion_delta
from utmost.publish import calibration_search
from utmost.publish.calibration_search import Calibration, decide_sign, least_epsilon_digits
from utmost.publish.pricing import CANONICAL, GAUSSIAN, GEOMETRIC
from utmost.publish.told_privacy import epsilon_at
from utmost.queries.answer_mechanisms.mechanism import AccuracyTarget, ConfidenceLaw
from utmost.queries.privacy_setting import PrivacySetting
from utmost.queries.query import Query

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Calibration", "calibrate_error", "calibrate_loss", "privacy_setting"]

DEFAULT_DIGITS = 6
LOSS_TARGET = "expected loss"
DECIDED_BY_BALLS = "certain: decided in interval arithmetic"
DECIDED_BY_DOUBLES = "decided in doubles, with a margin of 10^-11 for their rounding"
MIN_CONFIDENCE, MIN_MISS_PROBABILITY = Fraction(1, 10**6), Fraction(1, 10**15)
MAX_ERROR_STEPS = 10**18  # steps
PROBABILITY_MARGIN = 1e-11  # for sums of probabilities in doubles
MIN_EPSILON = 1e-12  # an epsilon that nobody can use
MAX_COUNT = priors.MAX_PRIOR_POINTS - 1


def privacy_setting(neighbours: object = "replace", kept: object = 1, units: int | None = None) -> PrivacySetting:
    """A release about rows, or about persons with `kept` rows each; `units` is how many there are, if public."""
    try:
        relation = NeighbourRelation(str(neighbours))
    except ValueError:
        raise InputError(
            f'neighbours must be replace or add-remove, got "{str(neighbours)[:40]}"', "neighbours"
        ) from None
    row_bound = integer(kept, "kept")
    unit = PrivacyUnit() if row_bound == 1 else PrivacyUnit("person", rows=row_bound)
    return PrivacySetting(relation, unit, None, units if relation is NeighbourRelation.REPLACE else None)


def calibrate_error(
    query: Query,
    setting: PrivacySetting,
    error: object,
    confidence: object = "0.95",
    *,
    digits: int = DEFAULT_DIGITS,
    together: bool = False,
    rows: object = None,
    noise: str = GEOMETRIC,
    delta: object = None,
) -> Calibration:
    """The least ε with which an answer is off by at most `error` with probability at least `confidence`.

    In the value's unit; a quantile's error is fewer than `error` rows on its wrong side. `together` asks it of all
    cells of a histogram at once. A mean of a secret number of rows takes `rows` for granted. With Gaussian noise it is
    the least ρ, and what that converts to at `delta` where one is given; with canonical noise the least ε at `delta`.
    """
    max_error, min_confidence = rational(error, "error"), rational(confidence, "confidence")
    if max_error < 0:
        raise InputError(f"error must be >= 0, got {decimal(max_error)}", "error")
    if not MIN_CONFIDENCE <= min_confidence <= 1 - MIN_MISS_PROBABILITY:
        raise InputError(
            f"confidence must be from 10^-6 to 1 - 10^-15, got {decimal(min_confidence)}: 0.95 is usual", "confidence"
        )
    query.check_error(max_error)
    mechanism = _select_mechanism(query, setting, noise, delta)
    if max_error > MAX_ERROR_STEPS * mechanism.value_unit:
        raise InputError("error must be at most 10^18 steps of the lattice, got more", "error", "ask for less")
    law = query.confidence_law(mechanism, AccuracyTarget(max_error, min_confidence, together, rows))
    if noise == CANONICAL:
        numbers = len(query.cells) if together and query.cells else 1
        target = AccuracyTarget(max_error, min_confidence, together, rows)
        law = mechanism.confidence_law_at(rational(delta, "delta"), target, numbers)
    if law.by_balls is not None:
        result = _calibrate_by_balls(law, law.by_balls, min_confidence, digits)
        if noise == CANONICAL:
            return replace(result, told_delta=rational(delta, "delta"))
        return result if noise == GEOMETRIC else _in_rho(result, delta)
    assert law.by_doubles is not None
    return _calibrate_by_doubles(law, law.by_doubles, min_confidence, digits)


def _select_mechanism(query: Query, setting: PrivacySetting, noise: str, delta: object) -> Any:
    """The mechanism of a query with this noise at a price of 1."""
    if noise == GEOMETRIC:
        if delta is not None:
            raise InputError("delta must be left out with geometric noise", "delta", "say --noise canonical")
        return query.select_mechanism(Fraction(1), setting).mechanism
    if noise not in (GAUSSIAN, CANONICAL):
        raise InputError(f'noise must be geometric, gaussian or canonical, got "{noise[:40]}"', "noise")
    if noise == GAUSSIAN:
        selection = query.select_gaussian(Fraction(1), setting)
    elif delta is None:
        raise InputError("delta is missing: canonical noise needs a δ", "delta", "say for instance --delta 1e-6")
    else:
        selection = query.select_canonical(Fraction(1), rational(delta, "delta"), setting)
    if selection is None:
        raise InputError(f"noise must be geometric for a {query.noun} here", "noise")
    return selection.mechanism


def _in_rho(calibration: Calibration, delta: object) -> Calibration:
    """A calibration of Gaussian noise, whose least price is a ρ."""
    if delta is None:
        return replace(calibration, measure="ρ")
    told_delta = check_conversion_delta(delta)
    told_epsilon = epsilon_at(calibration.epsilon, told_delta)
    return replace(calibration, measure="ρ", told_epsilon=told_epsilon, told_delta=told_delta)


def _calibrate_by_balls(
    law: ConfidenceLaw, confidence: Callable[[Fraction, int], arb], min_confidence: Fraction, digits: int
) -> Calibration:
    def meets_target(epsilon: Fraction) -> bool:
        return decide_sign(lambda bits: confidence(epsilon, bits) - ball(min_confidence, bits)) > 0

    def confidence_double(epsilon: Fraction) -> float:
        with working_precision(128):
            return float(confidence(epsilon, 128).mid())

    target = float(min_confidence)
    guess = law.guess
    if guess is None:
        guess = _find_crossing(lambda epsilon: target - confidence_double(Fraction(epsilon)))
    least_epsilon, below, digit_count = least_epsilon_digits(meets_target, guess, digits)
    return Calibration(
        law.target_text,
        min_confidence,
        least_epsilon,
        confidence_double(least_epsilon),
        below,
        confidence_double(below),
        digit_count,
        DECIDED_BY_BALLS,
        law.remark,
    )


def _calibrate_by_doubles(
    law: ConfidenceLaw, confidence: Callable[[float], float], min_confidence: Fraction, digits: int
) -> Calibration:
    target = float(min_confidence)

    def meets_target(epsilon: Fraction) -> bool | None:
        achieved = confidence(float(epsilon))
        if achieved - PROBABILITY_MARGIN >= target:
            return True
        return False if achieved + PROBABILITY_MARGIN < target else None

    guess = _find_crossing(lambda epsilon: target - confidence(epsilon)) if law.guess is None else law.guess
    least_epsilon, below, digit_count = least_epsilon_digits(meets_target, guess, digits)
    achieved, achieved_below = (confidence(float(epsilon)) for epsilon in (least_epsilon, below))
    return Calibration(
        law.target_text,
        min_confidence,
        least_epsilon,
        achieved,
        below,
        achieved_below,
        digit_count,
        DECIDED_BY_DOUBLES,
        law.remark,
    )


def _find_crossing(excess: Callable[[float], float]) -> float:
    """Where a function that falls from > 0 to ≤ 0 crosses 0: bracketed by doubling from 1, then refined."""
    from scipy.optimize import brentq

    low = high = 1.0
    while excess(high) > 0:
        low, high = high, 2 * high
        if low > MAX_EPSILON:
            raise InputError(
                f"the target must be met by an epsilon up to {MAX_EPSILON}, and is not", hint="ask for less"
            )
    while excess(low) <= 0:
        low, high = low / 2, low
        if high < MIN_EPSILON:
            raise InputError("the target must be further from what no answer at all gives", hint="ask for more")
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

    The loss does not rise with ε (`calibration_search`). At ε = 0 the reader has the prior alone; a target which that
    meets needs 0. Up to 300 counts with an exact prior both verdicts are certain; above, they are in doubles with a
    bound on their rounding, and where that hides the last digits fewer are given.
    """
    points, max_loss, count_sensitivity = (
        integer(size, "size") + 1,
        rational(target, "expected-loss"),
        integer(sensitivity, "sensitivity"),
    )
    if not 1 <= points <= priors.MAX_PRIOR_POINTS:
        raise InputError(f"size must be from 0 to {MAX_COUNT}, got {decimal(Fraction(points - 1))}", "size")
    if count_sensitivity < 1:
        raise InputError(f"sensitivity must be at least 1, got {count_sensitivity}", "sensitivity")
    count_prior = priors.parse(prior, points) if isinstance(prior, str) else prior
    count_loss = losses.parse(loss) if isinstance(loss, str) else loss
    if count_prior.size != points:
        raise InputError(
            f"prior must have {points} weights, one for each count from 0 to {points - 1}, got {count_prior.size}",
            "prior",
        )
    return _calibrate_expected_loss(
        calibration_search.loss_problem(count_prior, count_loss), max_loss, count_sensitivity, digits
    )


def _calibrate_expected_loss(
    problem: calibration_search.LossProblem, target: Fraction, sensitivity: int, digits: int
) -> Calibration:
    target_text, prior_loss, truth_loss = LOSS_TARGET, problem.loss_without_answer(), problem.loss_with_truth()
    if target >= prior_loss:
        return Calibration(target_text, target, Fraction(0), float(prior_loss), None, None, digits, problem.decided_by)
    if target <= truth_loss:
        requirement = f"expected-loss must be above {decimal(truth_loss)}, which only the true count itself gives"
        raise InputError(f"{requirement}, got {decimal(target)}", hint="ask for more")
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


def _loss_at_rate(problem: calibration_search.LossProblem, rate: Fraction) -> float:
    return problem.value(float(rate)) if rate else float(problem.loss_without_answer())
