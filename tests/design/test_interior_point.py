"""Optimal mechanisms at size: certificates multiplied out again, against exact programs, scipy and themselves."""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from machine_speed import slowness
from strategies import levels, rational_levels, weights
from utmost.consumer import Consumer, losses, priors
from utmost.design import Design, by_program, optimal
from utmost.design.interior_point import interior_point_search, newton
from utmost.design.interior_point.exact_bounds import (
    Multipliers,
    exact_multipliers,
    exact_rows,
    lower_bound,
    make_private,
    to_integers,
)
from utmost.design.interior_point.memory import check_memory, largest_size, required_bytes
from utmost.design.interior_point.model import Model, build_model, first_pairs
from utmost.design.interior_point.orbits import trivial_orbits
from utmost.design.interior_point.predictor_corrector import iterate_path
from utmost.design.interior_point.threads import _thread_switches, one_thread, workers
from utmost.design.optimal import wide_design
from utmost.design.privacy_program import cost_bounds
from utmost.errors import InputError
from utmost.exact import Level, alpha, enclosure, epsilon
from utmost.spaces import Space, cycle, discrete, grid, hamming, line, parse_space, space

MAX_RELATIVE_GAP = Fraction(1, 10**9)


@st.composite
def metrics(draw: st.DrawFn, whole_numbers: bool = False) -> Space:
    """Spaces of 3 to 6 points; any distances in [1, 2] are a metric, and those of points in the plane are another."""
    size = draw(st.integers(3, 6))
    if not whole_numbers and draw(st.booleans()):
        points = draw(
            st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=size, max_size=size, unique=True)
        )
        return space([[f"sqrt({(a - c) ** 2 + (b - d) ** 2})" for c, d in points] for a, b in points])
    entries = st.integers(1, 2) if whole_numbers else st.sampled_from(["1", "5/4", "3/2", "2"])
    table = [[0] * size for _ in range(size)]
    for x, y in product(range(size), repeat=2):
        if x < y:
            table[x][y] = table[y][x] = draw(entries)
    return space(table)


@st.composite
def consumers(draw: st.DrawFn, size: int) -> Consumer:
    """Any prior, any loss, as many readings as points or more or fewer."""
    width = draw(st.integers(2, 6))
    table = draw(st.lists(st.lists(st.integers(0, 9), min_size=width, max_size=width), min_size=size, max_size=size))
    return Consumer(priors.explicit(draw(weights(size))), losses.matrix(table))


def asymmetric_reader(points: Space, loss: losses.Loss = losses.absolute) -> Consumer:
    """A prior with no symmetry: weights 1, 8, 27, … modulo 29."""
    raw = [pow(k + 1, 3, 29) + 1 for k in range(len(points))]
    return Consumer(priors.explicit([Fraction(w, sum(raw)) for w in raw]), losses.over(loss, points))


def uniform_reader(points: Space, loss: losses.Loss = losses.absolute) -> Consumer:
    return Consumer(priors.uniform(len(points)), losses.over(loss, points))


def check_certificate(points: Space, level: Level, reader: Consumer, design: Design) -> None:
    """The certificate multiplied out in fractions, on all pairs of points, from nothing but its definition.

    α^d and c are replaced by rational numbers 2^-200 away, on the side that makes the check harder.
    """
    entries, certificate = design.channel.rows, design.certificate
    lower_costs, upper_costs = (
        np.array([enclosure(c, 200)[k] for c in reader.costs().flat], dtype=object) for k in (0, 1)
    )
    size, width = entries.shape
    assert all(sum(row) == 1 for row in entries)
    assert min(entries.flat) >= 0
    for x, y in product(range(size), repeat=2):
        ratio = enclosure(level.power(points.distance(x, y)), 200)[1]
        assert all(entries[x, w] >= ratio * entries[y, w] for w in range(width))
    assert certificate.upper >= sum(upper_costs * entries.ravel()) - Fraction(1, 2**180)
    if certificate.proof.prices is None:
        return
    assert certificate.proof.multipliers is not None
    assert sum(certificate.proof.multipliers) == certificate.lower
    reduced_costs = lower_costs.reshape(size, width)
    for w, low, high, price in certificate.proof.prices:
        assert price >= 0
        reduced_costs[low, w] -= price
        reduced_costs[high, w] += enclosure(level.power(points.distance(low, high)), 200)[0] * price
    assert all(reduced_costs[x, w] >= certificate.proof.multipliers[x] for x in range(size) for w in range(width))


