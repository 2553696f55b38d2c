"""The best mechanism for a privacy type and a consumer, certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Leak, Matrix, deterministic, least_epsilon
from utmost.channel.channel import trusted
from utmost.consumer import Consumer
from utmost.consumer.reading import first_least
from utmost.design.count import induced, remapped_geometric
from utmost.design.program import Rate, privacy_program
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Number, Real, alpha, enclosure, ends, sign
from utmost.solve import optimum
from utmost.spaces import Space

EXACT_REALS = 20  # points up to which irrational data are carried exactly; above, between rational ones
GAP = Fraction(1, 10**10)  # of the loss: how far apart the bounds may be when the data are irrational
PRECISIONS = (56, 112, 224)  # bits tried for that


@dataclass(frozen=True, slots=True)
class Certificate:
    """lower ≤ least expected loss ≤ upper, and the ε of the mechanism that attains `upper`, all in exact arithmetic.

    `leak` is recomputed from the mechanism's entries; `private` says that it is within the level asked for.
    `multipliers` is the dual vector u, Σ u = lower, where the proof needs no solver.
    """

    lower: Number
    upper: Number
    leak: Leak
    private: bool
    multipliers: tuple[Number, ...] | None = None

    @property
    def gap(self) -> Number:
        """upper − lower: 0 where the data are rational."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class Design:
    """A mechanism, the consumer's expected loss with it, and the certificate that no private mechanism gives less.

    `loss` is exact; where irrational data were put between rational ones it is an upper bound, off by less than a gap.
    `remap` reads the geometric mechanism's answers so that this mechanism comes out, where it is found that way.
    """

    channel: Channel
    loss: Number
    certificate: Certificate
    remap: list[int] | None = None


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
            low, high = ends(self.level.power_ball(distance, bits))
            if low > 0 and high < 1:
                return (low, high)[self.side]
            bits *= 2


Attempt: TypeAlias = tuple[Matrix, Number, tuple[Number, ...] | None, list[int] | None]  # rows, lower bound, u, remap


Way: TypeAlias = Callable[[Space, Rate, Matrix], Attempt]


def optimal(space: Space, level: Level, consumer: Consumer) -> Design:
    """The mechanism from the space to readings that minimises the consumer's expected loss, subject to privacy.

    On a line the remapped geometric mechanism is tried first; its certificate is closed in exact arithmetic (see
    `count`), and it always closes for a loss that is monotone on each side of the truth (GRS12 Thm 3.2 for symmetric
    ones; docs/papers/grs12.md for all). What it does not close goes to the linear program.
    With rational level, prior and loss the gap is 0 or the certificate says what it is; otherwise the bounds come from
    rational levels and losses on both sides.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.spaces import line
    >>> reader = Consumer(priors.parse("1/4,0,1/4,0,1/4,1/4", 6), losses.squared)
    >>> design = optimal(line(6), alpha("1/2"), reader)
    >>> design.loss, design.certificate.gap, design.certificate.private
    (Fraction(109, 64), Fraction(0, 1), True)
    """
    return solved(space, level, consumer, best_attempt)


def by_program(space: Space, level: Level, consumer: Consumer) -> Design:
    """`optimal`, by the linear program alone: a second road to the same loss."""
    return solved(space, level, consumer, program_attempt)


def solved(space: Space, level: Level, consumer: Consumer, attempt: Way) -> Design:
    """A design by one way of solving rational programs."""
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}')
    costs = consumer.costs()
    if len(costs) != len(space):
        raise InputError(
            f"the prior must have {len(space)} weights, one for each point of {space.name}, got {len(costs)}"
        )
    if costs.dtype != object:
        raise InputError('an optimal mechanism needs an exact prior and loss: write numbers as text, "1/3" or "0.1"')
    if not level.is_inner:
        return _at_the_end(space, level, costs)
    exact = attempt is best_attempt and is_line(space) and len(space) <= EXACT_REALS
    if not exact and _irrational(space, level, costs):
        return _between(space, level, costs, attempt)
    return _finished(space, level, costs, attempt(space, level, costs))


