"""Measures of the information about a secret, the leakage of a channel, and its capacity, the largest leakage.

Measures of the information about a secret, before and after a channel's output, and the leakage between them.

A measure is a vulnerability, which grows as the consumer learns, or an uncertainty, which falls. Those of gains and
losses, and guessing entropy, are exact numbers; Shannon's and min-entropy are logarithms, enclosed between fractions.

V_g(π) = max_w Σ_x π_x·g(w,x) and V_g[π ▷ C] = Σ_y max_w Σ_x π_x·C[x,y]·g(w,x) (FMPD23 eq. 3); U_ℓ with min for max
(eq. 4, 5). The posterior ones are what a consumer gets who remaps each output in the best way (eq. 1, Lemma A1).

The capacities of a channel, its largest leakage to any consumer, and the two miracle theorems (FMPD23 Thm 4, 5).

The two capacities range over different consumers. The multiplicative one takes any prior and any gain ≥ 0. The additive
one takes any prior and any gain, of either sign, whose vulnerability stays within [0, 1]: with gains ≥ 0 it would not
be attained, and with vulnerabilities that may be 0 the multiplicative one would be infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from utmost.channel import Channel, Matrix, Mechanism
from utmost.consumer.consumer import best_readings, first_minimum
from utmost.errors import InputError
from utmost.exact import Number, enclosure, sign
from utmost.qif.exact_algebra import (
    PRECISION_BITS,
    Enclosure,
    add_exact,
    entropy_term,
    exact_enclosure,
    log2_enclosure,
    sum_enclosures,
)
from utmost.qif.hyper import (
    PriorLike,
    TableLike,
    channel_for,
    check_table,
    check_weights,
    exact_channel,
    hyper,
    object_array,
)
from utmost.result_values import equal_fields, hash_of_kind, short_repr


def vulnerability(prior: PriorLike, gain: TableLike) -> Number:
    """V_g(π) = max_w Σ_x π_x·g[x, w], exact.

    >>> vulnerability(["1/4", "3/4"], [[1, 0], [0, 1]])
    Fraction(3, 4)
    """
    return -uncertainty(prior, -_exact_table(prior, gain, "gain"))


def uncertainty(prior: PriorLike, loss: TableLike) -> Number:
    """U_ℓ(π) = min_w Σ_x π_x·ℓ[x, w], exact. FMPD23 eq. 4.

    >>> from utmost.consumer import losses, priors
    >>> uncertainty(priors.uniform(6), losses.absolute)
    Fraction(3, 2)
    """
    scores: Matrix = check_weights(prior) @ _exact_table(prior, loss, "loss")
    minimum: Number = scores[first_minimum(scores)]
    return minimum


def posterior_vulnerability(prior: PriorLike, gain: TableLike, channel: Channel | Mechanism) -> Number:
    """V_g[π ▷ C], exact: the expected gain of a consumer who takes the best action for each output. FMPD23 eq. 3."""
    return -posterior_uncertainty(prior, -_exact_table(prior, gain, "gain"), channel_for(channel, gain))


def posterior_uncertainty(prior: PriorLike, loss: TableLike, channel: Channel | Mechanism) -> Number:
    """U_ℓ[π ▷ C], exact: the expected loss of a consumer who takes the best action for each output. FMPD23 eq. 5.

    >>> from utmost.consumer import losses, priors
    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> posterior_uncertainty(priors.uniform(6), losses.absolute, geometric(5, alpha("1/2")))
    Fraction(43, 48)
    """
    costs, rows = _weighted_losses(prior, _exact_table(prior, loss, "loss"), channel_for(channel, loss))
    actions = best_readings(costs, rows)
    return add_exact(value for y, w in enumerate(actions) for value in costs[:, w] * rows[:, y])


def best_strategy(prior: PriorLike, gain: TableLike, channel: Channel | Mechanism) -> tuple[int, ...]:
    """The action that gains most after each output: the first of those that tie, 0 for an output that never occurs."""
    return best_remap(prior, -_exact_table(prior, gain, "gain"), channel_for(channel, gain))


def best_remap(prior: PriorLike, loss: TableLike, channel: Channel | Mechanism) -> tuple[int, ...]:
    """The action that loses least after each output: the first of those that tie, 0 for an output that never occurs."""
    source = channel_for(channel, loss)
    return tuple(best_readings(*_weighted_losses(prior, _exact_table(prior, loss, "loss"), source)))


def _exact_table(prior: PriorLike, entries: TableLike, name: str) -> Matrix:
    return check_table(entries, len(check_weights(prior)), name)


def _weighted_losses(prior: PriorLike, losses: Matrix, source: Channel) -> tuple[Matrix, Matrix]:
    return check_weights(prior, len(source.inputs))[:, None] * losses, source.rows


Amount_co = TypeVar("Amount_co", covariant=True)  # an exact number, or an enclosure of one


class Measure(Protocol[Amount_co]):
    """A measure of the information about a secret."""

    @property
    def grows(self) -> bool:
        """A vulnerability, which no channel lowers; else an uncertainty, which no channel raises."""

    def prior(self, prior: PriorLike) -> Amount_co:
        """Before the channel's output."""

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Amount_co:
        """After it, in expectation over its outputs."""


