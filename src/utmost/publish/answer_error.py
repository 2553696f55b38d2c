"""The error of an answer, and what it is the distance from: the number asked of the rows that are kept.

Where a person has more rows than are kept of each, or a value lies outside its bounds, between its steps or is missing,
that is not the number in the table. Every front end takes the words from here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from utmost.data.partitions import Partition
from utmost.data.queries import Count, Grid, Histogram, Mean, PrivacyUnit, Quantile, Query, Sum
from utmost.publish import accuracy
from utmost.publish.release_model import ErrorLaw, Mechanism

NOUNS: dict[type, str] = {
    Count: "count",
    Histogram: "count in each cell",
    Sum: "sum",
    Mean: "mean",
    Quantile: "quantile",
}
NUMBER_KINDS = frozenset(("sum", "mean", "quantile"))


def answer_error(mechanism: Mechanism, query: Query, unit: PrivacyUnit, part: Partition | None) -> ErrorLaw:
    """The error law of an answer, whose words say what it is the distance from."""
    error, target = accuracy.error_law(mechanism, query), error_target(query, unit, part)
    is_restricted = part is not None or bool(_limits(query, unit))
    words = f"{error.words}, around {target}" if is_restricted else error.words
    return replace(error, words=words, target=target)


def error_target(query: Query, unit: PrivacyUnit, part: Partition | None = None) -> str:
    """What an error is the distance from, in words.

    >>> error_target(Count("vote = 1"), PrivacyUnit("person", rows=5))
    'the count with at most 5 rows of each person'
    >>> error_target(Count("vote = 1"), PrivacyUnit())
    'the true count'
    >>> error_target(Count(), PrivacyUnit("person", rows=3), Partition("region", "north"))
    'the count with at most 3 rows of each person among the rows with region = north'
    """
    noun, limits = NOUNS[type(query)], _limits(query, unit)
    if isinstance(query, Count) and unit.groups is not None:
        noun = "count of persons"
    target = f"the {noun} with {' and '.join(limits)}" if limits else f"the true {noun}"
    return target + _part_phrase(part)


def noise_remark(kinds: Collection[str], unit: PrivacyUnit, part: Partition | None = None) -> str | None:
    """What the errors of answers of these kinds leave out, in a sentence; None where they leave out nothing.

    >>> noise_remark({"count"}, PrivacyUnit("person", rows=2))
    'Errors are of the noise alone, around what is asked of at most 2 rows of each person.'
    """
    is_bounded = unit.column is not None and not (unit.groups is not None and set(kinds) <= {"count"})
    limits = [contribution_limit(unit)] if is_bounded else []
    limits += ["values clamped to their bounds and rounded to their steps"] if NUMBER_KINDS & set(kinds) else []
    if not limits:
        return None
    return f"Errors are of the noise alone, around what is asked of {' and '.join(limits)}{_part_phrase(part)}."


def contribution_limit(unit: PrivacyUnit) -> str:
    """How much of each person is kept, in words."""
    number, noun = (unit.rows, "row") if unit.rows is not None else (unit.groups, "group")
    return f"at most {number} {noun}{'' if number == 1 else 's'} of each person"


def _part_phrase(part: Partition | None) -> str:
    return "" if part is None else f" among the rows with {part}"


def _limits(query: Query, unit: PrivacyUnit) -> list[str]:
    """What is done to the rows before the number is asked: rows of a person left out, values changed.

    A count with a unit of groups is of persons, each counted once whatever the bound: nothing is left out.
    """
    counts_persons = isinstance(query, Count) and unit.groups is not None
    limits = [] if unit.column is None or counts_persons else [contribution_limit(unit)]
    if isinstance(query, Sum | Mean | Quantile):
        limits.append(_value_limit(query.grid, query.nulls))
    return limits


def _value_limit(grid: Grid, nulls: Fraction | None) -> str:
    """What is done to the values of a column, in words.

    >>> _value_limit(Grid(Fraction(0), Fraction(100), Fraction(10)), None)
    'values clamped to 0 … 100 and rounded to steps of 10'
    """
    stand_in = "" if nulls is None else f" (missing values taken as {nulls})"
    return f"values clamped to {grid.low} … {grid.high} and rounded to steps of {grid.step}{stand_in}"
