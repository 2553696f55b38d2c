"""`utmost generalize`, and what `utmost check` says of generality."""

from __future__ import annotations

import pytest

from utmost.axioms.generality import maximally_general
from utmost.channel import files
from utmost.exact import alpha
from utmost.spaces import line

FIGURE_5 = "x,0,1,2\n0,1/3,1/3,1/3\n1,2/3,1/6,1/6\n2,1/3,1/3,1/3\n3,1/6,1/6,2/3\n"  # GRS12 App. B
PADDED = "x,no,yes,?\n0,1/2,1/4,1/4\n1,1/4,1/2,1/4\n"  # randomised response, or an answer that says nothing


@pytest.fixture(autouse=True)
def channel_files(tmp_path):
    (tmp_path / "figure5.csv").write_text(FIGURE_5)
    (tmp_path / "padded.csv").write_text(PADDED)
    (tmp_path / "silent.csv").write_text("x,?\n" + "".join(f"{x},1\n" for x in range(14)))
    (tmp_path / "letters.csv").write_text("x,?\na,1\nb,1\nc,1\n")
    (tmp_path / "related.csv").write_text("a,b\nb,a\nb,c\nc,b\n")
    (tmp_path / "oneway.csv").write_text("a,b\nb,c\n")
    (tmp_path / "itself.csv").write_text("a,a\n")


def test_a_padded_mechanism_becomes_randomised_response(utmost, tmp_path):
    result = utmost("generalize", "padded.csv", "--space", "line:2", "--alpha", "1/2", "--save", "more.csv", "--json")
    document = result.document
    assert document["rows"] == [["2/3", "1/3"], ["1/3", "2/3"]]
    assert (document["maximal"], document["alpha"], document["steps"]) == (
        False,
        "1/2",
        [{"output": "?", "into": ["?.1", "?.2"]}],
    )
    assert document["dobrushin"] == {"before": "-3/4", "after": "-2/3"}
    assert document["back"]["outputs"] == ["no", "yes", "?"]
    assert [graph["heights"] for graph in document["row_graphs"]] == [[[0, "0"], [1, "1"]], [[0, "1"], [1, "0"]]]
    saved = files.read_channel(tmp_path / "more.csv")
    assert maximally_general(saved, line(2), alpha("1/2"))
    assert saved.outputs == tuple(document["outputs"])


def test_the_text_says_the_same_and_its_own_level_is_taken(utmost):
    text = " ".join(utmost("generalize", "padded.csv").out.split())
    assert "the row graph of output ? falls apart: 0 | 1" in text
    assert "? is told as ?.1 and ?.2" in text
    assert "-3/4 before, -2/3 after" in text
    assert "It is maximally general" in " ".join(utmost("generalize", "figure5.csv").out.split())


@pytest.mark.parametrize("split", ["halves", "peeled"])
def test_a_relation_in_a_file_is_as_good_as_a_space(utmost, split):
    arguments = ("generalize", "letters.csv", "--relation", "pairs:related.csv", "--epsilon", "1", "--split", split)
    document = utmost(*arguments, "--json").document
    assert (len(document["outputs"]), document["epsilon"]) == (4 if split == "halves" else 3, None)
    assert "pairs:related.csv" in utmost(*arguments).out


def test_row_graphs_are_drawn(utmost, tmp_path):
    result = utmost("generalize", "padded.csv", "--alpha", "1/2", "--plot", "graphs.svg")
    assert result.code == 0
    svg = (tmp_path / "graphs.svg").read_text()
    assert "likelihood function" in svg
    assert svg.count("output ") >= 2


