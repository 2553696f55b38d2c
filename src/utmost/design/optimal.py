"""The best mechanism for a privacy type and a consumer, certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from utmost.channel import Matrix
from utmost.consumer import Consumer
from utmost.consumer.consumer import first_minimum
from utmost.design.certified_design import (
    CountBound,
    Design,
    DesignAttempt,
    FixedPointBound,
    FreeBound,
    PriceBound,
    ProgramBound,
    RoundedBound,
    certify_design,
    constant_design,
    extreme_level_design,
    finish_design,
    free_loss,
    rescale_design,
    simple_design,
)
from utmost.design.count_mechanism import remapped_channel, remapped_geometric
from utmost.design.fixed_point_counts import fixed_point_remap, fixed_point_rows
from utmost.design.interior_point import RELATIVE_GAP, Progress, check_search_memory, interior_point_search
from utmost.design.privacy_program import (
    Rate,
    check_problem,
    cost_bounds,
    has_irrational_costs,
    privacy_program,
    round_costs,
)
from utmost.exact import Level, Number, Real, alpha, ball_endpoints
from utmost.lp import certified_optimum
from utmost.mechanisms.space_channels import level_at, line_step
from utmost.spaces import Space, line

__all__ = ["Design", "by_program", "is_line", "optimal"]

MAX_EXACT_REAL_POINTS = 20  # points up to which irrational data are carried exactly; above, between rational ones
MAX_RELATIVE_GAP = Fraction(1, 10**10)  # of the loss: how far apart the bounds may be when the data are irrational
PRECISION_BITS = (56, 112, 224)  # bits tried for that
MAX_EXACT_CELLS = 8000  # generating pairs times readings up to which a rational program is solved exactly
MAX_BRACKET_CELLS = 600  # and up to which an irrational one is put between two rational ones
MAX_SLOW_CELLS = 12000  # and up to which either is tried when ε is so small that the interior point leaves a gap
MIN_DOUBLE_EXPONENT = 1e-3  # ε times the largest distance, above which doubles are precise enough
MAX_ACCEPTED_GAP = Fraction(
    1, 10**9
)  # of the loss: with a larger gap a program is solved again exactly, if it is small enough

AttemptFunction: TypeAlias = Callable[[Space, Rate, Matrix], DesignAttempt]


@dataclass(frozen=True, slots=True)
class RoundedLevel:
    """A level whose powers are rounded to rationals, all up (`side` 1: more private) or all down (0: less)."""

    level: Level
    bits: int
    side: int

    @property
    def alpha(self) -> Fraction:
        """α, rounded."""
        return self.power(1)

    def power(self, distance: Number | int) -> Fraction:
        """α^distance, rounded; up, it stays below 1."""
        if not distance:
            return Fraction(1)
        bits = self.bits
        while True:
            low, high = ball_endpoints(self.level.power_ball(distance, bits))
            if low > 0 and high < 1:
                return (low, high)[self.side]
            bits *= 2


def optimal(
    space: Space, level: Level, consumer: Consumer, progress: Progress | None = None, *, keep_best: bool = False
) -> Design:
    """The mechanism from the space to readings that minimises the consumer's expected loss, subject to privacy.

    On a line the remapped geometric mechanism is tried first; its certificate is closed in exact arithmetic (see
    `count_mechanism`), and it always closes for a loss that is monotone on each side of the truth (GRS12 Thm 3.2 for
    symmetric ones; docs/papers/grs12.md for all). What it does not close goes to the linear program. For more than 20
    counts with irrational data this is done in fixed point (see `fixed_point_counts`).
    With rational level, prior and loss the gap is 0 for up to 1200 unknowns and constraints at any level, and as a rule
    for up to thousands of them. Larger programs, and irrational ones, are solved by an interior point (see
    `interior_point`) and certified in integers; the gap is then below 10⁻⁹ of the loss, as a rule. `progress` is called
    with the bounds so far. Ctrl-C raises KeyboardInterrupt; with `keep_best` it ends the search, and the result is the
    best mechanism so far, certified, with `stopped` set.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.spaces import line
    >>> reader = Consumer(priors.parse("1/4,0,1/4,0,1/4,1/4", 6), losses.squared)
    >>> design = optimal(line(6), alpha("1/2"), reader)
    >>> design.loss, design.certificate.gap, design.private
    (Fraction(109, 64), Fraction(0, 1), True)
    """
    return find_design(space, level, consumer, best_attempt, progress, keep_best=keep_best)


def by_program(space: Space, level: Level, consumer: Consumer) -> Design:
    """`optimal`, by the rational linear program alone: a second road to the same loss."""
    return find_design(space, level, consumer, program_attempt)


def find_design(
    space: Space,
    level: Level,
    consumer: Consumer,
    attempt: AttemptFunction,
    progress: Progress | None = None,
    *,
    keep_best: bool = False,
) -> Design:
    """A design by one way of solving rational programs, or by `interior_point` where the way is to take the best."""
    check_problem(space, level, consumer)
    return _find_checked(space, level, consumer.in_order_of(space.labels), attempt, progress, keep_best=keep_best)


def _find_checked(
    space: Space,
    level: Level,
    consumer: Consumer,
    attempt: AttemptFunction,
    progress: Progress | None = None,
    *,
    keep_best: bool = False,
) -> Design:
    """`find_design`, for a consumer of as many secrets as the space has, in their order."""
    if not level.is_inner:
        return extreme_level_design(space, level, consumer.costs())
    step = line_step(space)
    if step is not None and step != 1 and len(space) > 1:
        level_per_step = level_at(level, step)
        counts = _find_checked(line(len(space)), level_per_step, consumer, attempt, progress, keep_best=keep_best)
        return rescale_design(counts, space, level)
    try:
        count = _fixed_point_design(space, level, consumer) if attempt is best_attempt else None
        if count is not None:
            return count
        if attempt is best_attempt and _is_wide(space, level, consumer):
            design = wide_design(space, level, consumer, progress, keep_best=keep_best)
            if _is_good_enough(design, space, level):
                return design
        return _small_design(space, level, consumer, attempt)
    except KeyboardInterrupt:
        if not keep_best:
            raise
        lower_costs, upper_costs = cost_bounds(consumer, PRECISION_BITS[0])
        bound = FreeBound(free_loss(lower_costs), lower_costs)
        return replace(simple_design(space, level, upper_costs, bound), stopped=True)


def _is_wide(space: Space, level: Level, consumer: Consumer) -> bool:
    """Is the program too large to be solved in fractions, and does no closed form solve it."""
    readings = consumer.loss.matrix(len(space)).shape[1]
    max_cells = MAX_BRACKET_CELLS if has_irrational_costs(space, level, consumer) else MAX_EXACT_CELLS
    if len(space.edge_array) * readings <= max_cells:
        return False
    if not is_line(space) or readings != len(space):
        return True
    return fixed_point_remap(level, cost_bounds(consumer, PRECISION_BITS[0])[0]) is None


def _fixed_point_design(space: Space, level: Level, consumer: Consumer) -> Design | None:
    """The remapped geometric mechanism of a count with irrational data, certified; None where it is not optimal.

    None too where the data are rational, or so few that they are carried exactly.
    """
    is_count = is_line(space) and consumer.loss.matrix(len(space)).shape[1] == len(space) > MAX_EXACT_REAL_POINTS
    if not is_count or not has_irrational_costs(space, level, consumer):
        return None
    lower_costs, upper_costs = cost_bounds(consumer, PRECISION_BITS[1])
    proof = fixed_point_remap(level, lower_costs)
    rows = None if proof is None else fixed_point_rows(level, proof.remap)
    if proof is None or rows is None:
        return None
    bound = FixedPointBound(sum(proof.multipliers, Fraction(0)), level, lower_costs, multipliers=proof.multipliers)
    design = certify_design(space, level, upper_costs, DesignAttempt(rows, bound, proof.remap))
    return None if design is None or design.certificate.gap > MAX_RELATIVE_GAP * design.loss else design


def wide_design(
    space: Space,
    level: Level,
    consumer: Consumer,
    progress: Progress | None = None,
    *,
    keep_best: bool = False,
    relative_gap: float = RELATIVE_GAP,
) -> Design:
    """The interior point's mechanism and multipliers, certified; one reading for all where that is as good."""
    double_costs = _double_costs(consumer)
    if double_costs.min(axis=1).sum() < double_costs.sum(axis=0).min():  # else one reading for all is best
        check_search_memory(space, double_costs)
    lower_costs, upper_costs = cost_bounds(consumer, PRECISION_BITS[-1])
    free_bound = FreeBound(free_loss(lower_costs), lower_costs)
    silent_loss = min(upper_costs.sum(axis=0))
    if free_bound.lower == silent_loss:
        return constant_design(space, level, upper_costs, free_bound)
    double_upper_costs = upper_costs.astype(float)
    search = interior_point_search(
        space, level, double_upper_costs, progress, keep_best=keep_best, relative_gap=relative_gap
    )
    u, prices = search.proof(space, level, lower_costs)
    bound = PriceBound(sum(u, Fraction(0)), space, level, lower_costs, multipliers=u, prices=prices)
    designs = (certify_design(space, level, upper_costs, DesignAttempt(rows, bound)) for rows in search.mechanisms())
    best = next((design for design in designs if design is not None), None)
    if best is None or best.loss >= silent_loss or search.interrupted:
        simple = (simple_design if search.interrupted else constant_design)(space, level, upper_costs, bound)
        best = simple if best is None else min(simple, best, key=lambda design: design.loss)
    return replace(best, stopped=search.interrupted)


