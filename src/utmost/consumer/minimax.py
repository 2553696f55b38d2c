"""A consumer without a prior minimises the worst expected loss over the secrets (end of GRS12 §4).

The best reading of an answer is random in general, and is found by a linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channel import Channel, Matrix, Mechanism, align_inputs, channel_of
from utmost.channel.channel import label_positions, trusted_channel
from utmost.consumer.losses import Loss, square
from utmost.errors import InputError
from utmost.exact import Number, rational
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum


@dataclass(frozen=True, slots=True)
class MinimaxReading:
    """A randomised remap, the worst expected loss it leaves, and the certificate that none does better."""

    remap: Channel
    loss: Fraction
    certificate: ProgramCertificate


@dataclass(frozen=True, slots=True)
class Minimax:
    """A loss alone."""

    loss: Loss

    def worst_loss(self, induced: Channel | Mechanism) -> Number:
        """max_x Σ_w Z[x,w]·ℓ(x,w) of a channel from secrets to readings, which have the secrets' labels or order."""
        source = self._channel(induced)
        columns = label_positions(source.outputs, source.inputs) or range(len(source.outputs))
        losses = (source.rows[:, list(columns)] * square(self.loss, len(source.inputs))).sum(axis=1)
        worst: Number = max(losses)
        return worst

    def reading(self, mechanism: Channel | Mechanism) -> MinimaxReading:
        """The randomised remap Y that minimises max_x Σ_w (C·Y)[x,w]·ℓ(x,w), certified; rational entries only."""
        source = self._channel(mechanism)
        certificate = certified_optimum(remap_program(source, square(self.loss, len(source.inputs))))
        remap = np.array(certificate.proof.x[:-1], dtype=object).reshape(len(source.outputs), len(source.inputs))
        return MinimaxReading(trusted_channel(source.outputs, source.inputs, remap), certificate.upper, certificate)

    def _channel(self, mechanism: Channel | Mechanism) -> Channel:
        """The channel with its inputs in the order of the loss's rows, by label."""
        labels = self.loss.labels
        return (
            channel_of(mechanism).in_order()
            if labels is None
            else align_inputs(mechanism, labels, "the loss's secrets")
        )


def remap_program(source: Channel, losses: Matrix) -> LinearProgram:
    """minimise t over stochastic Y and t with t ≥ Σ_{y,w} C[x,y]·Y[y,w]·ℓ(x,w) for every x.

    Variables: Y row by row, then t. Rows: one for each x, then one for each row of Y.
    """
    if not source.exact:
        raise InputError("a minimax reading needs a channel with exact entries")
    inputs, outputs = len(source.inputs), len(source.outputs)
    x, y, w = (
        grid.ravel() for grid in np.meshgrid(np.arange(inputs), np.arange(outputs), np.arange(inputs), indexing="ij")
    )
    products = [-rational(source.rows[i, k] * losses[i, j], "loss") for i, k, j in zip(x, y, w, strict=True)]
    remap_cells = np.arange(outputs * inputs)
    rows = np.concatenate([x, np.arange(inputs), inputs + remap_cells // inputs])
    columns = np.concatenate([y * inputs + w, np.full(inputs, outputs * inputs), remap_cells])
    values = np.array([*products, *[Fraction(1)] * (inputs + outputs * inputs)], dtype=object)
    cost = [Fraction(0)] * (outputs * inputs) + [Fraction(1)]
    rhs = [Fraction(0)] * inputs + [Fraction(1)] * outputs
    return LinearProgram(cost, rows, columns, values, rhs, np.arange(inputs + outputs) >= inputs)
