"""`python bench/power.py`: how many draws the audit needs to refute a wrong claim, how often it refutes a right one.

The noise of the Laplace boxes lies on the grid of 1/1024, or its low bits would give it away first.
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

GRAIN = 1024
RNG = np.random.default_rng()


def laplace(rate: str) -> Callable[..., Any]:
    """Laplace noise of this rate."""
    level = ut.epsilon(Fraction(rate) / GRAIN)
    return lambda secrets, _: np.asarray(secrets) + geometric_noise(level, len(secrets)) / GRAIN


def truthful(secrets: Any, _: float) -> Any:
    """A count from 0 to 20 at ε = 0.1 that tells the truth where the noise leads more than 12 beyond the ends."""
    truth = np.asarray(secrets)
    answers = truth + geometric_noise(ut.epsilon("0.1"), len(truth))
    return np.where((answers < -12) | (answers > 32), truth, np.clip(answers, 0, 20))


def doubles(secrets: Any, _: float) -> Any:
    """numpy's Laplace noise in doubles."""
    return np.asarray(secrets) + RNG.laplace(0, 1, len(secrets))


def rare(secrets: Any, _: float) -> Any:
    """The secret itself, once in 1000 draws."""
    return [f"leak{s}" if r < 0.001 else 0 for s, r in zip(secrets, RNG.random(len(secrets)), strict=True)]


def refuted(box: Callable[..., Any], claimed: str, draws: int, audits: int, confidence: str) -> str:
    """In how many audits the claim was refuted."""
    level, sure = ut.epsilon(claimed), Fraction(confidence)
    found = [sampled_bound(box, (0, 1), samples=draws, claimed=level, confidence=sure) for _ in range(audits)]
    return f"{sum(f.verdict == 'refuted' for f in found)} of {audits}"


WRONG = [
    ("Laplace noise, a fifth too little", "1", "1.25", laplace("5/4"), ((3000, 100), (6000, 100), (10_000, 100))),
    ("Laplace noise, a twentieth too little", "1", "1.05", laplace("21/20"), ((100_000, 8), (200_000, 8))),
    ("a count that gives up on far answers and tells the truth", "0.1", "1.49", truthful, ((1000, 100),)),
    ("Laplace noise in doubles, by its low bits", "1", "∞", doubles, ((500, 20),)),
    ("the secret itself, once in 1 000 draws", "0.1", "∞", rare, ((50_000, 20),)),
]


def counts(level: str) -> Callable[..., Any]:
    """The geometric mechanism of utmost."""
    mechanism = ut.geometric(20, ut.epsilon(level))
    return lambda secrets, _: mechanism.draw(secrets)


RIGHT = [("geometric", "1", counts("1")), ("geometric", "0.1", counts("0.1")), ("Laplace on a grid", "1", laplace("1"))]


def main() -> None:
    """Measure and print."""
    print(f"{datetime.date.today()} · python bench/power.py\n")
    print("| what is wrong | claimed | real | draws of each secret | refuted |\n| --- | --- | --- | --- | --- |")
    for name, claimed, real, box, plans in WRONG:
        for draws, audits in plans:
            told = refuted(box, claimed, draws, audits, "99/100")
            print(f"| {name} | {claimed} | {real} | {draws} | {told} |", flush=True)
    print("\n| what is right | claimed | refuted at 90 %, 30 allowed | at 99 %, 3 allowed |\n| --- | --- | --- | --- |")
    for name, claimed, box in RIGHT:
        told = (refuted(box, claimed, 1000, 300, sure) for sure in ("9/10", "99/100"))
        print(f"| {name} | {claimed} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
