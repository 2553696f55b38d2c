"""Compute what a release claims from its queries and its setting, and refuse a file that states anything else.

A mechanism and a sensitivity follow from query, ε, unit and neighbours (`mechanism_selection`); optimality, error and
guarantee follow from those. So none of them is believed because a file says so: what can be compared is compared, and
what is shown is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from utmost.data.queries import Mean, NumberQuery, Quantile, Query
from utmost.errors import InputError
from utmost.publish import plans
from utmost.publish.answer_error import answer_error
from utmost.publish.mechanism_selection import PrivacySetting, SelectedMechanism, guarantee_sentence, select_mechanism
from utmost.publish.noisy_answers import mean_of
from utmost.publish.release_encoder import mechanism_content
from utmost.publish.release_model import Answer, LatticeMechanism, Mechanism, RatioMechanism, Release

MAX_UNITS = 10**18
ALTERED = "this file was altered, ask for the one that utmost release wrote"


@dataclass(frozen=True, slots=True)
class Statement:
    """What a file says of one answer, but for its values."""

    query: Query
    epsilon: Fraction
    sensitivity: int
    mechanism: Mechanism


def check_units(setting: PrivacySetting) -> None:
    """Refuse a number of units that does not go with the neighbours: public under replace, secret under add-remove."""
    if setting.replacing and not (setting.units is not None and 1 <= setting.units <= MAX_UNITS):
        raise InputError(f"release: units must be a number from 1 to 10^18 under replace, got another: {ALTERED}")
    if not setting.replacing and setting.units is not None:
        raise InputError(f"release: units must be null under add-remove, got a number: {ALTERED}")


def computed_answer(name: str, statement: Statement, setting: PrivacySetting, **results: Any) -> Answer:
    """The answer with everything computed that follows from its query; refused where the file states otherwise."""
    query, epsilon = statement.query, statement.epsilon
    label = f'release: query "{name[:60]}"'
    try:
        selection = select_mechanism(query, epsilon, setting)
        error = answer_error(selection.mechanism, query, setting.unit, setting.part)
    except InputError as problem:
        raise InputError(f"{label}: {problem}") from None
    _check_unit(label, query, setting)
    _check_statement(label, statement, selection)
    _check_results(label, query, selection.mechanism, results)
    return Answer(
        name=name,
        kind=plans.QUERY_KINDS[type(query)],
        where=query.where,
        epsilon=epsilon,
        sensitivity=selection.sensitivity,
        mechanism=statement.mechanism,
        optimal=selection.optimal,
        error=error,
        query_content=plans.query_content(query),
        **results,
    )


def _check_unit(label: str, query: Query, setting: PrivacySetting) -> None:
    """Refuse a sum, mean or quantile with a unit of groups, which no engine answers."""
    if isinstance(query, NumberQuery) and setting.unit.groups is not None:
        raise InputError(f"{label}: unit must bound rows for a sum, mean or quantile, got groups: {ALTERED}")


def _check_statement(label: str, statement: Statement, selection: SelectedMechanism) -> None:
    if statement.sensitivity != selection.sensitivity:
        raise InputError(
            f"{label}: sensitivity must be {selection.sensitivity} for this query, unit and neighbours, got "
            f"{str(statement.sensitivity)[:40]}: {ALTERED}"
        )
    expected, stated = (
        _leaves(mechanism_content(mechanism)) for mechanism in (selection.mechanism, statement.mechanism)
    )
    for name, value in expected.items():
        if stated.get(name) != value:
            raise InputError(
                f"{label}: mechanism must have {name} {_entry_words(name, value)} at epsilon {statement.epsilon}, got "
                f"{_entry_words(name, stated.get(name))}: {ALTERED}"
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


def _check_results(label: str, query: Query, mechanism: Mechanism, results: Mapping[str, Any]) -> None:
    """Refuse values that this mechanism cannot give, and one that is not what its parts or position stand for."""
    value, parts, position = results["value"], results["parts"], results["position"]
    if (parts is not None) != isinstance(mechanism, RatioMechanism):
        raise InputError(f"{label}: parts must be given for a ratio alone, got them for another or none: {ALTERED}")
    if (position is not None) != isinstance(query, Quantile):
        raise InputError(f"{label}: position must be given for a quantile alone, got it for another or none: {ALTERED}")
    if isinstance(mechanism, LatticeMechanism):
        _check_lattice_values(label, query, mechanism, value)
    elif isinstance(mechanism, RatioMechanism) and isinstance(query, Mean):
        total, rows = parts
        _check_on_lattice(label, mechanism.rows, rows)
        if value != mean_of(total, rows, mechanism, query.grid):
            raise InputError(f"{label}: value must be the ratio of its parts, got another: {ALTERED}")
    elif isinstance(query, Quantile) and not (0 <= position <= query.grid.size and value == query.grid.value(position)):
        raise InputError(f"{label}: value must be that of its position on the grid, got another: {ALTERED}")


def _check_lattice_values(label: str, query: Query, mechanism: LatticeMechanism, value: Any) -> None:
    values = value if isinstance(value, tuple) else (value,)
    cells = plans.query_content(query).get("cells")
    if cells is not None and len(cells) != len(values):
        raise InputError(f"{label}: value must have a number for each of {len(cells)} cells, got {len(values)}")
    for number in values:
        _check_on_lattice(label, mechanism, mechanism.number(Fraction(number)))


def _check_on_lattice(label: str, mechanism: LatticeMechanism, number: int) -> None:
    if (mechanism.low is not None and number < mechanism.low) or (
        mechanism.high is not None and number > mechanism.high
    ):
        raise InputError(f"{label} must have a value within its mechanism's ends")


def with_computed_guarantee(release: Release, setting: PrivacySetting) -> Release:
    """The release with its guarantee in words computed; refused where the file's ε is another, its words ignored."""
    total = sum((answer.epsilon for answer in release), Fraction(0))
    if release.epsilon != total:
        raise InputError(
            f"release: guarantee must have epsilon {total}, the sum of its queries', got "
            f"{str(release.epsilon)[:40]}: {ALTERED}"
        )
    return replace(release, guarantee=guarantee_sentence(total, setting))
