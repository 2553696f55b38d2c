"""Precision in the studio says what the command line says, and nothing a visitor types makes it fail."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from utmost.cli import run
from utmost.exact import epsilon
from utmost.precision import BINARY16, BINARY64, implementation, laplace, uniform_generator
from utmost.precision.enumeration import disclosure_probability, enumerate_supports
from utmost.precision.remedies import epsilon_text
from utmost.reports.numbers import MINUS, typeset


def test_the_page_shows_the_certificate_of_the_library(studio: Any) -> None:
    guarantee = laplace.certify_laplace(
        laplace.laplace_setting(epsilon("1/2"), 1, 0, 20, "1/64"), implementation(BINARY64)
    )
    parameters = {"epsilon": "1/2", "high": "20", "round": "1/64"}
    answer = studio.get("/api/precision", params=parameters).json()
    assert guarantee.epsilon_prime is not None
    assert guarantee.theorem is not None
    assert answer["epsilon_prime"]["text"] == typeset(epsilon_text(epsilon("1/2"), guarantee.epsilon_prime))
    assert answer["theorem"] == typeset(epsilon_text(epsilon("1/2"), guarantee.theorem))
    assert answer["advice"] in studio.get("/precision", params=parameters).text


def test_page_and_command_line_print_the_same_bounds(studio: Any, capsys: pytest.CaptureFixture[str]) -> None:
    answer = studio.get("/api/precision", params={"epsilon": "1/2", "high": "20", "round": "1/64"}).json()
    assert run(["precision", "laplace", "--epsilon", "1/2", "--range", "0,20", "--round", "1/64"]) == 0
    printed = " ".join(capsys.readouterr().out.replace("-", MINUS).split())
    for text in (answer["epsilon_prime"]["text"], answer["theorem"], answer["sharp"], answer["delta_t"]):
        assert text in printed
    assert answer["advice"].replace("-", MINUS) in printed


def test_a_range_that_no_step_saves_promises_nothing(studio: Any) -> None:
    answer = studio.get("/api/precision", params={"high": "100"}).json()
    assert answer["epsilon_prime"] is None
    assert studio.get("/precision", params={"high": "100"}).status_code == 200
    assert studio.get("/api/precision/curve", params={"high": "100"}).json()["data"]["here"] == []


def test_the_curve_has_the_step_that_was_asked_for(studio: Any) -> None:
    chart = studio.get("/api/precision/curve", params={"round": "1/256"}).json()
    assert chart["data"]["here"][0]["step"] == 1 / 256
    assert any(row["step"] == 1 / 256 for row in chart["data"]["curve"])
    assert all(row["epsilon"] >= 1 for row in chart["data"]["curve"])


def test_ticks_are_coloured_by_who_can_give_them(studio: Any) -> None:
    rows = studio.get("/api/precision/supports", params={"format": "binary16"}).json()["data"]["results"]
    supports = enumerate_supports(
        laplace.laplace_setting(epsilon(1), 1, 0, 10, "1/1024"),
        implementation(BINARY16, uniform_generator(256)),
        (Fraction(1), Fraction(2)),
    )
    first_law, second_law = supports.raw
    first_rows = [row for row in rows if row["row"] == "as added, from 1"]
    assert first_rows
    assert all((row["from"] == "either secret") == (Fraction(row["exact"]) in second_law) for row in first_rows)
    assert all(Fraction(row["exact"]) in first_law for row in first_rows)
    disclosure = studio.get("/api/precision/leak", params={"format": "binary16"}).json()
    assert Fraction(disclosure["raw"]["exact"]) == disclosure_probability(supports.raw)


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "binary128"),
        ("format", "fixed:999999999"),
        ("epsilon", "0"),
        ("epsilon", "nan"),
        ("epsilon", "1e999999"),
        ("sensitivity", "-1"),
        ("low", "abc"),
        ("high", "-5"),
        ("round", "0"),
        ("round", "1e-400"),
        ("first", "1/3"),
        ("second", "∞"),
    ],
)
def test_bad_input_is_one_line_beside_its_field(studio: Any, field: str, value: str) -> None:
    page = studio.get("/precision", params={field: value})
    assert page.status_code == 422
    answers = [
        studio.get(f"/api/precision{path}", params={field: value}) for path in ("", "/curve", "/leak", "/supports")
    ]
    problems = [answer.json() for answer in answers if answer.status_code != 200]
    assert problems
    assert all(answer.status_code in (200, 422) for answer in answers)
    assert all(problem["field"] == field and "\n" not in problem["message"] for problem in problems)
