"""The best mechanism for a consumer of a count, proved without a solver; which constraints are tight.

Signatures: which privacy constraints of a mechanism on a line are tight (GRS12 §5.3–5.5).

Entry (i, j) says how output j changes from input i to input i+1: ↓ as fast down as privacy allows, ↑ as fast up, S in
between, 0 if the output never occurs. The lemmas are predicates; one that fails names the entry that breaks it.

Let K[i,k] = α^|i−k|, so that T = K·diag(κ) is the truncated geometric mechanism, and let c[i,w] = π_i·ℓ(i,w). The
program (3)–(7) of GRS12 asks for columns x_w in the cone P = {x ≥ 0 : α·x_{i+1} ≤ x_i ≤ x_{i+1}/α} that sum to 1, at
the least cost Σ_w c_w·x_w. Its dual asks for the largest Σ u_i with c_w − u in the dual cone P* for every w.

Reading each answer k of T in the best way costs Σ κ_k·h_k, h_k = min_w (c_w·K_k). If that is optimal, each column K_k,
being in P, must be tight for u, so K·u = h: the multipliers are u = K⁻¹·h and no others. K⁻¹ is tridiagonal. And
Σ u_i = Σ κ_k·h_k whatever h is, since the rows of T sum to 1. So the remapped geometric mechanism is optimal for this
consumer *if and only if* c_w − K⁻¹h lies in P* for every w, and that is decided in n steps for each w (`surplus`).
GRS12 Thm 3.2 says that it always is, for a legal loss, and docs/papers/grs12.md extends that to losses monotone on each
side of the truth; here it is checked, consumer by consumer, in exact arithmetic.

Whether a mechanism for a count is a remap of the geometric one is decided exactly: T·Y = X, so Y = T⁻¹·X (GRS12 §5.1,
App. B). GRS12 writes the quotient as X·T⁻¹. With a row for each input, as in its own figures and in
Y∘X = Σ_r x_ir·y_rj, it is T⁻¹·X.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from utmost.channel import Channel, Matrix, channel_entry
from utmost.channel.channel import Label, matrix_product, trusted_channel
from utmost.consumer.consumer import first_minimum
from utmost.errors import InputError
from utmost.exact import Level, Number, sign
from utmost.mechanisms.geometric import column_weights, inverse_kernel_row
from utmost.result_values import short_repr

DOWN, UP, SLACK, ZERO = "↓", "↑", "S", "0"
Signature: TypeAlias = tuple[str, ...]  # one string of symbols a row
EntryIndex: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LemmaFinding:
    """What a lemma says of a signature: it holds, or `index` (row, column) breaks it and `says` tells how."""

    lemma: str
    holds: bool
    index: EntryIndex | None = None
    says: str = ""


def signature(mechanism: Channel, level: Level) -> Signature:
    """The signature of an α-private mechanism on a line, 0 < α < 1; one string a row.

    >>> from utmost.exact import alpha
    >>> from utmost.mechanisms import geometric
    >>> signature(geometric(2, alpha("1/2")).channel(), alpha("1/2"))
    ('↓↑↑', '↓↓↑')
    """
    if not level.is_inner:
        raise InputError("a signature needs 0 < alpha < 1")
    mechanism = mechanism.in_order()
    size = len(mechanism.inputs) - 1
    width = range(len(mechanism.outputs))
    return tuple("".join(_entry_symbol(mechanism, i, j, level.alpha) for j in width) for i in range(size))


def _entry_symbol(mechanism: Channel, i: int, j: int, alpha: Number) -> str:
    current, following = channel_entry(mechanism, i, j), channel_entry(mechanism, i + 1, j)
    if not current and not following:
        return ZERO
    for symbol, small, large in ((DOWN, following, current), (UP, current, following)):
        if small == alpha * large:
            return symbol
        if small < alpha * large:
            raise InputError(
                f"the mechanism is not private at this level: inputs {mechanism.inputs[i]} and "
                f"{mechanism.inputs[i + 1]}, output {mechanism.outputs[j]}"
            )
    return SLACK


def lemmas(symbols: Signature) -> list[LemmaFinding]:
    """Lemmas 5.3, 5.5, 5.6, 5.8 and 5.9, in order.

    5.3 holds for every private mechanism; 5.5 and 5.6 for every optimal direct one of a consumer with a full-support
    prior and a strictly legal loss; 5.8 and 5.9 for every such one that is a vertex.
    """
    checks: tuple[tuple[str, Callable[[Signature], Iterator[tuple[EntryIndex, str]]]], ...] = (
        ("5.3(a)", _mixed_columns),
        ("5.3(b)", _one_way_rows),
        ("5.5", _not_unimodal),
        ("5.6(a)", _decreasing_rows),
        ("5.6(b)", _repeated_rows),
        ("5.8", _too_many_slacks),
        ("5.9(P1)", _not_single_peaked),
        ("5.9(P2)", _sloping_ends),
        ("5.9(P3)", _uneven_inclines),
    )
    return [_finding(name, next(check(symbols), None)) for name, check in checks]


def _finding(name: str, broken: tuple[EntryIndex, str] | None) -> LemmaFinding:
    return LemmaFinding(name, True) if broken is None else LemmaFinding(name, False, *broken)


def _columns(symbols: Signature) -> list[str]:
    return ["".join(column) for column in zip(*symbols, strict=True)]


def _mixed_columns(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    for j, column in enumerate(_columns(symbols)):
        if ZERO in column and set(column) != {ZERO}:
            yield (column.index(ZERO), j), "a zero in a column that is not all zero"


def _one_way_rows(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    for i, row in enumerate(symbols):
        if set(row) <= {DOWN, ZERO} or set(row) <= {UP, ZERO}:
            yield (i, 0), "every output moves the same way, so the next row cannot sum to 1"


def _not_unimodal(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    for i, row in enumerate(symbols):
        previous = ""
        for j, symbol in enumerate(row):
            if symbol in (DOWN, SLACK) and (UP in previous or SLACK in previous):
                yield (i, j), f"{symbol} after {SLACK if SLACK in previous else UP}: the row is not unimodal"
            previous += symbol


def _decreasing_rows(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    for i in range(len(symbols) - 1):
        if symbols[i + 1].count(DOWN) < symbols[i].count(DOWN):
            j = next(j for j, symbol in enumerate(symbols[i]) if symbol == DOWN and symbols[i + 1][j] != DOWN)
            yield (i + 1, j), "fewer ↓ than in the row before"


def _repeated_rows(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    for i in range(len(symbols) - 1):
        row, following = symbols[i], symbols[i + 1]
        if SLACK not in row + following and following.count(DOWN) <= row.count(DOWN):
            yield (i + 1, 0), "no more ↓ than the strictly unimodal row before, and no S"


def _too_many_slacks(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    empty = sum(set(column) == {ZERO} for column in _columns(symbols))
    slack_entries = [(i, j) for i, row in enumerate(symbols) for j, symbol in enumerate(row) if symbol == SLACK]
    if len(slack_entries) > empty:
        yield slack_entries[empty], f"{len(slack_entries)} entries S but only {empty} zero columns"


def _nonzero(symbols: Signature) -> list[tuple[int, str]]:
    return [(j, column) for j, column in enumerate(_columns(symbols)) if set(column) != {ZERO}]


def _not_single_peaked(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    order = {UP: 0, SLACK: 1, DOWN: 2, ZERO: 3}
    for j, column in _nonzero(symbols):
        for i in range(1, len(column)):
            if order[column[i]] < order[column[i - 1]]:
                yield (i, j), f"{column[i]} below {column[i - 1]}: the column is not single-peaked"


def _sloping_ends(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    columns = _nonzero(symbols)
    if columns and UP in columns[0][1]:
        yield (columns[0][1].index(UP), columns[0][0]), "the first non-zero column has an incline"
    if columns and DOWN in columns[-1][1]:
        yield (columns[-1][1].index(DOWN), columns[-1][0]), "the last non-zero column has a decline"


def _uneven_inclines(symbols: Signature) -> Iterator[tuple[EntryIndex, str]]:
    columns = _nonzero(symbols)
    for (_, before), (j, column) in pairwise(columns):
        if column.count(UP) != before.count(UP) + before.count(SLACK) + 1:
            yield (min(column.count(UP), len(column) - 1), j), "the incline is not the previous rise and one row more"


def intervals(symbols: Signature) -> list[tuple[int, int, int]]:
    """(a_k, b_k, j_k) of Lemma 5.10: the answers a_k … b_k of the geometric mechanism are read as j_k.

    Needs the properties of Lemma 5.9; then the intervals part 0 … n.
    """
    for finding in lemmas(symbols)[6:]:
        if not finding.holds:
            raise InputError(f"no remap can be read off this signature: Lemma {finding.lemma} fails, {finding.says}")
    return [(column.count(UP), column.count(UP) + column.count(SLACK), j) for j, column in _nonzero(symbols)]


def remap_of(symbols: Signature) -> list[int]:
    """The deterministic remap of the truncated geometric mechanism that a signature spells (GRS12 Lemma 5.10).

    >>> remap_of(("↓0↑↑", "↓0S↑", "↓0↓↑"))
    [0, 2, 2, 3]
    """
    mapping: dict[int, int] = {}
    for low, high, j in intervals(symbols):
        mapping |= dict.fromkeys(range(low, high + 1), j)
    return [mapping[k] for k in range(len(symbols) + 1)]


def signature_of_remap(remap: Sequence[int]) -> Signature:
    """The signature of the truncated geometric mechanism whose answers k are read as remap[k], at any 0 < α < 1.

    A reading's probability is a sum of terms κ_k·α^|i−k|. From input i to i+1 terms with k ≤ i fall by the factor α,
    and terms with k > i rise by 1/α; so it falls or rises as fast as privacy allows when all do the same.

    >>> signature_of_remap([0, 2, 2, 3])
    ('↓0↑↑', '↓0S↑', '↓0↓↑')
    """
    answers = [[k for k, reading in enumerate(remap) if reading == w] for w in range(len(remap))]
    return tuple("".join(_step_symbol(i, group) for group in answers) for i in range(len(remap) - 1))


def _step_symbol(i: int, answers: list[int]) -> str:
    if not answers:
        return ZERO
    if answers[-1] <= i:
        return DOWN
    return UP if answers[0] > i else SLACK


def signature_text(symbols: Signature, inputs: Sequence[object], outputs: Sequence[object]) -> str:
    """The signature as the paper prints it, with its labels."""
    width = max(len(str(label)) for label in (*inputs, *outputs)) + 1
    head = " " * width + "".join(str(label).rjust(width) for label in outputs)
    rows = (str(x).rjust(width) + "".join(s.rjust(width) for s in row) for x, row in zip(inputs, symbols, strict=False))
    return "\n".join([head, *rows])


@dataclass(frozen=True, slots=True)
class Remapped:
    """The truncated geometric mechanism read in the best way, and the multipliers that would prove it optimal.

    `remap[k]` is the reading of answer k; `multipliers` is u; `objection` is a reading w with c_w − u outside P*, None
    if there is none: then the expected loss `loss` = Σ u_i is the least that a private mechanism can give.
    """

    __repr__ = short_repr

    remap: list[int]
    loss: Number
    multipliers: tuple[Number, ...]
    objection: int | None


def remapped_geometric(level: Level, costs: Matrix) -> Remapped:
    """The best reading of the geometric mechanism for costs c[i,w], and whether anything private beats it (α inner)."""
    size = len(costs) - 1
    scores = matrix_product(costs.T, _kernel(size, level))
    remap = [first_minimum(scores[:, k]) for k in range(size + 1)]
    best_scores: list[Number] = [scores[w, k] for k, w in enumerate(remap)]
    multipliers = tuple(_dot(inverse_kernel_row(i, size, level), best_scores) for i in range(size + 1))
    loss = sum((kappa * h for kappa, h in zip(column_weights(size, level), best_scores, strict=True)), Fraction(0))
    return Remapped(remap, loss, multipliers, objection(level.alpha, costs, multipliers))


def objection(alpha: Number, costs: Matrix, multipliers: tuple[Number, ...]) -> int | None:
    """The first reading w for which c_w − u is not in P*; None if u is feasible for the dual program."""
    for w in range(costs.shape[1]):
        if sign(surplus(alpha, [c - u for c, u in zip(costs[:, w], multipliers, strict=True)])) < 0:
            return w
    return None


def surplus(alpha: Number, values: list[Number]) -> Number:
    """What is left at the end of the line when each point hands its surplus on; v is in P* exactly when it is ≥ 0.

    P* = {v : v·x ≥ 0 for all x in P}. A surplus r ≥ 0 at point i is worth α·r at i+1, since x_i ≥ α·x_{i+1}; a debt
    r < 0 costs r/α there, since x_i ≤ x_{i+1}/α. These are the best exchange rates, so the recursion r ← v + α·r or
    v + r/α ends at min {v·x : x in P, x_n = 1}.

    >>> surplus(Fraction(1, 2), [Fraction(-1), Fraction(2)]), surplus(Fraction(1, 2), [Fraction(2), Fraction(-1)])
    (Fraction(0, 1), Fraction(0, 1))
    """
    carry: Number = Fraction(0)
    for value in values:
        carry = value + (carry * alpha if sign(carry) >= 0 else carry / alpha)
    return carry


def exchanges(alpha: Number, values: list[Number]) -> list[tuple[Number, Number]]:
    """The multipliers (a_i, b_i) of x_i ≥ α·x_{i+1} and x_{i+1} ≥ α·x_i that `surplus` uses: the full dual solution."""
    pairs: list[tuple[Number, Number]] = []
    carry: Number = Fraction(0)
    for value in values[:-1]:
        carry = value + (carry * alpha if sign(carry) >= 0 else carry / alpha)
        pairs.append((carry, Fraction(0)) if sign(carry) >= 0 else (Fraction(0), -carry / alpha))
    return pairs


def remapped_channel(level: Level, remap: list[int]) -> Channel:
    """The truncated geometric mechanism followed by a deterministic remap: a channel from counts to counts."""
    size = len(remap) - 1
    counts = tuple(range(size + 1))
    powers, kappa = [level.power(k) for k in counts], column_weights(size, level)
    rows = np.full((size + 1, size + 1), Fraction(0), dtype=object)
    for k, w in enumerate(remap):
        for i in counts:
            rows[i, w] = rows[i, w] + powers[abs(i - k)] * kappa[k]
    return trusted_channel(counts, counts, rows)


def _kernel(size: int, level: Level) -> Matrix:
    powers = np.array([level.power(k) for k in range(size + 1)], dtype=object)
    counts = np.arange(size + 1)
    kernel: Matrix = powers[np.abs(counts[:, None] - counts[None, :])]
    return kernel


def _dot(row: list[tuple[int, Number]], values: list[Number]) -> Number:
    return sum((value * values[k] for k, value in row), Fraction(0))


@dataclass(frozen=True, slots=True)
class Derivation:
    """Either the remap Y with T·Y = X, or the entry of T⁻¹·X that is most negative."""

    remap: Channel | None
    answer: Label | None = None
    reading: Label | None = None
    value: Number | None = None

    @property
    def derivable(self) -> bool:
        """Is the mechanism a remap of the geometric one."""
        return self.remap is not None


def derivation(mechanism: Channel, level: Level) -> Derivation:
    """Y = T⁻¹·X for the truncated geometric T at this level, 0 < α < 1.

    Y's rows sum to 1 since T and X are stochastic; it is a remap exactly when no entry is negative. An entry has the
    sign of (1+α²)·x_k − α·(x_{k−1} + x_{k+1}), at the ends of x_0 − α·x_1 and x_n − α·x_{n−1}: a column is a mixture of
    the geometric's when it is nowhere too convex.

    >>> from utmost.channel import channel
    >>> from utmost.exact import alpha
    >>> figure5 = [["1/3"] * 3, ["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]]
    >>> verdict = derivation(channel(figure5), alpha("1/2"))
    >>> verdict.derivable, verdict.answer, verdict.reading, str(verdict.value)
    (False, 1, 1, '-1/2')
    """
    if not level.is_inner:
        raise InputError("derivability from the geometric mechanism needs 0 < alpha < 1")
    mechanism = mechanism.in_order()
    size = len(mechanism.inputs) - 1
    quotient = np.empty((size + 1, len(mechanism.outputs)), dtype=object)
    for k, kappa in enumerate(column_weights(size, level)):
        row = inverse_kernel_row(k, size, level)
        for j in range(len(mechanism.outputs)):
            quotient[k, j] = sum(value * channel_entry(mechanism, x, j) for x, value in row) / kappa
    worst = _index_of_minimum(quotient)
    if sign(quotient[worst]) < 0:
        return Derivation(None, mechanism.inputs[worst[0]], mechanism.outputs[worst[1]], quotient[worst])
    return Derivation(trusted_channel(mechanism.inputs, mechanism.outputs, quotient))


def _index_of_minimum(matrix: np.ndarray[tuple[int, int], np.dtype[np.object_]]) -> tuple[int, int]:
    best = (0, 0)
    for index in np.ndindex(matrix.shape[0], matrix.shape[1]):
        if matrix[index] < matrix[best]:
            best = index
    return best
