"""`utmost compare` and `utmost curve`."""

from __future__ import annotations

import pytest


def test_the_document_has_a_row_for_each_mechanism_and_the_reasons_of_the_others(utmost):
    document = utmost("compare", "grid:2x2", "--alpha", "1/2", "--json").document
    names = [row["mechanism"] for row in document["mechanisms"]]
    assert names[0] == "optimal"
    assert {"planar", "exponential", "response", "silence"} < set(names)
    assert [row["mechanism"] for row in document["refused"]] == ["geometric", "laplace", "staircase"]
    least = document["mechanisms"][0]["least_loss"]
    for row in document["mechanisms"]:
        assert row["private"]
        assert least <= row["loss_upper"]
        assert row["loss_lower"] <= row["loss_upper"]
        assert row["capacity_used"] <= 1.000001
    assert {"from": "planar", "to": "silence"} in document["refinements"]


def test_the_text_is_a_table_within_80_columns(utmost):
    result = utmost("compare", "line:6", "--alpha", "1/2", "--loss", "squared")
    text = " ".join(result.out.split())
    assert "mechanism loss face value ε guess leakage capacity" in text
    assert "which is proved" in text
    assert "Left out: planar needs places" in text
    assert max(map(len, result.out.splitlines())) <= 80


def test_a_channel_in_a_file_is_compared_under_its_name(utmost):
    utmost("mechanism", "geometric", "--size", "3", "--alpha", "1/4", "--output", "mine.csv")
    options = ("--alpha", "1/2", "--mechanism", "optimal", "--mechanism", "mine.csv")
    result = utmost("compare", "line:4", *options)
    assert "mine " in result.out
    assert "Not private at this level is mine" in " ".join(result.out.split())


@pytest.mark.slow
def test_pictures_are_drawn(utmost, tmp_path):
    utmost("compare", "grid:3x3", "--epsilon", "1", "--place", "1,1", "--plot", "maps.svg")
    utmost("compare", "grid:3x3", "--epsilon", "1", "--plot", "bars.svg")
    utmost("curve", "grid:2x2", "--epsilons", "1,2", "--plot", "curve.svg")
    for name, words in (
        ("maps", "What is reported from 1,1"),
        ("bars", "exponential"),
        ("curve", "What privacy costs"),
    ):
        assert words in (tmp_path / f"{name}.svg").read_text()


def test_the_curve_has_a_row_for_each_level(utmost):
    document = utmost("curve", "line:4", "--epsilons", "0.5,1,2", "--mechanism", "optimal", "--json").document
    assert [point["epsilon"] for point in document["points"]] == ["1/2", "1", "2"]
    losses = [point["mechanisms"][0]["loss_upper"] for point in document["points"]]
    assert losses == sorted(losses, reverse=True)
    assert "0.5" in utmost("curve", "line:4", "--epsilons", "0.5,1").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "line:6", "--alpha", "1/2", "--mechanism", "geometic"), "did you mean geometric"),
        (("compare", "line:6"), "--alpha or --epsilon"),
        (("compare", "line:6", "--epsilon", "-1"), "epsilon must be >= 0"),
        (("compare", "grid:100x100", "--epsilon", "1"), "on at most 600"),
        (("compare", "line:4", "--alpha", "1/2", "--mechanism", "absent.csv"), "cannot read channel file absent.csv"),
        (("compare", "grid:2x2", "--alpha", "1/2", "--place", "0,0"), "together with --plot"),
        (("compare", "grid:2x2", "--alpha", "1/2", "--place", "7,0", "--plot", "m.svg"), "place must be a point"),
        (("compare", "line:3", "--alpha", "1/2", "--place", "0", "--plot", "m.svg"), "points that are places"),
        (("curve", "line:6"), "--epsilons"),
        (("curve", "line:6", "--epsilons", ""), "epsilon must be a number"),
        (("curve", "line:6", "--epsilons", "1,1"), "got 1 twice"),
        (("curve", "line:6", "--epsilons", "2,1"), "after a larger one"),
        (("curve", "line:6", "--epsilons", "0"), "must be > 0"),
        (("curve", "line:6", "--epsilons", ",".join(map(str, range(1, 10**4)))), "1 to 200 numbers"),
    ],
)
def test_bad_input_is_one_line(utmost, arguments, words):
    result = utmost(*arguments)
    assert result.code == 2
    assert words in result.err
    assert len(result.err.splitlines()) == 1
