"""The capacities of a channel, its largest leakage to any consumer, and the two miracle theorems (FMPD23 Thm 4, 5).

The two capacities range over different consumers. The multiplicative one takes any prior and any gain ≥ 0. The additive
one takes any prior and any gain, of either sign, whose vulnerability stays within [0, 1]: with gains ≥ 0 it would not
be attained, and with vulnerabilities that may be 0 the multiplicative one would be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from utmost.channel import Channel, Matrix, Mechanism
from utmost.errors import InputError
from utmost.exact import Number, sign
from utmost.qif.input_checks import PriorLike, TableLike, check_table, check_weights, exact_channel, object_array
from utmost.qif.leakage_measures import posterior_vulnerability, vulnerability
from utmost.qif.rational_functions import add_exact


@dataclass(frozen=True, slots=True, eq=False)
class AttainedCapacity:
    """A capacity and a consumer for whom the channel leaks exactly that: a prior and a gain table."""

    value: Number
    prior: tuple[Number, ...]
    gain: Matrix


@dataclass(frozen=True, slots=True)
class Capacity:
    """The largest multiplicative and additive leakage of a channel (FMPD23 eq. 8, 9)."""

    multiplicative: AttainedCapacity
    additive: AttainedCapacity


@dataclass(frozen=True, slots=True)
class Miracle:
    """Both sides of a miracle theorem for one consumer: leakage ≤ capacity, and whether that holds."""

    leakage: Number
    capacity: Number
    holds: bool


def capacity(channel: Channel | Mechanism) -> Capacity:
    """Multiplicative Σ_y max_x C[x,y] and additive 1 − Σ_y min_x C[x,y], exact, with consumers who attain them.

    Multiplicative: uniform prior, identity gain. V before is 1/n, after Σ_y max_x C[x,y]/n. FMPD23 Thm 4.
    Additive: uniform prior, gain 1 − n·[w = x], whose vulnerability 1 − n·min_x π_x is 0 for the uniform prior, at most
    1 for all, and 1 − Σ_y min_x C[x,y] after the channel. FMPD23 Thm 5.

    >>> from utmost.channel import channel
    >>> result = capacity(channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> result.multiplicative.value, result.additive.value
    (Fraction(3, 2), Fraction(1, 2))
    """
    columns = exact_channel(channel).rows.T
    size = columns.shape[1]
    uniform = (Fraction(1, size),) * size
    identity = object_array([[Fraction(int(x == w)) for w in range(size)] for x in range(size)])
    largest = add_exact(max(column) for column in columns)
    smallest = add_exact(min(column) for column in columns)
    multiplicative = AttainedCapacity(largest, uniform, identity)
    return Capacity(multiplicative, AttainedCapacity(1 - smallest, uniform, 1 - size * identity))


def miracle_multiplicative(prior: PriorLike, gain: TableLike, channel: Channel | Mechanism) -> Miracle:
    """V_g[π ▷ C]/V_g(π) ≤ Σ_y max_x C[x,y] for a gain ≥ 0: both sides, exact. FMPD23 Thm 4.

    Where V_g(π) is 0 so is V_g[π ▷ C], and the leakage counts as 1.
    """
    gains = _gain_matrix(prior, gain)
    if any(sign(value) < 0 for value in gains.flat):
        raise InputError(
            "gain must be >= 0 in every entry for the multiplicative theorem, got less", "gain", "add a constant"
        )
    before, after = vulnerability(prior, gains), posterior_vulnerability(prior, gains, channel)
    bound = capacity(channel).multiplicative.value
    return Miracle(after / before if before else Fraction(1), bound, after <= bound * before)


def miracle_additive(prior: PriorLike, gain: TableLike, channel: Channel | Mechanism) -> Miracle:
    """V_g[π ▷ C] − V_g(π) ≤ 1 − Σ_y min_x C[x,y] for 0 ≤ V_g(π) and g ≤ 1: both sides, exact. FMPD23 Thm 5.

    The theorem asks for 0 ≤ V_g ≤ 1 at every prior; at most 1 everywhere means g ≤ 1, and of "at least 0" only
    this prior is needed. With m_y = min_x C[x,y] and λ = Σ m_y the channel is λ of a constant one and 1 − λ of
    another, D, so V_g[π ▷ C] − V_g(π) ≤ (1 − λ)(V_g[π ▷ D] − V_g(π)) ≤ 1 − λ.
    """
    gains = _gain_matrix(prior, gain)
    before, after = vulnerability(prior, gains), posterior_vulnerability(prior, gains, channel)
    if any(value > 1 for value in gains.flat) or sign(before) < 0:
        raise InputError(
            "gain must be <= 1 and its vulnerability >= 0 for the additive theorem, got others", "gain", "scale it"
        )
    bound = capacity(channel).additive.value
    return Miracle(after - before, bound, after - before <= bound)


def _gain_matrix(prior: PriorLike, gain: TableLike) -> Matrix:
    return check_table(gain, len(check_weights(prior)))
