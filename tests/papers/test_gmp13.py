"""GMP13: what is published and what is computed; the errata."""

from __future__ import annotations

import json

import pytest

from utmost import papers
from utmost.papers import Report
from utmost.papers.gmp13 import applications, figures, main_theorem

WRONG_IN_THE_PAPER = {"Theorem 4.5", "Section 5, R", "Section 6, formulas"}


@pytest.fixture(scope="module")
def report() -> Report:
    return papers.report("GMP13")


@pytest.mark.slow
def test_everything_published_is_computed_again_but_for_the_errata(report: Report) -> None:
    assert {item.name for item in report.items if item.agrees is False} == WRONG_IN_THE_PAPER
    assert {item.name for item in report.items if item.agrees} == {
        "Example 1.1",
        "Example 4.1",
        "Theorems 4.1, 4.2",
        "Theorem 4.5 as proved",
    }


@pytest.mark.slow
def test_both_figures_and_both_applications_have_tables_and_curves(report: Report) -> None:
    item_by_name = {item.name: item for item in report.items}
    assert len(item_by_name) == len(report.items)
    for name in ("Figure 1", "Figure 2", "Section 5", "Section 6"):
        assert item_by_name[name].series
        assert item_by_name[name].computed.rows


@pytest.mark.slow
def test_an_item_without_published_values_does_not_claim_to_agree(report: Report) -> None:
    for item in report.items:
        assert (item.published is None) == (item.agrees is None)


@pytest.mark.slow
def test_the_known_errata_are_listed(report: Report) -> None:
    text = " ".join(report.errata)
    for phrase in (
        "ε(L + δ_t)/Δ",
        "4δ_t/(L − 2δ_t)",
        "8Lδ_t/(L − 2δ_t)²",
        "L√2",
        "(2πD)²",
        "√(2δ₀)/ε",
        "never comes to ∞",
    ):
        assert phrase in text


def test_figure_1_s_laws_share_no_result() -> None:
    series = figures.figure1().series
    assert not set(series[0].x) & set(series[1].x)
    for line in series:
        assert line.stems
        assert min(line.y) > 0


def test_figure_2_pairs_what_runs_with_what_is_meant() -> None:
    series = figures.figure2().series
    assert [(line.stems, line.colour) for line in series] == [(True, 0), (False, 0), (True, 1), (False, 1)]
    assert all(sum(line.y) <= figures.GENERATOR_VALUES for line in series)


def test_the_pictures_titles_are_claims_and_the_applications_show_where_epsilon_prime_ends() -> None:
    for item in (figures.figure1(), figures.figure2(), applications.section5(), applications.section6()):
        assert len(item.claim.split()) > 5
    for item in (applications.section5(), applications.section6()):
        line, wall = item.series
        assert "ε′ = ∞" in wall.name
        assert wall.x[0] == wall.x[1] >= max(line.x)


def test_the_price_grows_with_the_range() -> None:
    for item in (applications.section5(), applications.section6()):
        line = item.series[0]
        assert list(line.y) == sorted(line.y)


def test_a_wrong_claim_does_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_theorem, "_rounded_triple", lambda u: 3 * u + 1)
    assert main_theorem.theorem41().agrees is False


@pytest.mark.slow
def test_the_report_is_a_document(report: Report) -> None:
    assert json.loads(json.dumps(papers.document(report), allow_nan=False))["key"] == "GMP13"
