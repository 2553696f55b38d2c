"""`utmost refine`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.channel import channel, files

FINE = "x,a,b\n0,3/4,1/4\n1,1/4,3/4\n"
COARSE = "x,yes,no\n1,3/8,5/8\n0,5/8,3/8\n"
SPLIT = "x,a,b,c\n0,1/2,1/4,1/4\n1,1/6,1/12,3/4\n"


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "fine.csv").write_text(FINE)
    (tmp_path / "coarse.csv").write_text(COARSE)
    (tmp_path / "split.csv").write_text(SPLIT)
    return "fine.csv", "coarse.csv"


def read(document):
    return channel(document["rows"], document["inputs"], document["outputs"])


def test_a_refinement_comes_with_its_post_processing(utmost, pair, tmp_path):
    found = utmost("refine", *pair, "--json").document
    assert (found["refines"], found["equivalent"], found["witness"]) == (True, False, None)
    assert found["post"] == {"inputs": ["a", "b"], "outputs": ["yes", "no"], "rows": [["3/4", "1/4"], ["1/4", "3/4"]]}
    fine, coarse = (files.read_channel(tmp_path / name) for name in pair)
    assert fine.then(read(found["post"])) == coarse.restrict(fine.inputs)


def test_the_reverse_comes_with_a_consumer_who_minds(utmost, pair):
    """The same consumer is shown whichever way round the two are given."""
    forward, back = (utmost("refine", *order, "--json").document for order in (pair, pair[::-1]))
    assert (back["refines"], back["equivalent"], back["post"]) == (False, False, None)
    assert back["reverse"]["refines"] is True
    minds, same = back["witness"], forward["reverse"]["witness"]
    assert Fraction(minds["with_b"]) < Fraction(minds["with_a"])
    assert (same["with_a"], same["with_b"]) == (minds["with_b"], minds["with_a"])
    assert same["loss"] == minds["loss"][::-1]
    assert minds["prior"] == ["1/2", "1/2"]


def test_splitting_an_output_is_equivalent(utmost, pair):
    found = utmost("refine", "fine.csv", "split.csv", "--json").document
    assert (found["refines"], found["equivalent"]) == (True, True)
    assert found["post"]["rows"] == [["2/3", "1/3", "0"], ["0", "0", "1"]]
    assert "they are equivalent, equally good for everybody" in " ".join(
        utmost("refine", "fine.csv", "split.csv").out.split()
    )


def test_the_text_says_which_is_better_for_whom(utmost, pair):
    said = utmost("refine", *pair)
    words = " ".join(said.out.split())
    assert "B refines A: B is A with its outputs processed further." in words
    assert "does at least as well with A; every secret is at least as safe with B" in words
    assert "Better served by A: a consumer with a uniform prior" in words
    back = " ".join(utmost("refine", *pair[::-1]).out.split())
    assert "B does not refine A, A refines B" in back
    assert "Better served by B: a consumer" in back
    assert max(map(len, said.out.splitlines())) <= 80


def test_channels_that_are_not_comparable_get_a_consumer_each(utmost):
    for name, words in (("g.csv", ("geometric", "--size", 3)), ("r.csv", ("response", "--size", 4))):
        utmost("mechanism", *words, "--alpha", "1/2", "--output", name)
    found = utmost("refine", "g.csv", "r.csv", "--json").document
    assert (found["refines"], found["reverse"]["refines"], found["equivalent"]) == (False, False, False)
    assert Fraction(found["witness"]["with_b"]) < Fraction(found["witness"]["with_a"])
    assert Fraction(found["reverse"]["witness"]["with_a"]) < Fraction(found["reverse"]["witness"]["with_b"])
    words = " ".join(utmost("refine", "g.csv", "r.csv").out.split())
    assert "some consumers are better served by A, others by B" in words


def test_the_post_processing_can_be_saved(utmost, pair, tmp_path):
    assert "saved r.csv" in utmost("refine", *pair, "--output", "r.csv").err
    fine, coarse = (files.read_channel(tmp_path / name) for name in pair)
    assert fine.then(files.read_channel(tmp_path / "r.csv")) == coarse.restrict(fine.inputs)
    said = utmost("refine", *pair[::-1], "--output", "none.csv")
    assert (said.code, said.err) == (0, "nothing saved: B does not refine A, so there is no R\n")
    assert not (tmp_path / "none.csv").exists()


def test_irrational_mechanisms_are_compared_exactly(utmost):
    for name, level in (("weak.csv", "0.2"), ("strong.csv", "0.1")):
        utmost("mechanism", "geometric", "--size", 4, "--epsilon", level, "--output", name)
    found = utmost("refine", "weak.csv", "strong.csv", "--json").document
    assert (found["refines"], found["equivalent"]) == (True, False)
    assert "exp(" in found["post"]["rows"][0][0]
    assert utmost("refine", "strong.csv", "weak.csv").code == 0


def test_what_is_not_decided_is_said(utmost, tmp_path):
    def response(level):
        cells = [[f"{'1' if x == y else level}/(1+4*{level})" for y in range(5)] for x in range(5)]
        return "\n".join([",".join("xabcde"), *(",".join([str(x), *line]) for x, line in enumerate(cells))])

    (tmp_path / "two.csv").write_text(response("((sqrt(2)+sqrt(3))/8)"))
    (tmp_path / "three.csv").write_text(response("((sqrt(5)+sqrt(7))/8)"))
    said = utmost("refine", "two.csv", "three.csv")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "not decided for these irrational entries" in said.err
    back = utmost("refine", "three.csv", "two.csv", "--json").document
    assert (back["refines"], back["equivalent"], back["reverse"]) == (False, False, None)
    assert "Whether A refines B was not decided" in " ".join(utmost("refine", "three.csv", "two.csv").out.split())


def test_a_large_loss_is_left_to_the_document(utmost):
    for name, level in (("weak.csv", "1/3"), ("strong.csv", "1/2")):
        utmost("mechanism", "geometric", "--size", 39, "--alpha", level, "--output", name)
    said = utmost("refine", "strong.csv", "weak.csv")
    assert "Her loss has 40 rows and 2 columns: --json prints it." in said.out
    assert "this can take a minute" in said.err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("fine.csv",), "B"),
        (("fine.csv", "absent.csv"), "cannot read channel file absent.csv"),
        (("fine.csv", "other.csv"), "A and B must have the same inputs, got '1' in one of them only"),
        (("fine.csv", "floats.json"), "B must have exact entries, got floats: write them as fractions"),
        (("fine.csv", "coarse.csv", "--output", "r.txt"), "--output must be a file that ends in .csv or .json"),
        (("short.csv", "coarse.csv"), "short.csv: row 0 must sum to 1"),
    ],
)
def test_bad_input_ends_with_code_2_and_one_line(utmost, pair, tmp_path, words, names):
    (tmp_path / "other.csv").write_text("x,a\n0,1\n7,1\n")
    (tmp_path / "short.csv").write_text("x,a\n0,1/2\n1,1\n")
    (tmp_path / "floats.json").write_text('{"rows": [[0.75, 0.25], [0.25, 0.75]]}')
    said = utmost("refine", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert names in said.err


def test_it_explains_itself_with_examples(utmost):
    said = utmost("refine", "--help")
    assert "utmost refine a.csv b.csv" in " ".join(said.out.split("Examples:")[1].split())
    assert max(map(len, said.out.splitlines())) <= 80
