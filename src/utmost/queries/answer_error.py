"""The error of an answer, and what it is the distance from: the number asked of the rows that are kept.

It is the noise alone. Where a person has more rows than are kept of each, or a value lies outside its bounds, between
its steps or is missing, that is not the number in the table. Every front end takes the words from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from utmost.data.selection import Partition, PrivacyUnit
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, ErrorLaw
from utmost.queries.query import Query


def answer_error(mechanism: AnswerMechanism, query: Query, unit: PrivacyUnit, part: Partition | None) -> ErrorLaw:
    """The error law of an answer, whose words say what it is the distance from."""
    error, target = query.error_law(mechanism), error_target(query, unit, part)
    is_restricted = part is not None or bool(_limits(query, unit))
    words = f"{error.words}, around {target}" if is_restricted else error.words
    return replace(error, words=words, target=target)


def error_target(query: Query, unit: PrivacyUnit, part: Partition | None = None) -> str:
    """What an error is the distance from, in words.

    >>> from utmost.queries.count import Count
    >>> error_target(Count("vote = 1"), PrivacyUnit("person", rows=5))
    'the count with at most 5 rows of each person'
    >>> error_target(Count("vote = 1"), PrivacyUnit())
    'the true count'
    >>> error_target(Count(), PrivacyUnit("person", rows=3), Partition("region", "north"))
    'the count with at most 3 rows of each person among the rows with region = north'
    """
    noun, limits = query.target_noun(unit), _limits(query, unit)
    target = f"the {noun} with {' and '.join(limits)}" if limits else f"the true {noun}"
    return target + _part_phrase(part)


def noise_remark(queries: Iterable[Query], unit: PrivacyUnit, part: Partition | None = None) -> str | None:
    """What the errors of answers to these queries leave out, in a sentence; None where they leave out nothing.

    >>> from utmost.queries.count import Count
    >>> noise_remark([Count("vote = 1")], PrivacyUnit("person", rows=2))
    'Errors are of the noise alone, around what is asked of at most 2 rows of each person.'
    """
    limits = kept_limits(queries, unit)
    if not limits:
        return None
    return f"Errors are of the noise alone, around what is asked of {' and '.join(limits)}{_part_phrase(part)}."


def kept_limits(queries: Iterable[Query], unit: PrivacyUnit) -> list[str]:
    """What is done to the rows before any of these queries is answered, for all of them together."""
    answered = list(queries)
    limits = [contribution_limit(unit)] if any(query.bounds_contributions(unit) for query in answered) else []
    if any(query.clamps_values for query in answered):
        limits.append("values clamped to their bounds and rounded to their steps")
    return limits


def contribution_limit(unit: PrivacyUnit) -> str:
    """How much of each person is kept, in words."""
    number, noun = (unit.rows, "row") if unit.rows is not None else (unit.groups, "group")
    return f"at most {number} {noun}{'' if number == 1 else 's'} of each person"


def _part_phrase(part: Partition | None) -> str:
    return "" if part is None else f" among the rows with {part}"


def _limits(query: Query, unit: PrivacyUnit) -> list[str]:
    """What is done to the rows before the number is asked: rows of a person left out, values changed."""
    contributions = [contribution_limit(unit)] if query.bounds_contributions(unit) else []
    return contributions + query.value_limits()