def _double_costs(consumer: Consumer) -> npt.NDArray[np.float64]:
    """The costs in doubles: soon computed, to see what a problem needs before it is begun."""
    size = consumer.prior.size
    readings = consumer.loss.action_count(size)
    weights = np.array(consumer.prior.exact(), dtype=np.float64)
    return np.asarray(weights[:, None] * consumer.loss.array(np.arange(size)[:, None], np.arange(readings)[None, :]))


def _is_good_enough(design: Design, space: Space, level: Level) -> bool:
    """Do the bounds meet, or is there nothing else to try: only an ε too small for doubles is better served exactly."""
    bounds_meet = design.stopped or design.certificate.gap <= MAX_ACCEPTED_GAP * design.loss
    is_large = len(space.edge_array) * len(design.channel.outputs) > MAX_SLOW_CELLS
    return bounds_meet or is_large or level.epsilon * float(space.values[-1]) > MIN_DOUBLE_EXPONENT


def _small_design(space: Space, level: Level, consumer: Consumer, attempt: AttemptFunction) -> Design:
    costs = consumer.costs()
    is_count = is_line(space) and costs.shape[0] == costs.shape[1]
    keeps_reals = attempt is best_attempt and is_count and len(space) <= MAX_EXACT_REAL_POINTS
    if not keeps_reals and has_irrational_costs(space, level, consumer):
        return _bracket_by_rationals(space, level, costs, attempt)
    return finish_design(space, level, costs, attempt(space, level, costs))


