"""`utmost mechanism`."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from utmost.channel import channel, files
from utmost.exact import alpha, epsilon, number
from utmost.mechanisms import Geometric, geometric

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
    document = utmost("mechanism", "geometric", "--size", 5, "--alpha", "1/2", "--json").document
    assert document["rows"] == [row.split() for row in FIGURE_1B]
    assert document["inputs"] == document["outputs"] == [0, 1, 2, 3, 4, 5]
    assert document["alpha"] == "1/2"
    assert document["epsilon"] == pytest.approx(math.log(2), abs=1e-12)


def test_the_table_is_figure_1b(utmost):
    result = utmost("mechanism", "geometric", "--size", 5, "--alpha", "1/2")
    assert [line.split()[1:] for line in result.out.splitlines()[3:9]] == [row.split() for row in FIGURE_1B]
    assert "ε ≈ 0.693147 (α = 1/2)" in result.out


def test_irrational_entries_are_exact_text_and_read_back_equal(utmost):
    document = utmost("mechanism", "geometric", "--size", 3, "--epsilon", "0.1", "--json").document
    assert document["rows"][1][1] == "(1 - exp(-1/10))/(1 + exp(-1/10))"
    assert [[number(cell) for cell in row] for row in document["rows"]] == geometric(
        3, epsilon("0.1")
    ).channel().rows.tolist()
    assert (document["epsilon"], document["alpha"]) == ("1/10", "exp(-1/10)")


def test_irrational_entries_are_decimals_in_the_table(utmost):
    result = utmost("mechanism", "geometric", "--size", 3, "--epsilon", "0.1")
    assert result.out.splitlines()[3].split() == ["0", "0.525", "0.0452", "0.0409", "0.3889"]
    assert "ε = 1/10" in result.out


@pytest.mark.parametrize(("level", "expected_epsilon"), [("0", "inf"), ("1", "0")])
def test_the_extreme_levels_have_epsilon_inf_and_0(utmost, level, expected_epsilon):
    document = utmost("mechanism", "geometric", "--size", 2, "--alpha", level, "--json").document
    assert (document["epsilon"], document["alpha"]) == (expected_epsilon, level)


def test_a_single_count_leaks_nothing(utmost):
    document = utmost("mechanism", "geometric", "--size", 0, "--alpha", "1/2", "--json").document
    assert (document["rows"], document["epsilon"]) == ([["1"]], "0")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "level"), [(23, "1/2"), (60, "9/10"), (300, "1/2")])
def test_a_table_never_exceeds_80_columns_and_says_what_it_leaves_out(utmost, size, level):
    result = utmost("mechanism", "geometric", "--size", size, "--alpha", level)
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 80
    assert f"of {size + 1} inputs and {size + 1} outputs" in " ".join(result.out.split())


@pytest.mark.parametrize("name", ["saved.csv", "saved.json"])
@pytest.mark.parametrize("option", [("--alpha", "1/3"), ("--epsilon", "0.1")])
def test_a_saved_mechanism_is_read_back_equal(utmost, tmp_path, name, option):
    result = utmost("mechanism", "geometric", "--size", 4, *option, "--output", name)
    assert result.err == f"saved {name}\n"
    level = alpha(option[1]) if option[0] == "--alpha" else epsilon(option[1])
    assert files.read_channel(tmp_path / name) == geometric(4, level).channel()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_a_plot_is_written_and_named(utmost, tmp_path, kind):
    result = utmost("mechanism", "geometric", "--size", 2, "--alpha", "1/2", "--plot", f"heat.{kind}", "--json")
    assert result.err == f"drew heat.{kind}\n"
    assert (tmp_path / f"heat.{kind}").stat().st_size > 1000
    assert Fraction(result.document["rows"][0][0]) == Fraction(2, 3)


GEOMETRIC = ("mechanism", "geometric", "--size", 5, "--alpha", "1/2")
LAPLACE = ("mechanism", "laplace", "--range", "0,1", "--granularity", "1/4", "--sensitivity", "1/2")
PLANAR = ("mechanism", "planar", "--step", "1/10", "--epsilon", "2")
SAMPLED = [
    ((*GEOMETRIC, "--input", 3), range(6)),
    (("mechanism", "geometric", "--size", 10**12, "--epsilon", "0.1", "--input", 0), range(10**12 + 1)),
    ((*LAPLACE, "--epsilon", 1, "--input", "0.3"), ["0", "1/4", "1/2", "3/4", "1"]),
    ((*LAPLACE, "--alpha", "1/3", "--input", "0.3"), ["0", "1/4", "1/2", "3/4", "1"]),
    (("mechanism", "response", "--size", 4, "--epsilon", 1, "--input", 2), range(4)),
    (("mechanism", "response-dual", "--size", 4, "--epsilon", 1, "--input", 2), range(4)),
    (("mechanism", "exponential", "--scores", "1,2,5/2", "--epsilon", 1, "--input", 0), range(3)),
    (("mechanism", "exponential", "--scores", "1,2;2,1", "--alpha", "1/2", "--monotone", "--input", 1), range(2)),
    (("mechanism", "staircase", "--sensitivity", 3, "--size", 9, "--alpha", "1/2", "--input", 4), range(10)),
    (("mechanism", "staircase", "--sensitivity", 3, "--alpha", "1/2", "--input", -4), range(-(10**6), 10**6)),
    (("mechanism", "channel.csv", "--input", "yes"), ["red", "green", 3]),
]


@pytest.fixture
def channel_file(tmp_path):
    (tmp_path / "channel.csv").write_text("in,red,green,3\nyes,1/2,1/4,1/4\nno,1/4,1/4,1/2\n")


@pytest.mark.usefixtures("channel_file")
@pytest.mark.parametrize(("arguments", "answers"), SAMPLED, ids=[" ".join(map(str, a))[10:50] for a, _ in SAMPLED])
def test_samples_are_answers_as_many_as_asked_for_in_both_forms(utmost, arguments, answers):
    document = utmost(*arguments, "--sample", 40, "--json").document["samples"]
    lines = utmost(*arguments, "--sample", 40).out.splitlines()
    assert len(document) == len(lines) == 40
    assert all(sample in answers for sample in document)
    assert {str(sample) for sample in document} & set(lines) or len(answers) > 40


def test_places_are_sampled_on_the_lattice_and_in_the_box(utmost):
    document = utmost(*PLANAR, "--sample", 50, "--input", "0.3,-1.7", "--json").document
    assert (document["epsilon"], document["step"], len(document["samples"])) == ("2", "1/10", 50)
    assert all((Fraction(c) * 10).denominator == 1 for point in document["samples"] for c in point)
    lines = utmost(*PLANAR, "--sample", 50, "--input", "0.3,-1.7", "--box", "0,-2,1/2,-1").out.split()
    points = [[Fraction(c) for c in line.split(",")] for line in lines]
    assert all(0 <= x <= Fraction(1, 2) and -2 <= y <= -1 for x, y in points)
    assert len({tuple(point) for point in points}) > 1


def test_a_sampled_mechanism_tells_its_level_and_what_its_grid_costs(utmost):
    document = utmost(*LAPLACE, "--epsilon", 1, "--input", 0, "--sample", 1, "--json").document
    assert (document["epsilon"], document["alpha"]) == ("1", "exp(-1)")
    assert document["cost"]["rounding"] == "1/8"
    assert (document["cost"]["steps"], document["cost"]["stretch"]) == (2, "1")
    assert document["cost"]["grid_error"] < document["cost"]["laplace_error"]


@pytest.mark.parametrize(
    ("arguments", "expected_epsilon"),
    [
        ((*LAPLACE, "--epsilon", 1), "1"),
        (("mechanism", "laplace", "--range", "0,4", "--granularity", "2/3", "--epsilon", 1), "1"),
        (("mechanism", "response", "--size", 3, "--epsilon", "0.7"), "7/10"),
        (("mechanism", "response-dual", "--size", 3, "--epsilon", "0.7"), "7/10"),
        (("mechanism", "staircase", "--sensitivity", 2, "--size", 6, "--epsilon", "0.7"), "7/10"),
        (("mechanism", "exponential", "--scores", "0,1;1,0", "--epsilon", 1), "1/2"),
    ],
    ids=lambda value: " ".join(map(str, value))[10:50],
)
def test_the_epsilon_shown_is_recomputed_and_is_the_level_where_it_is_attained(utmost, arguments, expected_epsilon):
    document = utmost(*arguments, "--json").document
    assert document["epsilon"] == expected_epsilon
    assert all(sum(map(number, row), Fraction(0)) == 1 for row in document["rows"])
    assert f"ε = {expected_epsilon}" in " ".join(utmost(*arguments).out.split())


@pytest.mark.usefixtures("channel_file")
def test_a_channel_of_a_file_is_shown_with_its_epsilon_for_any_two_inputs(utmost):
    document = utmost("mechanism", "channel.csv", "--json").document
    assert (document["inputs"], document["outputs"], document["alpha"]) == (["yes", "no"], ["red", "green", 3], "1/2")
    assert utmost("mechanism", "channel.csv", "--output", "copy.json").err == "saved copy.json\n"
    assert utmost("mechanism", "copy.json", "--json").document == document
    assert document["space"] == "discrete:2"
    assert "Any two inputs were taken for neighbours" in " ".join(utmost("mechanism", "channel.csv").out.split())


@pytest.mark.parametrize("inputs", [(0, 1, 2, 3), (3, 0, 2, 1)])
def test_a_file_whose_inputs_are_counts_has_the_epsilon_that_check_finds(utmost, tmp_path, inputs):
    files.write_channel(geometric(3, alpha("1/2")).channel().restrict(inputs), tmp_path / "counts.csv")
    document = utmost("mechanism", "counts.csv", "--json").document
    check_document = utmost("check", "counts.csv", "--json").document
    assert (
        (document["alpha"], document["space"])
        == ("1/2", "line:4")
        == (check_document["alpha"], check_document["space"])
    )
    assert document["epsilon"] == check_document["epsilon"]
    result = " ".join(utmost("mechanism", "counts.csv").out.split())
    assert "Inputs that differ by 1 were taken for neighbours" in result


def test_inputs_that_are_no_counts_from_0_on_are_all_neighbours(utmost, tmp_path):
    mechanism = geometric(3, alpha("1/2")).channel()
    files.write_channel(channel(mechanism.rows, (1, 2, 3, 4), mechanism.outputs), tmp_path / "others.csv")
    document = utmost("mechanism", "others.csv", "--json").document
    assert (document["alpha"], document["space"]) == ("1/8", "discrete:4")


@pytest.mark.parametrize("spelling", ["1/2", "0.5", "2/4", " 5e-1 "])
def test_an_input_of_a_file_is_found_by_its_number(utmost, spelling):
    """At ε = 40 a half, 20 a step, another answer than the input's or one beside it has probability below 1e-17."""
    assert utmost(*LAPLACE, "--epsilon", 40, "--output", "grid.csv").code == 0
    assert utmost("mechanism", "grid.csv", "--sample", 1, "--input", spelling).out in {"1/2\n", "1/4\n", "3/4\n"}


