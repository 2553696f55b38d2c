"""Profiles of large exact channels, and their composition: `python bench/profiles.py` prints the tables.

Beside exact profiles those of the same entries as doubles in numpy: sorted by ratio and summed, which can neither merge
equal ratios nor say whether a bound is met. Beside exact composition dp-accounting's, an enclosure on a grid of losses.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import measuring
import numpy as np
from measuring import QUICK, Blocks, Measurement, Measurements, Section, best_time

import utmost as ut
from utmost.axioms import privacy_profiles
from utmost.axioms.definition import definition_of, parse_relation
from utmost.axioms.privacy_profiles import delta_at_epsilon, profile, profiles
from utmost.axioms.satisfaction import satisfaction
from utmost.channel import Channel, channel
from utmost.channel.channel import trusted_channel

PROFILE_HEADER = [
    "channel", "pairs", "breakpoints", "profiles", "numpy, doubles", "ratio",
    "a definition decided", "asked",
]  # fmt: skip
COMPOSITION_HEADER = ["releases", "times", "ratios", "exact", "δ at ε = 1", "dp-accounting", "its δ, low and high"]
LOSS_GRID_STEP = 1e-4  # dp-accounting's own
LARGE, SMALL = (20, 10) if QUICK else (1000, 100)
GEOMETRIC, DRAWN, IRRATIONAL = (
    f"geometric, α = 1/2, {LARGE} × {LARGE}",
    f"drawn fractions, {LARGE} × {LARGE}",
    f"geometric, ε = 1/10, {SMALL} × {SMALL}",
)
CHANNELS = {  # name: the definition to decide, how long that may take
    GEOMETRIC: ("alpha:1/2", "seconds"),
    DRAWN: ("approximate:1,1e-6", "seconds"),
    IRRATIONAL: ("pure:1/10", ""),
}
RESPONSE = [["10/19", "9/19"], ["9/19", "10/19"]]
COMPOSITIONS = {
    "randomised response, α = 9/10, 100 times": (RESPONSE, 10 if QUICK else 100),
    "randomised response, α = 9/10, 1000 times": (RESPONSE, 20 if QUICK else 1000),
    "three outputs, 40 times": ([["1/2", "1/3", "1/6"], ["2/5", "1/3", "4/15"]], 4 if QUICK else 40),
    "four outputs, one told, 12 times": ([["1/2", "1/4", "1/4", "0"], ["9/20", "11/40", "1/4", "1/40"]], 12),
}


def random_channel(size: int) -> Channel:
    """A channel of fractions with hardly two ratios alike."""
    weights = np.random.default_rng(1).integers(1, 10**6, (size, size)).tolist()
    rows = np.empty((size, size), dtype=object)
    rows[:] = [[Fraction(w, sum(row_weights)) for w in row_weights] for row_weights in weights]
    return trusted_channel(range(size), range(size), rows)


def profile_in_doubles(source: Channel) -> None:
    """The points of all profiles in doubles."""
    for first, second in pairwise(source.floats()):
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-second / first)
        np.cumsum(first[order]), np.cumsum(second[order])


def channel_by_name(name: str) -> Channel:
    """One of the measured channels."""
    if name == DRAWN:
        return random_channel(LARGE)
    size, level = (LARGE, ut.alpha("1/2")) if name == GEOMETRIC else (SMALL, ut.epsilon("0.1"))
    return ut.geometric(size - 1, level).channel()


def measure_profiles(name: str) -> Measurement:
    """All neighbouring pairs of a channel profiled, exactly and in doubles."""
    source = channel_by_name(name)
    neighbours = list(pairwise(source.inputs))
    seconds, breakpoints = best_time(lambda: sum(len(f.curve.points) for f in profiles(source, neighbours)), 1)
    peer = best_time(lambda: profile_in_doubles(source), 3)[0]
    return {"seconds": seconds, "peer": peer, "pairs": len(neighbours), "breakpoints": breakpoints}


def measure_decision(name: str) -> Measurement:
    """A definition decided for a channel."""
    source = channel_by_name(name)
    definition = definition_of(CHANNELS[name][0], parse_relation(f"line:{len(source.inputs)}"))
    seconds, verdict = best_time(lambda: satisfaction(source, definition), 1)
    return {"seconds": seconds, "holds": bool(verdict.holds)}


def measure_composition(rows: list[list[str]], times: int) -> Measurement:
    """A law composed with itself, exactly."""
    curve = profile(channel(rows), (0, 1)).curve
    seconds, composed_curve = best_time(
        lambda: privacy_profiles.compose_repeated(curve, times), 1 if times > 500 else 3
    )
    delta = float(delta_at_epsilon(composed_curve, ut.epsilon(1)))
    return {"seconds": seconds, "times": times, "ratios": len(composed_curve.points) - 1, "delta": delta}


def measure_dp_accounting(rows: list[list[str]], times: int) -> Measurement:
    """The same by dp-accounting, from below and from above."""
    from dp_accounting.pld import privacy_loss_distribution as losses

    laws = [{y: math.log(p) for y, p in enumerate(law.tolist()) if p} for law in channel(rows).floats()]

    def bound(pessimistic: bool) -> float:
        distribution = losses.from_two_probability_mass_functions(
            *laws, pessimistic_estimate=pessimistic, value_discretization_interval=LOSS_GRID_STEP
        )
        return float(distribution.self_compose(times).get_delta_for_epsilon(1.0))

    seconds, (low, high) = best_time(lambda: (bound(False), bound(True)), 3)
    return {"seconds": seconds, "low": low, "high": high}


def channel_row(name: str, measurements: Measurements) -> list[str]:
    """A line of the first table."""
    measurement, decision = measurements[f"profiles, {name}"], measurements[f"decision, {name}"]
    definition, target = CHANNELS[name]
    seconds, peer = measurement["seconds"], measurement["peer"]
    verdict = f"{definition}: {'met' if decision['holds'] else 'not met'}, {decision['seconds']:.1f} s"
    times = [f"{seconds:.1f} s", f"{peer:.2f} s", f"{seconds / peer:.0f}×"]
    return [name, str(measurement["pairs"]), str(measurement["breakpoints"]), *times, verdict, target]


def composition_row(name: str, measurements: Measurements) -> list[str]:
    """A line of the second table."""
    ours, peer = measurements[name], measurements[f"dp-accounting, {name}"]
    enclosure = "" if "missing" in peer else f"{peer['low']:.6g} … {peer['high']:.6g}"
    start = [name.rpartition(", ")[0], str(ours["times"]), str(ours["ratios"]), measuring.seconds_text(ours)]
    return [*start, f"{ours['delta']:.6g}", measuring.seconds_text(peer), enclosure]


def report(measurements: Measurements) -> Blocks:
    """Both tables."""
    channel_rows = [channel_row(name, measurements) for name in CHANNELS]
    composition_rows = [composition_row(name, measurements) for name in COMPOSITIONS]
    return {
        "profiles": measuring.markdown_table(PROFILE_HEADER, channel_rows),
        "compositions": measuring.markdown_table(COMPOSITION_HEADER, composition_rows),
    }


def composition_ratio(name: str, ceiling: float, quick: bool) -> measuring.Figure:
    """Exact composition as a ratio of dp-accounting's."""
    return measuring.ratio(f"{name} ÷ dp-accounting", name, f"dp-accounting, {name}", ceiling, quick)


SECTION = Section(
    "profiles",
    {
        **{f"profiles, {name}": lambda _, name=name: measure_profiles(name) for name in CHANNELS},
        **{f"decision, {name}": lambda _, name=name: measure_decision(name) for name in CHANNELS},
        **{name: lambda _, case=case: measure_composition(*case) for name, case in COMPOSITIONS.items()},
        **{
            f"dp-accounting, {name}": lambda _, case=case: measure_dp_accounting(*case)
            for name, case in COMPOSITIONS.items()
        },
    },
    [
        *(
            measuring.inner_ratio(f"profiles, {name} ÷ numpy", f"profiles, {name}", "seconds", "peer", ceiling)
            for name, ceiling in ((GEOMETRIC, 10), (DRAWN, 25), (IRRATIONAL, 6))
        ),
        composition_ratio("three outputs, 40 times", 3, True),
        composition_ratio("randomised response, α = 9/10, 1000 times", 90, False),
    ],
    report,
)

if __name__ == "__main__":
    measuring.print_section(SECTION)