@dataclass(frozen=True, slots=True)
class Gain:
    """V_g of a gain table g[x, w]."""

    __repr__ = short_repr

    table: TableLike
    grows: bool = True

    def prior(self, prior: PriorLike) -> Number:
        """V_g(π)."""
        return vulnerability(prior, self.table)

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Number:
        """V_g[π ▷ C]."""
        return posterior_vulnerability(prior, self.table, channel)


@dataclass(frozen=True, slots=True)
class Loss:
    """U_ℓ of a loss, given as a table ℓ[x, w] or as one of `utmost.losses`."""

    __repr__ = short_repr

    table: TableLike
    grows: bool = False

    def prior(self, prior: PriorLike) -> Number:
        """U_ℓ(π)."""
        return uncertainty(prior, self.table)

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Number:
        """U_ℓ[π ▷ C]."""
        return posterior_uncertainty(prior, self.table, channel)


@dataclass(frozen=True, slots=True)
class Bayes:
    """The probability of guessing the secret in one try: V of the identity gain.

    >>> bayes.prior(["1/2", "1/3", "1/6"])
    Fraction(1, 2)
    """

    grows: bool = True

    def prior(self, prior: PriorLike) -> Number:
        """The largest weight."""
        return _largest_entry(check_weights(prior))

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Number:
        """Σ_y max_x π_x·C[x, y]."""
        joint = _joint(prior, channel)
        return add_exact(_largest_entry(column) for column in joint.T)


@dataclass(frozen=True, slots=True)
class Guessing:
    """Guessing entropy: the expected number of guesses "is it x?" until yes, the likeliest secret first.

    It is U of the loss ℓ(w, x) = the position of x in the order w, over all orders; sorting finds the best.

    >>> guessing.prior(["1/2", "1/3", "1/6"])
    Fraction(5, 3)
    """

    grows: bool = False

    def prior(self, prior: PriorLike) -> Number:
        """Σ_i i·π_(i), the weights in decreasing order."""
        return _expected_guesses(check_weights(prior))

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Number:
        """The same for each output, weighted by its probability."""
        return add_exact(_expected_guesses(column) for column in _joint(prior, channel).T)


@dataclass(frozen=True, slots=True)
class Shannon:
    """Shannon entropy in bits, enclosed to about `precision` bits; its additive leakage is the mutual information.

    Known exactly where every weight is 0 or a power of 2, so that 0 is distinguished from what is merely small.

    >>> shannon.prior(["1/2", "1/4", "1/4"])
    <1.5>
    """

    precision: int = PRECISION_BITS
    grows: bool = False

    def prior(self, prior: PriorLike) -> Enclosure:
        """−Σ_x π_x·log₂ π_x."""
        return sum_enclosures([entropy_term(weight, self.precision) for weight in check_weights(prior)])

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Enclosure:
        """Σ_y p(y)·H(posterior of y) = Σ_{x,y} s(J[x,y]) − Σ_y s(p(y)) with s(p) = −p·log₂ p; ≥ 0."""
        posterior_hyper = hyper(prior, channel)
        terms = [
            _scale_enclosure(outer, self.prior([*inner]), self.precision)
            for outer, inner in zip(posterior_hyper.outers, posterior_hyper.inners.T, strict=True)
        ]
        return sum_enclosures(terms)


