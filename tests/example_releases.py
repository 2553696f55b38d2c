"""Releases for the tests of reading: answers with the mechanisms the release path gives them and chosen values."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.data.grid import Grid
from utmost.data.selection import NeighbourRelation, PrivacyUnit
from utmost.publish import release_file
from utmost.publish.release_model import Answer, DataOrigin, LedgerEntry, Release
from utmost.queries import Count, Histogram, Mean, Quantile, Query, Sum
from utmost.queries.answer_error import answer_error
from utmost.queries.answer_mechanisms.mechanism import AnswerValue
from utmost.queries.privacy_setting import PrivacySetting, guarantee_sentence

AGES = Grid(Fraction(18), Fraction(91), Fraction(1))
CLOSED = PrivacySetting(NeighbourRelation.REPLACE, PrivacyUnit(), None, 944)
OPEN = PrivacySetting(NeighbourRelation.ADD_REMOVE, PrivacyUnit(), None, None)


def setting(units: int | None, unit_rows: int = 1) -> PrivacySetting:
    """Replace with a public number of units, or add-remove without."""
    unit = PrivacyUnit() if unit_rows == 1 else PrivacyUnit("person", rows=unit_rows)
    return PrivacySetting(
        NeighbourRelation.ADD_REMOVE if units is None else NeighbourRelation.REPLACE, unit, None, units
    )


def answer(
    query: Query,
    epsilon: object,
    privacy_setting: PrivacySetting,
    name: str = "asked",
    *,
    value: AnswerValue,
    **details: Any,
) -> Answer:
    """The answer to a query at this ε with this value and these `details` of the draw: parts, position."""
    exact = Fraction(str(epsilon))
    selection = query.select_mechanism(exact, privacy_setting)
    return Answer(
        name=name,
        query=query,
        epsilon=exact,
        sensitivity=selection.sensitivity,
        mechanism=selection.mechanism,
        optimal=selection.optimal,
        error=answer_error(selection.mechanism, query, privacy_setting.unit, privacy_setting.part),
        value=value,
        details=details,
    )


def count(value: int, epsilon: object, units: int | None = 944, unit_rows: int = 1) -> Answer:
    """A count that was answered with this value."""
    return answer(Count("vote = 1"), epsilon, setting(units, unit_rows), "dole", value=value)


def survey(privacy_setting: PrivacySetting = CLOSED) -> list[Answer]:
    """One answer of each kind."""
    ratio = Mean("age", AGES, None, "vote = 1")
    public_mean = (
        []
        if privacy_setting.units is None
        else [answer(Mean("age", AGES, Fraction(40)), "0.1", privacy_setting, "age", value=AGE)]
    )
    return [
        answer(Count("vote = 1"), "0.1", privacy_setting, "dole", value=404),
        answer(Histogram({"educ": (1, 2, 3, 4)}), "0.2", privacy_setting, "educ", value=(0, 40, 250, 944)),
        *public_mean,
        answer(ratio, "0.5", privacy_setting, "age of dole voters", value=Fraction(407, 8), parts=PARTS),
        answer(Sum("age", AGES, Fraction(40)), "0.1", privacy_setting, "years", value=Fraction(44000)),
        answer(
            Quantile("age", AGES, Fraction(1, 2), None),
            "0.1",
            privacy_setting,
            "median",
            value=Fraction(45),
            position=27,
        ),
    ]


PARTS = {"total": -2900, "rows": 400}
AGE = Fraction(18) + Fraction(27533, 944)


def release(answers: list[Answer], privacy_setting: PrivacySetting = CLOSED) -> Release:
    """A release of these answers."""
    epsilon = sum((a.epsilon for a in answers), Fraction(0))
    return Release(
        title="Survey 1996",
        library="utmost 0.1.0",
        source=DataOrigin("duckdb", "people.csv"),
        unit=privacy_setting.unit,
        neighbours=privacy_setting.neighbours,
        units=privacy_setting.units,
        part=privacy_setting.part,
        epsilon=epsilon,
        guarantee=guarantee_sentence(epsilon, privacy_setting),
        entry=LedgerEntry("survey", 3, Fraction(7, 10), Fraction(3, 10)),
        answers=tuple(answers),
    )


def write_release(path: Path, answers: list[Answer], privacy_setting: PrivacySetting = CLOSED) -> str:
    """The name of a file with such a release."""
    release_file.save_text(release_file.release_to_json(release(answers, privacy_setting)), path)
    return path.name
