"""Designs: a mechanism, its loss for a consumer, and the certificate that it is private and how near to the best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, PrivacyLoss, deterministic, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.consumer.consumer import first_minimum
from utmost.design.interior_point.exact_bounds import Multipliers, exact_rows
from utmost.errors import SolverError
from utmost.exact import Level, Number, sign
from utmost.spaces import Label, Space

POWER_SHARE = 0.499999  # of ε


@dataclass(frozen=True, slots=True)
class Certificate:
    """lower ≤ least expected loss ≤ upper, and the ε of the mechanism that attains `upper`, all in exact arithmetic.

    `privacy_loss` is recomputed from the mechanism's entries; `private` says that it is within the level asked for.
    `multipliers` is the dual vector u, Σ u = lower, where there is one to show. `prices` are the multipliers of the
    privacy constraints that prove it where no closed form does: `interior_point.exact_bounds` says how.
    """

    lower: Number
    upper: Number
    privacy_loss: PrivacyLoss
    private: bool
    multipliers: tuple[Number, ...] | None = None
    prices: Multipliers | None = None

    @property
    def gap(self) -> Number:
        """upper − lower: 0 where the data are rational and the program is not large."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class Design:
    """A mechanism, the consumer's expected loss with it, and the certificate that no private mechanism gives less.

    `loss` is exact; where irrational data were rounded to rational ones it is an upper bound, off by less than the gap.
    `remap` reads the geometric mechanism's answers so that this mechanism comes out, where it is found that way.
    `stopped` says that it is the best one known when Ctrl-C was pressed; its certificate holds all the same.
    """

    channel: Channel
    loss: Number
    certificate: Certificate
    remap: list[int] | None = None
    stopped: bool = False


DesignAttempt: TypeAlias = tuple[
    Matrix, Number, tuple[Number, ...] | None, list[int] | None
]  # rows, lower bound, u, remap


def finish_design(space: Space, level: Level, costs: Matrix, attempt: DesignAttempt) -> Design:
    """The attempt as a design, once its own certificate is passed. With costs rounded up, `upper` is rounded up."""
    design = certify_design(space, level, costs, attempt)
    if design is None:
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return design


def certify_design(space: Space, level: Level, costs: Matrix, attempt: DesignAttempt) -> Design | None:
    """The attempt as a design if it is private, by the ε recomputed from its entries, and its bounds do not cross."""
    rows, lower, multipliers, remap = attempt
    mechanism = trusted_channel(space.labels, reading_names(space, rows.shape[1]), rows)
    privacy_loss = least_epsilon(mechanism, space)
    upper: Number = (costs * rows).sum()
    certificate = Certificate(lower, upper, privacy_loss, privacy_loss.within(level), multipliers)
    is_certified = certificate.private and sign(certificate.gap) >= 0
    return Design(mechanism, upper, certificate, remap) if is_certified else None


def extreme_level_design(space: Space, level: Level, costs: Matrix) -> Design:
    """α = 0: every secret may be revealed, so each is read in its best way. α = 1: one reading for all."""
    if level.alpha == 0:
        return _deterministic_design(space, level, costs, [first_minimum(row) for row in costs])
    return _deterministic_design(space, level, costs, [first_minimum(costs.sum(axis=0))] * len(space))


def constant_design(space: Space, level: Level, costs: Matrix, lower: Number) -> Design:
    """The best mechanism that tells nothing, private at any level, with a lower bound that is known."""
    return _deterministic_design(space, level, costs, [first_minimum(costs.sum(axis=0))] * len(space), lower)


def simple_design(space: Space, level: Level, costs: Matrix, lower: Number) -> Design:
    """A mechanism that needs no search: one reading for all, or C[x,y] ∝ α^(d(x,y)/2) read in the best way.

    The latter is private, since neither the power nor a row's sum changes by more than α^(d/2); a hair is given up for
    rounding its entries.
    """
    constant = constant_design(space, level, costs, lower)
    distances = np.array([float(d) for d in space.values])[space.codes]
    entries = np.exp(-POWER_SHARE * level.epsilon * distances)
    entries /= entries.sum(axis=1, keepdims=True)
    remap = (costs.astype(float).T @ entries).argmin(axis=0)
    remapped_entries = np.zeros(costs.shape)
    np.add.at(remapped_entries.T, remap, entries.T)
    used_readings = np.flatnonzero(remapped_entries.any(axis=0))
    exact = np.full(costs.shape, Fraction(0), dtype=object)
    exact[:, used_readings] = exact_rows(remapped_entries[:, used_readings])
    design = certify_design(space, level, costs, (exact, lower, None, None))
    return constant if design is None else min(constant, design, key=lambda candidate: candidate.loss)


def rescale_design(counts: Design, space: Space, level: Level) -> Design:
    """A design for counts as one for points at other distances on a line: the same matrix, its ε recomputed there."""
    mechanism = trusted_channel(space.labels, reading_names(space, len(counts.channel.outputs)), counts.channel.rows)
    privacy_loss = least_epsilon(mechanism, space)
    if not privacy_loss.within(level):
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return replace(
        counts, channel=mechanism, certificate=replace(counts.certificate, privacy_loss=privacy_loss, private=True)
    )


def _deterministic_design(
    space: Space, level: Level, costs: Matrix, remap: list[int], lower: Number | None = None
) -> Design:
    """The mechanism that answers each secret with its chosen reading; without a bound, there is nothing better."""
    outputs = reading_names(space, costs.shape[1])
    mechanism = deterministic([outputs[w] for w in remap], space.labels, outputs)
    loss: Number = sum((costs[x, w] for x, w in enumerate(remap)), Fraction(0))
    return finish_design(space, level, costs, (mechanism.rows, loss if lower is None else lower, None, None))


def reading_names(space: Space, width: int) -> tuple[Label, ...]:
    """The names of a mechanism's outputs: the points themselves, or w0, w1, … where a loss has actions of its own."""
    return space.labels if width == len(space) else tuple(f"w{k}" for k in range(width))
