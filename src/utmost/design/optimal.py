"""The best mechanism for a privacy type and a consumer, certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Matrix
from utmost.consumer import Consumer
from utmost.design.cost_matrix import check_problem, cost_bounds, has_irrational_costs, round_costs
from utmost.design.count_mechanism import remapped_channel, remapped_geometric
from utmost.design.design import (
    Certificate,
    Design,
    DesignAttempt,
    constant_design,
    design_if_certified,
    extreme_level_design,
    finish_design,
    rescale_design,
    simple_design,
)
from utmost.design.interior_point import Progress, interior_point_search
from utmost.design.privacy_program import Rate, privacy_program
from utmost.errors import SolverError
from utmost.exact import Level, Number, Real, alpha, ball_ends
from utmost.lp import certified_optimum
from utmost.spaces import Space, line

__all__ = ["Certificate", "Design", "by_program", "is_line", "optimal", "solved"]

EXACT_REALS = 20  # points up to which irrational data are carried exactly; above, between rational ones
GAP = Fraction(1, 10**10)  # of the loss: how far apart the bounds may be when the data are irrational
PRECISIONS = (56, 112, 224)  # bits tried for that
EXACT_CELLS = 8000  # generating pairs times readings up to which a rational program is solved exactly
BETWEEN_CELLS = 600  # and up to which an irrational one is put between two rational ones
SLOW_CELLS = 12000  # and up to which either is tried when ε is so small that the interior point leaves a gap
SHORT = 64  # denominator of an α that stands for a long one
FAINT = 1e-3  # ε times the largest distance
WIDEST = Fraction(1, 10**9)  # of the loss: the gap that is left to nobody if it can be helped

Way: TypeAlias = Callable[[Space, Rate, Matrix], DesignAttempt]


@dataclass(frozen=True, slots=True)
class Rounded:
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
            low, high = ball_ends(self.level.power_ball(distance, bits))
            if low > 0 and high < 1:
                return (low, high)[self.side]
            bits *= 2


def optimal(space: Space, level: Level, consumer: Consumer, progress: Progress | None = None) -> Design:
    """The mechanism from the space to readings that minimises the consumer's expected loss, subject to privacy.

    On a line the remapped geometric mechanism is tried first; its certificate is closed in exact arithmetic (see
    `count_mechanism`), and it always closes for a loss that is monotone on each side of the truth (GRS12 Thm 3.2 for
    symmetric ones; docs/papers/grs12.md for all). What it does not close goes to the linear program.
    With rational level, prior and loss the gap is 0 up to thousands of constraints. Larger programs, and irrational
    ones, are solved by an interior point (see `interior_point`) and certified in integers; the gap is then below 10⁻⁹
    of the loss. `progress` is told the bounds so far; Ctrl-C returns the best mechanism so far, certified.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.spaces import line
    >>> reader = Consumer(priors.parse("1/4,0,1/4,0,1/4,1/4", 6), losses.squared)
    >>> design = optimal(line(6), alpha("1/2"), reader)
    >>> design.loss, design.certificate.gap, design.certificate.private
    (Fraction(109, 64), Fraction(0, 1), True)
    """
    return solved(space, level, consumer, best_attempt, progress)


def by_program(space: Space, level: Level, consumer: Consumer) -> Design:
    """`optimal`, by the rational linear program alone: a second road to the same loss."""
    return solved(space, level, consumer, program_attempt)


def solved(space: Space, level: Level, consumer: Consumer, attempt: Way, progress: Progress | None = None) -> Design:
    """A design by one way of solving rational programs, or by `interior_point` where the way is to take the best."""
    check_problem(space, level, consumer)
    if not level.is_inner:
        return extreme_level_design(space, level, consumer.costs())
    step = _step(space)
    if step is not None and step != 1 and len(space) > 1:
        counts = solved(line(len(space)), _counted(level, step), consumer, attempt, progress)
        return rescale_design(counts, space, level)
    try:
        if attempt is best_attempt and _is_wide(space, level, consumer):
            design = wide_design(space, level, consumer, progress)
            if _is_enough(design, space, level):
                return design
        return _narrow(space, level, consumer, attempt)
    except KeyboardInterrupt:
        cheap, dear = cost_bounds(consumer, PRECISIONS[0])
        return replace(simple_design(space, level, dear, _told_all(cheap)), stopped=True)


def _told_all(costs: Matrix) -> Fraction:
    """The least loss without any privacy, a lower bound for every mechanism."""
    return sum((min(row) for row in costs), Fraction(0))


def _is_wide(space: Space, level: Level, consumer: Consumer) -> bool:
    """Is the program too large to be solved in fractions, and does no closed form solve it."""
    readings = consumer.loss.matrix(len(space)).shape[1]
    most = BETWEEN_CELLS if has_irrational_costs(space, level, consumer) else EXACT_CELLS
    if len(space.tight) * readings <= most:
        return False
    if not is_line(space) or readings != len(space):
        return True
    nearby = alpha(Fraction(float(level.alpha)).limit_denominator(SHORT))
    return remapped_geometric(nearby, _shortened(cost_bounds(consumer, PRECISIONS[0])[1])).objection is not None


def _shortened(costs: Matrix) -> Matrix:
    """The costs as fractions of few digits, where they are long: good enough to guess whether a closed form will do."""
    scale = max(costs.max(), Fraction(1, 10**9))
    once = {id(c): Fraction(round(c / scale * 2**40), 2**40) for c in costs.flat if c.denominator >= 2**40}
    short = np.array([once.get(id(c), c / scale) for c in costs.flat], dtype=object)
    return short.reshape(costs.shape)


def wide_design(space: Space, level: Level, consumer: Consumer, progress: Progress | None = None) -> Design:
    """The interior point's mechanism and multipliers, certified; one reading for all where that is as good."""
    cheap, dear = cost_bounds(consumer, PRECISIONS[-1])
    least = _told_all(cheap)
    if least == min(dear.sum(axis=0)):
        return constant_design(space, level, dear, least)
    found = interior_point_search(space, level, dear.astype(float), progress)
    u, prices = found.proof(space, level, cheap)
    lower = sum(u, Fraction(0))
    silent = (simple_design if found.stopped else constant_design)(space, level, dear, lower)
    designs = (design_if_certified(space, level, dear, (rows, lower, u, None)) for rows in found.mechanisms())
    best = next((design for design in designs if design is not None), silent)
    best = min(silent, best, key=lambda design: design.loss)
    return replace(best, certificate=replace(best.certificate, multipliers=u, prices=prices), stopped=found.stopped)


