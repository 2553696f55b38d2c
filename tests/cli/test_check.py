"""`utmost check`."""

from __future__ import annotations

import math

import pytest

from utmost.exact import number

# GRS12 Fig. 5: private at 1/2, not derivable from the geometric mechanism.
FIGURE_5 = "x,0,1,2\n0,1/3,1/3,1/3\n1,2/3,1/6,1/6\n2,1/3,1/3,1/3\n3,1/6,1/6,2/3\n"


@pytest.fixture
def figure5(tmp_path):
    (tmp_path / "figure5.csv").write_text(FIGURE_5)
    return "figure5.csv"


def test_the_geometric_mechanism_is_its_own_origin(utmost):
    utmost("mechanism", "geometric", "--size", 3, "--alpha", "1/2", "--output", "g.csv")
    document = utmost("check", "g.csv", "--space", "line:4", "--alpha", "1/2", "--json").document
    assert (document["private"], document["derivable"]) == (True, True)
    assert document["remap"] == [["1" if x == y else "0" for y in range(4)] for x in range(4)]
    assert document["signature"] == ["↓↑↑↑", "↓↓↑↑", "↓↓↓↑"]
    assert all(item["holds"] and item["place"] is None for item in document["lemmas"])
    assert document["witness"] == {"output": 0, "high": 0, "low": 1, "ratio": "2"}
    assert document["epsilon"] == pytest.approx(math.log(2), abs=1e-12)


def test_what_is_not_derivable_shows_the_entry_that_would_be_negative(utmost, figure5):
    document = utmost("check", figure5, "--space", "line:4", "--alpha", "1/2", "--json").document
    assert (document["private"], document["derivable"], document["remap"]) == (True, False, None)
    assert document["negative"] == {"answer": 1, "reading": 1, "value": "-1/2"}
    broken = {item["lemma"]: item["place"] for item in document["lemmas"] if not item["holds"]}
    assert broken["5.5"] == [0, 1]


def test_the_text_says_the_same(utmost, figure5):
    result = utmost("check", figure5, "--alpha", "1/2")
    text = " ".join(result.out.split())
    assert "Private at α = 1/2 (ε ≈ 0.693147): yes, decided." in text
    assert "Lemma 5.5, input 0, output 1" in text
    assert "reading 1 of the geometric answer 1 would need probability -1/2" in text
    assert max(map(len, result.out.splitlines())) <= 80


def test_an_absurd_level_still_gets_an_answer(utmost, figure5):
    assert "a negative probability" in " ".join(utmost("check", figure5, "--epsilon", "1e-300").out.split())


def test_a_level_that_is_a_hair_too_strict_is_refused(utmost, figure5):
    document = utmost("check", figure5, "--alpha", "500000000000000000001/1000000000000000000000", "--json").document
    assert (document["private"], document["signature"], document["lemmas"]) == (False, None, None)
    assert "not private" in document["reason"]
    assert "NO" in utmost("check", figure5, "--alpha", "0.6").out


@pytest.mark.parametrize(("option", "epsilon"), [(("--alpha", "1/3"), None), (("--epsilon", "0.1"), "1/10")])
def test_without_a_level_the_channel_s_own_is_taken(utmost, option, epsilon):
    utmost("mechanism", "geometric", "--size", 3, *option, "--output", "g.json")
    document = utmost("check", "g.json", "--json").document
    assert document["private"] is None
    assert document["signature"] == ["↓↑↑↑", "↓↓↑↑", "↓↓↓↑"]
    assert document["derivable"] is True
    assert epsilon in (None, document["epsilon"])
    assert "No level was given; what follows is at its own" in " ".join(utmost("check", "g.json").out.split())


def test_an_answer_that_gives_a_secret_away_has_infinite_epsilon(utmost, tmp_path):
    (tmp_path / "tell.csv").write_text("in,a,b\n0,1/2,1/2\n1,1,0\n")
    document = utmost("check", "tell.csv", "--json").document
    assert (document["epsilon"], document["alpha"], document["derivable"]) == ("inf", "0", None)
    assert document["witness"] == {"output": "b", "high": 0, "low": 1, "ratio": None}
    assert "ε = ∞" in utmost("check", "tell.csv").out