@dataclass(frozen=True, slots=True)
class MinEntropy:
    """Rényi's min-entropy in bits, −log₂ of Bayes vulnerability, before and after; enclosed.

    >>> min_entropy.prior(["1/2", "1/4", "1/4"])
    <1>
    """

    precision: int = PRECISION_BITS
    grows: bool = False

    def prior(self, prior: PriorLike) -> Enclosure:
        """−log₂ max_x π_x."""
        return log2_enclosure(1 / bayes.prior(prior), self.precision)

    def posterior(self, prior: PriorLike, channel: Channel | Mechanism) -> Enclosure:
        """−log₂ Σ_y max_x π_x·C[x, y]."""
        return log2_enclosure(1 / bayes.posterior(prior, channel), self.precision)


bayes = Bayes()
guessing = Guessing()
shannon = Shannon()
min_entropy = MinEntropy()


@dataclass(frozen=True, slots=True)
class Leakage(Generic[Amount_co]):
    """A measure before and after, and how far apart those are; both leakages grow with the information gained.

    additive: |posterior − prior| ≥ 0. multiplicative: the larger over the smaller, ≥ 1 for measures ≥ 0; 1 where both
    are 0, None (infinite) where only the smaller one is.
    """

    prior: Amount_co
    posterior: Amount_co
    additive: Amount_co
    multiplicative: Amount_co | None


def leakage(measure: Measure[Amount_co], prior: PriorLike, channel: Channel | Mechanism) -> Leakage[Amount_co]:
    """The leakage of a channel by this measure: never negative (FMPD23 §II-B, c).

    >>> from utmost.channel import channel
    >>> result = leakage(bayes, ["1/2", "1/2"], channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> result.additive, result.multiplicative
    (Fraction(1, 4), Fraction(3, 2))
    """
    before: Any = measure.prior(prior)
    after: Any = measure.posterior(prior, channel)
    low: Any = before if measure.grows else after
    high: Any = after if measure.grows else before
    if isinstance(low, Enclosure):
        return Leakage(before, after, *_enclosed_leakage(low, high, len(hyper(prior, channel).outers) == 1))
    return Leakage(before, after, high - low, _multiplicative_leakage(low, high))


def _multiplicative_leakage(low: Number, high: Number) -> Number | None:
    if sign(low) < 0:
        raise InputError(
            "gain must have a vulnerability >= 0 for a multiplicative leakage, got one below", "gain", "shift it"
        )
    if not low:
        return None if high else Fraction(1)
    return high / low


def _enclosed_leakage(low: Enclosure, high: Enclosure, is_constant: bool) -> tuple[Enclosure, Enclosure | None]:
    """Additive and multiplicative leakage from enclosures; a constant channel leaks exactly nothing."""
    if is_constant:
        return exact_enclosure(0), exact_enclosure(1)
    if low == exact_enclosure(0):
        return high, None
    return (high - low).at_least(0), (high / low).at_least(1)


def _joint(prior: PriorLike, channel: Channel | Mechanism) -> Matrix:
    source = channel_for(channel)
    joint: Matrix = check_weights(prior, len(source.inputs))[:, None] * source.rows
    return joint


def _largest_entry(values: Matrix) -> Number:
    best: Number = max(values)
    return best


def _expected_guesses(values: Matrix) -> Number:
    order: list[Number] = sorted(values, reverse=True)
    return add_exact(position * value for position, value in enumerate(order, start=1))


def _scale_enclosure(factor: Number, value: Enclosure, precision: int) -> Enclosure:
    """factor·number for a factor in (0, 1] and a number ≥ 0."""
    if value.lower == value.upper == 0:
        return value
    low, high = enclosure(factor, precision + 16)
    return Enclosure(low * max(value.lower, Fraction(0)), high * value.upper)


@dataclass(frozen=True, slots=True, eq=False)
class AttainedCapacity:
    """A capacity and a consumer for whom the channel leaks exactly that: a prior and a gain table."""

    __eq__ = equal_fields
    __hash__ = hash_of_kind

    __repr__ = short_repr

    value: Number
    prior: tuple[Number, ...]
    gain: Matrix


@dataclass(frozen=True, slots=True)
class Capacity:
    """The largest multiplicative and additive leakage of a channel (FMPD23 eq. 8, 9)."""

    __repr__ = short_repr

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
