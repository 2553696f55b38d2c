"""Windows: ranges of counts, one for each cell and partial sum, that all hold the truth but with probability β.

They follow from the answers and the laws of the noise alone. **Claim.** Whatever the table is, Pr[a window misses] ≤ β
over the noise. *Proof.* There are M statements: for each answer that its count is in the law's own range, and for each
partial sum, and each cell whose answers are few or coarse, that |Σ (x − y)| over one answer each of disjoint cells that
make it up is at most K. Each is wrong with probability at most β/M: by `NoiseLaw.range`, and by Chernoff's bound,
Pr[Σ D ≥ K] ≤ e^(Σ ln E e^(θD) − θK) ≤ β/(2M) for each side and the best θ on a grid. The rest is certain: counts are
≥ 0, known totals, and sums of ends of ranges. ∎

So for every prior the law of the table given the answers *and that no window misses* differs from the posterior by at
most β in expected total variation, and a set with c of it holds the truth with probability at least (1−β)·c.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from utmost.errors import InputError
from utmost.exact import ball_endpoints, decimal_above
from utmost.joint.laws import Floats, NoiseLaw
from utmost.joint.partial_sums import PartialSums
from utmost.joint.tree import CountTree

MISS_PROBABILITY = Fraction(1, 10**10)  # β
RATE_SHARES = np.concatenate([np.geomspace(1e-3, 0.9, 40), 1 - np.geomspace(0.08, 1e-3, 12)])  # of the largest θ
ROUNDING = 1e-9  # by which a bound in doubles is moved outward
UNBOUNDED = 1 << 60
PASSES = 3  # up and down
MAX_WINDOW_ENTRIES = 2 * 10**8  # of all windows: 8 bytes each, several times
MAX_PRODUCTS = 4 * 10**11  # multiplications

LawCounts: TypeAlias = frozenset[tuple[NoiseLaw, int]]


@dataclass(frozen=True)
class Windows:
    """`low` and `high` of each node of the partial sums; `miss` is β."""

    sums: PartialSums
    low: list[int]
    high: list[int]
    miss: Fraction

    def width(self, node: int) -> int:
        """How many counts are in a window."""
        return self.high[node] - self.low[node] + 1

    @property
    def products(self) -> int:
        """About how many multiplications the posterior takes."""
        widths = [high - low + 1 for low, high in zip(self.low, self.high, strict=True)]
        pairs = (self.sums.terms[node] for node in self.sums.order if len(self.sums.terms[node]) == 2)
        return 3 * sum(widths[one] * widths[other] for one, other in pairs)


def windows(sums: PartialSums, miss: Fraction = MISS_PROBABILITY) -> Windows:
    """The windows of these answers; refused where they leave a cell no count, or would not fit into memory or time."""
    if not 0 < miss < 1:
        raise InputError("miss must be strictly between 0 and 1, got another", "miss", "1e-10 is usual")
    mixes = _Mixes()
    chosen = _chosen_answers(sums, mixes)
    bounds = _Bounds(sums, miss / max(_statement_count(sums, chosen), 1))
    bounds.use_totals()
    bounds.use_answers()
    bounds.use_sums(chosen, mixes)
    for _ in range(PASSES):
        bounds.pass_up()
        bounds.pass_down()
    bounds.check()
    result = Windows(sums, bounds.low, bounds.high, miss)
    _check_work(result)
    return result


class _Mixes:
    """Multisets of laws by number, each once: sums of many cells are of few of them."""

    def __init__(self) -> None:
        self.laws: list[LawCounts] = [frozenset()]
        self.variances: list[Fraction] = [Fraction(0)]
        self._numbers: dict[LawCounts, int] = {frozenset(): 0}
        self._of_laws: dict[int, int | None] = {}  # by the identity of a law, which lives as long as the tree
        self._sums: dict[tuple[int, int], int] = {}

    def of_law(self, law: NoiseLaw) -> int | None:
        """That of one answer with this law; None where its variance is not known."""
        if id(law) not in self._of_laws:
            variance = law.variance
            self._of_laws[id(law)] = None if variance is None else self._number(frozenset({(law, 1)}), variance)
        return self._of_laws[id(law)]

    def sum(self, one: int, other: int) -> int:
        """Both together."""
        if (one, other) not in self._sums:
            counts: Counter[NoiseLaw] = Counter(dict(self.laws[one]))
            counts.update(dict(self.laws[other]))
            variance = self.variances[one] + self.variances[other]
            self._sums[one, other] = self._number(frozenset(counts.items()), variance)
        return self._sums[one, other]

    def _number(self, laws: LawCounts, variance: Fraction) -> int:
        if laws not in self._numbers:
            self._numbers[laws] = len(self.laws)
            self.laws.append(laws)
            self.variances.append(variance)
        return self._numbers[laws]


@dataclass(frozen=True, slots=True)
class _Choice:
    """One answer each of disjoint cells that make up a node: the number of their laws, and their sum."""

    mix: int
    value: int
    is_own: bool = False


def _chosen_answers(sums: PartialSums, mixes: _Mixes) -> list[_Choice | None]:
    """The answers of least variance that make up each node; None where a part has none with known moments."""
    choices: list[_Choice | None] = [None] * sums.size
    for node in sums.order:
        total = _added([choices[term] for term in sums.terms[node]], mixes)
        own = _own_choice(sums.tree, node, mixes) if node < sums.tree.size else None
        if own is None or (total is not None and mixes.variances[total.mix] < mixes.variances[own.mix]):
            choices[node] = total
        else:
            choices[node] = own
    return choices


def _added(terms: list[_Choice | None], mixes: _Mixes) -> _Choice | None:
    """One term, or two together; None where one is missing."""
    if not terms or terms[0] is None:
        return None
    mix, value = terms[0].mix, terms[0].value
    for term in terms[1:]:
        if term is None:
            return None
        mix, value = mixes.sum(mix, term.mix), value + term.value
    return _Choice(mix, value)


def _own_choice(tree: CountTree, node: int, mixes: _Mixes) -> _Choice | None:
    """The public count of a cell, or its answer of least variance."""
    total = tree.known_total(node)
    if total is not None:
        return _Choice(0, total, True)
    best: tuple[Fraction, _Choice] | None = None
    for answer in tree.answers[node]:
        mix = mixes.of_law(answer.law)
        if mix is not None and (best is None or mixes.variances[mix] < best[0]):
            best = mixes.variances[mix], _Choice(mix, answer.value, True)
    return None if best is None else best[1]


def _statement_count(sums: PartialSums, chosen: list[_Choice | None]) -> int:
    answers = sum(len(answers) for answers in sums.tree.answers)
    return answers + sum(choice is not None and not choice.is_own for choice in chosen)


class _Bounds:
    """Lower and upper ends of all nodes, made narrower step by step. `share` is what each statement may miss."""

    def __init__(self, sums: PartialSums, share: Fraction) -> None:
        self.sums, self.share = sums, share
        present = set(sums.order)
        self.low = [0] * sums.size
        self.high = [UNBOUNDED if node in present else 0 for node in range(sums.size)]
        self.reaches: dict[tuple[int, bool], int | None] = {}

    def narrow(self, node: int, low: int, high: int) -> None:
        """The window of a node is within this one too."""
        self.low[node], self.high[node] = max(self.low[node], low), min(self.high[node], high)

    def use_totals(self) -> None:
        """Public counts, and the ends that laws state of a count."""
        for node, total in self.sums.tree.totals.items():
            self.narrow(node, total, total)

    def use_answers(self) -> None:
        """The law's own range of each answer."""
        ranges: dict[tuple[int, int], tuple[int, int]] = {}  # by the identity of a law
        for node, answers in enumerate(self.sums.tree.answers):
            if not self.high[node]:
                continue
            for answer in answers:
                key = id(answer.law), answer.value
                if key not in ranges:
                    ranges[key] = answer.law.range(answer.value, self.share)
                self.narrow(node, *ranges[key])

    def use_sums(self, chosen: list[_Choice | None], mixes: _Mixes) -> None:
        """Chernoff's bound on sums of answers."""
        for node in self.sums.order:
            choice = chosen[node]
            if choice is None or choice.is_own:
                continue
            below, above = self._reach(choice.mix, mixes, True), self._reach(choice.mix, mixes, False)
            low = 0 if below is None else choice.value - below
            self.narrow(node, low, UNBOUNDED if above is None else choice.value + above)

    def _reach(self, mix: int, mixes: _Mixes, below: bool) -> int | None:
        if (mix, below) not in self.reaches:
            self.reaches[mix, below] = sum_reach(mixes.laws[mix], below, self.share / 2)
        return self.reaches[mix, below]

    def pass_up(self) -> None:
        """A node is within the sums of its terms' ends."""
        low, high = self.low, self.high
        for node in self.sums.order:
            terms = self.sums.terms[node]
            if len(terms) == 2:
                one, other = terms
                self.narrow(node, low[one] + low[other], high[one] + high[other])
            elif terms:
                self.narrow(node, low[terms[0]], high[terms[0]])

    def pass_down(self) -> None:
        """A term is within its node's ends less the other term's."""
        low, high = self.low, self.high
        for node in reversed(self.sums.order):
            terms = self.sums.terms[node]
            if len(terms) == 1:
                self.narrow(terms[0], low[node], high[node])
            elif terms:
                one, other = terms
                self.narrow(one, low[node] - high[other], high[node] - low[other])
                self.narrow(other, low[node] - high[one], high[node] - low[one])

    def check(self) -> None:
        """Refuse windows without a count, and cells that nothing bounds."""
        tree = self.sums.tree
        for node in self.sums.order:
            cell = tree.label(node) if node < tree.size else "a sum of cells"
            if self.low[node] > self.high[node]:
                raise InputError(
                    f"answers must be of one table, got some that leave no count for {cell}: of one table they do so "
                    f"with probability at most {decimal_above(self.share * (len(self.sums.order) + tree.size))}",
                    "answers",
                )
            if self.high[node] >= UNBOUNDED // 2:
                raise InputError(f"answers must bound each cell, got none for {cell} or what it is part of", "answers")


