"""Bound each person's contribution: a random choice of at most k of their rows is kept.

**Lemma.** Fix the salt. Which of a person's rows are kept depends on that person's rows alone.
*Proof.* Rows are first grouped by (person, value), value being all that the query uses of a row; rows equal in both are
interchangeable and are numbered 0, 1, … . Row i of value v gets the rank h(salt, person, v, i), and of a person's rows
those k are kept that come first by (rank, v). Nothing of another person enters the grouping, the numbers, the ranks or
the order; a tie in (rank, v) is between equal rows. ∎

So an answer is a sum over persons of a function of one person's rows, and a person can move it by what k rows can move,
**for every salt and every function h**: neither the hash nor the engine's generator is trusted with privacy. The hash
is trusted with fairness alone: with a fresh salt of 128 bits from `noise.entropy` and a hash that mixes well, every k
of a person's rows are as likely to be kept as any other k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from utmost.data.engines.engine import Engine
from utmost.data.selection import PrivacyUnit
from utmost.noise.entropy import EntropySource, entropy_source

MAX_COPIES = 10**7  # equal rows of a person that take part in the choice: at least the largest bound


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

    candidates = rows.group_by(["p", *values]).aggregate(copies=rows.count())
    if unit.rows is not None:
        copies = ibis.least(candidates["copies"], MAX_COPIES)
        candidates = candidates.mutate(copy=ibis.range(copies).unnest()).drop("copies")
    hash_inputs = [candidates[name] for name in candidates.columns if name != "copies"]
    ranked_rows = candidates.mutate(rank=engine.hash_values([ibis.literal(salt), *hash_inputs]))
    ordered_rows = ranked_rows.mutate(place=ibis.row_number().over(group_by="p", order_by=["rank", *values]))
    return ordered_rows.filter(ordered_rows["place"] < unit.bound).select(*values)
