"""One mechanism for several consumers: the least worst loss over what each could have alone, certified.

For one count the geometric mechanism is best for every consumer (GRS12). For several counts no mechanism is
(Brenner, Nissim, *Impossibility of differentially private universally optimal mechanisms*, 2010), so consumers who
must share an answer pay. With L_r(M) the expected loss of consumer r who reads each answer of M in the best way, and
L*_r the least of it over all private mechanisms, the price is

    min over private M of max over consumers r of L_r(M)/L*_r   (or of L_r(M) − L*_r).

**It is a linear program.** Let P be the cone of columns c ≥ 0 with c_x ≤ α^−d(x,x′)·c_x′ for all x, x′, and v_j its
extreme rays: the vertices of the privacy region (`polytopes.vertices`). With h_r(c) = min_w Σ_x π_r(x)·ℓ_r(x,w)·c_x the
price is

    min t   subject to   Σ_j λ_j·v_j = 1,   Σ_j λ_j·h_r(v_j) ≤ t·L*_r (or ≤ t + L*_r) for each r,   λ ≥ 0.

*Proof.* The columns of a private mechanism M are in P, so each is a sum Σ_j λ_jy·v_j. The mechanism M′ with outputs
(y, j) and columns λ_jy·v_j is private, since its columns are in P and add up to those of M; and M is M′ with j left
out, so no consumer loses more by M′. Outputs of M′ with the same j have proportional columns, so the same posterior and
the same best readings: merge them. So mechanisms with columns λ_j·v_j, Σ_j λ_j·v_j = 1, do; each of them is private;
and its loss to r is Σ_j h_r(λ_j·v_j) = Σ_j λ_j·h_r(v_j). ∎

Readings drop out since h_r is known at each ray. Equivalently, a mechanism with a reading for each consumer is a
private channel from the secrets to *tuples* of readings, one for each consumer: the same optimum as a program over
these, which is much larger. Multipliers of the second rows, scaled to add up, are weights of the consumers: no private
mechanism has a smaller weighted sum of prices than the optimum, which proves the lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from utmost.channel import Channel, Mechanism, align_inputs
from utmost.channel.channel import trusted_channel
from utmost.consumer import Consumer
from utmost.design.privacy_program import check_problem
from utmost.errors import InputError, SolverError
from utmost.exact import Level, decimal, rational
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum
from utmost.polytopes import vertices
from utmost.result_values import equal_fields, hash_of_kind
from utmost.spaces import Space
from utmost.tables import Column, ResultTable, Tabular

Measure: TypeAlias = Literal["ratio", "difference"]
Rationals: TypeAlias = tuple[Fraction, ...]

MAX_SHARED_VERTICES = 20_000  # of the region: variables of the program
MAX_CONSUMERS = 100


@dataclass(frozen=True, eq=False, repr=False)
class SharedOptimum(Tabular):
    """The mechanism whose worst price over the consumers is least.

    `certificate` bounds that price, from below for every private mechanism. `alone` are the losses that each consumer
    could have alone, `shared` those with this mechanism, and `weights` those of the proof of the lower bound.
    """

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    space: Space
    level: Level
    consumers: tuple[Consumer, ...]
    measure: Measure
    channel: Channel
    alone: Rationals
    certificate: ProgramCertificate = field(repr=False)
    weights: Rationals

    @property
    def price(self) -> Fraction:
        """The worst of `prices`: the certificate's upper end."""
        return max(self.prices)

    @property
    def shared(self) -> Rationals:
        """The expected loss of each consumer with this mechanism, read in the best way."""
        return tuple(_loss(consumer, self.channel) for consumer in self.consumers)

    @property
    def prices(self) -> Rationals:
        """What sharing costs each consumer: shared ÷ alone, or shared − alone."""
        return self._prices_of(self.shared)

    def prices_with(self, mechanism: Channel | Mechanism) -> Rationals:
        """What each consumer pays with another mechanism on the same points; its entries must be rational."""
        source = align_inputs(mechanism, self.space)
        return self._prices_of(tuple(_loss(consumer, source) for consumer in self.consumers))

    def _prices_of(self, losses: Rationals) -> Rationals:
        pairs = zip(losses, self.alone, strict=True)
        return tuple(loss / least if self.measure == "ratio" else loss - least for loss, least in pairs)

    def __repr__(self) -> str:
        """The price."""
        return (
            f"<SharedOptimum of {len(self.consumers)} consumers on {self.space.name[:40]} at {self.level}: "
            f"{self.measure} {decimal(self.price, 6)}>"
        )

    def _result_table(self) -> ResultTable:
        consumers = self.consumers
        return ResultTable(
            (
                Column.labels("prior", [consumer.prior.name for consumer in consumers]),
                Column.labels("loss", [consumer.loss.name for consumer in consumers]),
                Column.values("alone", self.alone),
                Column.values("shared", self.shared),
                Column.values(self.measure, self.prices),
                Column.values("weight", self.weights),
            )
        )


