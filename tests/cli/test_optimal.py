"""`utmost optimal`."""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utmost.channel import files
from utmost.exact import number

# GRS12 Fig. 3(a) and its signature: prior 1/4, 0, 1/4, 0, 1/4, 1/4, loss |i − j|^1.5, α = 1/2.
FIGURE_3A = [
    "2/3 0 1/4 1/24 1/48 1/48",
    "1/3 0 1/2 1/12 1/24 1/24",
    "1/6 0 1/2 1/6 1/12 1/12",
    "1/12 0 1/4 1/3 1/6 1/6",
    "1/24 0 1/8 1/6 1/3 1/3",
    "1/48 0 1/16 1/12 1/6 2/3",
]
SIGNATURE = ["↓0↑↑↑↑", "↓0S↑↑↑", "↓0↓↑↑↑", "↓0↓↓↑↑", "↓0↓↓↓↑"]
FIGURE_3A_COMMAND = ("optimal", "line:6", "--alpha", "1/2", "--prior", "1/4,0,1/4,0,1/4,1/4", "--loss", "power:1.5")


def test_the_document_is_figure_3a(utmost):
    document = utmost(*FIGURE_3A_COMMAND, "--json").document
    assert document["rows"] == [row.split() for row in FIGURE_3A]
    assert document["signature"] == SIGNATURE
    assert document["remap"] == [0, 2, 2, 3, 4, 5]


def test_the_certificate_is_closed_and_its_loss_is_that_of_the_rows(utmost):
    document = utmost(*FIGURE_3A_COMMAND, "--json").document
    certificate = document["certificate"]
    assert (certificate["private"], certificate["gap"], certificate["epsilon"]) == (True, "0", 0.69314718056)
    weights = [Fraction(1, 4), 0, Fraction(1, 4), 0, Fraction(1, 4), Fraction(1, 4)]
    loss = sum(
        float(weights[i] * Fraction(cell)) * abs(i - j) ** 1.5
        for i, row in enumerate(document["rows"])
        for j, cell in enumerate(row)
    )
    assert float(number(document["loss"])) == pytest.approx(loss, rel=1e-14)
    assert document["loss_decimal"] == pytest.approx(loss, rel=1e-11)
    assert document["loss"] == certificate["lower"] == certificate["upper"]


def test_the_text_shows_matrix_signature_remap_and_proof(utmost):
    result = utmost(*FIGURE_3A_COMMAND)
    text = " ".join(result.out.split())
    assert [line.split()[1:] for line in result.out.splitlines()[4:10]] == [row.split() for row in FIGURE_3A]
    assert "1 ↓ 0 S ↑ ↑ ↑" in result.out
    assert "1–2 as 2; the others as they are" in text
    assert "No 1/2-private mechanism gives this consumer less: proved by exact multipliers, gap 0." in text
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_mechanism_is_saved_and_drawn(utmost, tmp_path):
    result = utmost(*FIGURE_3A_COMMAND, "--output", "best.csv", "--plot", "best.svg", "--json")
    assert result.err == "saved best.csv\ndrew best.svg\n"
    assert files.to_json(files.read_channel(tmp_path / "best.csv"))["rows"] == result.document["rows"]
    assert (tmp_path / "best.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(("level", "loss"), [("0", "0"), ("1", "1")])
def test_at_the_extreme_levels_there_is_no_signature(utmost, level, loss):
    document = utmost("optimal", "line:4", "--alpha", level, "--json").document
    assert (document["signature"], document["loss"], document["certificate"]["gap"]) == (None, loss, "0")
    assert "nothing is left to choose" in utmost("optimal", "line:4", "--alpha", level).out


def test_an_epsilon_that_is_attained_is_exact(utmost):
    document = utmost("optimal", "line:8", "--epsilon", "0.1", "--loss", "squared", "--json").document
    assert (document["certificate"]["epsilon"], document["certificate"]["gap"]) == ("1/10", "0")


def test_irrational_data_beyond_exact_size_leave_a_gap_that_is_bounded(utmost):
    result = utmost("optimal", "line:22", "--epsilon", "0.5", "--json")
    certificate = result.document["certificate"]
    assert isinstance(certificate["gap"], float)
    difference = number(certificate["upper"]) - number(certificate["lower"])
    assert 0 < difference <= Fraction(repr(certificate["gap"]))
    assert certificate["gap"] < 1e-9
    assert set("".join(result.document["signature"])) <= set("↓↑S0")
    assert "↑" in result.document["signature"][0]
    text = " ".join(utmost("optimal", "line:22", "--epsilon", "0.5").out.split())
    assert "No (ε = 1/2)-private mechanism gives this consumer more than" in text


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    counts=st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any),
    percent=st.integers(1, 99),
    loss=st.sampled_from(["absolute", "squared", "binary", "asymmetric:3,1"]),
)
def test_the_rows_printed_are_private_stochastic_and_cost_the_loss_printed(utmost, counts, percent, loss):
    weights = [Fraction(count, sum(counts)) for count in counts]
    prior = ",".join(map(str, weights))
    document = utmost(
        "optimal", f"line:{len(counts)}", "--alpha", f"{percent}/100", "--prior", prior, "--loss", loss, "--json"
    ).document
    rows = [[Fraction(cell) for cell in row] for row in document["rows"]]
    assert all(sum(row) == 1 for row in rows)
    alpha = Fraction(percent, 100)
    for first, second in pairwise(rows):
        assert all(a >= alpha * b and b >= alpha * a for a, b in zip(first, second, strict=True))
    loss_function = {
        "absolute": lambda i, j: abs(i - j),
        "squared": lambda i, j: (i - j) ** 2,
        "binary": lambda i, j: int(i != j),
        "asymmetric:3,1": lambda i, j: 3 * (i - j) if j < i else j - i,
    }[loss]
    cost = sum(weights[i] * cell * loss_function(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row))
    assert cost == Fraction(document["loss"]) == Fraction(document["certificate"]["lower"])