def test_many_parts_are_peeled(utmost):
    document = utmost("generalize", "silent.csv", "--alpha", "1/2", "--split", "peeled", "--json").document
    assert len(document["outputs"]) <= 14


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("silent.csv", "--alpha", "1/2"), "at most 4096 outputs", marks=pytest.mark.slow),
        (("padded.csv", "--alpha", "3/4"), "must be private at this level"),
        (("padded.csv", "--space", "line:3"), "points of line:3"),
        (("padded.csv", "--alpha", "1/2", "--epsilon", "1"), "both"),
        (("padded.csv", "--alpha", "1/2", "--split", "thirds"), "--split must be halves or peeled"),
        (("padded.csv", "--alpha", "1/2", "--save", "more.txt"), "--save must be a file that ends in"),
        (("padded.csv", "--alpha", "1/2", "--plot", "more.txt"), "--plot must be a file that ends in"),
        (("padded.csv", "--alpha", "1/2", "--plot", "nowhere/more.svg"), "directory that exists"),
        (("letters.csv", "--relation", "pairs:related.csv"), "--alpha or --epsilon"),
        (("letters.csv", "--relation", "pairs:oneway.csv", "--alpha", "1/2"), "symmetric"),
        (("letters.csv", "--relation", "pairs:itself.csv", "--alpha", "1/2"), "irreflexive"),
        (("letters.csv", "--relation", "pairs:absent.csv", "--alpha", "1/2"), "relation"),
        (("letters.csv", "--relation", "line:2", "--alpha", "1/2"), "inputs must be the 2 secrets"),
        (("letters.csv", "--space", "line:3", "--relation", "line:3"), "--space and --relation"),
        (("silent.csv", "--space", f"line:{10**7}", "--alpha", "1/2"), "at most 4096 can be written out"),
    ],
)
def test_bad_input_gets_one_line(utmost, arguments, expected):
    result = utmost("generalize", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert expected in result.err


def test_floats_are_refused(utmost, tmp_path):
    (tmp_path / "floats.json").write_text('{"rows": [[0.5, 0.5], [0.25, 0.75]]}')
    result = utmost("generalize", "floats.json", "--alpha", "1/2")
    assert (result.code, result.out) == (2, "")
    assert "exact entries" in result.err


def test_more_outputs_than_can_be_drawn_are_refused_before_anything_is_printed(utmost, tmp_path):
    (tmp_path / "seven.csv").write_text("x,?\n" + "".join(f"{x},1\n" for x in range(7)))
    result = utmost("generalize", "seven.csv", "--alpha", "1/2", "--plot", "many.svg")
    assert (result.code, result.out) == (2, "")
    assert "up to 36 outputs" in result.err


def test_check_shows_that_a_mechanism_is_not_maximally_general(utmost):
    document = utmost("check", "padded.csv", "--alpha", "1/2", "--json").document
    assert document["general"]["maximal"] is False
    assert (document["general"]["output"], document["general"]["parts"]) == ("?", [[0], [1]])
    assert document["dobrushin"] == {"value": "-3/4", "pair": [0, 1], "best": "-2/3", "optimal": False}
    assert "NOT maximally general" in utmost("check", "padded.csv", "--alpha", "1/2").out


def test_check_on_grs12_figure_5a(utmost):
    """Not derivable from the geometric mechanism, yet nothing tells all it does and more; 1 and 3 overlap by 1/2."""
    document = utmost("check", "figure5.csv", "--alpha", "1/2", "--json").document
    assert (document["general"]["maximal"], document["derivable"], document["kernel"]) == (True, False, True)
    assert document["dobrushin"] == {"value": "-1/2", "pair": [1, 3], "best": "-1/3", "optimal": False}
    assert document["general"]["row_graphs"][1]["heights"] == [[0, "0"], [1, "1"], [2, "0"], [3, "1"]]


def test_check_on_randomised_response_and_the_geometric_mechanism(utmost):
    utmost("mechanism", "response", "--size", 3, "--alpha", "1/2", "--output", "r.csv")
    document = utmost("check", "r.csv", "--space", "discrete:3", "--json").document
    assert (document["general"]["maximal"], document["dobrushin"]["optimal"]) == (True, False)
    utmost("mechanism", "geometric", "--size", 3, "--alpha", "1/2", "--output", "g.csv")
    result = " ".join(utmost("check", "g.csv").out.split())
    assert "Maximally general at α = 1/2" in result
    assert "no private mechanism has a better one" in result


def test_check_without_a_level_or_with_floats_says_less(utmost, tmp_path):
    (tmp_path / "floats.json").write_text('{"rows": [[0.5, 0.5], [0.25, 0.75]]}')
    document = utmost("check", "floats.json", "--json").document
    assert (document["general"], document["dobrushin"]) == (None, None)
    strict = utmost("check", "padded.csv", "--alpha", "3/4", "--json").document
    assert (strict["general"], strict["dobrushin"]["best"], strict["dobrushin"]["optimal"]) == (None, None, None)


def test_check_scales_the_best_coefficient_with_the_steps_of_the_space(utmost):
    """Neighbours at distance 2 and α = 1/2 are neighbours at distance 1 and α = 1/4: −2·(1/4)/(5/4) = −2/5."""
    document = utmost("check", "padded.csv", "--space", "2*line:2", "--alpha", "1/2", "--json").document
    assert document["dobrushin"]["best"] == "-2/5"
