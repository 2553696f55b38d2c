"""`utmost papers`."""

from __future__ import annotations

import pytest

from utmost import papers
from utmost.papers import Item, Report, Series, Table

WIDE = Table(("", *"abcdefgh"), (("row", *["1/65536"] * 8),))
SAMPLE = Report(
    "GRS12",
    "A sample",
    (
        Item(
            "Figure 1",
            "A mechanism.",
            Table(("", "0", "1"), (("0", "2/3", "1/3"), ("1", "1/3", "2/3"))),
            Table(("", "0", "1"), (("0", "2/3", "1/3"), ("1", "1/3", "2/3"))),
            True,
        ),
        Item("Example 2", "Two numbers.", "1/2", "1/3", False, "They differ."),
        Item(
            "Claims", "Facts.", Table(("what", "value"), (("x", "1"),)), Table(("what", "value"), (("x", "2"),)), False
        ),
        Item("Wide", "A wide table.", WIDE, WIDE, True),
        Item(
            "App. A", "A curve.", None, "no table", None, series=(Series("ratio", "ε", "loss", (0.1, 1.0), (2.0, 1.5)),)
        ),
    ),
    ("a wrong sign",),
    ("an open question",),
)


@pytest.fixture
def sample(monkeypatch):
    monkeypatch.setattr(papers, "report", lambda key: SAMPLE)


def test_without_a_key_the_papers_are_listed(utmost):
    document = utmost("papers", "--json").document
    assert document["papers"] == [{"key": key, "title": title} for key, title in papers.KEYS.items()]
    assert all(key in utmost("papers").out for key in papers.KEYS)


@pytest.mark.usefixtures("sample")
def test_published_stands_beside_computed_with_a_verdict(utmost):
    result = utmost("papers", "GRS12")
    assert "Figure 1: agrees. A mechanism." in result.out
    assert "Example 2: DIFFERS. Two numbers." in result.out
    assert "App. A: nothing published to compare with." in result.out
    assert result.out.count("1/65536") == 8
    assert "published = computed, in every cell" in result.out
    assert any(line.split() == ["what", "published", "computed"] for line in result.out.splitlines())
    assert any(line.split() == ["x", "1", "2"] for line in result.out.splitlines())
    assert max(map(len, result.out.splitlines())) <= 80
    assert any(line.split() == ["0", "2/3", "1/3", "0", "2/3", "1/3"] for line in result.out.splitlines())
    for text in ("They differ.", "a wrong sign", "an open question", "2 of 4 items with published values agree"):
        assert text in result.out


@pytest.mark.usefixtures("sample")
def test_the_document_is_the_report_s(utmost):
    assert utmost("papers", "GRS12", "--json").document == papers.document(SAMPLE)


@pytest.mark.usefixtures("sample")
def test_mechanisms_and_curves_become_figures(utmost, tmp_path):
    result = utmost("papers", "GRS12", "--output", "figures/new")
    assert result.code == 0
    assert sorted(path.name for path in (tmp_path / "figures/new").iterdir()) == [
        "grs12-app-a.svg",
        "grs12-figure-1.svg",
    ]
    assert result.err.count("drew ") == 2


def test_an_item_that_draws_itself_is_drawn_so(utmost, tmp_path, monkeypatch):
    def draw_simplex():
        from utmost import charts

        return charts.simplex_chart("abc", "A claim of its own", prior=(0.2, 0.3, 0.5))

    item = Item("Figure 2", "A region.", None, "no table", None, draw=draw_simplex)
    monkeypatch.setattr(papers, "report", lambda key: Report("FMPD23", "A sample", (item,), ()))
    result = utmost("papers", "FMPD23", "--output", "figures")
    assert result.code == 0
    assert "A claim of its own" in (tmp_path / "figures/fmpd23-figure-2.svg").read_text()
