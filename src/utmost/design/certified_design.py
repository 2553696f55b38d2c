"""Designs: a mechanism, its loss for a consumer, and the certificate that it is private and how near to the best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost import notebook
from utmost.channel import Channel, Matrix, PrivacyLoss, deterministic, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.consumer.consumer import first_minimum
from utmost.design.interior_point.exact_bounds import Multipliers, exact_rows
from utmost.design.lower_bounds import FreeBound, LowerBound, SilentBound, free_loss
from utmost.errors import SolverError
from utmost.exact import Level, Number, sign
from utmost.lp import Bounds, Certificate
from utmost.spaces import Label, Space

POWER_SHARE = 0.499999  # of ε


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignProof:
    """What proves that the least expected loss of a private mechanism lies between two bounds.

    `channel` is private at the level, so its own loss is an upper bound; `bound` is the lower one. `costs` are the
    consumer's, rounded up where they are irrational.
    """

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


@dataclass(frozen=True, slots=True)
class Design:
    """A mechanism, the consumer's expected loss with it, and the certificate that no private mechanism gives less.

    `privacy_loss` is the ε of the mechanism, recomputed from its entries. `loss` is exact; where irrational data were
    rounded to rational ones it is an upper bound, off by less than the gap. `remap` reads the geometric mechanism's
    answers so that this mechanism comes out, where it is found that way. `stopped` says that it is the best one known
    when Ctrl-C was pressed; its certificate holds all the same.
    """

    channel: Channel
    loss: Number
    certificate: DesignCertificate
    privacy_loss: PrivacyLoss
    remap: list[int] | None = None
    stopped: bool = False

    @property
    def private(self) -> bool:
        """Whether the mechanism is private at the level asked for."""
        return self.privacy_loss.within(self.certificate.proof.level)

    def _repr_html_(self) -> str:
        """The mechanism, its loss and the proof, for a notebook."""
        return notebook.report_html(self, "optimum")


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
