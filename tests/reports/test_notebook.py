"""What a notebook shows: short, escaped HTML; charts that no text of theirs can break; files replaced only if ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import utmost as ut
from example_releases import AGES, CLOSED, OPEN, answer, count, release, setting, survey
from utmost.axioms.curves import curve_from_points
from utmost.axioms.definition import Relation, definition_of
from utmost.charts.export import escape_texts, save_chart
from utmost.charts.intervals import IntervalLine, IntervalPanel, interval_chart, unique_names
from utmost.consumer import Minimax
from utmost.design.minimax import minimax_optimal
from utmost.errors import InputError
from utmost.ledger import QueryCost, ReleaseCost
from utmost.ledger.costs import ROW
from utmost.notebook import Figure
from utmost.publish.calibration_search import Calibration
from utmost.queries import Count, Histogram, Sum
from utmost.queries.found_count import FoundCount
from utmost.queries.top import Top

EVIL = '</script><script>alert(1)</script>\x1b[31m\x00\u202e"\\'
MARKUP = "</script><script>alert(1)</script>"
HALF = Fraction(1, 2)


def evil_channel() -> ut.Channel:
    return ut.channel.channel([[HALF, HALF], [HALF, HALF]], inputs=[EVIL, "b"], outputs=["c", EVIL + "d"])


def evil_space() -> ut.Space:
    return ut.space([[0, 1], [1, 0]], labels=[EVIL, "b"])


def evil_cells(size: int = 1) -> Any:
    keys = (EVIL, *(f"{k}" for k in range(size - 1)))
    return answer(Histogram({EVIL: keys}), 1, CLOSED, EVIL, value=tuple(range(size)))


def design() -> Any:
    return ut.optimal(ut.line(6), ut.alpha("1/2"), ut.Consumer(ut.priors.uniform(6), ut.losses.absolute))


RESULTS: dict[str, Callable[[], Any]] = {
    "release": lambda: release([count(5, 1), evil_cells()]),
    "answer": evil_cells,
    "estimate": lambda: evil_cells(2).estimate("uniform", "absolute"),
    "channel": evil_channel,
    "privacy loss": lambda: ut.least_epsilon(evil_channel(), evil_space()),
    "space": lambda: evil_space(),
    "audit": lambda: ut.audit.channel_bound(evil_channel()),
    "design": design,
    "capacity": lambda: ut.capacity(ut.line(6), ut.alpha("1/2")),
}


def spent_budget() -> ut.NamedBudget:
    """A budget of three charges, the last of a query whose name is markup."""
    named = ut.budget("b", epsilon=1)
    with ut.ledger.open_ledger("ledger.sqlite") as ledger:
        for query in ("first", "second", MARKUP):
            ledger.charge(ReleaseCost("b", ROW, "add-remove", (QueryCost(query, Fraction(1, 4)),)))
    return named


def evil_consumer() -> ut.Consumer:
    return ut.Consumer(ut.priors.uniform(2), ut.losses.binary, (EVIL, "b"))


def evil_satisfaction() -> ut.axioms.Satisfaction:
    relation = Relation((EVIL, "b"), ((0, 1), (1, 0)))
    return ut.axioms.satisfaction(evil_channel(), definition_of("alpha:2/3", relation))


PARTS: dict[str, Callable[[], Any]] = {
    "budget": spent_budget,
    "state": lambda: spent_budget().state,
    "charge": lambda: spent_budget().past_states(1)[0][0],
    "consumer": evil_consumer,
    "minimax": lambda: Minimax(ut.losses.absolute),
    "minimax reading": lambda: Minimax(ut.losses.absolute).reading(ut.geometric(2, ut.alpha("1/2"))),
    "minimax design": lambda: minimax_optimal(ut.line(2), ut.alpha("1/2"), Minimax(ut.losses.absolute)),
    "satisfaction": evil_satisfaction,
    "verdict": lambda: ut.axioms.soundness(curve_from_points([(0, 0), ("1/2", "3/4"), (1, 1)])),
    "capacity": lambda: ut.capacity(ut.line(3), ut.alpha("1/2")).additive,
    "calibration": lambda: Calibration("within ±3", HALF, HALF, 0.6, Fraction(2, 5), 0.4, 1, "decided by balls"),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_results_are_made_of_is_one_line_and_escaped_html(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = PARTS[name]()
    html, line = result._repr_html_(), repr(result)
    assert "<p>" in html or "<dl>" in html
    assert "<script" not in html
    assert not any(mark in html + line for mark in ("\x1b", "\x00", "\u202e"))
    assert line.startswith("<")
    assert len(line) < 160
    assert "\n" not in line


def test_a_budget_is_drawn_after_each_charge_and_of_many_after_evenly_spaced_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = spent_budget()
    assert [state.spent for _, state in named.past_states(3)] == [Fraction(k, 4) for k in (1, 2, 3)]
    assert [state.charges for _, state in named.past_states(2)] == [2, 3]
    assert named.past_states(1)[0][1].left == named.left == Fraction(1, 4)
    chart = named.plot().chart.to_dict()
    values = chart["datasets"][chart["data"]["name"]]
    assert [value["amount"] for value in values if value["part"] == "left"] == [1, 0.75, 0.5, 0.25]
    assert chart["title"]["text"] == "b: ε 0.75 of 1 is spent"


def test_a_composed_budget_is_told_after_each_charge_as_the_ledger_told_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = ut.budget("b", epsilon=2, delta="1e-6", composition="zcdp")
    costs = [ReleaseCost("b", ROW, "add-remove", (QueryCost("q", Fraction(1, k)),) * 2) for k in (8, 8, 9)]
    with ut.ledger.open_ledger("ledger.sqlite") as ledger:
        receipts = [ledger.charge(cost) for cost in costs]
    past = [(state.spent, state.left, state.measure) for _, state in named.past_states(60)]
    assert past == [(receipt.spent, receipt.left, receipt.measure) for receipt in receipts]


def test_no_name_in_a_preview_is_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a\n1\n2\n", encoding="utf-8")
    head = {"neighbours": "replace", "budget": MARKUP, "source": {"location": "t.csv", "columns": {"a": "integer"}}}
    queries = [{"name": MARKUP, "kind": "count", "where": "a = 1", "epsilon": "0.1"}]
    preview = ut.preview({**head, "title": MARKUP, "query": queries})
    html = preview._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html
    chart = preview.plot().chart.to_dict()
    assert chart["vconcat"][0]["layer"][0]["encoding"]["x"]["title"] == "count: 95 % of answers are within ± this"


def test_the_corner_of_a_channel_is_empty_in_a_notebook() -> None:
    assert '<th scope="col"></th>' in evil_channel()._repr_html_()


@pytest.mark.parametrize("name", RESULTS)
def test_no_text_of_a_result_is_markup_or_steers_what_shows_it(name: str) -> None:
    result = RESULTS[name]()
    html, line = result._repr_html_(), repr(result)
    assert "<script" not in html
    assert not any(mark in html for mark in ("\x1b", "\x00", "\u202e"))
    if name in ("release", "answer", "estimate", "channel", "space", "design", "audit"):
        assert not any(mark in line for mark in ("\x1b", "\x00", "\u202e"))
        assert line.count("\n") < 10


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RESULTS if name != "privacy loss"])
def test_a_chart_of_any_text_is_drawn_and_none_of_it_ends_a_script(name: str, tmp_path: Path) -> None:
    figure = RESULTS[name]().plot()
    assert isinstance(figure, Figure)
    figure.save(tmp_path / "chart.svg")
    drawing = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "<script" not in drawing
    assert "\x1b" not in drawing


def test_a_notebook_is_given_a_description_and_a_picture_and_no_script() -> None:
    bundle = evil_cells().plot()._repr_mimebundle_()
    kinds = sorted(bundle)
    assert [kind.partition(".v5")[0].partition(".v6")[0] for kind in kinds] == [
        "application/vnd.vegalite",
        "image/png",
        "text/plain",
    ]
    text = json.dumps(bundle[kinds[0]], ensure_ascii=False)
    assert not any(mark in text for mark in ("\x1b", "\x00", "\u202e"))


@pytest.mark.parametrize("ending", ["json", pytest.param("svg", marks=pytest.mark.slow)])
def test_a_figure_replaces_a_chart_of_ours_and_nothing_else(ending: str, tmp_path: Path) -> None:
    figure = count(5, 1).plot()
    figure.save(tmp_path / f"chart.{ending}")
    figure.save(str(tmp_path / f"chart.{ending}"))
    (tmp_path / f"mine.{ending}").write_text("<svg></svg>", encoding="utf-8")
    with pytest.raises(InputError, match="path must be a new file"):
        figure.save(tmp_path / f"mine.{ending}")


def test_a_figure_is_a_file_of_four_kinds_and_says_who_wrote_it(tmp_path: Path) -> None:
    figure = count(5, 1).plot()
    with pytest.raises(InputError, match=r"\.svg, \.png, \.html or \.json"):
        figure.save(tmp_path / "chart.pdf")
    figure.save(tmp_path / "chart.json")
    assert json.loads((tmp_path / "chart.json").read_text(encoding="utf-8"))["usermeta"] == {"generator": "utmost"}


@pytest.mark.slow
def test_control_characters_do_not_end_the_process_that_draws(tmp_path: Path) -> None:
    """The renderer aborts at an escape character in a text; so does the command that called it."""
    chart = interval_chart([IntervalPanel(EVIL, (IntervalLine(EVIL, 1.0, 0.0, 2.0, EVIL),), EVIL)], EVIL, EVIL)
    save_chart(chart, tmp_path / "chart.png")
    raw = ut.charts.line_chart([ut.charts.ChartLine("a\x1b", (0.0, 1.0), (0.0, 1.0))], "title\x1b")
    assert "\x1b" not in json.dumps(escape_texts(raw).to_dict(validate=False), ensure_ascii=False)
    save_chart(raw, tmp_path / "line.png")


def test_names_that_are_alike_are_told_apart() -> None:
    assert unique_names(["a", "a", "a (2)", "a"]) == ["a", "a (2)", "a (2) ·", "a (3)"]


def test_what_is_large_is_cut_and_says_how_much_is_left_out() -> None:
    large = evil_cells(100)
    assert "The first 20 of 100 numbers" in large._repr_html_()
    assert "the first 60 of 100 cells" in json.dumps(large.plot().chart.to_dict())
    assert "and 91 more cells" in repr(large.estimate("uniform", "absolute"))
    html = ut.geometric(40, ut.alpha("1/2")).channel()._repr_html_()
    assert "The first 12 of 41 rows and 12 of 41 columns." in html
    assert html.count("background: rgba") == 144
    with pytest.raises(InputError, match="at most 60 points"):
        ut.line(61).plot()


def test_a_design_is_a_line_with_its_loss_gap_and_epsilon() -> None:
    assert repr(design()) == "<Design: expected loss 0.895833, gap 0, ε ≤ 0.693148; 6 inputs, 6 outputs>"


@pytest.mark.slow
def test_every_kind_of_answer_is_drawn_and_a_mean_of_no_posterior_is_drawn_at_face_value() -> None:
    chart = release(list(survey(CLOSED))).plot().chart.to_dict()
    assert len(chart["vconcat"]) == len(survey(CLOSED))
    (quantile,) = [asked for asked in survey(CLOSED) if asked.kind == "quantile"]
    assert quantile.estimate("uniform", "absolute").plot().chart.to_dict() == quantile.plot().chart.to_dict()


def test_an_interval_of_a_chart_is_that_of_the_table() -> None:
    text = json.dumps(count(5, "0.3").plot().chart.to_dict())
    row = count(5, "0.3").to_arrow().to_pylist()[0]
    assert f'"low": {float(row["low"])}, "high": {float(row["high"])}' in text


def caption(result: Any) -> str:
    return " ".join(result.plot().chart.to_dict()["title"].get("subtitle", []))


def test_the_caption_of_a_chart_says_what_its_bars_hold_and_no_more() -> None:
    persons = setting(None, 2)
    answers = [
        answer(Count("vote = 1"), "0.1", persons, "dole", value=404),
        answer(Sum("age", AGES, None), "0.1", persons, "years", value=Fraction(44000)),
    ]
    assert caption(count(5, 1)) == "Each bar holds the true count with probability at least 95 %."
    assert caption(answers[0]).startswith(
        "Each bar holds the count with at most 2 rows of each person with probability"
    )
    assert "2 rows of each person and values clamped to 18 … 91 and rounded to steps of 1 with" in caption(answers[1])
    assert "the number asked of at most 2 rows of each person and values clamped" in caption(release(answers, persons))


def test_a_chart_without_bars_speaks_of_none_and_places_have_whole_ticks() -> None:
    (quantile,) = [asked for asked in survey(CLOSED) if asked.kind == "quantile"]
    top = answer(Top({"educ": (1, 2, 3, 4)}, 2), "0.1", CLOSED, value=((1,), (3,)))
    assert not any("Each bar" in caption(asked) for asked in (quantile, top))
    assert '"tickMinStep": 1' in json.dumps(top.plot().chart.to_dict())


def test_the_caption_of_found_cells_says_that_their_bars_hold_given_that_they_were_told() -> None:
    found = answer(FoundCount(("g",), None, Fraction(1, 100)), 1, OPEN, value=(7,), cells=[["a"]])
    assert caption(found).endswith("The bar of a cell that was found holds given that the cell was told.")


def test_an_audit_is_a_line_with_its_bound_rounded_down_and_what_becomes_of_the_claim() -> None:
    audit = ut.audit.channel_bound
    half, channel = ut.geometric(5, ut.alpha("1/2")), ut.channel.channel([[1, 0], [0, 1]])
    assert repr(audit(half, claimed=ut.alpha("2/3"))) == "<AuditResult: ε ≥ 0.693147, exact, claim refuted>"
    assert repr(audit(half)) == "<AuditResult: ε ≥ 0.693147, exact>"
    assert repr(audit(ut.geometric(5, ut.epsilon(1)), claimed=ut.epsilon(1))).startswith("<AuditResult: ε ≥ 1, exact")
    assert repr(audit(channel)) == "<AuditResult: ε ≥ inf, exact>"
    told = repr(audit(half, claimed=ut.alpha("1/2"), delta="1e-6"))
    assert told.startswith("<AuditResult: ε ≥ 0.6931")
    assert told.endswith(" at δ = 1/1000000, exact, claim holds>")
    assert repr(audit(half, rho="1/2")).startswith("<AuditResult: ρ ≥ 0.")
    box = ut.audit.function_box(lambda secret: secret)
    sampled = repr(ut.audit.sampled_bound(box, (0, 1), samples=2_000, claimed=ut.epsilon(1)))
    assert sampled.endswith("with confidence 0.99, claim refuted>")
