"""The private mechanism with the least worst expected loss over the secrets (end of GRS12 §4), on any space.

With irrational data the optimum lies between those of two rational programs. A larger ratio α^d is more private and a
smaller one less, so the program with ratios and losses rounded up has a mechanism that is private and costs no more
than it says, and the one with both rounded down a bound that no private mechanism is below.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, PrivacyLoss, least_epsilon
from utmost.channel.channel import trusted_channel
from utmost.consumer import Minimax
from utmost.consumer.losses import check_points
from utmost.design.optimal import MAX_RELATIVE_GAP, PRECISION_BITS, RoundedLevel
from utmost.design.privacy_program import Rate, has_irrational_powers, minimax_program, round_costs
from utmost.errors import InputError, SolverError
from utmost.exact import Level, Real, decimal, decimal_above
from utmost.lp import Bounds, Certificate, LinearProgram, ProgramCertificate, certified_optimum
from utmost.notebook import Figure, report_html
from utmost.spaces import Space

MAX_PROGRAM_CELLS = 20_000  # generating pairs times readings, of a program that is solved exactly


@dataclass(frozen=True, slots=True)
class RoundedProof:
    """Certificates of the two rational programs on either side: `x` is the mechanism of the more private one."""

    above: ProgramCertificate
    below: ProgramCertificate

    @property
    def x(self) -> tuple[Fraction, ...]:
        """The mechanism, row by row, and its worst expected loss."""
        return self.above.proof.x

    @property
    def method(self) -> str:
        """In words."""
        return "exact multipliers of linear programs on both sides of irrational numbers"

    def bounds(self) -> Bounds:
        """The upper end of the one and the lower end of the other, once both are checked."""
        return Bounds(self.below.proof.bounds().lower, self.above.proof.bounds().upper)


MinimaxCertificate: TypeAlias = ProgramCertificate | Certificate[Fraction, RoundedProof]


@dataclass(frozen=True, slots=True, repr=False)
class MinimaxDesign:
    """A mechanism, its worst expected loss, the program's certificate, and the ε recomputed from its entries."""

    channel: Channel
    loss: Fraction
    certificate: MinimaxCertificate
    privacy_loss: PrivacyLoss

    def __repr__(self) -> str:
        """The worst expected loss, the ε, and the number of secrets."""
        gap = self.certificate.gap
        bound = f"at most {decimal_above(self.loss)}, gap {decimal_above(gap, 2)}" if gap else decimal(self.loss)
        loss = f"worst expected loss {bound}, {self.privacy_loss.text}"
        return f"<MinimaxDesign: {loss}; {len(self.channel.inputs)} secrets>"

    def _repr_html_(self) -> str:
        return report_html(self, "optimum", "describe_minimax")

    def plot(self) -> Figure:
        """A heat map of the mechanism, or some of its laws where it is large."""
        return self.channel.plot()


def minimax_optimal(space: Space, level: Level, consumer: Minimax) -> MinimaxDesign:
    """The private mechanism from the space to readings with the least max_x Σ_w C[x,w]·ℓ(x,w), certified.

    Any space, level and loss: exact where the data are rational, else within a gap below 10⁻¹⁰ of the loss, as a rule.

    >>> from utmost.consumer import losses
    >>> from utmost.exact import alpha, epsilon
    >>> from utmost.spaces import grid, line
    >>> minimax_optimal(line(2), alpha("1/2"), Minimax(losses.binary)).loss
    Fraction(1, 3)
    >>> places = grid(2, 2)
    >>> minimax_optimal(places, epsilon(1), Minimax("distance", space=places)).certificate.gap < Fraction(1, 10**10)
    True
    """
    if not isinstance(level, Level):
        raise InputError(f'level must be made by alpha("1/2") or epsilon("0.1"), got {type(level).__name__}', "level")
    check_points(consumer.loss, space)
    losses = consumer.loss.matrix(len(space))
    _check_losses(space, losses)
    certificate = _certificate(space, level, losses)
    readings = losses.shape[1]
    rows = np.array(certificate.proof.x[:-1], dtype=object).reshape(-1, readings)
    if len(rows) < len(space):  # one law for all
        rows = np.repeat(rows, len(space), axis=0)
    outputs = space.labels if readings == len(space) else tuple(f"w{k}" for k in range(readings))
    mechanism = trusted_channel(space.labels, outputs, rows)
    privacy_loss = least_epsilon(mechanism, space)
    if not privacy_loss.within(level):
        raise SolverError("the mechanism found did not pass its own certificate; nothing is returned")
    return MinimaxDesign(mechanism, certificate.upper, certificate, privacy_loss)


def _check_losses(space: Space, losses: Matrix) -> None:
    if any(isinstance(value, float) for value in losses.flat):
        raise InputError(
            "a minimax design needs an exact loss, got floats", "loss", "Minimax(rows) reads doubles exactly"
        )
    if len(space.edge_array) * losses.shape[1] > MAX_PROGRAM_CELLS:
        raise InputError(
            f"a minimax design must have at most {MAX_PROGRAM_CELLS} generating pairs times readings, got "
            f"{len(space.edge_array)} x {losses.shape[1]}",
            "space",
            "take fewer points, or optimal for a prior",
        )


def _certificate(space: Space, level: Level, losses: Matrix) -> MinimaxCertificate:
    """The certified optimum: of one program where the data are rational, else of two that enclose them."""
    if level.alpha == 1 and not has_irrational_values(losses.flat):
        return certified_optimum(silent_program(losses))
    if not has_irrational_values(losses.flat) and not has_irrational_powers(space, level):
        return certified_optimum(minimax_program(space, level, losses))
    best: Certificate[Fraction, RoundedProof] | None = None
    for bits in PRECISION_BITS:
        below, above = (_rounded_optimum(space, level, losses, bits, side) for side in (0, 1))
        enclosed = Certificate(below.lower, above.upper, RoundedProof(above, below))
        best = enclosed if best is None or enclosed.gap < best.gap else best
        if best.gap <= MAX_RELATIVE_GAP * best.upper:
            break
    assert best is not None
    return best


def has_irrational_values(values: Iterable[object]) -> bool:
    """Is one of the values no fraction."""
    return any(isinstance(value, Real) for value in values)


def _rounded_optimum(space: Space, level: Level, losses: Matrix, bits: int, side: int) -> ProgramCertificate:
    rounded = round_costs(losses, bits, side)
    if level.alpha == 1:
        return certified_optimum(silent_program(rounded))
    rate: Rate = RoundedLevel(level, bits, side) if level.is_inner else level
    return certified_optimum(minimax_program(space, rate, rounded))


def silent_program(losses: Matrix) -> LinearProgram:
    """minimise t over one law q of readings for all secrets: t − Σ_w ℓ(x,w)·q_w ≥ 0 for each x, Σ q = 1."""
    size, readings = losses.shape
    x, w = (axis.ravel() for axis in np.meshgrid(np.arange(size), np.arange(readings), indexing="ij"))
    return LinearProgram(
        [Fraction(0)] * readings + [Fraction(1)],
        np.concatenate([x, np.arange(size), np.full(readings, size)]),
        np.concatenate([w, np.full(size, readings), np.arange(readings)]),
        np.array([*(-value for value in losses.ravel()), *[Fraction(1)] * (size + readings)], dtype=object),
        [Fraction(0)] * size + [Fraction(1)],
        np.arange(size + 1) >= size,
    )
