"""`utmost distance` and `utmost deconvolve`."""

from __future__ import annotations

import pytest

import utmost as ut


@pytest.fixture
def response(utmost) -> None:
    utmost("mechanism", "response", "--size", "3", "--alpha", "1/2", "--output", "r.csv")


def test_a_distance_is_exact_and_lists_what_is_moved(utmost):
    document = utmost("distance", "line:4", "1,0,0,0", "0,0,1/2,1/2", "--json").document
    assert (document["distance"], document["exact"], document["lower"]) == ("5/2", True, 2.5)
    assert document["moves"] == [
        {"from": "0", "to": "2", "mass": "1/2"},
        {"from": "0", "to": "3", "mass": "1/2"},
    ]
    text = utmost("distance", "line:4", "1,0,0,0", "0,0,1/2,1/2").out
    assert "Distance on line:4: 5/2 = 2.5." in text
    assert "proved exactly" in text


def test_a_distance_on_the_plane_has_outward_bounds(utmost):
    document = utmost("distance", "grid:2x2", "1,0,0,0", "0,0,0,1", "--json").document
    assert document["exact"] is False
    assert document["lower"] <= 2**0.5 <= document["upper"]


def test_no_distance_moves_nothing(utmost):
    assert utmost("distance", "cycle:5", "uniform", "uniform", "--json").document["moves"] == []


def test_answers_are_traced_back_to_the_prior_of_the_library(utmost, response):
    document = utmost("deconvolve", "r.csv", "--counts", "50,30,20", "--json").document
    estimate = ut.iterative_bayesian_update(ut.response(3, ut.alpha("1/2")), [50, 30, 20])
    assert document["weights"] == pytest.approx(estimate.weights.tolist(), abs=1e-11)
    assert document["rounds"] == estimate.rounds
    assert estimate.gap <= document["gap"] <= 1.01e-6


def test_counts_may_be_in_a_file_and_the_start_a_prior(utmost, response, tmp_path):
    (tmp_path / "counts.txt").write_text("50\n30\n20\n")
    by_file = utmost("deconvolve", "r.csv", "--counts", "counts.txt", "--start", "1/2,1/4,1/4", "--gap", "1e-9")
    assert by_file.code == 0
    assert "0.875" in by_file.out


def test_rounds_that_end_too_early_are_said(utmost, response):
    assert "--rounds allows more" in " ".join(
        utmost("deconvolve", "r.csv", "--counts", "5,3,2", "--rounds", "1").out.split()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("distance", "line:3", "uniform", "1/2,1/2"), "must have 3 weights"),
        (("distance", "line:3", "uniform"), "SECOND"),
        (("distance", "grid:70x70", "uniform", "uniform"), "4900 points"),
        (("deconvolve", "r.csv"), "--counts"),
        (("deconvolve", "r.csv", "--counts", "1,2"), "counts must be 3 numbers"),
        (("deconvolve", "r.csv", "--counts", "1,2,x"), "--counts must be a number"),
        (("deconvolve", "r.csv", "--counts", "1,-2,3"), "counts must be finite numbers >= 0"),
        (("deconvolve", "r.csv", "--counts", "absent.txt"), "readable text file"),
        (("deconvolve", "absent.csv", "--counts", "1"), "cannot read channel file"),
        (("deconvolve", "r.csv", "--counts", "1,2,3", "--gap", "-1"), "gap must be a number >= 0"),
        (("deconvolve", "r.csv", "--counts", "1,2,3", "--rounds", "1/2"), "--rounds must be a whole number"),
    ],
)
def test_bad_input_is_one_line(utmost, response, arguments, words):
    result = utmost(*arguments)
    assert result.code == 2
    assert words in result.err
    assert len(result.err.splitlines()) == 1
