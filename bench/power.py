"""`python bench/power.py`: how many draws the audit needs to refute a wrong claim, how often it refutes a right one.

The noise of the Laplace samplers lies on the grid of 1/1024, or its low bits would identify the secret first.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import utmost as ut
from utmost.audit import sampled_bound
from utmost.noise import geometric_noise

GRID_STEPS = 1024
RNG = np.random.default_rng()


def laplace_sampler(rate: str) -> Callable[..., Any]:
    """Laplace noise of this rate."""
    level = ut.epsilon(Fraction(rate) / GRID_STEPS)
    return lambda secrets, _: np.asarray(secrets) + geometric_noise(level, len(secrets)) / GRID_STEPS


def clamping_failure(secrets: Any, _: float) -> Any:
    """A count from 0 to 20 at ε = 0.1 that returns the truth where the noise leads more than 12 beyond the ends."""
    truth = np.asarray(secrets)
    answers = truth + geometric_noise(ut.epsilon("0.1"), len(truth))
    return np.where((answers < -12) | (answers > 32), truth, np.clip(answers, 0, 20))


def doubles(secrets: Any, _: float) -> Any:
    """numpy's Laplace noise in doubles."""
    return np.asarray(secrets) + RNG.laplace(0, 1, len(secrets))


def rare(secrets: Any, _: float) -> Any:
    """The secret itself, once in 1000 draws."""
    return [f"leak{s}" if r < 0.001 else 0 for s, r in zip(secrets, RNG.random(len(secrets)), strict=True)]


def refutation_count(sampler: Callable[..., Any], claimed: str, draws: int, audits: int, confidence: str) -> str:
    """In how many audits the claim was refuted."""
    claim = {"claimed": ut.epsilon(claimed), "confidence": Fraction(confidence)}
    audit_results = [sampled_bound(sampler, (0, 1), samples=draws, **claim) for _ in range(audits)]
    return f"{sum(result.verdict == 'refuted' for result in audit_results)} of {audits}"


WRONG_CLAIMS = [
    (
        "Laplace noise, a fifth too little",
        "1",
        "1.25",
        laplace_sampler("5/4"),
        ((3000, 100), (6000, 100), (10_000, 100)),
    ),
    ("Laplace noise, a twentieth too little", "1", "1.05", laplace_sampler("21/20"), ((100_000, 8), (200_000, 8))),
    ("a count that gives up on far answers and tells the truth", "0.1", "1.49", clamping_failure, ((1000, 100),)),
    ("Laplace noise in doubles, by its low bits", "1", "∞", doubles, ((500, 20),)),
    ("the secret itself, once in 1 000 draws", "0.1", "∞", rare, ((50_000, 20),)),
]


def geometric_sampler(level: str) -> Callable[..., Any]:
    """The geometric mechanism of utmost."""
    mechanism = ut.geometric(20, ut.epsilon(level))
    return lambda secrets, _: mechanism.draw(secrets)


RIGHT_CLAIMS = [
    ("geometric", "1", geometric_sampler("1")),
    ("geometric", "0.1", geometric_sampler("0.1")),
    ("Laplace on a grid", "1", laplace_sampler("1")),
]


def main() -> None:
    """Measure and print."""
    print(f"{datetime.date.today()} · python bench/power.py\n")
    print("| what is wrong | claimed | real | draws of each secret | refuted |\n| --- | --- | --- | --- | --- |")
    for name, claimed, real, sampler, plans in WRONG_CLAIMS:
        for draws, audits in plans:
            refutations = refutation_count(sampler, claimed, draws, audits, "99/100")
            print(f"| {name} | {claimed} | {real} | {draws} | {refutations} |", flush=True)
    print("\n| what is right | claimed | refuted at 90 %, 30 allowed | at 99 %, 3 allowed |\n| --- | --- | --- | --- |")
    for name, claimed, sampler in RIGHT_CLAIMS:
        refutations = (refutation_count(sampler, claimed, 1000, 300, sure) for sure in ("9/10", "99/100"))
        print(f"| {name} | {claimed} | {' | '.join(refutations)} |", flush=True)


if __name__ == "__main__":
    main()
