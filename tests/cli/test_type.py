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
    found = utmost("type", space, *HALF, "--vertices", "--kernels", "--count", "--json").document
    assert (found["vertices"], found["kernels"]) == (vertices, kernels)


def test_every_kernel_that_is_listed_averages_to_the_uniform_prior(utmost: Callable[..., Any]) -> None:
    found = utmost("type", "line:4", *HALF, "--vertices", "--kernels", "--json").document
    posteriors = [[Fraction(p) for p in one["posterior"]] for one in found["vertices"]]
    assert len(posteriors) == 8
    assert len(found["kernels"]) == 11
    for kernel in found["kernels"]:
        weights = [Fraction(w) for w in kernel["weights"]]
        mean = [sum(w * posteriors[v][x] for w, v in zip(weights, kernel["vertices"], strict=True)) for x in range(4)]
        assert mean == [Fraction(1, 4)] * 4
        assert min(weights) > 0


def test_what_is_saved_is_what_is_listed(utmost: Callable[..., Any]) -> None:
    listed = utmost("type", "cycle:4", *HALF, "--vertices", "--kernels", "--json").document
    said = utmost("type", "cycle:4", *HALF, "--vertices", "--kernels", "--save", "all.jsonl", "--json")
    lines = [json.loads(line) for line in Path("all.jsonl").read_text(encoding="utf-8").splitlines()]
    vertices = [{"posterior": line["posterior"]} for line in lines if "vertex" in line]
    kernels = [{"vertices": line["vertices"], "weights": line["weights"]} for line in lines if "kernel" in line]
    assert (vertices, kernels) == (listed["vertices"], listed["kernels"])
    assert (said.document["vertices"], said.document["kernels"]) == (len(vertices), len(kernels))
    assert "saved all.jsonl" in said.err


def test_capacities_of_a_million_secrets_are_exact(utmost: Callable[..., Any]) -> None:
    found = utmost("type", "hamming:20", *HALF, "--capacity", "--json").document
    assert found["points"] == 2**20
    assert Fraction(found["capacity"]["multiplicative"]) == Fraction(4, 3) ** 20
    assert Fraction(found["capacity"]["additive"]) == 1 - Fraction(2, 3) ** 20
    assert found["certificate"]["multiplicative"]["gap"] == "0"


def test_a_long_cycle_has_its_capacities_too(utmost: Callable[..., Any]) -> None:
    found = utmost("type", "cycle:100000", *HALF, "--json").document
    assert found["capacity"]["multiplicative"] == pytest.approx(100_000 / 3, rel=1e-11)
    text = utmost("type", "cycle:100000", *HALF).out
    assert "Additive capacity 1 − " in text


def test_an_irrational_capacity_has_a_gap_below_1e_12(utmost: Callable[..., Any]) -> None:
    found = utmost("type", "grid:3x3", "--epsilon", "0.5", "--json").document
    for name in ("multiplicative", "additive"):
        assert isinstance(found["capacity"][name], float)
        assert 0 < found["certificate"][name]["gap"] < 1e-12


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
    found = utmost("type", space, *HALF, "--loss", loss, "--json").document["universal"]
    assert found["exists"] is exists
    assert bool(found["objections"]) is not exists
    for one in found["objections"]:
        assert Fraction(one["better_loss"]) < Fraction(one["loss"])
    text = utmost("type", space, *HALF, "--loss", loss).out
    assert ("No mechanism is the best" in text) is not exists


def test_a_mechanism_in_a_file_is_judged(utmost: Callable[..., Any]) -> None:
    utmost("mechanism", "geometric", "--size", "2", *HALF, "--output", "g.csv")
    asked = ("type", "line:3", *HALF, "--loss", "squared", "--channel")
    assert utmost(*asked, "g.csv", "--json").document["universal"]["optimal"] is True
    assert "This mechanism is the best" in utmost(*asked, "g.csv").out
    Path("flat.csv").write_text("x,a\n0,1\n1,1\n2,1\n")
    told = utmost(*asked, "flat.csv", "--json").document["universal"]
    assert told["optimal"] is False
    assert Fraction(told["objections"][0]["better_loss"]) < Fraction(told["objections"][0]["loss"])
    assert "NOT the best" in utmost(*asked, "flat.csv").out


@pytest.mark.parametrize("space", ["line:3", "grid:2x2"])
def test_the_region_is_drawn_for_three_and_four_secrets(utmost: Callable[..., Any], space: str) -> None:
    assert "drew region.svg" in utmost("type", space, *HALF, "--plot", "region.svg").err
    assert Path("region.svg").read_text().startswith("<svg")


