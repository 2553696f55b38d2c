"""Optima where privacy is weak: numbers of 10⁻³⁰ and far below, against an exact second method."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lp.programs import ppl_optimum
from utmost.channel import Channel, Matrix
from utmost.channel.channel import trusted_channel
from utmost.cli import main
from utmost.consumer import Consumer, Minimax, losses, priors
from utmost.consumer.consumer import remap_program
from utmost.consumer.losses import square
from utmost.design import by_program, capacity, optimal
from utmost.design.minimax import minimax_optimal
from utmost.design.optimal import program_attempt
from utmost.design.privacy_program import minimax_program, privacy_program
from utmost.design.universal import universally_optimal
from utmost.exact import alpha, epsilon
from utmost.lp import LinearProgram, ProgramCertificate, certified_optimum, is_unique, verify_certificate
from utmost.lp import simplex as exact_simplex
from utmost.mechanisms import geometric
from utmost.qif.refinement import refinement
from utmost.spaces import Space, grid, line, space

LOSSES = ("nib", "binary", "absolute", "squared", "random")
LEVELS = (Fraction(3, 4), Fraction(1, 2), Fraction(1, 10))


def random_metric(size: int, largest: int, seed: int, *, in_line: bool) -> Space:
    """A random integer metric; unless `in_line`, no point lies between two others, so every pair is generating."""
    rng = random.Random(seed)
    least = 1 if in_line else largest // 2 + 1
    distances = [[0] * size for _ in range(size)]
    for x in range(size):
        for z in range(x):
            distances[x][z] = distances[z][x] = rng.randint(least, largest)
    for middle in range(size):
        for x in range(size):
            for z in range(size):
                distances[x][z] = min(distances[x][z], distances[x][middle] + distances[middle][z])
    return space(distances)


def random_costs(kind: str, points: Space, seed: int) -> Matrix:
    rng = random.Random(seed)
    weights = [Fraction(rng.randint(1, 20)) for _ in range(len(points))]
    values = {
        "nib": lambda x, w: Fraction(int(x == w)),
        "binary": lambda x, w: Fraction(int(x != w)),
        "absolute": lambda x, w: Fraction(points.distance(x, w)),
        "squared": lambda x, w: Fraction(points.distance(x, w)) ** 2,
        "random": lambda x, w: Fraction(rng.randint(0, 30), rng.randint(1, 9)),
    }[kind]
    size = range(len(points))
    return np.array([[values(x, w) * weights[x] / sum(weights) for w in size] for x in size], dtype=object)


def assert_exact(program: LinearProgram) -> ProgramCertificate:
    certificate = certified_optimum(program)
    assert certificate.gap == 0
    assert ("optimized", certificate.upper) == ppl_optimum(program)
    return certificate


@pytest.mark.few
@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_the_optimum_at_any_level_is_the_fraction_of_an_exact_solver(size: int, kind: str) -> None:
    for seed, (rate, largest) in enumerate((rate, largest) for rate in LEVELS for largest in (4, 30, 120)):
        points = random_metric(size, largest, seed, in_line=seed % 2 == 0)
        assert_exact(privacy_program(points, alpha(rate), random_costs(kind, points, seed)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nib", "random"])
def test_seven_points_that_are_far_apart_have_their_exact_optimum(kind: str) -> None:
    points = random_metric(7, 217, 1, in_line=False)
    assert_exact(privacy_program(points, alpha("3/4"), random_costs(kind, points, 1)))


def test_a_loss_that_is_largest_at_the_truth_reaches_its_tiny_optimum() -> None:
    points = random_metric(7, 217, 2, in_line=False)
    reader = Consumer(priors.uniform(7), losses.over(losses.parse("nib"), points))
    design = optimal(points, alpha("3/4"), reader)
    assert design.certificate.gap == 0
    assert 0 < design.loss < Fraction(1, 10**15)


@pytest.mark.slow
def test_ten_points_that_are_far_apart_have_their_exact_optimum() -> None:
    """The program is at the size up to which exact steps have no limit."""
    points = random_metric(10, 217, 3, in_line=False)
    for kind in ("nib", "absolute"):
        program = privacy_program(points, alpha("1/10"), random_costs(kind, points, 3))
        assert 1000 < sum(program.shape) <= exact_simplex.MAX_SCRATCH_SIZE
        certificate = certified_optimum(program)
        assert verify_certificate(program, certificate.proof.x, certificate.proof.y).gap == 0


def test_bounds_are_never_worse_than_the_trivial_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no exact step allowed the program is left with a gap, within the losses with all and with no answer."""
    monkeypatch.setattr("utmost.lp.optimum._pivot_from_bases", lambda program, bases: None)
    for seed, kind in enumerate(LOSSES):
        points = random_metric(6, 120, seed, in_line=False)
        costs = random_costs(kind, points, seed)
        attempt = program_attempt(points, alpha("1/10"), costs)
        lower, rows = attempt.bound.lower, attempt.rows
        assert lower >= sum(min(row) for row in costs) >= 0
        assert lower <= (costs * rows).sum() <= min(costs.sum(axis=0))


@pytest.mark.parametrize("seed", range(4))
def test_the_program_on_a_line_agrees_with_the_closed_form_at_weak_privacy(seed: int) -> None:
    rng = random.Random(seed)
    weights = [rng.randint(0, 50) for _ in range(16)]
    reader = Consumer(priors.explicit([Fraction(w, sum(weights)) for w in weights]), losses.absolute)
    design = by_program(line(16), alpha("1/1000"), reader)
    assert design.certificate.gap == 0
    assert design.loss == optimal(line(16), alpha("1/1000"), reader).loss


