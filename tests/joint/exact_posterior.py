"""The posterior of a small table in fractions: every table within the windows, by the laws' own definitions."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from utmost.joint.laws import CanonicalNoise, FoundNoise, GaussianNoise, GeometricNoise
from utmost.joint.windows import Windows

DIGITS = 50  # of exponentials
TAIL_DEVIATIONS = 20


@cache
def gaussian_weight(noise, variance):
    """e^(−n²/(2σ²)) to 50 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        exponent = Decimal(-(noise**2) * variance.denominator) / Decimal(2 * variance.numerator)
        return Fraction(exponent.exp())


@cache
def likelihood(law, value, count):
    """Pr[value given count], up to a constant that is the same for all counts."""
    distance = abs(count - value)
    if isinstance(law, GeometricNoise):
        return law.level.alpha**distance
    if isinstance(law, CanonicalNoise):
        return law.law.level.alpha**distance if distance <= law.law.reach else Fraction(0)
    if isinstance(law, FoundNoise):
        told, place = law.law.probability, count + law.law.threshold - value
        inside = 1 <= place <= count
        return (told(place) - told(place - 1)) / told(count) if inside else Fraction(0)
    assert isinstance(law, GaussianNoise)
    if value not in (law.low, law.high):
        return gaussian_weight(distance, law.parameter)
    first = count - value if value == law.low else value - count
    last = max(first, 0) + TAIL_DEVIATIONS * math.ceil(math.sqrt(law.parameter))
    return sum(gaussian_weight(abs(noise), law.parameter) for noise in range(first, last + 1))


@cache
def rising(a, count):
    """a·(a+1)·…·(a+count−1)."""
    return math.prod((a + step for step in range(count)), start=Fraction(1))


def division(parts, a):
    """The Dirichlet-multinomial probability of these parts given their sum."""
    total = sum(parts)
    result = math.factorial(total) / rising(len(parts) * a, total)
    return math.prod((rising(a, part) / math.factorial(part) for part in parts), start=result)


def exact_laws(windows: Windows, a: Fraction) -> list[dict[int, Fraction]]:
    """The law of each cell given that no window misses."""
    tree, sums = windows.sums.tree, windows.sums
    ranges = [range(windows.low[leaf], windows.high[leaf] + 1) for leaf in tree.leaves]
    laws: list[dict[int, Fraction]] = [{} for _ in range(tree.size)]
    for counts in itertools.product(*ranges):
        values = [0] * sums.size
        for leaf, count in zip(tree.leaves, counts, strict=True):
            values[leaf] = count
        for node in reversed(range(tree.size)):
            if tree.parts[node]:
                values[node] = sum(values[part] for part in tree.parts[node])
        for node in sums.order:
            if node >= tree.size:
                values[node] = sum(values[term] for term in sums.terms[node])
        if all(windows.low[node] <= values[node] <= windows.high[node] for node in sums.order):
            weight = table_weight(tree, values, a)
            for node in range(tree.size):
                laws[node][values[node]] = laws[node].get(values[node], Fraction(0)) + weight
    total = sum(laws[0].values())
    return [{count: weight / total for count, weight in law.items()} for law in laws]


def table_weight(tree, values, a):
    """Prior and likelihoods; 0 where a public count is another."""
    if any(values[node] != total for node, total in tree.totals.items()):
        return Fraction(0)
    weight = Fraction(1)
    for node in range(tree.size):
        if tree.known_total(node) is None:
            for answer in tree.answers[node]:
                weight *= likelihood(answer.law, answer.value, values[node])
        present = [values[part] for part in tree.parts[node] if tree.known_total(part) != 0]
        if weight and present:
            weight *= division(present, a)
    return weight
