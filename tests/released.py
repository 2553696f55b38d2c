"""Releases for the readers' tests: answers with the laws that the release path gives them and values of our choice."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.data.queries import Count, Grid, Histogram, Mean, NeighbourRelation, PrivacyUnit, Quantile, Query, Sum
from utmost.publish import accuracy, mechanism_selection, plans, release_file
from utmost.publish.release_model import Answer, DataOrigin, LedgerEntry, Release

AGES = Grid(Fraction(18), Fraction(91), Fraction(1))
CLOSED = mechanism_selection.PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 944)
OPEN = mechanism_selection.PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)


def setting(units: int | None, kept: int = 1) -> mechanism_selection.PrivacySetting:
    """Replace with a public number of units, or add-remove without."""
    unit = PrivacyUnit() if kept == 1 else PrivacyUnit("person", rows=kept)
    return mechanism_selection.PrivacySetting(
        NeighbourRelation.ADD_REMOVE if units is None else NeighbourRelation.REPLACE, unit, None, units
    )


def answer(
    query: Query, epsilon: object, given: mechanism_selection.PrivacySetting, name: str = "asked", **found: Any
) -> Answer:
    """The answer `found` (value, parts, position) to a query at this ε."""
    exact = Fraction(str(epsilon))
    law = mechanism_selection.select_mechanism(query, exact, given)
    return Answer(
        name=name,
        kind=plans.QUERY_KINDS[type(query)],
        where=query.where,
        epsilon=exact,
        sensitivity=law.sensitivity,
        mechanism=law.mechanism,
        optimal=law.optimal,
        error=accuracy.error_law(law.mechanism, query),
        asked=plans.query_content(query),
        **found,
    )


def count(value: int, epsilon: object, units: int | None = 944, kept: int = 1) -> Answer:
    """A count that was answered with this value."""
    return answer(Count("vote = 1"), epsilon, setting(units, kept), "dole", value=value)


def survey(given: mechanism_selection.PrivacySetting = CLOSED) -> list[Answer]:
    """One answer of each kind."""
    ratio = Mean("age", AGES, None, "vote = 1")
    whole = [] if given.units is None else [answer(Mean("age", AGES, Fraction(40)), "0.1", given, "age", value=AGE)]
    return [
        answer(Count("vote = 1"), "0.1", given, "dole", value=404),
        answer(Histogram({"educ": (1, 2, 3, 4)}), "0.2", given, "educ", value=(0, 40, 250, 944)),
        *whole,
        answer(ratio, "0.5", given, "age of dole voters", value=Fraction(407, 8), parts=(-2900, 400)),
        answer(Sum("age", AGES, Fraction(40)), "0.1", given, "years", value=Fraction(44000)),
        answer(Quantile("age", AGES, Fraction(1, 2), None), "0.1", given, "median", value=Fraction(45), position=27),
    ]


AGE = Fraction(18) + Fraction(27533, 944)


def release(answers: list[Answer], given: mechanism_selection.PrivacySetting = CLOSED) -> Release:
    """A release of these answers."""
    return Release(
        title="Survey 1996",
        library="utmost 0.1.0",
        source=DataOrigin("duckdb", "people.csv"),
        unit=given.unit,
        neighbours=given.neighbours,
        units=given.units,
        part=None,
        epsilon=sum((a.epsilon for a in answers), Fraction(0)),
        guarantee="words",
        entry=LedgerEntry("survey", 3, Fraction(7, 10), Fraction(3, 10)),
        answers=tuple(answers),
    )


def written(path: Path, answers: list[Answer], given: mechanism_selection.PrivacySetting = CLOSED) -> str:
    """The name of a file with such a release."""
    release_file.save_text(release_file.release_to_json(release(answers, given)), path)
    return path.name
