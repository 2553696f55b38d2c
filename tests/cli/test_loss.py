"""`utmost loss`: certified losses over an interval."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.continuous import losses, mechanisms
from utmost.continuous.bounds.loss_bounds import bound_expected_loss
from utmost.continuous.densities import density
from utmost.continuous.interval import interval
from utmost.exact import epsilon

ASKED = ("--interval", "0,1", "--epsilon", "2", "--prior", "beta:2,5")
LAPLACE = ("loss", "laplace", *ASKED)


def test_the_document_has_the_bounds_their_width_and_the_true_guarantee(utmost):
    found = utmost(*LAPLACE, "--loss", "absolute", "--width", "1e-4", "--json").document
    words = ("mechanism", "interval", "epsilon", "prior", "loss_function", "guarantee", "any_two")
    assert [found[word] for word in words] == ["laplace", ["0", "1"], "2", "beta:2,5", "absolute", "2", "2"]
    assert found["lower"] < found["upper"] <= found["lower"] + 1.001e-4
    assert found["N"] > 10
    assert (found["legal"], found["lipschitz"]) == (True, "1")
    assert "witness" not in found
    answers = [Fraction(answer) for answer, _ in found["remap"]]
    assert answers == [Fraction(k, 10) for k in range(11)]


def test_printed_bounds_are_rounded_outwards(utmost):
    unit = interval(0, 1)
    exact = bound_expected_loss(
        density.beta(2, 5, unit), mechanisms.mechanism_by_name("laplace", unit, epsilon(2)), losses.squared, "1e-7"
    )
    found = utmost(*LAPLACE, "--loss", "squared", "--width", "1e-7", "--json").document
    for read in (lambda number: Fraction(repr(number)), Fraction):
        assert read(found["lower"]) <= exact.lower <= exact.upper <= read(found["upper"])


@pytest.mark.parametrize("name", mechanisms.MECHANISM_NAMES)
def test_every_mechanism_has_its_loss_and_the_privacy_it_really_gives(utmost, name):
    found = utmost("loss", name, *ASKED, "--width", "1e-3", "--steps", "6", "--json").document
    assert 0 < found["lower"] <= found["upper"] <= found["lower"] + 1.001e-3
    assert found["guarantee"] == {"laplace": "2", "renormalised": "4"}.get(name, "inf")
    assert found["any_two"] == "2"


def test_the_text_says_bounds_privacy_and_readings(utmost):
    said = utmost(*LAPLACE, "--loss", "absolute")
    words = " ".join(said.out.split())
    assert "Expected loss between 0.1235" in words
    assert "certified" in words
    assert "ε = 2 a unit of distance, 2 for any two inputs" in words
    assert "1/2" in said.out
    assert max(map(len, said.out.splitlines())) <= 80


def test_the_comparison_is_sorted_and_says_what_the_theorem_says(utmost):
    found = utmost("loss", "compare", *ASKED, "--width", "1e-3", "--json").document
    assert sorted(row["mechanism"] for row in found["mechanisms"]) == sorted(mechanisms.MECHANISM_NAMES)
    uppers = [row["upper"] for row in found["mechanisms"]]
    assert uppers == sorted(uppers)
    said = utmost("loss", "compare", *ASKED, "--width", "1e-3")
    assert "FMM21 Thm 5" in said.out
    assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("loss", "facts", "words"),
    [
        ("squared", (True, "2", None), "legal and Lipschitz"),
        ("asymmetric:2,1", (False, "2", {"truth": "1/2", "near": "0", "far": "1"}), "is not legal: at 1/2 reading 0"),
        ("step:0.25", (True, None, None), "is not Lipschitz: reading 1 costs something else at 3/4 than at"),
    ],
)
def test_legality_and_lipschitz_are_told_with_a_witness(utmost, loss, facts, words):
    found = utmost("loss", "laplace", *ASKED, "--loss", loss, "--width", "0.05", "--json").document
    assert (found["legal"], found["lipschitz"]) == facts[:2]
    price = losses.parse_continuous_loss(loss)
    if facts[2] is not None:
        assert found["witness"] == facts[2]
    elif not found["lipschitz"]:
        reading, x, other = (Fraction(found["witness"][name]) for name in ("reading", "truth", "other"))
        assert abs(price.exact(reading, x) - price.exact(reading, other)) > 1000 * abs(x - other)
    else:
        assert "witness" not in found
    said = " ".join(utmost("loss", "laplace", *ASKED, "--loss", loss, "--width", "0.05").out.split())
    assert words in said
    assert "nothing that gives the ε of laplace costs less" in said


def test_a_channel_from_a_file_needs_no_level(utmost, tmp_path):
    (tmp_path / "told.csv").write_text("input,low,high\n0,3/4,1/4\n1/2,1/4,3/4\n1,1/4,3/4\n")
    found = utmost("loss", "channel:told.csv", "--interval", "0,1", "--width", "1e-5", "--json").document
    assert (found["mechanism"], found["guarantee"], found["epsilon"]) == ("channel:told.csv", "inf", None)
    assert found["any_two"] == pytest.approx(1.09861228867)
    assert [answer for answer, _ in found["remap"]] == ["low", "high"]
    said = utmost("loss", "channel:told.csv", "--interval", "0,1", "--plot", "told.svg")
    assert said.code == 2
    assert "names" in said.err


def test_remap_and_comparison_are_drawn(utmost, tmp_path):
    assert utmost(*LAPLACE, "--width", "1e-3", "--plot", "remap.svg", "--json").err == "drew remap.svg\n"
    assert utmost("loss", "geometric", *ASKED, "--width", "1e-3", "--plot", "points.svg").code == 0
    assert utmost("loss", "compare", *ASKED, "--width", "1e-2", "--plot", "costs.svg").err == "drew costs.svg\n"
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
    (("laplace", *ASKED[:-1], "beta:0,1"), "beta parameter"),
    (("laplace", *ASKED[:-1], "cauchy"), "prior must be"),
    (("gauss", *ASKED), "mechanism must be laplace"),
    (("geometric", *ASKED, "--steps", "0"), "steps must be from 1"),
    (("channel:none.csv", "--interval", "0,1"), "cannot read channel file"),
    ((*LAPLACE[1:], "--plot", "remap.pdf"), "--plot must be a file"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input_is_one_clear_line(utmost, arguments, words):
    said = utmost("loss", *arguments)
    assert said.code == 2
    assert words in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
