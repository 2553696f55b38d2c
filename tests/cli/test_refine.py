"""`utmost refine`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.channel import channel, files

FINE = "x,a,b\n0,3/4,1/4\n1,1/4,3/4\n"
COARSE = "x,yes,no\n1,3/8,5/8\n0,5/8,3/8\n"
SPLIT = "x,a,b,c\n0,1/2,1/4,1/4\n1,1/6,1/12,3/4\n"


@pytest.fixture
def channel_pair(tmp_path):
    (tmp_path / "fine.csv").write_text(FINE)
    (tmp_path / "coarse.csv").write_text(COARSE)
    (tmp_path / "split.csv").write_text(SPLIT)
    return "fine.csv", "coarse.csv"


def parse_channel(document):
    return channel(document["rows"], document["inputs"], document["outputs"])


def test_a_refinement_comes_with_its_post_processing(utmost, channel_pair, tmp_path):
    document = utmost("refine", *channel_pair, "--json").document
    assert (document["refines"], document["equivalent"], document["witness"]) == (True, False, None)
    assert document["post"] == {
        "inputs": ["a", "b"],
        "outputs": ["yes", "no"],
        "rows": [["3/4", "1/4"], ["1/4", "3/4"]],
    }
    fine, coarse = (files.read_channel(tmp_path / name) for name in channel_pair)
    assert fine.then(parse_channel(document["post"])) == coarse.restrict(fine.inputs)


def test_the_reverse_comes_with_a_consumer_who_loses(utmost, channel_pair):
    """The same consumer is shown whichever way round the two are given."""
    forward, reverse = (utmost("refine", *order, "--json").document for order in (channel_pair, channel_pair[::-1]))
    assert (reverse["refines"], reverse["equivalent"], reverse["post"]) == (False, False, None)
    assert reverse["reverse"]["refines"] is True
    witness, reverse_witness = reverse["witness"], forward["reverse"]["witness"]
    assert Fraction(witness["with_b"]) < Fraction(witness["with_a"])
    assert (reverse_witness["with_a"], reverse_witness["with_b"]) == (witness["with_b"], witness["with_a"])
    assert reverse_witness["loss"] == witness["loss"][::-1]
    assert witness["prior"] == ["1/2", "1/2"]


def test_splitting_an_output_is_equivalent(utmost, channel_pair):
    document = utmost("refine", "fine.csv", "split.csv", "--json").document
    assert (document["refines"], document["equivalent"]) == (True, True)
    assert document["post"]["rows"] == [["2/3", "1/3", "0"], ["0", "0", "1"]]
    assert "they are equivalent, equally good for everybody" in " ".join(
        utmost("refine", "fine.csv", "split.csv").out.split()
    )


def test_the_text_says_which_is_better_for_whom(utmost, channel_pair):
    result = utmost("refine", *channel_pair)
    text = " ".join(result.out.split())
    assert "B refines A: B is A with its outputs processed further." in text
    assert "does at least as well with A; every secret is at least as safe with B" in text
    assert "Better served by A: a consumer with a uniform prior" in text
    reverse_text = " ".join(utmost("refine", *channel_pair[::-1]).out.split())
    assert "B does not refine A, A refines B" in reverse_text
    assert "Better served by B: a consumer" in reverse_text
    assert max(map(len, result.out.splitlines())) <= 80


def test_channels_that_are_not_comparable_get_a_consumer_each(utmost):
    for name, options in (("g.csv", ("geometric", "--size", 3)), ("r.csv", ("response", "--size", 4))):
        utmost("mechanism", *options, "--alpha", "1/2", "--output", name)
    document = utmost("refine", "g.csv", "r.csv", "--json").document
    assert (document["refines"], document["reverse"]["refines"], document["equivalent"]) == (False, False, False)
    assert Fraction(document["witness"]["with_b"]) < Fraction(document["witness"]["with_a"])
    assert Fraction(document["reverse"]["witness"]["with_a"]) < Fraction(document["reverse"]["witness"]["with_b"])
    text = " ".join(utmost("refine", "g.csv", "r.csv").out.split())
    assert "some consumers are better served by A, others by B" in text


def test_the_post_processing_can_be_saved(utmost, channel_pair, tmp_path):
    assert "saved r.csv" in utmost("refine", *channel_pair, "--output", "r.csv").err
    fine, coarse = (files.read_channel(tmp_path / name) for name in channel_pair)
    assert fine.then(files.read_channel(tmp_path / "r.csv")) == coarse.restrict(fine.inputs)
    result = utmost("refine", *channel_pair[::-1], "--output", "none.csv")
    assert (result.code, result.err) == (0, "nothing saved: B does not refine A, so there is no R\n")
    assert not (tmp_path / "none.csv").exists()


def test_irrational_mechanisms_are_compared_exactly(utmost):
    for name, level in (("weak.csv", "0.2"), ("strong.csv", "0.1")):
        utmost("mechanism", "geometric", "--size", 4, "--epsilon", level, "--output", name)
    document = utmost("refine", "weak.csv", "strong.csv", "--json").document
    assert (document["refines"], document["equivalent"]) == (True, False)
    assert "exp(" in document["post"]["rows"][0][0]
    assert utmost("refine", "strong.csv", "weak.csv").code == 0


def test_what_is_not_decided_is_reported(utmost, tmp_path):
    def response_csv(level):
        cells = [[f"{'1' if x == y else level}/(1+4*{level})" for y in range(5)] for x in range(5)]
        return "\n".join([",".join("xabcde"), *(",".join([str(x), *line]) for x, line in enumerate(cells))])

    (tmp_path / "two.csv").write_text(response_csv("((sqrt(2)+sqrt(3))/8)"))
    (tmp_path / "three.csv").write_text(response_csv("((sqrt(5)+sqrt(7))/8)"))
    result = utmost("refine", "two.csv", "three.csv")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "not decided for these irrational entries" in result.err
    reverse = utmost("refine", "three.csv", "two.csv", "--json").document
    assert (reverse["refines"], reverse["equivalent"], reverse["reverse"]) == (False, False, None)
    assert "Whether A refines B was not decided" in " ".join(utmost("refine", "three.csv", "two.csv").out.split())


def test_a_large_loss_is_left_to_the_document(utmost):
    for name, level in (("weak.csv", "1/3"), ("strong.csv", "1/2")):
        utmost("mechanism", "geometric", "--size", 39, "--alpha", level, "--output", name)
    result = utmost("refine", "strong.csv", "weak.csv")
    assert "The loss has 40 rows and 2 columns: --json prints it." in result.out
    assert "this can take a minute" in result.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("fine.csv",), "B"),
        (("fine.csv", "absent.csv"), "cannot read channel file absent.csv"),
        (("fine.csv", "other.csv"), "A and B must have the same inputs, got '1' in one of them only"),
        (("fine.csv", "floats.json"), "B must have exact entries, got floats: write them as fractions"),
        (("fine.csv", "coarse.csv", "--output", "r.txt"), "--output must be a file that ends in .csv or .json"),
        (("short.csv", "coarse.csv"), "short.csv: row 0 must sum to 1"),
    ],
)
def test_bad_input_ends_with_code_2_and_one_line(utmost, channel_pair, tmp_path, arguments, expected):
    (tmp_path / "other.csv").write_text("x,a\n0,1\n7,1\n")
    (tmp_path / "short.csv").write_text("x,a\n0,1/2\n1,1\n")
    (tmp_path / "floats.json").write_text('{"rows": [[0.75, 0.25], [0.25, 0.75]]}')
    result = utmost("refine", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert expected in result.err


def test_it_explains_itself_with_examples(utmost):
    result = utmost("refine", "--help")
    assert "utmost refine a.csv b.csv" in " ".join(result.out.split("Examples:")[1].split())
    assert max(map(len, result.out.splitlines())) <= 80