def test_a_grid_is_certified_with_the_multipliers_that_prove_it(utmost):
    result = utmost("optimal", "grid:4x4", "--epsilon", "1", "--prior", "zipf:1", "--json")
    certificate = result.document["certificate"]
    assert result.document["inputs"][:2] == result.document["outputs"][:2] == ["0,0", "0,1"]
    assert result.document["signature"] is None
    assert certificate["private"]
    assert certificate["gap"] < 1e-9 * result.document["loss_decimal"]
    assert (
        sum(map(Fraction, certificate["multipliers"]))
        == Fraction(certificate["lower"])
        <= Fraction(certificate["upper"])
    )
    assert all(sum(map(Fraction, row)) == 1 for row in result.document["rows"])
    text = " ".join(utmost("optimal", "grid:4x4", "--epsilon", "1", "--prior", "zipf:1").out.split())
    assert "proved by 2752 exact multipliers of the privacy constraints" in text


def test_a_loss_is_over_the_distances_of_the_space(utmost):
    document = utmost("optimal", "grid:2x2", "--alpha", "1", "--json").document
    assert number(document["loss"]) == number("(2 + sqrt(2))/4")
    squares = utmost("optimal", "grid:2x2", "--alpha", "1", "--loss", "squared", "--json").document
    assert squares["loss"] == "1"


def test_ctrl_c_shows_the_best_mechanism_so_far_and_its_gap(utmost, monkeypatch):
    @contextmanager
    def interrupting_progress(label):
        def report(text):
            raise KeyboardInterrupt

        yield report

    monkeypatch.setattr("utmost.cli.output.progress_line", interrupting_progress)
    result = utmost("optimal", "grid:4x4", "--alpha", "1/2", "--json")
    assert result.err.startswith("stopped: the loss is between ")
    certificate = result.document["certificate"]
    assert result.document["stopped"]
    assert certificate["private"]
    assert certificate["gap"] > 1e-3
    assert Fraction(certificate["lower"]) < Fraction(certificate["upper"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("grid:2x2", "--loss", "matrix:short.csv"), "loss must be a matrix of 4 rows, one for each secret, got 2 x 3"),
        (("line:3", "--prior", "1/2,1/2"), "3"),
        (("hamming:20",), "at most 600 points, or 4096 on a line"),
        (("line:5000",), "at most 600 points, or 4096 on a line"),
        (("gird:2x2",), "space must be"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(utmost, tmp_path, arguments, expected):
    (tmp_path / "short.csv").write_text("0,1,2\n1,0,1\n")
    result = utmost("optimal", *arguments, "--alpha", "1/2")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert expected in result.err


def test_actions_of_a_loss_are_named(utmost, tmp_path):
    (tmp_path / "actions.csv").write_text("0,1,2\n1,0,1\n")
    document = utmost("optimal", "line:2", "--alpha", "1/2", "--loss", "matrix:actions.csv", "--json").document
    assert document["outputs"] == ["w0", "w1", "w2"]
    assert document["rows"] == [["2/3", "1/3", "0"], ["1/3", "2/3", "0"]]


@pytest.mark.slow
def test_a_grid_is_drawn_as_maps_and_unused_answers_are_left_out(utmost, tmp_path):
    result = utmost("optimal", "1/2*grid:5x5", "--epsilon", "1", "--plot", "map.svg")
    assert "true place" in (tmp_path / "map.svg").read_text() or "probability" in (tmp_path / "map.svg").read_text()
    assert "answers never occur and are left out" in result.out
    assert "Without any answer it would be" in result.out


def test_what_was_stopped_is_not_called_the_best(utmost, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    import sys

    from utmost.design import optimal

    monkeypatch.setattr(sys.modules[optimal.__module__], "certified_optimum", interrupt)
    result = utmost("optimal", "cycle:5", "--alpha", "1/2")
    assert result.code == 0
    assert "The best mechanism so far on cycle:5" in result.out
    assert "stopped" in result.err


@pytest.mark.parametrize("options", [("line:2", "--epsilon", "1"), ("line:2", "--alpha", "1/2")])
def test_a_loss_with_other_actions_is_served_on_a_line_too(utmost, tmp_path, options):
    (tmp_path / "r.csv").write_text("0,sqrt(2),1\n1,0,1\n")
    document = utmost("optimal", *options, "--loss", "matrix:r.csv", "--json").document
    assert document["outputs"] == ["w0", "w1", "w2"]
    assert document["certificate"]["private"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("grid:60x60", "--alpha", "1/2"), "SPACE must have at most 600 points"),
        (("grid:3x3x3", "--alpha", "1/2"), "space must be"),
        (("1e9*line:3", "--alpha", "1/2"), "epsilon times a distance must be at most 1000000"),
        (("1e9*line:3", "--epsilon", "1"), "epsilon times a distance must be at most 1000000"),
        (("line:3", "--alpha", "1/2", "--loss", "matrix:junk.csv"), "which is not text"),
    ],
)
def test_what_would_take_too_long_is_refused_in_one_line(utmost, tmp_path, arguments, expected):
    (tmp_path / "junk.csv").write_bytes(bytes(range(256)))
    result = utmost("optimal", *arguments)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert expected in result.err


def test_a_long_line_has_its_closed_form(utmost):
    document = utmost("optimal", "line:120", "--alpha", "1/2", "--json").document
    assert document["certificate"]["gap"] == "0"
    assert document["remap"] == list(range(120))
