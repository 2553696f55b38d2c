"""Values of a CSV file that do not fit the kind of their column: how many, for the curator before a release.

They count as missing in every answer, and a release says nothing of them. The counts are exact and have no noise, so
they are for whoever has the file: the dry run on the command line tells them; neither a release nor the studio does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from utmost.publish.plan_model import used_columns

if TYPE_CHECKING:
    from utmost.data.table import Table
    from utmost.publish.plan_model import Plan


def count_unreadable(plan: Plan, table: Table) -> dict[str, int]:
    """How many values do not fit their kind, in each column that the plan uses and that has any."""
    return table.unreadable(used_columns(plan))


def unreadable_sentences(counts: Mapping[str, int]) -> Iterator[str]:
    """A warning for each column.

    >>> list(unreadable_sentences({"age": 2}))
    ['For the curator only, not for publication: 2 values of column age do not fit its kind and count as missing.']
    """
    for column, count in counts.items():
        values = "1 value" if count == 1 else f"{count} values"
        verbs = "does not fit its kind and counts" if count == 1 else "do not fit its kind and count"
        yield f"For the curator only, not for publication: {values} of column {column} {verbs} as missing."