def shared_optimum(
    space: Space, level: Level, consumers: Sequence[Consumer], *, measure: Measure = "ratio"
) -> SharedOptimum:
    """The private mechanism that several consumers share at the least price, each reading it in the own best way.

    The price of a mechanism is the worst, over the consumers, of the loss with it ÷ the least loss that any private
    mechanism gives the consumer alone (`measure="difference"`: of the one minus the other). Exact: level, distances,
    priors and losses must make rational numbers. A loss may have more or fewer readings than there are points
    (`losses.matrix`: rows are points, columns readings).

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> from utmost.spaces import line, product_space
    >>> counts = product_space(line(3), line(3))
    >>> pairs = [tuple(map(int, label.split("|"))) for label in counts.labels]
    >>> first = losses.matrix([[abs(a - w) for w in range(3)] for a, b in pairs])
    >>> total = losses.matrix([[abs(a + b - w) for w in range(5)] for a, b in pairs])
    >>> readers = [Consumer(priors.uniform(9), loss) for loss in (first, total)]
    >>> shared_optimum(counts, alpha("1/2"), readers)
    <SharedOptimum of 2 consumers on line:3+line:3 at α = 1/2 (ε ≈ 0.693147): ratio 1.03899>
    >>> readers = [Consumer(priors.uniform(6), loss) for loss in (losses.absolute, losses.binary)]
    >>> shared_optimum(line(6), alpha("1/2"), readers).price
    Fraction(1, 1)
    """
    readers = _checked_consumers(space, level, consumers, measure)
    columns = _vertex_columns(space, level)
    losses = [_ray_losses(reader, columns) for reader in readers]
    alone = tuple(_exact_optimum(_alone_program(columns, loss)).upper for loss in losses)
    if measure == "ratio" and not all(alone):
        raise InputError(
            "ratio needs consumers who lose something at best, got one whose least loss is 0",
            "measure",
            'use measure="difference"',
        )
    certificate = _exact_optimum(_shared_program(columns, losses, alone, measure))
    *masses, _ = certificate.proof.x
    channel = _channel(space, columns, masses)
    multipliers = certificate.proof.y[len(space) :]
    return SharedOptimum(
        space, level, readers, measure, channel, alone, certificate, _weights(multipliers, alone, measure)
    )


def _checked_consumers(
    space: Space, level: Level, consumers: Sequence[Consumer], measure: Measure
) -> tuple[Consumer, ...]:
    """The consumers, if the problem is one that can be solved exactly."""
    readers = tuple(consumers)
    if not 1 <= len(readers) <= MAX_CONSUMERS:
        raise InputError(f"consumers must be from 1 to {MAX_CONSUMERS}, got {len(readers)}", "consumers")
    if any(not isinstance(reader, Consumer) for reader in readers):
        raise InputError("consumers must each be made by Consumer(prior, loss), got another", "consumers")
    if measure not in ("ratio", "difference"):
        raise InputError(f"measure must be ratio or difference, got {str(measure)[:40]}", "measure")
    for reader in readers:
        check_problem(space, level, reader)
    if not level.is_inner or not isinstance(level.alpha, Fraction):
        raise InputError(
            "level must have a rational alpha between 0 and 1 where consumers share a mechanism, got another",
            "level",
            'alpha("1/2"), for an epsilon of ln 2',
        )
    return readers


