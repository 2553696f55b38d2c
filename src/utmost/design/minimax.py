"""The best mechanism for a consumer without a prior (GRS12 §4): a randomised remap of the geometric one attains it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, PrivacyLoss, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.consumer import Minimax
from utmost.consumer.losses import check_points, square
from utmost.design.privacy_program import privacy_program
from utmost.errors import InputError, SolverError
from utmost.exact import Level, rational
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum
from utmost.spaces import Space


@dataclass(frozen=True, slots=True)
class MinimaxDesign:
    """A mechanism, its worst expected loss, the program's certificate, and the ε recomputed from its entries."""

    channel: Channel
    loss: Fraction
    certificate: ProgramCertificate
    privacy_loss: PrivacyLoss


def minimax_optimal(space: Space, level: Level, consumer: Minimax) -> MinimaxDesign:
    """The private mechanism from the space to readings with the least max_x Σ_w C[x,w]·ℓ(x,w); rational data, α < 1.

    >>> from utmost.consumer import losses
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line
    >>> minimax_optimal(line(2), alpha("1/2"), Minimax(losses.binary)).loss
    Fraction(1, 3)
    """
    if level.alpha == 1:
        raise InputError("a minimax design needs alpha < 1: at 1 every input has the same law")
    certificate = certified_optimum(minimax_program(space, level, consumer))
    rows = np.array(certificate.proof.x[:-1], dtype=object).reshape(len(space), len(space))
    mechanism = trusted_channel(space.labels, space.labels, rows)
    privacy_loss = least_epsilon(mechanism, space)
    if not privacy_loss.within(level):
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return MinimaxDesign(mechanism, certificate.upper, certificate, privacy_loss)


def minimax_program(space: Space, level: Level, consumer: Minimax) -> LinearProgram:
    """The privacy program with one more variable t, minimised, and t − Σ_w ℓ(x,w)·C[x,w] ≥ 0 for each x."""
    size = len(space)
    check_points(consumer.loss, space)
    losses = square(consumer.loss, size)
    base = privacy_program(space, level, losses)
    count, cells = base.shape
    x = np.repeat(np.arange(size), size)
    return LinearProgram(
        [Fraction(0)] * cells + [Fraction(1)],
        np.concatenate([base.rows, count + x, count + np.arange(size)]),
        np.concatenate([base.columns, np.arange(cells), np.full(size, cells)]),
        np.concatenate([base.values, [-rational(v, "loss") for v in losses.ravel()], [Fraction(1)] * size]),
        [*base.rhs, *[Fraction(0)] * size],
        np.concatenate([base.equality, np.zeros(size, dtype=bool)]),
        scale=None if base.scale is None else [*base.scale, _natural_loss(base, size)],
    )


def _natural_loss(base: LinearProgram, size: int) -> Fraction:
    """max_x Σ_w ℓ(x,w)·C[x,w] with the natural sizes of C, the size of t; 1 where that is 0."""
    assert base.scale is not None
    terms = [loss * unit for loss, unit in zip(base.cost, base.scale, strict=True)]
    return max(sum(terms[k : k + size], Fraction(0)) for k in range(0, len(terms), size)) or Fraction(1)
