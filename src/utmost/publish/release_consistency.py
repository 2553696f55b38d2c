"""Compute what a release claims from its queries and its setting, and refuse a file that states anything else.

A mechanism and a sensitivity follow from query, ε, unit and neighbours (`Query.select_mechanism`); optimality, error
and guarantee follow from those. So none of them is believed because a file says so: what can be compared is compared,
and what is shown is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from utmost.errors import InputError
from utmost.publish.release_model import Answer, Release
from utmost.queries.answer_error import answer_error
from utmost.queries.answer_mechanisms.mechanism import AnswerMechanism, Drawn
from utmost.queries.privacy_setting import PrivacySetting, guarantee_sentence
from utmost.queries.query import ALTERED, Query, SelectedMechanism

MAX_UNITS = 10**18


@dataclass(frozen=True, slots=True)
class Statement:
    """What a file says of one answer."""

    query: Query
    epsilon: Fraction
    sensitivity: int
    mechanism: AnswerMechanism
    drawn: Drawn


def check_units(setting: PrivacySetting) -> None:
    """Refuse a number of units that does not go with the neighbours: public under replace, secret under add-remove."""
    if setting.replacing and not (setting.units is not None and 1 <= setting.units <= MAX_UNITS):
        raise InputError(
            "units must be a number from 1 to 10^18 under replace, got another", "units", ALTERED, context="release"
        )
    if not setting.replacing and setting.units is not None:
        raise InputError("units must be null under add-remove, got a number", "units", ALTERED, context="release")


def computed_answer(name: str, statement: Statement, setting: PrivacySetting) -> Answer:
    """The answer with everything computed that follows from its query; refused where the file states otherwise."""
    query, drawn, label = statement.query, statement.drawn, f'release: query "{name[:60]}"'
    try:
        _check_unit(query, setting)
        selection = query.select_mechanism(statement.epsilon, setting)
        error = answer_error(selection.mechanism, query, setting.unit, setting.part)
        _check_statement(statement, selection)
        query.check_drawn(selection.mechanism, drawn)
    except InputError as problem:
        raise problem.within(label) from None
    return Answer(
        name=name,
        query=query,
        epsilon=statement.epsilon,
        sensitivity=selection.sensitivity,
        mechanism=statement.mechanism,
        optimal=selection.optimal,
        error=error,
        value=drawn.value,
        details=drawn.details,
    )


def _check_unit(query: Query, setting: PrivacySetting) -> None:
    """Refuse a unit for which no engine answers the query."""
    try:
        query.check_unit(setting.unit)
    except InputError as problem:
        raise InputError(problem.message, problem.field, ALTERED) from None


def _check_statement(statement: Statement, selection: SelectedMechanism) -> None:
    if statement.sensitivity != selection.sensitivity:
        raise InputError(
            f"sensitivity must be {selection.sensitivity} for this query, unit and neighbours, got "
            f"{str(statement.sensitivity)[:40]}",
            "sensitivity",
            ALTERED,
        )
    expected, stated = (_leaves(mechanism.content()) for mechanism in (selection.mechanism, statement.mechanism))
    for name, value in expected.items():
        if stated.get(name) != value:
            raise InputError(
                f"mechanism must have {name} {_entry_words(name, value)} at epsilon {statement.epsilon}, got "
                f"{_entry_words(name, stated.get(name))}",
                "mechanism",
                ALTERED,
            )


def _entry_words(name: str, value: object) -> str:
    """The value of an entry of a mechanism; an end may be null, and is then none.

    >>> _entry_words("high", 300), _entry_words("rows.high", None), _entry_words("rate", None)
    ('300', 'null (no upper end)', 'none')
    """
    if value is not None:
        return str(value)[:40]
    end = {"low": "lower", "high": "upper"}.get(name.rpartition(".")[2])
    return "none" if end is None else f"null (no {end} end)"


def _leaves(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The entries of nested tables, by their dotted names."""
    leaves: dict[str, Any] = {}
    for key, value in content.items():
        leaves |= _leaves(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return leaves


def with_computed_guarantee(release: Release, setting: PrivacySetting) -> Release:
    """The release with its guarantee in words computed; refused where the file's ε is another, its words ignored."""
    total = sum((answer.epsilon for answer in release), Fraction(0))
    if release.epsilon != total:
        raise InputError(
            f"guarantee must have epsilon {total}, the sum of its queries', got {str(release.epsilon)[:40]}",
            "guarantee",
            ALTERED,
            context="release",
        )
    return replace(release, guarantee=guarantee_sentence(total, setting))