@given(metrics(whole_numbers=True), rational_levels(), st.data())
@settings(max_examples=40)
def test_the_bounds_contain_the_exact_optimum_as_fractions(points: Space, level: Level, data: st.DataObject) -> None:
    reader = data.draw(consumers(len(points)))
    exact, design = by_program(points, level, reader), wide_design(points, level, reader)
    assert exact.certificate.gap == 0
    assert design.certificate.lower <= exact.loss <= design.loss
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    check_certificate(points, level, reader, design)


@given(metrics(), levels(), st.data())
@settings(max_examples=25)
def test_irrational_data_get_bounds_that_meet_and_a_certificate_that_multiplies_out(
    points: Space, level: Level, data: st.DataObject
) -> None:
    reader = data.draw(consumers(len(points)))
    program_design, design = by_program(points, level, reader), wide_design(points, level, reader)
    assert design.certificate.lower <= program_design.certificate.upper
    assert program_design.certificate.lower <= design.certificate.upper
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    assert design.private
    check_certificate(points, level, reader, design)


def test_a_euclidean_grid_agrees_with_scipy_on_all_pairs() -> None:
    points, level = grid(4, 4), alpha("1/2")
    reader = asymmetric_reader(points)
    design = optimal(points, level, reader)
    assert design.certificate.proof.prices is not None
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    assert float(design.loss) == pytest.approx(scipy_optimum(points, level, reader), rel=1e-6)
    check_certificate(points, level, reader, design)


def scipy_optimum(points: Space, level: Level, reader: Consumer) -> float:
    """The program (3)–(7) of GRS12 over all pairs, in doubles, by scipy."""
    costs = reader.costs().astype(float)
    size, width = costs.shape
    triples = [(x, y, w) for x in range(size) for y in range(size) for w in range(width) if x != y]
    row_numbers, columns, values = [], [], []
    for row, (x, y, w) in enumerate(triples):
        row_numbers += [row, row]
        columns += [x * width + w, y * width + w]
        values += [1.0, -np.exp(level.epsilon * float(points.distance(x, y)))]
    constraints = csr_array((values, (row_numbers, columns)), shape=(len(triples), size * width))
    sums = csr_array((np.ones(size * width), (np.repeat(np.arange(size), width), np.arange(size * width))))
    return float(
        linprog(costs.ravel(), A_ub=constraints, b_ub=np.zeros(len(triples)), A_eq=sums, b_eq=np.ones(size)).fun
    )


@pytest.mark.parametrize("points", [grid(5, 5), cycle(24), hamming(4), discrete(20)], ids=str)
def test_one_reading_of_each_orbit_is_enough_for_a_consumer_with_the_symmetries(points: Space) -> None:
    level, reader = epsilon("0.7"), uniform_reader(points)
    costs = reader.costs().astype(float)
    symmetric, full = (
        interior_point_search(points, level, costs),
        interior_point_search(points, level, costs, symmetric=False),
    )
    assert len(symmetric.orbits.columns) < len(full.orbits.columns) == len(points)
    assert symmetric.upper == pytest.approx(full.upper, rel=2e-9)
    design = wide_design(points, level, reader)
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    assert float(design.loss) == pytest.approx(full.upper, rel=2e-9)


def test_a_skewed_consumer_has_no_orbits() -> None:
    points = grid(4, 4)
    assert (
        len(interior_point_search(points, alpha("1/2"), asymmetric_reader(points).costs().astype(float)).orbits.columns)
        == 16
    )