def best_attempt(space: Space, level: Rate, costs: Matrix) -> DesignAttempt:
    """The remapped geometric mechanism where it is optimal, else the program."""
    if isinstance(level, Level) and is_line(space) and costs.shape[0] == costs.shape[1]:
        remapped = remapped_geometric(level, costs)
        if remapped.objection is None:
            bound = CountBound(remapped.loss, level.alpha, costs, multipliers=remapped.multipliers)
            return DesignAttempt(remapped_channel(level, remapped.remap).rows, bound, remapped.remap)
        if any(isinstance(c, Real) for c in (level.alpha, *costs.flat)):
            return _irrational_program(space, level, costs)
    return program_attempt(space, level, costs)


def program_attempt(space: Space, level: Rate, costs: Matrix) -> DesignAttempt:
    """The linear program's certified optimum, or the best it has; rational data.

    No bound is worse than the trivial ones: the loss without any answer, and the loss without privacy.
    """
    certificate = certified_optimum(privacy_program(space, level, costs))
    bounds = (
        ProgramBound(certificate.lower, space, level, costs, certificate.proof.y),
        FreeBound(free_loss(costs), costs),
    )
    totals = costs.sum(axis=0)
    if certificate.upper > min(totals):
        rows = np.full(costs.shape, Fraction(0), dtype=object)
        rows[:, first_minimum(totals)] = Fraction(1)
    else:
        rows = np.array(certificate.proof.x, dtype=object).reshape(costs.shape)
    return DesignAttempt(rows, max(bounds, key=lambda bound: bound.lower))


def _irrational_program(space: Space, level: Level, costs: Matrix) -> DesignAttempt:
    design = _bracket_by_rationals(space, level, costs, program_attempt)
    return DesignAttempt(design.channel.rows, design.certificate.proof.bound)


def is_line(space: Space) -> bool:
    """Is it the line of counts."""
    return line_step(space) == 1


def _bracket_by_rationals(space: Space, level: Level, costs: Matrix, attempt: AttemptFunction) -> Design:
    """Bounds for irrational data from rational ones.

    A larger α is more private and a smaller one less, so the optimum at α lies between those at α⁻ ≤ α ≤ α⁺, and
    likewise for costs. The mechanism returned is the one for α⁺: rational, and private at α; its loss is rounded up.
    Where more bits do not bring the bounds together, the best of these mechanisms is returned with its gap.
    """
    designs: list[Design] = []
    for bits in PRECISION_BITS:
        lower_rate, upper_rate = (_rounded_rate(space, RoundedLevel(level, bits, side)) for side in (0, 1))
        lower_costs, upper_costs = (round_costs(costs, bits, side) for side in (0, 1))
        best = attempt(space, upper_rate, upper_costs)
        below = attempt(space, lower_rate, lower_costs).bound
        bound = RoundedBound(below.lower, below, space, level, lower_rate)
        designs.append(finish_design(space, level, upper_costs, DesignAttempt(best.rows, bound, best.remap)))
        if designs[-1].certificate.gap <= MAX_RELATIVE_GAP * designs[-1].loss:
            break
    return min(designs, key=lambda design: design.certificate.gap)


def _rounded_rate(space: Space, rounded: RoundedLevel) -> Rate:
    """On a line one rational α is enough, and lets the geometric mechanism be tried; elsewhere powers are rounded."""
    return alpha(rounded.alpha) if is_line(space) else rounded
