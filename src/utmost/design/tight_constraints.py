"""Signatures: which privacy constraints of a mechanism on a line are tight (GRS12 §5.3–5.5).

Entry (i, j) says how output j changes from input i to input i+1: ↓ as fast down as privacy allows, ↑ as fast up, S in
between, 0 if the output never occurs. The lemmas are predicates; one that fails names the entry that breaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from utmost.channel import Channel, channel_entry
from utmost.errors import InputError
from utmost.exact import Level, Number

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


def signature_text(symbols: Signature, inputs: Sequence[object], outputs: Sequence[object]) -> str:
    """The signature as the paper prints it, with its labels."""
    width = max(len(str(label)) for label in (*inputs, *outputs)) + 1
    head = " " * width + "".join(str(label).rjust(width) for label in outputs)
    rows = (str(x).rjust(width) + "".join(s.rjust(width) for s in row) for x, row in zip(inputs, symbols, strict=False))
    return "\n".join([head, *rows])