@pytest.mark.parametrize("calls", [1, 2, 9])
def test_an_interrupted_search_returns_the_best_mechanism_so_far_with_true_bounds(calls: int) -> None:
    points, level = grid(4, 4), alpha("1/2")
    reader, reports = asymmetric_reader(points), []

    def interrupt_after_calls(lower: float, upper: float) -> None:
        reports.append((lower, upper))
        if len(reports) == calls:
            raise KeyboardInterrupt

    complete = optimal(points, level, reader)
    interrupted = optimal(points, level, reader, interrupt_after_calls, keep_best=True)
    assert interrupted.stopped
    assert not complete.stopped
    assert interrupted.private
    assert interrupted.certificate.lower <= complete.loss
    assert complete.certificate.lower <= interrupted.loss
    assert interrupted.certificate.gap > MAX_RELATIVE_GAP * interrupted.loss
    check_certificate(points, level, reader, interrupted)


@pytest.mark.parametrize("points", [grid(4, 4), cycle(5), parse_space("2*line:4")], ids=lambda points: points.name)
def test_an_interrupt_is_raised_unless_the_best_so_far_is_asked_for(
    points: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the interior point, the linear program, and a line with another step."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[optimal.__module__], "certified_optimum", interrupt)
    monkeypatch.setattr(sys.modules[optimal.__module__], "remapped_geometric", interrupt)
    with pytest.raises(KeyboardInterrupt):
        optimal(points, alpha("1/2"), asymmetric_reader(points), interrupt)
    assert optimal(points, alpha("1/2"), asymmetric_reader(points), interrupt, keep_best=True).stopped


def test_an_interrupt_before_the_first_bound_returns_a_simple_private_mechanism(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[optimal.__module__], "certified_optimum", interrupt)
    design = optimal(cycle(5), alpha("1/2"), uniform_reader(cycle(5)), keep_best=True)
    assert design.stopped
    assert design.private
    assert design.loss < min(uniform_reader(cycle(5)).costs().sum(axis=0))
    assert design.certificate.lower == 0


@given(st.data(), levels(), st.booleans())
@settings(max_examples=40)
def test_any_multipliers_at_all_give_a_true_lower_bound(data: st.DataObject, level: Level, bounded: bool) -> None:
    points = grid(2, 3)
    reader = uniform_reader(points)
    best = by_program(points, level, reader)
    pairs = np.concatenate([points.edge_array, points.edge_array[:, ::-1]])
    low, high = (np.repeat(pairs[:, side], 6) for side in (0, 1))
    reading = np.tile(np.arange(6), len(pairs))
    multipliers = np.array(data.draw(st.lists(st.floats(), min_size=len(low), max_size=len(low))))
    if bounded:
        multipliers = np.clip(np.nan_to_num(multipliers), 0, 1) * data.draw(st.sampled_from([1e-6, 1e-2, 1.0]))
    u, proof = lower_bound(
        points, level, cost_bounds(reader, 112)[0], exact_multipliers(reading, low, high, multipliers, 112)
    )
    assert sum(u) <= best.certificate.upper
    assert all(value > 0 for *_, value in proof)


def test_corrupted_multipliers_of_a_real_proof_still_bound_from_below() -> None:
    points, level = grid(4, 4), epsilon(1)
    reader = asymmetric_reader(points)
    design = optimal(points, level, reader)
    proof = design.certificate.proof.prices
    assert proof is not None
    for stride in (2, 3, 50):
        values = proof.values.copy()
        values[::stride] *= 1.4
        worse = Multipliers(proof.reading, proof.low, proof.high, values, proof.bits)
        u, _ = lower_bound(points, level, cost_bounds(reader, 112)[0], worse)
        assert sum(u) < design.certificate.lower


def test_a_grid_of_25_points_is_certified_and_its_unused_points_are_never_answered() -> None:
    points, level = grid(5, 5), alpha("1/2")
    reports: list[tuple[float, float]] = []
    design = optimal(points, level, uniform_reader(points), lambda lower, upper: reports.append((lower, upper)))
    assert design.private
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    assert not any(design.channel.column("0,0"))
    assert sum(any(design.channel.rows[:, w]) for w in range(25)) == 9
    gaps = [upper - lower for lower, upper in reports]
    assert gaps == sorted(gaps, reverse=True)


def model_of(points: Space, level: Level, reader: Consumer) -> Model:
    costs = reader.costs().astype(float)
    return build_model(points, level, costs, np.arange(len(points)), trivial_orbits(*costs.shape))


@pytest.mark.parametrize("points", [grid(5, 5), discrete(30), cycle(9)], ids=str)
def test_the_first_pairs_go_both_ways_from_every_point(points: Space) -> None:
    low, high = first_pairs(points)
    pairs = set(zip(low.tolist(), high.tolist(), strict=True))
    edges = {(x, y) for x, y in points.edges} | {(y, x) for x, y in points.edges}
    assert pairs == {(y, x) for x, y in pairs} <= edges
    assert set(low) == set(range(len(points)))
    assert list(low) == sorted(low)


def test_every_iterate_is_private_on_all_pairs_though_few_are_worked_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utmost.design.interior_point.model.MAX_COMPLETE_PAIRS", 4)
    points, level = grid(5, 5), alpha("1/2")
    model = model_of(points, level, asymmetric_reader(points))
    low, high = np.nonzero(model.ratios)
    counts = []
    with workers(is_small=True) as pool:
        for _, iterate in zip(range(12), iterate_path(model, pool), strict=False):
            slack = iterate.entries[low] - model.ratios[low, high, None] * iterate.entries[high]
            assert (slack > -1e-15).all()
            assert iterate.lower < iterate.upper
            counts.append(sum(len(block.t) for block in iterate.blocks))
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] < len(low) * 25


