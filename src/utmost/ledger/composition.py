"""Compose charges: the ε of many charges together.

`pure`: ε adds up, except over parts of the table that no unit can be in twice. `pld`: see
`utmost.ledger.loss_distributions`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from utmost.ledger import loss_distributions
from utmost.ledger.records import ROW, Budget, Part, ReleaseCost

STRIPPED_CHARACTERS = " \t\r\n\"'"
PLAIN_NUMBER_PATTERN = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})")


@dataclass(frozen=True, slots=True)
class ChargeGroup:
    """A number of charges of the same cost on the same part, or on the whole table."""

    epsilon: Fraction
    law: str
    steps: int
    part: Part | None = None
    times: int = 1


def ask_groups(release_cost: ReleaseCost) -> list[ChargeGroup]:
    """The charges that a release would make, each a group of one."""
    return [ChargeGroup(cost.epsilon, cost.law, cost.steps, release_cost.part) for cost in release_cost.costs]


def composed_epsilon(budget: Budget, charge_groups: Iterable[ChargeGroup]) -> Fraction:
    """The ε of all these charges together, at the budget's δ: exact for `pure`, rounded up for `pld`."""
    groups = list(charge_groups)
    if budget.composition == "pld":
        return loss_distributions.pld_epsilon(
            ((group.epsilon, group.law, group.steps, group.times) for group in groups), budget.delta
        )
    return pure(groups, budget.unit, budget.neighbours)


def pure(groups: Iterable[ChargeGroup], unit: str, neighbours: str) -> Fraction:
    """Σ of the charges on the whole table + for each column, Σ over the largest of its parts.

    Let each charge be ε_i-private for neighbouring whole tables, and one on a part depend on that part's rows alone.
    Fix neighbours T, T′. Given all earlier answers, answer i is at most e^(ε_i) times as likely under T as under T′,
    and equally likely if T and T′ have the same rows in its part. So all answers together are at most e^(Σ ε_i) times
    as likely, the sum over charges whose part differs, and this holds however a charge was chosen by earlier answers.

    - rows, add-remove: T and T′ differ in one row, which has one value in each column, so one part of a column differs
      at most: the part with the largest sum is the worst.
    - rows, replace: a row with value v becomes a row with value w. The parts v and w differ: the two largest are.
    - persons: a person may have rows in every part, so all parts count.

    For counts by geometric noise this is attained. Values that might be the same to an engine (letter case, spaces
    at the ends, 1 and 1.0) are taken for one part, which can only raise the sum.

    >>> north, south = (ChargeGroup(Fraction(1, 10), "any", 1, ("region", name)) for name in ("north", "south"))
    >>> [str(pure([north, south], unit, to)) for unit, to in (("row", "add-remove"), ("row", "replace"))]
    ['1/10', '1/5']
    """
    table_epsilon, part_epsilons = Fraction(0), defaultdict[str, dict[str, Fraction]](dict)
    for group in groups:
        amount = group.epsilon * group.times
        if group.part is None or unit != ROW:
            table_epsilon += amount
        else:
            epsilons, value = part_epsilons[group.part[0]], _normalise_value(group.part[1])
            epsilons[value] = epsilons.get(value, Fraction(0)) + amount
    changed_parts = 1 if neighbours == "add-remove" else 2
    largest_sums = (sum(sorted(epsilons.values())[-changed_parts:]) for epsilons in part_epsilons.values())
    return table_epsilon + sum(largest_sums, Fraction(0))


def _normalise_value(value: str) -> str:
    """One spelling for values that some engine may find equal, with or without quotes around them.

    >>> _normalise_value('"North "'), _normalise_value("1.0"), _normalise_value("01")
    ('north', '1', '1')
    """
    text = unicodedata.normalize("NFKC", value).casefold().strip(STRIPPED_CHARACTERS)
    return str(Fraction(text)) if PLAIN_NUMBER_PATTERN.fullmatch(text) else text
