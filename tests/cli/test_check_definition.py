"""`utmost check` on events: profiles, definitions, odds."""

from __future__ import annotations

import pytest

# GRS12 Fig. 5: private at 1/2, not derivable from the geometric mechanism.
FIGURE_5 = "x,0,1,2\n0,1/3,1/3,1/3\n1,2/3,1/6,1/6\n2,1/3,1/3,1/3\n3,1/6,1/6,2/3\n"
RESPONSE = "x,a,b,c\nx,1/2,1/4,1/4\ny,1/4,1/2,1/4\nz,1/4,1/4,1/2\n"


@pytest.fixture
def figure5(tmp_path):
    (tmp_path / "figure5.csv").write_text(FIGURE_5)
    return "figure5.csv"


@pytest.fixture
def response_channel(tmp_path):
    """Randomised response, with its secrets in a space of their own."""
    (tmp_path / "three.csv").write_text(RESPONSE)
    (tmp_path / "pairs.csv").write_text("x,y\ny,z\nx,z\n")
    return "three.csv", "--space", "graph:pairs.csv"


def test_the_profile_of_the_pair_that_epsilon_is_of_is_shown_unasked(utmost, figure5):
    document = utmost("check", figure5, "--alpha", "1/2", "--json").document
    assert document["witness"] == {"output": 1, "high": 0, "low": 1, "ratio": "2"}
    assert document["profile"] == {
        "pair": [1, 0],
        "points": [["0", "0"], ["1/3", "2/3"], ["1", "1"]],
        "order": [[1, 2], [0]],
        "variation": "1/3",
        "delta": "0",
    }
    assert document["definition"] is None
    assert document["odds"] == {"rise": "1/3", "fall": "2/3", "rise_allowed": None, "fall_allowed": None}


def test_a_definition_is_met_for_every_event_or_the_worst_event_is_shown(utmost, response_channel):
    satisfied = utmost("check", *response_channel, "--definition", "alpha:1/2", "--json").document["definition"]
    assert satisfied["satisfied"] is True
    assert satisfied["witness"]["excess"] == "0"
    failed = utmost("check", *response_channel, "--definition", "alpha:2/3", "--json").document
    assert failed["definition"] == {
        "bound": "alpha:2/3",
        "satisfied": False,
        "witness": {
            "pair": ["x", "y"], "event": ["b"], "complement": ["a", "c"],
            "first": "1/4", "second": "1/2", "allowed": "3/8", "excess": "1/8",
        },
    }  # fmt: skip
    assert failed["profile"]["pair"] == ["x", "y"]


def test_the_text_says_the_same(utmost, response_channel):
    result = utmost("check", *response_channel, "--definition", "alpha:2/3", "--alpha", "1/2")
    text = " ".join(result.out.split())
    assert "Meets alpha:2/3 for every event: NO, decided." in text
    assert "O = {b}, with P(O|i₁) = 1/4 and P(O|i₂) = 1/2, where at most 3/8 is allowed: 1/8 too much." in text
    assert "Its complement {a, c} has 3/4 and 1/2, where at least 5/8 is asked." in text
    assert "Total variation 1/4; δ = 0 at α = 1/2" in text
    assert "grow e^ε-fold or more with probability 1/4 (allowed: 0)" in text
    assert max(map(len, result.out.splitlines())) <= 80


def test_another_pair_can_be_asked_for(utmost, response_channel, figure5):
    document = utmost("check", *response_channel, "--pair", "z,x", "--json").document["profile"]
    assert (document["pair"], document["order"]) == (["z", "x"], [["a"], ["b"], ["c"]])
    unrelated = utmost(
        "check", figure5, "--pair", "1,3", "--definition", "alpha:1/2", "--alpha", "1/2", "--json"
    ).document
    # not neighbours on the line, so the definition says nothing of them
    assert unrelated["odds"]["rise_allowed"] is None
    assert unrelated["definition"]["satisfied"] is True


def test_labels_with_commas_make_pairs_too(utmost, tmp_path):
    utmost("optimal", "grid:2x2", "--alpha", "1/2", "--output", "best.csv")
    document = utmost("check", "best.csv", "--space", "grid:2x2", "--pair", "0,0,1,1", "--json").document
    assert document["profile"]["pair"] == ["0,0", "1,1"]


def test_the_profile_is_drawn_with_the_bound_above_it(utmost, response_channel, tmp_path):
    utmost("check", *response_channel, "--definition", "alpha:2/3", "--plot", "profile.svg")
    svg = (tmp_path / "profile.svg").read_text()
    assert "allowed: M" in svg
    assert "alpha:2/3 is not met" in svg
    utmost("check", *response_channel, "--pair", "y,x", "--plot", "pair.svg")
    assert "How well x is told from y" in (tmp_path / "pair.svg").read_text()


