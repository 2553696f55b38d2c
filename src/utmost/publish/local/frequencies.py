"""What a reader makes of randomised response: how often each value is, from how often each was answered.

With weights a (the truth) and b (each other value), S = a + (k−1)b, a value that a share f of the rows have is answered
by a share p = (b + (a − b)·f)/S of them on average. That is inverted in closed form, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from utmost.errors import InputError
from utmost.exact import Number, rational, sign
from utmost.mechanisms.randomised_response import RandomisedResponse
from utmost.publish.local.categories import CategoryMechanism
from utmost.publish.local.metadata import TableMetadata
from utmost.publish.local.table_files import open_table

OUTWARD = 1e-9  # by which floating-point ends are moved outward


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How often each value is, from n answers.

    `counts` are the answers; `estimate` is unbiased and exact, sums to 1 and can leave [0, 1]; `likeliest` is the
    exact maximum-likelihood law; `errors` are standard errors of the estimate; `intervals` hold all shares at once with
    probability at least `confidence`.
    """

    values: tuple[str, ...]
    counts: tuple[int, ...]
    estimate: tuple[Number, ...]
    likeliest: tuple[Number, ...]
    errors: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    confidence: Fraction


def recover_frequencies(record: TableMetadata, table: str | Path, confidence: object = "0.95") -> Frequencies:
    """The shares of the values among the rows of an obfuscated table, from its noisy column."""
    law = record.mechanism
    if not isinstance(law, CategoryMechanism):
        raise InputError("the table must be of randomised response to recover frequencies, got one of places")
    return estimate_frequencies(law, counted(law, Path(table), record.rows), confidence)


def counted(law: CategoryMechanism, table: Path, rows: int) -> list[int]:
    """How often each value is answered in a table."""
    import numpy as np

    totals = np.zeros(len(law.values), dtype=np.int64)
    with open_table(table, law.columns, "OUT") as reader:
        for piece in reader.pieces:
            found = law.found(piece.column(law.column))
            if (found < 0).any():
                raise InputError(f"OUT must hold the values of its note alone in column {law.column}: was it changed?")
            totals += np.bincount(found, minlength=len(totals))
    if int(totals.sum()) != rows:
        raise InputError(f"OUT must have the {rows} rows of its note, got {int(totals.sum())}: was it changed?")
    return [int(n) for n in totals]


def estimate_frequencies(law: CategoryMechanism, counts: Sequence[int], confidence: object = "0.95") -> Frequencies:
    """The same from the counts.

    >>> from utmost.exact import alpha
    >>> found = estimate_frequencies(CategoryMechanism("vote", alpha("1/2"), ("no", "yes", "none")), [50, 30, 20])
    >>> [str(f) for f in found.estimate], [str(f) for f in found.likeliest]
    (['1', '1/5', '-1/5'], ['7/8', '1/8', '0'])
    """
    share = rational(confidence, "confidence")
    if not 0 < share < 1:
        raise InputError("confidence must be between 0 and 1: 0.95 for instance")
    if len(counts) != len(law.values) or min(counts) < 0 or not sum(counts):
        raise InputError("counts must be one for each value, none below 0, and some above: the table has no rows")
    made = law.noise
    return Frequencies(
        law.values,
        tuple(counts),
        tuple(unbiased(made, counts)),
        tuple(likeliest_frequencies(made, counts)),
        tuple(standard_errors(made, counts)),
        tuple(intervals(made, counts, float(1 - share))),
        share,
    )


def unbiased(law: RandomisedResponse, counts: Sequence[int]) -> list[Number]:
    """f̂ = (S·c/n − b)/(a − b): the inverse of the channel applied to the shares c/n of the answers. Sums to 1."""
    total, (a, b) = sum(counts), (law.same, law.other)
    weight = a + (law.size - 1) * b
    return [(weight * Fraction(c, total) - b) / (a - b) for c in counts]


def likeliest_frequencies(law: RandomisedResponse, counts: Sequence[int]) -> list[Number]:
    """The law f that makes the counts most likely: maximises Σ c·log p over the simplex, p = (b + (a − b)f)/S.

    Where f > 0, p is proportional to c; where f = 0, p = b/S (Karush–Kuhn–Tucker; the problem is concave). The values
    with f = 0 are those answered least often, or most often for the dual: they are set aside one at a time, and that
    never brings back one set aside before. If no other value was answered at all, the rest have equal shares.
    """
    a, b = law.same, law.other
    weight = a + (law.size - 1) * b
    order = sorted(range(law.size), key=lambda y: counts[y], reverse=not a > b)
    total, idle = sum(counts), 0

    def share(y: int) -> Number:
        """f of a value if `idle` values are set aside and the rest have f > 0."""
        part = Fraction(counts[y], total) if total else Fraction(1, law.size - idle)
        return ((weight - idle * b) * part - b) / (a - b)

    while idle < law.size - 1 and sign(share(order[idle])) <= 0:
        total -= counts[order[idle]]
        idle += 1
    found: list[Number] = [Fraction(0)] * law.size
    for y in order[idle:]:
        found[y] = share(y)
    return found


def standard_errors(law: RandomisedResponse, counts: Sequence[int]) -> list[float]:
    """√(p(1−p)/n)·S/|a − b|, p the share of the answers: of f̂ if the rows are a sample; larger than for fixed rows."""
    n, scale = sum(counts), _scale(law)
    return [math.sqrt(c / n * (1 - c / n) / n) * scale for c in counts]


def _scale(law: RandomisedResponse) -> float:
    """S/|a − b|."""
    return abs(float((law.same + (law.size - 1) * law.other) / (law.same - law.other)))


def intervals(law: RandomisedResponse, counts: Sequence[int], miss: float) -> list[tuple[float, float]]:
    """Intervals that hold the shares of all values at once, but for a probability `miss`.

    Each end of p is Clopper and Pearson's for miss/2k, at least one count away from the count seen. The number of rows
    that answer y is a sum of independent draws; one count or more beyond its mean its tails are below those of the
    binomial law of the same mean (Hoeffding 1956, Thm 4), so the ends hold for the rows as they are, and for a
    population they are a sample of. Then f = (S·p − b)/(a − b), cut to [0, 1].
    """
    from scipy.special import betainccinv, betaincinv

    n, tail = sum(counts), miss / (2 * law.size)
    found = []
    for c in counts:
        low = min(float(betaincinv(c, n - c + 1, tail)), (c - 1) / n) if c else 0.0
        high = max(float(betainccinv(c + 1, n - c, tail)), (c + 1) / n) if c < n else 1.0
        ends = sorted(_share(law, p) for p in (low - OUTWARD, high + OUTWARD))
        found.append((min(max(ends[0], 0.0), 1.0), min(max(ends[1], 0.0), 1.0)))
    return found


def _share(law: RandomisedResponse, p: float) -> float:
    a, b = float(law.same), float(law.other)
    return ((a + (law.size - 1) * b) * p - b) / (a - b)