def test_decimals_in_a_csv_are_exact(utmost, tmp_path):
    (tmp_path / "decimals.csv").write_text("x,0,1\n0,0.3,0.7\n1,0.1,0.9\n")
    document = utmost("check", "decimals.csv", "--alpha", "1/3", "--json").document
    assert (document["private"], document["witness"]["ratio"]) == (True, "3")
    assert utmost("check", "decimals.csv", "--alpha", "0.3334", "--json").document["private"] is False


def test_floats_get_an_epsilon_and_a_reason_for_the_rest(utmost, tmp_path):
    (tmp_path / "floats.json").write_text('{"rows": [[0.75, 0.25], [0.25, 0.75]]}')
    document = utmost("check", "floats.json", "--alpha", "1/4", "--json").document
    assert document["epsilon"] == pytest.approx(math.log(3), abs=1e-11)
    assert (document["private"], document["signature"], document["derivable"]) == (True, None, None)
    assert "floats" in document["reason"]
    assert "float entries" in utmost("check", "floats.json").out


def test_inputs_may_come_in_any_order(utmost, tmp_path):
    head, *rows = FIGURE_5.splitlines()
    (tmp_path / "mixed.csv").write_text("\n".join([head, *reversed(rows)]))
    (tmp_path / "figure5.csv").write_text(FIGURE_5)
    mixed, straight = (
        utmost("check", name, "--alpha", "1/2", "--json").document for name in ("mixed.csv", "figure5.csv")
    )
    assert mixed == straight


def test_membership_of_the_type_is_decided(utmost, tmp_path):
    utmost("mechanism", "geometric", "--size", "3", "--alpha", "1/2", "--output", "g.csv")
    document = utmost("check", "g.csv", "--alpha", "1/2", "--json").document
    assert (document["vertex"], document["kernel"]) == (True, True)
    assert document["capacity"] == {"multiplicative": "2", "additive": "2/3"}
    assert "it is a kernel mechanism" in utmost("check", "g.csv", "--alpha", "1/2").out
    assert "it is no vertex mechanism" in utmost("check", "g.csv", "--alpha", "1/3").out


def test_other_spaces_are_checked_too(utmost, tmp_path):
    (tmp_path / "h.csv").write_text("x,a,b\n00,4/9,5/9\n01,2/9,7/9\n10,2/9,7/9\n11,1/9,8/9\n")
    document = utmost("check", "h.csv", "--space", "hamming:2", "--alpha", "1/2", "--json").document
    assert (document["private"], document["vertex"], document["kernel"]) == (True, False, False)
    assert document["reason"] == "hamming:2 is no line"
    equal_rows = "x,a,b,c\n0,1/3,1/3,1/3\n1,1/3,1/3,1/3\n"
    (tmp_path / "flat.csv").write_text(equal_rows)
    assert utmost("check", "flat.csv", "--json").document["capacity"] == {"multiplicative": "1", "additive": "0"}


def test_a_consumer_s_expected_loss_is_shown(utmost, tmp_path):
    utmost("optimal", "grid:2x2", "--alpha", "1/2", "--output", "best.csv")
    arguments = ("check", "best.csv", "--space", "grid:2x2", "--loss", "absolute")
    document = utmost(*arguments, "--json").document
    best = utmost("optimal", "grid:2x2", "--alpha", "1/2", "--json").document
    assert float(number(document["loss"])) == pytest.approx(best["loss_decimal"], rel=1e-9)
    assert document["silent_loss"] == best["silent_loss"]
    assert "this consumer expects to lose" in utmost(*arguments).out
    assert utmost("check", "best.csv", "--space", "grid:2x2", "--prior", "uniform").code == 2
    assert "name the space" in utmost("check", "best.csv").err


def test_a_saved_mechanism_is_shown_on_its_space(utmost, tmp_path):
    utmost("optimal", "1/2*grid:2x2", "--epsilon", "1", "--output", "best.csv")
    document = utmost("mechanism", "best.csv", "--space", "1/2*grid:2x2", "--json").document
    assert float(document["epsilon"]) == pytest.approx(1, rel=1e-6)
    assert document["space"] == "1/2*grid:2x2"
    assert "--space says how far" in utmost("mechanism", "best.csv").out + utmost("mechanism", "best.csv").err