def test_a_mechanism_is_drawn_inside_its_region(utmost: Callable[..., Any]) -> None:
    utmost("mechanism", "geometric", "--size", "2", *HALF, "--output", "g.csv")
    utmost("type", "line:3", *HALF, "--channel", "g.csv", "--plot", "g.svg")
    assert "posteriors" in Path("g.svg").read_text()


@pytest.mark.parametrize(("alpha", "vertices", "kernels"), [("0", 4, 1), ("1", 1, 1)])
def test_the_ends_are_answered(utmost: Callable[..., Any], alpha: str, vertices: int, kernels: int) -> None:
    found = utmost("type", "line:4", "--alpha", alpha, "--vertices", "--kernels", "--capacity", "--json").document
    assert (len(found["vertices"]), len(found["kernels"])) == (vertices, kernels)
    assert found["capacity"] == {"multiplicative": str(vertices), "additive": "1" if alpha == "0" else "0"}
    assert utmost("type", "line:4", "--alpha", alpha, "--vertices", "--kernels", "--count").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
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
def test_bad_input_is_one_line(utmost: Callable[..., Any], arguments: tuple[str, ...], words: str) -> None:
    said = utmost("type", *arguments)
    assert said.code == 2
    assert words in said.err
    assert said.err.count("\n") == 1


def test_one_kernel_mechanism_is_shown_and_saved(utmost: Callable[..., Any]) -> None:
    found = utmost("type", "line:3", *HALF, "--kernel", "1", "--output", "k.csv", "--json").document["kernel"]
    assert found["outputs"] == [0, 2, 3]
    assert "it is a kernel mechanism" in utmost("check", "k.csv", *HALF).out
    assert "--kernel must be the number" in utmost("type", "line:3", *HALF, "--kernel", "2").err
    assert "--output must come with --kernel" in utmost("type", "line:3", *HALF, "--output", "k.csv").err


@pytest.mark.parametrize(("alpha", "vertices"), [("0", 2**20), ("1", 1)])
def test_at_the_ends_a_million_secrets_are_counted_and_not_listed(
    utmost: Callable[..., Any], alpha: str, vertices: int
) -> None:
    level = ("--alpha", alpha)
    found = utmost("type", "hamming:20", *level, "--vertices", "--kernels", "--count", "--json").document
    assert (found["vertices"], found["kernels"]) == (vertices, 1)
    for what in (("--vertices",), ("--kernels",), ("--kernel", "0"), ("--loss", "binary")):
        refused = utmost("type", "hamming:20", *level, *what)
        assert refused.code == 2
        assert "at most 4096 can be written out" in refused.err


def test_a_level_that_tells_nothing_needs_no_proof(utmost: Callable[..., Any]) -> None:
    assert "Nothing can be told at this level" in utmost("type", "line:3", "--alpha", "1", "--loss", "binary").out


@pytest.mark.parametrize(("space", "attained"), [("line:4", True), ("discrete:3", True), ("grid:3x3", False)])
def test_the_document_has_what_proves_a_capacity(utmost: Callable[..., Any], space: str, attained: bool) -> None:
    """Multiplied out from the document alone; the weights are checked with K = α^d in doubles, to 1e-12."""
    from utmost import spaces

    found = utmost("type", space, *HALF, "--capacity", "--json").document
    points = spaces.parse_space(space)
    for name, mean, power in (("multiplicative", max, 0.5), ("additive", min, 2.0)):
        proof = found["certificate"][name]
        rows = [[Fraction(entry) for entry in row] for row in proof["channel"]["rows"]]
        assert [sum(row) for row in rows] == [1] * len(points)
        total = sum(mean(column) for column in zip(*rows, strict=True))
        value = total if name == "multiplicative" else 1 - total
        assert Fraction(str(proof["lower"])) <= value <= Fraction(str(proof["upper"]))
        if attained:
            assert Fraction(found["capacity"][name]) == value
        for y in range(len(points)):
            covered = sum(
                float(Fraction(w)) * power ** float(points.distance(x, y)) for x, w in enumerate(proof["weights"])
            )
            assert (covered - 1) * (1 if power < 1 else -1) > -1e-12


def test_bounds_are_rounded_outwards(utmost: Callable[..., Any]) -> None:
    """The additive capacity of a long cycle is below 1 by 10^−15047: its upper bound is 1, its lower one is not."""
    proof = utmost("type", "cycle:100000", *HALF, "--json").document["certificate"]
    assert proof["additive"]["lower"] < 1 == proof["additive"]["upper"]
    assert proof["multiplicative"]["lower"] < proof["multiplicative"]["upper"]
    assert proof["multiplicative"]["channel"] is proof["multiplicative"]["weights"] is None
