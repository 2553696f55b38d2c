"""`utmost mechanism`."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from utmost.channel import files
from utmost.exact import alpha, epsilon, number
from utmost.mechanisms import geometric

# GRS12 Fig. 1(b): the truncated 1/2-geometric mechanism for n = 5.
FIGURE_1B = [
    "2/3 1/6 1/12 1/24 1/48 1/48",
    "1/3 1/3 1/6 1/12 1/24 1/24",
    "1/6 1/6 1/3 1/6 1/12 1/12",
    "1/12 1/12 1/6 1/3 1/6 1/6",
    "1/24 1/24 1/12 1/6 1/3 1/3",
    "1/48 1/48 1/24 1/12 1/6 2/3",
]


def test_the_document_is_figure_1b(utmost):
    found = utmost("mechanism", "geometric", "--size", 5, "--alpha", "1/2", "--json").document
    assert found["rows"] == [row.split() for row in FIGURE_1B]
    assert found["inputs"] == found["outputs"] == [0, 1, 2, 3, 4, 5]
    assert found["alpha"] == "1/2"
    assert found["epsilon"] == pytest.approx(math.log(2), abs=1e-12)


def test_the_table_is_figure_1b(utmost):
    said = utmost("mechanism", "geometric", "--size", 5, "--alpha", "1/2")
    assert [line.split()[1:] for line in said.out.splitlines()[3:9]] == [row.split() for row in FIGURE_1B]
    assert "ε ≈ 0.693147 (α = 1/2)" in said.out


def test_irrational_entries_are_exact_text_and_read_back_equal(utmost):
    found = utmost("mechanism", "geometric", "--size", 3, "--epsilon", "0.1", "--json").document
    assert found["rows"][1][1] == "(1 - exp(-1/10))/(1 + exp(-1/10))"
    assert [[number(cell) for cell in row] for row in found["rows"]] == geometric(
        3, epsilon("0.1")
    ).channel().rows.tolist()
    assert (found["epsilon"], found["alpha"]) == ("1/10", "exp(-1/10)")


def test_irrational_entries_are_decimals_in_the_table(utmost):
    said = utmost("mechanism", "geometric", "--size", 3, "--epsilon", "0.1")
    assert said.out.splitlines()[3].split() == ["0", "0.525", "0.0452", "0.0409", "0.3889"]
    assert "ε = 1/10" in said.out


@pytest.mark.parametrize(("level", "told"), [("0", "inf"), ("1", "0")])
def test_the_ends_of_privacy_are_told_as_such(utmost, level, told):
    found = utmost("mechanism", "geometric", "--size", 2, "--alpha", level, "--json").document
    assert (found["epsilon"], found["alpha"]) == (told, level)


def test_a_single_count_leaks_nothing(utmost):
    found = utmost("mechanism", "geometric", "--size", 0, "--alpha", "1/2", "--json").document
    assert (found["rows"], found["epsilon"]) == ([["1"]], "0")


@pytest.mark.parametrize(("size", "level"), [(23, "1/2"), (60, "9/10"), (300, "1/2")])
def test_a_table_never_exceeds_80_columns_and_says_what_it_leaves_out(utmost, size, level):
    said = utmost("mechanism", "geometric", "--size", size, "--alpha", level)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    assert f"of {size + 1} inputs and {size + 1} outputs" in " ".join(said.out.split())


@pytest.mark.parametrize("name", ["saved.csv", "saved.json"])
@pytest.mark.parametrize("option", [("--alpha", "1/3"), ("--epsilon", "0.1")])
def test_a_saved_mechanism_is_read_back_equal(utmost, tmp_path, name, option):
    said = utmost("mechanism", "geometric", "--size", 4, *option, "--output", name)
    assert said.err == f"saved {name}\n"
    level = alpha(option[1]) if option[0] == "--alpha" else epsilon(option[1])
    assert files.read(tmp_path / name) == geometric(4, level).channel()


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_a_plot_is_written_and_named(utmost, tmp_path, kind):
    said = utmost("mechanism", "geometric", "--size", 2, "--alpha", "1/2", "--plot", f"heat.{kind}", "--json")
    assert said.err == f"drew heat.{kind}\n"
    assert (tmp_path / f"heat.{kind}").stat().st_size > 1000
    assert Fraction(said.document["rows"][0][0]) == Fraction(2, 3)