def test_the_moves_of_clusters_are_those_of_their_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """H·ζ = z·force, solved in both kinds of unknowns; and Σ z·H⁻¹·z is the same in both."""
    points = grid(3, 4)
    with workers(is_small=True) as pool:
        iterates = list(islice(iterate_path(model_of(points, epsilon(1), asymmetric_reader(points)), pool), 8))
    columns = iterates[-1].blocks[0]
    force = np.cos(np.arange(144.0)).reshape(12, 12)
    monkeypatch.setattr(newton, "MAX_PAIR_WEIGHT", np.inf)
    plain = newton.factor_columns(columns)
    monkeypatch.setattr(newton, "MAX_PAIR_WEIGHT", 0.0)
    clustered = newton.factor_columns(columns)
    assert clustered.is_stiff
    assert not plain.is_stiff
    first, second = plain.solve(force), clustered.solve(force)
    assert np.allclose(first.total, second.total, rtol=1e-6, atol=1e-6 * np.abs(first.total).max())
    changes = second.slack_changes(columns)
    assert np.allclose(first.slack_changes(columns), changes, rtol=1e-5, atol=1e-6 * np.abs(changes).max())
    assert np.allclose(plain.coupling, clustered.coupling, rtol=1e-6, atol=1e-6 * np.abs(plain.coupling).max())
    moves = np.zeros((12, 12))
    for k, weight in enumerate(columns.v / columns.t):
        w, low, high = columns.low[k] // 12, columns.low[k] % 12, columns.high[k] % 12
        row = np.zeros(12)
        row[low] += columns.z[w, low]
        row[high] -= columns.ratio[k] * columns.z[w, high]
        moves[w] += weight * row * (row @ first.total[w])
    assert np.allclose(moves, columns.z * force, rtol=1e-6, atol=1e-6 * np.abs(columns.z).max())


SPACES = [cycle(12), hamming(3), discrete(9), grid(3, 4, "manhattan"), parse_space("grid:2x3+discrete:3"), grid(4, 4)]


@pytest.mark.parametrize("strength", ["1/100", "10"])
@pytest.mark.parametrize("points", SPACES, ids=str)
def test_any_space_gets_bounds_that_meet_for_weak_and_strong_privacy(points: Space, strength: str) -> None:
    """With a third of the weights 0 and losses from 10^−18 to 10^18; such rows cost a few digits at ε = 10."""
    size = len(points)
    weights_of_points = [k % 3 * (k + 1) for k in range(size)]
    prior = priors.explicit([Fraction(w, sum(weights_of_points)) for w in weights_of_points])
    table = [
        [Fraction(10) ** (3 * ((7 * x + 5 * w) % 13) - 18) if x != w else 0 for w in range(size)] for x in range(size)
    ]
    for loss in (losses.over(losses.absolute, points), losses.matrix(table)):
        design = wide_design(points, epsilon(strength), Consumer(prior, loss))
        design.certificate.check()
        assert design.private
        assert 0 <= design.certificate.gap <= design.loss / 10**7