def _irrational(space: Space, level: Level, costs: Matrix) -> bool:
    """Is a cost, or the ratio allowed at the distance of a generating pair, not rational."""
    distances = {space.distance(*edge) for edge in space.edges}
    whole = isinstance(level.alpha, Fraction) and all(isinstance(d, Fraction) and d.denominator == 1 for d in distances)
    return not whole or any(isinstance(c, Real) for c in costs.flat)


def best_attempt(space: Space, level: Rate, costs: Matrix) -> Attempt:
    """The remapped geometric mechanism where it is optimal, else the program."""
    if isinstance(level, Level) and is_line(space):
        found = remapped_geometric(level, costs)
        if found.objection is None:
            return induced(level, found.remap).rows, found.loss, found.multipliers, found.remap
        if any(isinstance(c, Real) for c in (level.alpha, *costs.flat)):
            return _irrational_program(space, level, costs)
    return program_attempt(space, level, costs)


def program_attempt(space: Space, level: Rate, costs: Matrix) -> Attempt:
    """The linear program's certified optimum; rational data."""
    certificate = optimum(privacy_program(space, level, costs))
    rows = np.array(certificate.x, dtype=object).reshape(costs.shape)
    return rows, certificate.lower, None, None


def _irrational_program(space: Space, level: Level, costs: Matrix) -> Attempt:
    design = _between(space, level, costs, program_attempt)
    return design.channel.rows, design.certificate.lower, None, None


def is_line(space: Space) -> bool:
    """Is it the line of counts."""
    return space.edges == tuple((k, k + 1) for k in range(len(space) - 1)) and all(
        space.distance(*edge) == 1 for edge in space.edges
    )


def _finished(space: Space, level: Level, costs: Matrix, attempt: Attempt) -> Design:
    """The attempt as a design, once its own certificate is passed. With costs rounded up, `upper` is rounded up."""
    rows, lower, multipliers, remap = attempt
    mechanism = trusted(space.labels, space.labels, rows)
    leak = least_epsilon(mechanism, space)
    upper: Number = (costs * rows).sum()
    certificate = Certificate(lower, upper, leak, leak.within(level), multipliers)
    if not certificate.private or sign(certificate.gap) < 0:
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return Design(mechanism, upper, certificate, remap)


def _between(space: Space, level: Level, costs: Matrix, attempt: Way) -> Design:
    """Bounds for irrational data from rational ones.

    A larger α is more private and a smaller one less, so the optimum at α lies between those at α⁻ ≤ α ≤ α⁺, and
    likewise for costs. The mechanism returned is the one for α⁺: rational, and private at α; its loss is rounded up.
    """
    for bits in PRECISIONS:
        below, above = (_side(space, Rounded(level, bits, side)) for side in (0, 1))
        cheap, dear = (_ends(costs, bits, side) for side in (0, 1))
        rows, _, _, remap = attempt(space, above, dear)
        _, lower, _, _ = attempt(space, below, cheap)
        design = _finished(space, level, dear, (rows, lower, None, remap))
        if design.certificate.gap <= GAP * max(design.loss, Fraction(1, 10**6)):
            return design
    raise SolverError(f"the bounds for this irrational program did not meet within {float(GAP):.0e} of the loss")


def _side(space: Space, rounded: Rounded) -> Rate:
    """On a line one rational α is enough, and lets the geometric mechanism be tried; elsewhere powers are rounded."""
    return alpha(rounded.alpha) if is_line(space) else rounded


def _ends(costs: Matrix, bits: int, side: int) -> Matrix:
    result = np.empty(costs.shape, dtype=object)
    result.ravel()[:] = [enclosure(cost, bits)[side] for cost in costs.flat]
    return result


def _at_the_end(space: Space, level: Level, costs: Matrix) -> Design:
    """α = 0: every secret may be told, so each is read in its best way. α = 1: one reading for all."""
    if level.alpha == 0:
        readings = [first_least(row) for row in costs]
    else:
        readings = [first_least(costs.sum(axis=0))] * len(space)
    told = deterministic([space.labels[w] for w in readings], space.labels, space.labels)
    lower: Number = sum((costs[x, w] for x, w in enumerate(readings)), Fraction(0))
    return _finished(space, level, costs, (told.rows, lower, None, None))
