"""`utmost type`: the counts, lists, capacities and verdicts that FMPD23 has, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

HALF = ("--alpha", "1/2")


@pytest.mark.parametrize(
    ("space", "vertices", "kernels"),
    [("line:3", 4, 2), ("line:5", 16, 187), ("discrete:3", 6, 5), ("discrete:4", 14, 41), ("grid:2x2", 18, 403)],
)
def test_counts_are_those_of_the_paper(utmost: Callable[..., Any], space: str, vertices: int, kernels: int) -> None:
    """FMPD23 Tables 4a, 5a, 6a."""
    document = utmost("type", space, *HALF, "--vertices", "--kernels", "--count", "--json").document
    assert (document["vertices"], document["kernels"]) == (vertices, kernels)


def test_every_kernel_that_is_listed_averages_to_the_uniform_prior(utmost: Callable[..., Any]) -> None:
    document = utmost("type", "line:4", *HALF, "--vertices", "--kernels", "--json").document
    posteriors = [[Fraction(p) for p in vertex["posterior"]] for vertex in document["vertices"]]
    assert len(posteriors) == 8
    assert len(document["kernels"]) == 11
    for kernel in document["kernels"]:
        weights = [Fraction(w) for w in kernel["weights"]]
        mean = [sum(w * posteriors[v][x] for w, v in zip(weights, kernel["vertices"], strict=True)) for x in range(4)]
        assert mean == [Fraction(1, 4)] * 4
        assert min(weights) > 0


def test_a_refused_list_leaves_the_earlier_one(utmost: Callable[..., Any]) -> None:
    utmost("type", "line:3", *HALF, "--kernels", "--save", "v.jsonl")
    earlier = Path("v.jsonl").read_bytes()
    assert earlier
    assert utmost("type", "hamming:5", *HALF, "--kernels", "--save", "v.jsonl").code == 2
    assert Path("v.jsonl").read_bytes() == earlier
    assert [path.name for path in Path().iterdir()] == ["v.jsonl"]


def test_what_is_saved_is_what_is_listed(utmost: Callable[..., Any]) -> None:
    document = utmost("type", "cycle:4", *HALF, "--vertices", "--kernels", "--json").document
    result = utmost("type", "cycle:4", *HALF, "--vertices", "--kernels", "--save", "all.jsonl", "--json")
    lines = [json.loads(line) for line in Path("all.jsonl").read_text(encoding="utf-8").splitlines()]
    vertices = [{"posterior": line["posterior"]} for line in lines if "vertex" in line]
    kernels = [{"vertices": line["vertices"], "weights": line["weights"]} for line in lines if "kernel" in line]
    assert (vertices, kernels) == (document["vertices"], document["kernels"])
    assert (result.document["vertices"], result.document["kernels"]) == (len(vertices), len(kernels))
    assert "saved all.jsonl" in result.err


def test_capacities_of_a_million_secrets_are_exact(utmost: Callable[..., Any]) -> None:
    document = utmost("type", "hamming:20", *HALF, "--capacity", "--json").document
    assert document["points"] == 2**20
    assert Fraction(document["capacity"]["multiplicative"]) == Fraction(4, 3) ** 20
    assert Fraction(document["capacity"]["additive"]) == 1 - Fraction(2, 3) ** 20
    assert document["certificate"]["multiplicative"]["gap"] == "0"


@pytest.mark.slow
def test_a_long_cycle_has_its_capacities_too(utmost: Callable[..., Any]) -> None:
    document = utmost("type", "cycle:100000", *HALF, "--json").document
    assert document["capacity"]["multiplicative"] == pytest.approx(100_000 / 3, rel=1e-11)
    text = utmost("type", "cycle:100000", *HALF).out
    assert "Additive capacity 1 − " in text


def test_an_irrational_capacity_has_a_gap_below_1e_12(utmost: Callable[..., Any]) -> None:
    document = utmost("type", "grid:3x3", "--epsilon", "0.5", "--json").document
    for name in ("multiplicative", "additive"):
        assert isinstance(document["capacity"][name], float)
        assert 0 < document["certificate"][name]["gap"] < 1e-12


@pytest.mark.parametrize(
    ("space", "loss", "exists"),
    [
        ("discrete:3", "binary", False),
        ("line:3", "absolute", True),
        ("line:3", "binary", True),
        ("discrete:2", "nib", True),
    ],
)
def test_whether_one_mechanism_is_best_for_every_prior_is_decided(
    utmost: Callable[..., Any], space: str, loss: str, exists: bool
) -> None:
    universal = utmost("type", space, *HALF, "--loss", loss, "--json").document["universal"]
    assert universal["exists"] is exists
    assert bool(universal["objections"]) is not exists
    for objection in universal["objections"]:
        assert Fraction(objection["better_loss"]) < Fraction(objection["loss"])
    text = utmost("type", space, *HALF, "--loss", loss).out
    assert ("No mechanism is the best" in text) is not exists


def test_a_mechanism_in_a_file_is_judged(utmost: Callable[..., Any]) -> None:
    utmost("mechanism", "geometric", "--size", "2", *HALF, "--output", "g.csv")
    arguments = ("type", "line:3", *HALF, "--loss", "squared", "--channel")
    assert utmost(*arguments, "g.csv", "--json").document["universal"]["optimal"] is True
    assert "This mechanism is the best" in utmost(*arguments, "g.csv").out
    Path("flat.csv").write_text("x,a\n0,1\n1,1\n2,1\n")
    universal = utmost(*arguments, "flat.csv", "--json").document["universal"]
    assert universal["optimal"] is False
    assert Fraction(universal["objections"][0]["better_loss"]) < Fraction(universal["objections"][0]["loss"])
    assert "NOT the best" in utmost(*arguments, "flat.csv").out


@pytest.mark.parametrize("space", ["line:3", pytest.param("grid:2x2", marks=pytest.mark.slow)])
def test_the_region_is_drawn_for_three_and_four_secrets(utmost: Callable[..., Any], space: str) -> None:
    assert "drew region.svg" in utmost("type", space, *HALF, "--plot", "region.svg").err
    assert Path("region.svg").read_text().startswith("<svg")


def test_a_mechanism_is_drawn_inside_its_region(utmost: Callable[..., Any]) -> None:
    utmost("mechanism", "geometric", "--size", "2", *HALF, "--output", "g.csv")
    utmost("type", "line:3", *HALF, "--channel", "g.csv", "--plot", "g.svg")
    assert "posteriors" in Path("g.svg").read_text()


@pytest.mark.parametrize(("alpha", "vertices", "kernels"), [("0", 4, 1), ("1", 1, 1)])
def test_the_extreme_levels_are_answered(utmost: Callable[..., Any], alpha: str, vertices: int, kernels: int) -> None:
    document = utmost("type", "line:4", "--alpha", alpha, "--vertices", "--kernels", "--capacity", "--json").document
    assert (len(document["vertices"]), len(document["kernels"])) == (vertices, kernels)
    assert document["capacity"] == {"multiplicative": str(vertices), "additive": "1" if alpha == "0" else "0"}
    assert utmost("type", "line:4", "--alpha", alpha, "--vertices", "--kernels", "--count").code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("line:4",), "--alpha or --epsilon"),
        (("line:4", *HALF, "--count"), "--count must come with"),
        (("line:4", *HALF, "--save", "a.jsonl"), "--save must come with"),
        (("line:4", *HALF, "--kernels", "--save", "a.csv"), "ends in .jsonl"),
        (("line:4", *HALF, "--channel", "g.csv"), "--channel must come with"),
        (("line:5", *HALF, "--plot", "a.svg"), "3 secrets (a triangle) or 4"),
        (("ring:5", *HALF), "space must be"),
        (("hamming:20", *HALF, "--vertices"), "4096"),
        (("line:3", *HALF, "--loss", "rather"), "loss must be"),
        (("line:3", "--alpha", "2"), "alpha must be in [0, 1]"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(utmost: Callable[..., Any], arguments: tuple[str, ...], expected: str) -> None:
    result = utmost("type", *arguments)
    assert result.code == 2
    assert expected in result.err
    assert result.err.count("\n") == 1


def test_one_kernel_mechanism_is_shown_and_saved(utmost: Callable[..., Any]) -> None:
    kernel = utmost("type", "line:3", *HALF, "--kernel", "1", "--output", "k.csv", "--json").document["kernel"]
    assert kernel["outputs"] == [0, 2, 3]
    assert "it is a kernel mechanism" in utmost("check", "k.csv", *HALF).out
    assert "--kernel must be the number" in utmost("type", "line:3", *HALF, "--kernel", "2").err
    assert "--output must come with --kernel" in utmost("type", "line:3", *HALF, "--output", "k.csv").err


@pytest.mark.parametrize(("alpha", "vertices"), [("0", 2**20), ("1", 1)])
def test_at_the_extreme_levels_a_million_secrets_are_counted_and_not_listed(
    utmost: Callable[..., Any], alpha: str, vertices: int
) -> None:
    level = ("--alpha", alpha)
    document = utmost("type", "hamming:20", *level, "--vertices", "--kernels", "--count", "--json").document
    assert (document["vertices"], document["kernels"]) == (vertices, 1)
    for options in (("--vertices",), ("--kernels",), ("--kernel", "0"), ("--loss", "binary")):
        refusal = utmost("type", "hamming:20", *level, *options)
        assert refusal.code == 2
        assert "at most 4096 can be written out" in refusal.err


def test_a_level_that_tells_nothing_needs_no_proof(utmost: Callable[..., Any]) -> None:
    assert "Nothing can be told at this level" in utmost("type", "line:3", "--alpha", "1", "--loss", "binary").out


@pytest.mark.parametrize(("space", "is_attained"), [("line:4", True), ("discrete:3", True), ("grid:3x3", False)])
def test_the_document_has_what_proves_a_capacity(utmost: Callable[..., Any], space: str, is_attained: bool) -> None:
    """Multiplied out from the document alone; the weights are checked with K = α^d in doubles, to 1e-12."""
    from utmost import spaces

    document = utmost("type", space, *HALF, "--capacity", "--json").document
    points = spaces.parse_space(space)
    for name, mean, power in (("multiplicative", max, 0.5), ("additive", min, 2.0)):
        proof = document["certificate"][name]
        rows = [[Fraction(entry) for entry in row] for row in proof["channel"]["rows"]]
        assert [sum(row) for row in rows] == [1] * len(points)
        total = sum(mean(column) for column in zip(*rows, strict=True))
        value = total if name == "multiplicative" else 1 - total
        assert Fraction(str(proof["lower"])) <= value <= Fraction(str(proof["upper"]))
        if is_attained:
            assert Fraction(document["capacity"][name]) == value
        for y in range(len(points)):
            coverage = sum(
                float(Fraction(w)) * power ** float(points.distance(x, y)) for x, w in enumerate(proof["weights"])
            )
            assert (coverage - 1) * (1 if power < 1 else -1) > -1e-12


@pytest.mark.slow
def test_bounds_are_rounded_outwards(utmost: Callable[..., Any]) -> None:
    """The additive capacity of a long cycle is below 1 by 10^−15047: its upper bound is 1, its lower one is not."""
    proof = utmost("type", "cycle:100000", *HALF, "--json").document["certificate"]
    assert proof["additive"]["lower"] < 1 == proof["additive"]["upper"]
    assert proof["multiplicative"]["lower"] < proof["multiplicative"]["upper"]
    assert proof["multiplicative"]["channel"] is proof["multiplicative"]["weights"] is None