def test_a_path_that_comes_no_nearer_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a goal that doubles cannot reach, the search ends, and what it has is certified."""
    module = sys.modules[interior_point_search.__module__]
    monkeypatch.setattr(module, "RELATIVE_GAP", 0.0)
    points = grid(3, 3)
    reader = asymmetric_reader(points)
    design = wide_design(points, alpha("1/2"), reader)
    assert 0 <= design.certificate.gap <= MAX_RELATIVE_GAP * design.loss


@pytest.mark.parametrize("strength", ["1e-9", "1e-6", "1/1000", "10"])
@pytest.mark.parametrize("loss", [losses.binary, losses.squared, losses.nib])
def test_any_strength_of_privacy_gets_bounds_that_meet(strength: str, loss: losses.Loss) -> None:
    points = grid(4, 4)
    design = optimal(points, epsilon(strength), asymmetric_reader(points, loss))
    assert design.private
    assert 0 <= design.certificate.gap <= MAX_RELATIVE_GAP * design.loss


def test_a_loss_far_below_the_precision_of_doubles_is_certified_relatively() -> None:
    """At ε = 50 the least loss is about e^-50 ≈ 10^-22."""
    points = grid(4, 4)
    design = optimal(points, epsilon(50), asymmetric_reader(points))
    assert design.loss < Fraction(1, 10**21)
    assert 0 <= design.certificate.gap <= MAX_RELATIVE_GAP * design.loss


def test_actions_that_are_no_points_are_named_and_served() -> None:
    points, level = grid(4, 5), epsilon(1)
    table = [[(3 * x + 5 * w) % 7 for w in range(11)] for x in range(20)]
    reader = Consumer(priors.uniform(20), losses.matrix(table))
    design = optimal(points, level, reader)
    assert design.channel.outputs == tuple(f"w{k}" for k in range(11))
    assert design.certificate.proof.prices is not None
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    assert float(design.loss) == pytest.approx(scipy_optimum(points, level, reader), rel=1e-6)


def test_a_line_with_an_illegal_loss_goes_the_wide_way_and_a_legal_one_does_not() -> None:
    points, level = line(40), epsilon("1/2")
    table = [[(x * w + x + 2 * w) % 5 for w in range(40)] for x in range(40)]
    design = optimal(points, level, Consumer(priors.uniform(40), losses.matrix(table)))
    assert design.certificate.proof.prices is not None
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
    legal = optimal(points, level, Consumer(priors.uniform(40), losses.absolute))
    assert legal.certificate.proof.prices is None
    assert legal.remap is not None


def test_a_reading_that_costs_nothing_is_the_whole_answer() -> None:
    points = grid(5, 5)
    table = [[0 if w == 3 else 1 + (x + w) % 4 for w in range(25)] for x in range(25)]
    design = optimal(points, epsilon(1), Consumer(priors.uniform(25), losses.matrix(table)))
    assert (design.loss, design.certificate.gap, design.privacy_loss.epsilon) == (0, 0, 0.0)


def test_what_memory_has_no_room_for_is_refused_with_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utmost.design.interior_point.memory.MAX_BYTES", 1 << 20)
    points = grid(5, 5)
    with pytest.raises(InputError, match=r"grid:5x5 for 25 readings needs about \d+ GB.*take about \d+ points"):
        optimal(points, alpha("1/2"), asymmetric_reader(points))


@pytest.mark.slow
def test_a_problem_without_room_is_refused_before_its_costs_are_written_as_fractions() -> None:
    points = grid(40, 40)
    start = time.process_time()
    with pytest.raises(InputError, match="needs about 10 GB"):
        optimal(points, alpha("1/2"), Consumer(priors.uniform(1600), losses.over(losses.absolute, points)))
    assert time.process_time() - start < 8 * slowness(), "3 s where it was written; a minute with fractions"


def test_400_places_fit_and_what_is_said_to_fit_does() -> None:
    check_memory(grid(20, 20), 400, 400)
    fitting = largest_size()
    assert 400 < fitting < 784
    assert required_bytes(fitting, fitting, fitting, fitting**2) <= 4 << 30


def test_a_space_that_cannot_be_written_out_is_refused_by_size() -> None:
    points = grid(50, 100)
    with pytest.raises(InputError, match=r"has 5000 points.* at most 4096: .*elsewhere about \d+"):
        optimal(points, alpha("1/2"), Consumer(priors.uniform(5000), losses.binary))
    with pytest.raises(InputError, match="at most 4096"):
        optimal(hamming(13), alpha("1/2"), Consumer(priors.uniform(1 << 13), losses.binary))


@given(st.lists(st.floats(0, 1e300, allow_subnormal=False), min_size=1, max_size=8), st.integers(0, 1200))
def test_doubles_are_cut_to_whole_multiples_exactly(values: list[float], bits: int) -> None:
    integers = to_integers(np.array(values), bits)
    assert [int(n) for n in integers] == [Fraction(value) * 2**bits // 1 for value in values]


@given(st.lists(st.lists(st.floats(1e-200, 1), min_size=3, max_size=3), min_size=1, max_size=4))
def test_rows_of_fractions_sum_to_exactly_one(raw: list[list[float]]) -> None:
    entries = np.array(raw)
    entries /= entries.sum(axis=1, keepdims=True)
    exact = exact_rows(entries)
    assert all(sum(row) == 1 for row in exact)
    assert np.allclose(exact.astype(float), entries, rtol=1e-12, atol=1e-15)


@given(st.lists(st.floats(-1e-6, 1e-6), min_size=9, max_size=9), st.integers(0, 8))
def test_rows_that_are_a_little_off_are_levelled_at_the_cost_of_a_few_times_that(
    off: list[float], reading: int
) -> None:
    """A mechanism without any slack, its rows not summing to 1: the columns are vertices, α^d from their points."""
    points = grid(3, 3, "manhattan")
    gaps = np.array([float(d) for d in points.values])[points.codes]
    columns = 0.5**gaps
    columns *= np.linalg.solve(columns, np.ones(9) + np.array(off))
    low, high = np.concatenate([points.edge_array, points.edge_array[:, ::-1]]).T
    mechanism = make_private(columns, low, high, 0.5 ** gaps[low, high], reading)
    assert np.allclose(mechanism.sum(axis=1), 1, atol=1e-14)
    assert (mechanism[low] - 0.5 ** gaps[low, high][:, None] * mechanism[high]).min() > -1e-14
    assert np.abs(mechanism - columns).max() < 20 * np.abs(off).max(initial=0.0) + 1e-14


def test_blas_gets_its_threads_back() -> None:
    before = [get_threads() for get_threads, _ in _thread_switches()]
    with one_thread():
        assert all(get_threads() == 1 for get_threads, _ in _thread_switches())
    assert [get_threads() for get_threads, _ in _thread_switches()] == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("missing", [0.0, pytest.param(1e-12, marks=pytest.mark.slow)])
def test_a_level_that_doubles_cannot_tell_from_1_is_levelled_without_a_warning(missing: float) -> None:
    """α = 1 − 10⁻³⁰ is 1 in doubles: rows that lack the same are levelled, others stay as they are."""
    points = grid(3, 3)
    low, high = np.concatenate([points.edge_array, points.edge_array[:, ::-1]]).T
    entries = np.full((9, 2), 0.5 - 1e-13)
    entries[0] -= missing
    mechanism = make_private(entries, low, high, np.ones(len(low)), 0)
    assert np.isfinite(mechanism).all()
    assert np.allclose(mechanism.sum(axis=1), 1, atol=1e-10)
    design = optimal(grid(5, 5), alpha(1 - Fraction(1, 10**30)), asymmetric_reader(grid(5, 5)))
    assert design.private
    assert design.certificate.gap <= design.loss / 10**9


@pytest.mark.parametrize("unit", ["1e-250", "1e-40", "1e40", "1e250"])
def test_the_unit_of_a_loss_does_not_matter(unit: str) -> None:
    """|i − j| on 16 places, in units from 10^−250 to 10^250: the bounds meet as they do in units of 1."""
    points = grid(4, 4)
    table = [[Fraction(unit) * abs(i - j) for j in range(16)] for i in range(16)]
    design = optimal(points, alpha("1/2"), Consumer(priors.uniform(16), losses.matrix(table)))
    assert design.private
    assert design.certificate.gap <= MAX_RELATIVE_GAP * design.loss