def _is_enough(design: Design, space: Space, level: Level) -> bool:
    """Do the bounds meet, or is there nothing else to try: only an ε too small for doubles is better served exactly."""
    met = design.stopped or design.certificate.gap <= WIDEST * design.loss
    large = len(space.tight) * len(design.channel.outputs) > SLOW_CELLS
    return met or large or level.epsilon * float(space.values[-1]) > FAINT


def _narrow(space: Space, level: Level, consumer: Consumer, attempt: Way) -> Design:
    costs = consumer.costs()
    counts = is_line(space) and costs.shape[0] == costs.shape[1]
    exact = attempt is best_attempt and counts and len(space) <= EXACT_REALS
    if not exact and has_irrational_costs(space, level, consumer):
        return _between(space, level, costs, attempt)
    return finish_design(space, level, costs, attempt(space, level, costs))


def best_attempt(space: Space, level: Rate, costs: Matrix) -> DesignAttempt:
    """The remapped geometric mechanism where it is optimal, else the program."""
    if isinstance(level, Level) and is_line(space) and costs.shape[0] == costs.shape[1]:
        found = remapped_geometric(level, costs)
        if found.objection is None:
            return remapped_channel(level, found.remap).rows, found.loss, found.multipliers, found.remap
        if any(isinstance(c, Real) for c in (level.alpha, *costs.flat)):
            return _irrational_program(space, level, costs)
    return program_attempt(space, level, costs)


def program_attempt(space: Space, level: Rate, costs: Matrix) -> DesignAttempt:
    """The linear program's certified optimum; rational data."""
    certificate = certified_optimum(privacy_program(space, level, costs))
    rows = np.array(certificate.x, dtype=object).reshape(costs.shape)
    return rows, certificate.lower, None, None


def _irrational_program(space: Space, level: Level, costs: Matrix) -> DesignAttempt:
    design = _between(space, level, costs, program_attempt)
    return design.channel.rows, design.certificate.lower, None, None


def is_line(space: Space) -> bool:
    """Is it the line of counts."""
    return _step(space) == 1


def _step(space: Space) -> Number | None:
    """The distance of neighbours, if the points stand on a line at equal distances in their order; 1 for one point."""
    size = len(space)
    if size == 1:
        return Fraction(1)
    if len(space.tight) != size - 1 or not np.array_equal(space.tight, np.arange(size - 1)[:, None] + [0, 1]):
        return None
    steps = np.unique(space.codes[space.tight[:, 0], space.tight[:, 1]])
    return space.values[steps[0]] if len(steps) == 1 else None


def _counted(level: Level, step: Number) -> Level:
    """The level a step: what `level` allows at distance `step`."""
    if level.exponent is not None and isinstance(step, Fraction):
        return Level(level.power(step), level.exponent * step)
    return Level(level.power(step))


def _between(space: Space, level: Level, costs: Matrix, attempt: Way) -> Design:
    """Bounds for irrational data from rational ones.

    A larger α is more private and a smaller one less, so the optimum at α lies between those at α⁻ ≤ α ≤ α⁺, and
    likewise for costs. The mechanism returned is the one for α⁺: rational, and private at α; its loss is rounded up.
    """
    for bits in PRECISIONS:
        below, above = (_side(space, Rounded(level, bits, side)) for side in (0, 1))
        cheap, dear = (round_costs(costs, bits, side) for side in (0, 1))
        rows, _, _, remap = attempt(space, above, dear)
        _, lower, _, _ = attempt(space, below, cheap)
        design = finish_design(space, level, dear, (rows, lower, None, remap))
        if design.certificate.gap <= GAP * max(design.loss, Fraction(1, 10**6)):
            return design
    raise SolverError(f"the bounds for this irrational program did not meet within {float(GAP):.0e} of the loss")


def _side(space: Space, rounded: Rounded) -> Rate:
    """On a line one rational α is enough, and lets the geometric mechanism be tried; elsewhere powers are rounded."""
    return alpha(rounded.alpha) if is_line(space) else rounded
