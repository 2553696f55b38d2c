"""What an audit found: a lower bound on ε or on ρ, what shows it, and what becomes of the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from utmost.audit.divergences import DivergenceBound
from utmost.channel import Concentration, PrivacyLoss
from utmost.channel.channel import Label
from utmost.exact import Level, Number, decimal_below
from utmost.notebook import Figure, draw_figure, report_html

SHOWN_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ApproximateLoss:
    """How a channel stands to (ε, δ), exact, over all neighbours.

    `event` is the O with the largest Pr[O|high] − e^ε·Pr[O|low]; it has no outputs where none is above 0. `least_level`
    is the least ε at the stated `delta`, and `least_delta` the least δ at the claimed ε: None if none is claimed, and
    then O is the event that attains `least_level`.
    """

    delta: Fraction
    least_level: Level
    least_delta: Number | None
    event: tuple[Label, ...]
    high: Label
    low: Label
    high_probability: Number
    low_probability: Number


@dataclass(frozen=True, slots=True, repr=False)
class AuditResult:
    """ε ≥ `lower` per unit of distance, since `event` is likelier under `high` than under `low` by that much.

    Of a channel: `confidence` 1, `privacy_loss` has the exact ratio, and `lower` is the double nearest to ε. Of a black
    box: Pr[lower > ε] ≤ 1 − confidence over the draws, whatever the box is, as long as its draws are independent; of
    the `samples`/2 draws of the second half `counts` were in the event under `high` and under `low`. `samples` are the
    draws of each secret; `lower` is 0 where no event is likelier under one secret.

    With a `delta` the same is said of the least ε with which (ε, δ)-privacy holds, and of a channel `approximate_loss`
    has the exact numbers. With a claimed `rho`, `lower` bounds the ρ of zero-concentrated privacy, rounded down:
    `concentration` has the enclosure for a channel, `divergence` the statistic for a black box.
    """

    lower: float
    confidence: Fraction
    event: str | None
    samples: int
    high: object
    low: object
    counts: tuple[int, int] | None = None
    events_tested: int = 1
    claimed: Level | None = None
    privacy_loss: PrivacyLoss | None = None
    neighbours: str = "pair"  # else the space, `any two inputs` or `line:N`
    delta: Fraction | None = None
    rho: Fraction | None = None
    approximate_loss: ApproximateLoss | None = None
    concentration: Concentration | None = None
    divergence: DivergenceBound | None = None

    def __repr__(self) -> str:
        """The bound, rounded down, and what becomes of the claim."""
        name = "ε" if self.rho is None else "ρ"
        at_delta = "" if self.delta is None else f" at δ = {self.delta}"
        confidence = "exact" if self.is_exact else f"with confidence {decimal_below(self.confidence, SHOWN_DIGITS)}"
        claim = "" if self.verdict is None else f", claim {self.verdict}"
        return f"<AuditResult: {name} ≥ {self._shown_bound()}{at_delta}, {confidence}{claim}>"

    def _shown_bound(self) -> str:
        """The bound, exact where it is short, else rounded down; of a channel `lower` may be the next double above."""
        exact = self.privacy_loss if self.approximate_loss is None else self.approximate_loss.least_level
        if exact is not None and exact.exponent is not None:
            return decimal_below(exact.exponent, SHOWN_DIGITS)
        if math.isinf(self.lower):
            return "inf"
        return decimal_below(math.nextafter(self.lower, 0) if self.is_exact else self.lower, SHOWN_DIGITS)

    def _repr_html_(self) -> str:
        return report_html(self, "audit")

    def plot(self) -> Figure:
        """A chart of the ε or ρ that is proved and the one that is claimed."""
        return draw_figure(self, "audit")

    @property
    def is_exact(self) -> bool:
        """Is it of a channel."""
        return self.confidence == 1

    @property
    def verdict(self) -> str | None:
        """`refuted`, else `holds` (a channel: decided) or `not refuted` (a black box); None if nothing is claimed.

        `undecided` where a channel is too close to a claimed ρ for any order that was tried.
        """
        if self.claimed is None and self.rho is None:
            return None
        if not self.is_exact:
            return "refuted" if self._bound_exceeds_claim() else "not refuted"
        holds = self._channel_holds()
        return "undecided" if holds is None else "holds" if holds else "refuted"

    def _bound_exceeds_claim(self) -> bool:
        if self.rho is not None:
            return self.lower > self.rho
        assert self.claimed is not None
        return self.lower > self.claimed.epsilon

    def _channel_holds(self) -> bool | None:
        if self.concentration is not None:
            return self.concentration.holds
        if self.approximate_loss is not None:
            least_delta = self.approximate_loss.least_delta
            return least_delta is not None and bool(least_delta <= self.approximate_loss.delta)
        assert self.privacy_loss is not None
        assert self.claimed is not None
        return self.privacy_loss.within(self.claimed)
