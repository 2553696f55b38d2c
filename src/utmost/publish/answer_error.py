"""The error of an answer, and what it is the distance from: the number asked of the rows that are kept.

Where a person has more rows than are kept of each, or a value lies outside its bounds, that is not the number in the
table. Every front end takes the words from here.
"""

from __future__ import annotations

from dataclasses import replace

from utmost.data.queries import Count, Histogram, PrivacyUnit, Query
from utmost.publish import accuracy
from utmost.publish.release_model import ErrorLaw, Mechanism

KIND_WORDS = {"Count": "count", "Histogram": "number of each cell", "Sum": "sum", "Mean": "mean"}


def answer_error(mechanism: Mechanism, query: Query, unit: PrivacyUnit) -> ErrorLaw:
    """The error law of an answer, whose words say what it is the distance from."""
    error, limits = accuracy.error_law(mechanism, query), error_limits(query, unit)
    target = error_target(query, unit)
    words = error.words if not limits else f"{error.words}, around {target}"
    return replace(error, words=words, target=target)


def error_target(query: Query, unit: PrivacyUnit) -> str:
    """What an error is the distance from, in words.

    >>> error_target(Count("vote = 1"), PrivacyUnit("person", rows=5))
    'the count with at most 5 rows of each person'
    >>> error_target(Count("vote = 1"), PrivacyUnit())
    'the true count'
    """
    kind, limits = KIND_WORDS.get(type(query).__name__, "quantile"), error_limits(query, unit)
    if not limits:
        return f"the true {kind}"
    return f"the {kind} with {' and '.join(limits)}"


def error_limits(query: Query, unit: PrivacyUnit) -> list[str]:
    """What is done to the rows before the number is asked of them: rows of a person left out, values clamped."""
    limits = [] if unit.column is None else [contribution_limit(unit, isinstance(query, Count))]
    if not isinstance(query, Count | Histogram):
        limits.append(f"values clamped to {query.grid.low} … {query.grid.high}")
    return limits


def contribution_limit(unit: PrivacyUnit, is_count: bool = False) -> str:
    """How much of a person is kept; a count with a unit of groups counts each person once, whatever their bound."""
    if unit.groups is not None:
        return "each person counted once" if is_count else f"each person in at most {_times(unit.groups, 'group')}"
    return f"at most {_times(unit.rows or 1, 'row')} of each person"


def _times(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