def test_minimax_optima_at_weak_privacy_are_exact() -> None:
    for seed, kind in enumerate(("nib", "binary", "absolute")):
        points = random_metric(5, 60, seed, in_line=False)
        reader = Minimax(losses.over(losses.parse(kind), points))
        design = minimax_optimal(points, alpha("1/10"), reader)
        assert ("optimized", design.loss) == ppl_optimum(
            minimax_program(points, alpha("1/10"), reader.loss.matrix(len(points)))
        )
        assert design.certificate.gap == 0


def test_uniqueness_is_decided_at_weak_privacy() -> None:
    points = random_metric(4, 40, 5, in_line=False)
    program = privacy_program(points, alpha("1/10"), random_costs("absolute", points, 5))
    assert is_unique(program, assert_exact(program)).unique


def optimal_channel(kind: str, points: Space, seed: int) -> Channel:
    program = privacy_program(points, alpha("1/10"), random_costs(kind, points, seed))
    entries = np.array(certified_optimum(program).proof.x, dtype=object).reshape(len(points), len(points))
    return trusted_channel(points.labels, points.labels, entries)


@pytest.mark.parametrize("kind", ["nib", "binary", "absolute"])
def test_minimax_readings_of_weakly_private_channels_are_exact(kind: str) -> None:
    points = random_metric(5, 60, 1, in_line=False)
    reader, source = Minimax(losses.over(losses.parse(kind), points)), optimal_channel("random", points, 1)
    certificate = reader.reading(source).certificate
    assert certificate.gap == 0
    assert ("optimized", certificate.upper) == ppl_optimum(remap_program(source, square(reader.loss, 5)))


@pytest.mark.parametrize("seed", range(3))
def test_capacities_at_weak_privacy_are_the_fractions_of_an_exact_solver(seed: int) -> None:
    """The largest and the least sum of a diagonal (FMPD23 Cor. 17, 18), by the consumer's program."""
    points = random_metric(5, 60, seed, in_line=False)
    found = capacity(points, alpha("1/10"))
    diagonal = np.array([[Fraction(int(x == w)) for w in range(5)] for x in range(5)], dtype=object)
    largest, least = (ppl_optimum(privacy_program(points, alpha("1/10"), sign * diagonal))[1] for sign in (-1, 1))
    assert largest is not None
    assert least is not None
    assert (found.multiplicative.value, found.additive.value) == (-largest, 1 - least)
    assert found.multiplicative.exact
    assert found.additive.exact


@pytest.mark.parametrize("seed", range(3))
def test_refinement_is_decided_to_the_last_entry_at_weak_privacy(seed: int) -> None:
    rng, points = random.Random(seed), random_metric(4, 60, seed, in_line=False)
    rows = np.concatenate([optimal_channel(kind, points, seed).rows / 2 for kind in ("absolute", "nib")], axis=1)
    source = trusted_channel(points.labels, range(8), rows)
    weights = np.array([[Fraction(rng.randint(1, 9)) for _ in range(3)] for _ in range(8)], dtype=object)
    remap = weights / weights.sum(axis=1, keepdims=True)
    assert refinement(source, trusted_channel(points.labels, range(3), rows @ remap)).refines
    sharper = rows.copy()
    entry, best = min(range(8), key=lambda k: rows[0, k] or 1), int(np.argmax(rows[0]))
    assert 0 < rows[0, entry] < Fraction(1, 10**30)
    sharper[0, [entry, best]] = [rows[0, entry] / 2, rows[0, best] + rows[0, entry] / 2]
    verdict = refinement(source, trusted_channel(points.labels, range(8), sharper))
    assert verdict.witness is not None
    assert verdict.witness.with_a > verdict.witness.with_b


def test_the_geometric_mechanism_is_universally_optimal_at_weak_privacy_too() -> None:
    """GRS12 Thm 3.2, decided without it, at α³ = 10⁻³⁰; one that is a little more private is not."""
    rate, larger_rate = alpha(Fraction(1, 10**10)), alpha(Fraction(10001, 10**14))
    assert universally_optimal(line(4), rate, losses.absolute, geometric(3, rate)).optimal
    assert not universally_optimal(line(4), rate, losses.absolute, geometric(3, larger_rate)).optimal


@pytest.mark.parametrize("rate", ["8", "25"])
def test_irrational_programs_at_weak_privacy_are_bounded_relative_to_their_loss(rate: str) -> None:
    places = grid(3, 3)
    design = optimal(places, epsilon(rate), Consumer(priors.uniform(9), losses.parse("nib")))
    assert 0 < design.certificate.lower <= design.loss <= design.certificate.lower * (1 + Fraction(1, 10**9))


def test_a_gap_of_a_rational_program_is_not_laid_to_irrational_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def with_gap(program: LinearProgram) -> ProgramCertificate:
        return replace(certified_optimum(program), lower=Fraction(0))

    monkeypatch.setattr(sys.modules["utmost.design.optimal"], "certified_optimum", with_gap)
    with pytest.raises(SystemExit):
        main(["optimal", "grid:2x2:manhattan", "--alpha", "1/10", "--loss", "nib"])
    text = " ".join(capsys.readouterr().out.split())
    assert "less: proved by exact multipliers of the linear program" in text
    assert "irrational" not in text
