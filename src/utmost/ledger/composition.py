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

PartedColumn = tuple[str, str | None, str, str]  # source, table, column and kind of parts that share no row


@dataclass(frozen=True, slots=True)
class ChargeGroup:
    """A number of charges of the same cost on the same part, or on the whole table."""

    epsilon: Fraction
    law: str
    steps: int
    part: Part | None = None
    times: int = 1


def ask_groups(release_cost: ReleaseCost, part: Part | None) -> list[ChargeGroup]:
    """The charges that a release would make on a part as the ledger stores it, each a group of one."""
    return [ChargeGroup(cost.epsilon, cost.law, cost.steps, part) for cost in release_cost.costs]


def composed_epsilon(budget: Budget, charge_groups: Iterable[ChargeGroup]) -> Fraction:
    """The ε of all these charges together, at the budget's δ: exact for `pure`, rounded up for `pld`."""
    groups = list(charge_groups)
    if budget.composition == "pld":
        return loss_distributions.pld_epsilon(
            ((group.epsilon, group.law, group.steps, group.times) for group in groups), budget.delta
        )
    return pure(groups, budget.unit, budget.neighbours)


def pure(groups: Iterable[ChargeGroup], unit: str, neighbours: str) -> Fraction:
    """Σ of the charges on the whole table + for each column of a source, Σ over the largest of its parts.

    Let each charge be ε_i-private for neighbouring whole tables, and one on a part depend on that part's rows alone.
    Fix neighbours T, T′. Given all earlier answers, answer i is at most e^(ε_i) times as likely under T as under T′,
    and equally likely if T and T′ have the same rows in its part. So all answers together are at most e^(Σ ε_i) times
    as likely, the sum over charges whose part differs, and this holds however a charge was chosen by earlier answers.

    - rows, add-remove: T and T′ differ in one row, which has one value in each column, so one part of a column differs
      at most: the part with the largest sum is the worst.
    - rows, replace: a row with value v becomes a row with value w. The parts v and w differ: the two largest are.
    - persons: a person may have rows in every part, so all parts count.

    Parts share no row only if that is certain: the same rows (source and table), the same column, read as values of
    the same kind, and values that differ. "yes" as a text and true as a truth may be one row, and so may two files'
    rows be one person: such charges add up, and a part whose source is not known counts as the whole table. Values
    that might be the same to an engine (letter case, spaces at the ends, 1 and 1.0) are taken for one part. All this
    can only raise the sum. For counts of one source by geometric noise it is attained.

    >>> north, south = (Part("region", name, "text", None, "people.csv") for name in ("north", "south"))
    >>> groups = [ChargeGroup(Fraction(1, 10), "any", 1, part) for part in (north, south)]
    >>> [str(pure(groups, unit, to)) for unit, to in (("row", "add-remove"), ("row", "replace"))]
    ['1/10', '1/5']
    """
    table_epsilon, part_epsilons = Fraction(0), defaultdict[PartedColumn, dict[str, Fraction]](dict)
    for group in groups:
        amount, part = group.epsilon * group.times, group.part
        if part is None or part.source is None or part.kind is None or unit != ROW:
            table_epsilon += amount
        else:
            epsilons = part_epsilons[part.source, part.table, part.column, part.kind]
            value = _normalise_value(part.value)
            epsilons[value] = epsilons.get(value, Fraction(0)) + amount
    changed_parts = 1 if neighbours == "add-remove" else 2
    largest_sums = (sum(sorted(epsilons.values())[-changed_parts:]) for epsilons in part_epsilons.values())
    return table_epsilon + sum(largest_sums, Fraction(0))


def part_adds_up(budget: Budget, part: Part, groups: Iterable[ChargeGroup]) -> str | None:
    """Why a part of a known source adds up with earlier charges on its column; None where it composes with them."""
    if budget.composition == "pld":
        return "its budget composes privacy-loss distributions"
    earlier_parts = [group.part for group in groups if group.part is not None and group.part.column == part.column]
    problems = {
        "whose source is not known": any(earlier.source is None or earlier.kind is None for earlier in earlier_parts),
        "from another source, or from this one before it changed": any(
            earlier.source != part.source for earlier in earlier_parts
        ),
        "of another table": any(earlier.table != part.table for earlier in earlier_parts),
        "read as another kind": any(earlier.kind != part.kind for earlier in earlier_parts),
    }
    found = next((problem for problem, is_found in problems.items() if is_found), None)
    return None if found is None else f"its budget has charges on this column {found}"


def _normalise_value(value: str) -> str:
    """One spelling for values that some engine may find equal, with or without quotes around them.

    >>> _normalise_value('"North "'), _normalise_value("1.0"), _normalise_value("01")
    ('north', '1', '1')
    """
    text = unicodedata.normalize("NFKC", value).casefold().strip(STRIPPED_CHARACTERS)
    return str(Fraction(text)) if PLAIN_NUMBER_PATTERN.fullmatch(text) else text
