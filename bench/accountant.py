"""Certified composition of a thousand answers beside dp-accounting: `python bench/accountant.py` prints the table.

Both compute an upper and a lower bound of ε at δ = 10⁻⁶, dp-accounting on its default grid of losses, in doubles. Both
are told how many answers have the same law. Nothing of an earlier run is kept.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import measuring
from measuring import QUICK, Blocks, Measurement, Measurements, Section, best_time

from utmost.ledger import loss_distributions, loss_laws, loss_measures
from utmost.ledger.loss_laws import GaussianLoss, GeometricLoss, LossLaw

HEADER = [
    "1000 answers", "ε, low and high", "width", "time", "dp-accounting's ε, low and high", "its width", "its time",
    "ratio",
]  # fmt: skip
DELTA = Fraction(1, 10**6)
SHARE = 50 if QUICK else 1  # of the answers that are composed, one in so many
EQUAL, SHORT, LONG = (
    "geometric, ε = 0.03",
    "geometric of ten ε, Gaussian of five σ² ≤ 2500",
    "geometric of ten ε, Gaussian of five σ² ≤ 10⁶",
)


def mixture(variances: tuple[int, ...]) -> dict[LossLaw, int]:
    """500 geometric answers, 50 of each ε from 0.01 to 0.1, and 500 discrete Gaussian ones, 100 of each variance."""
    geometric = {GeometricLoss(Fraction(k, 100)): 50 // SHARE for k in range(1, 11)}
    return {**geometric, **{GaussianLoss(Fraction(variance)): 100 // SHARE for variance in variances}}


COMPOSITIONS: dict[str, dict[LossLaw, int]] = {
    EQUAL: {GeometricLoss(Fraction(3, 100)): 1000 // SHARE},
    SHORT: mixture((100, 200, 400, 1000, 2500)),
    LONG: mixture((100, 250, 1000, 10**4, 10**6)),
}


def clear_caches() -> None:
    """Forget all measures of earlier runs."""
    for module in (loss_distributions, loss_laws, loss_measures):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def certified_bounds(laws: dict[LossLaw, int]) -> tuple[Fraction, Fraction | None]:
    """The bounds of ε, from nothing."""
    clear_caches()
    return loss_distributions.compose(laws, DELTA).epsilon_bounds(DELTA)


def measure_utmost(laws: dict[LossLaw, int]) -> Measurement:
    """All laws composed; the bounds are multiples of 10⁻⁹."""
    seconds, (lower, upper) = best_time(lambda: certified_bounds(laws), 3)
    if upper is None:
        return {"missing": "failed: no upper bound"}
    return {"seconds": seconds, "low": float(lower), "high": float(upper), "width": float(upper - lower)}


def peer_distribution(losses: Any, law: LossLaw, pessimistic: bool) -> Any:
    """A law as dp-accounting has it."""
    if isinstance(law, GeometricLoss):
        return losses.from_discrete_laplace_mechanism(float(law.epsilon), 1, pessimistic_estimate=pessimistic)
    assert isinstance(law, GaussianLoss)
    return losses.from_discrete_gaussian_mechanism(float(law.variance) ** 0.5, 1, pessimistic_estimate=pessimistic)


def measure_dp_accounting(laws: dict[LossLaw, int]) -> Measurement:
    """The same by dp-accounting, from below and from above."""
    from dp_accounting.pld import privacy_loss_distribution as losses

    def bound(pessimistic: bool) -> float:
        groups = [peer_distribution(losses, law, pessimistic).self_compose(times) for law, times in laws.items()]
        total = groups[0]
        for group in groups[1:]:
            total = total.compose(group)
        return float(total.get_epsilon_for_delta(float(DELTA)))

    seconds, (low, high) = best_time(lambda: (bound(False), bound(True)), 3)
    return {"seconds": seconds, "low": low, "high": high, "width": high - low}


def table_row(name: str, measurements: Measurements) -> list[str]:
    """A line of the table."""
    ours, peer = measurements[name], measurements[f"dp-accounting, {name}"]
    start = [name, f"{ours['low']:.9f} … {ours['high']:.9f}", f"{ours['width']:.1e}", measuring.seconds_text(ours, 3)]
    enclosure = ["", ""] if "missing" in peer else [f"{peer['low']:.6f} … {peer['high']:.6f}", f"{peer['width']:.1e}"]
    return [*start, *enclosure, measuring.seconds_text(peer, 3), measuring.ratio_text(ours, peer)]


def report(measurements: Measurements) -> Blocks:
    """The table."""
    rows = [table_row(name, measurements) for name in COMPOSITIONS]
    return {"accountant": measuring.markdown_table(HEADER, rows)}


def time_ratio(name: str, ceiling: float, quick: bool = True) -> measuring.Figure:
    """Our time as a ratio of dp-accounting's."""
    return measuring.ratio(f"1000 answers, {name} ÷ dp-accounting", name, f"dp-accounting, {name}", ceiling, quick)


def width(name: str, ceiling: float, quick: bool = True) -> measuring.Figure:
    """Upper bound of ε minus lower bound."""
    title = f"1000 answers, {name}, upper − lower ε"
    return measuring.Figure(title, (name,), lambda m: float(m[name]["width"]), ceiling, quick, "in ε")


SECTION = Section(
    "accountant",
    {
        **{name: lambda _, laws=laws: measure_utmost(laws) for name, laws in COMPOSITIONS.items()},
        **{
            f"dp-accounting, {name}": lambda _, laws=laws: measure_dp_accounting(laws)
            for name, laws in COMPOSITIONS.items()
        },
    },
    [
        time_ratio(EQUAL, 0.05),
        time_ratio(SHORT, 3),
        time_ratio(LONG, 3, quick=False),
        width(EQUAL, 1e-6),
        width(SHORT, 1e-3),
        width(LONG, 1e-3, quick=False),
    ],
    report,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