def test_a_definition_in_a_file_may_have_pairs_and_bounds_of_its_own(utmost, response_channel, tmp_path):
    (tmp_path / "policy.toml").write_text(
        'pairs = [["x", "y"], ["y", "z"]]\nboth_ways = true\nbound = "alpha:1/2"\n'
        '[[pair]]\nof = ["z", "y"]\nbound = "variation:1/5"\n'
    )
    document = utmost("check", *response_channel, "--definition", "policy.toml", "--json").document["definition"]
    assert document["satisfied"] is False
    # total variation of any two rows is 1/4
    assert (document["witness"]["pair"], document["witness"]["excess"]) == (["z", "y"], "1/20")
    (tmp_path / "plain.toml").write_text('bound = "alpha:1/2"\n[[pair]]\nof = ["x", "z"]\nbound = "alpha:2/3"\n')
    plain = utmost("check", *response_channel, "--definition", "plain.toml", "--json").document["definition"]
    assert (plain["satisfied"], plain["witness"]["pair"]) == (False, ["x", "z"])
    (tmp_path / "strange.toml").write_text('pairs = [["ann", "bob"]]\nbound = "alpha:1/2"\n')
    result = utmost("check", *response_channel, "--definition", "strange.toml")
    assert result.code == 2
    assert "got none called ann, bob" in result.err


def test_a_predicate_that_is_sound_is_a_definition_too(utmost, response_channel):
    predicate = "b <= 2*a and 1-a <= 2*(1-b)"
    document = utmost("check", *response_channel, "--definition", predicate, "--json").document["definition"]
    assert (document["bound"], document["satisfied"], document["witness"]["excess"]) == (predicate, True, "0")


def test_floats_say_that_they_are_floats(utmost, tmp_path):
    (tmp_path / "floats.json").write_text('{"rows": [[0.75, 0.25], [0.25, 0.75]]}')
    document = utmost("check", "floats.json", "--definition", "variation:0.4", "--json").document
    assert document["definition"]["satisfied"] is False
    assert document["definition"]["witness"]["excess"] == pytest.approx(0.1)
    assert document["profile"]["points"][1] == [0.25, 0.75]
    assert "decided for its doubles" in " ".join(
        utmost("check", "floats.json", "--definition", "variation:0.4").out.split()
    )


def test_one_input_has_no_profile_and_equal_rows_have_a_trivial_one(utmost, tmp_path):
    (tmp_path / "one.csv").write_text("x,a,b\n0,1/2,1/2\n")
    document = utmost("check", "one.csv", "--definition", "variation:0", "--json").document
    assert (document["profile"], document["odds"]) == (None, None)
    assert document["definition"] == {"bound": "variation:0", "satisfied": True, "witness": None}
    assert utmost("check", "one.csv", "--plot", "one.svg").code == 2
    (tmp_path / "flat.csv").write_text("x,a,b\n0,1/3,2/3\n1,1/3,2/3\n")
    flat = utmost("check", "flat.csv", "--definition", "variation:0", "--json").document
    assert flat["profile"]["points"] == [["0", "0"], ["1", "1"]]
    assert "can be told apart at all" in utmost("check", "flat.csv", "--definition", "variation:0").out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--pair", "0,9"), "--pair must be two different inputs"),
        (("--pair", "1,1"), "--pair must be two different inputs"),
        (("--pair", ""), "--pair must be two different inputs"),
        (("--definition", "nonsense"), "definition must be"),
        (("--definition", "absent.toml"), "absent.toml"),
        (("--definition", "b <= 2*a or b <= 1/2"), "must satisfy both axioms"),
        (("--definition", "pure:-1"), "epsilon must be >= 0"),
        (("--definition", "points:0 0,1/2 1/4,1 1"), "must be concave"),
        (("--definition", "points:0 0,1/2 1,1 1/2"), "must be 1 at 1"),
        (("--definition", "variation:2"), "must be in [0, 1]"),
        (("--plot", "profile.gif"), "--plot must be a file that ends in"),
    ],
)
def test_bad_input_gets_one_line(utmost, figure5, arguments, expected):
    result = utmost("check", figure5, *arguments)
    assert result.code == 2
    assert expected in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_definition_file_with_its_own_secrets_needs_no_space(utmost, response_channel, tmp_path):
    channel = response_channel[0]
    (tmp_path / "policy.toml").write_text('pairs = [["x", "y"], ["y", "z"]]\nboth_ways = true\nbound = "alpha:1/2"\n')
    document = utmost("check", channel, "--definition", "policy.toml", "--json").document
    assert (document["space"], document["definition"]["satisfied"]) == ("policy.toml", True)
    (tmp_path / "apart.toml").write_text('pairs = [["x", "y"]]\nbound = "alpha:1/2"\n')
    too_few = utmost("check", channel, "--definition", "apart.toml")
    assert (too_few.code, too_few.err.count("\n")) == (2, 1)
    assert "the points of apart.toml, 2 in any order, got 3 inputs" in too_few.err
    no_space = utmost("check", channel, "--definition", "alpha:1/2")
    assert no_space.code == 2
    assert "such as graph:FILE" in no_space.err


def test_what_is_allowed_counts_the_reversed_pair_too(utmost, response_channel, tmp_path):
    """variation:1/2 alone lets odds double with probability 1/2; with pure privacy the other way they never do."""
    (tmp_path / "policy.toml").write_text(
        'pairs = [["x", "y"], ["y", "z"], ["z", "x"]]\nboth_ways = true\nbound = "variation:1/2"\n'
        '[[pair]]\nof = ["y", "x"]\nbound = "alpha:2/3"\n'
    )
    arguments = ("check", response_channel[0], "--definition", "policy.toml", "--alpha", "1/2", "--json", "--pair")
    odds = utmost(*arguments, "x,y").document["odds"]
    assert (odds["rise_allowed"], odds["fall_allowed"]) == ("0", "0")
    assert utmost(*arguments, "y,z").document["odds"]["rise_allowed"] == "1/2"
