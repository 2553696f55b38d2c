"""`python bench/monotone.py`: random consumers whose losses are monotone on each side of a best reading φ(i).

For each it is decided exactly whether the remapped geometric mechanism is optimal (design.count); with φ non-decreasing
it always must be (docs/papers/grs12.md), with φ arbitrary it need not be.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from fractions import Fraction

import utmost as ut
from utmost.design.count_mechanism import remapped_geometric

RNG = random.Random(2026)
TRIALS = 5000


def unimodal_losses(size: int, best_reading: int) -> list[int]:
    """Losses that do not rise up to `best` and do not fall from there on."""
    result = [0] * size
    for direction in (range(best_reading + 1, size), range(best_reading - 1, -1, -1)):
        total = 0
        for j in direction:
            total += RNG.randint(0, 4) * RNG.choice((1, 1, 10))
            result[j] = total
    return result


def prefers_another_mechanism(max_count: int, choose_readings: Callable[[int], list[int]]) -> bool:
    """Is a random consumer served better by another mechanism."""
    size = RNG.randint(2, max_count + 1)
    weights = [RNG.choice((0, 0, 1, 2, 5, 10)) for _ in range(size)]
    weights[RNG.randrange(size)] += 1
    prior = ut.priors.explicit([Fraction(w, sum(weights)) for w in weights])
    rows = [unimodal_losses(size, best_reading) for best_reading in choose_readings(size)]
    reader = ut.Consumer(prior, ut.losses.matrix(rows))
    level = ut.alpha(Fraction(RNG.randint(1, 19), 20))
    return remapped_geometric(level, reader.costs()).objection is not None


FAMILIES: list[tuple[str, int, Callable[[int], list[int]]]] = [
    ("φ(i) = i, two sides of their own for each i, n ≤ 8", 8, lambda size: list(range(size))),
    ("φ non-decreasing, n ≤ 5", 5, lambda size: sorted(RNG.randrange(size) for _ in range(size))),
    ("φ arbitrary, n ≤ 5", 5, lambda size: [RNG.randrange(size) for _ in range(size)]),
]


def main() -> None:
    """Try and print."""
    print(f"{datetime.date.today()} · python bench/monotone.py\n")
    print("| losses | tried | not served best |\n| --- | --- | --- |")
    for name, max_count, choose_readings in FAMILIES:
        objections = sum(prefers_another_mechanism(max_count, choose_readings) for _ in range(TRIALS))
        print(f"| {name} | {TRIALS} | {objections} |", flush=True)


if __name__ == "__main__":
    main()
