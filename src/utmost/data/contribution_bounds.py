"""Bound each person's contribution: a random choice of at most k of their rows is kept.

A person's rows are put in the order of their values, value being all that the query uses of a row, and numbered
t = 0, 1, … . Row t gets the slot e(t): t itself where t < k, else h(salt, person, t) mod (t + 1). Of the rows in each
of the slots 0 … k − 1 the last one is kept (a reservoir of k slots: Vitter 1985, Algorithm R). Where groups are
bounded, equal rows have the same number, so that each different value of a person counts as one row.

**Lemma.** Fix the salt. Which values are kept of a person depends on that person's rows alone, and there are
min(k, rows of the person) of them.
*Proof.* A tie in the order is between equal rows, so the value at each place follows from the person's rows, and its
slot from the salt, the person and the place. Nothing of another person enters. Row t < k is in slot t, so that exactly
the slots below min(k, rows of the person) have a row among those below k; of each of them one row is kept. ∎

So an answer is a sum over persons of a function of one person's rows, and a person can move it by what k rows can move,
**for every salt and every function h**: neither the hash nor the engine's generator is trusted with privacy. The hash
is trusted with fairness alone: with a fresh salt of 128 bits from `noise.entropy` and a hash that mixes well, every k
of a person's rows are as likely to be kept as any other k.
*Proof*, by induction over t. Let every k of the first t ≥ k rows be as likely to be the last ones of their slots. The
next row takes each slot with probability 1/(t+1). So k rows without it remain with (1 − k/(t+1))/C(t, k), and k rows
with it come about with (t − k + 1)/C(t, k)·1/(t+1), since it has replaced one of t − k + 1 rows: 1/C(t+1, k) each. ∎
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from utmost.data.engines.engine import Engine
from utmost.data.selection import PrivacyUnit
from utmost.noise.entropy import EntropySource, entropy_source


def salt(source: EntropySource | None) -> str:
    """A fresh salt: 128 bits as 32 hexadecimal digits."""
    first, second = entropy_source(source).words(2).tolist()
    return f"{first:016x}{second:016x}"


def count_kept(people: Any, counts: Mapping[str, Any], unit: PrivacyUnit) -> Any:
    """How many rows are kept of a table with one row for each row that counts and its person in column `p`.

    For each of several `counts` of a person's rows, Σ over persons of min(rows, k); with groups, of min(rows, 1): a
    count needs no choice.
    """
    import ibis

    sizes = people.group_by("p").aggregate(**counts)
    return sizes.aggregate(**{name: ibis.least(sizes[name], unit.rows or 1).sum() for name in counts})


def keep_rows(rows: Any, values: Sequence[str], unit: PrivacyUnit, salt: str, engine: Engine) -> Any:
    """The `values` of the rows that are kept, of a table with a person in column `p` and no NULL in any column.

    With rows = k these are min(k, rows of the person) rows of each person; with groups = k, one row for each of
    min(k, distinct values of the person) values.
    """
    import ibis

    number = ibis.row_number() if unit.groups is None else ibis.dense_rank()
    numbered = rows.mutate(place=number.over(group_by="p", order_by=list(values)))
    place, bound = numbered["place"], unit.bound
    drawn_slot = engine.hash_remainder([ibis.literal(salt), numbered["p"], place], place + 1)
    slots = numbered.mutate(slot=(place < bound).ifelse(place, drawn_slot))
    candidates = slots.filter(slots["slot"] < bound)
    last_values = {name: engine.last_value(candidates[name], candidates["place"]) for name in values}
    return candidates.group_by(["p", "slot"]).aggregate(**last_values).select(*values)