def test_a_spelling_comes_before_a_number_and_two_of_one_number_are_refused(utmost, tmp_path):
    (tmp_path / "twice.csv").write_text("in,a,b\n1/2,1,0\n0.5,0,1\n")
    for spelling, answer in (("1/2", "a"), ("0.5", "b")):
        assert utmost("mechanism", "twice.csv", "--sample", 1, "--input", spelling).out == f"{answer}\n"
    assert "spelled as there" in utmost("mechanism", "twice.csv", "--sample", 1, "--input", "2/4").err


@pytest.mark.parametrize(
    ("arguments", "truthful", "uninformative"),
    [
        (("geometric", "--size", 3, "--input", 2), {2}, {0}),
        (("response", "--size", 3, "--input", 2), {2}, {0, 1, 2}),
        (("response-dual", "--size", 3, "--input", 2), {0, 1}, {0, 1, 2}),
        (("exponential", "--scores", "0,2,1", "--input", 0), {1}, {0, 1, 2}),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_a_finite_mechanism_is_sampled_at_the_extreme_levels(utmost, arguments, truthful, uninformative):
    """300 draws miss one of k answers of equal probability with probability at most 3·(2/3)^300 < 1e-52."""
    for level, answers in ((("--alpha", 0), truthful), (("--alpha", 1), uninformative)):
        document = utmost("mechanism", *arguments, *level, "--sample", 300, "--json").document
        assert set(document["samples"]) == answers


def test_the_level_asked_for_is_shown_beside_the_recomputed_epsilon(utmost):
    arguments = ("mechanism", "exponential", "--scores", "0,2", "--epsilon", 1)
    document = utmost(*arguments, "--json").document
    assert (document["epsilon"], document["level"]) == ("0", {"epsilon": "1", "alpha": "exp(-1)"})
    assert "It was made for ε = 1." in " ".join(utmost(*arguments).out.split())
    assert "made for" not in utmost(*GEOMETRIC).out


BAD = [
    (("mechanism", "laplce", "--epsilon", 1), "did you mean laplace?"),
    (("mechanism", "Response", "--size", 3, "--epsilon", 1), "did you mean response?"),
    (("mechanism", "quux", "--epsilon", 1), "no other mechanism is built in"),
    ((*LAPLACE[:3], "1,1", *LAPLACE[4:], "--epsilon", 1), "range must run"),
    ((*LAPLACE[:3], "1", *LAPLACE[4:], "--epsilon", 1), "--range must be 2 numbers"),
    ((*LAPLACE[:3], "0,nan", *LAPLACE[4:], "--epsilon", 1), "--range must be a number"),
    ((*LAPLACE[:5], "0", *LAPLACE[6:], "--epsilon", 1), "granularity must be > 0"),
    ((*LAPLACE[:5], "2/3", *LAPLACE[6:], "--epsilon", 1), "granularity must divide the range"),
    ((*LAPLACE[:5], "1/1000", *LAPLACE[6:], "--epsilon", 1), "--granularity must leave"),
    ((*LAPLACE, "--epsilon", 0, "--sample", 1, "--input", 0), "epsilon must be > 0"),
    (("mechanism", "geometric", "--size", 5, "--epsilon", 0, "--sample", 1, "--input", 0), "epsilon must be > 0"),
    (("mechanism", "response", "--size", 3, "--epsilon", 0, "--sample", 1, "--input", 0), "epsilon must be > 0"),
    ((*LAPLACE, "--epsilon", 1, "--sample", 1, "--input", "2"), "input must be in the range"),
    ((*LAPLACE, "--epsilon", 1, "--sample", 1, "--input", "nan"), "--input must be an exact number"),
    ((*LAPLACE, "--epsilon", 1, "--size", 3), "--size must not be given for laplace"),
    (LAPLACE, "--alpha or --epsilon"),
    (LAPLACE[:4], "--granularity must be given for laplace"),
    ((*GEOMETRIC, "--sample", 0, "--input", 1), "--sample must be from 1"),
    ((*GEOMETRIC, "--sample", 10**9, "--input", 1), "--sample must be from 1"),
    ((*GEOMETRIC, "--sample", "x", "--input", 1), "--sample must be a number"),
    ((*GEOMETRIC, "--sample", 3), "--input must be given"),
    ((*GEOMETRIC, "--input", 3), "--sample"),
    ((*GEOMETRIC, "--sample", 3, "--input", 6), "--input must be a whole number from 0 to 5"),
    ((*GEOMETRIC, "--sample", 3, "--input", 1, "--output", "a.csv"), "--output"),
    ((*LAPLACE, "--alpha", 0, "--sample", 3, "--input", 1), "alpha must be > 0"),
    (("mechanism", "geometric", "--size", 10**12, "--epsilon", "0.1"), "--sample needs no matrix"),
    ((*GEOMETRIC[:3], 10**13, *GEOMETRIC[4:], "--sample", 3, "--input", 1), "--size must be"),
    (PLANAR, "--sample"),
    ((*PLANAR, "--box", "0,0,1,1"), "no numbers that can be written down exactly: say --sample"),
    ((*PLANAR, "--sample", 1, "--input", "1"), "--input must be 2 exact numbers"),
    ((*PLANAR, "--sample", 1, "--input", "1,1", "--box", "0,0,0.33,1"), "--box in steps must be a whole number"),
    ((*PLANAR, "--sample", 1, "--input", "1,1", "--box", "1,0,0,1"), "box must be"),
    ((*PLANAR[:3], "0", *PLANAR[4:], "--sample", 1, "--input", "1,1"), "step must be > 0"),
    (("mechanism", "response", "--size", 0, "--epsilon", 1), "--size must be the number of values"),
    (("mechanism", "response", "--size", 700, "--alpha", "1/2"), "--size must be from 0 to 500"),
    (("mechanism", "exponential", "--scores", "1,2;3", "--epsilon", 1), "scores must be"),
    (("mechanism", "exponential", "--scores", "", "--epsilon", 1), "--scores must be"),
    (("mechanism", "exponential", "--scores", "1,2", "--sensitivity", 0, "--epsilon", 1), "sensitivity must be > 0"),
    (("mechanism", "staircase", "--sensitivity", "1/2", "--epsilon", 1), "sensitivity must be a whole number"),
    (("mechanism", "staircase", "--epsilon", 1), "--size must be given"),
    (("mechanism", "channel.csv", "--epsilon", 1), "--epsilon must not be given for channel.csv"),
    (("mechanism", "channel.csv", "--sample", 1, "--input", "maybe"), "--input must be an input"),
    (("mechanism", "absent.json"), "cannot read channel file"),
]


@pytest.mark.usefixtures("channel_file")
@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=lambda value: " ".join(map(str, value))[10:70])
def test_bad_input_is_one_line_and_no_sample(utmost, arguments, expected):
    result = utmost(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("utmost: ")
    assert result.err.count("\n") == 1
    assert len(result.err) < 450
    assert expected in result.err


@pytest.mark.usefixtures("channel_file")
@pytest.mark.parametrize(
    "arguments",
    [
        (*GEOMETRIC, "--input", "77x"),
        (*GEOMETRIC, "--input", "77"),
        (*LAPLACE, "--epsilon", 1, "--input", "77"),
        (*LAPLACE, "--epsilon", 1, "--input", "77..5"),
        (*PLANAR, "--input", "1,77x"),
        ("mechanism", "channel.csv", "--input", "77"),
        ("mechanism", "exponential", "--scores", "0,77x", "--epsilon", 1, "--input", 0),
        ("mechanism", "exponential", "--scores", "0,1;77..5,2", "--epsilon", 1, "--input", 0),
    ],
    ids=lambda value: " ".join(map(str, value))[10:50],
)
def test_an_input_is_data_and_is_not_repeated(utmost, arguments):
    result = utmost(*arguments, "--sample", 2)
    assert result.code == 2
    assert "77" not in result.err


def test_many_samples_are_counted_on_stderr_and_a_failure_prints_none(utmost, monkeypatch):
    monkeypatch.setattr("utmost.cli.mechanism.SAMPLES_PER_CHUNK", 3)
    result = utmost(*GEOMETRIC, "--sample", 7, "--input", 2)
    assert result.err.splitlines() == ["drawn 3 of 7", "drawn 6 of 7", "drawn 7 of 7"]
    assert len(result.out.splitlines()) == 7
    original_draw, calls = Geometric.draw, []

    def fail_on_second_call(mechanism, inputs):
        calls.append(len(inputs))
        if len(calls) == 2:
            raise MemoryError
        return original_draw(mechanism, inputs)

    monkeypatch.setattr(Geometric, "draw", fail_on_second_call)
    result = utmost(*GEOMETRIC, "--sample", 7, "--input", 2, "--json")
    assert (result.code, result.out, calls) == (1, "", [3, 3])


def test_no_label_of_a_channel_ends_the_script_of_a_plot(utmost, tmp_path):
    hostile = "</script><script>alert(3)</script>"
    (tmp_path / "hostile.csv").write_text(f"in,{hostile},no\n{hostile},2/3,1/3\n1,1/3,2/3\n")
    assert utmost("mechanism", "hostile.csv", "--plot", "a.html").code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "alert(3)" in page
    assert "<script>alert(3)" not in page


def test_a_sample_is_one_line_however_long_its_label_is(utmost, tmp_path):
    label = "x" * 200
    (tmp_path / "long.csv").write_text(f"in,{label}\n0,1\n1,1\n")
    assert utmost("mechanism", "long.csv", "--sample", 3, "--input", 1).out.splitlines() == [label] * 3
