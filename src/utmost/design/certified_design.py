"""Designs: a mechanism, its loss for a consumer, and the certificate: private, and a lower bound with its proof.

Lower bounds of the least expected loss over all private mechanisms, each with what proves it.

Each bound is computed once when a mechanism is designed, and can be computed again from what it keeps: multipliers,
never what a solver said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost import notebook
from utmost.channel import Channel, Matrix, PrivacyLoss, deterministic, least_epsilon
from utmost.channel.channel import preview_text, trusted_channel
from utmost.consumer.consumer import first_minimum
from utmost.design.count_mechanism import objection
from utmost.design.fixed_point_counts import fixed_point_objection
from utmost.design.interior_point.exact_bounds import Multipliers, exact_rows, lower_bound
from utmost.design.privacy_program import Rate, privacy_program
from utmost.errors import SolverError
from utmost.exact import Level, Number, decimal, decimal_above, sign
from utmost.lp import Bounds, Certificate
from utmost.lp.certificate import dual_bound, dual_fault
from utmost.lp.linear_program import flint_vector, to_fraction
from utmost.result_values import equal_fields, hash_of_kind, short_repr
from utmost.spaces import Label, Space


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LowerBound(ABC):
    """A lower bound, and what proves it.

    `multipliers` is the dual vector u of the rows' sums, Σ u = lower, where there is one to show; `prices` are the
    multipliers of the privacy constraints that prove it where no closed form does.
    """

    __repr__ = short_repr
    __eq__ = equal_fields
    __hash__ = hash_of_kind

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
class FixedPointBound(LowerBound):
    """Multipliers u for a count that are feasible for the true α, decided in whole numbers (`fixed_point_counts`).

    `costs` are the costs, rounded down where they are irrational.
    """

    level: Level
    costs: Matrix

    @property
    def method(self) -> str:
        """In words."""
        return "exact multipliers, checked between rational numbers on both sides of the irrational ones"

    def compute(self) -> Number:
        """Σ u, if no reading objects."""
        if self.multipliers is None or fixed_point_objection(self.level, self.costs, self.multipliers) is not None:
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


PREVIEW_LABELS = 12  # inputs and outputs of a mechanism that is printed with its loss
POWER_SHARE = 0.499999  # of ε


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignProof:
    """What proves that the least expected loss of a private mechanism lies between two bounds.

    `channel` is private at the level, so its own loss is an upper bound; `bound` is the lower one. `costs` are the
    consumer's, rounded up where they are irrational.
    """

    __repr__ = short_repr
    __eq__ = equal_fields
    __hash__ = hash_of_kind

    space: Space
    level: Level
    costs: Matrix
    channel: Channel
    bound: LowerBound

    @property
    def method(self) -> str:
        """What proves the lower bound."""
        return self.bound.method

    @property
    def multipliers(self) -> tuple[Number, ...] | None:
        """The dual vector u, Σ u = lower, where there is one to show."""
        return self.bound.multipliers

    @property
    def prices(self) -> Multipliers | None:
        """The multipliers of the privacy constraints that prove the lower bound where no closed form does."""
        return self.bound.prices

    def bounds(self) -> Bounds:
        """Both bounds, computed again, and the ε of the mechanism from its entries."""
        if not least_epsilon(self.channel, self.space).within(self.level):
            raise SolverError("certificate is not valid: the mechanism is not private at the level")
        return Bounds(self.bound.compute(), (self.costs * self.channel.rows).sum())


DesignCertificate: TypeAlias = Certificate[Number, DesignProof]


@dataclass(frozen=True, slots=True, repr=False)
class Design:
    """A mechanism, the consumer's expected loss with it, and the certificate that no private mechanism gives less.

    `privacy_loss` is the ε of the mechanism, recomputed from its entries. `loss` is exact; where irrational data were
    rounded to rational ones it is an upper bound, off by less than the gap. `remap` reads the geometric mechanism's
    answers so that this mechanism comes out, where it is found that way (where irrational data were rounded, but for
    the last digits). `stopped` says that it is the best one known
    when Ctrl-C was pressed; its certificate holds all the same.
    """

    channel: Channel
    loss: Number
    certificate: DesignCertificate
    privacy_loss: PrivacyLoss
    remap: list[int] | None = None
    stopped: bool = False

    __hash__ = hash_of_kind

    @property
    def private(self) -> bool:
        """Whether the mechanism is private at the level asked for."""
        return self.privacy_loss.within(self.certificate.proof.level)

    def _repr_html_(self) -> str:
        """The mechanism, its loss and the proof, for a notebook."""
        return notebook.report_html(self, "optimum")

    def plot(self) -> notebook.Figure:
        """A heat map of the mechanism, or some of its laws where it is large."""
        return notebook.draw_figure(self, "optimum")

    def __repr__(self) -> str:
        """The loss between its bounds, the gap, the ε, and the shape of the mechanism."""
        shape = f"{len(self.channel.inputs)} inputs, {len(self.channel.outputs)} outputs"
        relation = f"at most {decimal_above(self.loss)}" if self.certificate.gap else decimal(self.loss)
        gap = decimal_above(self.certificate.gap, 2)
        return f"<Design: expected loss {relation}, gap {gap}, {self.privacy_loss.text}; {shape}>"

    def __str__(self) -> str:
        """The same, and the first entries of the mechanism."""
        return f"{repr(self)[1:-1]}\n{preview_text(self.channel, PREVIEW_LABELS, PREVIEW_LABELS)}"


@dataclass(frozen=True, slots=True, eq=False)
class DesignAttempt:
    """The rows of a mechanism, a lower bound, and the remap of the geometric mechanism that makes it, if one does."""

    rows: Matrix
    bound: LowerBound
    remap: list[int] | None = None


def finish_design(space: Space, level: Level, costs: Matrix, attempt: DesignAttempt) -> Design:
    """The attempt as a design, once its own certificate is passed. With costs rounded up, `upper` is rounded up."""
    design = certify_design(space, level, costs, attempt)
    if design is None:
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return design


def certify_design(space: Space, level: Level, costs: Matrix, attempt: DesignAttempt) -> Design | None:
    """The attempt as a design if it is private, by the ε recomputed from its entries, and its bounds do not cross."""
    mechanism = trusted_channel(space.labels, reading_names(space, attempt.rows.shape[1]), attempt.rows)
    privacy_loss = least_epsilon(mechanism, space)
    upper: Number = (costs * attempt.rows).sum()
    proof = DesignProof(space, level, costs, mechanism, attempt.bound)
    certificate: DesignCertificate = Certificate(attempt.bound.lower, upper, proof)
    if not privacy_loss.within(level) or sign(certificate.gap) < 0:
        return None
    return Design(mechanism, upper, certificate, privacy_loss, attempt.remap)


def extreme_level_design(space: Space, level: Level, costs: Matrix) -> Design:
    """α = 0: every secret may be revealed, so each is read in its best way. α = 1: one reading for all."""
    if level.alpha == 0:
        bound: LowerBound = FreeBound(free_loss(costs), costs)
        return _deterministic_design(space, level, costs, [first_minimum(row) for row in costs], bound)
    return constant_design(space, level, costs, SilentBound(min(costs.sum(axis=0)), costs))


def constant_design(space: Space, level: Level, costs: Matrix, bound: LowerBound) -> Design:
    """The best mechanism that tells nothing, private at any level, with a lower bound that is known."""
    return _deterministic_design(space, level, costs, [first_minimum(costs.sum(axis=0))] * len(space), bound)


def simple_design(space: Space, level: Level, costs: Matrix, bound: LowerBound) -> Design:
    """A mechanism that needs no search: one reading for all, or C[x,y] ∝ α^(d(x,y)/2) read in the best way.

    The latter is private, since neither the power nor a row's sum changes by more than α^(d/2); a hair is given up for
    rounding its entries.
    """
    constant = constant_design(space, level, costs, bound)
    distances = np.array([float(d) for d in space.values])[space.codes]
    entries = np.exp(-POWER_SHARE * level.epsilon * distances)
    entries /= entries.sum(axis=1, keepdims=True)
    remap = (costs.astype(float).T @ entries).argmin(axis=0)
    remapped_entries = np.zeros(costs.shape)
    np.add.at(remapped_entries.T, remap, entries.T)
    used_readings = np.flatnonzero(remapped_entries.any(axis=0))
    exact = np.full(costs.shape, Fraction(0), dtype=object)
    exact[:, used_readings] = exact_rows(remapped_entries[:, used_readings])
    design = certify_design(space, level, costs, DesignAttempt(exact, bound))
    return constant if design is None else min(constant, design, key=lambda candidate: candidate.loss)


def rescale_design(counts: Design, space: Space, level: Level) -> Design:
    """A design for counts as one for points at other distances on a line: the same matrix, its ε recomputed there."""
    proof = counts.certificate.proof
    attempt = DesignAttempt(counts.channel.rows, proof.bound, counts.remap)
    return replace(finish_design(space, level, proof.costs, attempt), stopped=counts.stopped)


def _deterministic_design(space: Space, level: Level, costs: Matrix, remap: list[int], bound: LowerBound) -> Design:
    """The mechanism that answers each secret with its chosen reading."""
    outputs = reading_names(space, costs.shape[1])
    mechanism = deterministic([outputs[w] for w in remap], space.labels, outputs)
    return finish_design(space, level, costs, DesignAttempt(mechanism.rows, bound))


def reading_names(space: Space, width: int) -> tuple[Label, ...]:
    """The names of a mechanism's outputs: the points themselves, or w0, w1, … where a loss has actions of its own."""
    return space.labels if width == len(space) else tuple(f"w{k}" for k in range(width))
