"""The conditions of KL10 Lemmas 3.3.4, 3.3.5 and 3.3.8, typed in as they stand, and 2 × n mechanisms to try them on.

A 2 × n mechanism is its first row p₁ … pₙ in the paper's matrix: p_j = P(first output | input j). Inputs are those of a
line, e^ε = 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

from utmost.axioms.dobrushin import least_overlap
from utmost.axioms.relation import Relation, parse_relation
from utmost.channel import Channel, channel
from utmost.exact import Number, alpha

RATE = Fraction(2)
START_VALUES = tuple(Fraction(k, 12) for k in range(1, 12))


def two_output_channel(law: Sequence[Fraction]) -> Channel:
    """The channel with two outputs and these probabilities of the first."""
    return channel([[p, 1 - p] for p in law])


def least_overlap_law(size: int) -> list[Fraction]:
    """A 2 × n mechanism with the least overlap of inputs 1 and n, by a certified program; m₁,₁ ≤ m₁,ₙ."""
    program = least_overlap(parse_relation(f"line:{size}"), alpha("1/2"), 0, size - 1)
    assert program.exact
    return list(program.x[:size])


def end_overlap(law: Sequence[Fraction]) -> Fraction:
    """−E₁,ₙ: the overlap of the first and the last input."""
    return min(law[0], law[-1]) + min(1 - law[0], 1 - law[-1])


def meets_lemma334(law: Sequence[Fraction]) -> bool:
    """Lemma 3.3.4: m₁,ⱼ = max(e^−ε·m₁,ⱼ₊₁, 1 − (1 − m₁,ⱼ₊₁)·e^ε) for all j."""
    return all(p == max(q / RATE, 1 - (1 - q) * RATE) for p, q in pairwise(law))


def meets_lemma335(law: Sequence[Fraction]) -> bool:
    """Lemma 3.3.5, for m₁,₁ ≤ m₁,ₙ, with the paper's indices from 1."""
    n, row = len(law), [Fraction(0), *law]
    rising, falling = (
        (range(2, n // 2 + 2), range(n // 2 + 1, n + 1))
        if n % 2 == 0
        else (range(2, (n + 1) // 2 + 1), range((n + 3) // 2, n + 1))
    )
    first = all(row[j] == RATE * row[j - 1] for j in rising)
    return first and all(1 - row[j] == (1 - row[j - 1]) / RATE for j in falling)


def trial_laws(size: int) -> Iterator[list[Fraction]]:
    """Private 2 × n mechanisms: from a value in the middle every step is as steep as it may be, half of it, or flat."""
    middle = (size + 1) // 2
    cases = [(start, kind) for start in START_VALUES for kind in product(range(3), repeat=min(2, size - 1))]
    for start, (first_kind, *rest) in cases:
        second_kind = rest[0] if rest else first_kind
        backward = _next_values(start, [first_kind if k % 2 else second_kind for k in range(middle - 1)], rising=False)
        forward = _next_values(start, [second_kind if k % 2 else first_kind for k in range(size - middle)], rising=True)
        yield [*reversed(backward), start, *forward]


def _next_values(start: Fraction, kinds: Sequence[int], *, rising: bool) -> list[Fraction]:
    """The next values: kind 0 is the furthest that privacy allows, 1 halfway to it, 2 none."""
    values, value = [], start
    for kind in kinds:
        limit = min(value * RATE, 1 - (1 - value) / RATE) if rising else max(value / RATE, 1 - (1 - value) * RATE)
        value = (limit, (value + limit) / 2, value)[kind]
        values.append(value)
    return values


def meets_printed_lemma338(source: Channel, path: Sequence[int]) -> bool:
    """Lemma 3.3.8's condition on all outputs, as printed: j from 2, and "and" where d is odd."""
    d = len(path) - 1

    def tight(column: Sequence[Number], steps: range, factor: Fraction) -> bool:
        return all(column[path[j]] == factor * column[path[j - 1]] for j in steps)

    def holds(column: Sequence[Number]) -> bool:
        if d % 2 == 0:
            return tight(column, range(2, d // 2 + 2), RATE) or tight(column, range(d // 2 + 1, d + 1), 1 / RATE)
        rising, falling = range(2, (d + 1) // 2 + 1), range((d + 3) // 2, d + 1)
        return tight(column, rising, RATE) and tight(column, falling, 1 / RATE)

    return all(holds(column) for column in source.rows.T.tolist())


def meets_corrected_lemma338(source: Channel, relation: Relation) -> bool:
    """The condition put right, on some shortest path between secrets at the diameter: written out once more."""
    d = relation.diameter
    assert d is not None
    h = (d + 1) // 2
    end_pairs = [(x, z) for x in range(len(relation)) for z, step in enumerate(relation.distances(x)) if step == d]
    paths = [path for x, z in end_pairs if (path := relation.path(x, z)) is not None]

    def holds(column: Sequence[Number], path: Sequence[int]) -> bool:
        steps = [(column[a], column[b]) for a, b in pairwise(path)]
        return all(b == RATE * a for a, b in steps[:h]) or all(a == RATE * b for a, b in steps[d - h :])

    return any(all(holds(column, path) for column in source.rows.T.tolist()) for path in paths)