def sum_reach(laws: LawCounts, below: bool, miss: Fraction) -> int | None:
    """The least K that Chernoff's bound shows to have Pr[Σ D > K] ≤ miss, D = y − x if `below`, else x − y.

    >>> from utmost.exact import alpha
    >>> from utmost.joint.laws import GeometricNoise
    >>> sum_reach(frozenset({(GeometricNoise(alpha("1/2")), 100)}), False, Fraction(1, 10**12))
    158
    """
    if not laws:
        return 0
    largest = min(law.largest_rate for law, _ in laws)
    rates = RATE_SHARES * largest
    total: Floats = np.zeros(len(rates))
    for law, count in laws:
        moments = [law.log_moment(float(rate), below) for rate in rates]
        if any(moment is None for moment in moments):
            return None
        total += count * np.array([float(ball_endpoints(moment)[1]) for moment in moments if moment is not None])
    reaches = (total - _log(miss)) / rates
    return max(math.ceil(float(reaches.min()) * (1 + ROUNDING) + ROUNDING) - 1, 0)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _check_work(result: Windows) -> None:
    """Refuse windows that memory would not hold, or whose products take too long; say what would."""
    present = result.sums.order
    entries, products = sum(result.width(node) for node in present), result.products
    if entries <= MAX_WINDOW_ENTRIES and products <= MAX_PRODUCTS:
        return
    tree = result.sums.tree
    widest = max((node for node in present if node < tree.size), key=result.width)
    raise InputError(
        f"windows must have at most {MAX_WINDOW_ENTRIES:.0e} counts and {MAX_PRODUCTS:.0e} products in all, got "
        f"{entries:.1e} and {products:.1e}: the widest, of {tree.label(widest)}, has {result.width(widest)}",
        "answers",
        "answers of more levels or at a larger epsilon have narrower ones; least squares needs none",
    )
