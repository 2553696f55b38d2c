"""`utmost estimate`."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_releases import CLOSED, OPEN, answer, count, survey, write_release
from utmost.charts.curves import CellData, ReadingData, cell_chart, reading_chart
from utmost.data.grid import Grid
from utmost.queries import Histogram, Sum
from utmost.reports.estimate import figure

QUERY_NAMES = ["dole", "educ", "age", "age of dole voters", "years", "median"]


@pytest.fixture
def closed_release(tmp_path):
    return write_release(tmp_path / "closed.json", survey())


@pytest.fixture
def open_release(tmp_path):
    return write_release(tmp_path / "open.json", survey(OPEN), OPEN)


# --- what it says -----------------------------------------------------------------------------------------------------


def test_one_answer_has_its_keys_at_the_top(utmost, closed_release):
    document = utmost("estimate", closed_release, "--query", "dole", "--prior", "binomial:0.45", "--json").document
    estimate = count(404, "0.1").estimate("binomial:0.45", "absolute")
    assert (document["value"], document["estimate"], document["unbiased"]) == (404, estimate.estimate, 404)
    assert tuple(document["interval"]) == estimate.interval
    assert document["loss"]["expected"] == pytest.approx(estimate.loss.expected, rel=1e-11)
    assert document["loss"]["face_value"] == pytest.approx(estimate.loss.face_value, rel=1e-11)
    assert document["loss"]["before"]["gain"] == pytest.approx(estimate.before.gain, rel=1e-11)
    assert (document["prior"], document["loss_function"], document["coverage"]) == ("binomial:9/20", "absolute", 0.95)
    assert "GRS12 Thm 3.2" in document["optimal"]
    assert [entry["name"] for entry in document["queries"]] == ["dole"]


def test_without_a_query_every_answer_is_read(utmost, closed_release):
    document = utmost("estimate", closed_release, "--json").document
    assert [entry["name"] for entry in document["queries"]] == QUERY_NAMES
    by_name = {entry["name"]: entry for entry in document["queries"]}
    assert by_name["age"]["estimate_decimal"] == pytest.approx(47.1663, abs=1e-4)
    assert Fraction(by_name["age"]["estimate"]) == Fraction(18) + Fraction(27533, 944)
    assert by_name["median"]["interval"] is None
    assert by_name["median"]["rank"] == pytest.approx(131.9, abs=0.2)
    assert len(by_name["educ"]["cells"]) == 4
    assert by_name["educ"]["total"]["unbiased"] == pytest.approx(1234)  # one cell at each end: their shifts cancel
    assert "problem" not in document["queries"][0]


def test_the_text_says_reading_losses_and_theorem_within_80_columns(utmost, closed_release):
    result = utmost("estimate", closed_release)
    text = " ".join(result.out.split())
    for claim in (
        "Survey 1996: 6 answers, released with ε = 11/10 in all.",
        "dole: count where vote = 1, ε = 1/10",
        "best reading 404; from 374 to 434 with probability 95 %",
        "given this answer 9.98335 9.98335 1 ×",
        "over all answers 9.83055 9.87234 1.00425 ×",
        "not even one made for this reader (GRS12 Thm 3.2)",
        "Every number of rows is taken to be as likely",
        "fewer than 131.9 rows lie on the wrong side",
        "Total of all cells 1234, unbiased",
    ):
        assert claim in text
    assert max(map(len, result.out.splitlines())) <= 80
    assert result.err == ""


def test_cells_at_their_ends_show_an_unbiased_value_to_add_up(utmost, closed_release):
    result = utmost("estimate", closed_release, "--query", "educ")
    rows = [line.split() for line in result.out.splitlines() if line[:1].isdigit()]
    assert [row[:3] for row in rows] == [
        ["1", "0", "-9.50833"],
        ["2", "40", "40"],
        ["3", "250", "250"],
        ["4", "944", "953.508"],
    ]
    end = utmost("estimate", closed_release, "--query", "educ", "--cell", "1", "--json").document
    assert end["estimate"] == [6]
    assert end["total"] is None


def test_more_cells_than_fit_are_cut_in_the_text_only(utmost, tmp_path):
    keys = Histogram({"k": tuple(range(60))})
    name = write_release(tmp_path / "wide.json", [answer(keys, "1", CLOSED, "wide", value=tuple(range(60)))])
    assert "The first 24 of 60 cells" in utmost("estimate", name).out
    assert len(utmost("estimate", name, "--json").document["cells"]) == 60


def test_an_answer_at_its_end_says_what_to_count_when_adding_up(utmost, tmp_path):
    name = write_release(tmp_path / "end.json", [count(0, "0.1")])
    assert "to add it up with others, count -9.50833" in " ".join(utmost("estimate", name).out.split())
    assert utmost("estimate", name, "--json").document["unbiased"] == pytest.approx(-9.50833194477)


# --- no public end ----------------------------------------------------------------------------------------------------


def test_a_range_is_asked_for_where_there_is_none(utmost, open_release):
    result = utmost("estimate", open_release, "--query", "dole")
    assert (result.code, result.out) == (2, "")
    assert "--at-most N" in result.err
    document = utmost("estimate", open_release, "--query", "dole", "--at-most", "300", "--json").document
    assert document["value"] == 404
    assert 250 < document["estimate"] <= 300 == document["interval"][1]


def test_what_cannot_be_read_is_listed_and_the_rest_is_read(utmost, tmp_path):
    below = Sum("v", Grid(Fraction(-5), Fraction(5), Fraction(1)), None)
    answers = [*survey(OPEN), answer(below, 1, OPEN, "balance", value=Fraction(-3))]
    name = write_release(tmp_path / "open.json", answers, OPEN)
    document = utmost("estimate", name, "--at-most", "1000", "--json").document
    problems = {entry["name"]: entry["problem"] for entry in document["queries"] if "problem" in entry}
    assert list(problems) == ["balance"]
    assert "--at-least" in problems["balance"]
    assert "not read" in utmost("estimate", name, "--at-most", "1000").out


def test_a_prior_that_fits_only_some_answers_says_so(utmost, tmp_path, closed_release):
    (tmp_path / "prior.txt").write_text("\n".join(["1/945"] * 945))
    document = utmost("estimate", closed_release, "--prior", "prior.txt", "--json").document
    assert "problem" not in document["queries"][0]
    (tmp_path / "short.txt").write_text("1/2\n1/2")
    document = utmost("estimate", closed_release, "--prior", "short.txt", "--json").document
    assert "prior must have 945 weights" in document["queries"][0]["problem"]
    assert document["queries"][2]["points"] == 2


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("query", QUERY_NAMES[:5])
def test_a_picture_is_drawn_of_one_answer(utmost, closed_release, tmp_path, query):
    result = utmost("estimate", closed_release, "--query", query, "--plot", "read.svg")
    assert (result.code, result.err) == (0, "drew read.svg\n")
    text = (tmp_path / "read.svg").read_text()
    assert text.startswith("<svg")
    assert query in text


def test_the_curves_are_the_beliefs_around_the_answer_and_the_steps_the_remap():
    estimate = count(404, "0.1").estimate("binomial:0.45", "absolute")
    document = figure(estimate).to_dict()
    upper, lower = document["vconcat"]
    points = [p for data in document["datasets"].values() for p in data]
    after = {p["x"]: p["weight"] for p in points if p.get("name") == "posterior"}
    assert after[404] == pytest.approx(0.0462, abs=1e-4)
    assert sum(after.values()) > 0.998
    assert {p["name"] for p in points if "name" in p} == {"prior", "likelihood", "posterior"}
    steps = {p["x"]: p["w"] for p in points if "w" in p}
    assert steps[404] == 410
    assert len(upper["layer"]) >= 5
    assert "face value" in lower["title"]["text"]


@pytest.mark.parametrize(("size", "value"), [(1, 0), (2, 1), (10**5, 52_345)])
def test_few_points_and_many_are_drawn(tmp_path, size, value):
    estimate = count(value, "0.5", size).estimate("uniform", "squared")
    document = figure(estimate).to_dict()
    assert all(len(data) <= 1500 for data in document["datasets"].values())


def test_an_answer_far_above_the_reader_s_range_is_in_the_picture():
    estimate = count(500, "0.5", None).estimate("uniform", "absolute", at_most=20)
    chart = figure(estimate).to_dict()
    scale = chart["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]
    assert scale["domain"] == [0, 500]


def test_a_spike_survives_the_thinning():
    x = tuple(float(k) for k in range(10_000))
    spike = tuple(0.5 if k == 7777 else 1e-5 for k in range(10_000))
    chart = reading_chart(ReadingData(x, spike, x, x, 5.0, 7.0, (4.0, 9.0)), "t").to_dict()
    prior_points = [p for data in chart["datasets"].values() for p in data if p.get("name") == "prior"]
    assert len(prior_points) <= 500
    assert max(p["weight"] for p in prior_points) == 0.5


def test_cells_are_drawn_in_their_order_one_line_each():
    rows = [CellData("b", 3, 4, (1, 9)), CellData("a", 0, 1, (0, 2))]
    document = cell_chart(rows, "t").to_dict()
    data = next(iter(document["datasets"].values()))
    assert [(c["cell"], c["value"], c["estimate"], c["low"], c["high"]) for c in data] == [
        ("b", 3, 4, 1, 9),
        ("a", 0, 1, 0, 2),
    ]


# --- bad input --------------------------------------------------------------------------------------------------------

BAD = [
    ((), "RELEASE"),
    (("absent.json",), "release must name a readable text file"),
    (("folder",), "release must name a readable text file"),
    (("garbage.json",), "not JSON"),
    (("list.json",), "without its schema"),
    (("newer.json",), "utmost-release/3"),
    (("binary.json",), "readable text file"),
    (("tampered.json",), "within its mechanism's ends"),
    (("closed.json", "--query", "nobody"), "query must be one of dole, educ"),
    (("closed.json", "--query", "educ", "--cell", "9"), "cell must be one of 1; 2; 3; 4"),
    (("closed.json", "--query", "dole", "--cell", "9"), "cell must not be given for a count"),
    (("closed.json", "--query", "dole", "--prior", "normal"), "prior must be uniform"),
    (("closed.json", "--query", "dole", "--loss", "hinge"), "loss must be absolute"),
    (("closed.json", "--query", "dole", "--coverage", "2"), "coverage must be strictly between 0 and 1"),
    (("closed.json", "--query", "dole", "--coverage", "most"), "coverage must be a number"),
    (("closed.json", "--query", "dole", "--at-most", "many"), "at_most must be a number"),
    (("closed.json", "--query", "dole", "--grid", "1.5"), "grid must be a whole number"),
    (("closed.json", "--query", "dole", "--grid", "1000000000000"), "grid must be from 2"),
    (("closed.json", "--query", "dole", "--prior", "binomial:2"), "binomial must have a probability"),
    (("closed.json", "--plot", "read.svg"), "--plot must be of one answer"),
    (("closed.json", "--query", "median", "--plot", "read.svg"), "--plot must be of an answer with a posterior"),
    (("closed.json", "--query", "dole", "--plot", "read.txt"), "--plot must be a file"),
]


@pytest.fixture
def files(tmp_path, closed_release):
    good = (tmp_path / closed_release).read_text()
    (tmp_path / "folder").mkdir()
    (tmp_path / "garbage.json").write_text("ε = 0.1")
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "newer.json").write_text(good.replace("utmost-release/1", "utmost-release/3"))
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "tampered.json").write_text(good.replace('"value": 404', '"value": 4040'))


@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=lambda value: " ".join(map(str, value))[:60])
@pytest.mark.usefixtures("files")
def test_bad_input_ends_with_code_2_and_one_line_that_names_it(utmost, arguments, expected):
    result = utmost("estimate", *arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert expected in result.err


OPTION_VALUES = st.one_of(
    st.sampled_from(
        ["uniform", "zipf:1", "poisson:0", "1/2,1/2", "nan", "-1", "1e999", "0", "absolute", "power:0", "é"]
    ),
    st.text(max_size=8),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["--prior", "--loss", "--coverage", "--at-least", "--at-most", "--grid", "--query", "--cell"]
            ),
            OPTION_VALUES,
        ),
        max_size=3,
    ),
    st.sampled_from(["closed.json", "open.json"]),
)
@pytest.mark.usefixtures("files", "open_release")
def test_no_option_values_make_a_traceback(utmost, options, release):
    result = utmost("estimate", release, *(word for pair in options for word in pair))
    assert result.code in (0, 2), result.err
    assert "Traceback" not in result.err
    assert "internal error" not in result.err


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_tampering_makes_a_traceback(utmost, tmp_path, data):
    document = json.loads((tmp_path / write_release(tmp_path / "fresh.json", survey())).read_text())
    query = data.draw(st.sampled_from(document["queries"]))
    entry = data.draw(st.sampled_from([query, query["mechanism"], query["error"]]))
    key = data.draw(st.sampled_from(sorted(entry)))
    junk = st.sampled_from([None, -1, 0, 10**30, 1e308, "x", "1/0", "1e-9999", "1/3", [], {}, [[]], True, "nan"])
    entry[key] = data.draw(junk)
    (tmp_path / "tampered.json").write_text(json.dumps(document))
    result = utmost("estimate", "tampered.json")
    assert result.code in (0, 2), (result.err, key, entry[key])
    assert "internal error" not in result.err


@pytest.mark.slow
def test_no_text_of_a_release_ends_the_script_of_a_plot(utmost, tmp_path):
    hostile = "</script><script>alert(3)</script>"
    histogram = answer(Histogram({"k": (hostile, "b")}), "0.2", CLOSED, hostile, value=(3, 4))
    release = write_release(tmp_path / "hostile.json", [histogram, count(404, "0.1")])
    assert utmost("estimate", release, "--query", hostile, "--plot", "a.html").code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "alert(3)" in page
    assert "<script>alert(3)" not in page
    assert "</script><script>" not in page
