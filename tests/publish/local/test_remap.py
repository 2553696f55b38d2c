"""Beliefs over a grid, guesses, and a prior estimated from the reports: against brute force."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import dist, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from utmost.errors import InputError
from utmost.exact import epsilon
from utmost.publish.local import (
    CategoryMechanism,
    DegreeCoordinates,
    LocationMechanism,
    LocationPrior,
    PlaneCoordinates,
    TableMetadata,
    obfuscate,
    read_locations,
    recovery,
    remap,
)
from utmost.publish.local.remap import deconvolve, gather_reports, rectangle_cells, remap_reports, weighted_grid

GRID = [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (3.0, 3.0)]
COORDINATE = st.floats(-6, 6, allow_subnormal=False)
POINTS = st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, max_size=6)
LOSSES = {
    "euclidean": dist,
    "squared": lambda w, g: dist(w, g) ** 2,
    "binary": lambda w, g: float(w != g),
}


@given(POINTS, st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any), st.sampled_from(list(LOSSES)))
@settings(max_examples=80)
def test_the_guess_has_the_least_expected_loss_by_bayes_rule(points, weights, loss: str) -> None:
    rate, total = 0.7, sum(weights)
    result = remap_reports(points, weighted_grid(GRID, weights), loss, rate)
    for k, y in enumerate(points):
        joint = [w / total * exp(-rate * dist(y, g)) for w, g in zip(weights, GRID, strict=True)]
        belief = [j / sum(joint) for j in joint]
        costs = [sum(b * LOSSES[loss](w, g) for b, g in zip(belief, GRID, strict=True)) for w in GRID]
        assert costs[result.guesses[k]] == pytest.approx(min(costs), abs=1e-5)
        assert result.losses[k] == pytest.approx(min(costs), abs=1e-5)


def test_far_reports_and_places_without_weight_are_no_trouble() -> None:
    grid = weighted_grid(GRID, [0, 1, 0, 1])
    result = remap_reports([[1e5, 1e5], [-1e5, -1e5]], grid, "euclidean", 5.0)
    assert result.guesses.tolist() == [3, 1]
    assert np.isfinite(result.losses).all()


def test_chunks_do_not_change_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(1).normal(size=(50, 2))
    at_once = remap_reports(points, weighted_grid(GRID, [1, 2, 3, 4]), "squared", 1.0)
    estimate = deconvolve(points, np.array(GRID), 1.0)
    monkeypatch.setattr(remap, "CHUNK_ENTRIES", 12)
    monkeypatch.setattr(remap, "MAX_KEPT_ENTRIES", 0)
    in_chunks = remap_reports(points, weighted_grid(GRID, [1, 2, 3, 4]), "squared", 1.0)
    assert in_chunks.guesses.tolist() == at_once.guesses.tolist()
    assert deconvolve(points, np.array(GRID), 1.0).weights == pytest.approx(estimate.weights)


def log_likelihood(points: np.ndarray, weights: np.ndarray, rate: float) -> float:
    """Per report, from the definition, up to a constant."""
    terms = [log(sum(w * exp(-rate * dist(y, g)) for w, g in zip(weights, GRID, strict=True))) for y in points.tolist()]
    return sum(terms) / len(terms)


@pytest.mark.parametrize("seed", range(4))
def test_em_finds_the_largest_likelihood_and_its_gap_is_a_bound(seed: int) -> None:
    """Against a constrained optimiser of scipy on four places, and against the gap that EM itself claims."""
    random, rate = np.random.default_rng(seed), 1.2
    locations, truth = np.array(GRID), np.array([0.5, 0.1, 0.1, 0.3])
    points = locations[random.choice(4, 60, p=truth)] + random.laplace(0, 0.6, (60, 2))
    solution = optimize.minimize(
        lambda w: -log_likelihood(points, w, rate),
        np.full(4, 0.25),
        method="SLSQP",
        bounds=[(1e-9, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    best = -float(solution.fun)
    for gap in (0.1, 0.01, 1e-6):
        result = deconvolve(points, locations, rate, rounds=20_000, gap=gap)
        reached = log_likelihood(points, result.weights, rate)
        assert result.gap <= gap
        assert best - 1e-7 <= reached + result.gap
        assert result.weights.sum() == pytest.approx(1)
    assert result.weights == pytest.approx(solution.x, abs=5e-3)


def test_em_rounds_never_lower_the_likelihood() -> None:
    points = np.random.default_rng(5).normal(size=(40, 2))
    values = [
        log_likelihood(points, deconvolve(points, np.array(GRID), 1.0, rounds=k, gap=0.0).weights, 1.0)
        for k in range(1, 12)
    ]
    assert all(after >= before - 1e-12 for before, after in itertools.pairwise(values))


def test_a_round_of_em_is_the_formula() -> None:
    """π_g·mean_y K_yg/Σ_h π_h·K_yh from equal weights, by hand."""
    points = [(0.5, 0.5), (3.0, 2.0)]
    likelihoods = [[exp(-dist(y, g)) for g in GRID] for y in points]
    weights = [sum(row[k] / sum(row) for row in likelihoods) / len(points) for k in range(len(GRID))]
    assert deconvolve(points, np.array(GRID), 1.0, rounds=1, gap=0.0).weights == pytest.approx(weights)


def test_counts_stand_for_repeated_reports() -> None:
    points = np.array([[0.1, 0.2], [2.5, 2.0], [0.0, 1.5]])
    repeated = np.repeat(points, [3, 1, 2], axis=0)
    by_counts, by_rows = deconvolve(points, np.array(GRID), 1.0, [3, 1, 2]), deconvolve(repeated, np.array(GRID), 1.0)
    assert by_counts.weights == pytest.approx(by_rows.weights)


@given(st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, max_size=40), st.sampled_from([0.1, 0.7, 3.0]))
def test_reports_are_put_together_within_half_a_diagonal(points, width: float) -> None:
    middles, counts = gather_reports(points, width)
    assert counts.sum() == len(points)
    distances = remap.distances(np.array(points), middles).min(axis=1)
    assert (distances <= width / 2**0.5 + 1e-9).all()
    assert len({tuple(m) for m in middles.round(6).tolist()}) == len(middles)


def test_a_rectangle_has_square_cells() -> None:
    cells = rectangle_cells(0, 0, 4, 2, 4)
    assert cells.tolist() == [[x + 0.5, y + 0.5] for y in (0, 1) for x in (0, 1, 2, 3)]
    assert rectangle_cells(1, 2, 1, 2, 5).tolist() == [[1, 2]]


def test_bad_grids_points_and_losses_are_refused() -> None:
    for locations, weights in (
        ([[0, 0]], [0]),
        ([[0, 0]], [-1]),
        ([[0, 0]], [np.nan]),
        ([[0, 0]], []),
        ([[0, np.inf]], [1]),
        ([[0]], [1]),
    ):
        with pytest.raises(InputError, match="grid"):
            weighted_grid(locations, weights)
    with pytest.raises(InputError, match="sum to 1"):
        LocationPrior(np.zeros((2, 2)), np.array([0.5, 0.6]))
    grid = weighted_grid(GRID, [1, 1, 1, 1])
    with pytest.raises(InputError, match="loss must be one of"):
        remap_reports([[0, 0]], grid, "hinge", 1.0)
    for points in ([[0, 0, 0]], [[0, np.nan]], [1, 2]):
        with pytest.raises(InputError, match="points must be"):
            remap_reports(points, grid, "binary", 1.0)
    with pytest.raises(InputError, match="got none"):
        deconvolve(np.zeros((0, 2)), np.array(GRID), 1.0)
    with pytest.raises(InputError, match="within"):
        gather_reports([[0, 0], [1e12, 1e12]], 1e-3)


CITY = LocationMechanism(
    "lon",
    "lat",
    epsilon(4),
    "km",
    Fraction(1, 100),
    DegreeCoordinates((Fraction(0), Fraction(50))),
    tuple(map(Fraction, (-1, 49, 1, 51))),
)  # type: ignore[arg-type]


def test_two_towns_come_back_from_their_obfuscated_people_in_degrees(tmp_path) -> None:
    """Two towns 130 km apart, noise of half a kilometre: the map has their shares, and guesses are in the right one."""
    rows = ["0.5,50.5"] * 1500 + ["-0.5,49.5"] * 500
    (tmp_path / "in.csv").write_text("lon,lat\n" + "\n".join(rows) + "\n")
    metadata = obfuscate(CITY, tmp_path / "in.csv", tmp_path / "out.csv", in_order=True)
    reading = read_locations(metadata, tmp_path / "out.csv", "euclidean", None, 20)
    north = reading.weights[(reading.locations[:, 1] > 50)].sum()
    assert north == pytest.approx(0.75, abs=0.01)
    assert reading.estimated
    likeliest_location = reading.locations[reading.weights.argmax()]
    assert likeliest_location == pytest.approx([0.5, 50.5], abs=0.1)
    assert (reading.guesses[:1500, 1] > 50).mean() > 0.99


def test_a_given_prior_is_used_as_it_is(tmp_path) -> None:
    mechanism = LocationMechanism("x", "y", epsilon(1), "km", Fraction(1, 10), PlaneCoordinates("m"))
    (tmp_path / "in.csv").write_text("x,y\n1000,2000\n5000,5000\n")
    (tmp_path / "map.csv").write_text("weight,x,y,name\n3,1000,2000,a\n1,5031,5000,b\n")
    metadata = obfuscate(mechanism, tmp_path / "in.csv", tmp_path / "out.csv")
    reading = read_locations(metadata, tmp_path / "out.csv", "binary", tmp_path / "map.csv")
    assert reading.locations.tolist() == [[1000, 2000], [5000, 5000]]  # moved to the lattice, as a row's place is
    assert reading.weights.tolist() == [0.75, 0.25]
    assert not reading.estimated
    assert {tuple(g) for g in reading.guesses.tolist()} <= {(1000, 2000), (5000, 5000)}


@pytest.mark.parametrize("many", [True, False])
def test_very_many_reports_are_put_together_for_the_map(many: bool, tmp_path, monkeypatch) -> None:
    mechanism = LocationMechanism("x", "y", epsilon(2), "km", Fraction(1, 100), PlaneCoordinates("km"))
    (tmp_path / "in.csv").write_text("x,y\n" + "1,1\n" * 300 + "9,9\n" * 100)
    metadata = obfuscate(mechanism, tmp_path / "in.csv", tmp_path / "out.parquet")
    monkeypatch.setattr(recovery, "MAX_UNGATHERED_ENTRIES", 0 if many else 1 << 40)
    reading = read_locations(metadata, tmp_path / "out.parquet", "squared", None, 5)
    assert reading.weights[reading.locations.sum(axis=1) < 10].sum() == pytest.approx(0.75, abs=0.03)


def test_a_table_or_prior_that_is_not_what_it_must_be_is_refused(tmp_path) -> None:
    mechanism = LocationMechanism("x", "y", epsilon(1), "km", Fraction(1, 10), PlaneCoordinates("km"))
    metadata = TableMetadata(mechanism, 1, "kept", (), "")
    for content, message in (("x,y\n1,2\n3,4\n", "1 rows of its note"), ("x,y\nsecret,1\n", "two finite numbers")):
        (tmp_path / "out.csv").write_text(content)
        with pytest.raises(InputError, match=message) as problem:
            read_locations(metadata, tmp_path / "out.csv")
        assert "secret" not in str(problem.value)
    (tmp_path / "out.csv").write_text("x,y\n")
    with pytest.raises(InputError, match="some rows"):
        read_locations(TableMetadata(mechanism, 0, "kept", (), ""), tmp_path / "out.csv")
    (tmp_path / "out.csv").write_text("x,y\n1,2\n")
    for content in ("x,y\n1,2\n", "x,y,weight\n", "x,y,weight\n1,2,x\n", "x,y,weight\n1,2,-1\n"):
        (tmp_path / "map.csv").write_text(content)
        with pytest.raises(InputError, match=r"must have|must be"):
            read_locations(metadata, tmp_path / "out.csv", prior=tmp_path / "map.csv")
    with pytest.raises(InputError, match="must be of places"):
        read_locations(
            TableMetadata(CategoryMechanism("v", epsilon(1), ("a", "b")), 1, "kept", (), ""), tmp_path / "out.csv"
        )