def _vertex_columns(space: Space, level: Level) -> list[Rationals]:
    """α^k of each vertex of the region, as fractions."""
    columns: list[Rationals] = []
    powers: dict[object, Fraction] = {}
    for exponents in vertices(space):
        if len(columns) == MAX_SHARED_VERTICES:
            raise InputError(
                f"space must have a region of at most {MAX_SHARED_VERTICES} vertices, {space.name[:40]} has more",
                "space",
                "take fewer points",
            )
        for exponent in exponents:
            if exponent not in powers:
                powers[exponent] = rational(level.power(exponent), "alpha^distance")
        columns.append(tuple(powers[exponent] for exponent in exponents))
    return columns


def _ray_losses(consumer: Consumer, columns: Sequence[Rationals]) -> Rationals:
    """h_r(v_j): what each ray costs, read in the best way."""
    readings = [[rational(cost, "cost") for cost in column] for column in consumer.costs().T.tolist()]
    distinct = list(dict.fromkeys(map(tuple, readings)))
    return tuple(min(_dot(reading, column) for reading in distinct) for column in columns)


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if a), Fraction(0))


def _alone_program(columns: Sequence[Rationals], losses: Rationals) -> LinearProgram:
    """min Σ λ_j·h(v_j) subject to Σ λ_j·v_j = 1."""
    size = len(columns[0])
    points, rays = np.meshgrid(np.arange(size), np.arange(len(columns)))
    values = np.array([value for column in columns for value in column], dtype=object)
    return LinearProgram(losses, points.ravel(), rays.ravel(), values, [Fraction(1)] * size, np.ones(size, dtype=bool))


def _shared_program(
    columns: Sequence[Rationals], losses: Sequence[Rationals], alone: Rationals, measure: Measure
) -> LinearProgram:
    """min t; the rows of the consumers are scale·t − Σ λ_j·h_r(v_j) ≥ bound."""
    size, count = len(columns[0]), len(columns)
    one = _alone_program(columns, losses[0])
    is_ratio = measure == "ratio"
    rows, places, values = [one.rows], [one.columns], [one.values]
    for row, (loss, least) in enumerate(zip(losses, alone, strict=True), size):
        rows.append(np.full(count + 1, row))
        places.append(np.arange(count + 1))
        values.append(np.array([*(-value for value in loss), least if is_ratio else Fraction(1)], dtype=object))
    bounds = [Fraction(0) if is_ratio else -least for least in alone]
    return LinearProgram(
        [*([Fraction(0)] * count), Fraction(1)],
        np.concatenate(rows),
        np.concatenate(places),
        np.concatenate(values),
        [*([Fraction(1)] * size), *bounds],
        np.arange(size + len(losses)) < size,
    )


def _exact_optimum(program: LinearProgram) -> ProgramCertificate:
    """The certified optimum, its bounds equal."""
    certificate = certified_optimum(program)
    if not certificate.exact:
        raise SolverError(
            "the program of the consumers must be solved exactly, and its bounds differ: take fewer points"
        )
    return certificate


def _channel(space: Space, columns: Sequence[Rationals], masses: Sequence[Fraction]) -> Channel:
    """The columns λ_j·v_j with λ_j > 0, numbered from 1."""
    used = [(column, mass) for column, mass in zip(columns, masses, strict=True) if mass]
    rows = np.array([[mass * value for value in column] for column, mass in used], dtype=object).T
    return trusted_channel(space.labels, range(1, len(used) + 1), rows)


def _weights(multipliers: Sequence[Fraction], alone: Rationals, measure: Measure) -> Rationals:
    """Weights of the prices that add up to 1: with ratios a multiplier counts alone times; any where none is needed."""
    raw = [m * (least if measure == "ratio" else 1) for m, least in zip(multipliers, alone, strict=True)]
    total = sum(raw, Fraction(0))
    return tuple(weight / total if total else Fraction(1, len(raw)) for weight in raw)


def _loss(consumer: Consumer, channel: Channel) -> Fraction:
    """The expected loss with the best readings, points in the order of the prior; entries must be rational."""
    if not all(isinstance(entry, Fraction) for entry in channel.rows.flat):
        raise InputError(
            "mechanism must have rational entries here, got others", "mechanism", "comparison.compare takes any"
        )
    return _dot(
        [Fraction(1)] * len(channel.outputs), _ray_losses(consumer, [tuple(column) for column in channel.rows.T])
    )
