"""`utmost loss`: certified losses over an interval."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.continuous import densities, losses, mechanisms
from utmost.continuous.bounds.loss_bounds import bound_expected_loss
from utmost.continuous.interval import interval
from utmost.exact import epsilon

OPTIONS = ("--interval", "0,1", "--epsilon", "2", "--prior", "beta:2,5")
LAPLACE = ("loss", "laplace", *OPTIONS)


def test_the_document_has_the_bounds_their_width_and_the_true_guarantee(utmost):
    document = utmost(*LAPLACE, "--loss", "absolute", "--width", "1e-4", "--json").document
    keys = ("mechanism", "interval", "epsilon", "prior", "loss_function", "guarantee", "any_two")
    assert [document[key] for key in keys] == ["laplace", ["0", "1"], "2", "beta:2,5", "absolute", "2", "2"]
    assert document["lower"] < document["upper"] <= document["lower"] + 1.001e-4
    assert document["N"] > 10
    assert (document["legal"], document["lipschitz"]) == (True, "1")
    assert "witness" not in document
    answers = [Fraction(answer) for answer, _ in document["remap"]]
    assert answers == [Fraction(k, 10) for k in range(11)]


def test_printed_bounds_are_rounded_outwards(utmost):
    unit = interval(0, 1)
    exact = bound_expected_loss(
        densities.beta(2, 5, unit), mechanisms.mechanism_by_name("laplace", unit, epsilon(2)), losses.squared, "1e-7"
    )
    document = utmost(*LAPLACE, "--loss", "squared", "--width", "1e-7", "--json").document
    for parse in (lambda number: Fraction(repr(number)), Fraction):
        assert parse(document["lower"]) <= exact.lower <= exact.upper <= parse(document["upper"])


@pytest.mark.parametrize("name", mechanisms.MECHANISM_NAMES)
def test_every_mechanism_has_its_loss_and_the_privacy_it_really_gives(utmost, name):
    document = utmost("loss", name, *OPTIONS, "--width", "1e-3", "--steps", "6", "--json").document
    assert 0 < document["lower"] <= document["upper"] <= document["lower"] + 1.001e-3
    assert document["guarantee"] == {"laplace": "2", "renormalised": "4"}.get(name, "inf")
    assert document["any_two"] == "2"


def test_the_text_says_bounds_privacy_and_readings(utmost):
    result = utmost(*LAPLACE, "--loss", "absolute")
    text = " ".join(result.out.split())
    assert "Expected loss between 0.1235" in text
    assert "certified" in text
    assert "ε = 2 a unit of distance, 2 for any two inputs" in text
    assert "1/2" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_comparison_is_sorted_and_says_what_the_theorem_says(utmost):
    document = utmost("loss", "compare", *OPTIONS, "--width", "1e-3", "--json").document
    assert sorted(row["mechanism"] for row in document["mechanisms"]) == sorted(mechanisms.MECHANISM_NAMES)
    uppers = [row["upper"] for row in document["mechanisms"]]
    assert uppers == sorted(uppers)
    result = utmost("loss", "compare", *OPTIONS, "--width", "1e-3")
    assert "FMM21 Thm 5" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("loss", "facts", "expected"),
    [
        ("squared", (True, "2", None), "legal and Lipschitz"),
        ("asymmetric:2,1", (False, "2", {"truth": "1/2", "near": "0", "far": "1"}), "is not legal: at 1/2 reading 0"),
        ("step:0.25", (True, None, None), "is not Lipschitz: reading 1 costs something else at 3/4 than at"),
    ],
)
def test_legality_and_lipschitz_are_reported_with_a_witness(utmost, loss, facts, expected):
    document = utmost("loss", "laplace", *OPTIONS, "--loss", loss, "--width", "0.05", "--json").document
    assert (document["legal"], document["lipschitz"]) == facts[:2]
    loss_function = losses.parse_continuous_loss(loss)
    if facts[2] is not None:
        assert document["witness"] == facts[2]
    elif not document["lipschitz"]:
        reading, x, second_truth = (Fraction(document["witness"][name]) for name in ("reading", "truth", "other"))
        assert abs(loss_function.exact(reading, x) - loss_function.exact(reading, second_truth)) > 1000 * abs(
            x - second_truth
        )
    else:
        assert "witness" not in document
    result = " ".join(utmost("loss", "laplace", *OPTIONS, "--loss", loss, "--width", "0.05").out.split())
    assert expected in result
    assert "nothing that gives the ε of laplace costs less" in result


def test_a_channel_from_a_file_needs_no_level(utmost, tmp_path):
    (tmp_path / "told.csv").write_text("input,low,high\n0,3/4,1/4\n1/2,1/4,3/4\n1,1/4,3/4\n")
    document = utmost("loss", "channel:told.csv", "--interval", "0,1", "--width", "1e-5", "--json").document
    assert (document["mechanism"], document["guarantee"], document["epsilon"]) == ("channel:told.csv", "inf", None)
    assert document["any_two"] == pytest.approx(1.09861228867)
    assert [answer for answer, _ in document["remap"]] == ["low", "high"]
    result = utmost("loss", "channel:told.csv", "--interval", "0,1", "--plot", "told.svg")
    assert result.code == 2
    assert "names" in result.err


def test_remap_and_comparison_are_drawn(utmost, tmp_path):
    assert utmost(*LAPLACE, "--width", "1e-3", "--plot", "remap.svg", "--json").err == "drew remap.svg\n"
    assert utmost("loss", "geometric", *OPTIONS, "--width", "1e-3", "--plot", "points.svg").code == 0
    assert utmost("loss", "compare", *OPTIONS, "--width", "1e-2", "--plot", "costs.svg").err == "drew costs.svg\n"
    for name in ("remap.svg", "points.svg", "costs.svg"):
        assert (tmp_path / name).read_text().startswith("<svg")


BAD = [
    (("laplace", "--interval", "1,0", "--epsilon", "2"), "interval must run from low to a larger high"),
    (("laplace", "--interval", "0", "--epsilon", "2"), "interval must be two numbers"),
    (("laplace", "--interval", "0,1"), "--alpha or --epsilon"),
    (("laplace", "--interval", "0,1", "--epsilon", "0"), "epsilon must be > 0"),
    ((*LAPLACE[1:], "--width", "1e-25"), "at least about"),
    ((*LAPLACE[1:], "--width", "0"), "width must be > 0"),
    ((*LAPLACE[1:], "--width", "wide"), "width must be a number"),
    ((*LAPLACE[1:], "--loss", "power:-1"), "bounded below"),
    ((*LAPLACE[1:], "--loss", "cubic"), "loss must be"),
    (("laplace", *OPTIONS[:-1], "beta:0,1"), "beta parameter"),
    (("laplace", *OPTIONS[:-1], "cauchy"), "prior must be"),
    (("gauss", *OPTIONS), "mechanism must be laplace"),
    (("geometric", *OPTIONS, "--steps", "0"), "steps must be from 1"),
    (("channel:none.csv", "--interval", "0,1"), "cannot read channel file"),
    ((*LAPLACE[1:], "--plot", "remap.pdf"), "--plot must be a file"),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD)
def test_bad_input_is_one_clear_line(utmost, arguments, expected):
    result = utmost("loss", *arguments)
    assert result.code == 2
    assert expected in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""
