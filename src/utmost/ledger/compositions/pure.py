"""Pure composition: ε adds up, except over parts of the table that no unit can be in twice."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from utmost.ledger.costs import ROW, ChargeGroup, Composition, Part

if TYPE_CHECKING:
    from utmost.ledger.records import Budget

STRIPPED_CHARACTERS = " \t\r\n\"'"
PLAIN_NUMBER_PATTERN = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})")

PartedColumn = tuple[str, str | None, str, str]  # source, table, column and kind of parts that share no row


class PureComposition(Composition):
    """Σ ε of the charges, and over parts of one column that share no row only the largest (δ = 0)."""

    name, words = "pure", "ε adds up"

    def spent(self, groups: Iterable[ChargeGroup], budget: Budget) -> Fraction:
        """The ε of all charges together, exactly."""
        return pure_epsilon(groups, budget.unit, budget.neighbours)

    def why_part_adds_up(self, part: Part, groups: Sequence[ChargeGroup]) -> str | None:
        """Some earlier charge on the column may be of the same rows."""
        parts = [group.part for group in groups if group.part is not None and group.part.column == part.column]
        problems = {
            "whose source is not known": any(earlier.source is None or earlier.kind is None for earlier in parts),
            "from another source, or from this one before it changed": any(
                earlier.source != part.source for earlier in parts
            ),
            "of another table": any(earlier.table != part.table for earlier in parts),
            "read as another kind": any(earlier.kind != part.kind for earlier in parts),
        }
        problem = next((problem for problem, is_found in problems.items() if is_found), None)
        return None if problem is None else f"its budget has charges on this column {problem}"


PURE = PureComposition()


def pure_epsilon(groups: Iterable[ChargeGroup], unit: str, neighbours: str) -> Fraction:
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
    >>> [str(pure_epsilon(groups, unit, to)) for unit, to in (("row", "add-remove"), ("row", "replace"))]
    ['1/10', '1/5']
    """
    return parallel_sum(groups, unit, neighbours, lambda group: group.epsilon)


def parallel_sum(
    groups: Iterable[ChargeGroup], unit: str, neighbours: str, amount_of: Callable[[ChargeGroup], Fraction]
) -> Fraction:
    """Σ of an amount of the charges on the whole table + for each column of a source, over its largest parts."""
    table_amount, part_amounts = Fraction(0), defaultdict[PartedColumn, dict[str, Fraction]](dict)
    for group in groups:
        amount, part = amount_of(group) * group.times, group.part
        if part is None or part.source is None or part.kind is None or unit != ROW:
            table_amount += amount
        else:
            amounts = part_amounts[part.source, part.table, part.column, part.kind]
            value = _normalise_value(part.value)
            amounts[value] = amounts.get(value, Fraction(0)) + amount
    changed_parts = 1 if neighbours == "add-remove" else 2
    largest_sums = (sum(sorted(amounts.values())[-changed_parts:]) for amounts in part_amounts.values())
    return table_amount + sum(largest_sums, Fraction(0))


def _normalise_value(value: str) -> str:
    """One spelling for values that some engine may find equal, with or without quotes around them.

    >>> _normalise_value('"North "'), _normalise_value("1.0"), _normalise_value("01")
    ('north', '1', '1')
    """
    text = unicodedata.normalize("NFKC", value).casefold().strip(STRIPPED_CHARACTERS)
    return str(Fraction(text)) if PLAIN_NUMBER_PATTERN.fullmatch(text) else text
