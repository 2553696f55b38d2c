"""Lower bounds of the least expected loss over all private mechanisms, each with what proves it.

Each bound is computed once when a mechanism is designed, and can be computed again from what it keeps: multipliers,
never what a solver said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

from utmost.channel import Matrix
from utmost.design.count_mechanism import objection
from utmost.design.interior_point.exact_bounds import Multipliers, lower_bound
from utmost.design.privacy_program import Rate, privacy_program
from utmost.errors import SolverError
from utmost.exact import Level, Number
from utmost.lp.certificate import dual_bound, dual_fault
from utmost.lp.linear_program import flint_vector
from utmost.lp.rationals import to_fraction
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LowerBound(ABC):
    """A lower bound, and what proves it.

    `multipliers` is the dual vector u of the rows' sums, Σ u = lower, where there is one to show; `prices` are the
    multipliers of the privacy constraints that prove it where no closed form does.
    """

    lower: Number
    multipliers: tuple[Number, ...] | None = field(default=None, kw_only=True)
    prices: Multipliers | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def method(self) -> str:
        """What proves it, in words."""

    @abstractmethod
    def compute(self) -> Number:
        """The bound, computed again; SolverError where it is not proved."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FreeBound(LowerBound):
    """The least loss without any privacy: every secret read in its best way."""

    costs: Matrix

    @property
    def method(self) -> str:
        """In words."""
        return "the loss without any privacy"

    def compute(self) -> Number:
        """Σ_x min_w c[x,w]."""
        return free_loss(self.costs)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SilentBound(LowerBound):
    """The least loss where nothing may be told (α = 1): one reading for all."""

    costs: Matrix

    @property
    def method(self) -> str:
        """In words."""
        return "the loss without any answer"

    def compute(self) -> Number:
        """min_w Σ_x c[x,w]."""
        total: Number = min(self.costs.sum(axis=0))
        return total


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountBound(LowerBound):
    """Multipliers u for a count, feasible for the dual program (`count_mechanism`)."""

    alpha: Number
    costs: Matrix

    @property
    def method(self) -> str:
        """In words."""
        return "exact multipliers"

    def compute(self) -> Number:
        """Σ u, if no reading objects."""
        if self.multipliers is None or objection(self.alpha, self.costs, self.multipliers) is not None:
            raise SolverError("certificate is not valid: the multipliers of a count are not feasible")
        return sum(self.multipliers, Fraction(0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProgramBound(LowerBound):
    """Multipliers y of the rows of the linear program, at a rational level."""

    space: Space
    level: Rate
    costs: Matrix
    y: tuple[Fraction, ...]

    @property
    def method(self) -> str:
        """In words."""
        return "exact multipliers of the linear program"

    def compute(self) -> Number:
        """rhs·y of the program, made again, if y is feasible for its dual."""
        program = privacy_program(self.space, self.level, self.costs)
        y = flint_vector("y", self.y, program.shape[0])
        fault = dual_fault(program, y)
        if fault is not None:
            raise SolverError(f"certificate is not valid: {fault}")
        return to_fraction(dual_bound(program, y))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PriceBound(LowerBound):
    """Multipliers of the privacy constraints, from an interior point (`interior_point.exact_bounds`).

    `costs` are the costs, rounded down where they are irrational.
    """

    space: Space
    level: Level
    costs: Matrix

    @property
    def method(self) -> str:
        """How many multipliers there are."""
        return f"{0 if self.prices is None else len(self.prices)} exact multipliers of the privacy constraints"

    def compute(self) -> Number:
        """Σ_x min_w of the reduced costs."""
        if self.prices is None:
            raise SolverError("certificate is not valid: it has no multipliers")
        return sum(lower_bound(self.space, self.level, self.costs, self.prices)[0], Fraction(0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RoundedBound(LowerBound):
    """A bound for a level that is less private and rational, and for costs that are rounded down."""

    bound: LowerBound
    space: Space
    level: Level
    rounded_level: Rate

    @property
    def method(self) -> str:
        """In words."""
        return "exact bounds from rational numbers on both sides of the irrational ones"

    def compute(self) -> Number:
        """The bound at the rounded level, if no power of it is above that of the level."""
        if any(self.rounded_level.power(d) > self.level.power(d) for d in self.space.values):
            raise SolverError("certificate is not valid: a rounded level is more private than the level")
        return self.bound.compute()


def free_loss(costs: Matrix) -> Fraction:
    """The least loss without any privacy, a lower bound for every mechanism."""
    return sum((min(row) for row in costs), Fraction(0))
