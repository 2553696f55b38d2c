"""Profiles of large exact channels, and their composition: functions for bench/run.py, or run by itself.

Beside exact profiles those of the same entries as doubles in numpy: sorted by ratio and summed, which can neither merge
equal ratios nor say whether a bound is met. Beside exact composition dp-accounting's, an enclosure on a grid of losses.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import utmost as ut
from utmost.axioms import composition, divergence
from utmost.axioms.definition import definition_of
from utmost.axioms.profile import profile, profiles
from utmost.axioms.relation import parse_relation
from utmost.axioms.satisfaction import satisfaction
from utmost.channel import Channel, channel
from utmost.channel.channel import trusted_channel

PROFILE_HEADER = [
    "channel", "pairs", "breakpoints", "profiles", "numpy, doubles", "ratio",
    "a definition decided", "asked",
]  # fmt: skip
COMPOSITION_HEADER = ["releases", "times", "ratios", "exact", "δ at ε = 1", "dp-accounting", "its δ, low and high"]
LOSS_GRID_STEP = 1e-4  # dp-accounting's own


def time_call(task: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result."""
    start = time.perf_counter()
    result = task()
    return time.perf_counter() - start, result


def random_channel(size: int) -> Channel:
    """A channel of fractions with hardly two ratios alike."""
    weights = np.random.default_rng(1).integers(1, 10**6, (size, size)).tolist()
    rows = np.empty((size, size), dtype=object)
    rows[:] = [[Fraction(w, sum(channel_row)) for w in channel_row] for channel_row in weights]
    return trusted_channel(range(size), range(size), rows)


def profile_in_doubles(source: Channel) -> None:
    """The points of all profiles in doubles."""
    for first, second in pairwise(source.floats()):
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-second / first)
        np.cumsum(first[order]), np.cumsum(second[order])


def channel_row(name: str, source: Channel, definition_text: str, target: str) -> list[str]:
    """One channel: all neighbouring pairs profiled, and a definition decided."""
    neighbours = list(pairwise(source.inputs))
    seconds, breakpoints = time_call(lambda: sum(len(f.curve.points) for f in profiles(source, neighbours)))
    double_seconds, _ = time_call(lambda: profile_in_doubles(source))
    definition = definition_of(definition_text, parse_relation(f"line:{len(source.inputs)}"))
    decision_seconds, verdict = time_call(lambda: satisfaction(source, definition))
    verdict_text = f"{definition_text}: {'met' if verdict.holds else 'not met'}, {decision_seconds:.1f} s"
    times = [f"{seconds:.1f} s", f"{double_seconds:.2f} s", f"{seconds / double_seconds:.0f}×", verdict_text, target]
    return [name, str(len(neighbours)), str(breakpoints), *times]


def channel_rows() -> list[list[str]]:
    """Lines of the first table."""
    return [
        channel_row(
            "geometric, α = 1/2, 1000 × 1000", ut.geometric(999, ut.alpha("1/2")).channel(), "alpha:1/2", "seconds"
        ),
        channel_row("drawn fractions, 1000 × 1000", random_channel(1000), "approximate:1,1e-6", "seconds"),
        channel_row("geometric, ε = 1/10, 100 × 100", ut.geometric(99, ut.epsilon("0.1")).channel(), "pure:1/10", ""),
    ]


def composition_row(name: str, rows: list[list[str]], times: int) -> list[str]:
    """One law composed with itself, both ways."""
    source = channel(rows)
    curve = profile(source, (0, 1)).curve
    seconds, composed_curve = time_call(lambda: composition.compose_repeated(curve, times))
    delta = float(divergence.delta_at_epsilon(composed_curve, ut.epsilon(1)))
    start = [name, str(times), str(len(composed_curve.points) - 1), f"{seconds:.2f} s", f"{delta:.6g}"]
    return start + dp_accounting_cells(source, times)


def dp_accounting_cells(source: Channel, times: int) -> list[str]:
    """The same by dp-accounting, from below and from above."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as losses
    except ImportError:
        return ["not installed", ""]
    laws = [{y: math.log(p) for y, p in enumerate(law.tolist()) if p} for law in source.floats()]

    def bound(pessimistic: bool) -> float:
        distribution = losses.from_two_probability_mass_functions(
            *laws, pessimistic_estimate=pessimistic, value_discretization_interval=LOSS_GRID_STEP
        )
        return float(distribution.self_compose(times).get_delta_for_epsilon(1.0))

    seconds, (low, high) = time_call(lambda: (bound(False), bound(True)))
    return [f"{seconds:.2f} s", f"{low:.6g} … {high:.6g}"]


def composition_rows() -> list[list[str]]:
    """Lines of the second table."""
    return [
        composition_row("randomised response, α = 9/10", [["10/19", "9/19"], ["9/19", "10/19"]], 100),
        composition_row("randomised response, α = 9/10", [["10/19", "9/19"], ["9/19", "10/19"]], 1000),
        composition_row("three outputs", [["1/2", "1/3", "1/6"], ["2/5", "1/3", "4/15"]], 40),
        composition_row("four outputs, one told", [["1/2", "1/4", "1/4", "0"], ["9/20", "11/40", "1/4", "1/40"]], 12),
    ]


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows])


def report() -> str:
    """Both tables."""
    return (
        markdown_table(PROFILE_HEADER, channel_rows()) + "\n\n" + markdown_table(COMPOSITION_HEADER, composition_rows())
    )


if __name__ == "__main__":
    print(report(), file=sys.stdout)
